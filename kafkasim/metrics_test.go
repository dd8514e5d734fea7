package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// Metrics by Kafka's names: batches are counted when they are put on the wire, each attempt again (P-52, P-60).
func TestProducerMetrics(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, nil)
	p := c.NewProducer("p", Config{"compression.type": "gzip", "request.timeout.ms": 2000, "enable.idempotence": false})
	for range 100 {
		p.Send("orders", "key", strings.Repeat("abc", 30))
	}
	c.RunUntil(func(*Cluster) bool { return strings.Contains(c.InFlight().String(), "Produce orders-0") }, ms(1000))
	m := p.Metrics()
	for name, want := range map[string]float64{"record-send-total": 100, "records-per-request-avg": 100, "record-retry-total": 0,
		"requests-in-flight": 1, "buffer-available-bytes": 33554432 - 16384, "batch-split-total": 0, "record-queue-time-avg": 5} {
		if got := m.Value(name); got != want {
			t.Errorf("%s is %v, want %v\n%s", name, got, want, m)
		}
	}
	if r := m.Value("compression-rate-avg"); r <= 0 || r > 0.2 {
		t.Errorf("compression-rate-avg is %v", r)
	}
	if text := mistake(t, func() { m.Value("record-sent-total") }); !strings.Contains(text, `"record-send-total"`) {
		t.Error(text)
	}
}

// Averages and maxima are those of the last windows (SampledStat): what was long ago does not count, and totals stay.
func TestProducerMetricsOfTheLastWindows(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, nil)
	p := c.NewProducer("p", Config{"linger.ms": 0})
	send := func(size int) float64 {
		p.Send("orders", nil, strings.Repeat("x", size))
		p.Flush()
		return p.Metrics().Value("batch-size-max")
	}
	large := send(5000)
	c.RunFor(40 * time.Second) // another window, and the first still counts
	if got := send(10); got != large {
		t.Errorf("after 40 s the largest batch has %v bytes, want %v", got, large)
	}
	c.RunFor(25 * time.Second) // 65 s after the large batch
	small := send(10)
	if small >= 200 || p.Metrics().Value("batch-size-avg") != small {
		t.Errorf("after 65 s:\n%s", p.Metrics())
	}
	c.RunFor(2 * time.Minute)
	if m := p.Metrics(); m.Value("request-latency-max") != 0 || m.Value("record-send-total") != 3 {
		t.Errorf("after two minutes without records:\n%s", m)
	}
}

// TLS makes the broker copy what it sends to whoever uses it, and decrypt what it gets.
func TestCostsOfTLS(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 1, Config: Config{"security.inter.broker.protocol": "SSL"}})
	c.CreateTopic("orders", 1, 2, nil)
	p := c.NewProducer("p", Config{"security.protocol": "SSL"})
	r := c.NewConsumer("plain", Config{"auto.offset.reset": "earliest"}).Assign("orders")
	d := p.Send("orders", nil, "v")
	p.Flush()
	r.Poll(ms(200))
	x := c.Costs()
	if size := x.ProducedBytes; d.Status() != "acked" || size != 69 || x.DecryptedBytes != size || x.CopiedBytes != size || x.ZeroCopyBytes != size || x.AppendedBytes != 2*size {
		t.Errorf("one follower with TLS, one consumer without:\n%s", x)
	}
	if one := c.Broker(1).Costs().Appends + c.Broker(2).Costs().Appends + c.Broker(3).Costs().Appends; one != x.Appends {
		t.Errorf("%d appends on the brokers, %d in all", one, x.Appends)
	}
}
