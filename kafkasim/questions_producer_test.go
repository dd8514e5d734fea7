package kafkasim

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"
)

// Questions that people ask about producers, each answered by a run.

// valuesOf are the values in a partition's log on its leader, in order.
func (c *Cluster) valuesOf(topic string, partition int) string {
	tp := c.partitionOf("valuesOf", topic, partition)
	r := c.replica(c.leaderOrLast(tp, c.registration(tp)), tp)
	var out []string
	for b := range r.Log.Active.Batches.All() {
		for _, x := range b.Records.All() {
			out = append(out, x.Value)
		}
	}
	return strings.Join(out, " ")
}

// dropAnswer loses the ProduceResponse that is on the wire.
func (c *Cluster) dropAnswer(t *testing.T) {
	t.Helper()
	c.RunUntil(func(c *Cluster) bool { return strings.Contains(c.InFlight().String(), "ProduceResponse") }, ms(1000))
	for _, m := range c.InFlight() {
		if strings.Contains(m.String(), "ProduceResponse") {
			c.Drop(m.Number)
			return
		}
	}
	t.Fatal("no ProduceResponse comes")
}

var producerQuestions = []struct {
	id, question, answer string
	run                  func(t *testing.T) string
}{
	{"Q22", "max.in.flight = 5 with idempotence: can the order break?", "idempotent: A B; plain: B A", func(*testing.T) string {
		order := func(idempotent bool) string {
			c := New(World{Brokers: 1, Seed: 1})
			c.CreateTopic("t", 1, 1, Config{"max.message.bytes": 300})
			p := c.NewProducer("p", Config{"enable.idempotence": idempotent, "linger.ms": 0})
			c.RunFor(ms(10))
			p.Send("t", nil, "warm")
			c.RunFor(ms(20))
			p.Send("t", nil, strings.Repeat("a", 200)) // one batch of two records, which is too large
			p.Send("t", nil, strings.Repeat("a", 200))
			c.RunFor(time.Microsecond)
			p.Send("t", nil, "b")
			c.RunFor(ms(500))
			v := c.valuesOf("t", 0)
			if strings.Index(v, "b") > strings.Index(v, "aa") {
				return "A B"
			}
			return "B A"
		}
		return "idempotent: " + order(true) + "; plain: " + order(false)
	}},
	{"Q23", "The second of five batches in flight fails: what of the third to the fifth?", "OUT_OF_ORDER_SEQUENCE_NUMBER 3 times; log: 1 2 2 3 4 5", func(*testing.T) string {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("t", 1, 1, Config{"max.message.bytes": 300})
		p := c.NewProducer("p", Config{"linger.ms": 0})
		p.Send("t", nil, "warm")
		c.RunFor(ms(50))
		var sent []*Delivery
		for _, v := range []string{"1", "2", "3", "4", "5"} {
			value := v
			if v == "2" {
				value = strings.Repeat(v, 200)
				sent = append(sent, p.Send("t", nil, value))
			}
			sent = append(sent, p.Send("t", nil, value))
			c.RunFor(time.Microsecond)
		}
		c.RunFor(ms(500))
		refused := 0
		for _, d := range sent[3:] {
			if strings.Contains(d.Story().String(), "OUT_OF_ORDER_SEQUENCE_NUMBER; it will be sent again") {
				refused++
			}
		}
		log := strings.ReplaceAll(c.valuesOf("t", 0), strings.Repeat("2", 200), "2")
		return fmt.Sprintf("OUT_OF_ORDER_SEQUENCE_NUMBER %d times; log: %s", refused, strings.TrimPrefix(log, "warm "))
	}},
	{"Q25", "Does a broker that crashes forget sequence numbers?", "acked at offset 0, log: v", func(t *testing.T) string {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("t", 1, 1, nil)
		d := c.NewProducer("p", Config{"request.timeout.ms": 3000}).Send("t", nil, "v")
		c.dropAnswer(t)
		c.Broker(1).Crash()
		c.RunFor(ms(100))
		c.Broker(1).Start()
		c.RunFor(60 * time.Second)
		return fmt.Sprintf("%s at offset %d, log: %s", d.Status(), d.Offset(), c.valuesOf("t", 0))
	}},
	{"Q26", "acks=all without idempotence, brokers are killed in turn: why are there more records than were sent?", "plain: some twice; idempotent: none twice", func(*testing.T) string {
		twice := func(idempotent bool) string {
			c := New(World{Brokers: 3, Seed: 3, Config: Config{"broker.session.timeout.ms": 2000, "broker.heartbeat.interval.ms": 500}})
			c.CreateTopic("t", 1, 3, Config{"min.insync.replicas": 1})
			c.NewProducer("p", Config{"enable.idempotence": idempotent, "request.timeout.ms": 2000, "linger.ms": 0}).Every(ms(1), "t")
			for round := range 6 {
				c.RunFor(ms(2000))
				b := c.Broker(1 + round%3)
				b.Crash()
				c.RunFor(ms(4000))
				b.Start()
				c.RunFor(ms(6000))
			}
			seen, n := map[string]bool{}, 0
			for _, v := range strings.Fields(c.valuesOf("t", 0)) {
				if seen[v] {
					n++
				}
				seen[v] = true
			}
			if n > 0 {
				return "some twice"
			}
			return "none twice"
		}
		return "plain: " + twice(false) + "; idempotent: " + twice(true)
	}},
	{"Q27", "The same key goes elsewhere from Java than from librdkafka: why?", "user-2 user-3 user-4 user-5 user-6 user-7 user-9 go elsewhere with CRC32", func(*testing.T) string {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("t", 3, 1, nil)
		java := c.NewProducer("java", nil)
		other := c.NewProducer("librdkafka", nil).PartitionBy(func(_ string, key any, n int) int {
			return int(crc32.ChecksumIEEE([]byte(key.(string))) % uint32(n))
		})
		var a, b []*Delivery
		for i := 1; i < 10; i++ {
			key := fmt.Sprint("user-", i)
			a, b = append(a, java.Send("t", key, key)), append(b, other.Send("t", key, key))
		}
		c.RunFor(ms(100))
		var moved []string
		for i := range a {
			if a[i].Partition() != b[i].Partition() {
				moved = append(moved, fmt.Sprint("user-", i+1))
			}
		}
		return strings.Join(moved, " ") + " go elsewhere with CRC32"
	}},
	{"Q29", "Records have no key, and yet one partition gets many times more: why?", "2.4 to 3.2: the slow broker's partition gets most; from 3.3 on: about its share", func(*testing.T) string {
		share := func(version string) int {
			c := New(World{Brokers: 3, Seed: 3, Kafka: version})
			c.CreateTopic("t", 3, 1, nil)
			p := c.NewProducer("p", Config{"acks": "1", "linger.ms": 0, "enable.idempotence": false, "max.in.flight.requests.per.connection": 1, "batch.size": 4000})
			c.RunFor(ms(20))
			slow := c.Broker(c.Partition("t", 0).Leader)
			slow.Slow(ms(100))
			reading := strings.Repeat("20.5 degrees ", 6)
			for range 3000 {
				p.Send("t", nil, reading)
				c.RunFor(time.Millisecond)
			}
			c.RunFor(ms(3000))
			return int(c.Partition("t", 0).LogEndOffset) * 100 / 3000
		}
		verdict := func(n int) string {
			switch {
			case n > 66:
				return "the slow broker's partition gets most"
			case n < 50:
				return "about its share"
			}
			return fmt.Sprintf("%d per cent", n)
		}
		return "2.4 to 3.2: " + verdict(share("3.2")) + "; from 3.3 on: " + verdict(share("4.3"))
	}},
	{"Q30", "Partitions were added: what of the order of a key?", "user-3 is in partitions 2 and 5", func(*testing.T) string {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("t", 3, 1, nil)
		p := c.NewProducer("p", Config{"metadata.max.age.ms": 1000})
		before := p.Send("t", "user-3", "old")
		c.RunFor(ms(100))
		c.AddPartitions("t", 6)
		c.RunFor(ms(3000))
		after := p.Send("t", "user-3", "new")
		c.RunFor(ms(100))
		return fmt.Sprintf("user-3 is in partitions %d and %d", before.Partition(), after.Partition())
	}},
	{"Q31", "All of a transactional topic is consumed, and the lag stays 1: why?", "last record at 0, position 2, log end 2", func(*testing.T) string {
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("t", 1, 3, nil)
		p := c.NewProducer("p", Config{"transactional.id": "tx"})
		p.Begin()
		d := p.Send("t", nil, "v")
		p.Commit()
		c.RunFor(ms(500))
		r := c.NewConsumer("r", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("t")
		r.Poll(ms(500))
		r.Poll(ms(500))
		return fmt.Sprintf("last record at %d, position %d, log end %d", d.Offset(), r.Position("t", 0), c.Partition("t", 0).LogEndOffset)
	}},
	{"Q33, Q34", "A read_committed consumer stands still although others see data, and its lag grows: why?",
		"read_committed reads 0 of 4 and lags 4 behind the high watermark; after the commit it reads 4", func(*testing.T) string {
			c := New(World{Brokers: 3, Seed: 1})
			c.CreateTopic("t", 1, 3, nil)
			p := c.NewProducer("p", Config{"transactional.id": "tx"})
			p.Begin()
			p.Send("t", nil, "open")
			p.Flush()
			other := c.NewProducer("other", nil)
			for range 3 {
				other.Send("t", nil, "v")
			}
			other.Flush()
			r := c.NewConsumer("r", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("t")
			u := c.NewConsumer("u", Config{"auto.offset.reset": "earliest"}).Assign("t")
			read, all := len(r.Poll(ms(600)).Records), len(u.Poll(ms(600)).Records)
			lag := c.Partition("t", 0).HighWatermark - r.Position("t", 0)
			p.Commit()
			after := len(r.Poll(ms(1000)).Records)
			return fmt.Sprintf("read_committed reads %d of %d and lags %d behind the high watermark; after the commit it reads %d", read, all, lag, after)
		}},
}

// Q22 to Q34: the question, and the answer that a run gives.
func TestQuestionsAboutProducers(t *testing.T) {
	for _, q := range producerQuestions {
		t.Run(q.id, func(t *testing.T) {
			if got := q.run(t); got != q.answer {
				t.Errorf("%s\n got: %s\nwant: %s", q.question, got, q.answer)
			}
		})
	}
}
