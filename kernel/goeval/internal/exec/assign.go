package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// lvalue is the left side of an assignment: its operands are computed by prep, the assignment itself
// is done by store.
type lvalue struct {
	t     types.Type
	prep  []stmt
	load  func() value
	store func(v value) stmt
}

func (c *compiler) assign(s *ast.AssignStmt) stmt {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		return c.opAssign(s.Lhs[0], s.Rhs[0], opOf(s.Tok), s.TokPos)
	}
	switch {
	case len(s.Lhs) == 1:
		return c.assignOne(s.Lhs[0], s.Rhs[0], s.Tok == token.DEFINE)
	case len(s.Rhs) == 1:
		return c.assignTuple(s.Lhs, s.Rhs[0])
	}
	return c.assignMany(s.Lhs, s.Rhs)
}

// opOf is the operator of op=.
func opOf(t token.Token) token.Token { return t - token.ADD_ASSIGN + token.ADD }

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// operandsOf are the parts of left sides that are computed beforehand. A map element itself is not: it is
// assigned to, not read.
func operandsOf(lhs ...ast.Expr) []ast.Expr {
	var ops []ast.Expr
	for _, e := range lhs {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
		case *ast.IndexExpr:
			ops = append(append(ops, operandOf(e.X)...), e.Index)
		case *ast.StarExpr:
			ops = append(ops, e.X)
		case *ast.SelectorExpr:
			ops = append(ops, operandOf(e.X)...)
		default:
			ops = append(ops, e)
		}
	}
	return ops
}

// operandOf leaves out plain variables, which are looked at when the assignment happens.
func operandOf(e ast.Expr) []ast.Expr {
	if _, ok := e.(*ast.Ident); ok {
		return nil
	}
	return []ast.Expr{e}
}

// assignOne compiles x = e and x := e.
func (c *compiler) assignOne(lhs, rhs ast.Expr, define bool) stmt {
	if isBlank(lhs) {
		return c.discard(rhs)
	}
	pre := c.hoistAssign(lhs, rhs)
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok {
		obj := c.u.Info.ObjectOf(id).(*types.Var)
		if c.declares(id) {
			x := c.exprTo(rhs, c.typ(obj.Type()))
			return after(pre, c.initVar(obj, x.ev))
		}
		t := c.typ(obj.Type())
		return after(pre, c.ops(t).store(c.varLoc(obj, id.Pos()), c.exprTo(rhs, t).ev))
	}
	return after(pre, c.storeTo(ast.Unparen(lhs), func(t types.Type) value { return c.exprTo(rhs, t) }))
}

// storeTo compiles lhs = v for what is not a plain variable; v makes the value for lhs's type.
func (c *compiler) storeTo(lhs ast.Expr, v func(t types.Type) value) stmt {
	if ix, ok := lhs.(*ast.IndexExpr); ok {
		x := c.expr(ix.X)
		if u, ok := x.t.Underlying().(*types.Map); ok {
			key, val := c.exprTo(ix.Index, u.Key()), v(u.Elem())
			return c.mapStore(x, u, key, val, ix.Pos())
		}
	}
	x := c.expr(lhs)
	return c.ops(x.t).store(*x.loc, v(x.t).ev)
}

// declares reports whether id declares a variable of the function; those of the session have their
// place already.
func (c *compiler) declares(id *ast.Ident) bool {
	v, ok := c.u.Info.Defs[id].(*types.Var)
	return ok && v.Parent() != c.u.Pkg.Scope()
}

// initVar declares v in the frame and gives it its first value.
func (c *compiler) initVar(v *types.Var, x any) stmt {
	t := c.typ(v.Type())
	l := c.declare(v)
	fresh := c.fresh(v, l)
	if fresh == nil {
		return c.ops(t).store(l, x)
	}
	// The value may be computed from an older variable of the same statement in a loop: first the
	// value, then the new cell.
	off, into, rt := l.off, c.ops(t).into(x), c.rt(t)
	return func(fr *Frame) ctl {
		cell := newOf(rt)
		into(fr, cell)
		*(*ptr)(unsafe.Add(fr.mem, off)) = cell
		return ctlNext
	}
}

// discard compiles _ = e.
func (c *compiler) discard(e ast.Expr) stmt {
	v := c.expr(e)
	if v.ev == nil {
		return nil
	}
	return c.ops(v.t).drop(v.ev)
}

