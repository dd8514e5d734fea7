package exec

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// compiler turns the syntax of one function into closures.
type compiler struct {
	m       *Machine
	u       *Unit
	env     map[*types.TypeParam]types.Type // type arguments inside an instance of a generic function
	fn      *fnState
	at      token.Pos         // where a refusal is reported
	calling map[ast.Expr]bool // whether an expression calls a function
}

// fnState is the function being compiled.
type fnState struct {
	at      token.Pos
	outer   *fnState
	name    string
	sig     *types.Signature
	size    uintptr
	align   uintptr
	mask    rtype.Mask
	vars    map[*types.Var]loc
	escapes map[*types.Var]bool
	caps    []*types.Var
	capIdx  map[*types.Var]int
	results []loc // where results are while the body runs
	slots   []uintptr
	params  []uintptr
	defers  bool
	targets []*jump
	labels  map[string]*target
	hoisted map[ast.Expr]loc
	quiet   *ast.CompositeLit       // the last literal without calls
	retyped map[ast.Expr]types.Type // types of hoisted operands that were converted
	lifted  []ast.Expr              // what is in hoisted by now, in the order of hoisting
	code    *code
}

// value is a compiled expression.
type value struct {
	t   types.Type
	k   class
	ev  any
	c   constant.Value // set for constants; ev is then nil until the type is known
	loc *loc           // set for variables in memory
	nil bool
}

func (c *compiler) refuse(pos token.Pos, format string, args ...any) {
	refuse(pos, format, args...)
}

// typ replaces type parameters by the type arguments of the instance being compiled.
func (c *compiler) typ(t types.Type) types.Type {
	if len(c.env) == 0 || t == nil {
		return t
	}
	return subst(t, c.env)
}

func (c *compiler) typeOf(e ast.Expr) types.Type { return c.typ(c.u.Info.TypeOf(e)) }

// rt is the run-time type of t; a type that cannot be made refuses the program.
func (c *compiler) rt(t types.Type) reflect.Type {
	defer func() {
		if r := recover(); r != nil {
			if no, ok := r.(*rtype.Refused); ok {
				c.refuse(c.at, "cells cannot use %v", no)
			}
			panic(r)
		}
	}()
	r := c.m.Space.Of(t)
	if r.Size() > c.m.MaxAlloc {
		c.refuse(c.at, "cells cannot use type %s: a value of it takes %d MiB", t, r.Size()>>20)
	}
	return r
}

func (c *compiler) ops(t types.Type) ops {
	k := classOf(t)
	if k == cMem {
		return newMemory(c.rt(t), func() uintptr { return c.fn.alloc(t) })
	}
	if k == cNone {
		c.refuse(c.at, "cells cannot use a value of type %s", t)
	}
	return scalars[k]
}

// alloc takes room for a t in the frame.
func (f *fnState) alloc(t types.Type) uintptr {
	size, align := uintptr(rtype.Sizes.Sizeof(t)), uintptr(rtype.Sizes.Alignof(t))
	off := (f.size + align - 1) &^ (align - 1)
	f.size = off + size
	if size > mostFrame || f.size > mostFrame {
		name := f.name
		if name == "cell" {
			name = "the cell"
		}
		refuse(f.at, "the variables of %s take more than 1 GiB: make them slices", name)
	}
	f.mask.AddType(off, t)
	return off
}

// mostFrame bounds the variables of a function, as the compiler's limit for a stack frame does.
const mostFrame = 1 << 30

func (f *fnState) allocPtr() uintptr { return f.alloc(types.Typ[types.UnsafePointer]) }

// temp takes an unnamed variable.
func (c *compiler) temp(t types.Type) loc { return frameLoc(c.fn.alloc(t)) }

