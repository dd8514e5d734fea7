package exec

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strconv"
	"strings"
)

var oneConstant = constant.MakeInt64(1)

// declStmt compiles a declaration inside a function: variables only do something.
func (c *compiler) declStmt(d *ast.GenDecl) stmt {
	var all []stmt
	for _, spec := range d.Specs {
		if vs, ok := spec.(*ast.ValueSpec); ok && d.Tok.String() == "var" {
			if s := c.varSpec(vs); s != nil {
				all = append(all, s)
			}
		}
	}
	if all == nil {
		return nil
	}
	return sequence(all)
}

func (c *compiler) varSpec(vs *ast.ValueSpec) stmt {
	lhs := make([]ast.Expr, len(vs.Names))
	for i, n := range vs.Names {
		lhs[i] = n
	}
	switch {
	case len(vs.Values) == 0:
		return c.zeroVars(vs.Names)
	case len(lhs) == 1:
		if isBlank(lhs[0]) {
			return c.discardAs(vs)
		}
		return c.assignOne(lhs[0], vs.Values[0], true)
	case len(vs.Values) == 1:
		return c.assignTuple(lhs, vs.Values[0])
	}
	return c.assignMany(lhs, vs.Values)
}

// discardAs compiles var _ T = e.
func (c *compiler) discardAs(vs *ast.ValueSpec) stmt {
	if vs.Type == nil {
		return c.discard(vs.Values[0])
	}
	v := c.exprTo(vs.Values[0], c.typeOf(vs.Type))
	return c.ops(v.t).drop(v.ev)
}

func (c *compiler) zeroVars(names []*ast.Ident) stmt {
	var all []stmt
	for _, n := range names {
		v, ok := c.u.Info.Defs[n].(*types.Var)
		if !ok || n.Name == "_" {
			continue
		}
		t := c.typ(v.Type())
		if !c.declares(n) {
			all = append(all, c.ops(t).store(c.varLoc(v, n.Pos()), c.ops(t).zero()))
			continue
		}
		all = append(all, c.initVar(v, c.ops(t).zero()))
	}
	return sequence(all)
}

func (c *compiler) clearStmt(e *ast.CallExpr) stmt {
	x := c.expr(e.Args[0])
	rt := c.rt(x.t)
	if s, ok := x.ev.(ev[slice]); ok {
		return func(fr *Frame) ctl { v := s(fr); valueAt(rt, ptr(&v)).Clear(); return ctlNext }
	}
	p := x.ev.(ev[ptr])
	return func(fr *Frame) ctl {
		v := p(fr)
		defer fr.th.unlockMap(fr.th.lockMap(v, true))
		valueAt(rt, ptr(&v)).Clear()
		return ctlNext
	}
}

// printStmt compiles print and println, which write to standard error in the run time's own format.
func (c *compiler) printStmt(e *ast.CallExpr, name string) stmt {
	var parts []ev[string]
	for _, a := range e.Args {
		v := c.expr(a)
		if v.nil {
			parts = append(parts, func(*Frame) string { return "nil" })
			continue
		}
		t := v.t
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = types.Default(t)
		}
		if t == types.Typ[types.Rune] || t == types.Typ[types.Int] {
			t = types.Typ[types.Int64]
			if v.ev == nil {
				v = c.constant(v.c, t)
			}
		}
		parts = append(parts, c.printed(c.convert(v, v.t), t))
	}
	m, sep, end := c.m, "", ""
	if name == "println" {
		sep, end = " ", "\n"
	}
	return func(fr *Frame) ctl {
		words := make([]string, len(parts))
		for i, p := range parts {
			words[i] = p(fr)
		}
		m.Print(fr.th.run, strings.Join(words, sep)+end)
		return ctlNext
	}
}

// printed is the run time's text for one operand of print.
func (c *compiler) printed(v value, t types.Type) ev[string] {
	if v.ev == nil {
		v = c.constant(v.c, t)
	}
	switch {
	case v.k.isSigned():
		i := toInt64(v.k, v.ev)
		return func(fr *Frame) string { return strconv.FormatInt(i(fr), 10) }
	case v.k.isInt():
		u := toBits(v.k, v.ev)
		return func(fr *Frame) string { return strconv.FormatUint(u(fr), 10) }
	case v.k == cFloat32:
		x := v.ev.(ev[float32])
		return func(fr *Frame) string { return strconv.FormatFloat(float64(x(fr)), 'g', -1, 32) }
	case v.k == cFloat64:
		x := v.ev.(ev[float64])
		return func(fr *Frame) string { return strconv.FormatFloat(x(fr), 'g', -1, 64) }
	case v.k == cString:
		return v.ev.(ev[string])
	case v.k == cBool:
		b := v.ev.(ev[bool])
		return func(fr *Frame) string { return strconv.FormatBool(b(fr)) }
	case v.k == cComplex64:
		x := v.ev.(ev[complex64])
		return func(fr *Frame) string { return strconv.FormatComplex(complex128(x(fr)), 'g', -1, 64) }
	case v.k == cComplex128:
		x := v.ev.(ev[complex128])
		return func(fr *Frame) string { return strconv.FormatComplex(x(fr), 'g', -1, 128) }
	case v.k == cPtr:
		p := v.ev.(ev[ptr])
		return func(fr *Frame) string { return fmt.Sprintf("0x%x", uintptr(p(fr))) }
	case v.k == cSlice:
		s := v.ev.(ev[slice])
		return func(fr *Frame) string { x := s(fr); return fmt.Sprintf("[%d/%d]0x%x", x.len, x.cap, uintptr(x.data)) }
	case v.k == cIface:
		i := v.ev.(ev[iface])
		return func(fr *Frame) string { x := i(fr); return fmt.Sprintf("(0x%x,0x%x)", uintptr(x.tab), uintptr(x.data)) }
	}
	c.refuse(c.at, "cells cannot print a %s this way", t)
	return nil
}
