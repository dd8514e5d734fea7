package lesson

import (
	"fmt"
	"maps"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 12, Retention and compaction.

func init() {
	checkers["12"] = map[string]checker{
		"keep-a-minute": checked("a `kafkasim.Config`", checkKeepAMinute),
		"table-view":    checked("a function `func(c *kafkasim.Cluster) map[string]string`", checkTableView),
	}
}

// checkKeepAMinute looks at the oldest record every second for some minutes.
func checkKeepAMinute(conf kafkasim.Config) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: 9, Config: kafkasim.Config{"log.retention.check.interval.ms": 1000}})
	if t := c.CreateTopic("visits", 1, 1, conf); t.Error != "" {
		return wrong("Kafka refuses the topic: %s.", t.Error)
	}
	c.NewProducer("web", kafkasim.Config{"linger.ms": 0}).Every(time.Second, "visits", "page")
	c.RunFor(70 * time.Second)
	for range 200 {
		c.RunFor(time.Second)
		oldest := c.Now() - time.Duration(c.Partition("visits", 0).Logs[0].LogStartOffset)*time.Second
		switch {
		case oldest > 92*time.Second:
			return wrong("At t=%v the oldest record was about %d seconds old.", c.Now(), int(oldest.Seconds()))
		case oldest < 60*time.Second:
			return wrong("At t=%v records of the last 60 seconds were gone: the oldest was %d seconds old.", c.Now(), int(oldest.Seconds()))
		}
	}
	return solved("Over 200 seconds the oldest record was always between 60 and 90 seconds old.")
}

func checkTableView(read func(*kafkasim.Cluster) map[string]string) finding {
	for seed := range 3 {
		c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: uint64(seed), Config: kafkasim.Config{"log.cleaner.backoff.ms": 1000}})
		c.CreateTopic("prices", 1, 1, kafkasim.Config{"cleanup.policy": "compact", "segment.ms": 3000, "min.cleanable.dirty.ratio": 0.1})
		p := c.NewProducer("shop", nil)
		want := map[string]string{}
		for i := range 700 + 300*seed {
			key, value := fmt.Sprintf("item-%d", i*7%(40+seed)), fmt.Sprint(i)
			if i%11 == 3 {
				p.Send("prices", key, nil)
				delete(want, key)
			} else {
				p.Send("prices", key, value)
				want[key] = value
			}
			if i%50 == 0 {
				c.RunFor(time.Second)
			}
		}
		c.Settle()
		got := read(c)
		if !maps.Equal(got, want) {
			return wrong("In a table of %d rows it found %d: %s", len(want), len(got), difference(got, want))
		}
	}
	return solved("Three tables, row by row the same.")
}

// difference names one row in which two tables differ.
func difference(got, want map[string]string) string {
	for i := range 50 {
		key := fmt.Sprintf("item-%d", i)
		g, there := got[key]
		w, should := want[key]
		switch {
		case there && !should:
			return fmt.Sprintf("%s was deleted, and it has %q.", key, g)
		case !there && should:
			return fmt.Sprintf("%s is missing; its value is %q.", key, w)
		case g != w:
			return fmt.Sprintf("%s is %q, and it has %q.", key, w, g)
		}
	}
	return "rows differ."
}
