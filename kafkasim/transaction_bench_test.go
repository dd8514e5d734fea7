package kafkasim

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// txnLoad is a load of transactional producers, each of which begins a transaction of two records every 45 ms. (One
// that begins the next at once meets CONCURRENT_TRANSACTIONS while the markers of the last are written, T-22.)
func txnLoad(producers int) (*Cluster, []*Producer) {
	c := New(World{Brokers: 3, Seed: 1, Latency: 200 * time.Microsecond, Config: Config{"transaction.state.log.num.partitions": 10}})
	c.CreateTopic("orders", 6, 3, nil)
	var ps []*Producer
	for i := range producers {
		p := c.NewProducer(fmt.Sprint("p", i), Config{"transactional.id": fmt.Sprint("tx-", i), "linger.ms": 0})
		ps = append(ps, p.Work(TxnWork{Topics: []string{"orders"}, Records: 2, Every: 45 * time.Millisecond, Keys: []string{"a", "b", "c", "d", "e"}}))
	}
	return c, ps
}

// committed is how many transactions the producers have committed.
func committed(ps []*Producer) (n int64) {
	for _, p := range ps {
		n += p.Transactions().Committed
	}
	return n
}

// cpuTime is what the process has used of processors, which says more than the clock on a busy machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A thousand transactions a second of virtual time and more, and each costs the same, whether it is the first or the
// hundred thousandth.
func BenchmarkTransactions(b *testing.B) {
	for _, want := range []int64{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(want), func(b *testing.B) {
			n, virtual, events, cpu := int64(0), time.Duration(0), int64(0), cpuTime()
			for b.Loop() {
				c, ps := txnLoad(50)
				for committed(ps) < want {
					c.RunFor(20 * time.Millisecond)
				}
				n, virtual, events = n+committed(ps), virtual+c.Now(), events+c.history.steps
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/txn")
			b.ReportMetric(float64(cpuTime()-cpu)/float64(n), "cpu-ns/txn")
			b.ReportMetric(float64(events)/float64(n), "events/txn")
			b.ReportMetric(float64(n)/virtual.Seconds(), "txn/virtual-s")
		})
	}
}
