package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// intIndex compiles an index to an int; checked tells whether it may be out of an int's range.
func (c *compiler) intIndex(e ast.Expr) ev[int] {
	x := c.expr(e)
	if x.ev == nil {
		x = c.constant(x.c, types.Typ[types.Int])
	}
	switch {
	case x.k == cInt:
		return x.ev.(ev[int])
	case x.k.isSigned():
		return number(x.k, cInt, x.ev).(ev[int])
	}
	u := toBits(x.k, x.ev)
	return func(fr *Frame) int {
		n := u(fr)
		if n > math.MaxInt {
			fr.wide = n
			n = math.MaxInt // out of every range
		}
		return int(n)
	}
}

// widen puts an index that no int can hold into the text of the panic on its way.
func (fr *Frame) widen() {
	wide := fr.wide
	if fr.wide = 0; wide == 0 {
		return
	}
	if err, ok := recover().(runtime.Error); ok {
		text := strings.TrimPrefix(err.Error(), "runtime error: ")
		panic(runtimeError(strings.ReplaceAll(text, strconv.Itoa(math.MaxInt), strconv.FormatUint(wide, 10))))
	}
}

// outOfRange panics as compiled code does for s[i] with len(s) == n.
func outOfRange(fr *Frame, pos token.Pos, i, n int) {
	fr.pos = pos
	defer fr.widen()
	_ = make([]struct{}, n)[i]
}

func (c *compiler) index(e *ast.IndexExpr) value {
	if c.u.Info.Types[e.X].IsType() || isGenericFunc(c.u.Info, e.X) {
		return c.funcInstance(e, e.X)
	}
	pre := c.hoist(e.X, e.Index)
	x := c.expr(e.X)
	switch u := x.t.Underlying().(type) {
	case *types.Map:
		v, _ := c.mapIndex(e, x, u)
		return c.prefixed(pre, v)
	case *types.Slice:
		return c.prefixLoc(pre, c.sliceIndex(e, x, u.Elem()))
	case *types.Basic:
		return c.prefixed(pre, c.stringIndex(e, x))
	case *types.Pointer:
		return c.prefixLoc(pre, c.arrayIndex(e, c.through(x, u.Elem(), e.Pos()), u.Elem().Underlying().(*types.Array)))
	case *types.Array:
		return c.prefixLoc(pre, c.arrayIndex(e, x, u))
	}
	c.refuse(e.Pos(), "cells cannot index a %s", x.t)
	return value{}
}

// prefixLoc runs pre before the place of v is computed.
func (c *compiler) prefixLoc(pre func(*Frame), v value) value {
	if pre == nil {
		return v
	}
	if v.loc == nil {
		return c.prefixed(pre, v)
	}
	a := v.loc.address()
	return c.place(v.t, loc{kind: locAddr, addr: func(fr *Frame) ptr { pre(fr); return a(fr) }})
}

func (c *compiler) sliceIndex(e *ast.IndexExpr, x value, elem types.Type) value {
	s, i := x.ev.(ev[slice]), c.intIndex(e.Index)
	size, pos := uintptr(rtype.Sizes.Sizeof(elem)), e.Pos()
	c.rt(elem)
	return c.place(elem, loc{kind: locAddr, addr: func(fr *Frame) ptr {
		v := s(fr)
		n := i(fr)
		if uint(n) >= uint(v.len) {
			outOfRange(fr, pos, n, v.len)
		}
		return unsafe.Add(v.data, uintptr(n)*size)
	}})
}

func (c *compiler) arrayIndex(e *ast.IndexExpr, x value, u *types.Array) value {
	elem, n, pos := u.Elem(), int(u.Len()), e.Pos()
	size := uintptr(rtype.Sizes.Sizeof(elem))
	if v := c.u.Info.Types[e.Index].Value; v != nil && x.loc != nil {
		return c.place(elem, x.loc.at(uintptr(constBits(v))*size))
	}
	base, i := x.ev.(ev[ptr]), c.intIndex(e.Index)
	at := func(fr *Frame) ptr {
		p := base(fr)
		k := i(fr)
		if uint(k) >= uint(n) {
			outOfRange(fr, pos, k, n)
		}
		return unsafe.Add(p, uintptr(k)*size)
	}
	if x.loc == nil {
		return value{t: elem, k: classOf(elem), ev: c.ops(elem).fromPtr(at)}
	}
	return c.place(elem, loc{kind: locAddr, addr: at})
}

