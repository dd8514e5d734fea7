package rtype

import (
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

// named makes the descriptor of a defined type: allocated, registered, then filled, so that the type
// may contain itself.
func (s *Space) named(t *types.Named) reflect.Type {
	obj := t.Obj()
	if obj.Pkg() == nil {
		return reflect.TypeFor[error]() // the universe has no other named type
	}
	if !s.Local(obj.Pkg()) {
		r, err := s.Compiled(obj, instanceName(t))
		if err == nil {
			return r
		}
		if t.TypeArgs().Len() == 0 || t.NumMethods() > 0 && (s.Sourced == nil || !s.Sourced(obj)) {
			panic(&Refused{t.String(), err.Error()})
		}
		// An instance that no compiled code has: it can be made here.
	}
	if !Usable() {
		panic(&Refused{t.String(), "this build of Go lays out types in a way that cells do not know"})
	}
	name := typeName(t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return s.structType(t, name)
	case *types.Interface:
		return s.interfaceType(u, name, t)
	}
	return s.namedOther(t, name)
}

// typeName is the name that the compiler gives: main.P, main.Pair[string,main.P].
func typeName(t *types.Named) string { return shown.named(t) }

// instanceName is the name without its package, with type arguments: Seq[string].
func instanceName(t *types.Named) string {
	_, name, _ := strings.Cut(typeName(t), ".")
	return name
}

// namedOther makes a defined type that is neither struct nor interface: a copy of the descriptor of
// its underlying type under a new name.
func (s *Space) namedOther(t *types.Named, name string) reflect.Type {
	kind := kindOf(t)
	head := headSize(kind)
	sig, _ := t.Underlying().(*types.Signature)
	ins := uintptr(0)
	if sig != nil {
		ins = uintptr(sig.Params().Len()+sig.Results().Len()) * word
	}
	mset := s.methodsOf(t)
	moff := unsafe.Sizeof(abiUncommon{}) + ins
	block := make([]uint64, (head+moff+uintptr(len(mset))*unsafe.Sizeof(abiMethod{}))/8+1)
	keep(block)
	base := unsafe.Pointer(&block[0])
	a := (*abiType)(base)
	a.fill(t, newName(name, "", true, false))
	str, hash := a.str, a.hash
	r := fromAbi(a)
	s.remember(t, r)
	s.pointerTo(t, a, name)

	under := toAbi(s.of(t.Underlying()))
	ptrToThis := a.ptrToThis
	copy(unsafe.Slice((*byte)(base), head), unsafe.Slice((*byte)(unsafe.Pointer(under)), head))
	a.str, a.hash, a.ptrToThis = str, hash, ptrToThis
	a.tflag = under.tflag&^flagExtraStar | flagNamed | flagUncommon
	if ins > 0 {
		from := unsafe.Add(unsafe.Pointer(under), head)
		to := unsafe.Add(base, head+unsafe.Sizeof(abiUncommon{}))
		copy(unsafe.Slice((*byte)(to), ins), unsafe.Slice((*byte)(from), ins))
	}
	unc := (*abiUncommon)(unsafe.Add(base, head))
	s.uncommon(unc, moff, t.Obj().Pkg(), t, mset)
	return r
}

// ptrBlock is a pointer type with its uncommon part; its methods follow.
type ptrBlock struct {
	abiPtr
	u abiUncommon
}

// pointerTo makes *T beside T, because *T has methods of its own.
func (s *Space) pointerTo(t types.Type, elem *abiType, name string) {
	pt := types.NewPointer(t)
	mset := s.methodsOf(pt)
	size := unsafe.Sizeof(ptrBlock{}) + uintptr(len(mset))*unsafe.Sizeof(abiMethod{})
	block := make([]uint64, size/8+1)
	keep(block)
	p := (*ptrBlock)(unsafe.Pointer(&block[0]))
	p.abiType = *toAbi(reflect.TypeFor[*int]())
	p.str = newName("*"+name, "", true, false).off()
	p.hash = nextHash()
	p.tflag = p.tflag&^flagExtraStar | flagUncommon
	p.ptrToThis = 0
	p.elem = elem
	elem.ptrToThis = typeOff(addReflectOff(unsafe.Pointer(p)))
	s.known[fromAbi(&p.abiType)] = pt
	s.known[fromAbi(elem)] = t
	var pkg *types.Package
	if n, ok := t.(*types.Named); ok {
		pkg = n.Obj().Pkg()
	}
	s.uncommon(&p.u, unsafe.Sizeof(abiUncommon{}), pkg, pt, mset)
}

// structBlock keeps Go pointers, so it is a typed object; methods live in a block of their own that
// follows it in the same allocation only for named types, by way of the M parameter.
type structBlock[M any] struct {
	abiStruct
	u abiUncommon
	m M
}

// structType makes a struct type: t is the struct itself or a defined type of one.
func (s *Space) structType(t types.Type, name string) reflect.Type {
	u := t.Underlying().(*types.Struct)
	named, isNamed := t.(*types.Named)
	mset := s.methodsOf(t)
	if !isNamed && canonical(u) {
		return s.reflectStruct(u)
	}
	if !Usable() {
		panic(&Refused{t.String(), "this build of Go lays out types in a way that cells do not know"})
	}
	st, unc := newStructBlock(len(mset))
	if st == nil {
		panic(&Refused{t.String(), "it has too many methods"})
	}
	st.fill(t, newName(name, "", true, false))
	st.tflag |= flagUncommon
	if isNamed {
		st.tflag |= flagNamed
	}
	r := fromAbi(&st.abiType)
	s.remember(t, r)
	s.pointerTo(t, &st.abiType, name)
	pkg := structPkg(u)
	if isNamed {
		pkg = named.Obj().Pkg()
	}
	if pkg != nil {
		st.pkgPath = newName(pkg.Path(), "", false, false)
	}
	s.fields(st, u)
	st.equal = structEqual(st.fields)
	s.uncommon(unc, unsafe.Sizeof(abiUncommon{}), pkg, t, mset)
	return r
}

func newStructBlock(methods int) (*abiStruct, *abiUncommon) {
	switch {
	case methods <= 4:
		b := new(structBlock[[4]abiMethod])
		keep(b)
		return &b.abiStruct, &b.u
	case methods <= 32:
		b := new(structBlock[[32]abiMethod])
		keep(b)
		return &b.abiStruct, &b.u
	case methods <= 256:
		b := new(structBlock[[256]abiMethod])
		keep(b)
		return &b.abiStruct, &b.u
	}
	return nil, nil
}

func structPkg(u *types.Struct) *types.Package {
	for f := range u.Fields() {
		if !f.Exported() {
			return f.Pkg()
		}
	}
	return nil
}

// canonical structs are the same type wherever they are written, so reflect must make them.
func canonical(u *types.Struct) bool {
	for f := range u.Fields() {
		if !f.Exported() || f.Embedded() {
			return false
		}
	}
	return true
}

func (s *Space) reflectStruct(u *types.Struct) reflect.Type {
	fields := make([]reflect.StructField, u.NumFields())
	for i := range fields {
		f := u.Field(i)
		fields[i] = reflect.StructField{Name: f.Name(), Type: s.of(f.Type()), Tag: reflect.StructTag(u.Tag(i))}
	}
	return reflect.StructOf(fields)
}

func (s *Space) fields(st *abiStruct, u *types.Struct) {
	offs := fieldOffsets(u)
	fields := make([]abiField, u.NumFields())
	for i := range fields {
		f := u.Field(i)
		fields[i] = abiField{
			name:   newName(f.Name(), u.Tag(i), f.Exported(), f.Embedded()),
			typ:    toAbi(s.of(f.Type())),
			offset: uintptr(offs[i]),
		}
	}
	st.fields = fields
}

// structEqual compares field by field; blank fields do not count. A struct with a field that cannot be
// compared cannot be compared: nil.
func structEqual(fields []abiField) func(p, q unsafe.Pointer) bool {
	type part struct {
		off uintptr
		eq  func(p, q unsafe.Pointer) bool
	}
	var parts []part
	for _, f := range fields {
		if f.typ.equal == nil {
			return nil
		}
		if !f.name.isBlank() {
			parts = append(parts, part{f.offset, f.typ.equal})
		}
	}
	return func(p, q unsafe.Pointer) bool {
		for _, f := range parts {
			if !f.eq(unsafe.Add(p, f.off), unsafe.Add(q, f.off)) {
				return false
			}
		}
		return true
	}
}

func (n abiName) isBlank() bool {
	b := unsafe.Slice(n.bytes, 3)
	return b[1] == 1 && b[2] == '_'
}
