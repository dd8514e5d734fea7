package rtype

import (
	"go/types"
	"reflect"
	"runtime"
	"unsafe"
)

// Sizes are those of the compiler that built this program.
var Sizes = types.SizesFor("gc", runtime.GOARCH)

const word = unsafe.Sizeof(uintptr(0))

// Mask is the garbage collector's picture of a type: one bit per word that holds a pointer.
type Mask struct {
	bits     []byte
	ptrBytes uintptr
}

// Set marks the word at off.
func (m *Mask) Set(off uintptr) {
	w := off / word
	for uintptr(len(m.bits)) <= w/8 {
		m.bits = append(m.bits, 0)
	}
	m.bits[w/8] |= 1 << (w % 8)
	m.ptrBytes = max(m.ptrBytes, off+word)
}

// Has reports whether the word at off holds a pointer.
func (m *Mask) Has(off uintptr) bool {
	w := off / word
	return w/8 < uintptr(len(m.bits)) && m.bits[w/8]&(1<<(w%8)) != 0
}

// Offsets lists the pointer words.
func (m *Mask) Offsets() []uintptr {
	var offs []uintptr
	for off := uintptr(0); off < m.ptrBytes; off += word {
		if m.Has(off) {
			offs = append(offs, off)
		}
	}
	return offs
}

// AddType marks the pointers of a t that lies at base.
func (m *Mask) AddType(base uintptr, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.String, types.UnsafePointer:
			m.Set(base)
		}
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Slice:
		m.Set(base)
	case *types.Interface:
		m.Set(base)
		m.Set(base + word)
	case *types.Array:
		m.addArray(base, u)
	case *types.Struct:
		for i, off := range fieldOffsets(u) {
			m.AddType(base+uintptr(off), u.Field(i).Type())
		}
	}
}

func (m *Mask) addArray(base uintptr, u *types.Array) {
	if u.Len() == 0 {
		return
	}
	var one Mask
	one.AddType(0, u.Elem())
	if one.ptrBytes == 0 {
		return
	}
	size, offs := uintptr(Sizes.Sizeof(u.Elem())), one.Offsets()
	for i := range uintptr(u.Len()) {
		for _, off := range offs {
			m.Set(base + i*size + off)
		}
	}
}

func fieldOffsets(u *types.Struct) []int64 {
	fields := make([]*types.Var, u.NumFields())
	for i := range fields {
		fields[i] = u.Field(i)
	}
	return Sizes.Offsetsof(fields)
}

// Offsetof is the offset of field i of u in bytes.
func Offsetof(u *types.Struct, i int) uintptr { return uintptr(fieldOffsets(u)[i]) }

// fill writes what follows from the layout of t alone. It comes before the parts of t are known, so
// that types may contain themselves.
func (a *abiType) fill(t types.Type, name abiName) {
	a.size = uintptr(Sizes.Sizeof(t))
	a.align = uint8(Sizes.Alignof(t))
	a.fieldAlign = a.align
	a.kind = uint8(kindOf(t))
	a.hash = nextHash()
	a.str = name.off()
	var m Mask
	m.AddType(0, t)
	a.ptrBytes = m.ptrBytes
	if len(m.bits) > 0 {
		bits := append(m.bits, make([]byte, 8)...)
		keep(bits)
		a.gcData = &bits[0]
	}
	if IsDirect(t) {
		a.tflag |= flagDirectIface
	}
}

// IsDirect reports whether an interface holds values of t themselves. It mirrors the compiler: pointer-shaped
// types, and structs and arrays of one such.
func IsDirect(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Array:
		return u.Len() == 1 && IsDirect(u.Elem())
	case *types.Struct:
		return u.NumFields() == 1 && IsDirect(u.Field(0).Type())
	}
	return false
}

var basicKinds = map[types.BasicKind]reflect.Kind{
	types.Bool: reflect.Bool, types.String: reflect.String, types.UnsafePointer: reflect.UnsafePointer,
	types.Int: reflect.Int, types.Int8: reflect.Int8, types.Int16: reflect.Int16, types.Int32: reflect.Int32, types.Int64: reflect.Int64,
	types.Uint: reflect.Uint, types.Uint8: reflect.Uint8, types.Uint16: reflect.Uint16, types.Uint32: reflect.Uint32, types.Uint64: reflect.Uint64,
	types.Uintptr: reflect.Uintptr, types.Float32: reflect.Float32, types.Float64: reflect.Float64,
	types.Complex64: reflect.Complex64, types.Complex128: reflect.Complex128,
	types.UntypedBool: reflect.Bool, types.UntypedInt: reflect.Int, types.UntypedRune: reflect.Int32,
	types.UntypedFloat: reflect.Float64, types.UntypedComplex: reflect.Complex128, types.UntypedString: reflect.String,
}

func kindOf(t types.Type) reflect.Kind {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicKinds[u.Kind()]
	case *types.Pointer:
		return reflect.Pointer
	case *types.Map:
		return reflect.Map
	case *types.Chan:
		return reflect.Chan
	case *types.Signature:
		return reflect.Func
	case *types.Slice:
		return reflect.Slice
	case *types.Array:
		return reflect.Array
	case *types.Struct:
		return reflect.Struct
	case *types.Interface:
		return reflect.Interface
	}
	return reflect.Invalid
}
