package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// logValues are the values of a partition's records on its leader, in the order of their offsets.
func logValues(c *Cluster, topic string, partition int) string {
	var out []string
	p := c.Partition(topic, partition)
	for i := range p.Logs {
		if p.Logs[i].Broker == p.Leader {
			for _, r := range p.Logs[i].Records {
				out = append(out, r.Value)
			}
		}
	}
	return strings.Join(out, " ")
}

// The sequences of events that people lose days over, as far as no story tells them (S-6, S-12, S-17, S-19; others are cited where they are tested).
func TestFailureSequences(t *testing.T) {
	for _, q := range []struct {
		what, want string
		run        func() string
	}{
		{"S-6: an application that sends again after a timeout has it twice, idempotence or not", "a a", func() string {
			c := checkWorld(1)
			p := c.NewProducer("p", Config{"linger.ms": 0, "request.timeout.ms": 1000, "delivery.timeout.ms": 3000})
			c.Hold("ProduceResponse")
			d := p.Send("t", "k", "a")
			c.RunFor(4 * time.Second)
			c.Release()
			if d.Failure() == "" {
				return "the first send did not time out"
			}
			p.Send("t", "k", "a")
			c.RunFor(5 * time.Second)
			return logValues(c, "t", 0)
		}},
		{"S-12: a member that hears nothing for its session is replaced, and cannot commit what it went on with", "c2 has t-0, c1: CommitFailedException, committed 0", func() string {
			c := checkWorld(1, noDelay)
			p := c.NewProducer("p", nil)
			for i := range 5 {
				p.Send("t", "k", fmt.Sprint(i))
			}
			c1 := member(c, "c1", "g", Config{"enable.auto.commit": false}).Subscribe("t")
			for n := 0; n < 5; {
				n += len(c1.Poll(time.Second).Records)
			}
			c1.CommitOffset("t", 0, 0)
			c.Isolate(c1)
			c2 := member(c, "c2", "g", Config{"enable.auto.commit": false}).Subscribe("t").Work(Work{PerRecord: time.Hour})
			c.RunFor(50 * time.Second)
			c.Heal()
			failed := c1.Commit()
			return fmt.Sprintf("c2 has t-%d, c1: %s, committed %d", c2.state().Parts[0].TP.Partition, failed.Error, c.Group("g").Offsets[0].Committed)
		}},
		{"S-17: an open transaction hides what others write behind it, and the lag by the tool grows", "read_committed 0, read_uncommitted 3, LSO 0 of 4; after the end 4", func() string {
			c := checkWorld(1)
			tx := c.NewProducer("tx", Config{"transactional.id": "pay", "transaction.timeout.ms": 600_000})
			tx.Begin()
			tx.Send("t", "k", "open")
			c.RunFor(100 * time.Millisecond)
			p := c.NewProducer("p", nil)
			for i := range 3 {
				p.Send("t", "k", fmt.Sprint(i))
			}
			c.RunFor(time.Second)
			read := func(id, isolation string) int {
				x := c.NewConsumer(id, Config{"auto.offset.reset": "earliest", "isolation.level": isolation}).Assign("t")
				return len(x.Poll(2*time.Second).Records) + len(x.Poll(time.Second).Records)
			}
			committed, uncommitted := read("rc", "read_committed"), read("ru", "read_uncommitted")
			log := c.Partition("t", 0).Logs[0]
			text := fmt.Sprintf("read_committed %d, read_uncommitted %d, LSO %d of %d", committed, uncommitted-1, log.LastStable, log.LogEndOffset)
			tx.Commit()
			return fmt.Sprintf("%s; after the end %d", text, read("rc2", "read_committed"))
		}},
		{"S-19: retention overtakes a consumer: latest jumps to the end, earliest to the start, none throws", "latest: 20, earliest: 15, none: OffsetOutOfRange", func() string {
			ends := func(reset string) string {
				c := checkWorld(1)
				p := c.NewProducer("p", nil)
				for i := range 20 {
					p.Send("t", "k", fmt.Sprint(i))
				}
				c.RunFor(time.Second)
				x := c.NewConsumer("slow", Config{"auto.offset.reset": reset}).Assign("t")
				x.Seek("t", 0, 10)
				c.DeleteRecords("t", 0, 15)
				c.RunFor(time.Second)
				r := x.Poll(time.Second)
				if strings.Contains(fmt.Sprint(r), "OffsetOutOfRange") {
					return reset + ": OffsetOutOfRange"
				}
				if len(r.Records) > 0 {
					return fmt.Sprintf("%s: %d", reset, r.Records[0].Offset)
				}
				return fmt.Sprintf("%s: %d", reset, x.Position("t", 0))
			}
			return ends("latest") + ", " + ends("earliest") + ", " + ends("none")
		}},
	} {
		t.Run(strings.Fields(q.what)[0], func(t *testing.T) {
			if got := q.run(); got != q.want {
				t.Errorf("%s\ngot  %s\nwant %s", q.what, got, q.want)
			}
		})
	}
}
