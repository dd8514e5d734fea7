package simtest

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim"
)

func (e *Env) describe(a Args) (string, error) {
	// Topic ids are random; a story is about the rest. Tabs would be lost in an editor.
	var out []string
	for _, line := range strings.Split(e.C.Describe(a.plain...).String(), "\n") {
		var cells []string
		for _, cell := range strings.Split(line, "\t") {
			if cell != "" && !strings.HasPrefix(cell, "TopicId:") {
				cells = append(cells, strings.TrimSpace(cell))
			}
		}
		indent := ""
		if strings.HasPrefix(line, "\t") {
			indent = "  "
		}
		out = append(out, indent+strings.Join(cells, "  "))
	}
	return strings.Join(out, "\n"), nil
}

func (e *Env) show(a Args) (string, error) {
	if len(a.plain) == 0 {
		return "", fmt.Errorf("show what? orders-0, deliveries, story:NAME, producers, metrics:PRODUCER, consumers, brokers, controllers, inflight, counters, costs or script")
	}
	var out []string
	for _, what := range a.plain {
		s, err := e.look(e.C, what)
		if err != nil {
			return "", err
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n"), nil
}

// look prints one thing of a cluster.
func (e *Env) look(c *kafkasim.Cluster, what string) (string, error) {
	v := c.View()
	var out []string
	switch what {
	case "deliveries":
		return e.deliveries(), nil
	case "quotas": // show quotas: kafka-configs.sh --describe
		return e.C.Quotas().String(), nil
	case "producers":
		for _, p := range v.Producers {
			out = append(out, c.Producer(p.ID).String())
		}
	case "consumers":
		for _, x := range v.Consumers {
			out = append(out, c.Consumer(x.ID).String())
		}
	case "brokers":
		for _, b := range v.Brokers {
			out = append(out, c.Broker(b.ID).String())
		}
	case "controllers":
		return c.Controllers().String(), nil
	case "inflight":
		return c.InFlight().String(), nil
	case "rules":
		return c.Rules().String(), nil
	case "costs":
		return c.Costs().String(), nil
	case "counters":
		return c.Counters().String(), nil
	case "script":
		return c.Script().String(), nil
	default:
		if out, ok := lookAtGroups(c, what); ok {
			return out, nil
		}
		if out, ok := lookAtShares(c, what); ok {
			return out, nil
		}
		if name, ok := strings.CutPrefix(what, "metrics:"); ok {
			return c.Producer(name).Metrics().String(), nil
		}
		if name, ok := strings.CutPrefix(what, "story:"); ok {
			return e.story(c, name)
		}
		topic, id, err := partition(what)
		if err != nil {
			return "", err
		}
		return c.Partition(topic, id).String(), nil
	}
	return strings.Join(out, "\n"), nil
}

// table is a row of numbers after each tick: what the widget shows.
func (e *Env) table(a Args) (string, error) {
	ticks, err := a.takeNumber("ticks", 10)
	if err != nil {
		return "", err
	}
	name, _ := a.take("topic")
	topic, id, err := partition(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("time    sent acked retry ISR lost | leader hw | log end (hw) of each replica\n")
	for range ticks {
		e.C.Ticks(1)
		n, p := e.C.Counters(), e.C.Partition(topic, id)
		fmt.Fprintf(&b, "%-7s %4d %5d %5d %3d %4d |", e.C.Now(), n.Sent, n.Acked, n.Retrying, n.ISR, n.Lost)
		leader := "none"
		if p.Leader > 0 {
			leader = fmt.Sprint(p.Leader)
		}
		fmt.Fprintf(&b, " %6s %2d |", leader, p.HighWatermark)
		for _, r := range p.Logs {
			state := ""
			if r.Role == "offline" {
				state = " down"
			} else if !r.InISR {
				state = " out"
			}
			fmt.Fprintf(&b, "  %d: %d (%d)%s", r.Broker, r.LogEndOffset, r.HighWatermark, state)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// quorum is what the quorum tool says, without what is random: ids of directories and of the cluster.
func (e *Env) quorum() string {
	var out []string
	for _, line := range strings.Split(e.C.DescribeQuorumStatus().String(), "\n") {
		if !strings.HasPrefix(line, "ClusterId:") && !strings.HasPrefix(line, "CurrentObservers:") {
			out = append(out, line)
		}
	}
	for _, line := range strings.Split(e.C.DescribeQuorumReplication().String(), "\n") {
		cells := strings.Split(strings.TrimSuffix(line, "\t"), "\t")
		if len(cells) > 1 {
			cells = append(cells[:1], cells[2:]...)
		}
		out = append(out, strings.TrimRight(strings.Join(cells, " "), " "))
	}
	return strings.Join(out, "\n")
}

// dumped is what the dump tool prints; short without the lines of records.
func dumped(text string, short bool) string {
	if !short {
		return text
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return strings.HasPrefix(s, "|") })
	return strings.Join(lines, "\n")
}
