package exec

import (
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"kafkalab/kernel/goeval/internal/rtype"
)

// What waits in compiled code cannot be woken by an interrupt. So it waits in a goroutine of its own, and
// the cell's goroutine waits for that one or for the interrupt.

// Await runs block, which waits for something, in the run time's words for what. undo takes back what block
// did when nobody waits for it any more; leave, if set, prepares for deferred functions in that case, and
// says whether they may run.
func (c *Call) Await(what string, block, undo func(), leave func() bool) {
	const waiting, taken, left = 0, 1, 2
	var state atomic.Int32
	var failed any
	done := make(chan struct{})
	go func() {
		defer close(done)
		func() {
			defer func() { failed = recover() }()
			block()
		}()
		if !state.CompareAndSwap(waiting, taken) && failed == nil && undo != nil {
			undo()
		}
	}()
	if c.thread != nil {
		c.thread.waits = what
	}
	for !c.awaited(done) {
		if c.thread != nil && c.thread.mayRunOn() {
			time.Sleep(time.Millisecond)
			continue
		}
		if !state.CompareAndSwap(waiting, left) {
			<-done
			break
		}
		c.giveUp(leave)
	}
	if c.thread != nil {
		c.thread.waits = ""
	}
	if failed != nil {
		panic(failed)
	}
}

// lock is the method Lock or Unlock of a lock of package sync that an interface holds: it knows who calls, as
// where the lock is called by its own type. It is nil for everything else.
func (m *Machine) lock(v reflect.Value, method string) lateCall {
	if method != "Lock" && method != "Unlock" {
		return nil
	}
	v = v.Elem()
	if t := v.Type(); t.Kind() != reflect.Pointer || t.Elem().PkgPath() != "sync" {
		return nil
	}
	in := m.Intrinsic("sync", v.Type().Elem().Name()+"."+method)
	if in == nil {
		return nil
	}
	return func(th *Thread, _ *Frame, _ *Panic) {
		in(&Call{Machine: m, Run: th.run, thread: th}, []reflect.Value{v})
	}
}

// awaited waits for done or the interrupt.
func (c *Call) awaited(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-c.Run.stopped:
		return false
	}
}

// giveUp ends the goroutine that waited.
func (c *Call) giveUp(leave func() bool) {
	fine := leave == nil || leave()
	if th := c.thread; th != nil {
		if th.run.Reason() == StopDeadlock && th.waited == nil {
			th.waited = th.trace()
		}
		th.dead = th.dead || !fine
	}
	runtime.Goexit()
}

// mayRunOn reports whether the goroutine of a stopped run is in a deferred function that has time left.
func (th *Thread) mayRunOn() bool {
	return th.unwinding && time.Since(time.Unix(0, th.run.since.Load())) < grace
}

// Guarded makes of a func value without parameters and results one that compiled code may call in a
// goroutine of its own: it belongs to the run that made it, and a panic in it is reported.
func (c *Call) Guarded(f reflect.Value) func() {
	m, run := c.Machine, c.Run
	f = held(f)
	return func() {
		th := &Thread{m: m, run: run}
		m.begin(run)
		defer m.ended(th)
		th.call(f)
	}
}

// Go starts f with arguments, as a go statement does, and calls after when it has ended in whatever way.
func (c *Call) Go(f reflect.Value, after func(), args ...reflect.Value) {
	f = held(f)
	c.Machine.spawn(c.Run, func(th *Thread, _ *Frame, _ *Panic) {
		defer after()
		th.call(f, args...)
	})
}

// held is the operand of an intrinsic as it is now: operands lie in the caller's frame.
func held(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	return n
}

// call calls a func value without results.
func (th *Thread) call(f reflect.Value, args ...reflect.Value) {
	if f.IsNil() {
		nilDeref()
	}
	if cl := closureOf(rtype.FuncPointer(f)); cl != nil {
		callee := cl.fn.body().enter(th, nil, cl.clo)
		cl.take(callee, args)
		callee.run()
		callee.release()
		return
	}
	f.Call(args)
}
