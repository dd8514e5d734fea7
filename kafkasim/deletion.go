package kafkasim

import (
	"fmt"
	"time"

	"kafkalab/kafkasim/machine"
)

// Deletion is a request to delete records, on its way or answered. Its methods say how it is now.
type Deletion struct {
	c *Cluster
	i int32
}

// DeleteRecords asks the leader of a partition to delete every record before an offset, as
// kafka-delete-records.sh does; -1 is the high watermark. The leader raises its log start at once and
// answers when every replica on a live broker has done so too, or with REQUEST_TIMED_OUT after 30 s. Kafka
// answers OFFSET_OUT_OF_RANGE to an offset above the high watermark or below -1.
func (c *Cluster) DeleteRecords(topic string, partition int, before int64) *Deletion {
	tp := c.partitionOf(fmt.Sprintf("DeleteRecords(%q, %d)", topic, partition), topic, partition)
	r := c.apply(fmt.Sprintf("c.DeleteRecords(%q, %d, %d)", topic, partition, before), machine.DeleteRecords{TP: tp, Before: before})
	return &Deletion{c, r.ID}
}

func (d *Deletion) state() *machine.Deletion { return &d.c.s.Deletions[d.i] }

// Status is pending, done or failed.
func (d *Deletion) Status() string {
	switch s := d.state(); {
	case !s.Done:
		return "pending"
	case s.Error == machine.NONE:
		return "done"
	}
	return "failed"
}

// Failure is Kafka's error name; "" while there is none.
func (d *Deletion) Failure() string {
	if s := d.state(); s.Done && s.Error != machine.NONE {
		return s.Error.String()
	}
	return ""
}

// LowWatermark is the lowest offset that is left, as the answer said; -1 without an answer.
func (d *Deletion) LowWatermark() int64 { return d.state().Low }

// Wait lets time pass until the answer is there, at most limit.
func (d *Deletion) Wait(limit time.Duration) *Deletion {
	d.c.RunUntil(func(*Cluster) bool { return d.state().Done }, limit)
	return d
}

// String says what was asked for and what came of it.
func (d *Deletion) String() string {
	s := d.state()
	before := fmt.Sprint(s.Before)
	if s.Before == -1 {
		before = "the high watermark"
	}
	what := fmt.Sprintf("%s, records before %s: ", d.c.s.PartitionName(s.TP), before)
	switch d.Status() {
	case "done":
		return what + fmt.Sprintf("deleted, low watermark %d", s.Low)
	case "failed":
		return what + s.Error.String()
	}
	return what + "pending"
}