// lvalue compiles the left side of one of several assignments.
func (c *compiler) lvalue(e ast.Expr) *lvalue {
	e = ast.Unparen(e)
	if isBlank(e) {
		return &lvalue{store: func(value) stmt { return nil }}
	}
	switch e := e.(type) {
	case *ast.Ident:
		return c.identLvalue(e)
	case *ast.IndexExpr:
		x := c.expr(e.X)
		switch u := x.t.Underlying().(type) {
		case *types.Map:
			return c.mapLvalue(e, x, u)
		case *types.Slice:
			return c.sliceLvalue(e, x, u.Elem())
		}
	}
	x := c.expr(e)
	if x.loc.kind != locAddr {
		return c.locLvalue(x.t, *x.loc, nil)
	}
	if base := c.pointerBase(e); base != nil {
		return base
	}
	hold := c.fn.allocPtr()
	addr := x.loc.address()
	prep := func(fr *Frame) ctl { *(*ptr)(unsafe.Add(fr.mem, hold)) = addr(fr); return ctlNext }
	return c.locLvalue(x.t, loc{kind: locCell, off: hold}, []stmt{prep})
}

// pointerBase treats *p and p.f: the pointer is read now, and followed when the assignment happens.
func (c *compiler) pointerBase(e ast.Expr) *lvalue {
	var x ast.Expr
	switch e := e.(type) {
	case *ast.StarExpr:
		x = e.X
	case *ast.SelectorExpr:
		x = e.X
	}
	if x == nil {
		return nil
	}
	p := c.expr(x)
	pt, ok := p.t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	tmp := c.temp(p.t)
	held := c.through(c.place(p.t, tmp), pt.Elem(), e.Pos())
	if sel, ok := e.(*ast.SelectorExpr); ok {
		held = c.path(c.place(p.t, tmp), c.pathOf(c.u.Info.Selections[sel]), e.Pos())
	}
	return c.locLvalue(held.t, *held.loc, []stmt{c.ops(p.t).store(tmp, p.ev)})
}

func (c *compiler) identLvalue(e *ast.Ident) *lvalue {
	v := c.u.Info.ObjectOf(e).(*types.Var)
	if c.declares(e) {
		return &lvalue{t: c.typ(v.Type()), store: func(x value) stmt { return c.initVar(v, x.ev) }}
	}
	return c.locLvalue(c.typ(v.Type()), c.varLoc(v, e.Pos()), nil)
}

func (c *compiler) locLvalue(t types.Type, l loc, prep []stmt) *lvalue {
	return &lvalue{t: t, prep: prep,
		load:  func() value { return c.place(t, l) },
		store: func(v value) stmt { return c.ops(t).store(l, v.ev) }}
}

// sliceLvalue reads slice and index now; whether the index fits is seen when the assignment happens.
func (c *compiler) sliceLvalue(e *ast.IndexExpr, x value, elem types.Type) *lvalue {
	i := c.intIndex(e.Index)
	ht, hi := c.temp(x.t), c.temp(types.Typ[types.Int])
	prep := []stmt{c.ops(x.t).store(ht, x.ev), scalar[int]{}.store(hi, i)}
	s, k := scalar[slice]{}.load(ht).(ev[slice]), scalar[int]{}.load(hi).(ev[int])
	size, pos := uintptr(rtype.Sizes.Sizeof(elem)), e.Pos()
	return c.locLvalue(elem, loc{kind: locAddr, addr: func(fr *Frame) ptr {
		v, n := s(fr), k(fr)
		if uint(n) >= uint(v.len) {
			outOfRange(fr, pos, n, v.len)
		}
		return unsafe.Add(v.data, uintptr(n)*size)
	}}, prep)
}

func (c *compiler) mapLvalue(e *ast.IndexExpr, x value, u *types.Map) *lvalue {
	mt, kt := c.temp(x.t), c.temp(u.Key())
	prep := []stmt{c.ops(x.t).store(mt, x.ev), c.ops(u.Key()).store(kt, c.exprTo(e.Index, u.Key()).ev)}
	m, key := c.place(x.t, mt), c.place(u.Key(), kt)
	return &lvalue{t: u.Elem(), prep: prep,
		load:  func() value { v, _ := c.mapRead(m, u, key, e.Pos()); return v },
		store: func(v value) stmt { return c.mapStore(m, u, key, v, e.Pos()) }}
}

// storeLater compiles the left side; what it must compute beforehand is added to first.
func (c *compiler) storeLater(lhs ast.Expr, v value, first *[]stmt) stmt {
	l := c.lvalue(lhs)
	*first = append(*first, l.prep...)
	return l.store(v)
}

// lvalueType is the type of a left side; nil for the blank identifier.
func (c *compiler) lvalueType(e ast.Expr) types.Type {
	if isBlank(e) {
		return nil
	}
	if id, ok := e.(*ast.Ident); ok {
		return c.typ(c.u.Info.ObjectOf(id).Type())
	}
	return c.typeOf(e)
}

// assignTuple compiles a, b = f() and the comma-ok forms.
func (c *compiler) assignTuple(lhs []ast.Expr, rhs ast.Expr) stmt {
	pre := c.hoist(operandsOf(lhs...)...)
	do, vals := c.multi(rhs)
	run := func(fr *Frame) ctl { do(fr); return ctlNext }
	var preps, sets []stmt
	for i, e := range lhs {
		if isBlank(e) {
			continue
		}
		if s := c.storeLater(e, c.convert(vals[i], c.lvalueType(e)), &preps); s != nil {
			sets = append(sets, s)
		}
	}
	return after(pre, sequence(slices.Concat(preps, []stmt{run}, sets)))
}

