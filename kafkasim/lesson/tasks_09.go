package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 09, Groups and rebalancing.

func init() {
	checkers["09"] = map[string]checker{
		"scale":         checked("a function `func(c *kafkasim.Cluster)`", checkScale),
		"fast-failover": checked("a `kafkasim.Config`", checkFastFailover),
	}
}

func checkScale(scale func(*kafkasim.Cluster)) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 8})
	c.CreateTopic("orders", 6, 1, nil)
	p := c.NewProducer("shop", nil)
	var keys []string
	for i := range 240 {
		keys = append(keys, fmt.Sprintf("customer-%d", i))
	}
	p.Every(time.Second/45, "orders", keys...)
	scale(c)
	c.RunFor(60 * time.Second)
	g := c.Group("workers")
	if g.Error != "" || len(g.Members) == 0 {
		return wrong("There is no group `workers` with members.")
	}
	before := g.Lag().Total
	c.RunFor(60 * time.Second)
	after := c.Group("workers").Lag().Total
	switch {
	case after > before+300:
		return wrong("%d members are too few: the lag grew from %d to %d in a minute.", len(g.Members), before, after)
	case len(g.Members) > 3:
		return wrong("The lag is small, but %d members are more than are needed.", len(g.Members))
	}
	return solved("%d members, and the lag stays at about %d.", len(g.Members), after)
}

func checkFastFailover(conf kafkasim.Config) finding {
	for seed := range 3 {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(seed)})
		c.CreateTopic("orders", 4, 1, nil)
		var all []*kafkasim.Consumer
		for i := range 2 {
			with := kafkasim.Config{"group.id": "g"}
			for k, v := range conf {
				with[k] = v
			}
			x := c.NewConsumer(fmt.Sprintf("member-%d", i), with).Subscribe("orders")
			x.Work(kafkasim.Work{Commit: "after"})
			all = append(all, x)
		}
		c.RunFor(20 * time.Second)
		if n := len(c.Group("g").Members); n != 2 {
			return wrong("With these settings the group has %d of 2 members: %s.", n, c.Group("g"))
		}
		coordinator := c.Group("g").Coordinator
		c.Cut(coordinator, all[1].ID())
		c.RunFor(5 * time.Second)
		c.Heal()
		c.RunFor(3 * time.Second)
		if n := len(c.Group("g").Members); n != 2 {
			return wrong("A member that was silent for 5 seconds was thrown out.")
		}
		all[0].Crash()
		died := c.Now()
		c.RunUntil(func(c *kafkasim.Cluster) bool {
			g := c.Group("g")
			return g.State == "Stable" && len(g.Members) == 1
		}, time.Minute)
		if took := c.Now() - died; took > 12*time.Second {
			return wrong("It took %d seconds until another member owned the partitions.", int(took.Seconds()))
		}
	}
	return solved("Three groups: a silence of 5 seconds was borne, and a death was noticed within 12.")
}
