package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// expr compiles an expression that has one value.
func (c *compiler) expr(e ast.Expr) value {
	defer c.under(e)()
	if l, ok := c.fn.hoisted[e]; ok {
		t := c.typeOf(e)
		if rt, ok := c.fn.retyped[e]; ok {
			t = rt
		} else if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = types.Default(t)
		}
		return c.place(t, l)
	}
	tv := c.u.Info.Types[e]
	if tv.Value != nil {
		return c.constantExpr(tv)
	}
	defer c.fn.scope()()
	if tv.IsNil() {
		return value{t: types.Typ[types.UntypedNil], nil: true}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.expr(e.X)
	case *ast.Ident:
		return c.ident(e)
	case *ast.SelectorExpr:
		return c.selector(e)
	case *ast.StarExpr:
		return c.deref(e)
	case *ast.UnaryExpr:
		return c.unary(e)
	case *ast.BinaryExpr:
		return c.binary(e)
	case *ast.IndexExpr:
		return c.index(e)
	case *ast.IndexListExpr:
		return c.funcInstance(e, e.X)
	case *ast.SliceExpr:
		return c.sliceExpr(e)
	case *ast.CallExpr:
		return c.callValue(e)
	case *ast.FuncLit:
		return c.funcLit(e)
	case *ast.CompositeLit:
		return c.composite(e)
	case *ast.TypeAssertExpr:
		return c.assertion(e)
	}
	c.refuse(e.Pos(), "cells cannot run this expression (%T)", e)
	return value{}
}

// under notes where the compiler is, for refusals that do not know.
func (c *compiler) under(n ast.Node) func() {
	old := c.at
	c.at = n.Pos()
	return func() { c.at = old }
}

func (c *compiler) constantExpr(tv types.TypeAndValue) value {
	t := c.typ(tv.Type)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		return value{t: t, k: classOf(t), c: tv.Value}
	}
	return c.constant(tv.Value, t)
}

// exprTo compiles e and converts it to t as an assignment does.
func (c *compiler) exprTo(e ast.Expr, t types.Type) value {
	v := c.expr(e)
	defer c.under(e)()
	return c.convert(v, t)
}

func (c *compiler) ident(e *ast.Ident) value {
	switch obj := c.u.Info.ObjectOf(e).(type) {
	case *types.Var:
		return c.place(c.typ(obj.Type()), c.varLoc(obj, e.Pos()))
	case *types.Func:
		return c.funcRef(obj, e, e.Pos())
	}
	c.refuse(e.Pos(), "cells cannot use %s here", e.Name)
	return value{}
}

func (c *compiler) selector(e *ast.SelectorExpr) value {
	sel := c.u.Info.Selections[e]
	if sel == nil { // a name of a package
		switch obj := c.u.Info.Uses[e.Sel].(type) {
		case *types.Var:
			return c.place(c.typ(obj.Type()), c.varLoc(obj, e.Pos()))
		case *types.Func:
			return c.funcRef(obj, e.Sel, e.Pos())
		}
		c.refuse(e.Pos(), "cells cannot use %s here", types.ExprString(e))
	}
	switch sel.Kind() {
	case types.FieldVal:
		return c.field(e, sel)
	case types.MethodVal:
		return c.methodValue(e, sel)
	}
	return c.methodExpr(e, sel)
}

// field compiles x.f, through embedded fields and pointers.
func (c *compiler) field(e *ast.SelectorExpr, sel *types.Selection) value {
	return c.path(c.expr(e.X), c.pathOf(sel), e.Sel.Pos())
}

// pathOf is the way from the receiver to the field, in the instance's own types.
func (c *compiler) pathOf(sel *types.Selection) []int {
	if len(c.env) == 0 {
		return sel.Index()
	}
	obj, index, _ := types.LookupFieldOrMethod(c.typ(sel.Recv()), true, sel.Obj().Pkg(), sel.Obj().Name())
	if obj == nil {
		return sel.Index()
	}
	return index
}

// path walks from x along field indices.
func (c *compiler) path(x value, index []int, pos token.Pos) value {
	for _, i := range index {
		x = c.step(x, i, pos)
	}
	return x
}

func (c *compiler) step(x value, i int, pos token.Pos) value {
	if p, ok := x.t.Underlying().(*types.Pointer); ok {
		x = c.through(x, p.Elem(), pos)
	}
	u := x.t.Underlying().(*types.Struct)
	ft, off := u.Field(i).Type(), rtype.Offsetof(u, i)
	if x.loc != nil {
		return c.place(ft, x.loc.at(off))
	}
	base := x.ev.(ev[ptr]) // a value, not a variable: its field cannot be assigned to
	at := func(fr *Frame) ptr { return unsafe.Add(base(fr), off) }
	return value{t: ft, k: classOf(ft), ev: c.ops(ft).fromPtr(at)}
}

// through compiles *p.
func (c *compiler) through(p value, elem types.Type, pos token.Pos) value {
	pe := p.ev.(ev[ptr])
	return c.place(elem, loc{kind: locAddr, addr: func(fr *Frame) ptr {
		q := pe(fr)
		if q == nil {
			fr.pos = pos
			nilDeref()
		}
		return q
	}})
}

// nilDeref panics as a load through a nil pointer does.
func nilDeref() {
	var p *int
	*p = 0
}

func (c *compiler) deref(e *ast.StarExpr) value {
	p := c.expr(e.X)
	return c.through(p, p.t.Underlying().(*types.Pointer).Elem(), e.Pos())
}

