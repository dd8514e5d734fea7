package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 04, acks side by side.

func init() {
	checkers["04"] = map[string]checker{
		"safest":  checked("a `kafkasim.Config`", checkSafest),
		"measure": checked("a function `func(c *kafkasim.Cluster, d time.Duration) time.Duration`", checkMeasure),
	}
}

// checkSafest lets one broker after another fail at moments that the lesson does not show.
func checkSafest(conf kafkasim.Config) finding {
	producer, topic := kafkasim.Config{}, kafkasim.Config{}
	for k, v := range conf {
		if k == "min.insync.replicas" {
			topic[k] = v
		} else {
			producer[k] = v
		}
	}
	for seed := range 6 {
		if f := oneDown(uint64(seed), producer, topic); f.outcome != Correct {
			return f
		}
	}
	return solved("Six worlds, in each one broker down at a time: writes went on and nothing acknowledged was lost.")
}

// oneDown crashes the leader of a topic after its followers were held back one after the other.
func oneDown(seed uint64, producer, topic kafkasim.Config) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: seed, Config: kafkasim.Config{
		"replica.lag.time.max.ms": 1000, "broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 100,
	}})
	c.CreateTopic("orders", 1, 3, topic)
	p := c.NewProducer("checkout", producer)
	send := func(what string) *kafkasim.Delivery { return p.Send("orders", "user-1", what) }
	send("first")
	c.RunFor(time.Second)
	leader := c.Partition("orders", 0).Leader
	follower := leader%3 + 1
	c.Broker(follower).Crash()
	c.RunFor(4 * time.Second)
	down := send("with one broker down")
	c.RunFor(3 * time.Second)
	if down.Status() != "acked" {
		return wrong("With broker %d down a record was not acknowledged (%v): writes have stopped.", follower, down)
	}
	c.Broker(follower).Start()
	c.RunFor(6 * time.Second)
	c.Hold(fmt.Sprintf("broker %d -> broker %d Fetch", follower, leader))
	c.Hold(fmt.Sprintf("broker %d -> broker %d Fetch", 6-leader-follower, leader))
	c.RunFor(4 * time.Second)
	alone := send("while no follower keeps up")
	c.RunFor(time.Second)
	acked := alone.Status() == "acked"
	c.Broker(leader).PowerLoss()
	c.Release()
	c.RunFor(8 * time.Second)
	if acked && (alone.Lost() || c.Partition("orders", 0).Leader == -1) {
		return wrong("No follower kept up, the leader took a record all the same and acknowledged it, and then lost power: the record is nowhere.")
	}
	if n := c.Counters().Lost; n > 0 {
		return wrong("%d acknowledged records are lost.", n)
	}
	return solved("")
}

func checkMeasure(measure func(*kafkasim.Cluster, time.Duration) time.Duration) finding {
	for _, d := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond} {
		c := kafkasim.Page()
		c.Latency(1, 2, d)
		p := c.NewProducer("judge", kafkasim.Config{"acks": "all"})
		p.Send("orders", "user-1", "warm up")
		c.Settle()
		x := p.Send("orders", "user-1", "order")
		c.Settle()
		want := x.AckedAt() - x.SentAt()
		if got := measure(kafkasim.Page(), d); got != want {
			return wrong("With %v between the brokers it measured %v; the check measured %v.", d, got, want)
		}
	}
	return solved("Three distances, three times the right time.")
}
