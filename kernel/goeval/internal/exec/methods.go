package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"kafkalab/kernel/goeval/internal/rtype"
)

// resolve finds the method that sel names, in the instance's own types: the path of embedded fields to
// the receiver, and the method.
func (c *compiler) resolve(sel *types.Selection) (path []int, obj *types.Func) {
	index, o := sel.Index(), sel.Obj()
	if len(c.env) > 0 {
		if lo, li, _ := types.LookupFieldOrMethod(c.typ(sel.Recv()), true, o.Pkg(), o.Name()); lo != nil {
			index, o = li, lo
		}
	}
	return index[:len(index)-1], o.(*types.Func)
}

// methodCallee resolves x.m for a call.
func (c *compiler) methodCallee(x value, sel *types.Selection, pos token.Pos) callee {
	path, obj := c.resolve(sel)
	return c.methodOn(c.path(x, path, pos), obj, pos)
}

// methodOn makes the callee for method obj of x.
func (c *compiler) methodOn(x value, obj *types.Func, pos token.Pos) callee {
	sig := c.typ(withoutRecv(obj.Signature())).(*types.Signature)
	if u, ok := x.t.Underlying().(*types.Interface); ok {
		return callee{sig: sig, face: x.ev.(ev[iface]), faceType: x.t, method: methodIndex(u, obj.Name(), c, pos)}
	}
	recv := obj.Signature().Recv().Type()
	_, wantPtr := types.Unalias(recv).(*types.Pointer)
	p, isPtr := x.t.Underlying().(*types.Pointer)
	switch {
	case wantPtr && !isPtr:
		if x.loc == nil {
			c.refuse(pos, "internal error: receiver of %s has no address", obj.Name())
		}
		x = value{t: types.NewPointer(x.t), k: cPtr, ev: c.escaping(*x.loc, pos)}
	case !wantPtr && isPtr:
		x = c.through(x, p.Elem(), pos)
	}
	r := c.part(x)
	if c.m.Space.Local(obj.Pkg()) {
		return callee{sig: sig, recv: &r, fn: c.methodFunc(obj, x.t)}
	}
	if n, ok := types.Unalias(deref(x.t)).(*types.Named); ok && n.Obj().Pkg() != nil {
		if n.TypeArgs().Len() > 0 {
			if src := c.m.Source(obj.Origin()); src != nil {
				return callee{sig: sig, recv: &r, fn: c.methodFunc(src, x.t)}
			}
		}
		if in := c.m.Intrinsic(n.Obj().Pkg().Path(), n.Obj().Name()+"."+obj.Name()); in != nil {
			return callee{sig: sig, recv: &r, intrinsic: in}
		}
	}
	rt := c.rt(x.t)
	m, ok := rt.MethodByName(obj.Name())
	if !ok {
		c.refuse(pos, "method %s of %s is not available in cells", obj.Name(), x.t)
	}
	return callee{sig: sig, recv: &r, compiled: m.Func}
}

