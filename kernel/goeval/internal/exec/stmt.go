package exec

import (
	"go/ast"
	"go/token"
	"go/types"
)

// jump is a statement that break or continue can leave.
type jump struct {
	label string
	t     *target
	loop  bool
	block bool // a labelled block, which only a labelled break leaves
}

// stmt compiles a statement; nil for one that does nothing.
func (c *compiler) stmt(s ast.Stmt) stmt {
	defer c.under(s)()
	defer c.fn.scope()()
	switch s := s.(type) {
	case *ast.ExprStmt:
		return c.exprStmt(s.X)
	case *ast.AssignStmt:
		return c.assign(s)
	case *ast.IncDecStmt:
		return c.incDec(s)
	case *ast.DeclStmt:
		return c.declStmt(s.Decl.(*ast.GenDecl))
	case *ast.BlockStmt:
		return c.block(s.List)
	case *ast.IfStmt:
		return c.ifStmt(s)
	case *ast.ForStmt:
		return c.forStmt(s, "")
	case *ast.RangeStmt:
		return c.rangeStmt(s, "")
	case *ast.SwitchStmt:
		return c.switchStmt(s, "")
	case *ast.TypeSwitchStmt:
		return c.typeSwitch(s, "")
	case *ast.SelectStmt:
		return c.selectStmt(s, "")
	case *ast.LabeledStmt:
		return c.labeled(s)
	case *ast.BranchStmt:
		return c.branch(s)
	case *ast.ReturnStmt:
		return c.returnStmt(s)
	case *ast.GoStmt:
		return c.goStmt(s)
	case *ast.DeferStmt:
		return c.deferStmt(s)
	case *ast.SendStmt:
		return c.send(s)
	case *ast.EmptyStmt:
		return nil
	}
	c.refuse(s.Pos(), "cells cannot run this statement (%T)", s)
	return nil
}

// block compiles a list of statements, among which goto may jump.
func (c *compiler) block(list []ast.Stmt) stmt { return c.marked(list, nil) }

// marked is block with something to do before each statement.
func (c *compiler) marked(list []ast.Stmt, mark func(i int) stmt) stmt {
	labels := map[*target]int{}
	for _, s := range list {
		if l, ok := s.(*ast.LabeledStmt); ok {
			c.fn.labels[l.Label.Name] = &target{l.Label.Name}
		}
	}
	var body []stmt
	for i, s := range list {
		if l, ok := s.(*ast.LabeledStmt); ok {
			labels[c.fn.labels[l.Label.Name]] = len(body)
		}
		if mark != nil {
			body = append(body, mark(i))
		}
		if st := c.stmt(s); st != nil {
			body = append(body, st)
		}
	}
	if len(labels) > 0 && usesGoto(list) {
		return gotoBlock(body, labels)
	}
	return sequence(body)
}

func sequence(body []stmt) stmt {
	switch len(body) {
	case 0:
		return func(*Frame) ctl { return ctlNext }
	case 1:
		return body[0]
	case 2:
		a, b := body[0], body[1]
		return func(fr *Frame) ctl {
			if k := a(fr); k != ctlNext {
				return k
			}
			return b(fr)
		}
	}
	return func(fr *Frame) ctl {
		for _, s := range body {
			if k := s(fr); k != ctlNext {
				return k
			}
		}
		return ctlNext
	}
}

func gotoBlock(body []stmt, labels map[*target]int) stmt {
	return func(fr *Frame) ctl {
		for i := 0; i < len(body); i++ {
			k := body[i](fr)
			if k == ctlNext {
				continue
			}
			at, mine := labels[fr.target]
			if k != ctlGoto || !mine {
				return k
			}
			fr.th.check()
			i = at - 1
		}
		return ctlNext
	}
}

func usesGoto(list []ast.Stmt) bool {
	found := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
				found = true
			}
			_, lit := n.(*ast.FuncLit)
			return !lit && !found
		})
	}
	return found
}

func (c *compiler) exprStmt(e ast.Expr) stmt {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && !c.u.Info.Types[call.Fun].IsType() {
		if b := c.builtinOf(call.Fun); b != nil {
			return c.builtinStmt(call, b.Name())
		}
		pre, inv := c.call(call)
		return after(pre, inv.run())
	}
	v := c.expr(e)
	if v.ev == nil {
		return nil
	}
	return c.ops(v.t).drop(v.ev)
}

// after runs pre before s.
func after(pre func(*Frame), s stmt) stmt {
	if pre == nil || s == nil {
		return s
	}
	return func(fr *Frame) ctl { pre(fr); return s(fr) }
}

