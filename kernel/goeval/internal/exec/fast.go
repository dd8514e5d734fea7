package exec

import (
	"go/token"
	"unsafe"
)

// Shortcuts for the commonest shapes: int variables of the frame against each other and against
// constants. They compute what arith and compareOrdered would.

// frameInt reports whether v is an int that lies in the frame.
func frameInt(v value) (uintptr, bool) {
	if v.k == cInt && v.loc != nil && v.loc.kind == locFrame {
		return v.loc.off, true
	}
	return 0, false
}

func constInt(v value) (int, bool) {
	if v.k == cInt && v.c != nil {
		return int(constBits(v.c)), true
	}
	return 0, false
}

func intAt(fr *Frame, off uintptr) int { return *(*int)(unsafe.Add(fr.mem, off)) }

func fastInt(op token.Token, x, y value) any {
	a, aok := frameInt(x)
	if n, ok := constInt(y); ok && aok {
		switch op {
		case token.ADD:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) + n })
		case token.SUB:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) - n })
		case token.MUL:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) * n })
		}
	}
	if b, ok := frameInt(y); ok && aok {
		switch op {
		case token.ADD:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) + intAt(fr, b) })
		case token.SUB:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) - intAt(fr, b) })
		case token.MUL:
			return ev[int](func(fr *Frame) int { return intAt(fr, a) * intAt(fr, b) })
		}
	}
	return nil
}

func fastCompare(op token.Token, x, y value) ev[bool] {
	a, aok := frameInt(x)
	if !aok {
		return nil
	}
	if n, ok := constInt(y); ok {
		return compareIntConst(op, a, n)
	}
	if b, ok := frameInt(y); ok {
		return compareInts(op, a, b)
	}
	return nil
}

func compareIntConst(op token.Token, a uintptr, n int) ev[bool] {
	switch op {
	case token.LSS:
		return func(fr *Frame) bool { return intAt(fr, a) < n }
	case token.LEQ:
		return func(fr *Frame) bool { return intAt(fr, a) <= n }
	case token.GTR:
		return func(fr *Frame) bool { return intAt(fr, a) > n }
	case token.GEQ:
		return func(fr *Frame) bool { return intAt(fr, a) >= n }
	case token.EQL:
		return func(fr *Frame) bool { return intAt(fr, a) == n }
	}
	return func(fr *Frame) bool { return intAt(fr, a) != n }
}

func compareInts(op token.Token, a, b uintptr) ev[bool] {
	switch op {
	case token.LSS:
		return func(fr *Frame) bool { return intAt(fr, a) < intAt(fr, b) }
	case token.LEQ:
		return func(fr *Frame) bool { return intAt(fr, a) <= intAt(fr, b) }
	case token.GTR:
		return func(fr *Frame) bool { return intAt(fr, a) > intAt(fr, b) }
	case token.GEQ:
		return func(fr *Frame) bool { return intAt(fr, a) >= intAt(fr, b) }
	case token.EQL:
		return func(fr *Frame) bool { return intAt(fr, a) == intAt(fr, b) }
	}
	return func(fr *Frame) bool { return intAt(fr, a) != intAt(fr, b) }
}
