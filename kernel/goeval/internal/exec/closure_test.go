package exec

import (
	"reflect"
	"testing"
)

// TestFuncValuesAreRecognised guards the fast way of calling func values of cells.
func TestFuncValuesAreRecognised(t *testing.T) {
	if !funcLayout.ok {
		t.Fatal("reflect.MakeFunc lays out its functions in a new way: closures of cells are slow now")
	}
	c := &Closure{ft: &funcType{rt: reflect.TypeFor[func(int) string]()}}
	if got := closureOf(c.value()); got != c {
		t.Errorf("got %p, want %p", got, c)
	}
	f := func() {}
	if closureOf(*(*ptr)(ptr(&f))) != nil {
		t.Error("a compiled function was taken for one of a cell")
	}
}
