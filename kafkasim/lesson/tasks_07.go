package lesson

import (
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// Lesson 07, How many copies are enough?

func init() {
	checkers["07"] = map[string]checker{
		"two-replicas": checked("a function `func(c *kafkasim.Cluster)`", checkTwoReplicas),
		"last-copy":    checked("a function `func(c *kafkasim.Cluster)`", checkLastCopy),
	}
}

func checkTwoReplicas(stop func(*kafkasim.Cluster)) finding {
	c := kafkasim.Page()
	p := c.NewProducer("checkout", kafkasim.Config{"acks": "all"})
	p.Every(2*time.Millisecond, "orders", "user-1")
	c.Ticks(30)
	from := c.Now()
	stop(c)
	if n := faults(c); n != 1 {
		return wrong("That was %d failures of brokers: want one.", n)
	}
	c.Ticks(100)
	last := from.Microseconds()
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Acked && x.At > from.Microseconds() {
			if x.At-last > 40_000 {
				return solved("Nothing was acknowledged for %d ticks.", (x.At-last)/1000)
			}
			last = x.At
		}
	}
	if gap := c.Now().Microseconds() - last; gap > 40_000 {
		return solved("Nothing was acknowledged for %d ticks, and it goes on.", gap/1000)
	}
	return wrong("Records of `orders-0` were acknowledged all the time. Does that broker have a replica of it?")
}

// faults counts the failures of brokers that a user has brought about.
func faults(c *kafkasim.Cluster) int {
	n := 0
	for _, x := range c.Trace().Changes {
		if x.Kind == view.BrokerState && (x.Text == "CRASHED" || x.Text == "PENDING_CONTROLLED_SHUTDOWN" || x.Text == "PAUSED") {
			n++
		}
	}
	return n
}

func checkLastCopy(attack func(*kafkasim.Cluster)) finding {
	c := kafkasim.Widget(kafkasim.Config{"acks": "all", "min.insync.replicas": 1})
	attack(c)
	c.Ticks(5)
	switch n := faults(c); {
	case n > 3:
		return wrong("That were %d faults: want at most 3.", n)
	case c.Counters().Lost > 0:
		return solved("%d acknowledged records are lost, with %d faults.", c.Counters().Lost, n)
	case c.Partition("log", 0).Leader == -1:
		return wrong("Nobody leads, so nothing is lost for good yet: Kafka waits for a replica that has everything.")
	}
	return wrong("No acknowledged record is lost. Who was in the ISR when the last one was acknowledged, and who leads now?")
}
