package corpustest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
)

// unit is a top-level piece of a program: one declaration.
type unit struct {
	text    string
	defines []string // names; methods define ".Name" and belong to recv
	uses    map[string]bool
	recv    string
	at      int
	generic bool // a generic type, which cells want together with its methods
}

// split takes a program apart: one cell per declaration, a declaration after those that it needs, and
// the body of main as statements of the last cell. Declarations that need each other share a cell.
func split(src string) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "prog.go", src, parser.ParseComments)
	if err != nil {
		return []string{src}
	}
	text := func(n ast.Node) string { return src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset] }
	var cells []string
	var units []*unit
	var main *ast.FuncDecl
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				cells = append(cells, text(d))
				continue
			}
			units = append(units, genUnit(d, text(d)))
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "main" {
				main = d
				continue
			}
			units = append(units, funcUnit(d, text(d)))
		}
	}
	cells = append(cells, arrange(units)...)
	if main == nil {
		return cells
	}
	if body := text(main.Body); statementsWillDo(main, units) {
		return append(cells, body[1:len(body)-1])
	}
	return append(cells, text(main)) // which runs at once
}

func genUnit(d *ast.GenDecl, text string) *unit {
	u := &unit{text: text, uses: names(d)}
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			u.defines = append(u.defines, s.Name.Name)
			u.generic = u.generic || s.TypeParams != nil
		case *ast.ValueSpec:
			for _, n := range s.Names {
				u.defines = append(u.defines, n.Name)
			}
		}
	}
	return u
}

func funcUnit(d *ast.FuncDecl, text string) *unit {
	u := &unit{text: text, uses: names(d)}
	if d.Recv == nil {
		u.defines = []string{d.Name.Name}
		return u
	}
	u.defines = []string{"." + d.Name.Name}
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && u.recv == "" {
			u.recv = id.Name
		}
		return true
	})
	return u
}

func names(n ast.Node) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			used[n.Name] = true
		case *ast.SelectorExpr:
			used["."+n.Sel.Name] = true
		}
		return true
	})
	return used
}

// arrange orders the units and joins those in a cycle.
func arrange(units []*unit) []string {
	by := map[string][]int{}
	methods := map[string][]int{}
	for i, u := range units {
		u.at = i
		for _, d := range u.defines {
			by[d] = append(by[d], i)
		}
		if u.recv != "" {
			methods[u.recv] = append(methods[u.recv], i)
		}
	}
	needs := make([]map[int]bool, len(units))
	for i, u := range units {
		needs[i] = map[int]bool{}
		if u.generic {
			for _, d := range u.defines {
				for _, j := range methods[d] {
					needs[i][j] = true
				}
			}
		}
		for name := range u.uses {
			for _, j := range by[name] {
				needs[i][j] = true
			}
			if u.recv == "" && !u.generic { // whoever uses a type may need its methods
				for _, j := range methods[name] {
					needs[i][j] = units[j].recv != "" && !defines(u, name)
				}
			}
		}
	}
	for i := range needs {
		for j, yes := range needs[i] {
			if !yes || i == j {
				delete(needs[i], j)
			}
		}
	}
	var cells []string
	for _, group := range components(needs) {
		var texts []string
		for _, i := range group {
			texts = append(texts, units[i].text)
		}
		cells = append(cells, strings.Join(texts, "\n"))
	}
	return cells
}

func defines(u *unit, name string) bool {
	for _, d := range u.defines {
		if d == name {
			return true
		}
	}
	return false
}

// components are the strongly connected parts of a graph, what is needed first (Tarjan).
func components(needs []map[int]bool) (all [][]int) {
	n := len(needs)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v], on[v] = next, next, true
		next++
		stack = append(stack, v)
		var to []int
		for w := range needs[v] {
			to = append(to, w)
		}
		sort.Ints(to)
		for _, w := range to {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		var group []int
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			on[w] = false
			group = append(group, w)
			if w == v {
				break
			}
		}
		sort.Ints(group)
		all = append(all, group)
	}
	for v := range n {
		if index[v] == 0 {
			visit(v)
		}
	}
	return all
}

// statementsWillDo reports whether the body of main means the same at the top level of a cell: it
// declares no name again and returns nowhere.
func statementsWillDo(main *ast.FuncDecl, units []*unit) bool {
	taken := map[string]bool{}
	for _, u := range units {
		for _, d := range u.defines {
			taken[d] = true
		}
		for d := range u.uses {
			taken[d] = true // a name that a function uses must keep its meaning
		}
	}
	fine := true
	ast.Inspect(main.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			fine = false
		case *ast.BranchStmt:
			fine = fine && n.Tok != token.GOTO
		}
		return true
	})
	for _, s := range main.Body.List {
		var ids []*ast.Ident
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				for _, l := range s.Lhs {
					ids = append(ids, l.(*ast.Ident))
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					ids = append(ids, spec.Names...)
				case *ast.TypeSpec:
					ids = append(ids, spec.Name)
				}
			}
		}
		for _, id := range ids {
			fine = fine && !taken[id.Name]
		}
	}
	return fine
}
