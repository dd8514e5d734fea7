package exec

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// builtinOf finds the predeclared function that e names.
func (c *compiler) builtinOf(e ast.Expr) *types.Builtin {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		b, _ := c.u.Info.Uses[e].(*types.Builtin)
		return b
	case *ast.SelectorExpr:
		b, _ := c.u.Info.Uses[e.Sel].(*types.Builtin)
		return b
	}
	return nil
}

// builtinOperands are the arguments of a builtin; those of append may be converted to interfaces.
func builtinOperands(e *ast.CallExpr, name string, t types.Type) []operand {
	var ops []operand
	for i, a := range e.Args {
		o := operand{e: a}
		if s, ok := t.Underlying().(*types.Slice); ok && name == "append" && i > 0 && !e.Ellipsis.IsValid() {
			o.to = s.Elem()
		}
		ops = append(ops, o)
	}
	return ops
}

// builtin compiles a builtin that has a value.
func (c *compiler) builtin(e *ast.CallExpr, name string) value {
	defer c.under(e)()
	t := c.typeOf(e)
	e, spread := c.spreadBuiltin(e)
	pre := joined(spread, c.hoistOperands(builtinOperands(e, name, t)))
	v := value{t: t, k: classOf(t)}
	switch name {
	case "len", "cap":
		v.ev = c.length(e, name)
	case "append":
		v.ev = c.appendTo(e, t)
	case "make":
		v.ev = c.makeOf(e, t)
	case "new":
		v.ev = c.newOf(e)
	case "copy":
		v.ev = c.copyTo(e)
	case "min", "max":
		v.ev = c.extreme(e, name, t)
	case "complex":
		v.ev = c.complexOf(e, v.k)
	case "real", "imag":
		v.ev = c.partOf(e, name)
	case "recover":
		v.ev = c.recoverOf(e)
	case "Sizeof":
		v.ev = fixed(uintptr(rtype.Sizes.Sizeof(c.typeOf(e.Args[0]))))
	default:
		c.refuse(e.Pos(), "cells cannot use the builtin %s here", name)
	}
	return c.prefixed(pre, v)
}

// spreadBuiltin replaces the argument of builtin(f()) by the results of f, for an f with several: run
// computes them first.
func (c *compiler) spreadBuiltin(e *ast.CallExpr) (call *ast.CallExpr, run func(*Frame)) {
	if len(e.Args) != 1 {
		return e, nil
	}
	tup, ok := c.typeOf(e.Args[0]).(*types.Tuple)
	if !ok {
		return e, nil
	}
	pre, inv := c.call(ast.Unparen(e.Args[0]).(*ast.CallExpr))
	do, temps := c.tuple(inv)
	n := *e
	n.Args = nil
	for i := range tup.Len() {
		arg := &ast.Ident{NamePos: e.Args[0].Pos(), Name: "_"}
		c.fn.hoisted[arg], c.fn.retyped[arg] = temps[i], inv.results.At(i).Type()
		n.Args = append(n.Args, arg)
	}
	return &n, joined(pre, do)
}

// joined runs a, then b.
func joined(a, b func(*Frame)) func(*Frame) {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return func(fr *Frame) { a(fr); b(fr) }
}

func (c *compiler) length(e *ast.CallExpr, name string) any {
	x := c.expr(e.Args[0])
	at := x.t
	if p, ok := x.t.Underlying().(*types.Pointer); ok {
		at = p.Elem()
	}
	switch u := at.Underlying().(type) {
	case *types.Array:
		n := int(u.Len())
		x := c.ops(x.t).drop(x.ev)
		return ev[int](func(fr *Frame) int { x(fr); return n })
	case *types.Slice:
		s := x.ev.(ev[slice])
		if name == "cap" {
			return ev[int](func(fr *Frame) int { return s(fr).cap })
		}
		return ev[int](func(fr *Frame) int { return s(fr).len })
	case *types.Basic:
		s := x.ev.(ev[string])
		return ev[int](func(fr *Frame) int { return len(s(fr)) })
	case *types.Map:
		m := x.ev.(ev[ptr])
		return ev[int](func(fr *Frame) int { p := m(fr); return len(*(*map[int]int)(ptr(&p))) })
	}
	rt, ch := c.rt(x.t), x.ev.(ev[ptr])
	if name == "cap" {
		return ev[int](func(fr *Frame) int { p := ch(fr); return valueAt(rt, ptr(&p)).Cap() })
	}
	return ev[int](func(fr *Frame) int { p := ch(fr); return valueAt(rt, ptr(&p)).Len() })
}

