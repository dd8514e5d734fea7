package goeval

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kafkalab/kernel/goeval/internal/exec"
)

// builder makes one file of a cell for go/types: declarations as they are, variables of statements
// (x := e) as package variables, and the other statements as the body of a function.
type builder struct {
	e       *Engine
	c       *checked
	file    *ast.File
	body    []ast.Stmt      // what the type checker sees as statements
	early   map[string]bool // names inserted for earlier versions
	defined map[string]token.Pos
	keep    map[*ast.TypeSpec]bool // declared again with the same text
	probs   []problem
}

// build makes the file; what cannot be part of it is a problem, and the rest is checked all the same.
func (b *builder) build() {
	b.early, b.defined = map[string]bool{}, map[string]token.Pos{}
	b.keep = b.keepTypes()
	for _, d := range b.c.decls {
		b.note(b.decl(d))
	}
	for _, s := range b.c.parsed.stmts {
		b.note(b.stmt(s))
	}
	sort.SliceStable(b.c.stmts, func(i, j int) bool { return b.before(b.c.stmts[i], b.c.stmts[j]) })
	for _, d := range b.c.decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv != nil {
			b.note(b.method(fd))
		}
	}
	b.number()
	b.programMain()
	b.earlierVersions()
	b.imports()
	b.file.Decls = append(b.file.Decls, &ast.FuncDecl{
		Name: ast.NewIdent("_"), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: &ast.BlockStmt{List: b.body},
	})
}

func (b *builder) note(prob *problem) {
	if prob != nil {
		b.probs = append(b.probs, *prob)
	}
}

// before orders statements by their place in the cell; the two parses have positions of their own.
func (b *builder) before(x, y ast.Stmt) bool { return b.offset(x.Pos()) < b.offset(y.Pos()) }

func (b *builder) offset(pos token.Pos) int {
	if f := b.e.fset.File(pos); f != nil {
		return f.Offset(pos)
	}
	return 0
}

// decl takes a declaration over.
func (b *builder) decl(d ast.Decl) *problem {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return b.funcDecl(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ImportSpec:
				if prob := b.importSpec(s); prob != nil {
					return prob
				}
			case *ast.TypeSpec:
				if b.keep[s] {
					continue
				}
				b.define(s.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					b.define(n)
				}
			}
		}
		switch d.Tok {
		case token.IMPORT:
			return nil
		case token.VAR:
			d = b.varDecl(d)
		case token.TYPE:
			d = b.newTypes(d)
		}
		b.file.Decls = append(b.file.Decls, d)
	}
	return nil
}

// varDecl makes a statement of each variable that is initialised by itself, so that they can be put in
// order.
func (b *builder) varDecl(d *ast.GenDecl) *ast.GenDecl {
	n := *d
	n.Specs = nil
	for _, spec := range d.Specs {
		vs := spec.(*ast.ValueSpec)
		specs := []*ast.ValueSpec{vs}
		if len(vs.Names) > 1 && len(vs.Values) == len(vs.Names) {
			specs = nil
			for i, name := range vs.Names {
				specs = append(specs, &ast.ValueSpec{Names: []*ast.Ident{name}, Type: vs.Type, Values: []ast.Expr{vs.Values[i]}})
			}
		}
		for _, s := range specs {
			n.Specs = append(n.Specs, s)
			one := &ast.GenDecl{TokPos: s.Pos(), Tok: token.VAR, Specs: []ast.Spec{s}}
			b.c.stmts = append(b.c.stmts, &ast.DeclStmt{Decl: one})
		}
	}
	return &n
}

// newTypes leaves out the types that stay as they are.
func (b *builder) newTypes(d *ast.GenDecl) *ast.GenDecl {
	n := *d
	n.Specs = nil
	for _, s := range d.Specs {
		if !b.keep[s.(*ast.TypeSpec)] {
			n.Specs = append(n.Specs, s)
		}
	}
	return &n
}

func (b *builder) funcDecl(d *ast.FuncDecl) *problem {
	if d.Body == nil {
		return &problem{d.Pos(), "missing function body"}
	}
	if d.Recv != nil {
		return nil // methods come when all types are known
	}
	if d.Name.Name == "init" && d.Type.Params.NumFields() == 0 && d.Type.Results.NumFields() == 0 {
		b.initFunc(d)
		return nil
	}
	b.c.funcs = append(b.c.funcs, d)
	b.file.Decls = append(b.file.Decls, d)
	b.define(d.Name)
	return nil
}

