package kafkasim

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkalab/kafkasim/machine"
)

var (
	soak     = flag.Int("soak", 0, "run so many random schedules instead of 20,000")
	soakFrom = flag.Uint64("soakfrom", 0, "the seed of the first schedule")
)

// hunt runs schedules from a seed on, on every core, until n have run or one breaks something. It returns the
// lowest seed that does, how many have run, and what broke.
func hunt(from uint64, n int, m machine.Mutant, until time.Time) (seed uint64, runs int, f *failure) {
	return huntIn(drawSchedule, from, n, m, until)
}

// huntIn is hunt in a family of schedules.
func huntIn(draw func(chooser) schedule, from uint64, n int, m machine.Mutant, until time.Time) (seed uint64, runs int, f *failure) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var next atomic.Uint64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				mu.Lock()
				stop := f != nil && from+i > seed
				mu.Unlock()
				if i >= uint64(n) || stop || i%64 == 0 && !until.IsZero() && time.Now().After(until) {
					return
				}
				s := draw(draws(from + i))
				g := s.timed(from+i, m)
				mu.Lock()
				runs++
				if g != nil && (f == nil || from+i < seed) {
					seed, f = from+i, g
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return seed, runs, f
}

// scheduleLimit is how long a schedule may take, of real time: most are over in 10 ms. One that goes on is a loop without
// end, which could not be interrupted from inside.
const scheduleLimit = 2 * time.Minute

// timed runs a schedule, and ends the process when that takes too long.
func (s *schedule) timed(seed uint64, m machine.Mutant) *failure {
	watchdog := time.AfterFunc(scheduleLimit, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("seed %d takes longer than %v: %v", seed, scheduleLimit, s))
	})
	defer watchdog.Stop()
	return s.run(m)
}

// soakFamily runs schedules of a family until one breaks something: n of them, or -soak from the seed -soakfrom on.
func soakFamily(t *testing.T, what string, draw func(chooser) schedule, n int) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	if *soak > 0 {
		n = *soak
	}
	seed, runs, f := huntIn(draw, *soakFrom, n, machine.NoMutant, time.Time{})
	if f != nil {
		t.Logf("seed %d of %s, %s", seed, what, f.text) // before it is made shorter, which takes its time
		t.Fatalf("seed %d of %s, %s\n%s", seed, what, f.text, draw(draws(seed)).report(machine.NoMutant, f))
	}
	t.Logf("%d schedules of %s", runs, what)
}

// Random worlds, faults and commands, with every invariant looked at after every event: nothing breaks.
// `go test ./kafkasim -run Schedules -soak 1000000 -timeout 0` looks longer.
func TestSchedulesKeepEveryInvariant(t *testing.T) {
	soakFamily(t, "brokers", drawSchedule, 20_000)
}

// The same with rapid's own draws, which it makes smaller by itself.
func TestSchedulesByRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		if f := s.run(machine.NoMutant); f != nil {
			t.Fatalf("%s\n%s", f.text, f.c.Script())
		}
	})
}