// newFn begins a function whose frame starts with params, then results.
func (c *compiler) newFn(name string, sig *types.Signature, recv *types.Var) *fnState {
	f := &fnState{
		at: c.at, outer: c.fn, name: name, sig: sig, vars: map[*types.Var]loc{}, capIdx: map[*types.Var]int{},
		labels: map[string]*target{}, hoisted: map[ast.Expr]loc{}, retyped: map[ast.Expr]types.Type{},
	}
	if recv != nil {
		f.params = append(f.params, f.alloc(recv.Type()))
	}
	for p := range sig.Params().Variables() {
		f.params = append(f.params, f.alloc(p.Type()))
	}
	for r := range sig.Results().Variables() {
		f.slots = append(f.slots, f.alloc(r.Type()))
	}
	return f
}

// frameOffsets are the places of parameters and results that every caller of sig can compute.
func frameOffsets(recv types.Type, sig *types.Signature) (in, out []uintptr) {
	var f fnState
	if recv != nil {
		in = append(in, f.alloc(recv))
	}
	for p := range sig.Params().Variables() {
		in = append(in, f.alloc(p.Type()))
	}
	for r := range sig.Results().Variables() {
		out = append(out, f.alloc(r.Type()))
	}
	return in, out
}

// finish makes the code of the function.
func (c *compiler) finish(f *fnState, pos token.Pos, body stmt) *code {
	k := &code{name: f.name, pos: pos, body: body, hasDefer: f.defers, machine: c.m}
	k.pointers = f.mask.Offsets()
	if f.size > 0 {
		k.frame = frameType(f.size, &f.mask)
	}
	i := 0
	for r := range f.sig.Results().Variables() {
		k.results = append(k.results, resultSlot{f.slots[i], uintptr(rtype.Sizes.Sizeof(r.Type()))})
		i++
	}
	return k
}

// declare makes room for a variable of the function and says where it is.
func (c *compiler) declare(v *types.Var) loc {
	f := c.fn
	var l loc
	if f.escapes[v] {
		l = loc{kind: locCell, off: f.allocPtr()}
	} else {
		l = frameLoc(f.alloc(c.typ(v.Type())))
	}
	f.vars[v] = l
	return l
}

// fresh makes the statement that gives an escaping variable a new cell; nil for others.
func (c *compiler) fresh(v *types.Var, l loc) func(*Frame) {
	if l.kind != locCell {
		return nil
	}
	rt, off := c.rt(c.typ(v.Type())), l.off
	return func(fr *Frame) { *(*ptr)(unsafe.Add(fr.mem, off)) = newOf(rt) }
}

// varLoc finds a variable: of this function, of one around it, of the session, or compiled.
func (c *compiler) varLoc(v *types.Var, pos token.Pos) loc {
	if l, ok := c.lookup(c.fn, v); ok {
		return l
	}
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && !c.m.Space.Local(v.Pkg()) {
		sym, ok := c.m.Symbol(v.Pkg().Path(), v.Name())
		if !ok || !sym.CanAddr() {
			c.refuse(pos, "%s.%s is not available in cells", v.Pkg().Name(), v.Name())
		}
		return loc{kind: locGlobal, p: sym.Addr().UnsafePointer()}
	}
	c.rt(v.Type()) // refused at its place
	return loc{kind: locGlobal, p: c.m.Global(v)}
}

func (c *compiler) lookup(f *fnState, v *types.Var) (loc, bool) {
	if f == nil {
		return loc{}, false
	}
	if l, ok := f.vars[v]; ok {
		return l, true
	}
	if i, ok := f.capIdx[v]; ok {
		return loc{kind: locClosure, off: uintptr(i)}, true
	}
	if _, ok := c.lookup(f.outer, v); !ok {
		return loc{}, false
	}
	i := len(f.caps)
	f.caps = append(f.caps, v)
	f.capIdx[v] = i
	return loc{kind: locClosure, off: uintptr(i)}, true
}

// cellPtr computes the pointer to the cell of a captured variable.
func (c *compiler) cellPtr(v *types.Var) ev[ptr] {
	l, ok := c.lookup(c.fn, v)
	if !ok || l.kind == locFrame {
		c.refuse(v.Pos(), "internal error: %s is captured but has no cell", v.Name())
	}
	return l.address()
}

// place makes a value that lies at l.
func (c *compiler) place(t types.Type, l loc) value {
	return value{t: t, k: classOf(t), ev: c.ops(t).load(l), loc: &l}
}
