//go:build amd64 || arm64

package rtype

import (
	"reflect"
	"sync"
	"unsafe"
)

// stubCount is how many methods of cells a process can hold; stubs_*.s must agree. They never become free:
// a method table, once used, is kept by the run time. A session of 10,000 cells that declare a type anew,
// with three methods of values, needs 60,000.
const stubCount = 1 << 16

// stubSize is the distance between two stubs in bytes.
const stubSize = 16

// slots holds the func value behind each stub. Stub k loads slots[k] as the closure context and jumps
// to its code, so the method's receiver word arrives as the func's first argument.
var slots [stubCount]unsafe.Pointer

func stubs()
func stubBase() unsafe.Pointer

var stubMu sync.Mutex
var stubsUsed int

// newStub gives f a code address that a method table can hold.
func newStub(f reflect.Value) (unsafe.Pointer, bool) {
	stubMu.Lock()
	defer stubMu.Unlock()
	if stubsUsed == stubCount {
		return nil, false
	}
	k := stubsUsed
	stubsUsed++
	slots[k] = FuncPointer(f)
	return unsafe.Add(stubBase(), k*stubSize), true
}

// newSpareStub is newStub for what is seldom needed: it leaves half of the stubs alone.
func newSpareStub(f reflect.Value) (unsafe.Pointer, bool) {
	stubMu.Lock()
	scarce := stubsUsed >= stubCount/2
	stubMu.Unlock()
	if scarce {
		return nil, false
	}
	return newStub(f)
}

// StubFunc finds the func value behind a code address of a method table, or nil.
func StubFunc(code unsafe.Pointer) unsafe.Pointer {
	k := (uintptr(code) - uintptr(stubBase())) / stubSize
	if k >= stubCount {
		return nil
	}
	return slots[k]
}

// FuncPointer is the pointer that a func value is.
func FuncPointer(f reflect.Value) unsafe.Pointer {
	x := f.Interface()
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]
}