func (c *compiler) unary(e *ast.UnaryExpr) value {
	switch e.Op {
	case token.AND:
		return c.addressOf(e)
	case token.ARROW:
		return c.receive(e)
	}
	t := c.typeOf(e)
	x := c.exprTo(e.X, t)
	switch e.Op {
	case token.NOT:
		b := x.ev.(ev[bool])
		x.ev = ev[bool](func(fr *Frame) bool { return !b(fr) })
	case token.SUB, token.XOR:
		x.ev = negate(x.k, e.Op, x.ev)
	}
	return value{t: t, k: x.k, ev: x.ev}
}

// addressOf compiles &x and &T{}.
func (c *compiler) addressOf(e *ast.UnaryExpr) value {
	t := c.typeOf(e)
	if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
		return value{t: t, k: cPtr, ev: c.newLiteral(lit)}
	}
	x := c.expr(e.X)
	if x.loc == nil {
		c.refuse(e.Pos(), "internal error: %s has no address", types.ExprString(e.X))
	}
	return value{t: t, k: cPtr, ev: c.escaping(*x.loc, e.Pos())}
}

// escaping is an address that may outlive the frame.
func (c *compiler) escaping(l loc, pos token.Pos) ev[ptr] {
	if l.kind == locFrame {
		c.refuse(pos, "internal error: the address of a variable in the frame is taken")
	}
	return l.address()
}

func (c *compiler) binary(e *ast.BinaryExpr) value {
	t := c.typeOf(e)
	switch e.Op {
	case token.LAND, token.LOR:
		return c.logical(e, t)
	case token.SHL, token.SHR:
		return c.shift(e, t)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return c.comparison(e, t)
	}
	pre := c.hoist(e.X, e.Y)
	x, y := c.exprTo(e.X, t), c.exprTo(e.Y, t)
	v := value{t: t, k: x.k, ev: fastInt(e.Op, x, y)}
	if v.ev == nil {
		v.ev = arith(x.k, e.Op, e.OpPos, x.ev, y.ev)
	}
	return c.prefixed(pre, v)
}

func (c *compiler) logical(e *ast.BinaryExpr, t types.Type) value {
	x, y := c.exprTo(e.X, t).ev.(ev[bool]), c.exprTo(e.Y, t).ev.(ev[bool])
	if e.Op == token.LAND {
		return value{t: t, k: cBool, ev: ev[bool](func(fr *Frame) bool { return x(fr) && y(fr) })}
	}
	return value{t: t, k: cBool, ev: ev[bool](func(fr *Frame) bool { return x(fr) || y(fr) })}
}

func (c *compiler) shift(e *ast.BinaryExpr, t types.Type) value {
	pre := c.hoist(e.X, e.Y)
	x := c.exprTo(e.X, t)
	n := c.expr(e.Y)
	if n.ev == nil {
		n = c.constant(n.c, types.Typ[types.Uint])
	}
	signed := n.k.isSigned() && n.c == nil
	return c.prefixed(pre, value{t: t, k: x.k, ev: shift(x.k, e.Op, e.OpPos, x.ev, toBits(n.k, n.ev), signed)})
}

func (c *compiler) comparison(e *ast.BinaryExpr, t types.Type) value {
	pre := c.hoist(e.X, e.Y)
	x, y := c.expr(e.X), c.expr(e.Y)
	xt := c.comparedAs(x, y)
	if x.nil || y.nil {
		return c.prefixed(pre, value{t: t, k: cBool, ev: c.isNilTest(e, x, y)})
	}
	x, y = c.convert(x, xt), c.convert(y, xt)
	if fast := fastCompare(e.Op, x, y); fast != nil {
		return c.prefixed(pre, value{t: t, k: cBool, ev: fast})
	}
	switch e.Op {
	case token.EQL, token.NEQ:
		return c.prefixed(pre, value{t: t, k: cBool, ev: c.equal(e.Op, e.OpPos, xt, x.ev, y.ev)})
	}
	return c.prefixed(pre, value{t: t, k: cBool, ev: compareOrdered(x.k, e.Op, x.ev, y.ev)})
}

// comparedAs is the type in which two operands are compared.
func (c *compiler) comparedAs(x, y value) types.Type {
	untyped := func(v value) bool {
		b, ok := v.t.(*types.Basic)
		return ok && b.Info()&types.IsUntyped != 0
	}
	switch {
	case untyped(x) && untyped(y):
		return types.Typ[types.Bool] // other untyped operands are constants, and folded
	case untyped(x):
		return y.t
	case untyped(y):
		return x.t
	case types.IsInterface(x.t) && !types.IsInterface(y.t):
		return x.t
	case types.IsInterface(y.t) && !types.IsInterface(x.t):
		return y.t
	case types.IsInterface(x.t) && !types.AssignableTo(y.t, x.t):
		return y.t
	}
	return x.t
}

// isNilTest compiles x == nil and x != nil.
func (c *compiler) isNilTest(e *ast.BinaryExpr, x, y value) ev[bool] {
	if x.nil {
		x = y
	}
	not := e.Op == token.NEQ
	switch x.k {
	case cPtr:
		p := x.ev.(ev[ptr])
		return func(fr *Frame) bool { return (p(fr) == nil) != not }
	case cSlice:
		s := x.ev.(ev[slice])
		return func(fr *Frame) bool { return (s(fr).data == nil) != not }
	case cIface:
		i := x.ev.(ev[iface])
		return func(fr *Frame) bool { return (i(fr).tab == nil) != not }
	}
	c.refuse(e.Pos(), "cells cannot compare %s with nil", x.t)
	return nil
}

// prefixed runs pre before v.
func (c *compiler) prefixed(pre func(*Frame), v value) value {
	if pre == nil {
		return v
	}
	return value{t: v.t, k: v.k, ev: c.ops(v.t).after(pre, v.ev)}
}
