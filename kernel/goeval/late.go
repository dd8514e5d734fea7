package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"unsafe"

	"kafkalab/kernel/goeval/internal/exec"
)

// Methods of types that an earlier cell declared. go/types attaches methods only to types of the files
// it checks, so such a method is checked as a function with the receiver in front, and attached to the
// type by hand before.

// lateMethod is a method declared in a later cell than its type.
type lateMethod struct {
	decl   *ast.FuncDecl // the function with the receiver in front
	method *types.Func
	fn     *types.Func  // what go/types made of decl
	added  *types.Named // the type that did not have the method before; nil if only the body is new
}

// late takes d over if it is a late method.
func (b *builder) late(d *ast.FuncDecl) (bool, *problem) {
	name := recvBase(d)
	old := elems(b.e.pkg.Scope())[name]
	if _, here := b.defined[name]; here || old == nil {
		return false, nil
	}
	named, ok := old.Type().(*types.Named)
	if !ok || old.Pkg() != b.e.pkg {
		return false, nil
	}
	if named.TypeParams().Len() > 0 {
		panic(&exec.Refusal{Pos: d.Pos(), Msg: "generic type " + name + " was declared in an earlier cell: declare it in this cell again, together with its methods"})
	}
	sig, prob := b.lateSignature(d)
	if prob != nil {
		return true, prob
	}
	m := &lateMethod{method: methodOf(named, d.Name.Name)}
	if m.method != nil {
		was := m.method.Signature()
		if !types.Identical(was.Recv().Type(), sig.Recv().Type()) || !types.Identical(was, sig) {
			panic(&exec.Refusal{Pos: d.Pos(), Msg: "method " + name + "." + d.Name.Name + " has another signature in an earlier cell: declare the type in this cell again, together with its methods"})
		}
	} else {
		if s, isStruct := named.Underlying().(*types.Struct); isStruct {
			for f := range s.Fields() {
				if f.Name() == d.Name.Name {
					return true, &problem{d.Name.Pos(), "field and method with the same name " + d.Name.Name}
				}
			}
		}
		m.method, m.added = types.NewFunc(d.Name.Pos(), b.e.pkg, d.Name.Name, sig), named
		named.AddMethod(m.method)
	}
	m.decl = asFunction(d, name)
	b.early[m.decl.Name.Name] = true
	b.c.late = append(b.c.late, m)
	b.file.Decls = append(b.file.Decls, m.decl)
	return true, nil
}

// asFunction is the function with d's receiver as its first parameter.
func asFunction(d *ast.FuncDecl, recv string) *ast.FuncDecl {
	params := append([]*ast.Field{}, d.Recv.List...)
	if len(params[0].Names) == 0 && d.Type.Params.NumFields() > 0 && len(d.Type.Params.List[0].Names) > 0 {
		params[0] = &ast.Field{Names: []*ast.Ident{{NamePos: params[0].Pos(), Name: "_"}}, Type: params[0].Type}
	}
	list := append(params, d.Type.Params.List...)
	if len(params[0].Names) > 0 && d.Type.Params.NumFields() > 0 && len(d.Type.Params.List[0].Names) == 0 {
		list = params
		for _, f := range d.Type.Params.List {
			list = append(list, &ast.Field{Names: []*ast.Ident{{NamePos: f.Pos(), Name: "_"}}, Type: f.Type})
		}
	}
	return &ast.FuncDecl{
		Name: &ast.Ident{NamePos: d.Name.Pos(), Name: recv + early + d.Name.Name},
		Type: &ast.FuncType{Func: d.Type.Func, Params: &ast.FieldList{Opening: d.Type.Params.Opening, List: list, Closing: d.Type.Params.Closing}, Results: d.Type.Results},
		Body: d.Body,
	}
}

