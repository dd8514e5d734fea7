package kafkasim

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How the cost of work grows with the number of partitions and of records. Figures are in processor time of
// the process, so that a busy machine counts for nothing; each bench reports the cost of one piece of work, which
// should stay where it is from the smallest size to the largest. tests/bench/README.md has a table.

// cpu is the processor time that this process has used, in all threads.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed is the processor time of f, in µs.
func timed(f func()) float64 {
	start := cpu()
	f()
	return float64((cpu() - start).Nanoseconds()) / 1000
}

// BenchmarkGrowthByPartitions takes a topic of 10 to 10,000 partitions through its life: made, sent to, its
// broker crashed and started, forked, looked at.
func BenchmarkGrowthByPartitions(b *testing.B) {
	const records = 20_000
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				before := heap()
				c := New(World{Brokers: 3, Seed: 1})
				per := func(unit string, n int, f func()) { b.ReportMetric(timed(f)/float64(n), unit) }
				per("µs-create/partition", n, func() {
					c.CreateTopic("wide", n, 3, Config{"min.insync.replicas": 2})
					c.RunFor(time.Second)
				})
				p := c.NewProducer("checkout", Config{"buffer.memory": 1 << 40})
				c.RunFor(time.Second)
				value := strings.Repeat("v", 100)
				per("µs-send/record", records, func() {
					for i := range records {
						p.SendRecord(Record{Topic: "wide", Partition: i % n, Value: value})
						if i%100 == 99 {
							c.RunFor(time.Millisecond)
						}
					}
					c.Settle()
				})
				idle := c.history.steps
				took := timed(func() { c.RunFor(time.Second) })
				b.ReportMetric(took/float64(c.history.steps-idle), "µs-idle/event")
				b.ReportMetric(float64(heap()-before-records*100)/float64(n), "B/partition")
				per("µs-crash/partition", n, func() { c.Broker(1).Crash(); c.Settle() })
				per("µs-start/partition", n, func() { c.Broker(1).Start(); c.Settle() })
				per("µs-clone/partition", n, func() { c.s.Clone() })
				per("µs-view/partition", n, func() { c.View() })
				per("µs-check/partition", n, func() { c.Check() })
				runtime.KeepAlive(c)
			}
		})
	}
}

// BenchmarkGrowthByRecords sends 10⁴ to 10⁷ records of 100 bytes to three partitions.
func BenchmarkGrowthByRecords(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				before := heap()
				c := New(World{Brokers: 3, Seed: 1})
				c.CreateTopic("orders", 3, 3, Config{"min.insync.replicas": 2})
				p := c.NewProducer("checkout", nil)
				c.RunFor(time.Second)
				value, bytes := strings.Repeat("v", 100), 0
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
				if got := p.state().AckedRecords; got != int64(n) {
					b.Fatalf("%d acknowledged", got)
				}
				b.ReportMetric(took/float64(n), "µs-send/record")
				b.ReportMetric(float64(heap()-before-int64(bytes))/float64(n), "B/record")
				first := heap()
				f := c.Fork().Fork()
				b.ReportMetric(float64(heap()-first)/1000, "kB/fork-of-fork")
				b.ReportMetric(timed(func() { c.s.Clone() }), "µs/clone")
				b.ReportMetric(timed(func() { c.View() }), "µs/view")
				worst := 0.0
				for i := 1; i < 20; i++ {
					worst = max(worst, timed(func() { c.At(c.Now() / 20 * time.Duration(i)) }))
				}
				b.ReportMetric(worst/1000, "ms-worst/At")
				runtime.KeepAlive(c)
				runtime.KeepAlive(f)
			}
		})
	}
}

// keys are a thousand users.
var keys = func() []string {
	out := make([]string, 1000)
	for i := range out {
		out[i] = fmt.Sprintf("user-%d", i)
	}
	return out
}()
