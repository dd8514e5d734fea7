package exec

import (
	"cmp"
	"go/token"
	"go/types"

	"kafkalab/kernel/goeval/internal/rtype"
)

// compareOrdered compiles a comparison of two operands of an ordered class; nil for other classes.
func compareOrdered(k class, op token.Token, a, b any) ev[bool] {
	switch k {
	case cInt:
		return ordered[int](op, a, b)
	case cInt8:
		return ordered[int8](op, a, b)
	case cInt16:
		return ordered[int16](op, a, b)
	case cInt32:
		return ordered[int32](op, a, b)
	case cInt64:
		return ordered[int64](op, a, b)
	case cUint:
		return ordered[uint](op, a, b)
	case cUint8:
		return ordered[uint8](op, a, b)
	case cUint16:
		return ordered[uint16](op, a, b)
	case cUint32:
		return ordered[uint32](op, a, b)
	case cUint64:
		return ordered[uint64](op, a, b)
	case cUintptr:
		return ordered[uintptr](op, a, b)
	case cFloat32:
		return ordered[float32](op, a, b)
	case cFloat64:
		return ordered[float64](op, a, b)
	case cString:
		return ordered[string](op, a, b)
	case cBool:
		return equality[bool](op, a, b)
	case cComplex64:
		return equality[complex64](op, a, b)
	case cComplex128:
		return equality[complex128](op, a, b)
	case cPtr:
		return equality[ptr](op, a, b)
	}
	return nil
}

func ordered[T cmp.Ordered](op token.Token, a, b any) ev[bool] {
	x, y := a.(ev[T]), b.(ev[T])
	switch op {
	case token.LSS:
		return func(fr *Frame) bool { p := x(fr); return p < y(fr) }
	case token.LEQ:
		return func(fr *Frame) bool { p := x(fr); return p <= y(fr) }
	case token.GTR:
		return func(fr *Frame) bool { p := x(fr); return p > y(fr) }
	case token.GEQ:
		return func(fr *Frame) bool { p := x(fr); return p >= y(fr) }
	}
	return equality[T](op, a, b)
}

func equality[T comparable](op token.Token, a, b any) ev[bool] {
	x, y := a.(ev[T]), b.(ev[T])
	if op == token.NEQ {
		return func(fr *Frame) bool { p := x(fr); return p != y(fr) }
	}
	return func(fr *Frame) bool { p := x(fr); return p == y(fr) }
}

// equal compiles a == b or a != b for two operands of type t.
func (c *compiler) equal(op token.Token, pos token.Pos, t types.Type, a, b any) ev[bool] {
	k := classOf(t)
	if e := compareOrdered(k, op, a, b); e != nil {
		return e
	}
	not := op == token.NEQ
	if k == cIface {
		x, y := a.(ev[iface]), b.(ev[iface])
		method := !isEmptyInterface(t)
		return func(fr *Frame) bool {
			p, q := x(fr), y(fr)
			if method {
				p, q = p.efaced(), q.efaced()
			}
			fr.pos = pos
			return (p.toAny() == q.toAny()) != not
		}
	}
	// Structs and arrays: the left side is copied, since computing the right one may change it.
	tmp := c.temp(t)
	set, left := c.ops(t).store(tmp, a), tmp.address()
	y, eq := b.(ev[ptr]), rtype.Equal(c.rt(t))
	return func(fr *Frame) bool {
		set(fr)
		q := y(fr)
		fr.pos = pos
		return eq(left(fr), q) != not
	}
}

func isEmptyInterface(t types.Type) bool {
	u, ok := t.Underlying().(*types.Interface)
	return ok && u.NumMethods() == 0
}

// efaced turns a value of an interface with methods into one without.
func (i iface) efaced() iface {
	if i.tab == nil {
		return i
	}
	return iface{itabType(i.tab), i.data}
}

// itab is the run time's method table of an interface value (internal/abi.ITab).
type itab struct {
	inter, typ ptr
	hash       uint32
	fun        [1]ptr
}

func itabType(tab ptr) ptr { return (*itab)(tab).typ }
