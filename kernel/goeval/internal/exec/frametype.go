package exec

import (
	"reflect"
	"sync"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

var frameTypes sync.Map // layout → reflect.Type

// frameType is a type for the memory of frames: words that the collector follows and words that it
// does not. Equal layouts share one type, so that many cells do not mean many types.
func frameType(size uintptr, mask *rtype.Mask) reflect.Type {
	const word = unsafe.Sizeof(uintptr(0))
	n := (size + word - 1) / word
	key := make([]byte, n)
	for i := range key {
		if mask.Has(uintptr(i) * word) {
			key[i] = 1
		}
	}
	if t, ok := frameTypes.Load(string(key)); ok {
		return t.(reflect.Type)
	}
	t := rtype.Words(key)
	frameTypes.Store(string(key), t)
	return t
}
