package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Consumer is a handle on one consumer client: it reads the partitions that it assigns to itself, or those that its group
// gives it.
type Consumer struct {
	c *Cluster
	i int32
}

// NewConsumer makes a consumer client with Kafka's defaults and the given consumer properties.
func (c *Cluster) NewConsumer(id string, conf Config) *Consumer {
	c.newName("NewConsumer", id)
	mustParse(fmt.Sprintf("consumer %q", id), c.world.version().CheckConsumer(over(c.defaults.consumer, conf)))
	props, problem := config.ParseConsumer(c.world.version().At(config.OwnerConsumer, over(c.defaults.consumer, conf)))
	mustParse(fmt.Sprintf("consumer %q", id), problem)
	r := c.apply(fmt.Sprintf("c.NewConsumer(%q, %s)", id, conf.orNil()), machine.NewConsumer{Name: id, Props: props})
	return &Consumer{c: c, i: r.ID}
}

// Consumer is the consumer with this id.
func (c *Cluster) Consumer(id string) *Consumer {
	i := c.clientIndex(id, machine.ConsumerClient)
	if i < 0 {
		misuse(fmt.Sprintf("Consumer(%q)", id), "there is no consumer %q%s", id, meant(id, c.clientNames(machine.ConsumerClient), "make it with NewConsumer"))
	}
	return &Consumer{c: c, i: i}
}

// ID is the consumer's id.
func (x *Consumer) ID() string { return x.state().Name }

func (x *Consumer) state() *machine.Consumer { return &x.c.s.Consumers[x.i] }

func (x *Consumer) where(verb string) string { return fmt.Sprintf("consumer %q: %s", x.ID(), verb) }

func (x *Consumer) needsOpen(verb string) {
	if x.state().Closed {
		misuse(x.where(verb), "This consumer has already been closed. (IllegalStateException); make a new one with NewConsumer")
	}
}

// call is a verb's Go code.
func (x *Consumer) call(verb, topic string, numbers ...int) string {
	s := fmt.Sprintf("c.Consumer(%q).%s(%q", x.ID(), verb, topic)
	for _, n := range numbers {
		s += fmt.Sprintf(", %d", n)
	}
	return s + ")"
}

// Assign gives the consumer exactly these partitions of a topic, or all of them when none is named.
func (x *Consumer) Assign(topic string, partitions ...int) *Consumer {
	x.needsOpen("Assign")
	where := x.where("Assign")
	if x.state().Group.On {
		misuse(where, "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException): this consumer has subscribed")
	}
	t := x.c.topicIndex(where, topic)
	cmd := machine.Assign{Consumer: x.i, Topic: topic}
	for _, p := range partitions {
		tp := x.c.partitionOf(where, topic, p)
		if slices.Contains(cmd.Partitions, tp.Partition) {
			misuse(where, "partition %d is named twice", p)
		}
		cmd.Partitions = append(cmd.Partitions, tp.Partition)
	}
	if len(partitions) == 0 {
		for p := range x.c.image().Topics[t].Partitions {
			cmd.Partitions = append(cmd.Partitions, int32(p))
		}
	}
	x.c.apply(x.call("Assign", topic, partitions...), cmd)
	return x
}

// Records is what a poll returned.
type Records struct {
	Records []Polled
	Error   string        // what poll threw instead, in Kafka's name; "" for nothing
	Took    time.Duration // virtual time that the poll took
}

// Polled is a record as a consumer gets it.
type Polled struct {
	Topic     string
	Partition int
	Offset    int64
	Key       string // "" when NullKey
	Value     string // "" when NullValue
	NullKey   bool
	NullValue bool
	Timestamp time.Duration // virtual time
	Headers   []Header
}

// String is the record on a line.
func (r Polled) String() string {
	key, value := r.Key, r.Value
	if r.NullKey {
		key = "null"
	}
	if r.NullValue {
		value = "null"
	}
	return fmt.Sprintf("%s-%d offset %d  %s  %s", r.Topic, r.Partition, r.Offset, key, value)
}