func deref(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func withoutRecv(sig *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
}

func methodIndex(u *types.Interface, name string, c *compiler, pos token.Pos) int {
	for i, m := range rtype.SortedMethods(u) {
		if m.Name() == name {
			return i
		}
	}
	c.refuse(pos, "internal error: no method %s", name)
	return 0
}

// methodFunc is the function behind a method of a cell's type; recv tells the type arguments.
func (c *compiler) methodFunc(obj *types.Func, recv types.Type) *Func {
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	named, ok := types.Unalias(recv).(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 {
		return c.m.funcOf(obj)
	}
	origin := obj.Origin()
	env := map[*types.TypeParam]types.Type{}
	params := origin.Signature().RecvTypeParams()
	var args []types.Type
	for i := range params.Len() {
		a := c.typ(named.TypeArgs().At(i))
		env[params.At(i)] = a
		args = append(args, a)
	}
	return c.m.instance(origin, args, env, c.at)
}

// wrapper makes a small function in front of a method: sig is its signature, recv finds the receiver
// in its frame, and the other parameters are handed on.
func (c *compiler) wrapper(name string, sig *types.Signature, skip int, recv func() value, method func(x value) callee) (*code, *fnState) {
	f := c.newFn(name, sig, nil)
	outer := c.fn
	f.outer = nil
	c.fn = f
	defer func() { c.fn = outer }()
	to := method(recv())
	var parts []part
	for i := skip; i < sig.Params().Len(); i++ {
		t := sig.Params().At(i).Type()
		parts = append(parts, c.part(c.place(t, frameLoc(f.params[i]))))
	}
	inv := c.invoke(to, parts, c.at)
	do, temps := c.tuple(inv)
	var moves []stmt
	for i := range sig.Results().Len() {
		t := sig.Results().At(i).Type()
		moves = append(moves, c.ops(t).store(frameLoc(f.slots[i]), c.ops(t).load(temps[i])))
	}
	k := c.finish(f, c.at, func(fr *Frame) ctl {
		do(fr)
		for _, m := range moves {
			m(fr)
		}
		return ctlNext
	})
	k.synthetic = true
	return k, f
}

// methodValue compiles x.m used as a func value: the receiver is evaluated and copied now.
func (c *compiler) methodValue(e *ast.SelectorExpr, sel *types.Selection) value {
	path, obj := c.resolve(sel)
	pos := e.Sel.Pos()
	x := c.path(c.expr(e.X), path, pos)
	if _, isFace := x.t.Underlying().(*types.Interface); !isFace {
		x = c.receiver(x, obj, pos)
	}
	sig := c.typ(withoutRecv(obj.Signature())).(*types.Signature)
	held := loc{kind: locClosure, off: 0}
	k, _ := c.wrapper(obj.Name(), sig, 0,
		func() value { return c.place(x.t, held) },
		func(x value) callee { return c.methodOn(x, obj, pos) })
	k.name = obj.Name()
	fn, ft, rt := &Func{Name: obj.Name(), code: k}, c.funcType(sig), c.rt(x.t)
	into, face := c.ops(x.t).into(x.ev), types.IsInterface(x.t)
	return value{t: c.typeOf(e), k: cPtr, ev: ev[ptr](func(fr *Frame) ptr {
		cell := newOf(rt)
		into(fr, cell)
		if face && *(*ptr)(cell) == nil {
			fr.pos = pos
			nilDeref()
		}
		return (&Closure{fn: fn, clo: []ptr{cell}, ft: ft}).value()
	})}
}

// receiver adjusts x to what method obj takes: its address, or what it points to.
func (c *compiler) receiver(x value, obj *types.Func, pos token.Pos) value {
	_, wantPtr := types.Unalias(obj.Signature().Recv().Type()).(*types.Pointer)
	p, isPtr := x.t.Underlying().(*types.Pointer)
	switch {
	case wantPtr && !isPtr:
		return value{t: types.NewPointer(x.t), k: cPtr, ev: c.escaping(*x.loc, pos)}
	case !wantPtr && isPtr:
		return c.through(x, p.Elem(), pos)
	}
	return x
}

// methodExpr compiles T.m: a func whose first parameter is the receiver.
func (c *compiler) methodExpr(e *ast.SelectorExpr, sel *types.Selection) value {
	path, obj := c.resolve(sel)
	pos := e.Sel.Pos()
	t := c.typeOf(e)
	sig := t.Underlying().(*types.Signature)
	recv := sig.Params().At(0).Type()
	k, _ := c.wrapper(obj.Name(), sig, 1,
		func() value { return c.place(recv, frameLoc(0)) },
		func(x value) callee { return c.methodOn(c.path(x, path, pos), obj, pos) })
	f := (&Closure{fn: &Func{Name: obj.Name(), code: k}, ft: c.funcType(sig)}).value()
	return value{t: t, k: cPtr, ev: ev[ptr](func(*Frame) ptr { return f })}
}

// methodEntry is what compiled code calls for a method of a cell's type: its first argument is the
// data word of an interface value.
func (m *Machine) methodEntry(t types.Type, sel *types.Selection, ft reflect.Type) reflect.Value {
	fn := &Func{Name: sel.Obj().Name()}
	fn.lazy = func() *code { return m.compileEntry(t, sel) }
	sig := entrySignature(sel)
	in, out := frameOffsets(nil, sig)
	types := &funcType{rt: ft, inOff: in, outOff: out}
	for p := range ft.Ins() {
		types.in = append(types.in, p)
	}
	for r := range ft.Outs() {
		types.out = append(types.out, r)
	}
	p := (&Closure{fn: fn, ft: types}).value()
	return valueAt(ft, ptr(&p))
}

func entrySignature(sel *types.Selection) *types.Signature {
	sig := sel.Obj().(*types.Func).Signature()
	if s, ok := sel.Type().(*types.Signature); ok {
		sig = s
	}
	params := []*types.Var{types.NewParam(token.NoPos, nil, "", types.Typ[types.UnsafePointer])}
	for p := range sig.Params().Variables() {
		params = append(params, p)
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}

// compileEntry compiles the bridge from an interface's data word to the method itself.
func (m *Machine) compileEntry(t types.Type, sel *types.Selection) *code {
	c := &compiler{m: m, u: &Unit{}, at: sel.Obj().Pos()}
	index := sel.Index()
	path, obj := index[:len(index)-1], sel.Obj().(*types.Func)
	word := loc{kind: locFrame}
	if _, isPtr := t.(*types.Pointer); !isPtr && !rtype.Direct(m.Space.Of(t)) {
		word = loc{kind: locCell} // the word points to the value
	}
	k, _ := c.wrapper(obj.Name(), entrySignature(sel), 1,
		func() value { return c.place(t, word) },
		func(x value) callee { return c.methodOn(c.entered(c.path(x, path, c.at), obj), obj, c.at) })
	return k
}

// entered checks the receiver of a value method that an interface holds as a pointer.
func (c *compiler) entered(x value, obj *types.Func) value {
	p, isPtr := x.t.Underlying().(*types.Pointer)
	recv := obj.Signature().Recv()
	if _, wantPtr := types.Unalias(recv.Type()).(*types.Pointer); !isPtr || wantPtr || types.IsInterface(p.Elem()) {
		return x
	}
	e, name := x.ev.(ev[ptr]), types.TypeString(p.Elem(), (*types.Package).Name)
	x.ev = ev[ptr](func(fr *Frame) ptr {
		v := e(fr)
		if v == nil {
			panic(plainError("value method " + name + "." + obj.Name() + " called using nil *" + name[strings.LastIndexByte(name, '.')+1:] + " pointer"))
		}
		return v
	})
	return x
}