func (c *compiler) newOf(e *ast.CallExpr) any {
	if !c.u.Info.Types[e.Args[0]].IsType() { // new(expr), since Go 1.26
		t := c.typeOf(e).Underlying().(*types.Pointer).Elem()
		x := c.exprTo(e.Args[0], t)
		return c.allocated(t, c.ops(t).into(x.ev))
	}
	rt := c.rt(c.typeOf(e.Args[0]))
	return ev[ptr](func(*Frame) ptr { return newOf(rt) })
}

// size compiles an argument of make.
func (c *compiler) size(e *ast.CallExpr, i int) ev[int] {
	if i >= len(e.Args) {
		return nil
	}
	x := c.expr(e.Args[i])
	if x.ev == nil {
		x = c.constant(x.c, types.Typ[types.Int])
	}
	if x.k == cInt {
		return x.ev.(ev[int])
	}
	return number(x.k, cInt, x.ev).(ev[int])
}

func (c *compiler) makeOf(e *ast.CallExpr, t types.Type) any {
	rt, n, capacity, pos, m := c.rt(t), c.size(e, 1), c.size(e, 2), e.Pos(), c.m
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem := c.rt(u.Elem())
		return ev[slice](func(fr *Frame) slice {
			l := n(fr)
			k := l
			if capacity != nil {
				k = capacity(fr)
			}
			fr.pos = pos
			m.allow(l, k, elem.Size(), capacity != nil)
			return slice{reflect.MakeSlice(rt, l, k).UnsafePointer(), l, k}
		})
	case *types.Map:
		return ev[ptr](func(fr *Frame) ptr {
			if n == nil {
				return reflect.MakeMap(rt).UnsafePointer()
			}
			k := max(n(fr), 0)
			fr.pos = pos
			if k > large/64 {
				m.fits(uintptr(k) * (rt.Key().Size() + rt.Elem().Size() + 2))
			}
			return reflect.MakeMapWithSize(rt, k).UnsafePointer()
		})
	}
	return ev[ptr](func(fr *Frame) ptr {
		k := 0
		if n != nil {
			k = n(fr)
		}
		fr.pos = pos
		if k < 0 {
			panic(plainError("makechan: size out of range"))
		}
		if k > large/64 {
			m.allowChan(k, rt.Elem().Size())
		}
		return reflect.MakeChan(reflect.ChanOf(reflect.BothDir, rt.Elem()), k).UnsafePointer()
	})
}

// plainError is a run-time error whose text has no prefix.
type plainError string

func (e plainError) Error() string { return string(e) }

// RuntimeError marks e as the run time's own (runtime.Error).
func (e plainError) RuntimeError() {}

// allow panics for sizes that make refuses, and for those that would end the process.
func (m *Machine) allow(l, k int, size uintptr, hasCap bool) {
	const most = 1 << 47
	switch {
	case l < 0 || size > 0 && uintptr(l) > most/size:
		panic(runtimeError("makeslice: len out of range"))
	case k < l || size > 0 && uintptr(k) > most/size:
		panic(runtimeError("makeslice: cap out of range"))
	}
	m.fits(uintptr(k) * size)
}

// allowChan is allow for the buffer of a channel.
func (m *Machine) allowChan(k int, size uintptr) {
	if size > 0 && uintptr(k) > (1<<47)/size {
		panic(plainError("makechan: size out of range"))
	}
	m.fits(uintptr(k) * size)
}

// large allocations are asked for.
const large = 64 << 20

// fits panics if the process would not survive an allocation.
func (m *Machine) fits(bytes uintptr) {
	if bytes > large && (bytes > m.MaxAlloc || m.Room != nil && !m.Room(bytes)) {
		panic(TooMuchMemory{bytes})
	}
}

// Allow ends the cell if the session may not hold that many bytes more.
func (c *Call) Allow(bytes uintptr) { c.Machine.fits(bytes) }

