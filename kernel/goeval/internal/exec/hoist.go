package exec

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"kafkalab/kernel/goeval/internal/rtype"
)

// The order of evaluation: Go fixes the order of calls, receives and map reads, and leaves open when
// variables are read among them. The compiler reads variables last: it performs the calls of a
// statement first, into temporaries. To print what compiled Go prints, hoist does the same wherever a
// call could change what an earlier operand reads.

// hoist looks at operands in order and compiles the calls among them into temporaries if one of them
// could change an operand before it. The result runs them; nil if there is nothing to do.
func (c *compiler) hoist(operands ...ast.Expr) func(*Frame) {
	s := hoistScan{c: c}
	for _, e := range operands {
		s.walk(e)
	}
	return s.compile()
}

// operand is an expression, and the type that it is converted to; nil if that does not matter.
type operand struct {
	e  ast.Expr
	to types.Type
}

// hoistOperands is hoist for operands that may be converted to interfaces.
func (c *compiler) hoistOperands(ops []operand) func(*Frame) {
	s := hoistScan{c: c}
	for _, o := range ops {
		s.operand(o.e, o.to)
	}
	return s.compile()
}

// scope lets what is hoisted from here on be forgotten at the end of an expression or statement: if it is
// compiled again, its calls must be computed again.
func (f *fnState) scope() func() {
	n := len(f.lifted)
	return func() {
		for _, e := range f.lifted[n:] {
			delete(f.hoisted, e)
		}
		f.lifted = f.lifted[:n]
	}
}

// hoistOp is hoist for lhs op= rhs: lhs is read after the calls in rhs.
func (c *compiler) hoistOp(lhs, rhs ast.Expr) func(*Frame) {
	s := hoistScan{c: c}
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		s.walk(x.X)
		s.walk(x.Index)
		s.impure = true
	} else {
		s.walk(lhs)
	}
	s.walk(rhs)
	return s.compile()
}

// hoistAssign is hoist for lhs = rhs: the calls in lhs come first, since the rest of lhs is looked at
// when the value is there.
func (c *compiler) hoistAssign(lhs, rhs ast.Expr) func(*Frame) {
	s := hoistScan{c: c}
	for _, e := range operandsOf(lhs) {
		s.walk(e)
	}
	s.needed = len(s.calls) > 0
	s.walk(rhs)
	return s.compile()
}

// compile puts the calls found into temporaries if that is needed.
func (s *hoistScan) compile() func(*Frame) {
	c := s.c
	if !s.needed {
		return nil
	}
	var pre []stmt
	for _, e := range s.calls {
		v := c.expr(e)
		t := v.t
		if v.ev == nil {
			continue
		}
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = types.Default(t)
		}
		tmp := c.temp(t)
		pre = append(pre, c.ops(t).store(tmp, v.ev))
		c.fn.hoisted[e] = tmp
		c.fn.lifted = append(c.fn.lifted, e)
	}
	return func(fr *Frame) {
		for _, p := range pre {
			p(fr)
		}
	}
}

type hoistScan struct {
	c      *compiler
	impure bool // an operand so far reads what a call may change
	needed bool
	calls  []ast.Expr
}

func (s *hoistScan) call(e ast.Expr) {
	if t, ok := s.c.u.Info.TypeOf(e).(*types.Tuple); ok && t.Len() != 1 {
		return // f(g()) with several results: nothing stands beside it
	}
	s.calls = append(s.calls, e)
	s.needed = s.needed || s.impure
}

// pure notes an operation that changes nothing, but which the compiler performs at its place among the
// calls: it makes no earlier operand wait for it.
func (s *hoistScan) pure(e ast.Expr, operands ...ast.Expr) {
	inner := hoistScan{c: s.c}
	for _, a := range operands {
		inner.walk(a)
	}
	calls := slices.ContainsFunc(operands, func(a ast.Expr) bool { return a != nil && s.hasCall(a) })
	s.needed = s.needed || inner.needed || s.impure && calls
	s.impure = s.impure || inner.impure
	s.calls = append(s.calls, e)
}

