package rtype

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"testing"
	"unsafe"
)

const source = `package main
type Mon int
func (m Mon) String() string { return "" }
type P struct { X, y int; next *P; byName map[string]P }
func (p P) String() string { return "" }
func (p *P) Error() string { return "" }
type In struct{ N int }
func (In) Who() string { return "" }
type Out struct { In; S []Out }
type Tree []Tree
type F func(F) F
type Shape interface { Area() float64; hide() }
type One struct{ p *int }
func (One) String() string { return "" }
type J struct { A int ` + "`json:\"a\"`" + `; b int }
`

func check(t *testing.T) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("main", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func newTestSpace(t *testing.T) (*Space, *types.Package) {
	pkg := check(t)
	s := NewSpace()
	s.Local = func(p *types.Package) bool { return p == pkg }
	s.Method = func(t types.Type, sel *types.Selection, ft reflect.Type) reflect.Value {
		return reflect.MakeFunc(ft, func(args []reflect.Value) []reflect.Value {
			p := args[0].Interface().(unsafe.Pointer)
			return []reflect.Value{reflect.ValueOf(fmt.Sprintf("%s.%s %d", t, sel.Obj().Name(), *(*int)(p)))}
		})
	}
	return s, pkg
}

func typ(s *Space, pkg *types.Package, name string) reflect.Type {
	return s.Of(pkg.Scope().Lookup(name).Type())
}

func TestNamedTypes(t *testing.T) {
	if !Usable() {
		t.Fatal("the layout of descriptors has changed: update abi.go")
	}
	s, pkg := newTestSpace(t)
	mon := reflect.New(typ(s, pkg, "Mon")).Elem()
	mon.SetInt(3)
	p := reflect.New(typ(s, pkg, "P"))
	p.Elem().Field(0).SetInt(7)
	j := reflect.New(typ(s, pkg, "J")).Elem()
	j.Field(0).SetInt(5)
	out := reflect.New(typ(s, pkg, "Out")).Elem()
	data, _ := json.Marshal(j.Interface())
	one := reflect.New(typ(s, pkg, "One")).Elem()
	seven := 7
	*(**int)(one.Addr().UnsafePointer()) = &seven
	got := fmt.Sprintf("%v %d %T|%v %T|%v %T|%+v %s %#v|%v|%v", mon.Interface(), mon.Interface(), mon.Interface(),
		p.Elem().Interface(), p.Elem().Interface(), p.Interface().(error).Error(), p.Interface(),
		j.Interface(), data, j.Interface(), out.Interface(), one.Interface())
	want := `main.Mon.String 3 3 main.Mon|main.P.String 7 main.P|*main.P.Error 7 *main.P|` +
		`{A:5 b:0} {"a":5} main.J{A:5, b:0}|{{0} []}|main.One.String 7`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for range 5 {
		runtime.GC()
	}
	if fmt.Sprint(p.Interface()) != "*main.P.Error 7" {
		t.Error("lost after a collection")
	}
}

func TestRecursiveTypes(t *testing.T) {
	s, pkg := newTestSpace(t)
	tree := typ(s, pkg, "Tree")
	if tree.Elem() != tree || tree.String() != "main.Tree" {
		t.Errorf("Tree is %v of %v", tree, tree.Elem())
	}
	f := typ(s, pkg, "F")
	if f.In(0) != f || f.Out(0) != f {
		t.Errorf("F is %v", f)
	}
	out := typ(s, pkg, "Out")
	if m, ok := out.MethodByName("Who"); !ok || m.Type.String() != "func(main.Out) string" {
		t.Errorf("Out lacks the promoted method: %v", m)
	}
	shape := typ(s, pkg, "Shape")
	if shape.NumMethod() != 2 || shape.Kind() != reflect.Interface {
		t.Errorf("Shape is %v", shape)
	}
}
