package kafkasim

import (
	"fmt"
	"time"

	"kafkalab/kafkasim/machine"
)

// Delivery is what becomes of one record: pending, then acknowledged at an offset, or failed with Kafka's
// error. It always tells the present.
type Delivery struct {
	c        *Cluster
	producer int32
	number   int64
	words    *string // what send() threw because of its producer's transactions; nil for nothing
}

func (d *Delivery) state() machine.Delivery { return d.c.s.Delivery(d.producer, d.number) }

// In is the same record in another cluster that began with the same commands: a fork, the past, a replay.
func (d *Delivery) In(c *Cluster) *Delivery {
	if int(d.producer) >= len(c.s.Producers) || d.number >= c.s.Producers[d.producer].Sends {
		misuse("In", "that cluster was never given this record")
	}
	return &Delivery{c: c, producer: d.producer, number: d.number, words: d.words}
}

// Status is "pending", "acked" or "failed".
func (d *Delivery) Status() string {
	return [...]string{"pending", "acked", "failed"}[d.state().Status]
}

// Topic and Partition name where the record goes; Partition is -1 before it is chosen.
func (d *Delivery) Partition() int { return int(d.state().TP.Partition) }

// Offset is the record's offset; -1 while it is pending, when it failed, and always with acks=0.
func (d *Delivery) Offset() int64 { return d.state().Offset }

// Failure is Kafka's name of the error that the record failed with; "" if it did not.
func (d *Delivery) Failure() string { return d.state().Error }

// Message is the Java client's exception for a record that send() refused because of the state that the producer's
// transactions were in: its class and its words, and after "<-" those of its cause. "" for everything else. A ? in the place
// of a partition is one that only a send() that is carried out would choose.
func (d *Delivery) Message() string {
	if d.words == nil {
		return ""
	}
	return *d.words
}

// SentAt is when send() was called.
func (d *Delivery) SentAt() time.Duration { return duration(d.state().SentAt) }

// AckedAt is when the producer learnt that the record is written; -1 if it has not.
func (d *Delivery) AckedAt() time.Duration {
	if s := d.state(); s.Status == machine.DeliveryAcked {
		return duration(s.DecidedAt)
	}
	return -1
}

// Attempts is how often the record's batch was put on the wire.
func (d *Delivery) Attempts() int { return int(d.state().Attempts) }

// Lost tells whether the record was acknowledged and is in no leader's log any more.
func (d *Delivery) Lost() bool { return d.c.lost(d) }

// String tells it in a line: "sent t=3ms, acked t=5ms: orders-0 offset 7".
func (d *Delivery) String() string {
	s := d.state()
	where := "no partition yet"
	if s.TP.Partition >= 0 {
		where = d.c.s.PartitionName(s.TP)
	}
	out := "sent " + clock(s.SentAt)
	switch s.Status {
	case machine.DeliveryAcked:
		out += ", acked " + clock(s.DecidedAt) + ": " + where
		if s.Offset >= 0 {
			out += fmt.Sprintf(" offset %d", s.Offset)
		} else {
			out += " (nobody was asked)"
		}
		if d.Lost() {
			out += ", lost since"
		}
	case machine.DeliveryFailed:
		out += ", failed " + clock(s.DecidedAt) + ": " + because(s.Error, d.Message())
	default:
		out += ", pending: " + where
		if s.LastError != "" {
			out += fmt.Sprintf(", attempt %d failed with %s", s.Attempts, s.LastError)
		}
		return out
	}
	if s.Attempts > 1 {
		out += fmt.Sprintf(" (%d attempts)", s.Attempts)
	}
	return out
}

// lost tells whether an acknowledged record is gone from every leader's log.
func (c *Cluster) lost(d *Delivery) bool {
	s := d.state()
	if s.Status != machine.DeliveryAcked {
		return false
	}
	a := c.acked.find(c.s, d.producer, c.s.BatchSerial(d.producer, d.number))
	return a != nil && a.Lost
}
