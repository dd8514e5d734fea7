package lesson

import (
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// The arena.

func init() {
	checkers["arena"] = map[string]checker{
		"attack-acks-one": attack(func() *kafkasim.Cluster {
			c := kafkasim.Page()
			c.NewProducer("app", kafkasim.Config{"acks": 1})
			return c
		}, lostSomething),
		"attack-min-one": attack(func() *kafkasim.Cluster {
			c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 77})
			c.CreateTopic("log", 1, 3, kafkasim.Config{"min.insync.replicas": 1})
			c.NewProducer("app", kafkasim.Config{"acks": "all", "linger.ms": 0})
			c.RunFor(time.Second)
			return c
		}, lostSomething),
		"attack-duplicate": attack(func() *kafkasim.Cluster {
			c := kafkasim.Page()
			c.NewProducer("app", kafkasim.Config{"acks": "all", "enable.idempotence": false, "request.timeout.ms": 100})
			return c
		}, storedTwice),
		"repair-producer": checked("a `kafkasim.Config`", checkRepairProducer),
		"repair-consumer": checked("a `kafkasim.Work`", checkRepairConsumer),
	}
}

// attack is the check of an attack: it runs the learner's schedule on a world and asks whether the claim is broken.
func attack(world func() *kafkasim.Cluster, broken func(*kafkasim.Cluster) (bool, string)) checker {
	return checked("a function `func(c *kafkasim.Cluster)`", func(run func(*kafkasim.Cluster)) finding {
		c := world()
		before := interventions(c)
		run(c)
		if done, says := broken(c); !done {
			return wrong("%s", says)
		}
		f := solved("The claim is broken.")
		f.steps = interventions(c) - before
		return f
	})
}

// interventions counts what a user did to the world: faults, and hands on messages.
func interventions(c *kafkasim.Cluster) int {
	n := 0
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Command {
			n++
		}
	}
	return max(n, faults(c))
}

func lostSomething(c *kafkasim.Cluster) (bool, string) {
	c.RunFor(time.Second)
	switch {
	case c.Counters().Lost > 0:
		return true, ""
	case c.View().Producers[0].Acked == 0:
		return false, "No record was acknowledged."
	}
	return false, "Every acknowledged record is still in a leader's log, or may come back."
}

func storedTwice(c *kafkasim.Cluster) (bool, string) {
	seen := map[string]bool{}
	for _, r := range c.Partition("orders", 0).Logs[0].Records {
		if seen[r.Value] {
			return true, ""
		}
		seen[r.Value] = true
	}
	return false, fmt.Sprintf("The log of `orders-0` holds %d records, each of them once.", len(seen))
}

// checkRepairProducer drops answers and crashes leaders.
func checkRepairProducer(conf kafkasim.Config) finding {
	for seed := range 12 {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(seed), Config: kafkasim.Config{
			"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 100, "replica.lag.time.max.ms": 1000,
		}})
		c.CreateTopic("payments", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
		with := kafkasim.Config{"linger.ms": 0, "batch.size": 100, "request.timeout.ms": 300}
		for k, v := range conf {
			with[k] = v
		}
		p := c.NewProducer("bank", with)
		p.Send("payments", "k", "warm up")
		c.RunFor(time.Second)
		if f := payments(c, p, seed); f.outcome != Correct {
			return f
		}
	}
	return solved("Twelve schedules with lost answers and crashed leaders: every payment once, in order, none lost.")
}

// payments sends under faults and looks at the log afterwards.
func payments(c *kafkasim.Cluster, p *kafkasim.Producer, seed int) finding {
	var want []string
	leader := c.Partition("payments", 0).Leader
	for i := range 30 {
		value := fmt.Sprintf("payment %d", i)
		p.Send("payments", "k", value)
		want = append(want, value)
		c.RunFor(time.Millisecond)
		if i%7 == seed%7 {
			dropOneAnswer(c, "bank", seed%3)
		}
		if i == 12 && seed%2 == 1 {
			c.Hold(fmt.Sprintf("broker %d -> broker %d Fetch", leader%3+1, leader))
			c.Hold(fmt.Sprintf("broker %d -> broker %d Fetch", (leader+1)%3+1, leader))
			c.RunFor(2 * time.Millisecond)
		}
		if i == 14 && seed%2 == 1 {
			c.Broker(leader).Crash()
			c.Release()
		}
	}
	c.RunFor(2 * time.Minute)
	now := c.Partition("payments", 0)
	if n := c.Counters().Lost; n > 0 {
		return wrong("In schedule %d the leader crashed, and %d acknowledged payments are lost.", seed+1, n)
	}
	var got []string
	for _, l := range now.Logs {
		if l.Broker == now.Leader {
			for _, r := range l.Records[1:] {
				got = append(got, r.Value)
			}
		}
	}
	switch {
	case len(got) > len(want):
		return wrong("In schedule %d an answer was lost, and %d payments are there twice.", seed+1, len(got)-len(want))
	case len(got) < len(want):
		return wrong("In schedule %d only %d of %d payments are in the log.", seed+1, len(got), len(want))
	case !slices.Equal(got, want):
		return wrong("In schedule %d the payments are out of order.", seed+1)
	}
	return solved("")
}

// dropOneAnswer loses the n-th message that is on its way to a client, or its last one.
func dropOneAnswer(c *kafkasim.Cluster, client string, n int) {
	var numbers []int
	for _, m := range c.InFlight() {
		if m.To == client {
			numbers = append(numbers, m.Number)
		}
	}
	if len(numbers) > 0 {
		c.Drop(numbers[min(n, len(numbers)-1)])
	}
}

func checkRepairConsumer(w kafkasim.Work) finding {
	if w.PerRecord != 5*time.Millisecond {
		return wrong("`PerRecord` is how long the work takes: it stays at 5 ms, not %v.", w.PerRecord)
	}
	for at := 7; at < 200; at += 37 {
		twice, never := crashAt(w, 200, at)
		switch {
		case never > 0:
			return wrong("When a member died after %d records, %d were skipped.", at, never)
		case twice > 10:
			return wrong("When a member died after %d records, %d were done twice.", at, twice)
		}
	}
	return solved("Six crashes: nothing skipped, and at most 10 records done twice.")
}
