package exec

import "unsafe"

// ops are the moves that every class of values knows. The any parameters and results are ev[T] of the
// class's own T.
type ops interface {
	load(l loc) any
	store(l loc, v any) stmt
	into(v any) func(fr *Frame, dst ptr)
	// result runs a call that leaves the value at off in the callee's frame, reads it and gives the
	// frame back.
	result(call func(*Frame) *Frame, off uintptr) any
	// after runs pre first.
	after(pre func(*Frame), v any) any
	drop(v any) stmt
	zero() any
	// box makes an interface value with the given type word.
	box(word ptr, direct bool, v any) ev[iface]
	// unbox takes the value out of an interface value whose type has been checked.
	unbox(direct bool, v ev[iface]) any
	fromPtr(p ev[ptr]) any
	// move copies a value in memory.
	move() func(dst, src ptr)
}

type scalar[T any] struct{}

func (scalar[T]) load(l loc) any {
	off, add := l.off, l.add
	switch l.kind {
	case locFrame:
		return ev[T](func(fr *Frame) T { return *(*T)(unsafe.Add(fr.mem, off)) })
	case locCell:
		return ev[T](func(fr *Frame) T { return *(*T)(unsafe.Add(*(*ptr)(unsafe.Add(fr.mem, off)), add)) })
	case locClosure:
		return ev[T](func(fr *Frame) T { return *(*T)(unsafe.Add(fr.clo[off], add)) })
	case locGlobal:
		p := (*T)(l.p)
		return ev[T](func(*Frame) T { return *p })
	}
	a := l.addr
	return ev[T](func(fr *Frame) T { return *(*T)(unsafe.Add(a(fr), add)) })
}

func (scalar[T]) fromPtr(p ev[ptr]) any {
	return ev[T](func(fr *Frame) T { return *(*T)(p(fr)) })
}

func (scalar[T]) move() func(dst, src ptr) {
	return func(dst, src ptr) { *(*T)(dst) = *(*T)(src) }
}

func (scalar[T]) store(l loc, v any) stmt {
	off, add, e := l.off, l.add, v.(ev[T])
	switch l.kind {
	case locFrame:
		return func(fr *Frame) ctl { *(*T)(unsafe.Add(fr.mem, off)) = e(fr); return ctlNext }
	case locCell:
		return func(fr *Frame) ctl {
			x := e(fr)
			*(*T)(unsafe.Add(*(*ptr)(unsafe.Add(fr.mem, off)), add)) = x
			return ctlNext
		}
	case locClosure:
		return func(fr *Frame) ctl { x := e(fr); *(*T)(unsafe.Add(fr.clo[off], add)) = x; return ctlNext }
	case locGlobal:
		p := (*T)(l.p)
		return func(fr *Frame) ctl { *p = e(fr); return ctlNext }
	}
	a := l.addr
	return func(fr *Frame) ctl { x := e(fr); *(*T)(unsafe.Add(a(fr), add)) = x; return ctlNext }
}

func (scalar[T]) into(v any) func(*Frame, ptr) {
	e := v.(ev[T])
	return func(fr *Frame, dst ptr) { *(*T)(dst) = e(fr) }
}

func (scalar[T]) result(call func(*Frame) *Frame, off uintptr) any {
	return ev[T](func(fr *Frame) T {
		callee := call(fr)
		x := *(*T)(unsafe.Add(callee.mem, off))
		callee.release()
		return x
	})
}

func (scalar[T]) after(pre func(*Frame), v any) any {
	e := v.(ev[T])
	return ev[T](func(fr *Frame) T { pre(fr); return e(fr) })
}

func (scalar[T]) drop(v any) stmt {
	e := v.(ev[T])
	return func(fr *Frame) ctl { e(fr); return ctlNext }
}

func (scalar[T]) zero() any {
	return ev[T](func(*Frame) T { var z T; return z })
}

func (scalar[T]) box(word ptr, direct bool, v any) ev[iface] {
	e := v.(ev[T])
	if direct {
		return func(fr *Frame) iface { x := e(fr); return iface{word, *(*ptr)(ptr(&x))} }
	}
	return func(fr *Frame) iface {
		x := new(T)
		*x = e(fr)
		return iface{word, ptr(x)}
	}
}

func (scalar[T]) unbox(direct bool, v ev[iface]) any {
	if direct {
		return ev[T](func(fr *Frame) T { d := v(fr).data; return *(*T)(ptr(&d)) })
	}
	return ev[T](func(fr *Frame) T { return *(*T)(v(fr).data) })
}

// scalars by class; cMem needs a type and is made by memOf.
var scalars = [...]ops{
	cBool: scalar[bool]{}, cInt: scalar[int]{}, cInt8: scalar[int8]{}, cInt16: scalar[int16]{}, cInt32: scalar[int32]{}, cInt64: scalar[int64]{},
	cUint: scalar[uint]{}, cUint8: scalar[uint8]{}, cUint16: scalar[uint16]{}, cUint32: scalar[uint32]{}, cUint64: scalar[uint64]{}, cUintptr: scalar[uintptr]{},
	cFloat32: scalar[float32]{}, cFloat64: scalar[float64]{}, cComplex64: scalar[complex64]{}, cComplex128: scalar[complex128]{},
	cString: scalar[string]{}, cPtr: scalar[ptr]{}, cSlice: scalar[slice]{}, cIface: scalar[iface]{},
}
