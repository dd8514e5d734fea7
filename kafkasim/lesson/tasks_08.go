package lesson

import (
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 08, Consumers and the long poll.

func init() {
	checkers["08"] = map[string]checker{
		"fewer-fetches": checked("a `kafkasim.Config`", checkFewerFetches),
		"replay-last":   checked("a function `func(c *kafkasim.Cluster, n int) []string`", checkReplayLast),
	}
}

// checkFewerFetches counts the fetches of ten seconds, and how old each record is when it is polled.
func checkFewerFetches(conf kafkasim.Config) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: 2})
	c.CreateTopic("readings", 1, 1, nil)
	p := c.NewProducer("sensor", kafkasim.Config{"linger.ms": 0})
	x := c.NewConsumer("display", conf)
	x.Assign("readings", 0)
	x.SeekToEnd("readings")
	x.Poll(time.Second)
	p.Every(10*time.Millisecond, "readings", "k")
	c.RunFor(time.Second)
	x.SeekToEnd("readings")
	for end := c.Now() + 2*time.Second; c.Now() < end; {
		x.Poll(100 * time.Millisecond)
	}
	before, start := c.Broker(1).Costs().ConsumerFetches, c.Now()
	var oldest time.Duration
	for c.Now() < start+10*time.Second {
		for _, r := range x.Poll(50 * time.Millisecond).Records {
			oldest = max(oldest, c.Now()-r.Timestamp)
		}
	}
	perSecond := float64(c.Broker(1).Costs().ConsumerFetches-before) / (c.Now() - start).Seconds()
	switch {
	case perSecond > 8:
		return wrong("It sent %.0f fetches a second.", perSecond)
	case oldest > 250*time.Millisecond:
		return wrong("It sent %.0f fetches a second, but a record was %d ms old when it came.", perSecond, oldest.Milliseconds())
	case oldest == 0:
		return wrong("No record came at all.")
	}
	return solved("%.0f fetches a second, and the oldest record was %d ms old.", perSecond, oldest.Milliseconds())
}

func checkReplayLast(last func(*kafkasim.Cluster, int) []string) finding {
	for _, x := range []struct{ records, n int }{{5, 3}, {3, 10}, {1700, 600}} {
		var want []string
		for i := max(x.records-x.n, 0); i < x.records; i++ {
			want = append(want, fmt.Sprintf("order %d", i))
		}
		got := last(ordersWorld(uint64(x.n), x.records), x.n)
		if !slices.Equal(got, want) {
			return wrong("Of %d records the last %d were wanted; it returned %d, %s.", x.records, x.n, len(got), ends(got))
		}
	}
	return solved("The last records of three logs, in their order.")
}

// ends is the first and the last of some values.
func ends(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return fmt.Sprintf("from %q to %q", values[0], values[len(values)-1])
}
