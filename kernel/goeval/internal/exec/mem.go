package exec

import (
	"reflect"
	"unsafe"

	"kafkalab/kernel/goeval/internal/rtype"
)

// typedmemmove copies a value with the write barriers that the collector needs.
//
//go:linkname typedmemmove reflect.typedmemmove
//go:noescape
func typedmemmove(typ, dst, src ptr)

// memory is what the ops of structs and arrays need to know of the type.
type memory struct {
	rt     reflect.Type
	word   ptr
	size   uintptr
	direct bool
	temp   func() uintptr // takes a slot in the frame being laid out
}

func newMemory(rt reflect.Type, temp func() uintptr) memory {
	return memory{rt: rt, word: rtype.Word(rt), size: rt.Size(), direct: rtype.Direct(rt), temp: temp}
}

func (m memory) load(l loc) any        { return l.address() }
func (m memory) fromPtr(p ev[ptr]) any { return p }

func (m memory) move() func(dst, src ptr) {
	w := m.word
	return func(dst, src ptr) { typedmemmove(w, dst, src) }
}

func (m memory) store(l loc, v any) stmt {
	e, a, w := v.(ev[ptr]), l.address(), m.word
	return func(fr *Frame) ctl { src := e(fr); typedmemmove(w, a(fr), src); return ctlNext }
}

func (m memory) into(v any) func(*Frame, ptr) {
	e, w := v.(ev[ptr]), m.word
	return func(fr *Frame, dst ptr) { typedmemmove(w, dst, e(fr)) }
}

func (m memory) result(call func(*Frame) *Frame, off uintptr) any {
	tmp, w := m.temp(), m.word
	return ev[ptr](func(fr *Frame) ptr {
		callee := call(fr)
		dst := unsafe.Add(fr.mem, tmp)
		typedmemmove(w, dst, unsafe.Add(callee.mem, off))
		callee.release()
		return dst
	})
}

func (m memory) after(pre func(*Frame), v any) any { return scalar[ptr]{}.after(pre, v) }
func (m memory) drop(v any) stmt                   { return scalar[ptr]{}.drop(v) }

func (m memory) zero() any {
	z := newOf(m.rt)
	return ev[ptr](func(*Frame) ptr { return z })
}

func (m memory) box(word ptr, direct bool, v any) ev[iface] {
	e, rt := v.(ev[ptr]), m.rt
	if direct {
		return func(fr *Frame) iface { return iface{word, *(*ptr)(e(fr))} }
	}
	return func(fr *Frame) iface {
		src := e(fr)
		dst := newOf(rt)
		typedmemmove(m.word, dst, src)
		return iface{word, dst}
	}
}

// unbox may hand out the boxed memory itself: nothing writes through an ev of class cMem.
func (m memory) unbox(direct bool, v ev[iface]) any {
	if direct {
		tmp := m.temp()
		return ev[ptr](func(fr *Frame) ptr {
			d := v(fr).data
			dst := unsafe.Add(fr.mem, tmp)
			*(*ptr)(dst) = d
			return dst
		})
	}
	return ev[ptr](func(fr *Frame) ptr { return v(fr).data })
}
