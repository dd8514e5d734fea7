package exec

import (
	"go/token"
)

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type float interface{ ~float32 | ~float64 }

type complexes interface{ ~complex64 | ~complex128 }

// arith compiles a op b for two operands of one class. What can fail tells the frame where it is first.
func arith(k class, op token.Token, pos token.Pos, a, b any) any {
	switch k {
	case cInt:
		return arithInt[int](op, pos, a, b)
	case cInt8:
		return arithInt[int8](op, pos, a, b)
	case cInt16:
		return arithInt[int16](op, pos, a, b)
	case cInt32:
		return arithInt[int32](op, pos, a, b)
	case cInt64:
		return arithInt[int64](op, pos, a, b)
	case cUint:
		return arithInt[uint](op, pos, a, b)
	case cUint8:
		return arithInt[uint8](op, pos, a, b)
	case cUint16:
		return arithInt[uint16](op, pos, a, b)
	case cUint32:
		return arithInt[uint32](op, pos, a, b)
	case cUint64:
		return arithInt[uint64](op, pos, a, b)
	case cUintptr:
		return arithInt[uintptr](op, pos, a, b)
	case cFloat32:
		return arithField[float32](op, a, b)
	case cFloat64:
		return arithField[float64](op, a, b)
	case cComplex64:
		return arithField[complex64](op, a, b)
	case cComplex128:
		return arithField[complex128](op, a, b)
	case cString:
		x, y := a.(ev[string]), b.(ev[string])
		return ev[string](func(fr *Frame) string {
			p := x(fr)
			q := y(fr)
			if len(p)+len(q) > large {
				fr.pos = pos
				fr.th.m.fits(uintptr(len(p) + len(q)))
			}
			return p + q
		})
	}
	return nil
}

// arithField is the arithmetic of floating-point and complex numbers. Products are converted before
// they are added to, so that no fused multiply-add changes a last digit.
func arithField[T float | complexes](op token.Token, a, b any) any {
	x, y := a.(ev[T]), b.(ev[T])
	switch op {
	case token.ADD:
		return ev[T](func(fr *Frame) T { p := x(fr); return p + y(fr) })
	case token.SUB:
		return ev[T](func(fr *Frame) T { p := x(fr); return p - y(fr) })
	case token.MUL:
		return ev[T](func(fr *Frame) T { p := x(fr); return p * y(fr) })
	case token.QUO:
		return ev[T](func(fr *Frame) T { p := x(fr); return p / y(fr) })
	}
	return nil
}

func arithInt[T integer](op token.Token, pos token.Pos, a, b any) any {
	x, y := a.(ev[T]), b.(ev[T])
	switch op {
	case token.ADD:
		return ev[T](func(fr *Frame) T { p := x(fr); return p + y(fr) })
	case token.SUB:
		return ev[T](func(fr *Frame) T { p := x(fr); return p - y(fr) })
	case token.MUL:
		return ev[T](func(fr *Frame) T { p := x(fr); return p * y(fr) })
	case token.QUO:
		return ev[T](func(fr *Frame) T {
			p, q := x(fr), y(fr)
			if q == 0 {
				fr.pos = pos
			}
			return p / q
		})
	case token.REM:
		return ev[T](func(fr *Frame) T {
			p, q := x(fr), y(fr)
			if q == 0 {
				fr.pos = pos
			}
			return p % q
		})
	case token.AND:
		return ev[T](func(fr *Frame) T { p := x(fr); return p & y(fr) })
	case token.OR:
		return ev[T](func(fr *Frame) T { p := x(fr); return p | y(fr) })
	case token.XOR:
		return ev[T](func(fr *Frame) T { p := x(fr); return p ^ y(fr) })
	case token.AND_NOT:
		return ev[T](func(fr *Frame) T { p := x(fr); return p &^ y(fr) })
	}
	return nil
}

// shift compiles a << n and a >> n; n has been widened to uint64, and signed is set when it came from a
// signed type and may be negative.
func shift(k class, op token.Token, pos token.Pos, a any, n ev[uint64], signed bool) any {
	switch k {
	case cInt:
		return shiftInt[int](op, pos, a, n, signed)
	case cInt8:
		return shiftInt[int8](op, pos, a, n, signed)
	case cInt16:
		return shiftInt[int16](op, pos, a, n, signed)
	case cInt32:
		return shiftInt[int32](op, pos, a, n, signed)
	case cInt64:
		return shiftInt[int64](op, pos, a, n, signed)
	case cUint:
		return shiftInt[uint](op, pos, a, n, signed)
	case cUint8:
		return shiftInt[uint8](op, pos, a, n, signed)
	case cUint16:
		return shiftInt[uint16](op, pos, a, n, signed)
	case cUint32:
		return shiftInt[uint32](op, pos, a, n, signed)
	case cUint64:
		return shiftInt[uint64](op, pos, a, n, signed)
	case cUintptr:
		return shiftInt[uintptr](op, pos, a, n, signed)
	}
	return nil
}

func shiftInt[T integer](op token.Token, pos token.Pos, a any, n ev[uint64], signed bool) any {
	x := a.(ev[T])
	if op == token.SHL {
		return ev[T](func(fr *Frame) T { p := x(fr); return p << checkShift(fr, pos, n(fr), signed) })
	}
	return ev[T](func(fr *Frame) T { p := x(fr); return p >> checkShift(fr, pos, n(fr), signed) })
}

func checkShift(fr *Frame, pos token.Pos, n uint64, signed bool) uint64 {
	if signed && int64(n) < 0 {
		fr.pos = pos
		return uint64(1) << int64(n) // panics as compiled code does
	}
	return n
}

// negate compiles -x, complement ^x.
func negate(k class, op token.Token, a any) any {
	switch k {
	case cInt:
		return negateInt[int](op, a)
	case cInt8:
		return negateInt[int8](op, a)
	case cInt16:
		return negateInt[int16](op, a)
	case cInt32:
		return negateInt[int32](op, a)
	case cInt64:
		return negateInt[int64](op, a)
	case cUint:
		return negateInt[uint](op, a)
	case cUint8:
		return negateInt[uint8](op, a)
	case cUint16:
		return negateInt[uint16](op, a)
	case cUint32:
		return negateInt[uint32](op, a)
	case cUint64:
		return negateInt[uint64](op, a)
	case cUintptr:
		return negateInt[uintptr](op, a)
	case cFloat32:
		return negateField[float32](a)
	case cFloat64:
		return negateField[float64](a)
	case cComplex64:
		return negateField[complex64](a)
	case cComplex128:
		return negateField[complex128](a)
	}
	return nil
}

func negateInt[T integer](op token.Token, a any) any {
	x := a.(ev[T])
	if op == token.XOR {
		return ev[T](func(fr *Frame) T { return ^x(fr) })
	}
	return ev[T](func(fr *Frame) T { return -x(fr) })
}

func negateField[T float | complexes](a any) any {
	x := a.(ev[T])
	return ev[T](func(fr *Frame) T { return -x(fr) })
}
