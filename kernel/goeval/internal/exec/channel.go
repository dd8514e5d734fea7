package exec

import (
	"go/ast"
	"go/types"
	"reflect"
	"time"
	"unsafe"
)

// Whatever blocks waits for the interrupt as well.

// recv receives from ch. It is tried without waiting first, which is faster.
func (th *Thread) recv(ch reflect.Value) (reflect.Value, bool) {
	if !ch.IsNil() {
		if v, ok := ch.TryRecv(); ok || v.IsValid() {
			return v, ok
		}
	}
	th.waits = "chan receive"
	if ch.IsNil() {
		th.waits = "chan receive (nil chan)"
	}
	for {
		i, v, ok := reflect.Select([]reflect.SelectCase{
			{Dir: reflect.SelectRecv, Chan: ch},
			{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(th.run.stopped)},
		})
		if i == 0 {
			th.waits = ""
			return v, ok
		}
		th.stopNow()
		time.Sleep(time.Millisecond) // a deferred function runs on for a while
	}
}

func (th *Thread) send(ch, v reflect.Value) {
	if !ch.IsNil() && ch.TrySend(v) {
		return
	}
	th.waits = "chan send"
	if ch.IsNil() {
		th.waits = "chan send (nil chan)"
	}
	for {
		i, _, _ := reflect.Select([]reflect.SelectCase{
			{Dir: reflect.SelectSend, Chan: ch, Send: v},
			{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(th.run.stopped)},
		})
		if i == 0 {
			th.waits = ""
			return
		}
		th.stopNow()
		time.Sleep(time.Millisecond)
	}
}

func (c *compiler) receive(e *ast.UnaryExpr) value {
	x := c.expr(e.X)
	elem := x.t.Underlying().(*types.Chan).Elem()
	tmp, _, do := c.receiveInto(x, elem, e)
	return value{t: elem, k: classOf(elem), ev: c.ops(elem).after(do, c.ops(elem).load(tmp))}
}

func (c *compiler) receiveInto(x value, elem types.Type, e *ast.UnaryExpr) (tmp, ok loc, do func(*Frame)) {
	tmp, ok = c.temp(elem), c.temp(types.Typ[types.Bool])
	ch, rt, ert, pos := x.ev.(ev[ptr]), c.rt(x.t), c.rt(elem), e.Pos()
	return tmp, ok, func(fr *Frame) {
		p := ch(fr)
		fr.pos = pos
		v, more := fr.th.recv(valueAt(rt, ptr(&p)))
		*(*bool)(unsafe.Add(fr.mem, ok.off)) = more
		dst := valueAt(ert, unsafe.Add(fr.mem, tmp.off))
		if v.IsValid() {
			dst.Set(v)
		} else {
			dst.SetZero()
		}
	}
}

// receiveOk compiles v, ok = <-ch.
func (c *compiler) receiveOk(e *ast.UnaryExpr) (func(*Frame), []value) {
	x := c.expr(e.X)
	elem := x.t.Underlying().(*types.Chan).Elem()
	tmp, ok, do := c.receiveInto(x, elem, e)
	return do, []value{c.place(elem, tmp), c.place(types.Typ[types.Bool], ok)}
}

func (c *compiler) send(s *ast.SendStmt) stmt {
	elem := c.typeOf(s.Chan).Underlying().(*types.Chan).Elem()
	pre := c.hoistOperands([]operand{{e: s.Chan}, {s.Value, elem}})
	x := c.expr(s.Chan)
	tmp := c.temp(elem)
	set := c.ops(elem).store(tmp, c.exprTo(s.Value, elem).ev)
	ch, rt, ert, pos := x.ev.(ev[ptr]), c.rt(x.t), c.rt(elem), s.Pos()
	return after(pre, func(fr *Frame) ctl {
		p := ch(fr)
		set(fr)
		fr.pos = pos
		fr.th.send(valueAt(rt, ptr(&p)), valueAt(ert, unsafe.Add(fr.mem, tmp.off)))
		return ctlNext
	})
}

func (c *compiler) closeStmt(e *ast.CallExpr) stmt {
	x := c.expr(e.Args[0])
	ch, rt, pos := x.ev.(ev[ptr]), c.rt(x.t), e.Pos()
	return func(fr *Frame) ctl {
		p := ch(fr)
		fr.pos = pos
		valueAt(rt, ptr(&p)).Close()
		return ctlNext
	}
}

