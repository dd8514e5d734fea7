package exec

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// filler writes the elements of a literal into memory that is already zero.
type filler func(fr *Frame, dst ptr)

// composite compiles T{...}.
func (c *compiler) composite(e *ast.CompositeLit) value {
	t := c.typeOf(e)
	if u, ok := t.Underlying().(*types.Map); ok {
		return c.mapLiteral(e, t, u)
	}
	pre := c.hoistLiteral(e)
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return c.prefixed(pre, c.sliceLiteral(e, t, u))
	case *types.Pointer: // an elided &T inside another literal
		return c.prefixed(pre, value{t: t, k: cPtr, ev: c.allocated(u.Elem(), c.fill(e, u.Elem()))})
	}
	tmp, fill := c.temp(t), c.fill(e, t)
	rt := c.rt(t)
	at := tmp.address()
	zero := newOf(rt)
	word := rtype.Word(rt)
	return c.prefixed(pre, value{t: t, k: cMem, ev: ev[ptr](func(fr *Frame) ptr {
		dst := at(fr)
		typedmemmove(word, dst, zero)
		fill(fr, dst)
		return dst
	})})
}

// hoistLiteral is hoist for the values of a literal. One without calls has nothing to hoist, nor have those
// inside it: they are not looked through again.
func (c *compiler) hoistLiteral(e *ast.CompositeLit) func(*Frame) {
	q := c.fn.quiet
	if q != nil && q.Pos() <= e.Pos() && e.End() <= q.End() {
		return nil
	}
	if !hasCall(c.u.Info, e) {
		c.fn.quiet = e
		return nil
	}
	return c.hoistOperands(c.literalValues(e))
}

// literalType is what a literal makes, also where it stands for a pointer to it.
func (c *compiler) literalType(e *ast.CompositeLit) types.Type {
	t := c.typeOf(e)
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying()
}

// literalValues are the values of a literal; keys are constants, but for those of maps.
func (c *compiler) literalValues(e *ast.CompositeLit) []operand {
	t := c.literalType(e)
	var vs []operand
	for i, x := range e.Elts {
		o := operand{e: x}
		kv, keyed := x.(*ast.KeyValueExpr)
		if keyed {
			o.e = kv.Value
		}
		switch u := t.(type) {
		case *types.Struct:
			if keyed {
				i = fieldIndex(u, kv.Key.(*ast.Ident).Name)
			}
			o.to = u.Field(i).Type()
		case interface{ Elem() types.Type }:
			o.to = u.Elem()
		}
		vs = append(vs, o)
	}
	return vs
}

// entries are the keys and values of a map literal.
func entries(e *ast.CompositeLit) []ast.Expr {
	var vs []ast.Expr
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			vs = append(vs, kv.Key, kv.Value)
		}
	}
	return vs
}

// newLiteral compiles &T{...}.
func (c *compiler) newLiteral(lit *ast.CompositeLit) ev[ptr] {
	t := c.typeOf(lit)
	if _, ok := c.u.Info.Types[lit]; ok && !isAggregate(t) {
		v := c.composite(lit)
		into := c.ops(t).into(v.ev)
		return c.allocated(t, into)
	}
	pre := c.hoistLiteral(lit)
	made := c.allocated(t, c.fill(lit, t))
	if pre == nil {
		return made
	}
	return func(fr *Frame) ptr { pre(fr); return made(fr) }
}

func isAggregate(t types.Type) bool { return classOf(t) == cMem }

func (c *compiler) allocated(t types.Type, fill filler) ev[ptr] {
	rt := c.rt(t)
	return func(fr *Frame) ptr {
		p := newOf(rt)
		fill(fr, p)
		return p
	}
}