// String is a table of the records.
func (r *Records) String() string {
	took := " after " + inMs(r.Took.Microseconds())
	if r.Error != "" {
		return "poll threw " + r.Error + took
	}
	if len(r.Records) == 0 {
		return "no records" + took
	}
	table := [][]string{}
	const most = 30
	for i, x := range r.Records {
		if i == most {
			break
		}
		key, value := x.Key, x.Value
		if x.NullKey {
			key = "null"
		}
		if x.NullValue {
			value = "null"
		}
		table = append(table, []string{fmt.Sprintf("%s-%d", x.Topic, x.Partition), fmt.Sprint(x.Offset), key, value})
	}
	out := plural(len(r.Records), "record") + took + "\n" + rows(table)
	if n := len(r.Records) - most; n > 0 {
		out += fmt.Sprintf("\n… and %d more", n)
	}
	return out
}

// Poll lets virtual time run until there are records or the timeout is over, and returns the records.
// The position is behind them then; what else was fetched waits for the next poll.
func (x *Consumer) Poll(timeout time.Duration) *Records {
	x.needsOpen("Poll")
	if timeout < 0 {
		misuse(x.where("Poll"), "%v: want how long to wait at most, such as 100 * time.Millisecond: Invalid negative timeout %d (IllegalArgumentException)", timeout, timeout.Milliseconds())
	}
	if len(x.state().Parts) == 0 && !x.state().Group.On {
		misuse(x.where("Poll"), "Consumer is not subscribed to any topics or assigned any partitions (IllegalStateException); Subscribe or Assign first")
	}
	if x.state().App.On {
		misuse(x.where("Poll"), "an application polls with this consumer (Work); StopWork first, or let time pass")
	}
	start := x.c.s.Now
	x.c.apply(fmt.Sprintf("c.Consumer(%q).Poll(%s)", x.ID(), goDuration(timeout.Microseconds())), machine.StartPoll{Consumer: x.i, Timeout: timeout.Microseconds()})
	x.c.stepUntil(x.c.passing("Poll, ms at most", timeout.Microseconds()), func() bool { return !x.state().Poll.Running })
	return x.polled(duration(x.c.s.Now - start))
}

func (x *Consumer) polled(took time.Duration) *Records {
	p := &x.state().Poll
	out := &Records{Took: took}
	switch {
	case p.Error == machine.NONE:
	case p.Error == x.state().Group.Fatal:
		out.Error = p.Error.String()
	default:
		out.Error = fmt.Sprintf("%s for %s", p.Error, x.c.s.PartitionName(p.ErrorTP))
		if p.DivergesAt >= 0 && p.Error == machine.LOG_TRUNCATION {
			out.Error += fmt.Sprintf(": the logs part at offset %d", p.DivergesAt)
		}
	}
	for i := range p.Records {
		row := &p.Records[i]
		topic := x.c.image().Topics[row.TP.Topic].Name
		for offset, r := range row.All() {
			v := Polled{Topic: topic, Partition: int(row.TP.Partition), Offset: offset, Key: r.Key, Value: r.Value,
				NullKey: r.Flags&partlog.NullKey != 0, NullValue: r.Flags&partlog.NullValue != 0, Timestamp: time.Duration(r.Timestamp) * time.Millisecond}
			for _, h := range r.Headers() {
				v.Headers = append(v.Headers, Header{h.Key, h.Value})
			}
			out.Records = append(out.Records, v)
		}
	}
	return out
}

// assigned checks that a partition is the consumer's own.
func (x *Consumer) assigned(verb, topic string, partition int) machine.TopicPartition {
	tp := x.c.partitionOf(x.where(verb), topic, partition)
	if x.part(topic, partition) == nil {
		x.needsOpen(verb)
		kafka := "No current assignment for partition " + x.c.s.PartitionName(tp)
		if verb == "Position" {
			kafka = "You can only check the position for partitions assigned to this consumer."
		}
		misuse(x.where(verb), "%s is not assigned to this consumer; Assign it first: %s (IllegalStateException)", x.c.s.PartitionName(tp), kafka)
	}
	return tp
}

func (x *Consumer) part(topic string, partition int) *machine.ConsumerPart {
	parts := x.state().Parts
	for i := range parts {
		if parts[i].Topic == topic && int(parts[i].TP.Partition) == partition {
			return &parts[i]
		}
	}
	return nil
}

