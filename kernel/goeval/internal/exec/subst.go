package exec

import "go/types"

// subst replaces type parameters in t. Types without any are returned as they are.
func subst(t types.Type, env map[*types.TypeParam]types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if a, ok := env[t]; ok {
			return a
		}
	case *types.Alias:
		return subst(types.Unalias(t), env)
	case *types.Pointer:
		if e := subst(t.Elem(), env); e != t.Elem() {
			return types.NewPointer(e)
		}
	case *types.Slice:
		if e := subst(t.Elem(), env); e != t.Elem() {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := subst(t.Elem(), env); e != t.Elem() {
			return types.NewArray(e, t.Len())
		}
	case *types.Chan:
		if e := subst(t.Elem(), env); e != t.Elem() {
			return types.NewChan(t.Dir(), e)
		}
	case *types.Map:
		k, e := subst(t.Key(), env), subst(t.Elem(), env)
		if k != t.Key() || e != t.Elem() {
			return types.NewMap(k, e)
		}
	case *types.Signature:
		return substSignature(t, env)
	case *types.Tuple:
		return substTuple(t, env)
	case *types.Struct:
		return substStruct(t, env)
	case *types.Interface:
		return substInterface(t, env)
	case *types.Named:
		return substNamed(t, env)
	}
	return t
}

func substTuple(t *types.Tuple, env map[*types.TypeParam]types.Type) *types.Tuple {
	vars, changed := make([]*types.Var, t.Len()), false
	for i := range vars {
		v := t.At(i)
		vt := subst(v.Type(), env)
		if vt != v.Type() {
			changed = true
			v = types.NewVar(v.Pos(), v.Pkg(), v.Name(), vt)
		}
		vars[i] = v
	}
	if !changed {
		return t
	}
	return types.NewTuple(vars...)
}

func substSignature(t *types.Signature, env map[*types.TypeParam]types.Type) types.Type {
	p, r := substTuple(t.Params(), env), substTuple(t.Results(), env)
	if p == t.Params() && r == t.Results() {
		return t
	}
	return types.NewSignatureType(nil, nil, nil, p, r, t.Variadic())
}

func substStruct(t *types.Struct, env map[*types.TypeParam]types.Type) types.Type {
	fields, tags, changed := make([]*types.Var, t.NumFields()), make([]string, t.NumFields()), false
	for i := range fields {
		f := t.Field(i)
		tags[i] = t.Tag(i)
		ft := subst(f.Type(), env)
		if ft != f.Type() {
			changed = true
			f = types.NewField(f.Pos(), f.Pkg(), f.Name(), ft, f.Embedded())
		}
		fields[i] = f
	}
	if !changed {
		return t
	}
	return types.NewStruct(fields, tags)
}

func substInterface(t *types.Interface, env map[*types.TypeParam]types.Type) types.Type {
	methods, changed := make([]*types.Func, t.NumMethods()), false
	for i := range methods {
		m := t.Method(i)
		mt := subst(m.Type(), env)
		if mt != m.Type() {
			changed = true
			m = types.NewFunc(m.Pos(), m.Pkg(), m.Name(), mt.(*types.Signature))
		}
		methods[i] = m
	}
	if !changed {
		return t
	}
	return types.NewInterfaceType(methods, nil).Complete()
}

func substNamed(t *types.Named, env map[*types.TypeParam]types.Type) types.Type {
	if t.TypeArgs().Len() == 0 {
		return substLocal(t, env)
	}
	args, changed := make([]types.Type, t.TypeArgs().Len()), false
	for i := range args {
		a := t.TypeArgs().At(i)
		args[i] = subst(a, env)
		changed = changed || args[i] != a
	}
	if !changed {
		return t
	}
	inst, err := types.Instantiate(instances, t.Origin(), args, false)
	if err != nil {
		return t
	}
	return inst
}

// instances makes equal instantiations the same type.
var instances = types.NewContext()
