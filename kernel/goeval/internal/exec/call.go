package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// part is an operand of a call, written to wherever the callee takes it.
type part struct {
	t    types.Type
	into func(fr *Frame, dst ptr)
}

// callee is what a call reaches. Exactly one of fn, compiled, intrinsic, dyn, face is set.
type callee struct {
	sig       *types.Signature // without the receiver
	recv      *part            // receiver of a static method call
	fn        *Func
	cells     []ev[ptr]     // what fn captures, if it is a literal
	compiled  reflect.Value // takes the receiver first
	intrinsic Intrinsic
	dyn       ev[ptr]
	face      ev[iface]
	faceType  types.Type
	method    int // index into the interface's methods
}

// invocation is a compiled call. Results are in the callee's frame (frame, off) or in temporaries of
// the caller's (do, temps).
type invocation struct {
	results *types.Tuple
	frame   func(*Frame) *Frame
	off     []uintptr
	do      func(*Frame)
	temps   []loc
	// late evaluates function and operands now and returns the call, for go and defer.
	late func(fr *Frame) lateCall
}

// lateCall runs a prepared call on a thread; armed is what recover returns in it.
type lateCall func(th *Thread, up *Frame, armed *Panic)

// callValue compiles a call with one result, a conversion or a builtin.
func (c *compiler) callValue(e *ast.CallExpr) value {
	if c.u.Info.Types[e.Fun].IsType() {
		return c.conversion(e)
	}
	if b := c.builtinOf(e.Fun); b != nil {
		return c.builtin(e, b.Name())
	}
	pre, inv := c.call(e)
	if inv.results.Len() != 1 {
		c.refuse(e.Pos(), "internal error: a call with %d results is used as one value", inv.results.Len())
	}
	return c.prefixed(pre, c.result(inv))
}

// result reads the single result of a call.
func (c *compiler) result(inv *invocation) value {
	t := inv.results.At(0).Type()
	v := value{t: t, k: classOf(t)}
	if inv.frame != nil {
		v.ev = c.ops(t).result(inv.frame, inv.off[0])
	} else {
		v.ev = c.ops(t).after(inv.do, c.ops(t).load(inv.temps[0]))
	}
	return v
}

// tuple leaves all results in temporaries.
func (c *compiler) tuple(inv *invocation) (do func(*Frame), temps []loc) {
	if inv.frame == nil {
		return inv.do, inv.temps
	}
	type move struct {
		to   uintptr
		from uintptr
		do   func(dst, src ptr)
	}
	var moves []move
	for i := range inv.results.Len() {
		t := inv.results.At(i).Type()
		tmp := c.temp(t)
		temps = append(temps, tmp)
		moves = append(moves, move{tmp.off, inv.off[i], c.ops(t).move()})
	}
	call := inv.frame
	return func(fr *Frame) {
		callee := call(fr)
		for _, m := range moves {
			m.do(unsafe.Add(fr.mem, m.to), unsafe.Add(callee.mem, m.from))
		}
		callee.release()
	}, temps
}

// run compiles a call for its effects.
func (inv *invocation) run() stmt {
	if do := inv.do; do != nil {
		return func(fr *Frame) ctl { do(fr); return ctlNext }
	}
	call := inv.frame
	return func(fr *Frame) ctl { call(fr).release(); return ctlNext }
}

// call compiles a call of a function or method. pre comes first: calls among the operands.
func (c *compiler) call(e *ast.CallExpr) (pre func(*Frame), inv *invocation) {
	defer c.under(e)()
	pre = c.hoistCall(e)
	to := c.calleeOf(e)
	return pre, c.invoke(to, c.operands(e, to.sig), e.Pos())
}

// calleeOf resolves the function part of a call.
func (c *compiler) calleeOf(e *ast.CallExpr) callee {
	fun := ast.Unparen(e.Fun)
	switch f := fun.(type) {
	case *ast.Ident:
		if obj, ok := c.u.Info.Uses[f].(*types.Func); ok {
			return c.static(obj, f, f.Pos())
		}
	case *ast.IndexExpr:
		if id, obj := c.genericFunc(f.X); obj != nil {
			return c.static(obj, id, f.Pos())
		}
	case *ast.IndexListExpr:
		if id, obj := c.genericFunc(f.X); obj != nil {
			return c.static(obj, id, f.Pos())
		}
	case *ast.SelectorExpr:
		sel := c.u.Info.Selections[f]
		if sel == nil {
			if obj, ok := c.u.Info.Uses[f.Sel].(*types.Func); ok {
				return c.static(obj, f.Sel, f.Pos())
			}
		} else if sel.Kind() == types.MethodVal {
			return c.methodCallee(c.expr(f.X), sel, f.Sel.Pos())
		}
	case *ast.FuncLit:
		return c.literalCallee(f)
	}
	v := c.expr(fun)
	return callee{sig: v.t.Underlying().(*types.Signature), dyn: v.ev.(ev[ptr])}
}