func (s *hoistScan) walk(e ast.Expr) {
	if e == nil {
		return
	}
	if _, done := s.c.fn.hoisted[e]; done {
		return
	}
	info := s.c.u.Info
	if tv, ok := info.Types[e]; ok && (tv.Value != nil || tv.IsType() || tv.IsNil()) {
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		s.walk(e.X)
	case *ast.Ident:
		s.ident(e)
	case *ast.CallExpr:
		s.callExpr(e)
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			s.call(e)
			return
		}
		s.walk(e.X)
	case *ast.BinaryExpr:
		switch {
		case e.Op != token.LAND && e.Op != token.LOR:
			s.walk(e.X)
			s.walk(e.Y)
		case s.hasCall(e.Y):
			s.call(e)
		default:
			s.pure(e, e.X, e.Y)
		}
	case *ast.StarExpr:
		s.walk(e.X)
		s.impure = true
	case *ast.SelectorExpr:
		s.selector(e)
	case *ast.IndexExpr:
		s.index(e)
	case *ast.SliceExpr:
		s.pure(e, e.X, e.Low, e.High, e.Max)
	case *ast.TypeAssertExpr:
		if t := s.c.typeOf(e); t == nil || rtype.IsDirect(t) {
			s.walk(e.X)
		} else {
			s.pure(e, e.X)
		}
	case *ast.CompositeLit:
		if _, ok := s.c.literalType(e).(*types.Map); ok {
			s.pure(e, entries(e)...)
			return
		}
		for _, v := range s.c.literalValues(e) {
			s.operand(v.e, v.to)
		}
	}
}

// ident: a variable in the frame that no literal captures cannot be changed by a call.
func (s *hoistScan) ident(e *ast.Ident) {
	v, ok := s.c.u.Info.Uses[e].(*types.Var)
	if !ok {
		return
	}
	if l, ok := s.c.fn.vars[v]; !ok || l.kind != locFrame {
		s.impure = true
	}
}

func (s *hoistScan) callExpr(e *ast.CallExpr) {
	if s.c.u.Info.Types[e.Fun].IsType() {
		if s.copies(e) {
			s.pure(e, e.Args[0])
		} else {
			s.operand(e.Args[0], s.c.typeOf(e))
		}
		return
	}
	if b := s.c.builtinOf(e.Fun); b != nil {
		switch b.Name() {
		case "len", "cap", "real", "imag", "complex", "min", "max", "make", "new":
			s.pure(e, e.Args...)
			return
		}
	}
	s.call(e)
}

// copies reports whether a conversion makes a slice of a string.
func (s *hoistScan) copies(e *ast.CallExpr) bool {
	_, toSlice := s.c.typ(s.c.u.Info.TypeOf(e)).Underlying().(*types.Slice)
	from, ok := s.c.typ(s.c.u.Info.TypeOf(e.Args[0])).Underlying().(*types.Basic)
	return toSlice && ok && from.Info()&types.IsString != 0
}

func (s *hoistScan) selector(e *ast.SelectorExpr) {
	sel := s.c.u.Info.Selections[e]
	if sel == nil {
		s.impure = true // a variable of a package
		return
	}
	s.walk(e.X)
	if sel.Indirect() || sel.Kind() != types.FieldVal {
		s.impure = true
	}
}

func (s *hoistScan) index(e *ast.IndexExpr) {
	if _, isMap := under(s.c.u.Info, e.X).(*types.Map); isMap && s.ofBytes(e.Index) {
		s.pure(e, e.X, e.Index) // the bytes are not copied, so the map is looked up at once
		return
	}
	s.walk(e.X)
	s.walk(e.Index)
	if _, isArray := under(s.c.u.Info, e.X).(*types.Array); !isArray {
		s.impure = true
	}
}

// ofBytes reports whether e makes a string of bytes.
func (s *hoistScan) ofBytes(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !s.c.u.Info.Types[call.Fun].IsType() {
		return false
	}
	_, fromSlice := under(s.c.u.Info, call.Args[0]).(*types.Slice)
	return fromSlice
}

// hasCall remembers its answers: literals inside literals ask again at each level.
func (s *hoistScan) hasCall(e ast.Expr) bool {
	known, ok := s.c.calling[e]
	if !ok {
		known = hasCall(s.c.u.Info, e)
		if s.c.calling == nil {
			s.c.calling = map[ast.Expr]bool{}
		}
		s.c.calling[e] = known
	}
	return known
}

// hasCall reports whether e calls a function or receives.
func hasCall(info *types.Info, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || !info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
