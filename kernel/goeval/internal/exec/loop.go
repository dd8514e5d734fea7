package exec

import (
	"go/ast"
	"go/types"
	"unsafe"
)

func (c *compiler) forStmt(s *ast.ForStmt, label string) stmt {
	var init, post, body stmt
	var cond ev[bool]
	if s.Init != nil {
		init = c.stmt(s.Init)
	}
	copies := c.iterationCopies(s.Init)
	var t *target
	c.enter(label, true, false, func(me *target) {
		t = me
		if s.Cond != nil {
			cond = c.condition(s.Cond)
		}
		if s.Post != nil {
			post = c.stmt(s.Post)
		}
		body = c.block(s.Body.List)
	})
	if copies != nil {
		step := post
		post = func(fr *Frame) ctl {
			copies(fr)
			if step != nil {
				return step(fr)
			}
			return ctlNext
		}
	}
	loop := runLoop(cond, post, body, t)
	if init == nil {
		return loop
	}
	return func(fr *Frame) ctl { init(fr); return loop(fr) }
}

func runLoop(cond ev[bool], post, body stmt, t *target) stmt {
	return func(fr *Frame) ctl {
		stop := &fr.th.run.stop
		for {
			if stop.Load() != stopNone {
				fr.th.stopNow()
			}
			if cond != nil && !cond(fr) {
				return ctlNext
			}
			if k := body(fr); k != ctlNext {
				if out, end := leaves(fr, k, t); end {
					return out
				}
			}
			if post != nil {
				post(fr)
			}
		}
	}
}

// leaves decides what a jump out of a loop's body means for the loop t.
func leaves(fr *Frame, k ctl, t *target) (out ctl, end bool) {
	switch k {
	case ctlBreak:
		if fr.target == t {
			return ctlNext, true
		}
	case ctlContinue:
		if fr.target == t {
			return ctlNext, false
		}
	}
	return k, true
}

// iterationCopies gives each iteration its own copy of captured loop variables (Go 1.22).
func (c *compiler) iterationCopies(init ast.Stmt) func(*Frame) {
	as, ok := init.(*ast.AssignStmt)
	if !ok {
		return nil
	}
	var copies []func(*Frame)
	for _, e := range as.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := c.u.Info.Defs[id].(*types.Var)
		if !ok {
			continue
		}
		l, ok := c.fn.vars[v]
		if !ok || l.kind != locCell {
			continue
		}
		t := c.typ(v.Type())
		rt, move, off := c.rt(t), c.ops(t).move(), l.off
		copies = append(copies, func(fr *Frame) {
			cell := (*ptr)(unsafe.Add(fr.mem, off))
			fresh := newOf(rt)
			move(fresh, *cell)
			*cell = fresh
		})
	}
	if copies == nil {
		return nil
	}
	return func(fr *Frame) {
		for _, f := range copies {
			f(fr)
		}
	}
}