func (c *compiler) builtinStmt(e *ast.CallExpr, name string) stmt {
	defer c.under(e)()
	switch name {
	case "copy", "recover", "append", "min", "max":
		v := c.builtin(e, name)
		return c.ops(v.t).drop(v.ev)
	}
	e, spread := c.spreadBuiltin(e)
	pre := joined(spread, c.hoist(e.Args...))
	switch name {
	case "panic":
		return after(pre, c.panicStmt(e))
	case "print", "println":
		return after(pre, c.printStmt(e, name))
	case "delete":
		return after(pre, c.mapDelete(e))
	case "clear":
		return after(pre, c.clearStmt(e))
	case "close":
		return after(pre, c.closeStmt(e))
	}
	c.refuse(e.Pos(), "cells cannot use the builtin %s here", name)
	return nil
}

func (c *compiler) panicStmt(e *ast.CallExpr) stmt {
	x, pos := c.exprTo(e.Args[0], anyType).ev.(ev[iface]), e.Pos()
	return func(fr *Frame) ctl {
		v := x(fr).toAny()
		fr.pos = pos
		panic(v)
	}
}

func (c *compiler) condition(e ast.Expr) ev[bool] {
	return c.convert(c.expr(e), types.Typ[types.Bool]).ev.(ev[bool])
}

func (c *compiler) ifStmt(s *ast.IfStmt) stmt {
	var init, alt stmt
	if s.Init != nil {
		init = c.stmt(s.Init)
	}
	cond, then := c.condition(s.Cond), c.block(s.Body.List)
	if s.Else != nil {
		alt = c.stmt(s.Else)
	}
	branch := func(fr *Frame) ctl {
		if cond(fr) {
			return then(fr)
		}
		return ctlNext
	}
	if alt != nil {
		branch = func(fr *Frame) ctl {
			if cond(fr) {
				return then(fr)
			}
			return alt(fr)
		}
	}
	if init == nil {
		return branch
	}
	return func(fr *Frame) ctl { init(fr); return branch(fr) }
}

// enter makes a statement that break (and continue, for a loop) can name, while do compiles its body.
func (c *compiler) enter(label string, loop, block bool, do func(t *target)) {
	t := &target{label}
	c.fn.targets = append(c.fn.targets, &jump{label, t, loop, block})
	do(t)
	c.fn.targets = c.fn.targets[:len(c.fn.targets)-1]
}

func (c *compiler) labeled(s *ast.LabeledStmt) stmt {
	label := s.Label.Name
	switch inner := s.Stmt.(type) {
	case *ast.ForStmt:
		return c.forStmt(inner, label)
	case *ast.RangeStmt:
		return c.rangeStmt(inner, label)
	case *ast.SwitchStmt:
		return c.switchStmt(inner, label)
	case *ast.TypeSwitchStmt:
		return c.typeSwitch(inner, label)
	case *ast.SelectStmt:
		return c.selectStmt(inner, label)
	case *ast.BlockStmt:
		var body stmt
		c.enter(label, false, true, func(t *target) { body = breakable(c.block(inner.List), t) })
		return body
	}
	st := c.stmt(s.Stmt)
	if st == nil {
		st = func(*Frame) ctl { return ctlNext }
	}
	return st
}

// breakable ends a break that names t.
func breakable(body stmt, t *target) stmt {
	return func(fr *Frame) ctl {
		k := body(fr)
		if k == ctlBreak && fr.target == t {
			return ctlNext
		}
		return k
	}
}

func (c *compiler) branch(s *ast.BranchStmt) stmt {
	switch s.Tok {
	case token.GOTO:
		t := c.fn.labels[s.Label.Name]
		if t == nil {
			c.refuse(s.Pos(), "internal error: goto %s", s.Label.Name)
		}
		return func(fr *Frame) ctl { fr.target = t; return ctlGoto }
	case token.FALLTHROUGH:
		return func(*Frame) ctl { return ctlFall }
	}
	for i := len(c.fn.targets) - 1; i >= 0; i-- {
		j := c.fn.targets[i]
		if s.Label != nil && j.label != s.Label.Name || s.Label == nil && (j.block || s.Tok == token.CONTINUE && !j.loop) {
			continue
		}
		t := j.t
		if s.Tok == token.CONTINUE {
			return func(fr *Frame) ctl { fr.target = t; return ctlContinue }
		}
		return func(fr *Frame) ctl { fr.target = t; return ctlBreak }
	}
	c.refuse(s.Pos(), "internal error: %s has no target", s.Tok)
	return nil
}

