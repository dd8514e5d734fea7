package exec

import (
	"go/ast"
	"go/token"
	"go/types"

	"kafkalab/kernel/goeval/internal/rtype"
)

// hoistCall is hoist for the operands of a call. A function variable, and what a receiver points to, are
// looked at after the calls among the arguments.
func (c *compiler) hoistCall(e *ast.CallExpr) func(*Frame) {
	s := hoistScan{c: c}
	s.callee(ast.Unparen(e.Fun))
	sig, _ := c.typeOf(e.Fun).Underlying().(*types.Signature)
	for i, a := range e.Args {
		s.operand(a, paramType(sig, i, e.Ellipsis.IsValid()))
	}
	return s.compile()
}

// paramType is the type that argument i is converted to; nil if unknown.
func paramType(sig *types.Signature, i int, spread bool) types.Type {
	if sig == nil || sig.Params().Len() == 0 {
		return nil
	}
	last := sig.Params().Len() - 1
	if sig.Variadic() && i >= last && !spread {
		if t, ok := sig.Params().At(last).Type().Underlying().(*types.Slice); ok {
			return t.Elem()
		}
		return nil
	}
	return sig.Params().At(min(i, last)).Type()
}

func (s *hoistScan) callee(fun ast.Expr) {
	info := s.c.u.Info
	switch f := fun.(type) {
	case *ast.FuncLit:
		return
	case *ast.Ident:
		if _, ok := info.Uses[f].(*types.Func); ok {
			return
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		if isGenericCallee(info, f) {
			return
		}
	case *ast.SelectorExpr:
		sel := info.Selections[f]
		if _, ok := info.Uses[f.Sel].(*types.Func); ok && sel == nil {
			return
		}
		if sel == nil || sel.Kind() != types.MethodVal {
			break
		}
		s.walk(f.X)
		_, pointer := sel.Recv().Underlying().(*types.Pointer)
		if pointer || types.IsInterface(sel.Recv()) {
			s.impure = true
		}
		return
	}
	s.walk(fun)
	s.impure = true
}

func isGenericCallee(info *types.Info, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IndexExpr:
		return isGenericFunc(info, e.X)
	case *ast.IndexListExpr:
		return isGenericFunc(info, e.X)
	}
	return false
}

// operand walks e, which is converted to type to. Where an interface needs the address of a value that has
// none, the compiler copies the value at its place among the calls.
func (s *hoistScan) operand(e ast.Expr, to types.Type) {
	if to != nil && types.IsInterface(s.c.typ(to)) && s.copiedForInterface(ast.Unparen(e)) {
		s.pure(e, e)
		return
	}
	s.walk(e)
}

func (s *hoistScan) copiedForInterface(e ast.Expr) bool {
	tv, ok := s.c.u.Info.Types[e]
	if !ok || tv.Value != nil || tv.IsNil() || tv.IsType() || tv.Addressable() {
		return false
	}
	t := s.c.typ(tv.Type)
	if _, ok := t.(*types.Tuple); ok || types.IsInterface(t) || !s.needsAddress(t) {
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return true
	case *ast.UnaryExpr:
		return e.Op != token.ARROW
	case *ast.CallExpr:
		return s.c.u.Info.Types[e.Fun].IsType()
	case *ast.IndexExpr:
		return !isGenericFunc(s.c.u.Info, e.X)
	case *ast.SelectorExpr, *ast.CompositeLit:
		return true
	}
	return false
}

// needsAddress reports whether the run time makes an interface of a t by its address: not of numbers of two
// bytes and more, of strings and of slices.
func (s *hoistScan) needsAddress(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString == 0 && rtype.Sizes.Sizeof(u) == 1 || u.Info()&types.IsComplex != 0 && rtype.Sizes.Sizeof(u) > 8
	case *types.Slice:
		return false
	case *types.Signature:
		return false
	}
	return true
}