// TooMuchMemory is the panic for a single allocation that the process would not survive.
type TooMuchMemory struct{ Bytes uintptr }

func (t TooMuchMemory) Error() string {
	return "out of memory: cannot allocate " + itoa(int(t.Bytes>>20)) + " MiB at once"
}

// appendTo compiles append. The elements are computed before the slice is looked at again.
func (c *compiler) appendTo(e *ast.CallExpr, t types.Type) any {
	st := t.Underlying().(*types.Slice)
	rt, size := c.rt(t), uintptr(rtype.Sizes.Sizeof(st.Elem()))
	s, pos := c.exprTo(e.Args[0], t).ev.(ev[slice]), e.Pos()
	grow := func(fr *Frame, x slice, n int) slice {
		if uint(x.len)+uint(n) <= uint(x.cap) {
			return x
		}
		fr.pos = pos
		if x.len+n < 0 {
			panic(runtimeError("growslice: len out of range"))
		}
		fr.th.m.fits(uintptr(x.len+n) * size)
		// The run time chooses the capacity from the old capacity and the new length.
		need, have := x.len+n-x.cap, x.len
		x.len = x.cap
		valueAt(rt, ptr(&x)).Grow(need)
		x.len = have
		return x
	}
	if e.Ellipsis.IsValid() {
		return c.appendSlice(e, st, s, grow, size)
	}
	args, tmps := len(e.Args)-1, []loc(nil)
	var sets []stmt
	move := c.ops(st.Elem()).move()
	for _, a := range e.Args[1:] {
		tmp := c.temp(st.Elem())
		tmps = append(tmps, tmp)
		sets = append(sets, c.ops(st.Elem()).store(tmp, c.exprTo(a, st.Elem()).ev))
	}
	return ev[slice](func(fr *Frame) slice {
		x := s(fr)
		for _, set := range sets {
			set(fr)
		}
		x = grow(fr, x, args)
		for i, tmp := range tmps {
			move(unsafe.Add(x.data, uintptr(x.len+i)*size), unsafe.Add(fr.mem, tmp.off))
		}
		x.len += args
		return x
	})
}

// appendSlice compiles append(s, t...).
func (c *compiler) appendSlice(e *ast.CallExpr, st *types.Slice, s ev[slice], grow func(*Frame, slice, int) slice, size uintptr) any {
	y := c.expr(e.Args[1])
	if y.nil {
		return s
	}
	var rest ev[slice]
	if y.k == cString || y.ev == nil {
		y = c.convert(y, types.Typ[types.String])
		str := y.ev.(ev[string])
		rest = func(fr *Frame) slice { v := str(fr); return slice{ptr(unsafe.StringData(v)), len(v), len(v)} }
	} else {
		rest = y.ev.(ev[slice])
	}
	rt := c.rt(types.NewSlice(st.Elem()))
	return ev[slice](func(fr *Frame) slice {
		x := s(fr)
		y := rest(fr)
		if y.len == 0 {
			return x
		}
		x = grow(fr, x, y.len)
		dst := slice{unsafe.Add(x.data, uintptr(x.len)*size), y.len, y.len}
		if size == 0 {
			dst.data = x.data
		}
		reflect.Copy(valueAt(rt, ptr(&dst)), valueAt(rt, ptr(&y)))
		x.len += y.len
		return x
	})
}

func (c *compiler) copyTo(e *ast.CallExpr) any {
	d, s := c.expr(e.Args[0]), c.expr(e.Args[1])
	st := d.t.Underlying().(*types.Slice)
	rt, dst := c.rt(types.NewSlice(st.Elem())), d.ev.(ev[slice])
	if s.ev == nil || s.k == cString {
		str := c.convert(s, types.Typ[types.String]).ev.(ev[string])
		return ev[int](func(fr *Frame) int { x := dst(fr); return copy(*(*[]byte)(ptr(&x)), str(fr)) })
	}
	src := s.ev.(ev[slice])
	return ev[int](func(fr *Frame) int {
		x := dst(fr)
		y := src(fr)
		return reflect.Copy(valueAt(rt, ptr(&x)), valueAt(rt, ptr(&y)))
	})
}

func (c *compiler) recoverOf(e *ast.CallExpr) any {
	return ev[iface](func(fr *Frame) iface { return fr.recoverNow() })
}
