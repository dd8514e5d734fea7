package exec

import (
	"reflect"
	"sync"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// Func is a function of a session. Its code can be replaced: every caller then runs the new body.
type Func struct {
	Name string
	code *code
	lazy func() *code // compiles at the first call: instances of generic functions
	sync.Mutex
}

func (f *Func) body() *code {
	if f.code == nil {
		f.Lock()
		defer f.Unlock()
		if f.code == nil && f.lazy != nil {
			f.code = f.lazy()
		}
	}
	return f.code
}

// Closure is what a func value of a cell refers to.
type Closure struct {
	fn  *Func
	clo []ptr
	ft  *funcType
}

// funcType is what calling through reflect needs to know of a signature.
type funcType struct {
	rt      reflect.Type
	in, out []reflect.Type
	inOff   []uintptr
	outOff  []uintptr
}

// A func value of a cell is a genuine Go func value, made the way reflect.MakeFunc makes them. It is
// recognised again by what it points to: the stub of MakeFunc, then the dispatcher below, then the
// Closure. The offsets are found by a probe, not assumed.

// dispatch is the code behind every func value of a cell. Inlined, it would be several pieces of code.
//
//go:noinline
func dispatch(c *Closure) func([]reflect.Value) []reflect.Value {
	return func(args []reflect.Value) []reflect.Value { return c.callback(args) }
}

var probeFunc = sync.OnceValue(func() (l struct {
	stub, dispatcher uintptr
	off              uintptr
	ok               bool
}) {
	c := &Closure{}
	d := dispatch(c)
	v := reflect.MakeFunc(reflect.TypeFor[func()](), d)
	obj := rtype.FuncPointer(v)
	want := *(*ptr)(unsafe.Pointer(&d)) // the closure object of d
	if *(*ptr)(unsafe.Add(want, 8)) != ptr(c) {
		return l
	}
	for off := uintptr(8); off < 64; off += 8 {
		if *(*ptr)(unsafe.Add(obj, off)) == want {
			l.stub, l.dispatcher, l.off, l.ok = *(*uintptr)(obj), *(*uintptr)(want), off, true
			return l
		}
	}
	return l
})

var funcLayout = probeFunc()

// closureOf finds the Closure behind a func value, nil for compiled functions.
func closureOf(f ptr) *Closure {
	if *(*uintptr)(f) != funcLayout.stub || !funcLayout.ok {
		return nil
	}
	d := *(*ptr)(unsafe.Add(f, funcLayout.off))
	if *(*uintptr)(d) != funcLayout.dispatcher {
		return nil
	}
	return *(**Closure)(unsafe.Add(d, 8))
}

// value makes the Go func value of c.
func (c *Closure) value() ptr {
	return rtype.FuncPointer(reflect.MakeFunc(c.ft.rt, dispatch(c)))
}

// take puts the arguments into a frame.
func (c *Closure) take(fr *Frame, args []reflect.Value) {
	for i, a := range args {
		valueAt(c.ft.in[i], unsafe.Add(fr.mem, c.ft.inOff[i])).Set(a)
	}
}

// callback is a call from compiled code. The thread is new: who called, compiled code does not say.
func (c *Closure) callback(args []reflect.Value) (results []reflect.Value) {
	code := c.fn.body()
	m := code.machine
	th := &Thread{m: m, run: m.Current(), callback: true}
	if n := m.callbacks.Add(1); n%maxCallbacks == 0 {
		m.tooDeep(th)
	}
	returned := false
	defer func() {
		m.callbacks.Add(-1)
		if returned || th.top == nil {
			return
		}
		if foreign() {
			if r := recover(); r != nil {
				results = th.stopForeign(r, c.ft.out)
			}
			return
		}
		m.inner.Store(&Panic{Trace: th.innerTrace()})
	}()
	fr := code.enter(th, nil, c.clo)
	c.take(fr, args)
	fr.run()
	returned = true
	if len(c.ft.out) == 0 {
		fr.release()
		return nil
	}
	results = make([]reflect.Value, len(c.ft.out))
	for i, t := range c.ft.out {
		results[i] = valueAt(t, unsafe.Add(fr.mem, c.ft.outOff[i]))
	}
	return results // the frame is left to the collector: results still lie in it
}
