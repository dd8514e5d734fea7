package kafkasim

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// BenchmarkMillionRecords sends a million 100-byte records to a topic with RF 3 and min ISR 2 by acks=all
// through the learner's verbs, with trace and history. It reports the bytes that stay for each record
// beside its payload.
func BenchmarkMillionRecords(b *testing.B) {
	const n = 1_000_000
	value := string(make([]byte, 100))
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("user-%d", i)
	}
	for range b.N {
		before := heap()
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("orders", 3, 3, Config{"min.insync.replicas": 2})
		p := c.NewProducer("checkout", nil)
		c.RunFor(time.Second)
		for i := range n {
			p.Send("orders", keys[i%len(keys)], value)
			if i%100 == 99 {
				c.RunFor(time.Millisecond)
			}
		}
		c.Settle()
		if got := p.state().AckedRecords; got != n {
			b.Fatalf("%d acknowledged", got)
		}
		b.ReportMetric(float64(heap()-before)/n, "B/record")
		b.ReportMetric(float64(c.history.steps), "events")
		start := time.Now()
		old := c.At(c.Now() / 2)
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/At")
		start = time.Now()
		c.View()
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/View")
		start = time.Now()
		c.Fork()
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/Fork")
		runtime.KeepAlive(old)
		runtime.KeepAlive(c)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkMillionEvents lets a cluster with steady traffic run, and looks back into the middle of it.
func BenchmarkMillionEvents(b *testing.B) {
	for range b.N {
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("orders", 3, 3, nil)
		c.NewProducer("checkout", Config{"linger.ms": 0}).Every(time.Millisecond, "orders", "a", "b", "c", "d")
		before := heap()
		start := time.Now()
		for c.history.steps < 1_000_000 {
			c.RunFor(time.Second)
		}
		b.ReportMetric(float64(c.history.steps)/time.Since(start).Seconds(), "events/s")
		b.ReportMetric(float64(heap()-before)/float64(c.history.steps), "B/event")
		worst := time.Duration(0)
		for i := 1; i < 20; i++ {
			start = time.Now()
			c.At(c.Now() / 20 * time.Duration(i))
			worst = max(worst, time.Since(start))
		}
		b.ReportMetric(float64(worst.Microseconds())/1000, "ms/At-worst")
	}
}

// BenchmarkForkOfALesson clones the lesson cluster.
func BenchmarkForkOfALesson(b *testing.B) {
	c := Page()
	c.NewProducer("checkout", nil).Send("orders", "user-1", "order #1")
	c.Settle()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		c.s.Clone()
	}
}

// BenchmarkForkOfAThousandPartitions clones a cluster with 1,000 partitions.
func BenchmarkForkOfAThousandPartitions(b *testing.B) {
	c := New(World{Brokers: 3, Seed: 1})
	c.CreateTopic("wide", 1000, 3, nil)
	c.RunFor(time.Second)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		c.s.Clone()
	}
}
