package exec

import (
	"go/ast"
	"go/types"
	"reflect"

	"kafkalab/kernel/goeval/internal/rtype"
)

// dynType compiles the type word of an interface value.
func dynType(t types.Type, e ev[iface]) ev[iface] {
	if isEmptyInterface(t) {
		return e
	}
	return func(fr *Frame) iface { return e(fr).efaced() }
}

// matcher decides whether a type word fits t, and what the table word of the result is.
func (c *compiler) matcher(t types.Type) func(typ ptr) (ptr, bool) {
	rt := c.rt(t)
	if types.IsInterface(t) {
		if isEmptyInterface(t) {
			return func(typ ptr) (ptr, bool) { return typ, typ != nil }
		}
		find := c.m.itabFinder(rt)
		return func(typ ptr) (ptr, bool) {
			if typ == nil {
				return nil, false
			}
			return find(typ)
		}
	}
	want := rtype.Word(rt)
	same := c.m.sameType
	return func(typ ptr) (ptr, bool) { return typ, typ == want || typ != nil && same(typ, want) }
}

// sameType reports whether two type words are one type to the cells: a type that has got more methods
// since has a new descriptor.
func (m *Machine) sameType(a, b ptr) bool { return m.Space.Same(a, b) }

// asserted compiles x.(T) and reports failure through ok; x is evaluated once.
func (c *compiler) asserted(e *ast.TypeAssertExpr, t types.Type) (test func(fr *Frame) bool, v value, at ev[ptr]) {
	x := c.expr(e.X)
	dyn, match := dynType(x.t, x.ev.(ev[iface])), c.matcher(t)
	tmp := c.temp(anyType)
	at = tmp.address()
	test = func(fr *Frame) bool {
		d := dyn(fr)
		tab, ok := match(d.tab)
		if ok {
			*(*iface)(at(fr)) = iface{tab, d.data}
		} else {
			*(*iface)(at(fr)) = d
		}
		return ok
	}
	held := scalar[iface]{}.load(tmp).(ev[iface])
	if types.IsInterface(t) {
		return test, value{t: t, k: cIface, ev: held}, at
	}
	return test, value{t: t, k: classOf(t), ev: c.ops(t).unbox(rtype.Direct(c.rt(t)), held)}, at
}

var anyType = types.Universe.Lookup("any").Type().Underlying()

// assertion compiles x.(T) with a panic on failure.
func (c *compiler) assertion(e *ast.TypeAssertExpr) value {
	t := c.typeOf(e.Type)
	test, v, held := c.asserted(e, t)
	from, to := c.rt(c.typeOf(e.X)), c.rt(t)
	pos := e.Pos()
	check := func(fr *Frame) {
		if test(fr) {
			return
		}
		fr.pos = pos
		failAssertion(from, to, (*(*iface)(held(fr))).tab)
	}
	return value{t: t, k: v.k, ev: c.ops(t).after(check, v.ev)}
}

func failAssertion(from, to reflect.Type, typ ptr) {
	missing := ""
	if typ != nil && to.Kind() == reflect.Interface {
		missing = missingMethod(to, typ)
	}
	inter := rtype.Word(from)
	if to.Kind() == reflect.Interface {
		inter = nil
	}
	if typ == nil {
		assertionFails(inter, nil, rtype.Word(to), "")
	}
	assertionFails(inter, typ, rtype.Word(to), missing)
}
