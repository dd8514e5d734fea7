package goeval

import (
	"fmt"
	"reflect"
)

// valuesOnly prints a value without calling its methods: inspection may come at any time, also while
// a cell runs, and must not run code of cells.
type valuesOnly struct{ v reflect.Value }

// Format implements fmt.Formatter.
func (x valuesOnly) Format(s fmt.State, _ rune) { writeValue(s, x.v, 0) }

func writeValue(s fmt.State, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintf(s, "%q", v.String())
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		writeNumber(s, v)
	case reflect.Pointer, reflect.Interface:
		switch {
		case v.IsNil():
			fmt.Fprint(s, "nil")
		case depth > 0 && v.Kind() == reflect.Pointer:
			fmt.Fprint(s, v.Type())
		default:
			if v.Kind() == reflect.Pointer {
				fmt.Fprint(s, "&")
			}
			writeValue(s, v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(s, v.Type(), "{")
		for i := range min(v.Len(), 10) {
			if i > 0 {
				fmt.Fprint(s, ", ")
			}
			writeValue(s, v.Index(i), depth+1)
		}
		if v.Len() > 10 {
			fmt.Fprintf(s, ", … %d in all", v.Len())
		}
		fmt.Fprint(s, "}")
	case reflect.Struct:
		fmt.Fprint(s, v.Type(), "{")
		for i := range min(v.NumField(), 12) {
			if i > 0 {
				fmt.Fprint(s, ", ")
			}
			fmt.Fprint(s, v.Type().Field(i).Name, ": ")
			if depth > 2 {
				fmt.Fprint(s, "…")
			} else {
				writeValue(s, v.Field(i), depth+1)
			}
		}
		fmt.Fprint(s, "}")
	case reflect.Map:
		fmt.Fprintf(s, "%s with %d entries", v.Type(), v.Len())
	default:
		if v.Kind() == reflect.Func && v.IsNil() {
			fmt.Fprint(s, "nil")
			return
		}
		fmt.Fprint(s, v.Type())
	}
}

func writeNumber(s fmt.State, v reflect.Value) {
	switch {
	case v.CanInt():
		fmt.Fprint(s, v.Int())
	case v.CanUint():
		fmt.Fprint(s, v.Uint())
	case v.CanFloat():
		fmt.Fprint(s, v.Float())
	case v.CanComplex():
		fmt.Fprint(s, v.Complex())
	default:
		fmt.Fprint(s, v.Bool())
	}
}
