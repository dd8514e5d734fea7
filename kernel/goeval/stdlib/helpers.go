package stdlib

import (
	"hash/maphash"
	"reflect"
	"runtime"
	"sync"
)

// helpers are the compiled functions that the sources written for cells call, by import path and name.
var helpers = map[string]map[string]reflect.Value{
	"unique": {
		"canonical": reflect.ValueOf(canonical),
		"keep":      reflect.ValueOf(keep),
	},
	"hash/maphash": {
		"comparableAny":      reflect.ValueOf(maphash.Comparable[any]),
		"writeComparableAny": reflect.ValueOf(maphash.WriteComparable[any]),
	},
	"runtime": {
		"addCleanup": reflect.ValueOf(func(ptr *byte, cleanup func()) runtime.Cleanup {
			return runtime.AddCleanup(ptr, func(f func()) { f() }, cleanup)
		}),
	},
}

// Helper is a compiled function that a package's source calls, and nobody else.
func Helper(path, name string) (reflect.Value, bool) {
	v, ok := helpers[path][name]
	return v, ok
}

// unique values: one pointer for each value of a type.
var handles sync.Map

type handleKey struct{ typ, value any }

func canonical(typ, value any) (pointer any, ok bool) { return handles.Load(handleKey{typ, value}) }

func keep(typ, value, pointer any) any {
	first, _ := handles.LoadOrStore(handleKey{typ, value}, pointer)
	return first
}