// initFunc makes an init function one with a hidden name, which runs where it stands.
func (b *builder) initFunc(d *ast.FuncDecl) {
	n := *d
	n.Name = &ast.Ident{NamePos: d.Name.Pos(), Name: fmt.Sprintf("init%s%d", early, b.offset(d.Pos()))}
	call := &ast.ExprStmt{X: &ast.CallExpr{Fun: &ast.Ident{NamePos: d.Name.Pos(), Name: n.Name.Name}, Lparen: d.Name.End(), Rparen: d.Name.End()}}
	b.early[n.Name.Name] = true
	b.c.funcs = append(b.c.funcs, &n)
	b.c.stmts = append(b.c.stmts, call)
	b.body = append(b.body, call)
	b.file.Decls = append(b.file.Decls, &n)
}

func (b *builder) method(d *ast.FuncDecl) *problem {
	if late, prob := b.late(d); late {
		return prob
	}
	b.c.funcs = append(b.c.funcs, d)
	b.file.Decls = append(b.file.Decls, d)
	return nil
}

// recvBase is the name of a method's receiver type.
func recvBase(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// define notes a name that the cell gives a new meaning.
func (b *builder) define(id *ast.Ident) {
	if id.Name == "_" {
		return
	}
	if _, twice := b.defined[id.Name]; !twice {
		b.defined[id.Name] = id.Pos()
	}
	b.c.defs = append(b.c.defs, definition{id.Name, -1})
}

// stmt takes a statement over; x := e becomes a variable of the session.
func (b *builder) stmt(s ast.Stmt) *problem {
	as, ok := s.(*ast.AssignStmt)
	if !ok || as.Tok != token.DEFINE {
		b.c.stmts = append(b.c.stmts, s)
		b.body = append(b.body, s)
		return nil
	}
	spec, written := &ast.ValueSpec{Values: as.Rhs}, slices.Clone(as.Lhs)
	var again []ast.Stmt
	fresh := false
	for i, l := range as.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			return &problem{l.Pos(), fmt.Sprintf("non-name %s on left side of :=", types.ExprString(l))}
		}
		if _, dup := b.defined[id.Name]; dup && id.Name != "_" {
			id, again = b.reassigned(as, i, id, again)
		} else if id.Name != "_" {
			fresh = true
			b.define(id)
		}
		spec.Names = append(spec.Names, id)
	}
	if !fresh {
		set := *as
		set.Lhs, set.Tok = written, token.ASSIGN
		b.body = append(b.body, &set) // its operands are checked, too
		return &problem{as.TokPos, "no new variables on left side of :="}
	}
	b.file.Decls = append(b.file.Decls, &ast.GenDecl{TokPos: as.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}})
	b.c.stmts = append(b.c.stmts, as)
	b.c.stmts = append(b.c.stmts, again...)
	b.body = append(b.body, again...)
	return nil
}

// reassigned handles a variable of := that the cell has already: the value goes into a hidden variable
// and from there into the old one.
func (b *builder) reassigned(as *ast.AssignStmt, i int, id *ast.Ident, again []ast.Stmt) (*ast.Ident, []ast.Stmt) {
	hidden := &ast.Ident{NamePos: id.NamePos, Name: fmt.Sprintf("%s%s%d", id.Name, early, b.offset(id.Pos()))}
	as.Lhs[i] = hidden
	b.early[hidden.Name] = true
	use := &ast.Ident{NamePos: id.NamePos, Name: hidden.Name}
	set := &ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: as.TokPos, Tok: token.ASSIGN, Rhs: []ast.Expr{use}}
	return hidden, append(again, set)
}

// number finds the statement that gives each variable its value.
func (b *builder) number() {
	at := map[string]int{}
	for i, s := range b.c.stmts {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				for _, l := range s.Lhs {
					at[l.(*ast.Ident).Name] = i
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if vs, ok := spec.(*ast.ValueSpec); ok && s.Decl.(*ast.GenDecl).Tok == token.VAR {
					for _, n := range vs.Names {
						at[n.Name] = i
					}
				}
			}
		}
	}
	for i, d := range b.c.defs {
		if k, ok := at[d.name]; ok {
			b.c.defs[i].stmt = k
		}
	}
}

