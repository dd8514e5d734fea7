package rtype

import (
	"reflect"
)

// Words is a type of len(pointers) words, of which those marked 1 hold pointers.
func Words(pointers []byte) reflect.Type {
	var fields []reflect.Type
	for i := 0; i < len(pointers); {
		j := i
		for j < len(pointers) && pointers[j] == pointers[i] {
			j++
		}
		elem := reflect.TypeFor[uintptr]()
		if pointers[i] == 1 {
			elem = basicTypes[reflect.UnsafePointer]
		}
		fields = append(fields, reflect.ArrayOf(j-i, elem))
		i = j
	}
	return structOfRuns(fields)
}

// structOfRuns puts runs of words after each other.
func structOfRuns(runs []reflect.Type) reflect.Type {
	names := make([]reflect.StructField, len(runs))
	for i, r := range runs {
		names[i] = reflect.StructField{Name: "F" + string(rune('A'+i%26)) + itoa(i), Type: r}
	}
	return reflect.StructOf(names)
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + string(rune('0'+i%10))
}
