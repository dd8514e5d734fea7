package kafkasim

import (
	"fmt"
	"testing"
	"time"
)

// transactionsFor lets ten producers end one transaction after the other for so many virtual seconds; each
// transaction has a record in both partitions. It tells how many were committed.
func transactionsFor(seconds int) int {
	c := New(World{Brokers: 3, Seed: 1, Latency: 200 * time.Microsecond, Config: Config{"transaction.state.log.num.partitions": 10}})
	c.CreateTopic("orders", 2, 3, nil)
	var ps []*Producer
	for i := range 10 {
		p := c.NewProducer(fmt.Sprint("p", i), Config{"transactional.id": fmt.Sprint("tx-", i), "linger.ms": 0})
		p.InitTransactions()
		ps = append(ps, p)
	}
	n := 0
	for until := c.Now() + time.Duration(seconds)*time.Second; c.Now() < until; {
		for _, p := range ps {
			p.Begin()
			for part := range 2 {
				p.SendRecord(Record{Topic: "orders", Partition: part, Value: "v"})
			}
			if p.Commit().Error == "" {
				n++
			}
		}
	}
	return n
}

// A transaction costs the same whether it is the first or the ten thousandth.
func BenchmarkTransactions(b *testing.B) {
	for _, seconds := range []int{2, 8} {
		b.Run(fmt.Sprint(seconds, "s"), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n += transactionsFor(seconds)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/txn")
			b.ReportMetric(float64(n)/float64(b.N*seconds), "txn/virtual-s")
		})
	}
}