// multi compiles an expression with several values: do computes them, vals read them.
func (c *compiler) multi(e ast.Expr) (do func(*Frame), vals []value) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		pre, inv := c.call(e)
		run, temps := c.tuple(inv)
		for i, tmp := range temps {
			vals = append(vals, c.place(inv.results.At(i).Type(), tmp))
		}
		if pre == nil {
			return run, vals
		}
		return func(fr *Frame) { pre(fr); run(fr) }, vals
	case *ast.IndexExpr:
		x := c.expr(e.X)
		u := x.t.Underlying().(*types.Map)
		v, found := c.mapRead(x, u, c.exprTo(e.Index, u.Key()), e.Pos())
		return c.held(v, found)
	case *ast.TypeAssertExpr:
		return c.assertOk(e)
	case *ast.UnaryExpr:
		return c.receiveOk(e)
	}
	c.refuse(e.Pos(), "internal error: several values of %T", e)
	return nil, nil
}

// held computes v into a temporary, beside a bool that computing v has set.
func (c *compiler) held(v value, ok loc) (func(*Frame), []value) {
	tmp := c.temp(v.t)
	set := c.ops(v.t).store(tmp, v.ev)
	return func(fr *Frame) { set(fr) }, []value{c.place(v.t, tmp), c.place(types.Typ[types.Bool], ok)}
}

func (c *compiler) assertOk(e *ast.TypeAssertExpr) (func(*Frame), []value) {
	t := c.typeOf(e.Type)
	test, v, _ := c.asserted(e, t)
	tmp, ok := c.temp(t), c.temp(types.Typ[types.Bool])
	set, zero := c.ops(t).store(tmp, v.ev), c.ops(t).store(tmp, c.ops(t).zero())
	at := ok.address()
	do := func(fr *Frame) {
		found := test(fr)
		*(*bool)(at(fr)) = found
		if found {
			set(fr)
		} else {
			zero(fr)
		}
	}
	return do, []value{c.place(t, tmp), c.place(types.Typ[types.Bool], ok)}
}

// opAssign compiles x op= y.
func (c *compiler) opAssign(lhs, rhs ast.Expr, op token.Token, pos token.Pos) stmt {
	pre := c.hoistOp(lhs, rhs)
	l := c.lvalue(lhs)
	x := l.load()
	var v value
	if op == token.SHL || op == token.SHR {
		n := c.expr(rhs)
		if n.ev == nil {
			n = c.constant(n.c, types.Typ[types.Uint])
		}
		v = value{t: x.t, k: x.k, ev: shift(x.k, op, pos, x.ev, toBits(n.k, n.ev), n.k.isSigned() && n.c == nil)}
	} else {
		y := c.exprTo(rhs, x.t)
		if inc := fastIncrement(op, x, y); inc != nil {
			return after(pre, inc)
		}
		v = value{t: x.t, k: x.k, ev: fastInt(op, x, y)}
		if v.ev == nil {
			v.ev = arith(x.k, op, pos, x.ev, y.ev)
		}
	}
	return after(pre, sequence(append(l.prep, l.store(v))))
}

// fastIncrement is x += y for an int in the frame or at a fixed address.
func fastIncrement(op token.Token, x, y value) stmt {
	if x.loc == nil || x.k != cInt || op != token.ADD && op != token.SUB {
		return nil
	}
	e, sign := y.ev.(ev[int]), 1
	if op == token.SUB {
		sign = -1
	}
	n, isConst := constInt(y)
	switch {
	case x.loc.kind == locFrame && isConst:
		off, d := x.loc.off, n*sign
		return func(fr *Frame) ctl { *(*int)(unsafe.Add(fr.mem, off)) += d; return ctlNext }
	case x.loc.kind == locFrame:
		off := x.loc.off
		return func(fr *Frame) ctl { d := e(fr) * sign; *(*int)(unsafe.Add(fr.mem, off)) += d; return ctlNext }
	case x.loc.kind == locGlobal:
		p := (*int)(x.loc.p)
		return func(fr *Frame) ctl { d := e(fr) * sign; *p += d; return ctlNext }
	}
	return nil
}

func (c *compiler) incDec(s *ast.IncDecStmt) stmt {
	op := token.ADD
	if s.Tok == token.DEC {
		op = token.SUB
	}
	pre := c.hoistOp(s.X, nil)
	l := c.lvalue(s.X)
	x := l.load()
	one := c.constant(oneConstant, x.t)
	if inc := fastIncrement(op, x, one); inc != nil {
		return after(pre, inc)
	}
	v := value{t: x.t, k: x.k, ev: arith(x.k, op, s.TokPos, x.ev, one.ev)}
	return after(pre, sequence(append(l.prep, l.store(v))))
}
