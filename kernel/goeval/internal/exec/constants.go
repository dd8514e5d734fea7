package exec

import (
	"go/ast"
	"go/constant"
	"go/types"
	"math"
)

// constant makes the value of a constant of type t; go/types has checked that it fits.
func (c *compiler) constant(val constant.Value, t types.Type) value {
	v := value{t: t, k: classOf(t), c: val}
	if types.IsInterface(t) {
		return c.convert(c.constant(val, defaultOf(val)), t)
	}
	v.ev = constantEv(val, v.k)
	if v.ev == nil {
		c.refuse(c.at, "internal error: constant %s of type %s", val, t)
	}
	return v
}

func defaultOf(val constant.Value) types.Type {
	switch val.Kind() {
	case constant.Bool:
		return types.Typ[types.Bool]
	case constant.String:
		return types.Typ[types.String]
	case constant.Int:
		return types.Typ[types.Int]
	case constant.Float:
		return types.Typ[types.Float64]
	}
	return types.Typ[types.Complex128]
}

func fixed[T any](x T) any { return ev[T](func(*Frame) T { return x }) }

func constantEv(val constant.Value, k class) any {
	switch {
	case k == cBool:
		return fixed(constant.BoolVal(val))
	case k == cString:
		return fixed(constant.StringVal(val))
	case k.isInt():
		return constantInt(val, k)
	case k == cFloat32:
		f, _ := constant.Float32Val(constant.ToFloat(val))
		return fixed(f)
	case k == cFloat64:
		f, _ := constant.Float64Val(constant.ToFloat(val))
		return fixed(f)
	case k == cComplex64:
		re, _ := constant.Float32Val(constant.Real(val))
		im, _ := constant.Float32Val(constant.Imag(val))
		return fixed(complex(re, im))
	case k == cComplex128:
		re, _ := constant.Float64Val(constant.Real(val))
		im, _ := constant.Float64Val(constant.Imag(val))
		return fixed(complex(re, im))
	}
	return nil
}

// constBits is the value of an integer constant as 64 bits.
func constBits(val constant.Value) uint64 {
	val = constant.ToInt(val)
	if i, ok := constant.Int64Val(val); ok {
		return uint64(i)
	}
	u, ok := constant.Uint64Val(val)
	if !ok {
		return math.MaxUint64
	}
	return u
}

func constantInt(val constant.Value, k class) any {
	b := constBits(val)
	switch k {
	case cInt:
		return fixed(int(b))
	case cInt8:
		return fixed(int8(b))
	case cInt16:
		return fixed(int16(b))
	case cInt32:
		return fixed(int32(b))
	case cInt64:
		return fixed(int64(b))
	case cUint:
		return fixed(uint(b))
	case cUint8:
		return fixed(uint8(b))
	case cUint16:
		return fixed(uint16(b))
	case cUint32:
		return fixed(uint32(b))
	case cUint64:
		return fixed(b)
	}
	return fixed(uintptr(b))
}

// isNil reports whether e is the predeclared nil.
func (c *compiler) isNil(e ast.Expr) bool {
	tv := c.u.Info.Types[e]
	return tv.IsNil()
}
