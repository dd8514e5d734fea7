package exec

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// runtimeError is a run-time panic whose text compiled code builds in the run time itself.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError marks e as the run time's own (runtime.Error).
func (e runtimeError) RuntimeError() {}

// number converts between real number classes, in the Go types themselves.
func number(from, to class, e any) any {
	switch from {
	case cInt:
		return numberFrom(to, e.(ev[int]))
	case cInt8:
		return numberFrom(to, e.(ev[int8]))
	case cInt16:
		return numberFrom(to, e.(ev[int16]))
	case cInt32:
		return numberFrom(to, e.(ev[int32]))
	case cInt64:
		return numberFrom(to, e.(ev[int64]))
	case cUint:
		return numberFrom(to, e.(ev[uint]))
	case cUint8:
		return numberFrom(to, e.(ev[uint8]))
	case cUint16:
		return numberFrom(to, e.(ev[uint16]))
	case cUint32:
		return numberFrom(to, e.(ev[uint32]))
	case cUint64:
		return numberFrom(to, e.(ev[uint64]))
	case cUintptr:
		return numberFrom(to, e.(ev[uintptr]))
	case cFloat32:
		return numberFrom(to, e.(ev[float32]))
	case cFloat64:
		return numberFrom(to, e.(ev[float64]))
	}
	return nil
}

func numberFrom[F integer | float](to class, e ev[F]) any {
	switch to {
	case cInt:
		return numberTo[F, int](e)
	case cInt8:
		return numberTo[F, int8](e)
	case cInt16:
		return numberTo[F, int16](e)
	case cInt32:
		return numberTo[F, int32](e)
	case cInt64:
		return numberTo[F, int64](e)
	case cUint:
		return numberTo[F, uint](e)
	case cUint8:
		return numberTo[F, uint8](e)
	case cUint16:
		return numberTo[F, uint16](e)
	case cUint32:
		return numberTo[F, uint32](e)
	case cUint64:
		return numberTo[F, uint64](e)
	case cUintptr:
		return numberTo[F, uintptr](e)
	case cFloat32:
		return numberTo[F, float32](e)
	case cFloat64:
		return numberTo[F, float64](e)
	}
	return nil
}

func numberTo[F, T integer | float](e ev[F]) any {
	return ev[T](func(fr *Frame) T { return T(e(fr)) })
}

// toBits widens any integer to 64 bits, with its sign.
func toBits(k class, e any) ev[uint64] {
	if k == cUint64 {
		return e.(ev[uint64])
	}
	if k.isSigned() {
		i := toInt64(k, e)
		return func(fr *Frame) uint64 { return uint64(i(fr)) }
	}
	return number(k, cUint64, e).(ev[uint64])
}

func toInt64(k class, e any) ev[int64] {
	if k == cInt64 {
		return e.(ev[int64])
	}
	return number(k, cInt64, e).(ev[int64])
}
