package exec

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Generic functions are compiled once per set of type arguments, from their syntax, with the type
// parameters replaced. Instances are compiled when they are first called: they may be endless in
// number otherwise, and refusals belong to the place that asked for the instance.

// Generics declares the functions of a unit whose bodies are compiled on demand: generic ones, and all
// of a package that is given as source.
func (m *Machine) Generics(u *Unit, files []*ast.File, all bool) {
	for _, f := range files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil {
				continue
			}
			obj, ok := u.Info.Defs[fd.Name].(*types.Func)
			if !ok {
				continue
			}
			sig := obj.Signature()
			generic := sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0
			if generic {
				m.decls[obj] = genericDecl{fd, u}
			} else if all {
				fn := m.funcOf(obj)
				fn.lazy = func() *code { return m.compileFunc(u, fd, obj, nil) }
			}
		}
	}
}

// instance is the function for one set of type arguments.
func (m *Machine) instance(obj *types.Func, args []types.Type, env map[*types.TypeParam]types.Type, pos token.Pos) *Func {
	d, ok := m.decls[obj]
	if !ok {
		refuse(pos, "%s", noInstance(obj, args))
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%p", obj)
	for _, a := range args {
		key.WriteString("|" + m.typeKey(a))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.instances[key.String()]; ok {
		return f
	}
	f := &Func{Name: obj.Name()}
	f.lazy = func() *code { return m.compileFunc(d.unit, d.decl, obj, env) }
	m.instances[key.String()] = f
	return f
}

// noInstance says why a generic function of a compiled package cannot be called, and what can.
func noInstance(obj *types.Func, args []types.Type) string {
	return fmt.Sprintf("%s.%s is generic, and cells do not have its source: they cannot make an instance of it for %s",
		obj.Pkg().Name(), obj.Name(), types.TypeString(args[0], (*types.Package).Name))
}

// typeKey tells types apart, also those that print alike.
func (m *Machine) typeKey(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Path() }) + fmt.Sprintf("%p", m.Space.Of(t))
}

// staticInstance resolves a generic function with the type arguments that go/types inferred.
func (c *compiler) staticInstance(obj *types.Func, id *ast.Ident, pos token.Pos) callee {
	inst := c.u.Info.Instances[id]
	if _, ok := c.m.decls[obj]; !ok && !c.m.Space.Local(obj.Pkg()) {
		if src := c.m.Source(obj); src != nil {
			obj = src
		}
	}
	params := obj.Signature().TypeParams()
	env := map[*types.TypeParam]types.Type{}
	var args []types.Type
	for i := range params.Len() {
		a := c.typ(inst.TypeArgs.At(i))
		args = append(args, a)
		env[params.At(i)] = a
	}
	sig := subst(withoutRecv(obj.Signature()), env).(*types.Signature)
	if fn, ok := readyInstance(obj, args); ok {
		return callee{sig: sig, compiled: fn}
	}
	return callee{sig: sig, fn: c.m.instance(obj, args, env, pos)}
}

// isGenericFunc reports whether e names a generic function.
func isGenericFunc(info *types.Info, e ast.Expr) bool {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return false
	}
	f, ok := info.Uses[id].(*types.Func)
	return ok && f.Signature().TypeParams().Len() > 0
}

// funcInstance compiles f[int] used as a value.
func (c *compiler) funcInstance(e ast.Expr, x ast.Expr) value {
	id, obj := c.genericFunc(x)
	if obj == nil {
		c.refuse(e.Pos(), "cells cannot use %s here", types.ExprString(e))
	}
	return c.funcRef(obj, id, e.Pos())
}
