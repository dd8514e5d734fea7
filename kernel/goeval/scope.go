package goeval

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"
)

// The session is one package for go/types, so that unexported names and methods stay its own. Its scope
// only ever grows in go/types; here names are also taken out, when a cell defines them again. That
// needs the scope's map itself.

// elems is the map of names of a scope.
func elems(s *types.Scope) map[string]types.Object {
	f := reflect.ValueOf(s).Elem().FieldByName("elems")
	return *(*map[string]types.Object)(unsafe.Pointer(f.UnsafeAddr()))
}

// dropChildren forgets the file scopes of earlier cells.
func dropChildren(s *types.Scope) {
	f := reflect.ValueOf(s).Elem().FieldByName("children")
	*(*[]*types.Scope)(unsafe.Pointer(f.UnsafeAddr())) = nil
}

// scopeUsable checks that scopes are built as this file takes them to be.
func scopeUsable() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("goeval: this version of go/types keeps scopes in another way: %v", r)
		}
	}()
	p := types.NewPackage("probe", "probe")
	p.Scope().Insert(types.NewTypeName(0, p, "x", types.Typ[types.Int]))
	if elems(p.Scope())["x"] == nil {
		panic("no elems")
	}
	delete(elems(p.Scope()), "x")
	dropChildren(p.Scope())
	return nil
}