// comm is a case of a select statement.
type comm struct {
	ch   ev[ptr]
	rt   reflect.Type
	send stmt // computes the value to send into val
	val  loc
	ert  reflect.Type
	recv bool
	ok   loc
	body stmt
}

func (c *compiler) selectStmt(s *ast.SelectStmt, label string) stmt {
	var comms []*comm
	var def stmt
	var t *target
	c.enter(label, false, false, func(me *target) {
		t = me
		for _, st := range s.Body.List {
			cc := st.(*ast.CommClause)
			if cc.Comm == nil {
				def = c.block(cc.Body)
				continue
			}
			comms = append(comms, c.comm(cc))
		}
	})
	pos, waits := s.Pos(), "select"
	if len(comms) == 0 {
		waits = "select (no cases)"
	}
	return breakable(func(fr *Frame) ctl {
		cases := make([]reflect.SelectCase, 0, len(comms)+1)
		for _, k := range comms {
			cases = append(cases, k.selectCase(fr))
		}
		if def != nil {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})
		} else {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(fr.th.run.stopped)})
		}
		fr.pos = pos
		fr.th.waits = waits
		for {
			i, v, ok := reflect.Select(cases)
			if i < len(comms) {
				fr.th.waits = ""
				return comms[i].chosen(fr, v, ok)
			}
			if def != nil {
				fr.th.waits = ""
				return def(fr)
			}
			fr.th.stopNow()
			time.Sleep(time.Millisecond)
		}
	}, t)
}

func (k *comm) selectCase(fr *Frame) reflect.SelectCase {
	p := k.ch(fr)
	hold := p
	ch := valueAt(k.rt, ptr(&hold))
	if k.recv {
		return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: ch}
	}
	k.send(fr)
	v := reflect.New(k.ert).Elem()
	v.Set(valueAt(k.ert, unsafe.Add(fr.mem, k.val.off)))
	return reflect.SelectCase{Dir: reflect.SelectSend, Chan: ch, Send: v}
}

func (k *comm) chosen(fr *Frame, v reflect.Value, ok bool) ctl {
	if k.recv {
		dst := valueAt(k.ert, unsafe.Add(fr.mem, k.val.off))
		if v.IsValid() {
			dst.Set(v)
		} else {
			dst.SetZero()
		}
		*(*bool)(unsafe.Add(fr.mem, k.ok.off)) = ok
	}
	return k.body(fr)
}

// comm compiles the communication of a select case and its body.
func (c *compiler) comm(cc *ast.CommClause) *comm {
	defer c.under(cc)()
	if s, ok := cc.Comm.(*ast.SendStmt); ok {
		x := c.expr(s.Chan)
		elem := x.t.Underlying().(*types.Chan).Elem()
		k := &comm{ch: x.ev.(ev[ptr]), rt: c.rt(x.t), ert: c.rt(elem), val: c.temp(elem)}
		k.send = c.ops(elem).store(k.val, c.exprTo(s.Value, elem).ev)
		k.body = c.block(cc.Body)
		return k
	}
	var lhs []ast.Expr
	var e ast.Expr
	switch s := cc.Comm.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		lhs, e = s.Lhs, s.Rhs[0]
	}
	x := c.expr(ast.Unparen(e).(*ast.UnaryExpr).X)
	elem := x.t.Underlying().(*types.Chan).Elem()
	k := &comm{recv: true, ch: x.ev.(ev[ptr]), rt: c.rt(x.t), ert: c.rt(elem), val: c.temp(elem), ok: c.temp(types.Typ[types.Bool])}
	vals := []value{c.place(elem, k.val), c.place(types.Typ[types.Bool], k.ok)}
	var sets []stmt
	for i, l := range lhs {
		if isBlank(l) {
			continue
		}
		var first []stmt
		set := c.storeLater(l, c.convert(vals[i], c.lvalueType(l)), &first)
		sets = append(append(sets, first...), set)
	}
	k.body = sequence(append(sets, c.block(cc.Body)))
	return k
}

// Sleep waits for ns nanoseconds or the interrupt.
func (c *Call) Sleep(ns int64) {
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.Run.stopped:
		if c.thread != nil {
			c.thread.stopNow()
		} else {
			c.Machine.Poll()
		}
	}
}

// Stopped is closed when the run is stopped.
func (r *Run) Stopped() <-chan struct{} { return r.stopped }
