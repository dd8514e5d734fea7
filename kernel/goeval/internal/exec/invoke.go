package exec

import (
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// invoke compiles the call of a resolved callee.
func (c *compiler) invoke(to callee, parts []part, pos token.Pos) *invocation {
	inv := &invocation{results: to.sig.Results()}
	switch {
	case to.fn != nil:
		c.invokeFunc(inv, to, parts, pos)
	case to.dyn != nil:
		c.invokeValue(inv, to, parts, pos)
	case to.face != nil:
		c.invokeInterface(inv, to, parts, pos)
	default:
		c.invokeCompiled(inv, to, parts, pos)
	}
	return inv
}

// invokeFunc calls a function of a cell that is known by name.
func (c *compiler) invokeFunc(inv *invocation, to callee, parts []part, pos token.Pos) {
	var rt types.Type
	if to.recv != nil {
		rt = to.recv.t
		parts = append([]part{*to.recv}, parts...)
	}
	in, out := frameOffsets(rt, to.sig)
	fn, set, cells := to.fn, setter(parts, in), to.cells
	prepare := func(fr *Frame) *Frame {
		callee := fn.body().enter(fr.th, fr, collect(fr, cells))
		set(fr, callee)
		return callee
	}
	inv.off = out
	inv.frame = func(fr *Frame) *Frame {
		callee := prepare(fr)
		fr.pos = pos
		callee.run()
		return callee
	}
	inv.late = func(fr *Frame) lateCall {
		fr.pos = pos
		return prepare(fr).later()
	}
}

// setter writes operands into the callee's frame.
func setter(parts []part, in []uintptr) func(fr, callee *Frame) {
	switch len(parts) {
	case 0:
		return func(fr, callee *Frame) {}
	case 1:
		into, off := parts[0].into, in[0]
		return func(fr, callee *Frame) { into(fr, unsafe.Add(callee.mem, off)) }
	case 2:
		into, off, into1, off1 := parts[0].into, in[0], parts[1].into, in[1]
		return func(fr, callee *Frame) {
			into(fr, unsafe.Add(callee.mem, off))
			into1(fr, unsafe.Add(callee.mem, off1))
		}
	}
	return func(fr, callee *Frame) {
		for i := range parts {
			parts[i].into(fr, unsafe.Add(callee.mem, in[i]))
		}
	}
}

// later makes a prepared frame callable from a go or defer statement.
func (fr *Frame) later() lateCall {
	return func(th *Thread, up *Frame, armed *Panic) {
		fr.th, fr.up, fr.armed = th, up, armed
		fr.run()
		fr.release()
	}
}

// invokeValue calls a func value: of a cell, or compiled.
func (c *compiler) invokeValue(inv *invocation, to callee, parts []part, pos token.Pos) {
	in, out := frameOffsets(nil, to.sig)
	set, dyn := setter(parts, in), to.dyn
	moves, temps := c.resultMoves(to.sig, out)
	call := c.reflectCall(to.sig, parts, pos)
	rt := c.rt(to.sig)
	inv.temps = temps
	inv.do = func(fr *Frame) {
		f := dyn(fr)
		if f == nil {
			fr.pos = pos
			nilDeref()
		}
		if cl := closureOf(f); cl != nil {
			callee := cl.fn.body().enter(fr.th, fr, cl.clo)
			set(fr, callee)
			fr.pos = pos
			callee.run()
			moves(fr, callee)
			callee.release()
			return
		}
		call.run(fr, valueAt(rt, ptr(&f)), reflect.Value{}, temps)
	}
	inv.late = func(fr *Frame) lateCall {
		f := dyn(fr)
		fr.pos = pos
		if f == nil {
			return func(*Thread, *Frame, *Panic) { nilDeref() }
		}
		if cl := closureOf(f); cl != nil {
			callee := cl.fn.body().enter(fr.th, fr, cl.clo)
			set(fr, callee)
			return callee.later()
		}
		return call.late(fr, valueAt(rt, ptr(&f)))
	}
}

// resultMoves copies results from a callee's frame to temporaries.
func (c *compiler) resultMoves(sig *types.Signature, out []uintptr) (func(fr, callee *Frame), []loc) {
	type move struct {
		to, from uintptr
		do       func(dst, src ptr)
	}
	var moves []move
	var temps []loc
	for i := range sig.Results().Len() {
		t := sig.Results().At(i).Type()
		tmp := c.temp(t)
		temps = append(temps, tmp)
		moves = append(moves, move{tmp.off, out[i], c.ops(t).move()})
	}
	return func(fr, callee *Frame) {
		for _, m := range moves {
			m.do(unsafe.Add(fr.mem, m.to), unsafe.Add(callee.mem, m.from))
		}
	}, temps
}

// invokeInterface calls a method through an interface value.
func (c *compiler) invokeInterface(inv *invocation, to callee, parts []part, pos token.Pos) {
	recv := types.Typ[types.UnsafePointer]
	in, out := frameOffsets(recv, to.sig)
	moves, temps := c.resultMoves(to.sig, out)
	set := setter(parts, in[1:])
	call := c.reflectCall(to.sig, parts, pos)
	face, k, rt, at := to.face, to.method, c.rt(to.faceType), in[0]
	name := to.faceType.Underlying().(*types.Interface).Method(k).Name()
	slot := unsafe.Offsetof(itab{}.fun) + uintptr(k)*unsafe.Sizeof(uintptr(0))
	inv.temps = temps
	resolve := func(fr *Frame) (iface, *Closure) {
		x := face(fr)
		if x.tab == nil {
			fr.pos = pos
			nilDeref()
		}
		if f := rtype.StubFunc(*(*ptr)(unsafe.Add(x.tab, slot))); f != nil {
			return x, closureOf(f)
		}
		return x, nil
	}
	prepare := func(fr *Frame, x iface, cl *Closure) *Frame {
		callee := cl.fn.body().enter(fr.th, fr, cl.clo)
		*(*ptr)(unsafe.Add(callee.mem, at)) = x.data
		set(fr, callee)
		fr.pos = pos
		return callee
	}
	inv.do = func(fr *Frame) {
		x, cl := resolve(fr)
		if cl == nil {
			v := valueAt(rt, ptr(&x))
			if lock := c.m.lock(v, name); lock != nil {
				fr.pos = pos
				lock(fr.th, fr, nil)
				return
			}
			call.run(fr, v.Method(k), v, temps)
			return
		}
		callee := prepare(fr, x, cl)
		callee.run()
		moves(fr, callee)
		callee.release()
	}
	inv.late = func(fr *Frame) lateCall {
		x, cl := resolve(fr)
		if cl == nil {
			v := valueAt(rt, ptr(&x))
			if lock := c.m.lock(v, name); lock != nil {
				fr.pos = pos
				return lock
			}
			return call.late(fr, v.Method(k))
		}
		return prepare(fr, x, cl).later()
	}
}

// invokeCompiled calls a compiled function, or one that is written here (an intrinsic).
func (c *compiler) invokeCompiled(inv *invocation, to callee, parts []part, pos token.Pos) {
	if to.recv != nil {
		parts = append([]part{*to.recv}, parts...)
	}
	call := c.reflectCall(to.sig, parts, pos)
	call.intrinsic = to.intrinsic
	_, out := frameOffsets(nil, to.sig)
	_, temps := c.resultMoves(to.sig, out)
	fn := to.compiled
	inv.temps = temps
	inv.do = func(fr *Frame) { call.run(fr, fn, reflect.Value{}, temps) }
	inv.late = func(fr *Frame) lateCall { return call.late(fr, fn) }
}

// reflectCall is a call through package reflect.
type reflectCall struct {
	parts     []part
	types     []reflect.Type
	slots     []loc
	results   []reflect.Type
	variadic  bool
	pos       token.Pos
	intrinsic Intrinsic
	m         *Machine
}

func (c *compiler) reflectCall(sig *types.Signature, parts []part, pos token.Pos) *reflectCall {
	r := &reflectCall{parts: parts, variadic: sig.Variadic(), pos: pos, m: c.m}
	for _, p := range parts {
		r.types = append(r.types, c.rt(p.t))
		r.slots = append(r.slots, c.temp(p.t))
	}
	for v := range sig.Results().Variables() {
		r.results = append(r.results, c.rt(v.Type()))
	}
	return r
}

func (r *reflectCall) call(th *Thread, fn, recv reflect.Value, in []reflect.Value) []reflect.Value {
	if th.m.inner.Load() != nil {
		th.m.inner.Store(nil)
	}
	if r.intrinsic != nil {
		return r.intrinsic(&Call{Machine: r.m, Run: th.run, thread: th}, in)
	}
	before := th.calling.Swap(&compiledCall{recv, in})
	defer th.calling.Store(before)
	if r.variadic {
		return fn.CallSlice(in)
	}
	return fn.Call(in)
}

// run evaluates the operands, calls fn and puts the results into temps. If fn is a method of a value in an
// interface, recv is that value.
func (r *reflectCall) run(fr *Frame, fn, recv reflect.Value, temps []loc) {
	in := make([]reflect.Value, len(r.parts))
	for i := range r.parts {
		p := unsafe.Add(fr.mem, r.slots[i].off)
		r.parts[i].into(fr, p)
		in[i] = valueAt(r.types[i], p)
	}
	fr.pos = r.pos
	results := r.call(fr.th, fn, recv, in)
	if r.intrinsic == nil {
		fr.th.check() // what a stopped run waited for must not change anything when it comes
	}
	for i, out := range results {
		valueAt(r.results[i], unsafe.Add(fr.mem, temps[i].off)).Set(out)
	}
	fr.th.top = fr
}

// late evaluates the operands now, into memory of their own.
func (r *reflectCall) late(fr *Frame, fn reflect.Value) lateCall {
	in := make([]reflect.Value, len(r.parts))
	for i, t := range r.types {
		v := reflect.New(t)
		r.parts[i].into(fr, v.UnsafePointer())
		in[i] = v.Elem()
	}
	fr.pos = r.pos
	return func(th *Thread, up *Frame, armed *Panic) { r.call(th, fn, reflect.Value{}, in) }
}
