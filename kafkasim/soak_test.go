package kafkasim

import (
	"flag"
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
				s := drawSchedule(draws(from + i))
				g := s.run(m)
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

// Random worlds, faults and commands, with every invariant looked at after every event: nothing breaks.
// `go test ./kafkasim -run Schedules -soak 1000000 -timeout 0` looks longer.
func TestSchedulesKeepEveryInvariant(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	if *soak > 0 {
		n = *soak
	}
	seed, runs, f := hunt(*soakFrom, n, machine.NoMutant, time.Time{})
	if f != nil {
		t.Fatalf("seed %d, %s\n%s", seed, f.text, drawSchedule(draws(seed)).report(machine.NoMutant, f))
	}
	t.Logf("%d schedules", runs)
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
