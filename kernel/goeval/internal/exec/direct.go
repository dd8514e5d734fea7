package exec

import (
	"go/token"
	"go/types"
	"reflect"
)

// direct compiles a call of a compiled function without package reflect, for the commonest shapes; nil
// for all others.
func (c *compiler) direct(to callee, parts []part, temps []loc, pos token.Pos) func(*Frame) {
	return nil
}

// compiledInstance finds a ready instance of a generic function of a compiled package.
func (m *Machine) compiledInstance(obj *types.Func, args []types.Type) (reflect.Value, bool) {
	return reflect.Value{}, false
}
