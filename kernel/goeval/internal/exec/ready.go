package exec

import (
	"go/types"
	"reflect"
	"slices"
)

// Instances of generic functions that are compiled into the kernel, for the types that matter most:
// sorting through closures is slow.
var ready = map[string]reflect.Value{
	"slices.Sort int":            reflect.ValueOf(slices.Sort[[]int]),
	"slices.Sort string":         reflect.ValueOf(slices.Sort[[]string]),
	"slices.Sort float64":        reflect.ValueOf(slices.Sort[[]float64]),
	"slices.Max int":             reflect.ValueOf(slices.Max[[]int]),
	"slices.Min int":             reflect.ValueOf(slices.Min[[]int]),
	"slices.Contains int":        reflect.ValueOf(slices.Contains[[]int]),
	"slices.Contains string":     reflect.ValueOf(slices.Contains[[]string]),
	"slices.Index int":           reflect.ValueOf(slices.Index[[]int]),
	"slices.Index string":        reflect.ValueOf(slices.Index[[]string]),
	"slices.Equal int":           reflect.ValueOf(slices.Equal[[]int]),
	"slices.BinarySearch int":    reflect.ValueOf(slices.BinarySearch[[]int]),
	"slices.BinarySearch string": reflect.ValueOf(slices.BinarySearch[[]string]),
}

// readyInstance finds the compiled instance for a slice type of the cell, whose element is basic.
func readyInstance(obj *types.Func, args []types.Type) (reflect.Value, bool) {
	if len(args) == 0 || obj.Pkg().Path() != "slices" {
		return reflect.Value{}, false
	}
	s, ok := args[0].Underlying().(*types.Slice)
	if !ok {
		return reflect.Value{}, false
	}
	b, ok := s.Elem().(*types.Basic)
	if !ok {
		return reflect.Value{}, false
	}
	fn, ok := ready["slices."+obj.Name()+" "+b.Name()]
	return fn, ok
}
