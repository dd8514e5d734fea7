package kafkasim

import (
	"slices"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// ownPartitioner is a producer's own partitioner. It is no part of the state: what it has decided is remembered with
// each record.
type ownPartitioner struct {
	producer int32
	f        func(topic string, key any, partitions int) int
}

// PartitionBy gives the producer a partitioner of your own, as a class that implements Kafka's Partitioner would be
// (P-10): f is asked for the partition of every record that names none, with its key as text (nil for none) and with how many
// partitions the topic has. nil takes it away. A script and the past know what it has decided, not the function.
func (p *Producer) PartitionBy(f func(topic string, key any, partitions int) int) *Producer {
	p.needsRunning("PartitionBy")
	p.c.own = slices.DeleteFunc(p.c.own, func(o ownPartitioner) bool { return o.producer == p.i })
	if f != nil {
		p.c.own = append(p.c.own, ownPartitioner{p.i, f})
	}
	return p
}

func (p *Producer) partitioner() func(string, any, int) int {
	for _, o := range p.c.own {
		if o.producer == p.i {
			return o.f
		}
	}
	return nil
}

// chooses asks the producer's own partitioner, if it has one, and tells whether it has. What is no partition is the
// caller's mistake (P-12).
func (p *Producer) chooses(cmd *machine.Send) bool {
	if len(p.c.own) == 0 {
		return false
	}
	f := p.partitioner()
	if f == nil {
		return false
	}
	where := p.where("Send")
	count := len(p.c.image().Topics[p.c.topicIndex(where, cmd.Topic)].Partitions)
	var key any
	if cmd.Record.Flags&partlog.NullKey == 0 {
		key = cmd.Record.Key
	}
	n := f(cmd.Topic, key, count)
	if n < 0 {
		misuse(where, "Kafka's IllegalArgumentException: the partitioner gave %d; a partition number must not be negative", n)
	}
	if n >= count {
		misuse(where, "the partitioner gave %d; %s has the partitions 0 to %d", n, cmd.Topic, count-1)
	}
	cmd.Partition = int32(n)
	return true
}
