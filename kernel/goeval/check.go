package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"

	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/goeval/internal/rtype"
)

// early marks, in names, the version of an object that a cell defines again further down. It cannot be
// written in Go source.
const early = "·"

// checked is a cell that has passed the type checker.
type checked struct {
	*parsed
	unit  *exec.Unit
	stmts []ast.Stmt // in the order of execution; variable declarations among them
	last  ast.Expr   // the expression whose values are shown, taken off stmts
	funcs []*ast.FuncDecl
	defs  []definition
	old   map[string]types.Object // what the names meant before
	back  map[string]bool         // names that mean again what they meant before
	late  []*lateMethod
	local int // how many types its functions declare
}

// definition is a name that a cell defines, and the statement that does.
type definition struct {
	name string
	stmt int // index into stmts; -1 for declarations that take effect at once
}

// problem is an error with its place.
type problem struct {
	pos token.Pos
	msg string
}

// check type-checks a parsed cell in the scope of the session. On success the session's names are those
// of the cell; restore takes that back.
func (e *Engine) check(p *parsed) (ok *checked, probs []problem) {
	c := &checked{parsed: p, old: map[string]types.Object{}, back: map[string]bool{}}
	b := &builder{e: e, c: c, file: &ast.File{Name: ast.NewIdent("main")}}
	defer func() {
		if ok == nil { // also when the cell is refused
			e.fresh = c.newTypes(e)
			c.undo(e)
		}
	}()
	b.build()
	info := newInfo()
	info.Scopes = nil
	c.unit = &exec.Unit{Info: info, Pkg: e.pkg}
	scope := elems(e.pkg.Scope())
	for _, d := range c.defs {
		if _, seen := c.old[d.name]; !seen {
			c.old[d.name] = scope[d.name]
		}
		delete(scope, d.name)
	}
	probs = b.inOrder(append(b.probs, b.runChecker(info)...))
	for _, m := range c.late {
		m.fn, _ = scope[m.decl.Name.Name].(*types.Func)
	}
	for name := range b.early {
		delete(scope, name)
	}
	dropChildren(e.pkg.Scope())
	if len(probs) == 0 {
		probs = forbiddenUses(info)
	}
	if len(probs) > 0 {
		return nil, probs
	}
	if prob := c.order(e); prob != nil {
		return nil, []problem{*prob}
	}
	c.takeLast()
	c.numberTypes(b)
	b.remember()
	return c, nil
}

// restore gives names back their earlier meaning.
func (c *checked) restore(e *Engine, which func(name string) bool) {
	scope := elems(e.pkg.Scope())
	for name, obj := range c.old {
		if !which(name) {
			continue
		}
		c.back[name] = true
		if obj == nil {
			delete(scope, name)
		} else {
			scope[name] = obj
		}
	}
}

// undo takes back everything that the cell changed: for a cell that never ran.
func (c *checked) undo(e *Engine) {
	e.localTypes -= c.local
	c.restore(e, func(string) bool { return true })
	for _, m := range c.late {
		if m.added != nil {
			dropMethod(m.added, m.method)
		}
	}
}

// numberTypes numbers the types that functions declare as the compiler does, in the order of the source: the
// session is one package, its cells follow one another.
func (c *checked) numberTypes(b *builder) {
	var local []*types.TypeName
	for _, obj := range c.unit.Info.Defs {
		if t, ok := obj.(*types.TypeName); ok && t.Parent() != b.e.pkg.Scope() && !t.IsAlias() {
			if _, param := t.Type().(*types.TypeParam); !param {
				local = append(local, t)
			}
		}
	}
	sort.Slice(local, func(i, j int) bool { return b.offset(local[i].Pos()) < b.offset(local[j].Pos()) })
	for i, t := range local {
		rtype.SetNumber(t, b.e.localTypes+i+1)
	}
	c.local = len(local)
	b.e.localTypes += c.local
}

