package goeval

import (
	"bytes"
	"math/bits"
	"reflect"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"kafkalab/kernel/goeval/internal/exec"
)

// watch stops the run when the session holds more memory than it may, since otherwise the system would
// end the whole process, and when it is deadlocked.
func (e *Engine) watch(run *exec.Run) (stop func()) {
	limit := e.memoryLimit()
	done := make(chan struct{})
	check := func() bool {
		if held() <= limit {
			return true
		}
		runtime.GC() // garbage counts, and may be all that is too much
		if held() <= limit {
			return true
		}
		run.Stop(exec.StopMemory)
		return false
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

// held is what the process holds in its heap, garbage included, and in stacks.
func held() uint64 {
	sample := [2]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}

// room reports whether the session may hold that many bytes more.
func (e *Engine) room(bytes uintptr) bool {
	limit := e.memoryLimit()
	if held()+uint64(bytes) <= limit {
		return true
	}
	runtime.GC()
	return held()+uint64(bytes) <= limit
}

// Compiled functions that allocate as much as they are told.
func init() {
	guard := func(name string, f any, bytes func(a []reflect.Value) uint64) {
		fn := reflect.ValueOf(f)
		intrinsics[name] = func(_ *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
			c.Allow(uintptr(bytes(a)))
			return fn.Call(a)
		}
	}
	repeated := func(a []reflect.Value) uint64 {
		high, low := bits.Mul64(uint64(a[0].Len()), uint64(max(a[1].Int(), 0)))
		if high > 0 || low > 1<<47 {
			return 0 // it panics by itself
		}
		return low
	}
	grown := func(a []reflect.Value) uint64 { return min(uint64(max(a[1].Int(), 0)), 1<<47) }
	guard("strings.Repeat", strings.Repeat, repeated)
	guard("bytes.Repeat", bytes.Repeat, repeated)
	guard("bytes.Buffer.Grow", (*bytes.Buffer).Grow, grown)
	guard("strings.Builder.Grow", (*strings.Builder).Grow, grown)
}

// watchEvery is how often memory is looked at. Allocating at 10 GB/s, a cell gets 0.2 GB further.
const watchEvery = 20 * time.Millisecond
