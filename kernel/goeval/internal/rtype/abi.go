// Package rtype makes genuine run-time types out of go/types types.
//
// A value of a type that a cell declared carries a real type descriptor: its name, fields, tags and
// method table are where the run time and package reflect look for them. So fmt, encoding/json,
// errors.As, sort and type assertions in compiled code treat it as they treat compiled types; nothing
// is emulated.
//
// The descriptors follow internal/abi of the Go version that the module names. Check verifies at start
// that the layout is still the one written down here; if it is not, types of cells are refused, and
// nothing else is lost.
package rtype

import (
	"reflect"
	"unsafe"
)

// The structs of internal/abi, field by field.

type nameOff int32
type typeOff int32
type textOff int32

type abiType struct {
	size       uintptr
	ptrBytes   uintptr
	hash       uint32
	tflag      uint8
	align      uint8
	fieldAlign uint8
	kind       uint8
	equal      func(unsafe.Pointer, unsafe.Pointer) bool
	gcData     *byte
	str        nameOff
	ptrToThis  typeOff
}

const (
	flagUncommon      = 1 << 0
	flagExtraStar     = 1 << 1
	flagNamed         = 1 << 2
	flagRegularMemory = 1 << 3
	flagDirectIface   = 1 << 5
)

type abiUncommon struct {
	pkgPath nameOff
	mcount  uint16
	xcount  uint16
	moff    uint32
	_       uint32
}

type abiMethod struct {
	name nameOff
	mtyp typeOff
	ifn  textOff
	tfn  textOff
}

type abiImethod struct {
	name nameOff
	typ  typeOff
}

type abiName struct{ bytes *byte }

type abiField struct {
	name   abiName
	typ    *abiType
	offset uintptr
}

type abiStruct struct {
	abiType
	pkgPath abiName
	fields  []abiField
}

type abiInterface struct {
	abiType
	pkgPath abiName
	methods []abiImethod
}

type abiPtr struct {
	abiType
	elem *abiType
}

type abiFunc struct {
	abiType
	inCount, outCount uint16
}

type abiMap struct {
	abiType
	_ [4]unsafe.Pointer
	_ [3]uintptr
	_ uint32
}

type abiArray struct {
	abiType
	_ [2]unsafe.Pointer
	_ uintptr
}

type abiChan struct {
	abiType
	_ unsafe.Pointer
	_ int
}

// headSize is the size of the descriptor of a kind, without the uncommon part.
func headSize(k reflect.Kind) uintptr {
	switch k {
	case reflect.Struct:
		return unsafe.Sizeof(abiStruct{})
	case reflect.Pointer, reflect.Slice:
		return unsafe.Sizeof(abiPtr{})
	case reflect.Func:
		return unsafe.Sizeof(abiFunc{})
	case reflect.Array:
		return unsafe.Sizeof(abiArray{})
	case reflect.Chan:
		return unsafe.Sizeof(abiChan{})
	case reflect.Map:
		return unsafe.Sizeof(abiMap{})
	case reflect.Interface:
		return unsafe.Sizeof(abiInterface{})
	}
	return unsafe.Sizeof(abiType{})
}

// addReflectOff registers memory with the run time, which hands out an offset that descriptors use in
// place of a pointer. The run time keeps what is registered alive.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(ptr unsafe.Pointer) int32

// Word is the type word of t: what an interface value that holds a t carries.
func Word(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

// FromWord is the inverse of Word.
func FromWord(w unsafe.Pointer) reflect.Type {
	if w == nil {
		return nil
	}
	var x any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&x))[0] = w
	return reflect.TypeOf(x)
}

func toAbi(t reflect.Type) *abiType { return (*abiType)(Word(t)) }

func fromAbi(t *abiType) reflect.Type { return FromWord(unsafe.Pointer(t)) }

// Direct reports whether interface values hold a t in the data word itself, not behind it.
func Direct(t reflect.Type) bool { return toAbi(t).tflag&flagDirectIface != 0 }

// newName encodes a name the way descriptors hold it.
func newName(name, tag string, exported, embedded bool) abiName {
	var bits byte
	if exported {
		bits |= 1 << 0
	}
	if tag != "" {
		bits |= 1 << 1
	}
	if embedded {
		bits |= 1 << 3
	}
	b := append([]byte{bits}, varint(len(name))...)
	b = append(b, name...)
	if tag != "" {
		b = append(b, varint(len(tag))...)
		b = append(b, tag...)
	}
	keep(b)
	return abiName{&b[0]}
}

func varint(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func (n abiName) off() nameOff { return nameOff(addReflectOff(unsafe.Pointer(n.bytes))) }