// takeLast splits off the last expression of the cell.
func (c *checked) takeLast() {
	n := len(c.stmts)
	if n == 0 {
		return
	}
	es, ok := c.stmts[n-1].(*ast.ExprStmt)
	if !ok {
		return
	}
	if tv, ok := c.unit.Info.Types[es.X]; ok && tv.IsVoid() || c.onlyPrints(es.X) {
		return
	}
	c.last, c.stmts = es.X, c.stmts[:n-1]
}

// onlyPrints tells that an expression is a call of fmt's printing functions: nobody who ends a cell with
// fmt.Println wants to see that it wrote 6 bytes.
func (c *checked) onlyPrints(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	fun, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := c.unit.Info.Uses[fun.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	switch f.Name() {
	case "Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln":
		return true
	}
	return false
}

// runChecker calls go/types and sorts out what is no error in a cell.
func (b *builder) runChecker(info *types.Info) (probs []problem) {
	conf := types.Config{
		Importer: b.e.imp, Sizes: rtype.Sizes, GoVersion: "go1.26",
		Error: func(err error) {
			te, ok := err.(types.Error)
			if !ok || b.harmless(te) {
				return
			}
			probs = append(probs, problem{te.Pos, strings.ReplaceAll(te.Msg, early, "")})
		},
	}
	defer func() {
		if r := recover(); r != nil && len(probs)+len(b.probs) == 0 {
			probs = []problem{{b.file.Package, "internal error of the type checker: " + panicText(r)}}
		}
		probs = b.mergeOther(probs)
	}()
	types.NewChecker(&conf, b.e.fset, b.e.pkg, info).Files([]*ast.File{b.file})
	return probs
}

// harmless filters errors that compiled Go reports and cells allow: an unused import, a last expression
// that is not used (it is shown).
func (b *builder) harmless(err types.Error) bool {
	if strings.HasSuffix(err.Msg, "imported and not used") || strings.Contains(err.Msg, "imported as") && strings.HasSuffix(err.Msg, "and not used") {
		return true
	}
	if last := b.lastExpr(); last != nil && strings.HasSuffix(err.Msg, "is not used") {
		text := types.ExprString(last)
		return err.Pos >= last.Pos() && err.Pos < last.End() && (strings.HasPrefix(err.Msg, text+" (") || strings.HasPrefix(err.Msg, text+" is"))
	}
	return false
}

// inOrder sorts problems by their place in the cell.
func (b *builder) inOrder(probs []problem) []problem {
	sort.SliceStable(probs, func(i, j int) bool { return b.offset(probs[i].pos) < b.offset(probs[j].pos) })
	return probs
}

// mergeOther joins the continuation lines that go/types reports as errors of their own.
func (b *builder) mergeOther(probs []problem) []problem {
	return slices.DeleteFunc(probs, func(p problem) bool { return strings.HasPrefix(p.msg, "\t") })
}

func (b *builder) lastExpr() ast.Expr {
	if n := len(b.c.stmts); n > 0 {
		if es, ok := b.c.stmts[n-1].(*ast.ExprStmt); ok {
			return es.X
		}
	}
	return nil
}

func panicText(r any) string {
	if err, ok := r.(error); ok {
		return err.Error()
	}
	if s, ok := r.(string); ok {
		return s
	}
	return "panic"
}

// forbiddenUses finds what would end the kernel: what package unsafe has beyond sizes, which are
// constants, and command-line flags that exit when they are wrong.
func forbiddenUses(info *types.Info) (probs []problem) {
	for id, obj := range info.Uses {
		switch {
		case obj.Pkg() == types.Unsafe && obj.Name() != "Sizeof" && obj.Name() != "Alignof" && obj.Name() != "Offsetof":
			probs = append(probs, problem{id.Pos(), "cells cannot use unsafe." + obj.Name() + ": a wrong pointer would end the kernel"})
		case obj.Pkg() != nil && obj.Pkg().Path() == "flag" && obj.Name() == "ExitOnError":
			probs = append(probs, problem{id.Pos(), "cells cannot use flag.ExitOnError: it would end the kernel; use flag.ContinueOnError"})
		}
	}
	slices.SortFunc(probs, func(a, b problem) int { return int(a.pos - b.pos) })
	return probs
}
