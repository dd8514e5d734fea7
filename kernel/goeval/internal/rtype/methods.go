package rtype

import (
	"go/types"
	"reflect"
	"sort"
	"unsafe"
)

// methodsOf lists t's method set in the order of descriptors: exported names first, each by name.
func (s *Space) methodsOf(t types.Type) []*types.Selection {
	if types.IsInterface(t) {
		return nil
	}
	var sels []*types.Selection
	for sel := range types.NewMethodSet(t).Methods() {
		if sel.Obj().Exported() || s.Local(sel.Obj().Pkg()) { // others cannot be called from here
			sels = append(sels, sel)
		}
	}
	sort.SliceStable(sels, func(i, j int) bool {
		a, b := sels[i].Obj(), sels[j].Obj()
		if a.Exported() != b.Exported() {
			return a.Exported()
		}
		return a.Name() < b.Name()
	})
	return sels
}

// uncommon fills the method table. The bodies come last, when every type is known.
func (s *Space) uncommon(u *abiUncommon, moff uintptr, pkg *types.Package, t types.Type, mset []*types.Selection) {
	for _, m := range mset {
		if pkg == nil && !m.Obj().Exported() {
			pkg = m.Obj().Pkg() // a type without a name, with promoted methods
		}
	}
	if pkg != nil {
		u.pkgPath = newName(pkg.Path(), "", false, false).off()
	}
	u.mcount = uint16(len(mset))
	for _, m := range mset {
		if m.Obj().Exported() {
			u.xcount++
		}
	}
	u.moff = uint32(moff)
	if len(mset) == 0 {
		return
	}
	table := unsafe.Slice((*abiMethod)(unsafe.Add(unsafe.Pointer(u), moff)), len(mset))
	for i, sel := range mset {
		table[i].name = newName(sel.Obj().Name(), "", sel.Obj().Exported(), false).off()
		s.later = append(s.later, func() { s.bindMethod(&table[i], t, sel) })
	}
}

func (s *Space) bindMethod(m *abiMethod, t types.Type, sel *types.Selection) {
	sig := sel.Obj().(*types.Func).Signature()
	if ssig, ok := sel.Type().(*types.Signature); ok {
		sig = ssig
	}
	in, out := s.tuple(sig.Params()), s.tuple(sig.Results())
	mt := reflect.FuncOf(in, out, sig.Variadic())
	m.mtyp = typeOff(addReflectOff(Word(mt)))
	entry := reflect.FuncOf(append([]reflect.Type{reflect.TypeFor[unsafe.Pointer]()}, in...), out, sig.Variadic())
	body := s.Method(t, sel, entry)
	stub, ok := newStub(body)
	if !ok {
		panic(&Refused{t.String(), "the session has used up its methods (re-run the notebook from the start)"})
	}
	m.ifn = textOff(addReflectOff(stub))
	m.tfn = m.ifn
	if _, ptr := t.(*types.Pointer); !ptr && !IsDirect(t) && sel.Obj().Exported() {
		m.tfn = textOff(addReflectOff(byValue(s.of(t), body, in, out, sig.Variadic())))
	}
}

// byValue is the code behind reflect's Type.Method(i).Func of a value method: the receiver arrives as an
// argument, not as a pointer to it.
func byValue(recv reflect.Type, body reflect.Value, in, out []reflect.Type, variadic bool) unsafe.Pointer {
	ft := reflect.FuncOf(append([]reflect.Type{recv}, in...), out, variadic)
	call := body.Call
	if variadic {
		call = body.CallSlice
	}
	stub, ok := newSpareStub(reflect.MakeFunc(ft, func(args []reflect.Value) []reflect.Value {
		p := reflect.New(recv)
		p.Elem().Set(args[0])
		args[0] = reflect.ValueOf(p.UnsafePointer())
		return call(args)
	}))
	if !ok {
		return noFunc
	}
	return stub
}

// noFunc stands for such code when it has become scarce.
var noFunc = codeOf(func() {
	panic("reflect: Method(i).Func of a value method is not there: the session has declared very many types; use Value.Method(i)")
})

func codeOf(f func()) unsafe.Pointer {
	return **(**unsafe.Pointer)(unsafe.Pointer(&f))
}

// interfaceType makes an interface type; named is nil for a literal.
func (s *Space) interfaceType(u *types.Interface, name string, named *types.Named) reflect.Type {
	if named == nil && u.NumMethods() == 0 {
		return reflect.TypeFor[any]()
	}
	if !u.IsMethodSet() {
		panic(&Refused{name, "a constraint is not a type of values"})
	}
	if !Usable() {
		panic(&Refused{name, "this build of Go lays out types in a way that cells do not know"})
	}
	type block struct {
		abiInterface
		u abiUncommon
	}
	b := new(block)
	keep(b)
	var t types.Type = u
	pkg := interfacePkg(u)
	if named != nil {
		t, pkg = named, named.Obj().Pkg()
	}
	b.fill(t, newName(name, "", true, false))
	b.tflag |= flagUncommon
	if named != nil {
		b.tflag |= flagNamed
	}
	proto := toAbi(reflect.TypeFor[any]())
	if u.NumMethods() > 0 {
		proto = toAbi(reflect.TypeFor[error]())
	}
	b.equal = proto.equal
	if pkg != nil {
		b.pkgPath = newName(pkg.Path(), "", false, false)
		b.u.pkgPath = b.pkgPath.off()
	}
	b.u.moff = uint32(unsafe.Sizeof(abiUncommon{}))
	r := fromAbi(&b.abiType)
	s.remember(t, r)
	s.known[r] = t
	b.methods = make([]abiImethod, u.NumMethods())
	for i, m := range SortedMethods(u) {
		mt := s.signature(m.Signature())
		b.methods[i] = abiImethod{
			name: newName(m.Name(), "", m.Exported(), false).off(),
			typ:  typeOff(addReflectOff(Word(mt))),
		}
	}
	return r
}

func interfacePkg(u *types.Interface) *types.Package {
	for m := range u.Methods() {
		if !m.Exported() {
			return m.Pkg()
		}
	}
	return nil
}

// SortedMethods lists the methods of u in the order of descriptors and method tables.
func SortedMethods(u *types.Interface) []*types.Func {
	var ms []*types.Func
	for m := range u.Methods() {
		ms = append(ms, m)
	}
	sort.SliceStable(ms, func(i, j int) bool {
		if ms[i].Exported() != ms[j].Exported() {
			return ms[i].Exported()
		}
		return ms[i].Name() < ms[j].Name()
	})
	return ms
}
