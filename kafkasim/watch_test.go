package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Watching changes nothing of what happens, and tells of what only a change can show.
func TestWatchChangesNothing(t *testing.T) {
	run := func(watch bool) *Cluster {
		c := New(World{Seed: 9, Config: Config{"broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200}})
		c.Watch(watch)
		c.CreateTopic("orders", 2, 3, Config{"min.insync.replicas": 2})
		p := c.NewProducer("checkout", nil)
		p.Every(5*time.Millisecond, "orders", "a", "b", "c")
		c.RunFor(300 * time.Millisecond)
		c.Broker(1).Crash()
		c.RunFor(3 * time.Second)
		c.Broker(1).Start()
		c.RunFor(3 * time.Second)
		return c
	}
	a, b := run(false), run(true)
	if a.Hash() != b.Hash() {
		t.Error("a watched cluster is in another state")
	}
	if v := b.Check(); !v.OK() || len(v.Watched) < 8 || !strings.Contains(v.String(), "watched through") {
		t.Errorf("%s", v)
	}
	if v := a.Check(); len(v.Watched) != 0 {
		t.Errorf("nobody watched, and Check says %s", v)
	}
	if f := b.Fork(); len(f.Check().Watched) == 0 || len(b.At(time.Second).Check().Watched) == 0 {
		t.Error("a fork and the past are not watched")
	}
	b.Watch(false)
	if len(b.Check().Watched) != 0 {
		t.Error("still watched")
	}
}

// A violation says which one, where, and what broke it.
func TestAViolationNamesItsEvent(t *testing.T) {
	c := New(World{Seed: 1})
	c.Watch(true)
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("checkout", nil)
	p.Send("orders", "k", "v")
	c.RunFor(time.Second)
	c.s.Brokers[c.Partition("orders", 0).Leader%3].Replicas[0].Log.TruncateTo(0) // what no rule does
	p.Send("orders", "k", "v")
	c.RunFor(time.Second)
	v := c.Check()
	if v.OK() || !strings.Contains(v.Broken[0], "invariant 9: orders-0: member") || !strings.Contains(v.Broken[0], ", after t=") {
		t.Errorf("%s", v)
	}
}

// BenchmarkWatch compares the same run with and without.
func BenchmarkWatch(b *testing.B) {
	for _, partitions := range []int{1, 100, 1000} {
		for _, watch := range []bool{false, true} {
			b.Run(fmt.Sprintf("partitions=%d/watch=%v", partitions, watch), func(b *testing.B) {
				c := New(World{Seed: 9})
				c.CreateTopic("orders", partitions, 3, Config{"min.insync.replicas": 2})
				p := c.NewProducer("checkout", nil)
				p.Every(time.Millisecond, "orders", "a", "b", "c", "d", "e", "f", "g")
				c.RunFor(time.Second)
				c.Watch(watch)
				b.ResetTimer()
				for range b.N {
					c.step()
				}
			})
		}
	}
}
