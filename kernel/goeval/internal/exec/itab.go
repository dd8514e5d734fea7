package exec

import (
	"reflect"
	"runtime"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

type itabKey struct{ inter, typ ptr }

// itabFor finds the run time's method table for values of type typ in interface type inter.
func (m *Machine) itabFor(inter reflect.Type, typ ptr) (ptr, bool) {
	key := itabKey{rtype.Word(inter), typ}
	if tab, ok := m.itabs.Load(key); ok {
		return tab.(ptr), tab.(ptr) != nil
	}
	t := rtype.FromWord(typ)
	var tab ptr
	if t.Implements(inter) {
		x := reflect.New(inter)
		x.Elem().Set(reflect.Zero(t))
		tab = *(*ptr)(x.UnsafePointer())
	}
	m.itabs.Store(key, tab)
	return tab, tab != nil
}

// itabFinder is itabFor with a memory of the last answer.
func (m *Machine) itabFinder(inter reflect.Type) func(typ ptr) (ptr, bool) {
	return func(typ ptr) (ptr, bool) { return m.itabFor(inter, typ) }
}

// assertionTwin has the fields of runtime.TypeAssertionError.
type assertionTwin struct {
	inter, concrete, asserted ptr
	missing                   string
}

// assertionFails panics as a failed type assertion in compiled code does.
func assertionFails(inter, concrete, asserted ptr, missing string) {
	err := new(runtime.TypeAssertionError)
	*(*assertionTwin)(unsafe.Pointer(err)) = assertionTwin{inter, concrete, asserted, missing}
	panic(err)
}

// missingMethod names the first method of inter that t lacks.
func missingMethod(inter reflect.Type, typ ptr) string {
	t := rtype.FromWord(typ)
	for i := range inter.NumMethod() {
		name := inter.Method(i).Name
		if m, ok := t.MethodByName(name); !ok || methodType(t, m) != inter.Method(i).Type {
			return name
		}
	}
	return ""
}

// methodType is the type of a method without its receiver.
func methodType(t reflect.Type, m reflect.Method) reflect.Type {
	if t.Kind() == reflect.Interface {
		return m.Type
	}
	var in, out []reflect.Type
	for i := 1; i < m.Type.NumIn(); i++ {
		in = append(in, m.Type.In(i))
	}
	for o := range m.Type.Outs() {
		out = append(out, o)
	}
	return reflect.FuncOf(in, out, m.Type.IsVariadic())
}
