package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// rangeVars are the iteration variables: set assigns one iteration's values, which lie in key and elem.
type rangeVars struct {
	key, elem   loc
	hasK, hasV  bool
	setK, setV  stmt
	prep        []stmt
	keyT, elemT types.Type
}

// rangeVars compiles the left side of a range clause. With :=, each iteration has fresh variables.
func (c *compiler) rangeVars(s *ast.RangeStmt, keyT, elemT types.Type) *rangeVars {
	v := &rangeVars{keyT: keyT, elemT: elemT}
	if s.Key != nil && !isBlank(s.Key) {
		v.hasK, v.key = true, c.temp(keyT)
		v.setK = c.rangeSet(s.Key, v.key, keyT, &v.prep)
	}
	if s.Value != nil && !isBlank(s.Value) {
		v.hasV, v.elem = true, c.temp(elemT)
		v.setV = c.rangeSet(s.Value, v.elem, elemT, &v.prep)
	}
	return v
}

// rangeSet compiles the assignment to one variable; what the left side computes goes to prep, since both
// variables are assigned at once.
func (c *compiler) rangeSet(e ast.Expr, from loc, t types.Type, prep *[]stmt) stmt {
	to := t
	if vt := c.lvalueType(e); vt != nil {
		to = vt
	}
	return c.storeLater(e, c.convert(c.place(t, from), to), prep)
}

func (v *rangeVars) set(fr *Frame) {
	for _, p := range v.prep {
		p(fr)
	}
	if v.setK != nil {
		v.setK(fr)
	}
	if v.setV != nil {
		v.setV(fr)
	}
}

func (c *compiler) rangeStmt(s *ast.RangeStmt, label string) stmt {
	xt := c.typeOf(s.X)
	switch u := xt.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return c.rangeString(s, label)
		}
		return c.rangeInt(s, label, xt)
	case *types.Slice:
		return c.rangeSlice(s, label, u)
	case *types.Array:
		return c.rangeArray(s, label, xt, u)
	case *types.Pointer:
		return c.rangeArrayPointer(s, label, u)
	case *types.Map:
		return c.rangeMap(s, label, xt, u)
	case *types.Chan:
		return c.rangeChan(s, label, u)
	case *types.Signature:
		return c.rangeFunc(s, label, u)
	}
	c.refuse(s.Pos(), "cells cannot range over a %s", xt)
	return nil
}

// rangeBody compiles the body with its target.
func (c *compiler) rangeBody(s *ast.RangeStmt, label string) (body stmt, t *target) {
	c.enter(label, true, false, func(me *target) {
		t = me
		body = c.block(s.Body.List)
	})
	return body, t
}

// turn runs one iteration; done means the loop ends with out.
func turn(fr *Frame, v *rangeVars, body stmt, t *target) (out ctl, done bool) {
	if fr.th.run.stop.Load() != stopNone {
		fr.th.stopNow()
	}
	v.set(fr)
	if k := body(fr); k != ctlNext {
		return leaves(fr, k, t)
	}
	return ctlNext, false
}

