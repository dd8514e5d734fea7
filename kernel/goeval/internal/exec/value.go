package exec

import (
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// newObject allocates a zero value of a type given by its word. reflect.New does the same, but looks up
// the pointer type in a table first.
//
//go:linkname newObject reflect.unsafe_New
//go:noescape
func newObject(typ ptr) ptr

// reflectValue is the layout of reflect.Value.
type reflectValue struct {
	typ, ptr ptr
	flag     uintptr
}

// addressableFlag is the flag of a reflect.Value for a variable in memory, apart from its kind. It is
// read off a real one; 0 if that does not look as expected, and then package reflect is asked each time.
var addressableFlag = func() uintptr {
	if unsafe.Sizeof(reflectValue{}) != unsafe.Sizeof(reflect.Value{}) {
		return 0
	}
	var x int
	v := reflect.ValueOf(&x).Elem()
	r := *(*reflectValue)(unsafe.Pointer(&v))
	if r.typ != rtype.Word(reflect.TypeFor[int]()) || r.ptr != ptr(&x) || r.flag&31 != uintptr(reflect.Int) {
		return 0
	}
	var s struct{ a string }
	w := reflect.ValueOf(&s).Elem()
	if q := *(*reflectValue)(unsafe.Pointer(&w)); q.flag&^31 != r.flag&^31 || q.flag&31 != uintptr(reflect.Struct) {
		return 0
	}
	return r.flag &^ 31
}()

// valueAt is the variable of type t at p.
func valueAt(t reflect.Type, p ptr) (v reflect.Value) {
	if addressableFlag == 0 || p == nil {
		return reflect.NewAt(t, p).Elem()
	}
	*(*reflectValue)(unsafe.Pointer(&v)) = reflectValue{rtype.Word(t), p, addressableFlag | uintptr(t.Kind())}
	return v
}

// newOf allocates a zero value of t.
func newOf(t reflect.Type) ptr { return newObject(rtype.Word(t)) }
