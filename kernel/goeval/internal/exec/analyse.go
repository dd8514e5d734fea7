package exec

import (
	"go/ast"
	"go/token"
	"go/types"
)

// escapes finds the variables of a function that must live in cells of their own: those that a
// function literal uses from outside, and those whose address is taken.
func escapes(info *types.Info, body ast.Node) map[*types.Var]bool {
	s := &escapeScan{info: info, out: map[*types.Var]bool{}, owner: map[*types.Var]*ast.FuncLit{}}
	s.walk(body, nil)
	return s.out
}

type escapeScan struct {
	info  *types.Info
	out   map[*types.Var]bool
	owner map[*types.Var]*ast.FuncLit // the literal that declares a variable; absent: the function
}

func (s *escapeScan) walk(n ast.Node, lit *ast.FuncLit) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if n == lit {
				return true
			}
			s.declareParams(n)
			s.walk(n.Body, n)
			return false
		case *ast.Ident:
			s.ident(n, lit)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				s.root(n.X)
			}
		case *ast.SliceExpr:
			if mayBeArray(s.info, n.X) {
				s.root(n.X)
			}
		case *ast.SelectorExpr:
			s.selector(n)
		case *ast.CaseClause:
			if v, ok := s.info.Implicits[n].(*types.Var); ok {
				s.owner[v] = lit
			}
		}
		return true
	})
}

func (s *escapeScan) declareParams(lit *ast.FuncLit) {
	for _, fields := range []*ast.FieldList{lit.Type.Params, lit.Type.Results} {
		if fields == nil {
			continue
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				if v, ok := s.info.Defs[name].(*types.Var); ok {
					s.owner[v] = lit
				}
			}
		}
	}
}

func (s *escapeScan) ident(id *ast.Ident, lit *ast.FuncLit) {
	if v, ok := s.info.Defs[id].(*types.Var); ok {
		s.owner[v] = lit
		return
	}
	if v, ok := s.info.Uses[id].(*types.Var); ok && !v.IsField() && s.owner[v] != lit {
		s.out[v] = true
	}
}

// selector marks the receiver of a pointer method called on a variable.
func (s *escapeScan) selector(e *ast.SelectorExpr) {
	sel := s.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal {
		return
	}
	f, ok := sel.Obj().(*types.Func)
	if !ok {
		return
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return
	}
	// Inside generic code the receiver's type is not known yet, so it is taken to be needed.
	_, wantsPtr := types.Unalias(recv.Type()).(*types.Pointer)
	_, param := types.Unalias(sel.Recv()).(*types.TypeParam)
	if wantsPtr || param {
		s.root(e.X)
	}
}

// root marks the variable that x is a part of.
func (s *escapeScan) root(x ast.Expr) {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.Ident:
			if v, ok := s.info.ObjectOf(e).(*types.Var); ok {
				s.out[v] = true
			}
			return
		case *ast.SelectorExpr:
			if _, ok := under(s.info, e.X).(*types.Pointer); ok || s.info.Selections[e] == nil {
				return
			}
			x = e.X
		case *ast.IndexExpr:
			if !mayBeArray(s.info, e.X) {
				return
			}
			x = e.X
		default:
			return
		}
	}
}

// mayBeArray also takes type parameters: what they are is not known yet.
func mayBeArray(info *types.Info, e ast.Expr) bool {
	t := info.TypeOf(e)
	if t == nil {
		return false
	}
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return true
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

func under(info *types.Info, e ast.Expr) types.Type {
	t := info.TypeOf(e)
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// hasDefer reports whether a function body defers, outside of literals in it.
func hasDefer(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.DeferStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}
