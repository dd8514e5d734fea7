package goeval

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"time"

	"kafkalab/kernel/goeval/internal/exec"
)

// alarms know until when something other than a goroutine of a cell may wake one: timers that cells have
// set. Before that there is no deadlock.
type alarms struct {
	mu      sync.Mutex
	until   time.Time
	tickers map[uint64]bool // that run, by number
	numbers map[uintptr]uint64
	last    uint64
	forever bool
}

// set notes a timer.
func (a *alarms) set(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := time.Now().Add(d); t.After(a.until) {
		a.until = t
	}
}

// never notes something that may wake a goroutine at any time from now on.
func (a *alarms) never() {
	a.mu.Lock()
	a.forever = true
	a.mu.Unlock()
}

// ticker notes a ticker, until it is stopped or nobody has it any more.
func (a *alarms) ticker(t *time.Ticker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tickers == nil {
		a.tickers, a.numbers = map[uint64]bool{}, map[uintptr]uint64{}
	}
	a.last++
	a.tickers[a.last], a.numbers[reflect.ValueOf(t).Pointer()] = true, a.last
	runtime.AddCleanup(t, func(n uint64) {
		a.mu.Lock()
		delete(a.tickers, n)
		a.mu.Unlock()
	}, a.last)
}

func (a *alarms) stopped(t *time.Ticker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tickers, a.numbers[reflect.ValueOf(t).Pointer()])
}

func (a *alarms) started(t *time.Ticker) {
	a.mu.Lock()
	n := a.numbers[reflect.ValueOf(t).Pointer()]
	known := a.tickers[n]
	a.mu.Unlock()
	if !known {
		a.ticker(t)
	}
}

// slack is how late a timer may fire on a busy machine.
const slack = 300 * time.Millisecond

// pending reports whether a timer may yet wake a goroutine.
func (a *alarms) pending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forever || len(a.tickers) > 0 || time.Since(a.until) < slack
}

func init() {
	at := func(name string, f func(e *Engine, c *exec.Call, a []reflect.Value) any) {
		intrinsics[name] = func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
			if r := f(e, c, a); r != nil {
				return []reflect.Value{reflect.ValueOf(r)}
			}
			return nil
		}
	}
	duration := func(v reflect.Value) time.Duration { return time.Duration(v.Int()) }
	at("time.After", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		e.alarms.set(duration(a[0]))
		return time.After(duration(a[0]))
	})
	at("time.NewTimer", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		e.alarms.set(duration(a[0]))
		return time.NewTimer(duration(a[0]))
	})
	at("time.AfterFunc", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		e.alarms.set(duration(a[0]))
		return time.AfterFunc(duration(a[0]), c.Guarded(a[1]))
	})
	at("time.Timer.Reset", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		e.alarms.set(duration(a[1]))
		return a[0].Interface().(*time.Timer).Reset(duration(a[1]))
	})
	at("time.Tick", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		e.alarms.never()
		return time.Tick(duration(a[0]))
	})
	at("time.NewTicker", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		t := time.NewTicker(duration(a[0]))
		e.alarms.ticker(t)
		return t
	})
	at("time.Ticker.Reset", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		t := a[0].Interface().(*time.Ticker)
		t.Reset(duration(a[1]))
		e.alarms.started(t)
		return nil
	})
	at("time.Ticker.Stop", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		t := a[0].Interface().(*time.Ticker)
		t.Stop()
		e.alarms.stopped(t)
		return nil
	})
	at("context.AfterFunc", func(e *Engine, c *exec.Call, a []reflect.Value) any {
		return context.AfterFunc(a[0].Interface().(context.Context), c.Guarded(a[1]))
	})
	// These are left as they are; the alarm is set beside.
	for name, arg := range map[string]int{
		"context.WithTimeout": 1, "context.WithTimeoutCause": 1, "context.WithDeadline": 1, "context.WithDeadlineCause": 1, "os/signal.Notify": -1, "os/signal.NotifyContext": -1,
	} {
		beside[name] = func(e *Engine, a []reflect.Value) {
			switch {
			case arg < 0:
				e.alarms.never()
			case a[arg].Kind() == reflect.Int64:
				e.alarms.set(duration(a[arg]))
			default:
				e.alarms.set(time.Until(a[arg].Interface().(time.Time)))
			}
		}
	}
}

// beside are functions that are called as they are, after something else.
var beside = map[string]func(e *Engine, a []reflect.Value){}

// besides makes the intrinsic that calls a compiled function after what goes beside it.
func (e *Engine) besides(pkg, name string) exec.Intrinsic {
	before := beside[pkg+"."+name]
	if before == nil {
		return nil
	}
	f, ok := e.imp.symbols(pkg)[name]
	if !ok {
		return nil
	}
	return func(_ *exec.Call, a []reflect.Value) []reflect.Value {
		before(e, a)
		if f.Type().IsVariadic() {
			return f.CallSlice(a)
		}
		return f.Call(a)
	}
}
