package exec

import (
	"go/ast"
	"go/constant"
	"go/types"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// convert makes v a t as an assignment does: types are identical, differ in name only, or t is an
// interface that v implements.
func (c *compiler) convert(v value, t types.Type) value {
	switch {
	case v.nil:
		return value{t: t, k: classOf(t), ev: c.ops(t).zero()}
	case v.ev == nil && v.c != nil && types.IsInterface(t):
		v = c.constant(v.c, types.Default(v.t))
	case v.ev == nil && v.c != nil:
		return c.constant(v.c, t)
	}
	if !types.IsInterface(t) {
		return value{t: t, k: v.k, ev: v.ev, c: v.c, loc: v.loc}
	}
	if types.IsInterface(v.t) {
		return value{t: t, k: cIface, ev: c.reface(v, t)}
	}
	if b, ok := v.t.(*types.Basic); ok && b.Kind() == types.UntypedBool {
		v.t = types.Typ[types.Bool]
	}
	return value{t: t, k: cIface, ev: c.box(v, t)}
}

// box makes an interface value of v.
func (c *compiler) box(v value, t types.Type) ev[iface] {
	rt := c.rt(v.t)
	word := rtype.Word(rt)
	if !isEmptyInterface(t) {
		tab, ok := c.m.itabFor(c.rt(t), word)
		if !ok {
			c.refuse(c.at, "internal error: %s does not implement %s at run time", v.t, t)
		}
		word = tab
	}
	boxed := c.ops(v.t).box(word, rtype.Direct(rt), v.ev)
	cell := c.m.Space.Cell(v.t)
	if cell == nil {
		return boxed
	}
	// The type may get more methods in a later cell; what was compiled before then uses them, too.
	m, was, inter := c.m, (*byte)(rtype.Word(rt)), c.rt(t)
	empty := isEmptyInterface(t)
	return func(fr *Frame) iface {
		x := boxed(fr)
		if now := cell.Word.Load(); now != was {
			x.tab = ptr(now)
			if !empty {
				x.tab, _ = m.itabFor(inter, ptr(now))
			}
		}
		return x
	}
}

// reface changes the interface type of a value; go/types has checked that the methods are there.
func (c *compiler) reface(v value, t types.Type) ev[iface] {
	e := v.ev.(ev[iface])
	from, to := isEmptyInterface(v.t), isEmptyInterface(t)
	switch {
	case from && to, types.Identical(v.t.Underlying(), t.Underlying()) && v.t == t:
		return e
	case to:
		return func(fr *Frame) iface { return e(fr).efaced() }
	}
	find := c.m.itabFinder(c.rt(t))
	return func(fr *Frame) iface {
		x := e(fr)
		if !from {
			x = x.efaced()
		}
		if x.tab == nil {
			return iface{}
		}
		tab, _ := find(x.tab)
		return iface{tab, x.data}
	}
}

// conversion compiles T(x).
func (c *compiler) conversion(e *ast.CallExpr) value {
	t := c.typeOf(e)
	x := c.expr(e.Args[0])
	if x.nil || x.ev == nil && !isNumericString(x, t) || types.IsInterface(t) {
		return c.convert(x, t)
	}
	k := classOf(t)
	if x.c != nil && x.k != cString && x.k != cBool { // T(3) in an instance of generic code
		if k.isInt() && constant.ToInt(x.c).Kind() == constant.Int || k.isFloat() || k.isComplex() {
			return c.constant(x.c, t)
		}
	}
	if x.ev == nil {
		x = c.constant(x.c, types.Default(x.t))
	}
	if x.c != nil && k.isComplex() { // T(1) in generic code
		return c.constant(constant.ToComplex(x.c), t)
	}
	v := value{t: t, k: k}
	switch {
	case k == cString && x.k.isInt():
		n := toBits(x.k, x.ev)
		v.ev = ev[string](func(fr *Frame) string { return runeString(n(fr)) })
	case k == cString && x.k == cSlice:
		v.ev = sliceToString(x)
	case k == cSlice && x.k == cString:
		v.ev = stringToSlice(x, t)
	case x.k == cSlice && (k == cMem || k == cPtr):
		v.ev = c.sliceToArray(e, x, t)
	case k == cUintptr && x.k == cPtr:
		p := x.ev.(ev[ptr])
		v.ev = ev[uintptr](func(fr *Frame) uintptr { return uintptr(p(fr)) })
	case k.isInt() || k.isFloat():
		if k == x.k {
			v.ev = x.ev
			break
		}
		v.ev = number(x.k, k, x.ev)
	case k.isComplex() && x.k != k:
		v.ev = complexTo(k, x.ev)
	default:
		v.ev = x.ev
	}
	if v.ev == nil {
		c.refuse(e.Pos(), "cells cannot convert %s to %s", x.t, t)
	}
	return v
}

// isNumericString is the conversion string(constant integer) inside generic code.
func isNumericString(x value, t types.Type) bool {
	return classOf(t) == cString && x.k.isInt()
}

func runeString(n uint64) string {
	if n > 0x10FFFF {
		return "\uFFFD"
	}
	return string(rune(n))
}

func sliceToString(x value) any {
	s := x.ev.(ev[slice])
	if elemClass(x.t) == cInt32 {
		return ev[string](func(fr *Frame) string { v := s(fr); return string(*(*[]rune)(unsafe.Pointer(&v))) })
	}
	return ev[string](func(fr *Frame) string { v := s(fr); return string(*(*[]byte)(unsafe.Pointer(&v))) })
}

func stringToSlice(x value, t types.Type) any {
	s := x.ev.(ev[string])
	if elemClass(t) == cInt32 {
		return ev[slice](func(fr *Frame) slice { v := []rune(s(fr)); return *(*slice)(unsafe.Pointer(&v)) })
	}
	return ev[slice](func(fr *Frame) slice { v := []byte(s(fr)); return *(*slice)(unsafe.Pointer(&v)) })
}

func elemClass(t types.Type) class {
	return classOf(t.Underlying().(*types.Slice).Elem())
}

// sliceToArray compiles [N]T(s) and (*[N]T)(s).
func (c *compiler) sliceToArray(e *ast.CallExpr, x value, t types.Type) any {
	at := t
	if p, ok := t.Underlying().(*types.Pointer); ok {
		at = p.Elem()
	}
	n, s, pos := int(at.Underlying().(*types.Array).Len()), x.ev.(ev[slice]), e.Pos()
	return ev[ptr](func(fr *Frame) ptr {
		v := s(fr)
		if v.len < n {
			fr.pos = pos
			panic(runtimeError("cannot convert slice with length " + itoa(v.len) + " to array or pointer to array with length " + itoa(n)))
		}
		return v.data
	})
}

// complexTo converts between the two complex types.
func complexTo(k class, e any) any {
	switch e := e.(type) {
	case ev[complex64]:
		if k == cComplex128 {
			return ev[complex128](func(fr *Frame) complex128 { return complex128(e(fr)) })
		}
	case ev[complex128]:
		if k == cComplex64 {
			return ev[complex64](func(fr *Frame) complex64 { return complex64(e(fr)) })
		}
	}
	return nil
}
