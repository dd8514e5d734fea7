package charts

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/view"
)

// annotations are the bands and marks of a curve chart: when brokers were down, when partitions had no
// live leader, crashes, starts, elections.
type annotations struct {
	topics  map[string]bool
	panels  map[int]int // partition → its panel; nil when all share one
	bands   []Band
	marks   []VMark
	down    map[int]int64  // broker → since when, µs
	orphans map[int]int64  // partition → since when
	told    map[string]int // label of the marks of this moment → index
	at      int64
}

func newAnnotations(topics []string, panels map[int]int) *annotations {
	a := &annotations{topics: map[string]bool{}, panels: panels, down: map[int]int64{}, orphans: map[int]int64{}}
	for _, t := range topics {
		a.topics[t] = true
	}
	return a
}

// annotate runs through the trace once. With panels, a partition's band is drawn in its own panel only.
func annotate(trace *view.Trace, topics []string, panels map[int]int) *annotations {
	a := newAnnotations(topics, panels)
	b := newBoard(trace)
	b.bare = true
	ran := map[int]bool{}
	for i := range trace.Changes {
		c := &trace.Changes[i]
		a.before(b, c, ran)
		b.apply(c)
		if i+1 == len(trace.Changes) || trace.Changes[i+1].At != c.At {
			a.spans(b, c.At, ran)
		}
	}
	a.finish(b, trace.To)
	return a
}

// before notes the marks of a change; b is the board without it.
func (a *annotations) before(b *board, c *view.Change, ran map[int]bool) {
	switch c.Kind {
	case view.BrokerState:
		old := b.broker(c.Broker).picture()
		after := boardBroker{state: c.Text}
		now := after.picture()
		switch {
		case now == BrokerDown && old != BrokerDown:
			a.mark(c.At, fmt.Sprintf("broker %d %s", c.Broker, pick(c.Text == "CRASHED", "crashes", "stops")), ToneAlarm)
		case now == BrokerPaused:
			a.mark(c.At, fmt.Sprintf("broker %d falls silent", c.Broker), ToneAlarm)
		case now != BrokerDown && old == BrokerDown && ran[c.Broker]:
			a.mark(c.At, fmt.Sprintf("broker %d starts", c.Broker), ToneQuiet)
		}
		ran[c.Broker] = ran[c.Broker] || now != BrokerDown
	case view.PartitionState:
		if c.Partition < 0 || c.Partition >= len(b.partitions) {
			return
		}
		p := &b.partitions[c.Partition]
		if a.topics[p.topic] && p.created && c.A >= 0 && int(c.A) != p.leader {
			a.mark(c.At, fmt.Sprintf("broker %d leads %s", c.A, p.name), ToneQuiet)
		}
	case view.ControllerState:
		switch c.Text {
		case "CRASHED":
			a.mark(c.At, fmt.Sprintf("controller %d crashes", c.A), ToneAlarm)
		case "PAUSED":
			a.mark(c.At, fmt.Sprintf("controller %d falls silent", c.A), ToneAlarm)
		case "ACTIVE":
			a.mark(c.At, fmt.Sprintf("controller %d is active", c.A), ToneQuiet)
		}
	case view.Lost:
		if c.Partition >= 0 && c.Partition < len(b.partitions) && a.topics[b.partitions[c.Partition].topic] {
			a.mark(c.At, fmt.Sprintf("%s lost", count(c.B, "acknowledged record", "acknowledged records")), ToneAlarm)
		}
	}
}

// mark adds a mark; elections at one moment share one: "broker 2 leads orders-0, orders-1".
func (a *annotations) mark(at int64, label, tone string) {
	if a.told == nil || a.at != at {
		a.told, a.at = map[string]int{}, at
	}
	verb, name, isElection := strings.Cut(label, " leads ")
	if i, known := a.told[verb]; known && isElection {
		a.marks[i].Label = clip(a.marks[i].Label + ", " + name)
		return
	}
	if len(a.marks) == maxMarks {
		return
	}
	a.told[verb] = len(a.marks)
	a.marks = append(a.marks, VMark{X: float64(at) / 1000, Label: clip(label), Tone: tone})
}