// genericFunc finds the function named by e.
func (c *compiler) genericFunc(e ast.Expr) (*ast.Ident, *types.Func) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj, _ := c.u.Info.Uses[e].(*types.Func)
		return e, obj
	case *ast.SelectorExpr:
		obj, _ := c.u.Info.Uses[e.Sel].(*types.Func)
		return e.Sel, obj
	}
	return nil, nil
}

// static resolves a function known by name; id carries the type arguments of an instance.
func (c *compiler) static(obj *types.Func, id *ast.Ident, pos token.Pos) callee {
	sig := obj.Signature()
	if sig.TypeParams().Len() > 0 {
		return c.staticInstance(obj, id, pos)
	}
	local := c.m.Space.Local(obj.Pkg())
	if local && obj.Pkg().Path() == "main" {
		return callee{sig: sig, fn: c.m.funcOf(obj)}
	}
	if in := c.m.Intrinsic(obj.Pkg().Path(), obj.Name()); in != nil {
		return callee{sig: sig, intrinsic: in}
	}
	if local && c.m.hasBody(obj) {
		return callee{sig: sig, fn: c.m.funcOf(obj)}
	}
	fn, ok := c.m.Symbol(obj.Pkg().Path(), obj.Name())
	if !ok {
		c.refuse(pos, "%s.%s is not available in cells", obj.Pkg().Name(), obj.Name())
	}
	return callee{sig: sig, compiled: fn}
}

// operands compiles the arguments of a call: one part per parameter.
func (c *compiler) operands(e *ast.CallExpr, sig *types.Signature) []part {
	n := sig.Params().Len()
	if len(e.Args) == 1 && n != 0 {
		if tup, ok := c.typeOf(e.Args[0]).(*types.Tuple); ok {
			return c.spread(e.Args[0].(*ast.CallExpr), tup, sig)
		}
	}
	var parts []part
	fixed := n
	if sig.Variadic() && !e.Ellipsis.IsValid() {
		fixed = n - 1
	}
	for i := range fixed {
		t := sig.Params().At(i).Type()
		parts = append(parts, c.part(c.exprTo(e.Args[i], t)))
	}
	if fixed < n {
		t := sig.Params().At(fixed).Type()
		elem := t.(*types.Slice).Elem()
		var vs []value
		for _, a := range e.Args[fixed:] {
			vs = append(vs, c.exprTo(a, elem))
		}
		parts = append(parts, c.pack(vs, t, elem))
	}
	return parts
}

func (c *compiler) part(v value) part { return part{v.t, c.ops(v.t).into(v.ev)} }

// pack makes the slice of a variadic parameter.
func (c *compiler) pack(vs []value, t, elem types.Type) part {
	if len(vs) == 0 {
		return part{t, func(fr *Frame, dst ptr) { *(*slice)(dst) = slice{} }}
	}
	n, size := len(vs), uintptr(rtype.Sizes.Sizeof(elem))
	rt := c.rt(types.NewArray(elem, int64(n)))
	var sets []func(*Frame, ptr)
	for _, v := range vs {
		sets = append(sets, c.ops(elem).into(v.ev))
	}
	return part{t, func(fr *Frame, dst ptr) {
		p := newOf(rt)
		for i, set := range sets {
			set(fr, unsafe.Add(p, uintptr(i)*size))
		}
		*(*slice)(dst) = slice{p, n, n}
	}}
}

// spread compiles f(g()) for a g with several results.
func (c *compiler) spread(g *ast.CallExpr, tup *types.Tuple, sig *types.Signature) []part {
	pre, inv := c.call(g)
	do, temps := c.tuple(inv)
	var vs []value
	n := sig.Params().Len()
	for i := range tup.Len() {
		pt := sig.Params().At(min(i, n-1)).Type()
		if sig.Variadic() && i >= n-1 {
			pt = pt.(*types.Slice).Elem()
		}
		vs = append(vs, c.convert(c.place(inv.results.At(i).Type(), temps[i]), pt))
	}
	var parts []part
	fixed := n
	if sig.Variadic() {
		fixed--
	}
	for _, v := range vs[:fixed] {
		parts = append(parts, c.part(v))
	}
	if sig.Variadic() {
		t := sig.Params().At(n - 1).Type()
		parts = append(parts, c.pack(vs[fixed:], t, t.(*types.Slice).Elem()))
	}
	first := parts[0].into
	parts[0].into = func(fr *Frame, dst ptr) {
		if pre != nil {
			pre(fr)
		}
		do(fr)
		first(fr, dst)
	}
	return parts
}