// fill compiles the elements of a struct or array literal.
func (c *compiler) fill(e *ast.CompositeLit, t types.Type) filler {
	var parts []filler
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				i, x = fieldIndex(u, kv.Key.(*ast.Ident).Name), kv.Value
			}
			if u.Field(i).Name() == "_" { // evaluated, but never stored
				v := c.exprTo(x, u.Field(i).Type())
				drop := c.ops(v.t).drop(v.ev)
				parts = append(parts, func(fr *Frame, _ ptr) { drop(fr) })
				continue
			}
			parts = append(parts, c.element(x, u.Field(i).Type(), rtype.Offsetof(u, i)))
		}
	case *types.Array:
		size := uintptr(rtype.Sizes.Sizeof(u.Elem()))
		c.elements(e, func(i int, x ast.Expr) {
			parts = append(parts, c.element(x, u.Elem(), uintptr(i)*size))
		})
	default:
		c.refuse(e.Pos(), "cells cannot make a %s this way", t)
	}
	return func(fr *Frame, dst ptr) {
		for _, p := range parts {
			p(fr, dst)
		}
	}
}

func fieldIndex(u *types.Struct, name string) int {
	for i := range u.NumFields() {
		if u.Field(i).Name() == name {
			return i
		}
	}
	return -1
}

// element compiles one value of a literal, at off.
func (c *compiler) element(x ast.Expr, t types.Type, off uintptr) filler {
	if lit, ok := x.(*ast.CompositeLit); ok && isAggregate(t) && isAggregate(c.typeOf(lit)) {
		inner := c.fill(lit, t)
		return func(fr *Frame, dst ptr) { inner(fr, unsafe.Add(dst, off)) }
	}
	set := c.ops(t).into(c.exprTo(x, t).ev)
	return func(fr *Frame, dst ptr) { set(fr, unsafe.Add(dst, off)) }
}

// elements numbers the values of an array or slice literal and returns its length.
func (c *compiler) elements(e *ast.CompositeLit, do func(i int, x ast.Expr)) int {
	i, n := 0, 0
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			i, x = int(constBits(c.u.Info.Types[kv.Key].Value)), kv.Value
		}
		do(i, x)
		i++
		n = max(n, i)
	}
	return n
}

func (c *compiler) sliceLiteral(e *ast.CompositeLit, t types.Type, u *types.Slice) value {
	size := uintptr(rtype.Sizes.Sizeof(u.Elem()))
	var parts []filler
	n := c.elements(e, func(i int, x ast.Expr) {
		parts = append(parts, c.element(x, u.Elem(), uintptr(i)*size))
	})
	rt := c.rt(types.NewArray(u.Elem(), int64(n)))
	return value{t: t, k: cSlice, ev: ev[slice](func(fr *Frame) slice {
		p := newOf(rt)
		for _, part := range parts {
			part(fr, p)
		}
		return slice{p, n, n}
	})}
}

func (c *compiler) mapLiteral(e *ast.CompositeLit, t types.Type, u *types.Map) value {
	rt, n := c.rt(t), len(e.Elts)
	tmp := c.temp(t)
	at := tmp.address()
	holder := value{t: t, k: cPtr, ev: scalar[ptr]{}.load(tmp)}
	var puts []stmt
	for _, x := range e.Elts {
		kv := x.(*ast.KeyValueExpr)
		pre := c.hoistOperands([]operand{{kv.Key, u.Key()}, {kv.Value, u.Elem()}}) // each entry is an assignment of its own
		key, val := c.literalPart(kv.Key, u.Key()), c.literalPart(kv.Value, u.Elem())
		puts = append(puts, after(pre, c.mapStore(holder, u, key, val, kv.Pos())))
	}
	return value{t: t, k: cPtr, ev: ev[ptr](func(fr *Frame) ptr {
		m := reflect.MakeMapWithSize(rt, n).UnsafePointer()
		*(*ptr)(at(fr)) = m
		for _, put := range puts {
			put(fr)
		}
		return m
	})}
}

// literalPart compiles a key or value of a map literal, whose type may be elided.
func (c *compiler) literalPart(x ast.Expr, t types.Type) value {
	if lit, ok := x.(*ast.CompositeLit); ok {
		if p, isPtr := t.Underlying().(*types.Pointer); isPtr && lit.Type == nil {
			return value{t: t, k: cPtr, ev: c.allocated(p.Elem(), c.fillAny(lit, p.Elem()))}
		}
	}
	return c.exprTo(x, t)
}

func (c *compiler) fillAny(lit *ast.CompositeLit, t types.Type) filler {
	if isAggregate(t) {
		return c.fill(lit, t)
	}
	return c.ops(t).into(c.composite(lit).ev)
}
