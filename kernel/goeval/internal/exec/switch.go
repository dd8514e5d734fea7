package exec

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"kafkalab/kernel/goeval/internal/rtype"
)

// clause is a case of a switch: its tests in order, and its body.
type clause struct {
	tests []ev[bool]
	body  stmt
}

func (c *compiler) switchStmt(s *ast.SwitchStmt, label string) stmt {
	var init, tag stmt
	if s.Init != nil {
		init = c.stmt(s.Init)
	}
	var x value
	if s.Tag != nil {
		x = c.expr(s.Tag)
		if b, ok := x.t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			x = c.convert(x, types.Default(x.t))
		}
		tmp := c.temp(x.t)
		tag = c.ops(x.t).store(tmp, x.ev)
		x = c.place(x.t, tmp)
	}
	var clauses []clause
	def := -1
	var t *target
	c.enter(label, false, false, func(me *target) {
		t = me
		for i, st := range s.Body.List {
			cc := st.(*ast.CaseClause)
			if cc.List == nil {
				def = i
			}
			var k clause
			for _, e := range cc.List {
				k.tests = append(k.tests, c.caseTest(x, e))
			}
			k.body = c.block(cc.Body)
			clauses = append(clauses, k)
		}
	})
	run := breakable(runSwitch(clauses, def), t)
	return func(fr *Frame) ctl {
		if init != nil {
			init(fr)
		}
		if tag != nil {
			tag(fr)
		}
		return run(fr)
	}
}

// caseTest compiles one expression of a case clause.
func (c *compiler) caseTest(x value, e ast.Expr) ev[bool] {
	y := c.expr(e)
	if x.ev == nil && types.IsInterface(y.t) { // switch { case i: } compares i with true
		x = c.constant(constant.MakeBool(true), types.Typ[types.Bool])
	}
	if x.ev == nil {
		return c.convert(y, types.Typ[types.Bool]).ev.(ev[bool])
	}
	if y.nil {
		return c.isNilTest(&ast.BinaryExpr{X: e, Op: token.EQL, Y: e}, x, y)
	}
	t := c.comparedAs(x, y)
	a, b := c.convert(x, t), c.convert(y, t)
	return c.equal(token.EQL, e.Pos(), t, a.ev, b.ev)
}

func runSwitch(clauses []clause, def int) stmt {
	return func(fr *Frame) ctl {
		at := def
	search:
		for i := range clauses {
			for _, test := range clauses[i].tests {
				if test(fr) {
					at = i
					break search
				}
			}
		}
		if at < 0 {
			return ctlNext
		}
		for ; at < len(clauses); at++ {
			if k := clauses[at].body(fr); k != ctlFall {
				return k
			}
		}
		return ctlNext
	}
}

func (c *compiler) typeSwitch(s *ast.TypeSwitchStmt, label string) stmt {
	var init stmt
	if s.Init != nil {
		init = c.stmt(s.Init)
	}
	var e ast.Expr
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		e = a.Rhs[0].(*ast.TypeAssertExpr).X
	case *ast.ExprStmt:
		e = a.X.(*ast.TypeAssertExpr).X
	}
	x := c.expr(e)
	src := c.temp(x.t)
	keep := c.ops(x.t).store(src, x.ev)
	dyn := dynType(x.t, scalar[iface]{}.load(src).(ev[iface]))
	match := c.temp(anyType) // the value as the matching clause sees it
	var clauses []clause
	def := -1
	var t *target
	c.enter(label, false, false, func(me *target) {
		t = me
		for i, st := range s.Body.List {
			cc := st.(*ast.CaseClause)
			if cc.List == nil {
				def = i
			}
			clauses = append(clauses, c.typeClause(cc, x.t, src, dyn, match))
		}
	})
	run := breakable(runSwitch(clauses, def), t)
	return func(fr *Frame) ctl {
		if init != nil {
			init(fr)
		}
		keep(fr)
		return run(fr)
	}
}

func (c *compiler) typeClause(cc *ast.CaseClause, xt types.Type, src loc, dyn ev[iface], match loc) clause {
	var k clause
	at := match.address()
	for _, te := range cc.List {
		if c.isNil(te) {
			k.tests = append(k.tests, func(fr *Frame) bool { return dyn(fr).tab == nil })
			continue
		}
		fits := c.matcher(c.typeOf(te))
		k.tests = append(k.tests, func(fr *Frame) bool {
			d := dyn(fr)
			tab, ok := fits(d.tab)
			if ok {
				*(*iface)(at(fr)) = iface{tab, d.data}
			}
			return ok
		})
	}
	v, _ := c.u.Info.Implicits[cc].(*types.Var)
	if v == nil {
		k.body = c.block(cc.Body)
		return k
	}
	t := c.typ(v.Type())
	val := c.ops(xt).load(src)
	if len(cc.List) == 1 && !c.isNil(cc.List[0]) {
		held := scalar[iface]{}.load(match).(ev[iface])
		val = held
		if !types.IsInterface(t) {
			val = c.ops(t).unbox(rtype.Direct(c.rt(t)), held)
		}
	}
	bind := c.initVar(v, val)
	body := c.block(cc.Body)
	k.body = func(fr *Frame) ctl { bind(fr); return body(fr) }
	return k
}
