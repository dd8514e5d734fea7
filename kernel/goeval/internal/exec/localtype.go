package exec

import (
	"go/types"
	"sort"
	"strings"
	"sync"

	"kafkalab/kernel/goeval/internal/rtype"
)

// A type declared inside a generic function is another type in each instance of the function.

var locals struct {
	sync.Mutex
	made map[*types.TypeName][]localType
}

type localType struct {
	args []types.Type
	t    *types.Named
}

// substLocal is the type that t is in the instance env of the function around its declaration; t itself
// if that function is not generic.
func substLocal(t *types.Named, env map[*types.TypeParam]types.Type) types.Type {
	params := around(t.Obj(), env)
	if len(params) == 0 {
		return t
	}
	var args []types.Type
	var names []string
	for _, p := range params {
		args = append(args, env[p])
		names = append(names, rtype.ArgumentText(env[p]))
	}
	made, fresh := localInstance(t, args, t.Obj().Name()+"["+strings.Join(names, ",")+"]")
	if fresh {
		made.SetUnderlying(subst(t.Underlying(), env))
	}
	return made
}

func localInstance(t *types.Named, args []types.Type, name string) (made *types.Named, fresh bool) {
	locals.Lock()
	defer locals.Unlock()
	for _, l := range locals.made[t.Obj()] {
		if identicalAll(l.args, args) {
			return l.t, false
		}
	}
	made = types.NewNamed(types.NewTypeName(t.Obj().Pos(), t.Obj().Pkg(), name, nil), nil, nil)
	rtype.SameNumber(made.Obj(), t.Obj())
	if locals.made == nil {
		locals.made = map[*types.TypeName][]localType{}
	}
	locals.made[t.Obj()] = append(locals.made[t.Obj()], localType{args, made})
	return made, true
}

// around finds the type parameters in env of the functions around obj's declaration, in their order.
func around(obj *types.TypeName, env map[*types.TypeParam]types.Type) []*types.TypeParam {
	if obj.Pkg() == nil || obj.Parent() == obj.Pkg().Scope() {
		return nil
	}
	var params []*types.TypeParam
	for s := obj.Parent(); s != nil; s = s.Parent() {
		for p := range env {
			if p.Obj().Parent() == s {
				params = append(params, p)
			}
		}
	}
	sort.Slice(params, func(i, j int) bool { return params[i].Index() < params[j].Index() })
	return params
}

func identicalAll(a, b []types.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !types.Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}
