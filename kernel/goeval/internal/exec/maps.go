package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// Maps are reached through package reflect. Once a cell has started a goroutine, each operation takes
// a lock: a race on a map would end the process. Where the run time would notice the race, the cell ends.

// lockMap begins an operation on the map at p; unlockMap, given its result, ends it.
func (th *Thread) lockMap(p ptr, writes bool) (locked bool) {
	m := th.m
	if !m.parallel.Load() {
		return false
	}
	if !m.maps.TryLock() {
		switch {
		case p == nil:
		case m.written.Load() == uintptr(p) && writes:
			th.fatal("concurrent map writes")
		case m.written.Load() == uintptr(p), writes && m.read.Load() == uintptr(p):
			th.fatal("concurrent map read and map write")
		}
		m.maps.Lock()
	}
	if writes {
		m.written.Store(uintptr(p))
	} else {
		m.read.Store(uintptr(p))
	}
	return true
}

func (th *Thread) unlockMap(locked bool) {
	if locked {
		th.m.written.Store(0)
		th.m.read.Store(0)
		th.m.maps.Unlock()
	}
}

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
	vrt := c.rt(u.Elem())
	get := func(fr *Frame) {
		p := mp(fr)
		kp := kat(fr)
		setKey(fr, kp)
		fr.pos = pos
		r := fr.th.lookup(p, valueAt(rt, ptr(&p)), valueAt(krt, kp))
		dst := valueAt(vrt, vat(fr))
		if *(*bool)(fat(fr)) = r.IsValid(); r.IsValid() {
			dst.Set(r)
		} else {
			dst.SetZero()
		}
	}
	if f := fastMapGet(u, key); f != nil {
		get = f(mp, vat, fat, pos)
	}
	return value{t: u.Elem(), k: classOf(u.Elem()), ev: c.ops(u.Elem()).after(get, c.ops(u.Elem()).load(vt))}, found
}

func (th *Thread) lookup(p ptr, mv, key reflect.Value) reflect.Value {
	defer th.unlockMap(th.lockMap(p, false))
	return mv.MapIndex(key)
}

// mapStore compiles m[k] = v for compiled operands.
func (c *compiler) mapStore(x value, u *types.Map, key, val value, pos token.Pos) stmt {
	kt, vt := c.temp(u.Key()), c.temp(u.Elem())
	setKey, setVal := c.ops(u.Key()).into(key.ev), c.ops(u.Elem()).into(val.ev)
	kat, vat := kt.address(), vt.address()
	rt, krt, vrt := c.rt(x.t), c.rt(u.Key()), c.rt(u.Elem())
	mp := x.ev.(ev[ptr])
	if f := fastMapSet(u, key, val); f != nil {
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
		defer fr.th.unlockMap(fr.th.lockMap(p, true))
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
	rt, krt, mp, pos := c.rt(x.t), c.rt(u.Key()), x.ev.(ev[ptr]), e.Pos()
	return func(fr *Frame) ctl {
		p := mp(fr)
		kp := kat(fr)
		setKey(fr, kp)
		fr.pos = pos
		if p == nil {
			return ctlNext
		}
		defer fr.th.unlockMap(fr.th.lockMap(p, true))
		valueAt(rt, ptr(&p)).SetMapIndex(valueAt(krt, kp), reflect.Value{})
		return ctlNext
	}
}

// fastMapGet and fastMapSet serve maps with string and int keys without reflection: the memory of a
// map depends on the sizes of key and value, not on their names.
func fastMapGet(u *types.Map, key value) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	switch key.k {
	case cString:
		return fastGetFor[string](key, classOf(u.Elem()))
	case cInt:
		return fastGetFor[int](key, classOf(u.Elem()))
	}
	return nil
}

func fastGetFor[K comparable](key value, elem class) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	k := key.ev.(ev[K])
	switch elem {
	case cInt:
		return fastGet[K, int](k)
	case cBool:
		return fastGet[K, bool](k)
	case cString:
		return fastGet[K, string](k)
	case cFloat64:
		return fastGet[K, float64](k)
	case cPtr:
		return fastGet[K, ptr](k)
	case cSlice:
		return fastGet[K, []byte](k)
	}
	return nil
}

func fastGet[K comparable, V any](k ev[K]) func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
	return func(mp, vat, fat ev[ptr], pos token.Pos) func(*Frame) {
		return func(fr *Frame) {
			p := mp(fr)
			key := k(fr)
			locked := fr.th.lockMap(p, false)
			v, ok := (*(*map[K]V)(ptr(&p)))[key]
			fr.th.unlockMap(locked)
			*(*V)(vat(fr)) = v
			*(*bool)(fat(fr)) = ok
		}
	}
}

func fastMapSet(u *types.Map, key, val value) func(mp ev[ptr], pos token.Pos) stmt {
	switch key.k {
	case cString:
		return fastSetFor[string](key, val, classOf(u.Elem()))
	case cInt:
		return fastSetFor[int](key, val, classOf(u.Elem()))
	}
	return nil
}

func fastSetFor[K comparable](key, val value, elem class) func(mp ev[ptr], pos token.Pos) stmt {
	k := key.ev.(ev[K])
	switch elem {
	case cInt:
		return fastSet(k, val.ev.(ev[int]))
	case cBool:
		return fastSet(k, val.ev.(ev[bool]))
	case cString:
		return fastSet(k, val.ev.(ev[string]))
	case cFloat64:
		return fastSet(k, val.ev.(ev[float64]))
	case cPtr:
		return fastSet(k, val.ev.(ev[ptr]))
	}
	return nil
}

func fastSet[K comparable, V any](k ev[K], v ev[V]) func(mp ev[ptr], pos token.Pos) stmt {
	return func(mp ev[ptr], pos token.Pos) stmt {
		return func(fr *Frame) ctl {
			p := mp(fr)
			key, val := k(fr), v(fr)
			fr.pos = pos
			defer fr.th.unlockMap(fr.th.lockMap(p, true))
			(*(*map[K]V)(ptr(&p)))[key] = val
			return ctlNext
		}
	}
}
