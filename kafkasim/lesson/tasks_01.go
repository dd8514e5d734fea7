package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// Lesson 01, The log and its readers.

func init() {
	checkers["01"] = map[string]checker{
		"read-all": checked("a function `func(c *kafkasim.Cluster) int`", checkReadAll),
		"last-one": checked("a function `func(c *kafkasim.Cluster) string`", checkLastOne),
	}
}

// ordersWorld is a cluster whose topic orders has one partition with n records.
func ordersWorld(seed uint64, n int) *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: seed})
	c.CreateTopic("orders", 1, 1, nil)
	p := c.NewProducer("shop", nil)
	for i := range n {
		p.Send("orders", "anna", fmt.Sprintf("order %d", i))
	}
	c.Settle()
	c.RunFor(time.Second)
	return c
}

func checkReadAll(read func(*kafkasim.Cluster) int) finding {
	for i, n := range []int{1, 500, 501, 4321} {
		switch got := read(ordersWorld(uint64(i), n)); {
		case got == 0:
			return wrong("Of %d records it found none. Where does a new consumer begin?", n)
		case got == 500 && n > 500:
			return wrong("Of %d records it found 500: that is one poll.", n)
		case got != n:
			return wrong("Of %d records it found %d.", n, got)
		}
	}
	return solved("It found them all, in logs of 1, 500, 501 and 4321 records.")
}

func checkLastOne(last func(*kafkasim.Cluster) string) finding {
	for i, n := range []int{2, 77, 1500} {
		c := ordersWorld(uint64(10+i), n)
		want := fmt.Sprintf("order %d", n-1)
		got := last(c)
		switch {
		case got == "order 0":
			return wrong("In a log of %d records it returned the oldest one.", n)
		case got != want:
			return wrong("In a log of %d records it returned %q, not %q.", n, got, want)
		}
		if polled := polledRecords(c); polled > 1 {
			return wrong("The value is right, but %d records were read for it.", polled)
		}
	}
	return solved("The newest record of three logs, and not one record too many.")
}

// polledRecords counts what all consumers have got from poll so far.
func polledRecords(c *kafkasim.Cluster) int {
	n := 0
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Consumed {
			n += int(x.B - x.A)
		}
	}
	return n
}
