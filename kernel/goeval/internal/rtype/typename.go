package rtype

import (
	"go/types"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// naming is how a type is written: as %T shows it, or as it stands among the type arguments of a name, where
// the linker tells types apart: with whole package paths, and more of them.
type naming bool

const (
	shown naming = false
	link  naming = true
)

func (n naming) pkg(p *types.Package) string {
	if n == link {
		return p.Path()
	}
	return p.Name()
}

// text is the compiler's name of a type.
func (n naming) text(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return "unsafe.Pointer"
		}
		return types.Typ[t.Kind()].Name()
	case *types.Named:
		return n.named(t)
	case *types.Pointer:
		return "*" + n.text(t.Elem())
	case *types.Slice:
		return "[]" + n.text(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + n.text(t.Elem())
	case *types.Map:
		return "map[" + n.text(t.Key()) + "]" + n.text(t.Elem())
	case *types.Chan:
		return chanText(t, n.text)
	case *types.Signature:
		return "func" + signatureText(t, n.text)
	case *types.Struct:
		return n.structure(t)
	case *types.Interface:
		return n.iface(t)
	}
	return t.String()
}

// ArgumentText is the name of a type argument inside the compiler's name of an instance.
func ArgumentText(t types.Type) string { return link.text(t) }

// numbers are the places of the types that functions declare among all such types of their package.
var numbers sync.Map // *types.TypeName to int

// SetNumber says that obj is the n-th type, from 1, that a function of its package declares. The compiler
// writes the number where such a type is a type argument.
func SetNumber(obj *types.TypeName, n int) { numbers.Store(obj, n) }

// SameNumber gives obj the number of of, of which it is an instance.
func SameNumber(obj, of *types.TypeName) {
	if n, ok := numbers.Load(of); ok {
		numbers.Store(obj, n)
	}
}

func (n naming) named(t *types.Named) string {
	if t.Obj().Pkg() == nil {
		return t.Obj().Name()
	}
	name := n.pkg(t.Obj().Pkg()) + "." + t.Obj().Name()
	if number, ok := numbers.Load(t.Obj()); ok && n == link {
		name += "·" + strconv.Itoa(number.(int))
	}
	if t.TypeArgs().Len() == 0 {
		return name
	}
	var args []string
	for a := range t.TypeArgs().Types() {
		args = append(args, link.text(a))
	}
	return name + "[" + strings.Join(args, ",") + "]"
}

func chanText(t *types.Chan, text func(types.Type) string) string {
	elem := text(t.Elem())
	switch t.Dir() {
	case types.SendOnly:
		return "chan<- " + elem
	case types.RecvOnly:
		return "<-chan " + elem
	}
	if c, ok := types.Unalias(t.Elem()).(*types.Chan); ok && c.Dir() == types.RecvOnly {
		return "chan (" + elem + ")"
	}
	return "chan " + elem
}

func signatureText(t *types.Signature, text func(types.Type) string) string {
	var in, out []string
	for i := range t.Params().Len() {
		p := t.Params().At(i).Type()
		if s, ok := p.(*types.Slice); ok && t.Variadic() && i == t.Params().Len()-1 {
			in = append(in, "..."+text(s.Elem()))
			continue
		}
		in = append(in, text(p))
	}
	for r := range t.Results().Variables() {
		out = append(out, text(r.Type()))
	}
	s := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return s
	case 1:
		return s + " " + out[0]
	}
	return s + " (" + strings.Join(out, ", ") + ")"
}

func (n naming) structure(t *types.Struct) string {
	if t.NumFields() == 0 {
		return "struct {}"
	}
	var fields []string
	for i := range t.NumFields() {
		f := t.Field(i)
		s := n.text(f.Type())
		name := f.Name()
		if n == link && !f.Exported() {
			name = f.Pkg().Path() + "." + name
		}
		switch {
		case !f.Embedded():
			s = name + " " + s
		case n == link && !namesItself(f):
			s = name + " = " + s
		}
		if tag := t.Tag(i); tag != "" {
			s += " " + strconv.Quote(tag)
		}
		fields = append(fields, s)
	}
	return "struct { " + strings.Join(fields, "; ") + " }"
}

// namesItself reports whether an embedded field has the very name of its type, as the linker knows it: an alias,
// an instance and a type of a function have not.
func namesItself(f *types.Var) bool {
	t := types.Unalias(f.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.TypeArgs().Len() > 0 || named.Obj().Name() != f.Name() {
		return false
	}
	_, local := numbers.Load(named.Obj())
	return !local && (f.Exported() || named.Obj().Pkg() == f.Pkg())
}

func (n naming) iface(t *types.Interface) string {
	if t.NumMethods() == 0 {
		return "interface {}"
	}
	var ms []string
	for m := range t.Methods() {
		name := m.Name()
		if !m.Exported() {
			name = n.pkg(m.Pkg()) + "." + name
		}
		ms = append(ms, name+signatureText(m.Signature(), n.text))
	}
	sort.Strings(ms)
	return "interface { " + strings.Join(ms, "; ") + " }"
}
