package kafkasim

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkMillionRecords sends a million 100-byte records to a topic with RF 3 and min ISR 2 by acks=all
// through the learner's verbs, with trace and history. It reports the bytes that stay for each record
// beside its payload.
func BenchmarkMillionRecords(b *testing.B) {
	const n = 1_000_000
	value := strings.Repeat("v", 100)
	for range b.N {
		before, bytes := heap(), 0
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("orders", 3, 3, Config{"min.insync.replicas": 2})
		p := c.NewProducer("checkout", nil)
		c.RunFor(time.Second)
		took := timed(func() {
			for i := range n {
				key := keys[i%len(keys)]
				bytes += len(key) + len(value)
				p.Send("orders", key, value)
				if i%100 == 99 {
					c.RunFor(time.Millisecond)
				}
			}
			c.Settle()
		})
		if got := p.state().AckedRecords; got != n {
			b.Fatalf("%d acknowledged", got)
		}
		b.ReportMetric(took/1e6, "cpu-s")
		b.ReportMetric(float64(heap()-before-int64(bytes))/n, "B/record")
		b.ReportMetric(float64(c.history.steps), "events")
		b.ReportMetric(timed(func() { c.At(c.Now() / 2) })/1000, "ms/At")
		b.ReportMetric(timed(func() { c.View() })/1000, "ms/View")
		b.ReportMetric(timed(func() { c.Fork() })/1000, "ms/Fork")
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
		took := timed(func() {
			for c.history.steps < 1_000_000 {
				c.RunFor(time.Second)
			}
		})
		b.ReportMetric(float64(c.history.steps)/took*1e6, "events/cpu-s")
		b.ReportMetric(float64(heap()-before)/float64(c.history.steps), "B/event")
		worst := 0.0
		for i := 1; i < 20; i++ {
			worst = max(worst, timed(func() { c.At(c.Now() / 20 * time.Duration(i)) }))
		}
		b.ReportMetric(worst/1000, "ms/At-worst")
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
