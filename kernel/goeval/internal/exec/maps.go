package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// Maps are reached through package reflect. Once a cell has started a goroutine, each operation takes
// a lock: a race on a map would end the process.

func (m *Machine) lockMap() func() {
	if !m.parallel.Load() {
		return nothing
	}
	m.maps.Lock()
	return m.maps.Unlock
}

func nothing() {}

// mapIndex compiles m[k]; found is where the comma-ok form reads its second value.
func (c *compiler) mapIndex(e *ast.IndexExpr, x value, u *types.Map) (v value, found loc) {
	return c.mapRead(x, u, c.exprTo(e.Index, u.Key()), e.Pos())
}

func (c *compiler) mapRead(x value, u *types.Map, key value, pos token.Pos) (v value, found loc) {
	rt, krt := c.rt(x.t), c.rt(u.Key())
	kt, vt := c.temp(u.Key()), c.temp(u.Elem())
	found = c.temp(types.Typ[types.Bool])
	mp, setKey := x.ev.(ev[ptr]), c.ops(u.Key()).into(key.ev)
	kat, vat, fat := kt.address(), vt.address(), found.address()
	vrt, m := c.rt(u.Elem()), c.m
	get := func(fr *Frame) {
		p := mp(fr)
		kp := kat(fr)
		setKey(fr, kp)
		fr.pos = pos
		r := m.lookup(valueAt(rt, ptr(&p)), valueAt(krt, kp))
		dst := valueAt(vrt, vat(fr))
		if *(*bool)(fat(fr)) = r.IsValid(); r.IsValid() {
			dst.Set(r)
		} else {
			dst.SetZero()
		}
	}
	if f := fastMapGet(u, key, c.m); f != nil {
		get = f(mp, vat, fat, pos)
	}
	return value{t: u.Elem(), k: classOf(u.Elem()), ev: c.ops(u.Elem()).after(get, c.ops(u.Elem()).load(vt))}, found
}

func (m *Machine) lookup(mv, key reflect.Value) reflect.Value {
	defer m.lockMap()()
	return mv.MapIndex(key)
}

// mapStore compiles m[k] = v for compiled operands.
func (c *compiler) mapStore(x value, u *types.Map, key, val value, pos token.Pos) stmt {
	kt, vt := c.temp(u.Key()), c.temp(u.Elem())
	setKey, setVal := c.ops(u.Key()).into(key.ev), c.ops(u.Elem()).into(val.ev)
	kat, vat := kt.address(), vt.address()
	rt, krt, vrt := c.rt(x.t), c.rt(u.Key()), c.rt(u.Elem())
	mp, m := x.ev.(ev[ptr]), c.m
	if f := fastMapSet(u, key, val, m); f != nil {
		return f(mp, pos)
	}
	return func(fr *Frame) ctl {
		p := mp(fr)
		kp, vp := kat(fr), vat(fr)
		setKey(fr, kp)
		setVal(fr, vp)
		fr.pos = pos
		if p == nil {
			nilMapWrite()
		}
		unlock := m.lockMap()
		defer unlock()
		valueAt(rt, ptr(&p)).SetMapIndex(valueAt(krt, kp), valueAt(vrt, vp))
		return ctlNext
	}
}

func nilMapWrite() {
	var m map[int]int
	m[0] = 0
}

// mapDelete compiles delete(m, k).
func (c *compiler) mapDelete(e *ast.CallExpr) stmt {
	x := c.expr(e.Args[0])
	u := x.t.Underlying().(*types.Map)
	key := c.exprTo(e.Args[1], u.Key())
	kt := c.temp(u.Key())
	setKey, kat := c.ops(u.Key()).into(key.ev), kt.address()
	rt, krt, mp, m, pos := c.rt(x.t), c.rt(u.Key()), x.ev.(ev[ptr]), c.m, e.Pos()
	return func(fr *Frame) ctl {
		p := mp(fr)
		kp := kat(fr)
		setKey(fr, kp)
		fr.pos = pos
		if p == nil {
			return ctlNext
		}
		unlock := m.lockMap()
		defer unlock()
		valueAt(rt, ptr(&p)).SetMapIndex(valueAt(krt, kp), reflect.Value{})
		return ctlNext
	}
}

// fastMapGet and fastMapSet serve maps with string and int keys without reflection: the memory of a
// map depends on the sizes of key and value, not on their names.
func fastMapGet(u *types.Map, key value, m *Machine) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	switch key.k {
	case cString:
		return fastGetFor[string](key, m, classOf(u.Elem()))
	case cInt:
		return fastGetFor[int](key, m, classOf(u.Elem()))
	}
	return nil
}

func fastGetFor[K comparable](key value, m *Machine, elem class) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	k := key.ev.(ev[K])
	switch elem {
	case cInt:
		return fastGet[K, int](k, m)
	case cBool:
		return fastGet[K, bool](k, m)
	case cString:
		return fastGet[K, string](k, m)
	case cFloat64:
		return fastGet[K, float64](k, m)
	case cPtr:
		return fastGet[K, ptr](k, m)
	case cSlice:
		return fastGet[K, []byte](k, m)
	}
	return nil
}

func fastGet[K comparable, V any](k ev[K], m *Machine) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	return func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
		return func(fr *Frame) {
			p := mp(fr)
			key := k(fr)
			unlock := m.lockMap()
			v, ok := (*(*map[K]V)(ptr(&p)))[key]
			unlock()
			*(*V)(vat(fr)) = v
			*(*bool)(fat(fr)) = ok
		}
	}
}

func fastMapSet(u *types.Map, key, val value, m *Machine) func(mp ev[ptr], pos token.Pos) stmt {
	switch key.k {
	case cString:
		return fastSetFor[string](key, val, m, classOf(u.Elem()))
	case cInt:
		return fastSetFor[int](key, val, m, classOf(u.Elem()))
	}
	return nil
}

func fastSetFor[K comparable](key, val value, m *Machine, elem class) func(mp ev[ptr], pos token.Pos) stmt {
	k := key.ev.(ev[K])
	switch elem {
	case cInt:
		return fastSet(k, val.ev.(ev[int]), m)
	case cBool:
		return fastSet(k, val.ev.(ev[bool]), m)
	case cString:
		return fastSet(k, val.ev.(ev[string]), m)
	case cFloat64:
		return fastSet(k, val.ev.(ev[float64]), m)
	case cPtr:
		return fastSet(k, val.ev.(ev[ptr]), m)
	}
	return nil
}

func fastSet[K comparable, V any](k ev[K], v ev[V], m *Machine) func(mp ev[ptr], pos token.Pos) stmt {
	return func(mp ev[ptr], pos token.Pos) stmt {
		return func(fr *Frame) ctl {
			p := mp(fr)
			key, val := k(fr), v(fr)
			fr.pos = pos
			unlock := m.lockMap()
			defer unlock()
			(*(*map[K]V)(ptr(&p)))[key] = val
			return ctlNext
		}
	}
}
