package rtype

import (
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// typeText is the compiler's name of a type, as %T shows it; packages are named by qual.
func typeText(t types.Type, qual func(*types.Package) string) string {
	text := func(t types.Type) string { return typeText(t, qual) }
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return "unsafe.Pointer"
		}
		return types.Typ[t.Kind()].Name()
	case *types.Named:
		return namedText(t, qual)
	case *types.Pointer:
		return "*" + text(t.Elem())
	case *types.Slice:
		return "[]" + text(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + text(t.Elem())
	case *types.Map:
		return "map[" + text(t.Key()) + "]" + text(t.Elem())
	case *types.Chan:
		return chanText(t, text)
	case *types.Signature:
		return "func" + signatureText(t, text)
	case *types.Struct:
		return structText(t, text)
	case *types.Interface:
		return interfaceText(t, qual)
	}
	return t.String()
}

// ArgumentText is the name of a type argument inside the compiler's name of an instance.
func ArgumentText(t types.Type) string { return typeText(t, (*types.Package).Path) }

func namedText(t *types.Named, qual func(*types.Package) string) string {
	if t.Obj().Pkg() == nil {
		return t.Obj().Name()
	}
	name := qual(t.Obj().Pkg()) + "." + t.Obj().Name()
	if t.TypeArgs().Len() == 0 {
		return name
	}
	var args []string
	for a := range t.TypeArgs().Types() {
		args = append(args, typeText(a, (*types.Package).Path)) // arguments always have the whole path
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

func structText(t *types.Struct, text func(types.Type) string) string {
	if t.NumFields() == 0 {
		return "struct {}"
	}
	var fields []string
	for i := range t.NumFields() {
		f := t.Field(i)
		s := text(f.Type())
		if !f.Embedded() {
			s = f.Name() + " " + s
		}
		if tag := t.Tag(i); tag != "" {
			s += " " + strconv.Quote(tag)
		}
		fields = append(fields, s)
	}
	return "struct { " + strings.Join(fields, "; ") + " }"
}

func interfaceText(t *types.Interface, qual func(*types.Package) string) string {
	if t.NumMethods() == 0 {
		return "interface {}"
	}
	var ms []string
	for m := range t.Methods() {
		name := m.Name()
		if !m.Exported() {
			name = qual(m.Pkg()) + "." + name
		}
		ms = append(ms, name+signatureText(m.Signature(), func(t types.Type) string { return typeText(t, qual) }))
	}
	sort.Strings(ms)
	return "interface { " + strings.Join(ms, "; ") + " }"
}
