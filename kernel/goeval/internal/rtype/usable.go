package rtype

import (
	"reflect"
	"sync"
	"unsafe"
)

// probe is a compiled type whose descriptor is compared with what abi.go expects.
type probe struct {
	A int
	b string
}

func (probe) M() {}

// Usable reports whether this Go lays out descriptors as abi.go says.
var Usable = sync.OnceValue(func() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	t := reflect.TypeFor[probe]()
	st := (*abiStruct)(Word(t))
	if st.size != t.Size() || reflect.Kind(st.kind) != reflect.Struct || len(st.fields) != 2 {
		return false
	}
	f := st.fields[1]
	if f.offset != t.Field(1).Offset || fromAbi(f.typ) != t.Field(1).Type || unsafe.Slice(f.name.bytes, 3)[2] != 'b' {
		return false
	}
	u := (*abiUncommon)(unsafe.Add(unsafe.Pointer(st), headSize(reflect.Struct)))
	direct := toAbi(reflect.TypeFor[*int]()).tflag & toAbi(reflect.TypeFor[func()]()).tflag & flagDirectIface
	return st.tflag&(flagNamed|flagUncommon) == flagNamed|flagUncommon && u.mcount == 1 &&
		direct != 0 && st.tflag&flagDirectIface == 0
})

// Equal is the comparison of two values of t in memory, nil if t cannot be compared.
func Equal(t reflect.Type) func(p, q unsafe.Pointer) bool { return toAbi(t).equal }
