package exec

import (
	"cmp"
	"go/ast"
	"go/types"
)

// extreme compiles min and max.
func (c *compiler) extreme(e *ast.CallExpr, name string, t types.Type) any {
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	x := c.exprTo(e.Args[0], t)
	all := x.ev
	for _, a := range e.Args[1:] {
		all = extremeOf(x.k, name == "max", all, c.exprTo(a, t).ev)
	}
	return all
}

func extremeOf(k class, most bool, a, b any) any {
	switch k {
	case cInt:
		return extreme2[int](most, a, b)
	case cInt8:
		return extreme2[int8](most, a, b)
	case cInt16:
		return extreme2[int16](most, a, b)
	case cInt32:
		return extreme2[int32](most, a, b)
	case cInt64:
		return extreme2[int64](most, a, b)
	case cUint:
		return extreme2[uint](most, a, b)
	case cUint8:
		return extreme2[uint8](most, a, b)
	case cUint16:
		return extreme2[uint16](most, a, b)
	case cUint32:
		return extreme2[uint32](most, a, b)
	case cUint64:
		return extreme2[uint64](most, a, b)
	case cUintptr:
		return extreme2[uintptr](most, a, b)
	case cFloat32:
		return extreme2[float32](most, a, b)
	case cFloat64:
		return extreme2[float64](most, a, b)
	case cString:
		return extreme2[string](most, a, b)
	}
	return nil
}

func extreme2[T cmp.Ordered](most bool, a, b any) any {
	x, y := a.(ev[T]), b.(ev[T])
	if most {
		return ev[T](func(fr *Frame) T { p := x(fr); return max(p, y(fr)) })
	}
	return ev[T](func(fr *Frame) T { p := x(fr); return min(p, y(fr)) })
}

// complexOf compiles complex(re, im).
func (c *compiler) complexOf(e *ast.CallExpr, k class) any {
	if k == cComplex64 {
		t := types.Typ[types.Float32]
		re, im := c.exprTo(e.Args[0], t).ev.(ev[float32]), c.exprTo(e.Args[1], t).ev.(ev[float32])
		return ev[complex64](func(fr *Frame) complex64 { r := re(fr); return complex(r, im(fr)) })
	}
	t := types.Typ[types.Float64]
	re, im := c.exprTo(e.Args[0], t).ev.(ev[float64]), c.exprTo(e.Args[1], t).ev.(ev[float64])
	return ev[complex128](func(fr *Frame) complex128 { r := re(fr); return complex(r, im(fr)) })
}

// partOf compiles real and imag.
func (c *compiler) partOf(e *ast.CallExpr, name string) any {
	switch x := c.expr(e.Args[0]).ev.(type) {
	case ev[complex64]:
		if name == "real" {
			return ev[float32](func(fr *Frame) float32 { return real(x(fr)) })
		}
		return ev[float32](func(fr *Frame) float32 { return imag(x(fr)) })
	case ev[complex128]:
		if name == "real" {
			return ev[float64](func(fr *Frame) float64 { return real(x(fr)) })
		}
		return ev[float64](func(fr *Frame) float64 { return imag(x(fr)) })
	}
	return nil
}
