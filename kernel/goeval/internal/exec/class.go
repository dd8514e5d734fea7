package exec

import (
	"go/types"
	"unsafe"
)

type ptr = unsafe.Pointer

// ev computes a T. Every compiled expression is an ev of the Go type that stands for its class.
type ev[T any] = func(*Frame) T

// iface is an interface value in memory: a type word or a method table, and the data word.
type iface struct{ tab, data ptr }

// slice is a slice in memory.
type slice struct {
	data     ptr
	len, cap int
}

// class says which Go type computes values of a static type. Structs and arrays are handled by
// address: an expression of class cMem is an ev[ptr] to memory that is valid until the next step.
type class uint8

const (
	cNone class = iota
	cBool
	cInt
	cInt8
	cInt16
	cInt32
	cInt64
	cUint
	cUint8
	cUint16
	cUint32
	cUint64
	cUintptr
	cFloat32
	cFloat64
	cComplex64
	cComplex128
	cString
	cPtr // pointers, maps, channels, funcs, unsafe.Pointer
	cSlice
	cIface
	cMem
)

var basicClass = map[types.BasicKind]class{
	types.Bool: cBool, types.UntypedBool: cBool,
	types.Int: cInt, types.UntypedInt: cInt, types.Int8: cInt8, types.Int16: cInt16, types.Int32: cInt32, types.UntypedRune: cInt32, types.Int64: cInt64,
	types.Uint: cUint, types.Uint8: cUint8, types.Uint16: cUint16, types.Uint32: cUint32, types.Uint64: cUint64, types.Uintptr: cUintptr,
	types.Float32: cFloat32, types.Float64: cFloat64, types.UntypedFloat: cFloat64,
	types.Complex64: cComplex64, types.Complex128: cComplex128, types.UntypedComplex: cComplex128,
	types.String: cString, types.UntypedString: cString, types.UnsafePointer: cPtr, types.UntypedNil: cIface,
}

func classOf(t types.Type) class {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicClass[u.Kind()]
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return cPtr
	case *types.Slice:
		return cSlice
	case *types.Interface:
		return cIface
	case *types.Struct, *types.Array:
		return cMem
	}
	return cNone
}

func (k class) isInt() bool     { return k >= cInt && k <= cUintptr }
func (k class) isSigned() bool  { return k >= cInt && k <= cInt64 }
func (k class) isFloat() bool   { return k == cFloat32 || k == cFloat64 }
func (k class) isComplex() bool { return k == cComplex64 || k == cComplex128 }