// programMain lets a cell that is a whole program run its main.
func (b *builder) programMain() {
	for _, s := range b.c.stmts {
		if _, isVar := s.(*ast.DeclStmt); !isVar && !isInitCall(s) {
			return
		}
	}
	for _, d := range b.c.funcs {
		if d.Recv == nil && d.Name.Name == "main" && d.Type.Params.NumFields() == 0 && d.Type.Results.NumFields() == 0 {
			call := &ast.ExprStmt{X: &ast.CallExpr{Fun: &ast.Ident{NamePos: d.Name.Pos(), Name: "main"}, Lparen: d.Name.End(), Rparen: d.Name.End()}}
			b.c.stmts = append(b.c.stmts, call)
			b.body = append(b.body, call)
		}
	}
}

func isInitCall(s ast.Stmt) bool {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := es.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && strings.HasPrefix(id.Name, "init"+early)
}

// earlierVersions resolves names that are used above the place where the cell defines them again: they
// mean the version of an earlier cell. In declarations they mean the new one, as in a package.
func (b *builder) earlierVersions() {
	scope := elems(b.e.pkg.Scope())
	own := b.ownIdents()
	for _, d := range b.c.defs {
		if d.stmt < 0 {
			continue
		}
		for _, id := range b.c.unresolved[d.name] {
			in, ok := own[id]
			if !ok || in != anyStmt && in != d.stmt || b.offset(id.Pos()) >= b.offset(b.c.stmts[d.stmt].End()) {
				continue
			}
			old := scope[d.name]
			if old == nil {
				old = types.Universe.Lookup(d.name)
			}
			if old == nil {
				b.note(&problem{id.Pos(), "undefined: " + d.name})
				continue
			}
			name := d.name + early
			b.early[name] = true
			scope[name] = old
			id.Name = name
		}
	}
}

const anyStmt = -2

// ownIdents finds the identifiers that are read in the order of the cell: those of statements, and in
// the initial values of variable declarations those that the same declaration defines.
func (b *builder) ownIdents() map[*ast.Ident]int {
	own := map[*ast.Ident]int{}
	note := func(n ast.Node, at int) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				own[id] = at
			}
			return true
		})
	}
	for _, s := range b.c.parsed.stmts {
		note(s, anyStmt)
	}
	for i, s := range b.c.stmts {
		if d, ok := s.(*ast.DeclStmt); ok {
			for _, spec := range d.Decl.(*ast.GenDecl).Specs {
				if vs, ok := spec.(*ast.ValueSpec); ok {
					for _, v := range vs.Values {
						note(v, i)
					}
				}
			}
		}
	}
	return own
}

// importSpec remembers an import for this cell and all later ones.
func (b *builder) importSpec(s *ast.ImportSpec) *problem {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return &problem{s.Path.Pos(), "invalid import path"}
	}
	pkg, err := b.e.imp.Import(p)
	if err != nil {
		panic(&exec.Refusal{Pos: s.Path.Pos(), Msg: err.Error()})
	}
	switch {
	case s.Name == nil:
		b.e.names[pkg.Name()] = p
	case s.Name.Name == ".":
		if !slices.Contains(b.e.dots, p) {
			b.e.dots = append(b.e.dots, p)
		}
	case s.Name.Name != "_":
		b.e.names[s.Name.Name] = p
	}
	return nil
}

// imports adds what the cell needs of earlier imports and of the names that need no import line.
func (b *builder) imports() {
	scope := elems(b.e.pkg.Scope())
	var specs []ast.Spec
	for name := range b.c.unresolved {
		if _, own := b.defined[name]; own || scope[name] != nil {
			continue
		}
		p, ok := b.importFor(name)
		if !ok {
			continue
		}
		spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(p)}}
		if path.Base(p) != name {
			spec.Name = ast.NewIdent(name)
		}
		specs = append(specs, spec)
	}
	for _, p := range b.e.dots {
		specs = append(specs, &ast.ImportSpec{Name: ast.NewIdent("."), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(p)}})
	}
	for _, s := range specs {
		b.file.Imports = append(b.file.Imports, s.(*ast.ImportSpec))
		b.file.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{s}}}, b.file.Decls...)
	}
}