// Seek sets the position of a partition; the next poll starts there.
func (x *Consumer) Seek(topic string, partition int, offset int64) *Consumer {
	x.needsOpen("Seek")
	tp := x.assigned("Seek", topic, partition)
	if offset < 0 {
		misuse(x.where("Seek"), "offset %d: want 0 or more; SeekToBeginning and SeekToEnd find the ends: seek offset must not be a negative number (IllegalArgumentException)", offset)
	}
	x.c.apply(x.call("Seek", topic, partition, int(offset)), machine.Seek{Consumer: x.i, Topic: topic, Partition: tp.Partition, Offset: offset})
	return x
}

// SeekToBeginning makes the next poll start at the beginning of these partitions, or of all assigned ones.
func (x *Consumer) SeekToBeginning(topic string, partitions ...int) *Consumer {
	return x.seekTo("SeekToBeginning", machine.EarliestTimestamp, topic, partitions)
}

// SeekToEnd makes the next poll start at the end of these partitions, or of all assigned ones.
func (x *Consumer) SeekToEnd(topic string, partitions ...int) *Consumer {
	return x.seekTo("SeekToEnd", machine.LatestTimestamp, topic, partitions)
}

func (x *Consumer) seekTo(verb string, to int64, topic string, partitions []int) *Consumer {
	x.needsOpen(verb)
	for _, p := range x.those(verb, topic, partitions) {
		x.c.apply(x.call(verb, topic, int(p)), machine.Seek{Consumer: x.i, Topic: topic, Partition: p, Offset: to})
	}
	return x
}

// those are the partitions that a caller named, or all of the topic that are assigned.
func (x *Consumer) those(verb, topic string, partitions []int) []int32 {
	var out []int32
	for _, p := range partitions {
		out = append(out, x.assigned(verb, topic, p).Partition)
	}
	if len(partitions) == 0 {
		x.c.topicIndex(x.where(verb), topic)
		for _, p := range x.state().Parts {
			if p.Topic == topic {
				out = append(out, p.TP.Partition)
			}
		}
		if len(out) == 0 {
			misuse(x.where(verb), "no partition of %q is assigned to this consumer", topic)
		}
	}
	return out
}

// Pause stops fetching these partitions, or all of the topic; what is fetched already waits.
func (x *Consumer) Pause(topic string, partitions ...int) *Consumer {
	x.needsOpen("Pause")
	x.c.apply(x.call("Pause", topic, partitions...), machine.PauseConsumer{Consumer: x.i, Topic: topic, Partitions: x.those("Pause", topic, partitions)})
	return x
}

// Resume goes on fetching paused partitions.
func (x *Consumer) Resume(topic string, partitions ...int) *Consumer {
	x.needsOpen("Resume")
	x.c.apply(x.call("Resume", topic, partitions...), machine.ResumeConsumer{Consumer: x.i, Topic: topic, Partitions: x.those("Resume", topic, partitions)})
	return x
}

// Position is the offset of the next record that poll will return, -1 before it is known.
func (x *Consumer) Position(topic string, partition int) int64 {
	x.assigned("Position", topic, partition)
	return x.part(topic, partition).Position
}

// String says where the consumer reads.
func (x *Consumer) String() string {
	v := x.c.viewConsumer(x.i)
	if x.state().Closed {
		return "consumer " + v.ID + ": closed"
	}
	if len(v.Positions) == 0 {
		return "consumer " + v.ID + ": no partitions"
	}
	var parts []string
	for i, p := range v.Positions {
		s := fmt.Sprintf("%s-%d at %s", p.Topic, p.Partition, unknownDash(p.Offset))
		if x.state().Parts[i].Paused {
			s += " (paused)"
		}
		parts = append(parts, s)
	}
	return "consumer " + v.ID + ": " + strings.Join(parts, ", ")
}

func (c *Cluster) viewConsumer(i int32) view.Consumer {
	x := &c.s.Consumers[i]
	v := view.Consumer{ID: x.Name}
	for _, p := range x.Parts {
		v.Positions = append(v.Positions, view.Position{Topic: p.Topic, Partition: int(p.TP.Partition), Offset: p.Position})
	}
	return v
}
