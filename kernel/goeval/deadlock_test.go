package goeval

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

const deadlockMessage = "fatal error: all goroutines are asleep - deadlock!"

// TestDeadlocks runs cells that can never go on: each ends with Go's message and the place, and the state is
// kept.
func TestDeadlocks(t *testing.T) {
	s := newSession(t)
	s.run("x := 41\nch := make(chan int)\nvar mu sync.Mutex\nvar rw sync.RWMutex\nvar none chan int")
	for code, where := range map[string]string{
		"x = 41\n<-ch":    "[chan receive]:\ncell [N], line 2",
		"ch <- 1":         "[chan send]:\ncell [N], line 1",
		"<-none":          "[chan receive (nil chan)]:\ncell [N], line 1",
		"none <- 2":       "[chan send (nil chan)]:\ncell [N], line 1",
		"select {}":       "[select (no cases)]:\ncell [N], line 1",
		"for range ch {}": "[chan receive]:\ncell [N], line 1",
		"select {\ncase v := <-ch: _ = v\ncase none <- 1:\n}":                                                        "[select]:\ncell [N], line 1",
		"var m2 sync.Mutex\nm2.Lock()\nm2.Lock()":                                                                    "[sync.Mutex.Lock]:\ncell [N], line 3",
		"type B struct{ sync.Mutex }\nfunc (b *B) twice() { b.Lock(); defer b.Unlock(); b.Lock() }\n(&B{}).twice()":  "[sync.Mutex.Lock]:\nin (*B).twice, cell [N], line 2",
		"rw.RLock()\ndefer rw.RUnlock()\nrw.Lock()":                                                                  "[sync.RWMutex.Lock]:\ncell [N], line 3",
		"var wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()":                                                                "[sync.WaitGroup.Wait]:\ncell [N], line 3",
		"c := sync.NewCond(&mu)\nmu.Lock()\ndefer mu.Unlock()\nc.Wait()":                                             "[sync.Cond.Wait]:\ncell [N], line 4",
		"go func() { <-ch }()\ngo func() { mu2 := &sync.Mutex{}; mu2.Lock(); mu2.Lock() }()\n<-none":                 "[chan receive (nil chan)]:\ncell [N], line 3",
		"ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)\ndefer stop()\n<-ctx.Done()\n<-ch": "[chan receive]:\ncell [N], line 4",
		"tk := time.NewTicker(time.Millisecond)\n<-tk.C\ntk.Stop()\n<-tk.C":                                          "[chan receive]:\ncell [N], line 4",
		"func wait(l sync.Locker) { l.Lock(); l.Lock() }\nwait(new(sync.Mutex))":                                     "",
		"r, w := io.Pipe()\n_ = w\nio.ReadAll(r)":                                                                    "",
	} {
		timer := time.AfterFunc(time.Minute, s.Interrupt)
		o := s.run(code)
		timer.Stop()
		if o.Failure == nil || o.Failure.Name != "Deadlock" || o.Failure.Value != deadlockMessage {
			t.Errorf("%s: %+v", code, o.Failure)
			continue
		}
		where = strings.ReplaceAll(where, "[N]", "["+strconv.Itoa(s.n)+"]")
		if got := strings.Join(o.Failure.Traceback, "\n"); !strings.Contains(got, where) {
			t.Errorf("%s\n%s\nwant %s", code, got, where)
		}
	}
	if got := s.result("mu.Lock()\nmu.Unlock()\nrw.Lock()\nrw.Unlock()\nx + 1"); got != "42" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestNotDeadlocked waits for what does come, though nothing runs meanwhile.
func TestNotDeadlocked(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.input = func(string, bool) (string, error) { time.Sleep(time.Second); return "typed", nil }
	for code, want := range map[string]string{
		"<-time.After(700 * time.Millisecond)\n1": "1",
		"time.Sleep(700 * time.Millisecond)\n1":   "1",
		"ctx, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)\ndefer stop()\n<-ctx.Done()\nctx.Err()":              "context deadline exceeded",
		"ctx2, stop2 := context.WithDeadline(context.Background(), time.Now().Add(700*time.Millisecond))\ndefer stop2()\n<-ctx2.Done()\n1": "1",
		"ch := make(chan int)\ntime.AfterFunc(700*time.Millisecond, func() { ch <- 5 })\n<-ch":                                             "5",
		"ch2 := make(chan int)\ngo func() { time.Sleep(700 * time.Millisecond); ch2 <- 6 }()\n<-ch2":                                       "6",
		"tk := time.NewTicker(350 * time.Millisecond)\ndefer tk.Stop()\n<-tk.C\n<-tk.C\n7":                                                 "7",
		"tm := time.NewTimer(time.Hour)\ntm.Reset(700*time.Millisecond)\n<-tm.C\n8":                                                        "8",
		"f := time.After\n<-f(700 * time.Millisecond)\n9":                                                                                  "9",
		"lab.Input(\"?\")": "typed",
		"r, w, _ := os.Pipe()\ngo func() { time.Sleep(700 * time.Millisecond); w.Write([]byte(\"x\")); w.Close() }()\nb, _ := io.ReadAll(r)\nstring(b)": "x",
	} {
		if got := s.result(code); got != want {
			t.Errorf("%s\nshows %q\nwant  %q", code, got, want)
		}
	}
}

// TestFatalErrors misuses what would end a process; the cell ends, and no recover stops that.
func TestFatalErrors(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"var mu sync.Mutex\ndefer func() { recover() }()\nmu.Unlock()": "FatalError: fatal error: sync: unlock of unlocked mutex",
		"var rw sync.RWMutex\nrw.Unlock()":                             "FatalError: fatal error: sync: Unlock of unlocked RWMutex",
		"var rw2 sync.RWMutex\nrw2.RUnlock()":                          "FatalError: fatal error: sync: RUnlock of unlocked RWMutex",
		"var rw3 sync.RWMutex\nrw3.Lock()\nrw3.RUnlock()":              "FatalError: fatal error: sync: RUnlock of unlocked RWMutex",
		"var wg sync.WaitGroup\nwg.Done()":                             "Panic: sync: negative WaitGroup counter",
		"var p *sync.Mutex\np.Lock()":                                  "RuntimeError: runtime error: invalid memory address or nil pointer dereference",
		"c := make(chan int)\nclose(c)\nclose(c)":                      "RuntimeError: close of closed channel",
		"c2 := make(chan int)\nclose(c2)\nc2 <- 1":                     "RuntimeError: send on closed channel",
		"var c3 chan int\nclose(c3)":                                   "RuntimeError: close of nil channel",
	} {
		if got := s.result(code); got != want {
			t.Errorf("%s\nshows %q\nwant  %q", code, got, want)
		}
	}
	race := "m := map[int]int{}\nvar wg4 sync.WaitGroup\nfor range 8 { wg4.Go(func() { for i := range 300000 { m[i%8] = i } }) }\nwg4.Wait()"
	if got := s.result(race); got != "" && got != "FatalError: fatal error: concurrent map writes" {
		t.Error(got)
	}
	read := "wg4 = sync.WaitGroup{}\nfor k := range 8 { wg4.Go(func() { for i := range 300000 { if k == 0 { m[i%8] = i } else { _ = m[i%8] } } }) }\nwg4.Wait()"
	if got := s.result(read); got != "" && got != "FatalError: fatal error: concurrent map read and map write" {
		t.Error(got)
	}
	if got := s.result("both := sync.Mutex{}\nn := 0\nvar wg5 sync.WaitGroup\nfor range 4 { wg5.Go(func() { for range 20000 { both.Lock(); m[1]++; n++; both.Unlock() } }) }\nwg5.Wait()\nn"); got != "80000" {
		t.Errorf("a map behind a lock: %s", got)
	}
}

