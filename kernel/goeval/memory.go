package goeval

import (
	"runtime/metrics"
	"time"

	"kafkalab/kernel/goeval/internal/exec"
)

// watch stops the run when the session holds more memory than it may, since otherwise the system would
// end the whole process, and when it is deadlocked.
func (e *Engine) watch(run *exec.Run) (stop func()) {
	limit := e.memoryLimit()
	done := make(chan struct{})
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	check := func() bool {
		metrics.Read(sample)
		if sample[0].Value.Uint64()+sample[1].Value.Uint64() > limit {
			run.Stop(exec.StopMemory)
			return false
		}
		return true
	}
	sleeps := e.newSleeper()
	go func() {
		for tick := time.NewTicker(watchEvery); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				asleep := sleeps.tick()
				if asleep {
					run.Stop(exec.StopDeadlock)
				}
				if asleep || !check() {
					tick.Stop()
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

// watchEvery is how often memory is looked at. Allocating at 10 GB/s, a cell gets 0.2 GB further.
const watchEvery = 20 * time.Millisecond
