package kafkasim

import (
	"fmt"
	"strings"
	"testing"
)

// check is something that a simulator of Kafka should pass, by a run.
type check struct {
	what, want string
	run        func() string
}

// partitionsOf are the partitions of three that keys go to.
func partitionsOf(keys ...string) string {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("t", 3, 1, nil)
	p := c.NewProducer("p", nil)
	var out []string
	for _, key := range keys {
		d := p.Send("t", key, "v")
		p.Flush()
		out = append(out, fmt.Sprint(d.Partition()))
	}
	return strings.Join(out, " ")
}

// dropAnswer loses the ProduceResponse that is on the wire.
func (c *Cluster) dropAnswer(t *testing.T) {
	t.Helper()
	c.RunUntil(func(c *Cluster) bool { return len(c.InFlight().Matching("ProduceResponse")) > 0 }, ms(1000))
	c.Drop(c.InFlight().Matching("ProduceResponse")[0].Number)
}

// Checks 1 to 8, of producers (P-2, P-16, P-37, P-64, P-75, P-84, P-87, P-106). Those of transactions, 9 to 12, are in
// checks_transactions_test.go. That a retry of the sixth last batch is out of order (check 6, P-87), which no client sends,
// is in machine.TestFiveBatchesAreRemembered.
func TestChecks1To8(t *testing.T) {
	runChecks(t, 1, []check{
		{"1: user-1, user-2 and user-3 meet in one partition of three", "2 2 2", func() string { return partitionsOf("user-1", "user-2", "user-3") }},
		{"2: a negative hash counts without its sign", "0", func() string { return partitionsOf("21") }},
		{"3: ten records without a key stay on one partition", "1 partition, 1 batch", func() string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 5, 1, nil)
			p := c.NewProducer("p", Config{"linger.ms": 5})
			seen := map[int]bool{}
			var sent []*Delivery
			for range 10 {
				sent = append(sent, p.Send("t", nil, strings.Repeat("v", 100)))
			}
			p.Flush()
			for _, d := range sent {
				seen[d.Partition()] = true
			}
			return fmt.Sprintf("%s, %s", plural(len(seen), "partition"), strings.Replace(plural(c.Costs().Appends, "batch"), "batchs", "batches", 1))
		}},
		{"4: a partition that is ready takes the broker's others along", "1 request, sent at once: true", func() string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 2, 1, nil)
			p := c.NewProducer("p", Config{"linger.ms": 5})
			p.SendRecord(Record{Topic: "t", Partition: 0, Value: "warm"})
			c.RunFor(ms(100))
			before := c.Costs().ProduceRequests
			a := p.SendRecord(Record{Topic: "t", Partition: 0, Value: "a"})
			c.RunFor(ms(4))
			b := p.SendRecord(Record{Topic: "t", Partition: 1, Value: "b"})
			c.RunFor(ms(50))
			return fmt.Sprintf("%s, sent at once: %v", plural(c.Costs().ProduceRequests-before, "request"), a.AckedAt() == b.AckedAt())
		}},
		{"5: 141 records of 6 and 100 bytes fill a batch", "141 records in 16353 bytes, then 59", func() string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 1, 1, nil)
			p := c.NewProducer("p", nil)
			for range 200 {
				p.Send("t", "user-1", strings.Repeat("v", 100))
			}
			p.Flush()
			log := &c.replica(1, c.partitionOf("", "t", 0)).Log
			first := log.Active.Batches.At(0)
			return fmt.Sprintf("%d records in %d bytes, then %d", first.Records.Len(), first.Size, log.Active.Batches.At(1).Records.Len())
		}},
		{"6: an idempotent retry of a written batch is told its first offset", "acked at offset 0, log end 1", func() string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 1, 1, nil)
			d := c.NewProducer("p", Config{"request.timeout.ms": 1000}).Send("t", nil, "v")
			c.dropAnswer(t)
			c.RunFor(ms(3000))
			return fmt.Sprintf("%s at offset %d, log end %d", d.Status(), d.Offset(), c.Partition("t", 0).LogEndOffset)
		}},
		{"7: acks=all with too few in sync is refused and not written", "pending: NOT_ENOUGH_REPLICAS, log end 0", func() string {
			c := New(World{Brokers: 2, Seed: 1})
			c.CreateTopic("t", 1, 2, Config{"min.insync.replicas": 2})
			c.RunFor(ms(50))
			c.Broker(3 - c.Partition("t", 0).Leader).Crash()
			c.RunFor(ms(40_000))
			d := c.NewProducer("p", nil).Send("t", nil, "v")
			c.RunFor(ms(300))
			why := "nothing"
			if strings.Contains(d.String(), "NOT_ENOUGH_REPLICAS") {
				why = "NOT_ENOUGH_REPLICAS"
			}
			return fmt.Sprintf("%s: %s, log end %d", d.Status(), why, c.Partition("t", 0).LogEndOffset)
		}},
		{"8: one request that is overdue fails all that are in flight to its broker", "REQUEST_TIMED_OUT NETWORK_EXCEPTION", func() string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 1, 1, nil)
			p := c.NewProducer("p", Config{"linger.ms": 0, "request.timeout.ms": 1000})
			p.Send("t", nil, "warm")
			c.RunFor(ms(50))
			c.Broker(1).Pause()
			a := p.Send("t", nil, "a")
			c.RunFor(ms(500))
			b := p.Send("t", nil, "b")
			c.RunFor(ms(520))
			var out []string
			for _, d := range []*Delivery{a, b} {
				for _, name := range []string{"REQUEST_TIMED_OUT", "NETWORK_EXCEPTION"} {
					if strings.Contains(d.Story().String(), name) {
						out = append(out, name)
					}
				}
			}
			return strings.Join(out, " ")
		}},
	})
}

// runChecks runs checks, which have consecutive numbers.
func runChecks(t *testing.T, first int, checks []check) {
	for i, x := range checks {
		if !strings.HasPrefix(x.what, fmt.Sprintf("%d: ", first+i)) {
			t.Errorf("%q is check %d", x.what, first+i)
		}
		t.Run(x.what, func(t *testing.T) {
			if got := x.run(); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
		})
	}
}
