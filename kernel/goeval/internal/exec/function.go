package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

// compileFunc compiles a declared function or method.
func (m *Machine) compileFunc(u *Unit, d *ast.FuncDecl, obj *types.Func, env map[*types.TypeParam]types.Type) *code {
	c := &compiler{m: m, u: u, env: env, at: d.Pos()}
	sig := obj.Signature()
	var recv *types.Var
	if sig.Recv() != nil {
		recv = types.NewParam(sig.Recv().Pos(), sig.Recv().Pkg(), "", c.typ(sig.Recv().Type()))
	}
	name := strings.Replace(obj.Name(), "·", ".", 1)
	if recv != nil {
		name = recvName(recv.Type()) + "." + name
	}
	f := c.newFn(name, c.typ(withoutRecv(sig)).(*types.Signature), recv)
	f.escapes = escapes(u.Info, d.Body)
	c.fn = f
	vars := []*types.Var{}
	if recv != nil {
		vars = append(vars, sig.Recv())
	}
	for p := range sig.Params().Variables() {
		vars = append(vars, p)
	}
	body := c.functionBody(vars, sig.Results(), d.Body)
	k := c.finish(f, d.Pos(), body)
	k.finish = c.resultMover()
	return k
}

func recvName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		return "(*" + recvName(p.Elem()) + ")"
	}
	return types.TypeString(t, func(*types.Package) string { return "" })
}

// CompileFunc compiles a function of a cell; bind makes its callers run it.
func (m *Machine) CompileFunc(u *Unit, d *ast.FuncDecl, obj *types.Func) (bind func()) {
	k := m.compileFunc(u, d, obj, nil)
	fn := m.funcOf(obj)
	return func() { fn.code = k }
}

// functionBody compiles a body whose parameters are vars, in the order of the frame.
func (c *compiler) functionBody(vars []*types.Var, results *types.Tuple, body *ast.BlockStmt) stmt {
	f := c.fn
	var entry []func(*Frame)
	for i, v := range vars {
		if v.Name() == "" || v.Name() == "_" {
			continue
		}
		if !f.escapes[v] {
			f.vars[v] = frameLoc(f.params[i])
			continue
		}
		l := c.declare(v)
		fresh, t := c.fresh(v, l), c.typ(v.Type())
		set := c.ops(t).store(l, c.ops(t).load(frameLoc(f.params[i])))
		entry = append(entry, fresh, func(fr *Frame) { set(fr) })
	}
	i := 0
	for v := range results.Variables() {
		l := frameLoc(f.slots[i])
		if f.escapes[v] {
			l = c.declare(v)
			entry = append(entry, c.fresh(v, l))
		} else {
			f.vars[v] = l
		}
		f.results = append(f.results, l)
		i++
	}
	f.defers = hasDefer(body)
	block := c.block(body.List)
	if len(entry) == 0 {
		return block
	}
	return func(fr *Frame) ctl {
		for _, e := range entry {
			e(fr)
		}
		return block(fr)
	}
}

// resultMover copies captured results into their slots at the end of a call.
func (c *compiler) resultMover() func(*Frame) {
	f := c.fn
	var moves []stmt
	for i, l := range f.results {
		if l.kind == locCell {
			t := f.sig.Results().At(i).Type()
			moves = append(moves, c.ops(t).store(frameLoc(f.slots[i]), c.ops(t).load(l)))
		}
	}
	if moves == nil {
		return nil
	}
	return func(fr *Frame) {
		for _, m := range moves {
			m(fr)
		}
	}
}

// literal compiles a function literal: its code, and how to collect the cells it captures.
func (c *compiler) literal(e *ast.FuncLit) (fn *Func, cells []ev[ptr]) {
	osig := c.u.Info.TypeOf(e).(*types.Signature)
	f := c.newFn("func literal", c.typ(osig).(*types.Signature), nil)
	f.escapes = c.fn.escapes
	outer := c.fn
	c.fn = f
	var vars []*types.Var
	for p := range osig.Params().Variables() {
		vars = append(vars, p)
	}
	body := c.functionBody(vars, osig.Results(), e.Body)
	k := c.finish(f, e.Pos(), body)
	k.finish = c.resultMover()
	c.fn = outer
	for _, v := range f.caps {
		cells = append(cells, c.cellPtr(v))
	}
	return &Func{Name: f.name, code: k}, cells
}

func collect(fr *Frame, cells []ev[ptr]) []ptr {
	if len(cells) == 0 {
		return nil
	}
	clo := make([]ptr, len(cells))
	for i, cell := range cells {
		clo[i] = cell(fr)
	}
	return clo
}

func (c *compiler) funcLit(e *ast.FuncLit) value {
	fn, cells := c.literal(e)
	t := c.typeOf(e)
	ft := c.funcType(t.Underlying().(*types.Signature))
	return value{t: t, k: cPtr, ev: ev[ptr](func(fr *Frame) ptr {
		return (&Closure{fn: fn, clo: collect(fr, cells), ft: ft}).value()
	})}
}

// literalCallee is a literal called where it stands: no func value is made.
func (c *compiler) literalCallee(e *ast.FuncLit) callee {
	fn, cells := c.literal(e)
	return callee{sig: c.typeOf(e).(*types.Signature), fn: fn, cells: cells}
}

// funcType is what package reflect needs to know of sig.
func (c *compiler) funcType(sig *types.Signature) *funcType {
	ft := &funcType{rt: c.rt(sig)}
	ft.inOff, ft.outOff = frameOffsets(nil, sig)
	for p := range ft.rt.Ins() {
		ft.in = append(ft.in, p)
	}
	for r := range ft.rt.Outs() {
		ft.out = append(ft.out, r)
	}
	return ft
}

// funcRef compiles a declared function used as a value. The value is the function as it is now.
func (c *compiler) funcRef(obj *types.Func, id *ast.Ident, pos token.Pos) value {
	to := c.static(obj, id, pos)
	v := value{t: to.sig, k: cPtr}
	if inst, ok := c.u.Info.Instances[id]; ok {
		v.t = c.typ(inst.Type)
	}
	if to.fn != nil {
		ft, fn := c.funcType(to.sig), to.fn
		v.ev = ev[ptr](func(*Frame) ptr {
			now := &Func{Name: fn.Name, code: fn.body()}
			return (&Closure{fn: now, ft: ft}).value()
		})
		return v
	}
	if to.intrinsic != nil {
		m, in := c.m, to.intrinsic
		f := reflect.MakeFunc(c.rt(to.sig), func(args []reflect.Value) []reflect.Value {
			return in(&Call{Machine: m, Run: m.Current()}, args)
		}).Interface()
		v.ev = fixed((*[2]ptr)(unsafe.Pointer(&f))[1])
		return v
	}
	f := to.compiled.Interface()
	v.ev = fixed((*[2]ptr)(unsafe.Pointer(&f))[1])
	return v
}