// spans opens and closes the bands after a moment.
func (a *annotations) spans(b *board, at int64, ran map[int]bool) {
	for i := range b.brokers {
		broker := &b.brokers[i]
		isDown := broker.picture() == BrokerDown && ran[broker.id]
		since, wasDown := a.down[broker.id]
		if isDown && !wasDown {
			a.down[broker.id] = at
		} else if !isDown && wasDown {
			a.band(since, at, fmt.Sprintf("broker %d down", broker.id), -1, ToneQuiet)
			delete(a.down, broker.id)
		}
	}
	for i := range b.partitions {
		p := &b.partitions[i]
		orphan := p.created && (p.leader < 0 || b.broker(p.leader).picture() == BrokerDown)
		since, was := a.orphans[i]
		if orphan && !was {
			a.orphans[i] = at
		} else if !orphan && was {
			a.orphan(i, p, since, at)
			delete(a.orphans, i)
		}
	}
}

func (a *annotations) orphan(i int, p *boardPartition, from, to int64) {
	panel, shown := a.panels[i]
	if a.panels == nil {
		panel, shown = -1, a.topics[p.topic]
	}
	label := p.name + without
	if a.panels != nil {
		label = noLeader // the panel has the name already
	}
	if shown {
		a.band(from, to, label, panel, ToneAlarm)
	}
}

const (
	without  = " without a leader"
	noLeader = "no leader"
)

// band adds a span; spans of the same time and kind share one: "orders-0, orders-2 without a leader".
func (a *annotations) band(from, to int64, label string, panel int, tone string) {
	x1, x2 := float64(from)/1000, float64(to)/1000
	for i := range a.bands {
		b := &a.bands[i]
		if b.From == x1 && b.To == x2 && b.Panel == panel && strings.HasSuffix(b.Label, without) && strings.HasSuffix(label, without) {
			b.Label = clip(strings.TrimSuffix(b.Label, without) + ", " + label)
			return
		}
	}
	if len(a.bands) < maxBands && x2 > x1 {
		a.bands = append(a.bands, Band{From: x1, To: x2, Label: clip(label), Panel: panel, Tone: tone})
	}
}

// finish closes the bands that are still open.
func (a *annotations) finish(b *board, to int64) {
	for i := range b.brokers {
		if since, open := a.down[b.brokers[i].id]; open {
			a.band(since, to, fmt.Sprintf("broker %d down", b.brokers[i].id), -1, ToneQuiet)
		}
	}
	for i := range b.partitions {
		if since, open := a.orphans[i]; open {
			a.orphan(i, &b.partitions[i], since, to)
		}
	}
}

// within cuts bands and marks to what lies on the x axis.
func (a *annotations) within(from, to float64) (bands []Band, marks []VMark) {
	for _, b := range a.bands {
		b.From, b.To = max(b.From, from), min(b.To, to)
		if b.From < b.To {
			bands = append(bands, b)
		}
	}
	for _, m := range a.marks {
		if m.X >= from && m.X <= to {
			marks = append(marks, m)
		}
	}
	return bands, marks
}

// tellBands tells the bands for the alternative text.
func (s *CurveSpec) tellBands() string {
	var out strings.Builder
	for i, b := range s.Bands {
		if i == 6 {
			fmt.Fprintf(&out, " And %s more.", count(len(s.Bands)-i, "span", "spans"))
			break
		}
		label := b.Label
		if label == noLeader {
			label = s.Panels[b.Panel].Label + without
		}
		fmt.Fprintf(&out, " %s from %s to %s.", upper(label), moment(b.From), moment(b.To))
	}
	return out.String()
}

func upper(text string) string {
	if text == "" || !strings.HasPrefix(text, "broker") {
		return text // a partition's name stays as it is
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
