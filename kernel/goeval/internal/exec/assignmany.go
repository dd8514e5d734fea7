package exec

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assignMany compiles a, b = x, y as the compiler does: the calls come first; then what an earlier
// assignment of the statement might change; everything else when its own assignment happens, so that a
// panic in it comes after the assignments before it.
func (c *compiler) assignMany(lhs, rhs []ast.Expr) stmt {
	scan := hoistScan{c: c}
	for _, e := range operandsOf(lhs...) {
		scan.walk(e)
	}
	for i, e := range rhs {
		scan.operand(e, c.lvalueType(lhs[i]))
	}
	scan.needed = scan.needed || len(scan.calls) > 0
	pre := scan.compile()
	o := assignOrder{c: c, assigned: map[*types.Var]bool{}}
	var early, late []stmt
	for i := range lhs {
		var l *lvalue
		if o.affectedOperands(lhs[i]) {
			l = c.lvalue(lhs[i])
			early = append(early, l.prep...)
		}
		v, ok := o.right(lhs[i], rhs[i], &early)
		switch {
		case !ok:
		case l != nil:
			late = append(late, l.store(v))
		default:
			late = append(late, c.storeNow(lhs[i], v))
		}
		o.assign(lhs[i])
	}
	return after(pre, sequence(append(early, late...)))
}

// storeNow compiles lhs = v with all of lhs computed when it happens.
func (c *compiler) storeNow(lhs ast.Expr, v value) stmt {
	if isBlank(lhs) {
		return c.ops(v.t).drop(v.ev)
	}
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok {
		return c.identLvalue(id).store(v)
	}
	return c.storeTo(ast.Unparen(lhs), func(types.Type) value { return v })
}

// assignOrder follows what the assignments of one statement, so far, may have changed.
type assignOrder struct {
	c        *compiler
	assigned map[*types.Var]bool // variables of the frame
	memory   bool                // anything that lies outside it
	result   bool                // a result that a deferred function may show
}

// right compiles a right side: at once if it is affected, else it is left to its assignment.
func (o *assignOrder) right(lhs, rhs ast.Expr, early *[]stmt) (v value, ok bool) {
	c := o.c
	t := c.lvalueType(lhs)
	if t == nil {
		if v = c.expr(rhs); v.ev == nil {
			return v, false
		}
		t = v.t
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = types.Default(t)
		}
	} else {
		v = c.exprTo(rhs, t)
	}
	if !o.affected(rhs) {
		return v, true
	}
	tmp := c.temp(t)
	*early = append(*early, c.ops(t).store(tmp, v.ev))
	return c.place(t, tmp), true
}

// assign notes that lhs has been assigned to.
func (o *assignOrder) assign(lhs ast.Expr) {
	if isBlank(lhs) {
		return
	}
	id, ok := o.base(lhs, nil).(*ast.Ident)
	if !ok {
		o.memory = true
		return
	}
	v := o.c.u.Info.ObjectOf(id).(*types.Var)
	switch {
	case o.c.fn.defers && isResult(o.c.fn.sig, v):
		o.result = true
	case o.inFrame(v):
		o.assigned[v] = true
	default:
		o.memory = true
	}
}

func isResult(sig *types.Signature, v *types.Var) bool {
	if sig == nil {
		return false
	}
	for r := range sig.Results().Variables() {
		if r == v {
			return true
		}
	}
	return false
}

func (o *assignOrder) inFrame(v *types.Var) bool {
	l, ok := o.c.fn.vars[v]
	return ok && l.kind == locFrame
}

// base goes through fields and elements of arrays to the variable or the pointer, slice or map that they
// lie in; index is told of the indices on the way.
func (o *assignOrder) base(e ast.Expr, index func(ast.Expr)) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.IndexExpr:
			if _, ok := under(o.c.u.Info, x.X).(*types.Array); ok {
				if index != nil {
					index(x.Index)
				}
				e = x.X
				continue
			}
		case *ast.SelectorExpr:
			if sel := o.c.u.Info.Selections[x]; sel != nil && !sel.Indirect() {
				e = x.X
				continue
			}
		}
		return e
	}
}

// affectedOperands reports whether what lhs is made of may have changed.
func (o *assignOrder) affectedOperands(lhs ast.Expr) bool {
	found := false
	note := func(e ast.Expr) { found = found || o.affected(e) }
	switch e := o.base(lhs, note).(type) {
	case *ast.IndexExpr:
		note(e.X)
		note(e.Index)
	case *ast.StarExpr:
		note(e.X)
	case *ast.SelectorExpr:
		note(e.X)
	}
	return found
}

// affected reports whether the value of e may have changed. Calls in it are done already.
func (o *assignOrder) affected(e ast.Expr) bool {
	if o.result {
		return true
	}
	if e == nil {
		return false
	}
	if _, done := o.c.fn.hoisted[e]; done {
		return false
	}
	if tv, ok := o.c.u.Info.Types[e]; ok && (tv.Value != nil || tv.IsType() || tv.IsNil()) {
		return false
	}
	switch e := e.(type) {
	case *ast.Ident:
		v, ok := o.c.u.Info.Uses[e].(*types.Var)
		return ok && (o.assigned[v] || o.memory && !o.inFrame(v))
	case *ast.ParenExpr:
		return o.affected(e.X)
	case *ast.TypeAssertExpr:
		return o.affected(e.X)
	case *ast.UnaryExpr:
		return o.memory && (e.Op == token.NOT || e.Op == token.AND) || o.affected(e.X)
	case *ast.BinaryExpr:
		return o.memory && o.looks(e) || o.affected(e.X) || o.affected(e.Y)
	case *ast.SelectorExpr:
		if sel := o.c.u.Info.Selections[e]; sel != nil && !sel.Indirect() && sel.Kind() == types.FieldVal {
			return o.affected(e.X)
		}
	case *ast.CallExpr:
		if o.c.u.Info.Types[e.Fun].IsType() {
			return o.affected(e.Args[0])
		}
	}
	return o.memory || o.mentions(e)
}

// looks reports whether the compiler takes an operation for one that reads memory: comparisons, and
// strings put together.
func (o *assignOrder) looks(e *ast.BinaryExpr) bool {
	switch e.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	case token.ADD:
		b, ok := under(o.c.u.Info, e).(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	}
	return false
}

// mentions reports whether e uses a variable that was assigned to.
func (o *assignOrder) mentions(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if _, done := o.c.fn.hoisted[x]; done {
				return false
			}
		}
		if id, ok := n.(*ast.Ident); ok {
			v, isVar := o.c.u.Info.Uses[id].(*types.Var)
			found = found || isVar && o.assigned[v]
		}
		return !found
	})
	return found
}
