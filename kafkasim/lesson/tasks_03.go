package lesson

import (
	"time"

	"kafkalab/kafkasim"
)

// Lesson 03, The producer and its batches.

func init() {
	checkers["03"] = map[string]checker{
		"fewer-requests":   checked("a `kafkasim.Config`", checkFewerRequests),
		"how-many-batches": checked("a function `func(c *kafkasim.Cluster, n int) int`", checkHowManyBatches),
	}
}

func checkFewerRequests(conf kafkasim.Config) finding {
	for seed := range 3 {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(seed)})
		c.CreateTopic("readings", 3, 3, nil)
		p := c.NewProducer("sensor", conf)
		p.Send("readings", "sensor-1", "warm up")
		c.Settle()
		var longest time.Duration
		var sent []*kafkasim.Delivery
		for range 500 {
			sent = append(sent, p.Send("readings", "sensor-1", "21.5"))
			c.RunFor(time.Millisecond)
		}
		c.Settle()
		for _, d := range sent {
			longest = max(longest, d.AckedAt()-d.SentAt())
		}
		switch per := p.Metrics().Value("records-per-request-avg"); {
		case per < 20:
			return wrong("A request carries %.1f records on average: want 20.", per)
		case longest > 60*time.Millisecond:
			return wrong("A request carries %.1f records, but one record waited %v for its acknowledgement.", per, longest)
		}
	}
	return solved("At least 20 records a request, and no record waited more than 60 ms.")
}

func checkHowManyBatches(count func(*kafkasim.Cluster, int) int) finding {
	for i, conf := range []kafkasim.Config{nil, {"batch.size": 0}, {"batch.size": 300}, {"linger.ms": 0, "batch.size": 1000}} {
		world := func() *kafkasim.Cluster {
			c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(i)})
			c.CreateTopic("orders", 3, 1, nil)
			c.NewProducer("shop", conf)
			return c
		}
		const n = 60
		judge := world()
		p := judge.Producer("shop")
		d := p.Send("orders", "anna", "the first, to learn the partition")
		judge.Settle()
		leader := judge.Broker(judge.Partition("orders", d.Partition()).Leader)
		before := leader.Costs().Appends
		for j := range n {
			p.Send("orders", "anna", "order "+string(rune('0'+j%10)))
		}
		judge.Settle()
		want := leader.Costs().Appends - before
		got := count(world(), n)
		// Values differ by a byte or two in length: a batch more or less is the same answer.
		if got < want-want/4-1 || got > want+want/4+1 {
			return wrong("With %v it counted %d batches; the leader appended about %d.", conf, got, want)
		}
	}
	return solved("Four producers, four times the right number.")
}
