package kafkasim

import (
	"runtime"
	"testing"
	"time"
)

// Checkpoints stay within their memory, and the estimate by which that is kept is near the truth.
func TestCheckpointsStayWithinTheirMemory(t *testing.T) {
	for _, partitions := range []int{3, 300} {
		c := New(World{Brokers: 3, Seed: 1})
		c.CreateTopic("wide", partitions, 3, nil)
		c.NewProducer("checkout", nil).Every(time.Millisecond, "wide", "a", "b", "c")
		for c.history.steps < 20*firstInterval {
			c.RunFor(100 * time.Millisecond)
		}
		var kept []any
		before := heap()
		for range 20 {
			kept = append(kept, c.s.Clone())
		}
		real, guess := (heap()-before)/int64(len(kept)), c.s.CloneSize()
		runtime.KeepAlive(kept)
		if real > 2*guess || guess > 3*real {
			t.Errorf("%d partitions: a clone has %d bytes, the guess is %d", partitions, real, guess)
		}
		if n := int64(len(c.history.marks)); n < minCheckpoints/2 || n > maxCheckpoints || n > minCheckpoints && n*real > 2*checkpointBytes {
			t.Errorf("%d partitions: %d checkpoints of %d bytes", partitions, n, real)
		}
		for i := 1; i < len(c.history.marks); i++ {
			if gap := c.history.marks[i].steps - c.history.marks[i-1].steps; gap > c.history.interval {
				t.Errorf("%d events between two checkpoints; the interval is %d", gap, c.history.interval)
			}
		}
	}
}