func (c *compiler) returnStmt(s *ast.ReturnStmt) stmt {
	f := c.fn
	leave := func(*Frame) ctl { return ctlReturn }
	if len(s.Results) == 0 {
		return leave
	}
	sig := f.sig
	if len(s.Results) == 1 && sig.Results().Len() > 1 {
		call := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		pre, inv := c.call(call)
		do, temps := c.tuple(inv)
		var moves []stmt
		for i, l := range f.results {
			t := sig.Results().At(i).Type()
			v := c.convert(c.place(inv.results.At(i).Type(), temps[i]), t)
			moves = append(moves, c.ops(t).store(l, v.ev))
		}
		return func(fr *Frame) ctl {
			if pre != nil {
				pre(fr)
			}
			do(fr)
			for _, m := range moves {
				m(fr)
			}
			return ctlReturn
		}
	}
	var ops []operand
	for i, e := range s.Results {
		ops = append(ops, operand{e, sig.Results().At(i).Type()})
	}
	pre := c.hoistOperands(ops)
	if len(s.Results) == 1 {
		t := sig.Results().At(0).Type()
		set := after(pre, c.ops(t).store(f.results[0], c.exprTo(s.Results[0], t).ev))
		return func(fr *Frame) ctl { set(fr); return ctlReturn }
	}
	var sets, moves []stmt
	for i, e := range s.Results {
		t := sig.Results().At(i).Type()
		tmp := c.temp(t)
		sets = append(sets, c.ops(t).store(tmp, c.exprTo(e, t).ev))
		moves = append(moves, c.ops(t).store(f.results[i], c.ops(t).load(tmp)))
	}
	all := after(pre, sequence(append(sets, moves...)))
	return func(fr *Frame) ctl { all(fr); return ctlReturn }
}

func (c *compiler) goStmt(s *ast.GoStmt) stmt {
	late := c.lateOf(s.Call)
	m := c.m
	return func(fr *Frame) ctl {
		call := late(fr)
		m.spawn(fr.th.run, call)
		return ctlNext
	}
}

func (c *compiler) deferStmt(s *ast.DeferStmt) stmt {
	late := c.lateOf(s.Call)
	return func(fr *Frame) ctl {
		call := late(fr)
		fr.defers = append(fr.defers, func() { call(fr.th, fr, fr.pan) })
		return ctlNext
	}
}

// lateOf evaluates function and operands of a call now, and returns what makes the call.
func (c *compiler) lateOf(e *ast.CallExpr) func(*Frame) lateCall {
	if b := c.builtinOf(e.Fun); b != nil {
		return c.lateBuiltin(e, b.Name())
	}
	if c.u.Info.Types[e.Fun].IsType() {
		c.refuse(e.Pos(), "a conversion cannot be deferred or started")
	}
	pre, inv := c.call(e)
	if pre == nil {
		return inv.late
	}
	return func(fr *Frame) lateCall { pre(fr); return inv.late(fr) }
}

// lateBuiltin is lateOf for the builtins.
func (c *compiler) lateBuiltin(e *ast.CallExpr, name string) func(*Frame) lateCall {
	if name == "recover" { // it counts as called by the function that has the defer statement
		return func(*Frame) lateCall {
			return func(_ *Thread, up *Frame, armed *Panic) {
				if up != nil && armed == nil {
					up.recoverNow()
				}
			}
		}
	}
	// A small function takes the operands as parameters and does what the builtin does.
	var vars []*types.Var
	var parts []part
	for _, a := range e.Args {
		v := c.expr(a)
		t := v.t
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = types.Default(t)
		}
		if v.nil || name == "panic" {
			t = anyType
		}
		vars = append(vars, types.NewParam(a.Pos(), nil, "", t))
		parts = append(parts, c.part(c.convert(v, t)))
	}
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), nil, false)
	f := c.newFn(name, sig, nil)
	f.outer = nil
	outer := c.fn
	c.fn = f
	for i, a := range e.Args {
		f.hoisted[a] = frameLoc(f.params[i])
		f.retyped[a] = vars[i].Type()
	}
	k := c.finish(f, e.Pos(), c.builtinStmt(e, name))
	k.synthetic = true
	c.fn = outer
	return c.invoke(callee{sig: sig, fn: &Func{Name: name, code: k}}, parts, e.Pos()).late
}

// spawn starts a goroutine of run. A panic in it is reported; the process lives on.
func (m *Machine) spawn(run *Run, call lateCall) {
	m.parallel.Store(true)
	th := &Thread{m: m, run: run}
	m.begin(run)
	go func() {
		defer m.ended(th)
		call(th, nil, nil)
	}()
}

// ended is deferred in a goroutine of a cell: a panic in it is reported.
func (m *Machine) ended(th *Thread) {
	m.end(th.run)
	if r := recover(); r != nil {
		m.Report(th.run, th.caught(r))
	} else if th.overflow {
		m.Report(th.run, &Panic{Value: StackOverflow{}, Trace: th.overflowTrace})
	}
}

// StackOverflow is what ends a goroutine that recurses without end.
type StackOverflow struct{}

func (StackOverflow) Error() string { return "stack overflow: the recursion has no end" }