func (c *compiler) stringIndex(e *ast.IndexExpr, x value) value {
	if x.ev == nil {
		x = c.constant(x.c, types.Typ[types.String])
	}
	s, i, pos := x.ev.(ev[string]), c.intIndex(e.Index), e.Pos()
	return value{t: c.typeOf(e), k: cUint8, ev: ev[uint8](func(fr *Frame) uint8 {
		v := s(fr)
		k := i(fr)
		if uint(k) >= uint(len(v)) {
			outOfRange(fr, pos, k, len(v))
		}
		return v[k]
	})}
}

// bounds are the compiled indices of a slice expression; nil where the source has none.
type bounds struct{ lo, hi, max ev[int] }

func (c *compiler) bounds(e *ast.SliceExpr) bounds {
	var b bounds
	if e.Low != nil {
		b.lo = c.intIndex(e.Low)
	}
	if e.High != nil {
		b.hi = c.intIndex(e.High)
	}
	if e.Max != nil {
		b.max = c.intIndex(e.Max)
	}
	return b
}

// cut computes the indices and lets a slice without elements fail as s itself would.
func (b bounds) cut(fr *Frame, pos token.Pos, length, capacity int, array bool) (lo, hi, mx int) {
	hi, mx = length, capacity
	if b.lo != nil {
		lo = b.lo(fr)
	}
	if b.hi != nil {
		hi = b.hi(fr)
	}
	if b.max != nil {
		mx = b.max(fr)
	}
	if uint(mx) <= uint(capacity) && uint(hi) <= uint(mx) && uint(lo) <= uint(hi) {
		return lo, hi, mx
	}
	fr.pos = pos
	defer fr.widen()
	dummy := make([]struct{}, length, capacity)
	switch {
	case array && b.max != nil && mx > capacity:
		panic(runtimeError("slice bounds out of range [::" + itoa(mx) + "] with length " + itoa(capacity)))
	case array && b.max == nil && hi > capacity:
		panic(runtimeError("slice bounds out of range [:" + itoa(hi) + "] with length " + itoa(capacity)))
	case b.max != nil:
		_ = dummy[lo:hi:mx]
	case b.hi != nil:
		_ = dummy[lo:hi]
	default:
		_ = dummy[lo:]
	}
	return lo, hi, mx
}

func (c *compiler) sliceExpr(e *ast.SliceExpr) value {
	pre := c.hoist(e.X, e.Low, e.High, e.Max)
	x := c.expr(e.X)
	t, pos := c.typeOf(e), e.Pos()
	switch u := x.t.Underlying().(type) {
	case *types.Basic:
		return c.prefixed(pre, c.substring(e, x, t))
	case *types.Slice:
		s, b, size := x.ev.(ev[slice]), c.bounds(e), uintptr(rtype.Sizes.Sizeof(u.Elem()))
		return c.prefixed(pre, value{t: t, k: cSlice, ev: ev[slice](func(fr *Frame) slice {
			v := s(fr)
			lo, hi, mx := b.cut(fr, pos, v.len, v.cap, false)
			return subslice(v.data, lo, hi, mx, size)
		})})
	}
	at := x.t
	var base ev[ptr]
	if p, ok := x.t.Underlying().(*types.Pointer); ok {
		at = p.Elem()
		base = c.through(x, at, pos).loc.address()
	} else {
		base = c.escaping(*x.loc, pos)
	}
	u := at.Underlying().(*types.Array)
	n, b, size := int(u.Len()), c.bounds(e), uintptr(rtype.Sizes.Sizeof(u.Elem()))
	return c.prefixed(pre, value{t: t, k: cSlice, ev: ev[slice](func(fr *Frame) slice {
		p := base(fr)
		lo, hi, mx := b.cut(fr, pos, n, n, true)
		return subslice(p, lo, hi, mx, size)
	})})
}

// subslice keeps the data pointer inside its allocation when nothing is left to point at.
func subslice(data ptr, lo, hi, mx int, size uintptr) slice {
	if mx > lo {
		data = unsafe.Add(data, uintptr(lo)*size)
	}
	return slice{data, hi - lo, mx - lo}
}

func (c *compiler) substring(e *ast.SliceExpr, x value, t types.Type) value {
	if x.ev == nil {
		x = c.constant(x.c, types.Typ[types.String])
	}
	s, b, pos := x.ev.(ev[string]), c.bounds(e), e.Pos()
	return value{t: t, k: cString, ev: ev[string](func(fr *Frame) string {
		v := s(fr)
		lo, hi := 0, len(v)
		if b.lo != nil {
			lo = b.lo(fr)
		}
		if b.hi != nil {
			hi = b.hi(fr)
		}
		if uint(hi) > uint(len(v)) || uint(lo) > uint(hi) {
			fr.pos = pos
			defer fr.widen()
		}
		if b.hi == nil {
			return v[lo:]
		}
		return v[lo:hi]
	})}
}
