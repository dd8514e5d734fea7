package exec

import (
	"go/token"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// stackLimit is how many bytes of stack one goroutine may take before it is ended. The run time's own
// limit, which kills the process, is 1 GB and stacks grow by doubling.
const stackLimit = 128 << 20

// Reasons for stopping a run.
const (
	stopNone int32 = iota
	StopInterrupt
	StopMemory
	StopExit     // os.Exit
	StopFatal    // what the run time calls a fatal error
	StopDeadlock // every goroutine of the session waits for another
)

// Run is the execution of one cell: its own goroutine and those that it started.
type Run struct {
	stop     atomic.Int32
	stopped  chan struct{} // closed with the first stop
	since    atomic.Int64  // when, in Unix nanoseconds
	overflow atomic.Bool
	exit     atomic.Pointer[Exit]
	Tag      any // what the caller wants to find again: the cell's output
}

// NewRun makes a run that nobody has stopped.
func NewRun(tag any) *Run { return &Run{stopped: make(chan struct{}), Tag: tag} }

// Stop asks every goroutine of the run to end.
func (r *Run) Stop(reason int32) {
	if r.stop.CompareAndSwap(stopNone, reason) {
		r.since.Store(time.Now().UnixNano())
		close(r.stopped)
	}
}

// Reason says why the run was stopped, 0 if it was not.
func (r *Run) Reason() int32 { return r.stop.Load() }

// Exit is a call of os.Exit: it ends the run, not the process.
type Exit struct {
	Code  int
	What  string // the function called
	Trace []Site
}

// Exit ends the run as os.Exit ends a process: no deferred function runs.
func (c *Call) Exit(code int, what string) {
	x := &Exit{Code: code, What: what}
	if c.thread != nil {
		c.thread.dead = true
		x.Trace = c.thread.trace()
	}
	c.Run.exit.CompareAndSwap(nil, x)
	c.Run.Stop(StopExit)
	runtime.Goexit()
}

// fatal ends the run as a fatal error of the run time ends a process: no function can recover it.
func (th *Thread) fatal(msg string) {
	(&Call{Machine: th.m, Run: th.run, thread: th}).Fatal(msg)
}

// Fatal ends the run as a fatal error of the run time ends a process.
func (c *Call) Fatal(msg string) {
	x := &Exit{What: "fatal error: " + msg}
	if c.thread != nil {
		c.thread.dead = true
		x.Trace = c.thread.trace()
	}
	if c.Run.exit.CompareAndSwap(nil, x) {
		c.Run.Stop(StopFatal)
	}
	runtime.Goexit()
}

// Thread is one goroutine's chain of calls.
type Thread struct {
	m             *Machine
	run           *Run
	top           *Frame
	pending       *Panic // the panic last seen, to recognise it further up
	unwinding     bool   // Goexit is running deferred functions
	overflow      bool
	overflowTrace []Site
	callback      bool
	dead          bool   // the goroutine ends without deferred calls, as by os.Exit
	waits         string // what it waits for, while it does, in the run time's words
	waited        []Site // where it waited when a deadlock was found
	id            string // of the goroutine; only the one that runs the cell has it
	calling       atomic.Pointer[compiledCall]
}

// enter puts fr on top, checks the stack, and ends the goroutine if its run was stopped.
func (th *Thread) enter(fr *Frame) {
	var here byte
	sp := uintptr(unsafe.Pointer(&here))
	if up := fr.up; up != nil {
		d := up.sp - sp
		if d > 1<<16 { // the stack has moved since, or this is another one
			d = 2 << 10
		}
		fr.used = up.used + d
		if fr.used > stackLimit {
			th.overflowed(fr)
		}
	} else {
		fr.used = 0
	}
	fr.sp = sp
	th.top = fr
	if th.run.stop.Load() != stopNone {
		th.stopNow()
	}
}

// check is the interrupt check at loop heads.
func (th *Thread) check() {
	if th.run.stop.Load() != stopNone {
		th.stopNow()
	}
}

// grace is how long deferred functions may run on after an interrupt.
const grace = time.Second

// stopNow ends the goroutine. Deferred functions run, so that locks are given back.
func (th *Thread) stopNow() {
	if th.waits != "" && th.waited == nil && th.run.Reason() == StopDeadlock {
		th.waited = th.trace()
	}
	if th.unwinding && time.Since(time.Unix(0, th.run.since.Load())) < grace {
		return
	}
	runtime.Goexit()
}

// overflowed ends a goroutine whose recursion has no end, as the run time would end the process.
func (th *Thread) overflowed(fr *Frame) {
	if th.unwinding {
		return
	}
	th.overflow = true
	th.top = fr.up
	th.overflowTrace = th.trace()
	runtime.Goexit()
}

// Site is one line of a call chain in cells.
type Site struct {
	Func string
	Pos  token.Pos
}

// maxTrace is how many calls a trace keeps at each end.
const maxTrace = 50

func (th *Thread) trace() []Site {
	var sites []Site
	for fr := th.top; fr != nil; fr = fr.up {
		if fr.code.synthetic {
			continue
		}
		sites = append(sites, Site{fr.code.name, fr.pos})
		if len(sites) > 100_000 {
			break
		}
	}
	if len(sites) > 2*maxTrace {
		cut := Site{Func: "…"}
		sites = append(append(sites[:maxTrace:maxTrace], cut), sites[len(sites)-maxTrace:]...)
	}
	return sites
}

// Panic is a panic on its way.
type Panic struct {
	Value     any
	Trace     []Site
	recovered bool
	goexit    bool
}

// caught makes a Panic of what recover returned, or finds the one it already was.
func (th *Thread) caught(r any) *Panic {
	if p := th.pending; p != nil && sameWords(p.Value, r) {
		th.pending = nil // a later panic with an equal value is another one
		return p
	}
	p := &Panic{Value: r, Trace: th.trace()}
	if inner := th.m.inner.Swap(nil); inner != nil {
		p.Trace = append(inner.Trace, p.Trace...)
	}
	if StackDump != nil {
		StackDump(r, debug.Stack())
	}
	th.pending = nil
	return p
}

// StackDump, when set, is given the Go stack of each panic: for work on this package.
var StackDump func(value any, stack []byte)

// innerTrace is the call chain of a panic that leaves this thread for compiled code.
func (th *Thread) innerTrace() []Site {
	if th.pending != nil {
		return th.pending.Trace
	}
	return th.trace()
}

func sameWords(a, b any) bool {
	return *(*[2]uintptr)(unsafe.Pointer(&a)) == *(*[2]uintptr)(unsafe.Pointer(&b))
}

// protect runs f and returns the panic that ended it. When the goroutine is being ended instead
// (Goexit), the deferred calls of fr run on the way.
func (fr *Frame) protect(f stmt) (p *Panic) {
	normal := false
	defer func() {
		if normal {
			return
		}
		r := recover()
		if r == nil {
			fr.goexit()
			return
		}
		p = fr.th.caught(r)
		fr.th.top = fr
	}()
	f(fr)
	normal = true
	return nil
}

func (fr *Frame) goexit() {
	if fr.th.dead {
		return
	}
	fr.th.unwinding = true
	fr.th.top = fr
	for len(fr.defers) > 0 {
		fr.protect((*Frame).popDefer)
	}
}

// popDefer runs the last deferred call.
func (fr *Frame) popDefer() ctl {
	n := len(fr.defers) - 1
	d := fr.defers[n]
	fr.defers[n] = nil
	fr.defers = fr.defers[:n]
	d()
	return ctlNext
}

// runWithDefers runs the body, then the deferred calls. A panic is taken off the stack first and goes
// on from here afterwards, so that unwinding takes time in proportion to the depth.
func (fr *Frame) runWithDefers() {
	p := fr.protect(fr.code.body)
	for len(fr.defers) > 0 {
		fr.pan = p
		if np := fr.protect((*Frame).popDefer); np != nil {
			p = np
		} else if p != nil && p.recovered {
			p = nil
		}
	}
	fr.pan = nil
	if p != nil {
		fr.th.pending = p
		fr.th.top = fr.up
		panic(p.Value)
	}
	fr.th.pending = nil
}

// recoverNow is the builtin: it works in a function that a defer statement called.
func (fr *Frame) recoverNow() iface {
	p := fr.armed
	for up := fr.up; p == nil && up != nil && up.code.synthetic; up = up.up {
		p = up.armed // a wrapper in front of a deferred method
	}
	if p == nil || p.recovered {
		return iface{}
	}
	if _, no := p.Value.(*Refusal); no { // not the program's to handle
		return iface{}
	}
	p.recovered = true
	return *(*iface)(unsafe.Pointer(&p.Value))
}

// toAny makes a Go interface value of the interpreter's.
func (i iface) toAny() any { return *(*any)(unsafe.Pointer(&i)) }
