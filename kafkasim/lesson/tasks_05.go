package lesson

import (
	"time"

	"kafkalab/kafkasim"
)

// Lesson 05, Replication and the high watermark.

func init() {
	checkers["05"] = map[string]checker{
		"compute-hw":   checked("a function `func(ends map[int]int64, isr []int, minISR int, old int64) int64`", checkComputeHW),
		"pause-length": checked("a `kafkasim.Config`", checkPauseLength),
	}
}

func checkComputeHW(rule func(map[int]int64, []int, int, int64) int64) finding {
	for _, x := range []struct {
		ends map[int]int64
		isr  []int
		min  int
		old  int64
		want int64
		says string
	}{
		{map[int]int64{1: 10, 2: 10, 3: 10}, []int{1, 2, 3}, 2, 0, 10, "all have the same"},
		{map[int]int64{1: 10, 2: 7, 3: 9}, []int{1, 2, 3}, 2, 5, 7, "the slowest member of the ISR counts"},
		{map[int]int64{1: 10, 2: 9, 3: 2}, []int{1, 2}, 2, 5, 9, "who is not in the ISR does not count"},
		{map[int]int64{1: 10, 2: 9, 3: 2}, []int{1}, 2, 8, 8, "below the minimum it stands still"},
		{map[int]int64{1: 10, 2: 4, 3: 10}, []int{1, 2, 3}, 2, 6, 6, "it never goes back"},
		{map[int]int64{1: 10}, []int{1}, 1, 3, 10, "alone in the ISR, and that is enough"},
	} {
		if got := rule(x.ends, x.isr, x.min, x.old); got != x.want {
			return wrong("With log ends %v, ISR %v, minimum %d and an old high watermark of %d it says %d, not %d: %s.", x.ends, x.isr, x.min, x.old, got, x.want, x.says)
		}
	}
	return solved("Six cases, six times right.")
}

// checkPauseLength measures the pause after a crash, and lets a follower stutter.
func checkPauseLength(conf kafkasim.Config) finding {
	for seed := range 5 {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(seed), Config: conf})
		c.CreateTopic("log", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
		c.RunFor(time.Second)
		leader := c.Partition("log", 0).Leader
		follower := leader%3 + 1
		p := c.NewProducer("app", kafkasim.Config{"acks": "all", "linger.ms": 0})
		p.Every(20*time.Millisecond, "log", "k")
		c.RunFor(2 * time.Second)
		c.Broker(follower).Pause()
		c.RunFor(500 * time.Millisecond)
		c.Broker(follower).Resume()
		c.RunFor(time.Second)
		if n := len(c.Partition("log", 0).ISR); n < 3 {
			return wrong("A follower that stuttered for half a second lost its place in the ISR.")
		}
		c.RunFor(time.Duration(seed*170) * time.Millisecond)
		c.Broker(follower).Crash()
		if pause := longestPause(c, 6*time.Second); pause >= 2*time.Second {
			return wrong("When broker %d died, nothing was acknowledged for %v.", follower, pause.Round(10*time.Millisecond))
		}
	}
	return solved("Five crashes, each with a pause under two seconds.")
}

// longestPause runs for a while and returns the longest time without a newly acknowledged record.
func longestPause(c *kafkasim.Cluster, d time.Duration) time.Duration {
	const look = 10 * time.Millisecond
	acked := func() int { return c.View().Producers[0].Acked }
	longest, since, last := time.Duration(0), c.Now(), acked()
	for end := c.Now() + d; c.Now() < end; {
		c.RunFor(look)
		if n := acked(); n != last {
			last, since = n, c.Now()
		}
		longest = max(longest, c.Now()-since)
		if longest > 3*time.Second {
			break
		}
	}
	return longest
}
