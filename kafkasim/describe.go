package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Description is what kafka-topics.sh --describe prints.
type Description struct{ text string }

// String is the tool's output.
func (d *Description) String() string { return d.text }

// filters are the options of the tool that show some partitions only (O-23).
var filters = []string{"--at-min-isr-partitions", "--unavailable-partitions", "--under-min-isr-partitions", "--under-replicated-partitions"}

// Describe shows topics as kafka-topics.sh --describe does: those that are named, or all, by name. One of the
// tool's own options among the names shows the lines of some partitions only:
// --under-replicated-partitions, --under-min-isr-partitions, --at-min-isr-partitions or
// --unavailable-partitions. Under other rules than those of plain Kafka 4.3 the first line says which.
func (c *Cluster) Describe(topics ...string) *Description {
	filter := ""
	var names []string
	for _, t := range topics {
		switch {
		case !strings.HasPrefix(t, "--"):
			names = append(names, t)
		case !slices.Contains(filters, t):
			misuse("Describe", "there is no option %q%s", t, meant(t, filters, ""))
		case filter != "":
			misuse("Describe", "only one of %s and %s can be asked for, as in the tool", filter, t)
		default:
			filter = t
		}
	}
	if len(names) == 0 {
		names = c.topicNames()
		slices.Sort(names)
	}
	var out []string
	for _, name := range names {
		lines := c.describeTopic(c.topicIndex("Describe", name), filter)
		out = append(out, lines...)
	}
	switch {
	case len(names) == 0:
		return &Description{"There are no topics."}
	case len(out) == 0:
		return &Description{"There are no such partitions."}
	}
	if line := c.generationLine(); line != "" {
		out = slices.Insert(out, 0, line)
	}
	return &Description{strings.Join(out, "\n")}
}

// shows tells whether a filter shows a partition.
func (c *Cluster) shows(filter string, topic *machine.TopicImage, r *machine.PartitionRegistration) bool {
	switch isr, minISR := len(r.ISR), int(topic.Props.MinInSyncReplicas); filter {
	case "--under-replicated-partitions":
		return isr < len(r.Replicas)-len(r.Adding)
	case "--under-min-isr-partitions":
		return isr < minISR
	case "--at-min-isr-partitions":
		return isr == minISR
	case "--unavailable-partitions":
		return r.Leader == machine.NoNode || c.image().Brokers[r.Leader-1].Fenced
	}
	return true
}

// describeTopic is O-20 and O-21: a line for the topic, and one that begins with a tab for each partition,
// its replicas with the preferred leader first (O-22).
func (c *Cluster) describeTopic(t int32, filter string) []string {
	topic := &c.image().Topics[t]
	rf := len(topic.Partitions[0].Replicas) - len(topic.Partitions[0].Adding)
	var out []string
	if filter == "" {
		out = append(out, fmt.Sprintf("Topic: %s\tTopicId: %s\tPartitionCount: %d\tReplicationFactor: %d\tConfigs: %s",
			topic.Name, topicID(c.s.World.Seed, t), len(topic.Partitions), rf, c.topicConfigs(topic)))
	}
	for p := range topic.Partitions {
		r := &topic.Partitions[p]
		if !c.shows(filter, topic, r) {
			continue
		}
		leader := "none"
		if r.Leader != machine.NoNode {
			leader = fmt.Sprint(r.Leader)
		}
		moving := ""
		if len(r.Adding) > 0 || len(r.Removing) > 0 {
			moving = "\tAdding Replicas: " + commas(ints(r.Adding)) + "\tRemoving Replicas: " + commas(ints(r.Removing))
		}
		out = append(out, fmt.Sprintf("\tTopic: %s\tPartition: %d\tLeader: %s\tReplicas: %s\tIsr: %s%s\tElr: %s\tLastKnownElr: %s",
			topic.Name, p, leader, commas(ints(r.Replicas)), commas(ints(r.ISR)), moving, commas(ints(r.ELR)), commas(ints(r.LastKnownELR))))
	}
	return out
}

// topicConfigs are the properties that the topic sets, and, with eligible leader replicas, the minimum ISR
// that a cluster with them is formatted with (O-20).
func (c *Cluster) topicConfigs(topic *machine.TopicImage) string {
	set := topic.Set
	if c.s.World.ELR && !slices.Contains(set, "min.insync.replicas") {
		set = append(slices.Clone(set), "min.insync.replicas")
		slices.Sort(set)
	}
	return strings.Join(config.TopicValues(topic.Props, set), ",")
}
