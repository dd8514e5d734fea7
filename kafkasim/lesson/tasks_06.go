package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 06, When a leader fails.

func init() {
	checkers["06"] = map[string]checker{
		"lose-it":       checked("a function `func(c *kafkasim.Cluster)`", checkLoseIt),
		"safe-producer": checked("a `kafkasim.Config`", checkSafeProducer),
	}
}

// checkLoseIt lets the attack run on worlds that have lived on for different times before.
func checkLoseIt(attack func(*kafkasim.Cluster)) finding {
	for _, before := range []int{0, 3, 8, 21} {
		c := kafkasim.Page()
		p := c.NewProducer("checkout", kafkasim.Config{"acks": 1})
		if before > 0 {
			p.Send("orders", "user-1", "an earlier order")
			c.Settle()
			c.Ticks(before)
		}
		attack(c)
		c.Ticks(5)
		if n := c.Counters(); n.Lost == 0 {
			return wrong("In a world that was %d ticks old nothing that was acknowledged is lost: %s", before, whyNothingLost(c))
		}
	}
	return solved("An acknowledged record was lost in every world.")
}

// whyNothingLost says which of the three steps is missing.
func whyNothingLost(c *kafkasim.Cluster) string {
	part := c.Partition("orders", 0)
	switch {
	case part.Leader == 1:
		return "broker 1 still leads `orders-0`. Did it crash, and was there time to elect another?"
	case c.View().Producers[0].Acked == 0:
		return "no record was acknowledged before the crash."
	}
	return fmt.Sprintf("broker %d leads now, and it has every record that was acknowledged. It must have been behind.", part.Leader)
}

// checkSafeProducer crashes the leader at many moments, with its follower a little behind.
func checkSafeProducer(conf kafkasim.Config) finding {
	for at := 1; at <= 24; at++ {
		c := kafkasim.Page()
		p := c.NewProducer("checkout", conf)
		c.Latency(2, 1, time.Duration(1+at%4)*time.Millisecond)
		var sent []*kafkasim.Delivery
		for i := range 6 {
			sent = append(sent, p.Send("orders", "user-1", fmt.Sprintf("order #%d", i+1)))
			c.Ticks(4)
			if i == at%6 {
				c.Ticks(at % 5)
				c.Broker(1).Crash()
			}
		}
		c.Ticks(20)
		c.Broker(1).Start()
		c.RunFor(200 * time.Millisecond)
		if n := c.Counters().Lost; n > 0 {
			return wrong("When the leader crashed right after order #%d, %d acknowledged record was lost.", at%6+1, n)
		}
		for _, d := range sent {
			if d.Status() != "acked" {
				return wrong("When the leader crashed right after order #%d, a record was never acknowledged: %v", at%6+1, d)
			}
		}
	}
	return solved("24 crashes at 24 moments, and no acknowledged record was lost.")
}
