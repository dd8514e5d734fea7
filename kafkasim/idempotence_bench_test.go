package kafkasim

import (
	"strings"
	"testing"
)

// BenchmarkIdempotence sends a million records with idempotence and without; the first may take half as long again.
func BenchmarkIdempotence(b *testing.B) {
	million := func(idempotent bool) float64 {
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("orders", 1, 3, Config{"min.insync.replicas": 2})
		p := c.NewProducer("p", Config{"enable.idempotence": idempotent})
		value := strings.Repeat("v", 100)
		return timed(func() {
			for n := range 1_000_000 {
				if p.Send("orders", nil, value); n%1000 == 999 {
					c.RunFor(ms(10))
				}
			}
			p.Flush()
		})
	}
	for range b.N {
		plain, numbered := million(false), million(true)
		b.ReportMetric(plain/1000, "ms-plain")
		b.ReportMetric(numbered/1000, "ms-idempotent")
		b.ReportMetric(numbered/plain, "x")
	}
}