// TestPanicsInGoroutinesOfCompiledCode would end the process: timers and wait groups start goroutines.
func TestPanicsInGoroutinesOfCompiledCode(t *testing.T) {
	s := newSession(t)
	s.run("time.AfterFunc(time.Millisecond, func() { panic(\"timer\") })\ntime.Sleep(50 * time.Millisecond)")
	s.run("var wg sync.WaitGroup\nwg.Go(func() { panic(\"group\") })\nwg.Wait()\ntime.Sleep(20 * time.Millisecond)")
	s.run("ctx, stop := context.WithCancel(context.Background())\ncontext.AfterFunc(ctx, func() { panic(\"context\") })\nstop()\ntime.Sleep(50 * time.Millisecond)")
	for _, word := range []string{"timer", "group", "context"} {
		if got := s.err(); !strings.Contains(got, "panic in a goroutine: Panic: "+word) {
			t.Errorf("no word of %s: %s", word, got)
		}
	}
}

// TestInterruptLocks stops cells that wait for locks.
func TestInterruptLocks(t *testing.T) {
	s := newSession(t)
	s.run("var mu sync.Mutex\nvar wg sync.WaitGroup\nvar rw sync.RWMutex\nmu.Lock()\nrw.Lock()\nwg.Add(1)\ngo func() { for { time.Sleep(time.Hour) } }()")
	for _, code := range []string{"mu.Lock()", "wg.Wait()", "rw.RLock()", "rw.Lock()", "defer mu.Unlock()\nvar l sync.Mutex\nl.Lock()\nc := sync.NewCond(&l)\nc.Wait()"} {
		begun := time.Now()
		timer := time.AfterFunc(30*time.Millisecond, s.Interrupt)
		o := s.run(code)
		timer.Stop()
		if o.Failure == nil || o.Failure.Name != "KeyboardInterrupt" || time.Since(begun) > time.Second {
			t.Errorf("%s: %+v after %v", code, o.Failure, time.Since(begun))
		}
		if code[0] == 'd' {
			s.run("mu.Lock()")
		}
	}
	if got := s.result("mu.Unlock()\nmu.Lock()\nwg.Done()\nwg.Wait()\nrw.Unlock()\nrw.RLock()\n1"); got != "1" {
		t.Error(got)
	}
}
