package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
)

// orderer puts the statements of a cell in order: as written, except that a variable declaration (var)
// comes before what depends on it, as in a package.
type orderer struct {
	c       *checked
	at      map[types.Object]int // variables of the cell: the statement that gives the value
	bodies  map[types.Object]*ast.FuncDecl
	done    map[int]bool
	ordered []ast.Stmt
	index   []int // where each statement went
}

func (c *checked) order(e *Engine) *problem {
	o := &orderer{c: c, at: map[types.Object]int{}, bodies: map[types.Object]*ast.FuncDecl{}, done: map[int]bool{}, index: make([]int, len(c.stmts))}
	for _, d := range c.defs {
		if d.stmt >= 0 {
			o.at[e.pkg.Scope().Lookup(d.name)] = d.stmt
		}
	}
	for _, f := range c.funcs {
		if obj := c.unit.Info.Defs[f.Name]; obj != nil {
			o.bodies[obj] = f
		}
	}
	for _, i := range c.packageOrder() {
		if prob := o.emit(i); prob != nil {
			return prob
		}
	}
	c.stmts = o.ordered
	for i, d := range c.defs {
		if d.stmt >= 0 {
			c.defs[i].stmt = o.index[d.stmt]
		}
	}
	return nil
}

// packageOrder is the order in which statements are looked at: as written, but that of a package's
// variables when the cell has no other statements than those that call init and main.
func (c *checked) packageOrder() []int {
	var first, vars, rest []int
	rank := map[ast.Expr]int{}
	for i, init := range c.unit.Info.InitOrder {
		rank[init.Rhs] = i
	}
	value := func(i int) ast.Expr {
		if d, ok := c.stmts[i].(*ast.DeclStmt); ok {
			if vs, ok := d.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec); ok && len(vs.Values) > 0 {
				return vs.Values[0]
			}
		}
		return nil
	}
	program := true
	for i, s := range c.stmts {
		_, decl := s.(*ast.DeclStmt)
		_, ranked := rank[value(i)]
		switch {
		case ranked:
			vars = append(vars, i)
		case decl:
			first = append(first, i)
		default:
			program = program && synthetic(s)
			rest = append(rest, i)
		}
	}
	if !program {
		first, vars, rest = nil, nil, nil
		for i := range c.stmts {
			rest = append(rest, i)
		}
	}
	sort.SliceStable(vars, func(a, b int) bool { return rank[value(vars[a])] < rank[value(vars[b])] })
	return append(append(first, vars...), rest...)
}

// emit appends statement i, after the declarations that it depends on.
func (o *orderer) emit(i int) *problem {
	if o.done[i] {
		return nil
	}
	o.done[i] = true
	if prob := o.depend(o.c.stmts[i], i, "", map[types.Object]bool{}); prob != nil {
		return prob
	}
	o.index[i] = len(o.ordered)
	o.ordered = append(o.ordered, o.c.stmts[i])
	return nil
}

// depend looks at everything that n reads, also by way of functions of the cell.
func (o *orderer) depend(n ast.Node, i int, via string, seen map[types.Object]bool) (prob *problem) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || prob != nil {
			return prob == nil
		}
		obj := o.c.unit.Info.Uses[id]
		if f, ok := obj.(*types.Func); ok && o.bodies[f.Origin()] != nil && !seen[f.Origin()] {
			seen[f.Origin()] = true
			name := via
			if name == "" {
				name = id.Name
			}
			prob = o.depend(o.bodies[f.Origin()].Body, i, name, seen)
			return true
		}
		j, ok := o.at[obj]
		if obj == nil || !ok || o.done[j] {
			return true
		}
		if d, isDecl := o.c.stmts[j].(*ast.DeclStmt); isDecl && d.Decl.(*ast.GenDecl).Tok == token.VAR {
			prob = o.emit(j)
		} else if via == "" {
			prob = &problem{id.Pos(), "undefined: " + id.Name}
		} else {
			prob = &problem{o.c.stmts[i].Pos(), via + " uses " + id.Name + " before the cell gives it a value; move the statement further down"}
		}
		return true
	})
	return prob
}

// synthetic reports whether s is a call of init or main that the cell's text does not hold.
func synthetic(s ast.Stmt) bool {
	if isInitCall(s) {
		return true
	}
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := es.X.(*ast.CallExpr)
	return ok && call.Lparen == call.Rparen
}