// lateSignature evaluates the method's type in the scope of the session.
func (b *builder) lateSignature(d *ast.FuncDecl) (*types.Signature, *problem) {
	scope := elems(b.e.pkg.Scope())
	var inserted []string
	defer func() {
		for _, name := range inserted {
			delete(scope, name)
		}
	}()
	var prob *problem
	ast.Inspect(&ast.FuncType{Params: d.Type.Params, Results: d.Type.Results}, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || prob != nil {
			return prob == nil
		}
		if _, here := b.defined[id.Name]; here && scope[id.Name] == nil {
			prob = &problem{id.Pos(), "cells cannot use " + id.Name + ", which this cell declares, in a method of a type of an earlier cell: declare the type here again, too"}
		}
		if path, ok := b.importFor(id.Name); ok && scope[id.Name] == nil {
			if pkg, err := b.e.imp.Import(path); err == nil {
				scope[id.Name] = types.NewPkgName(token.NoPos, b.e.pkg, id.Name, pkg)
				inserted = append(inserted, id.Name)
			}
		}
		return true
	})
	if prob != nil {
		return nil, prob
	}
	f := asFunction(d, "m")
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if err := types.CheckExpr(b.e.fset, b.e.pkg, token.NoPos, f.Type, info); err != nil {
		if te, ok := err.(types.Error); ok {
			return nil, &problem{te.Pos, te.Msg}
		}
		return nil, &problem{d.Pos(), err.Error()}
	}
	sig := info.Types[f.Type].Type.(*types.Signature)
	var params []*types.Var
	for i := 1; i < sig.Params().Len(); i++ {
		params = append(params, sig.Params().At(i))
	}
	return types.NewSignatureType(sig.Params().At(0), nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic()), nil
}

// importFor is the import path that name stands for in this cell.
func (b *builder) importFor(name string) (string, bool) {
	if p, ok := b.e.names[name]; ok {
		return p, true
	}
	p, ok := b.e.imp.names[name]
	return p, ok
}

func methodOf(t *types.Named, name string) *types.Func {
	for m := range t.Methods() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// dropMethod takes back AddMethod, for a cell that failed.
func dropMethod(t *types.Named, m *types.Func) {
	f := reflect.ValueOf(t).Elem().FieldByName("methods")
	list := (*[]*types.Func)(unsafe.Pointer(f.UnsafeAddr()))
	for i, x := range *list {
		if x == m {
			*list = append((*list)[:i:i], (*list)[i+1:]...)
			return
		}
	}
}

// Types declared again with the same text stay the same type, so that running a cell twice does not
// make strangers of the values that it made the first time.

// typeDecl is a type that a cell declared.
type typeDecl struct {
	text string
	obj  types.Object
	deps map[string]types.Object // what the names in it meant
}

// keepTypes finds the type declarations of the cell that change nothing.
func (b *builder) keepTypes() map[*ast.TypeSpec]bool {
	keep := map[*ast.TypeSpec]bool{}
	names := map[string]bool{} // what the cell declares, apart from kept types
	for _, d := range b.c.decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				case *ast.TypeSpec:
					if b.unchanged(s) {
						keep[s] = true
					} else {
						names[s.Name.Name] = true
					}
				}
			}
		}
	}
	for again := true; again; {
		again = false
		for s := range keep {
			if uses(s.Type, names) {
				delete(keep, s)
				names[s.Name.Name], again = true, true
			}
		}
	}
	return keep
}

func uses(n ast.Node, names map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

func (b *builder) unchanged(s *ast.TypeSpec) bool {
	t := b.e.types[s.Name.Name]
	scope := elems(b.e.pkg.Scope())
	if t == nil || s.TypeParams != nil || scope[s.Name.Name] != t.obj || t.text != b.textOf(s) {
		return false
	}
	for name, obj := range t.deps {
		if scope[name] != obj {
			return false
		}
	}
	return true
}

func (b *builder) textOf(n ast.Node) string {
	from, to := b.offset(n.Pos())-prefixLen, b.offset(n.End())-prefixLen
	if from < 0 || to > len(b.c.src.text) {
		return strconv.Itoa(int(n.Pos()))
	}
	return b.c.src.text[from:to]
}

// remember notes the types of a cell that has passed the checker.
func (b *builder) remember() {
	scope := elems(b.e.pkg.Scope())
	for _, d := range b.c.decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			s := spec.(*ast.TypeSpec)
			t := &typeDecl{text: b.textOf(s), obj: scope[s.Name.Name], deps: map[string]types.Object{}}
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					t.deps[id.Name] = scope[id.Name]
				}
				return true
			})
			b.e.types[s.Name.Name] = t
		}
	}
}
