package goeval

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
)

// A deadlock is found by looking at the goroutines of the process: when every goroutine that runs code of
// cells waits for another, and no timer or file can wake one, none will ever go on. In doubt there is none.

// sleeper watches whether a run is deadlocked.
type sleeper struct {
	e     *Engine
	quiet int // ticks in a row in which nothing ran
	wait  int // ticks to wait before the goroutines are looked at
	limit int
	asked [2]metrics.Sample
}

// Looking stops the process for a moment: not before firstLook ticks without work, and ever more rarely.
const (
	firstLook = 10
	lastLook  = 100
)

func (e *Engine) newSleeper() *sleeper {
	s := &sleeper{e: e, limit: firstLook}
	s.asked[0].Name, s.asked[1].Name = "/sched/goroutines/running:goroutines", "/sched/goroutines/runnable:goroutines"
	return s
}

// tick looks once; it reports whether the session is deadlocked.
func (s *sleeper) tick() bool {
	metrics.Read(s.asked[:])
	if busy := s.asked[0].Value; busy.Kind() != metrics.KindUint64 || busy.Uint64() > 1 || s.asked[1].Value.Uint64() > 0 {
		s.quiet = 0
		return false
	}
	if s.quiet++; s.quiet < s.limit {
		return false
	}
	s.quiet, s.limit = 0, min(2*s.limit, lastLook)
	if s.e.alarms.pending() || !allAsleep() {
		return false
	}
	time.Sleep(watchEvery)
	return !s.e.alarms.pending() && allAsleep()
}

// maxDump is the largest picture of goroutines that is taken: about 50,000 of them.
const maxDump = 64 << 20

// allAsleep reports whether every goroutine of cells waits for another one.
func allAsleep() bool {
	buf := make([]byte, 64<<10)
	n := 0
	for {
		if n = runtime.Stack(buf, true); n < len(buf) {
			break
		}
		if len(buf) >= maxDump {
			return false
		}
		buf = make([]byte, 4*len(buf))
	}
	return asleep(buf[:n])
}

// asleep judges a picture of all goroutines.
func asleep(dump []byte) bool {
	some := false
	for _, text := range bytes.Split(dump, []byte("\n\n")) {
		g := readGoroutine(string(text))
		switch {
		case !g.ofCells():
			continue
		case !g.waits():
			return false
		}
		some = true
	}
	return some
}

// goroutine is a part of the picture: what it waits for, the functions it is in, the innermost first, and
// the function that started it.
type goroutine struct {
	state   string
	frames  []string
	creator string
}

func readGoroutine(text string) (g goroutine) {
	for i, line := range strings.Split(text, "\n") {
		switch {
		case i == 0:
			_, state, _ := strings.Cut(line, "[")
			state, _, _ = strings.Cut(state, "]")
			g.state, _, _ = strings.Cut(state, ",")
		case strings.HasPrefix(line, "created by "):
			g.creator, _, _ = strings.Cut(strings.TrimPrefix(line, "created by "), " in goroutine ")
		case !strings.HasPrefix(line, "\t"):
			if i := strings.LastIndexByte(line, '('); i > 0 {
				line = line[:i]
			}
			g.frames = append(g.frames, line)
		}
	}
	return g
}

const (
	module   = "kafkalab/"
	execPath = "kafkalab/kernel/goeval/internal/exec."
)

// ofCells tells the goroutines of cells, and those that compiled code started for them, from the kernel's.
func (g goroutine) ofCells() bool {
	if strings.HasPrefix(g.creator, execPath+"(*Call).Await") {
		return false // it waits for a cell's goroutine, which is there as well
	}
	for _, f := range g.frames {
		if f == execPath+"(*Program).run" || strings.HasPrefix(f, execPath+"(*Machine).spawn") || f == execPath+"(*Closure).callback" || strings.HasPrefix(f, execPath+"(*Call).Guarded") {
			return true
		}
	}
	if g.creator == "" || strings.HasPrefix(g.creator, module) || strings.Contains(g.creator, ".com/") || strings.Contains(g.creator, ".org/") {
		return false
	}
	name, _, _ := strings.Cut(g.creator, ".")
	switch name {
	case "main", "runtime", "testing", "os/signal", "runtime/trace", "runtime/pprof":
		return false
	}
	return true
}

// waits reports whether only another goroutine can make this one go on.
func (g goroutine) waits() bool {
	switch state := strings.TrimSuffix(g.state, " (scan)"); state {
	case "select", "select (no cases)", "chan receive", "chan receive (nil chan)", "chan send", "chan send (nil chan)",
		"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "sync.WaitGroup.Wait", "sync.Cond.Wait", "semacquire":
	default:
		return false
	}
	for _, f := range g.frames {
		switch {
		case strings.HasPrefix(f, execPath):
			name := strings.TrimPrefix(f, execPath)
			for _, waiting := range []string{"(*Thread).recv", "(*Thread).send", "(*compiler).selectStmt.", "(*Call).awaited", "(*reflectCall).call"} {
				if strings.HasPrefix(name, waiting) {
					return true
				}
			}
			return false
		case strings.HasPrefix(f, module):
			return false // a library knows what it waits for
		}
	}
	return true
}