func (c *compiler) rangeInt(s *ast.RangeStmt, label string, xt types.Type) stmt {
	if b, ok := xt.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		xt = types.Typ[types.Int]
		if s.Key != nil && !isBlank(s.Key) {
			xt = c.lvalueType(s.Key)
		}
	}
	x := c.exprTo(s.X, xt)
	n := toBits(x.k, x.ev)
	v := c.rangeVars(s, xt, nil)
	body, t := c.rangeBody(s, label)
	signed, size := x.k.isSigned(), uintptr(rtype.Sizes.Sizeof(xt))
	return func(fr *Frame) ctl {
		end := n(fr)
		if signed && int64(end) < 0 {
			return ctlNext
		}
		for i := uint64(0); i < end; i++ {
			if v.hasK {
				putInt(unsafe.Add(fr.mem, v.key.off), i, size)
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

// putInt writes an integer of size bytes; all supported machines are little-endian or 8-byte aligned.
func putInt(p ptr, i uint64, size uintptr) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(i)
	case 2:
		*(*uint16)(p) = uint16(i)
	case 4:
		*(*uint32)(p) = uint32(i)
	default:
		*(*uint64)(p) = i
	}
}

func (c *compiler) rangeSlice(s *ast.RangeStmt, label string, u *types.Slice) stmt {
	x := c.expr(s.X)
	sl := x.ev.(ev[slice])
	hold := c.temp(x.t) // keeps the array alive, and out of the loop's own assignments
	v := c.rangeVars(s, types.Typ[types.Int], u.Elem())
	move, size := c.ops(u.Elem()).move(), uintptr(rtype.Sizes.Sizeof(u.Elem()))
	body, t := c.rangeBody(s, label)
	return func(fr *Frame) ctl {
		x := sl(fr)
		*(*slice)(unsafe.Add(fr.mem, hold.off)) = x
		for i := range x.len {
			if v.hasK {
				*(*int)(unsafe.Add(fr.mem, v.key.off)) = i
			}
			if v.hasV {
				move(unsafe.Add(fr.mem, v.elem.off), unsafe.Add(x.data, uintptr(i)*size))
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

// rangeArray ranges over a copy, as the array is a value; without a second variable no copy is needed.
func (c *compiler) rangeArray(s *ast.RangeStmt, label string, xt types.Type, u *types.Array) stmt {
	n := int(u.Len())
	v := c.rangeVars(s, types.Typ[types.Int], u.Elem())
	if !v.hasV {
		loop := func() stmt { body, t := c.rangeBody(s, label); return c.countTo(n, v, body, t) }
		if !hasCall(c.u.Info, s.X) {
			return loop()
		}
		x := c.expr(s.X) // its length is known, but its calls are made
		eval := c.ops(x.t).drop(x.ev)
		count := loop()
		return func(fr *Frame) ctl { eval(fr); return count(fr) }
	}
	tmp := c.temp(xt)
	keep := c.ops(xt).store(tmp, c.expr(s.X).ev)
	move, size := c.ops(u.Elem()).move(), uintptr(rtype.Sizes.Sizeof(u.Elem()))
	body, t := c.rangeBody(s, label)
	return func(fr *Frame) ctl {
		keep(fr)
		for i := range n {
			if v.hasK {
				*(*int)(unsafe.Add(fr.mem, v.key.off)) = i
			}
			move(unsafe.Add(fr.mem, v.elem.off), unsafe.Add(fr.mem, tmp.off+uintptr(i)*size))
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

func (c *compiler) countTo(n int, v *rangeVars, body stmt, t *target) stmt {
	return func(fr *Frame) ctl {
		for i := range n {
			if v.hasK {
				*(*int)(unsafe.Add(fr.mem, v.key.off)) = i
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

func (c *compiler) rangeArrayPointer(s *ast.RangeStmt, label string, p *types.Pointer) stmt {
	u := p.Elem().Underlying().(*types.Array)
	n := int(u.Len())
	v := c.rangeVars(s, types.Typ[types.Int], u.Elem())
	x := c.expr(s.X)
	hold := c.temp(x.t)
	keep := c.ops(x.t).store(hold, x.ev)
	at := c.through(c.place(x.t, hold), p.Elem(), s.X.Pos()).loc.address()
	move, size := c.ops(u.Elem()).move(), uintptr(rtype.Sizes.Sizeof(u.Elem()))
	body, t := c.rangeBody(s, label)
	return func(fr *Frame) ctl {
		keep(fr)
		for i := range n {
			if v.hasK {
				*(*int)(unsafe.Add(fr.mem, v.key.off)) = i
			}
			if v.hasV {
				move(unsafe.Add(fr.mem, v.elem.off), unsafe.Add(at(fr), uintptr(i)*size))
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

func (c *compiler) rangeString(s *ast.RangeStmt, label string) stmt {
	x := c.exprTo(s.X, types.Typ[types.String]).ev.(ev[string])
	v := c.rangeVars(s, types.Typ[types.Int], types.Typ[types.Rune])
	body, t := c.rangeBody(s, label)
	return func(fr *Frame) ctl {
		text := x(fr)
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if v.hasK {
				*(*int)(unsafe.Add(fr.mem, v.key.off)) = i
			}
			if v.hasV {
				*(*rune)(unsafe.Add(fr.mem, v.elem.off)) = r
			}
			i += n
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

func (c *compiler) rangeMap(s *ast.RangeStmt, label string, xt types.Type, u *types.Map) stmt {
	x := c.expr(s.X).ev.(ev[ptr])
	v := c.rangeVars(s, u.Key(), u.Elem())
	rt, krt, vrt := c.rt(xt), c.rt(u.Key()), c.rt(u.Elem())
	body, t := c.rangeBody(s, label)
	return func(fr *Frame) ctl {
		p := x(fr)
		it := valueAt(rt, ptr(&p)).MapRange()
		for fr.th.next(p, it) {
			if v.hasK {
				valueAt(krt, unsafe.Add(fr.mem, v.key.off)).SetIterKey(it)
			}
			if v.hasV {
				valueAt(vrt, unsafe.Add(fr.mem, v.elem.off)).SetIterValue(it)
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
		return ctlNext
	}
}

func (th *Thread) next(p ptr, it *reflect.MapIter) bool {
	defer th.unlockMap(th.lockMap(p, false))
	return it.Next()
}

func (c *compiler) rangeChan(s *ast.RangeStmt, label string, u *types.Chan) stmt {
	x := c.expr(s.X)
	ch := x.ev.(ev[ptr])
	v := c.rangeVars(s, u.Elem(), nil)
	rt, pos := c.rt(x.t), s.X.Pos()
	body, t := c.rangeBody(s, label)
	ert := c.rt(u.Elem())
	return func(fr *Frame) ctl {
		p := ch(fr)
		for {
			fr.pos = pos
			r, ok := fr.th.recv(valueAt(rt, ptr(&p)))
			if !ok {
				return ctlNext
			}
			if v.hasK {
				valueAt(ert, unsafe.Add(fr.mem, v.key.off)).Set(r)
			}
			if out, done := turn(fr, v, body, t); done {
				return out
			}
		}
	}
}

// rangeFunc compiles range over a function. The body runs in the frame of the loop, called by a func
// value that the iterator gets as yield; a jump out of the body is taken after the iterator returned.
func (c *compiler) rangeFunc(s *ast.RangeStmt, label string, u *types.Signature) stmt {
	yield := u.Params().At(0).Type().Underlying().(*types.Signature)
	iter := c.expr(s.X)
	var kt, vt types.Type
	if yield.Params().Len() > 0 {
		kt = yield.Params().At(0).Type()
	}
	if yield.Params().Len() > 1 {
		vt = yield.Params().At(1).Type()
	}
	v := c.rangeVars(s, kt, vt)
	var moveK, moveV func(dst, src ptr)
	if v.hasK {
		moveK = c.ops(kt).move()
	}
	if v.hasV {
		moveV = c.ops(vt).move()
	}
	body, t := c.rangeBody(s, label)
	y := &yieldCode{v: v, moveK: moveK, moveV: moveV, body: body, t: t, ft: c.funcType(yield), sig: yield, m: c.m, pos: s.Pos()}
	hold := c.temp(yield)
	to := callee{sig: u, dyn: iter.ev.(ev[ptr])}
	inv := c.invoke(to, []part{c.part(c.place(yield, hold))}, s.X.Pos())
	return func(fr *Frame) ctl {
		loop := &yieldLoop{code: y, outer: fr}
		*(*ptr)(unsafe.Add(fr.mem, hold.off)) = loop.value()
		inv.do(fr)
		if loop.state == loopPanicked {
			loop.state = loopSwallowed
			fr.pos = y.pos
			panic(loop.state.failure())
		}
		loop.state = loopExited
		return loop.out
	}
}

// yieldCode is the compiled body of a range-over-func loop.
type yieldCode struct {
	v            *rangeVars
	moveK, moveV func(dst, src ptr)
	body         stmt
	t            *target
	ft           *funcType
	sig          *types.Signature
	m            *Machine
	pos          token.Pos
}

// yieldLoop is one execution of the loop.
type yieldLoop struct {
	code  *yieldCode
	outer *Frame
	out   ctl
	state loopState
}

func (l *yieldLoop) value() ptr {
	y := l.code
	var f fnState
	for p := range y.sig.Params().Variables() {
		f.alloc(p.Type())
	}
	f.alloc(types.Typ[types.Bool])
	k := &code{name: "loop body", pos: y.pos, synthetic: true, machine: y.m, frame: frameType(f.size, &f.mask), pointers: f.mask.Offsets(), body: l.step}
	return (&Closure{fn: &Func{code: k}, ft: y.ft}).value()
}

// step is one call of yield.
func (l *yieldLoop) step(fr *Frame) ctl {
	y, outer := l.code, l.outer
	if l.state != loopReady {
		panic(l.state.failure())
	}
	if y.v.hasK {
		y.moveK(unsafe.Add(outer.mem, y.v.key.off), unsafe.Add(fr.mem, y.ft.inOff[0]))
	}
	if y.v.hasV {
		y.moveV(unsafe.Add(outer.mem, y.v.elem.off), unsafe.Add(fr.mem, y.ft.inOff[1]))
	}
	th := outer.th
	outer.th = fr.th
	l.state = loopPanicked // until the body has ended
	out, done := turn(outer, y.v, y.body, y.t)
	l.state = loopReady
	if done {
		l.state = loopDone
	}
	l.out = out
	outer.th = th
	fr.th.top = fr
	*(*bool)(unsafe.Add(fr.mem, y.ft.outOff[0])) = !done
	return ctlNext
}

// loopState tells whether the iterator may call the loop's body.
type loopState int

const (
	loopReady     loopState = iota
	loopDone                // the body has returned false
	loopPanicked            // the body is running, or has panicked
	loopExited              // the loop is over
	loopSwallowed           // the iterator recovered the body's panic
)

func (s loopState) failure() error {
	return runtimeError(map[loopState]string{
		loopDone:      "range function continued iteration after function for loop body returned false",
		loopPanicked:  "range function continued iteration after loop body panic",
		loopExited:    "range function continued iteration after whole loop exit",
		loopSwallowed: "range function recovered a loop body panic and did not resume panicking",
	}[s])
}
