package kafkasim

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGroupRebalance lets 200 members share 2,000 partitions with each assignor; then one leaves.
func BenchmarkGroupRebalance(b *testing.B) {
	for _, assignor := range []string{"range", "roundrobin", "sticky", "cooperative-sticky"} {
		b.Run(assignor, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := New(World{Brokers: 3, Seed: 7, Config: Config{"group.initial.rebalance.delay.ms": 3000, "offsets.topic.num.partitions": 1}})
				for i := range 20 {
					c.CreateTopic(fmt.Sprintf("t%02d", i), 100, 3, nil)
				}
				var members []*Consumer
				for i := range 200 {
					x := c.NewConsumer(fmt.Sprintf("m%03d", i), Config{"group.id": "g", "auto.offset.reset": "earliest", "partition.assignment.strategy": assignor})
					members = append(members, x)
				}
				var topics []string
				for i := range 20 {
					topics = append(topics, fmt.Sprintf("t%02d", i))
				}
				c.RunFor(time.Second)
				for _, x := range members {
					x.Subscribe(topics...).Work(Work{PollTimeout: time.Second})
				}
				b.StartTimer()
				stable := func(n int) func(*Cluster) bool {
					return func(c *Cluster) bool {
						g, _ := c.s.GroupAt("g")
						return g != nil && g.State.String() == "Stable" && len(g.Members) == n
					}
				}
				c.RunUntil(stable(200), time.Minute)
				if g := c.Group("g"); g.State != "Stable" || len(g.Members) != 200 {
					b.Fatal(g.State, len(g.Members))
				}
			}
		})
	}
}

// BenchmarkTenGroups lets ten groups read a million records.
func BenchmarkTenGroups(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := New(World{Brokers: 3, Seed: 7, Config: Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 10}})
		c.CreateTopic("orders", 10, 3, nil)
		p := c.NewProducer("p", Config{"batch.size": 65536})
		for i := range 100_000 {
			p.Send("orders", fmt.Sprint(i%997), "a value of some length")
		}
		p.Flush()
		for i := range 10 {
			x := c.NewConsumer(fmt.Sprintf("c%d", i), Config{"group.id": fmt.Sprintf("g%d", i), "auto.offset.reset": "earliest"})
			x.Subscribe("orders").Work(Work{})
		}
		b.StartTimer()
		var n int64
		for range 600 {
			c.RunFor(100 * time.Millisecond)
			n = 0
			for i := range c.s.Consumers {
				for _, d := range c.s.Consumers[i].App.Done {
					n += d.To - d.From
				}
			}
			if n >= 1_000_000 {
				break
			}
		}
		if n != 1_000_000 {
			b.Fatalf("%d records were processed", n)
		}
	}
}

// wide is a world with a topic of so many partitions and one consumer that reads all of them and has nothing to do.
func wide(partitions int, conf Config) (*Cluster, *Consumer) {
	c := New(World{Brokers: 3, Seed: 7, Config: Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1}})
	for left := partitions; left > 0; left -= 500 {
		c.CreateTopic(fmt.Sprintf("t%d", left), min(left, 500), 3, nil)
	}
	var topics []string
	for left := partitions; left > 0; left -= 500 {
		topics = append(topics, fmt.Sprintf("t%d", left))
	}
	x := c.NewConsumer("x", conf).Subscribe(topics...).Work(Work{PollTimeout: time.Second})
	c.RunFor(20 * time.Second)
	return c, x
}

// BenchmarkWideConsumer lets a consumer of many partitions be idle for ten seconds, and read a record of each: the work is
// linear in its partitions.
func BenchmarkWideConsumer(b *testing.B) {
	for _, protocol := range []string{"classic", "consumer"} {
		for _, n := range []int{500, 1000, 2000, 4000} {
			conf := Config{"group.id": "g", "auto.offset.reset": "earliest", "group.protocol": protocol}
			b.Run(fmt.Sprintf("%s/%d/idle", protocol, n), func(b *testing.B) {
				c, x := wide(n, conf)
				if got := len(x.state().Parts); got != n {
					b.Fatalf("%d partitions", got)
				}
				for b.Loop() {
					c.RunFor(10 * time.Second)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/partition")
			})
			b.Run(fmt.Sprintf("%s/%d/one record each", protocol, n), func(b *testing.B) {
				c, x := wide(n, conf)
				p := c.NewProducer("p", nil)
				for b.Loop() {
					before := x.Processed().Count
					for i := range x.state().Parts {
						q := &x.state().Parts[i]
						p.SendRecord(Record{Topic: q.Topic, Partition: int(q.TP.Partition), Value: "v"})
					}
					c.RunFor(5 * time.Second)
					if x.Processed().Count != before+int64(n) {
						b.Fatalf("%d records", x.Processed().Count-before)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/partition")
			})
		}
	}
}

// BenchmarkConsumerProtocolRebalance is BenchmarkGroupRebalance with the coordinator's assignors.
func BenchmarkConsumerProtocolRebalance(b *testing.B) {
	for _, assignor := range []string{"uniform", "range"} {
		b.Run(assignor, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := New(World{Brokers: 3, Seed: 7, Config: Config{"offsets.topic.num.partitions": 1}})
				var topics []string
				for i := range 20 {
					topics = append(topics, fmt.Sprintf("t%02d", i))
					c.CreateTopic(topics[i], 100, 3, nil)
				}
				c.RunFor(time.Second)
				for i := range 200 {
					c.NewConsumer(fmt.Sprintf("m%03d", i), Config{"group.id": "g", "auto.offset.reset": "earliest", "group.protocol": "consumer", "group.remote.assignor": assignor}).
						Subscribe(topics...).Work(Work{PollTimeout: time.Second})
				}
				b.StartTimer()
				c.RunUntil(func(c *Cluster) bool {
					g, _ := c.s.GroupAt("g")
					return g != nil && g.State.String() == "Stable" && len(g.Consumer.Members) == 200
				}, 5*time.Minute)
				if g := c.Group("g"); g.State != "Stable" || len(g.Members) != 200 {
					b.Fatal(g.State, len(g.Members))
				}
			}
		})
	}
}

// An idle consumer has nothing to do between its fetches and heartbeats, whichever protocol it speaks and however many commits
// of nothing it has made.
func TestIdleConsumersAreQuiet(t *testing.T) {
	var events []int64
	for _, protocol := range []string{"classic", "consumer"} {
		c, _ := wide(20, Config{"group.id": "g", "auto.offset.reset": "earliest", "group.protocol": protocol})
		before := c.history.steps
		c.RunFor(10 * time.Second)
		events = append(events, c.history.steps-before)
	}
	if a, b := events[0], events[1]; a > 1000 || b > a*11/10 {
		t.Errorf("%d events in 10 s with the classic protocol, %d with the consumer protocol", a, b)
	}
}
