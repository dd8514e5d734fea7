package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/view"
)

// Topic is a snapshot of a topic: its partitions in order.
type Topic struct {
	Name       string
	Partitions []Partition
	Error      string // Kafka's error when CreateTopic or AddPartitions failed; else ""
	what       string // what failed
	waits      string // how long who asked is to wait
}

// Partition is a snapshot of a partition: what the controller says of it, and every replica's log.
type Partition struct {
	view.Partition
}

// Topic is the topic with this name, as it is now.
func (c *Cluster) Topic(name string) *Topic {
	t := c.topicIndex(fmt.Sprintf("Topic(%q)", name), name)
	v := &Topic{Name: name}
	for _, p := range c.viewTopic(t, recordsShown).Partitions {
		v.Partitions = append(v.Partitions, Partition{p})
	}
	return v
}

// Partition is a partition, as it is now.
func (c *Cluster) Partition(topic string, partition int) *Partition {
	tp := c.partitionOf(fmt.Sprintf("Partition(%q, %d)", topic, partition), topic, partition)
	return &Partition{c.viewPartition(tp, recordsShown)}
}

// String is a table with a row for each partition.
func (t *Topic) String() string {
	if t.Error != "" {
		if t.what == "" {
			t.what = "was not created"
		}
		return fmt.Sprintf("topic %s %s: %s", t.Name, t.what, t.Error+t.waits)
	}
	table := [][]string{{"PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "HW", "END"}}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		table = append(table, []string{fmt.Sprintf("%s-%d", p.Topic, p.ID), brokerWord(p.Leader), fmt.Sprint(p.LeaderEpoch),
			commas(p.Replicas), commas(p.ISR), unknownDash(p.HighWatermark), unknownDash(p.LogEndOffset)})
	}
	return rows(table)
}

// String is the partition with a row for each replica.
func (p *Partition) String() string {
	head := fmt.Sprintf("%s-%d  leader %s, leader epoch %d, ISR %s, min ISR %d", p.Topic, p.ID, brokerWord(p.Leader), p.LeaderEpoch, orNone(commas(p.ISR)), p.MinISR)
	if len(p.ELR) > 0 {
		head += ", ELR " + commas(p.ELR)
	}
	if len(p.Adding) > 0 {
		head += ", adding " + commas(p.Adding)
	}
	if len(p.Removing) > 0 {
		head += ", removing " + commas(p.Removing)
	}
	table := [][]string{{"BROKER", "ROLE", "ISR", "EPOCH", "START", "HW", "END", "LOG"}}
	for i := range p.Logs {
		r := &p.Logs[i]
		in := "-"
		if r.InISR {
			in = "in"
		}
		table = append(table, []string{fmt.Sprint(r.Broker), r.Role, in, unknownDash(int64(r.LeaderEpoch)), fmt.Sprint(r.LogStartOffset),
			fmt.Sprint(r.HighWatermark), fmt.Sprint(r.LogEndOffset), logWords(r)})
	}
	return head + "\n" + rows(table)
}

// Replica is the copy on a broker.
func (p *Partition) Replica(broker int) *view.Replica {
	for i := range p.Logs {
		if p.Logs[i].Broker == broker {
			return &p.Logs[i]
		}
	}
	misuse(fmt.Sprintf("Partition(%q, %d).Replica(%d)", p.Topic, p.ID, broker), "the replicas of %s-%d are on brokers %s", p.Topic, p.ID, commas(p.Replicas))
	return nil
}

// logWords shows the newest records of a log as offset:key=value, with ! for a lost one and ? for one
// that is not acknowledged.
func logWords(r *view.Replica) string {
	const most = 8
	var out []string
	first := max(0, len(r.Records)-most)
	if first > 0 || len(r.Records) > 0 && r.Records[0].Offset > r.LogStartOffset {
		out = append(out, "…")
	}
	for _, x := range r.Records[first:] {
		word := fmt.Sprintf("%d:", x.Offset)
		if !x.NullKey {
			word += x.Key + "="
		}
		word += short(x.Value)
		switch x.Mark {
		case view.MarkWritten:
			word += "?"
		case view.MarkLost:
			word += "!"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// short keeps a value within a column.
func short(s string) string {
	r := []rune(s)
	if len(r) > 16 {
		return string(r[:15]) + "…"
	}
	return s
}

func unknownDash(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
