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
