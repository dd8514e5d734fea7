//go:build !amd64 && !arm64

package rtype

import (
	"reflect"
	"unsafe"
)

// newStub is missing on this architecture: methods of cells cannot be seen by compiled code.
func newStub(reflect.Value) (unsafe.Pointer, bool) { return nil, false }

func newSpareStub(reflect.Value) (unsafe.Pointer, bool) { return nil, false }

// StubFunc finds nothing on this architecture.
func StubFunc(unsafe.Pointer) unsafe.Pointer { return nil }

// FuncPointer is the pointer that a func value is.
func FuncPointer(f reflect.Value) unsafe.Pointer {
	x := f.Interface()
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]
}
