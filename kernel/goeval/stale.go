package goeval

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A name that a cell defines again with another type is a new object; what earlier cells made of the old one
// keeps it. That is what Go's types demand, and what people forget: so the cell says who keeps the old one.

// dependent is something that a cell defined, and the names of the session that it uses.
type dependent struct {
	what string // "func f", "method P.String", "var p", "type Q"
	src  *source
	uses map[types.Object]bool
}

// staleNotes tells what keeps earlier meanings of the names that the cell has defined again.
func (e *Engine) staleNotes(c *checked) (notes []string) {
	scope := elems(e.pkg.Scope())
	again := c.declares()
	for _, name := range slices.Sorted(maps.Keys(c.old)) {
		old, now := c.old[name], scope[name]
		change := changed(old, now)
		if change == "" { // who uses the old one uses the new one from now on
			for _, d := range e.dependents {
				if d.uses[old] {
					delete(d.uses, old)
					d.uses[now] = true
				}
			}
		}
		if change == "" || strings.Contains(name, early) {
			continue
		}
		src, _, _ := e.position(old.Pos())
		if src == nil {
			continue
		}
		if _, isType := old.(*types.TypeName); isType {
			e.older[name] = append(e.older[name], src)
		}
		var who, cells []string
		for key, d := range e.dependents {
			if !again[key] && d.uses[old] {
				who = append(who, d.what)
				if cell := d.src.label(); !slices.Contains(cells, cell) {
					cells = append(cells, cell)
				}
			}
		}
		if len(who) == 0 {
			continue
		}
		slices.Sort(who)
		slices.Sort(cells)
		notes = append(notes, fmt.Sprintf("note: %s has %s now; %s still %s that of %s. To renew, run again: %s\n", name, change,
			enumerate(who), map[bool]string{true: "uses", false: "use"}[len(who) == 1], src.where(), strings.Join(cells, ", ")))
	}
	return notes
}

// changed says in what a new meaning of a name differs from the old one, for those who keep the old one;
// "" if it takes its place.
func changed(old, now types.Object) string {
	switch old := old.(type) {
	case *types.Var:
		if v, ok := now.(*types.Var); !ok || !types.Identical(old.Type(), v.Type()) {
			return "another type"
		}
	case *types.Func:
		f, ok := now.(*types.Func)
		switch {
		case !ok || !types.Identical(old.Type(), f.Type()):
			return "another signature"
		case f.Signature().TypeParams() != nil:
			return "another body"
		}
	case *types.TypeName:
		if old != now {
			return "another definition"
		}
	case *types.Const:
		if n, ok := now.(*types.Const); !ok || !types.Identical(old.Type(), n.Type()) || !constant.Compare(old.Val(), token.EQL, n.Val()) {
			return "another value"
		}
	}
	return ""
}

func enumerate(words []string) string {
	if len(words) > 6 {
		words = append(words[:5:5], fmt.Sprintf("%d more", len(words)-5))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}

// declares lists what the cell defines, by the keys of Engine.dependents.
func (c *checked) declares() map[string]bool {
	names := map[string]bool{}
	for _, d := range c.defs {
		names[d.name] = true
	}
	for _, d := range c.funcs {
		if d.Recv != nil {
			names[recvBase(d)+"."+d.Name.Name] = true
		}
	}
	for _, m := range c.late {
		names[lateName(m)] = true
	}
	return names
}

func lateName(m *lateMethod) string { return strings.Replace(m.decl.Name.Name, early, ".", 1) }

// rememberUses notes what the definitions of a cell use.
func (e *Engine) rememberUses(c *checked) {
	note := func(key, what string, n ast.Node) {
		e.dependents[key] = &dependent{what, c.src, map[types.Object]bool{}}
		if n != nil {
			e.uses(c, n, e.dependents[key].uses)
		}
	}
	for _, d := range c.funcs {
		if c.back[d.Name.Name] {
			continue
		}
		if d.Recv != nil {
			note(recvBase(d)+"."+d.Name.Name, "method "+recvBase(d)+"."+d.Name.Name, d)
		} else if !strings.Contains(d.Name.Name, early) {
			note(d.Name.Name, "func "+d.Name.Name, d)
		}
	}
	for _, m := range c.late {
		note(lateName(m), "method "+lateName(m), m.decl)
	}
	for _, d := range c.decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				s := s.(*ast.TypeSpec)
				note(s.Name.Name, "type "+s.Name.Name, s)
			}
		}
	}
	scope := elems(e.pkg.Scope())
	for _, d := range c.defs {
		v, ok := scope[d.name].(*types.Var)
		if !ok || c.back[d.name] {
			continue
		}
		note(d.name, "var "+d.name, nil)
		uses := e.dependents[d.name].uses
		namedIn(v.Type(), e.pkg, uses, 0)
		if d.stmt >= 0 && d.stmt < len(c.stmts) {
			ast.Inspect(c.stmts[d.stmt], func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok {
					e.uses(c, lit, uses)
				}
				return true
			})
		}
	}
}

// uses collects the names of the session below n.
func (e *Engine) uses(c *checked, n ast.Node, into map[types.Object]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := c.unit.Info.Uses[id]; obj != nil && obj.Pkg() == e.pkg && obj.Parent() == e.pkg.Scope() {
				into[obj] = true
			}
		}
		return true
	})
}

// namedIn collects the session's types that t is written with.
func namedIn(t types.Type, pkg *types.Package, into map[types.Object]bool, depth int) {
	if depth > 10 {
		return
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Obj().Pkg() == pkg {
			into[t.Obj()] = true
		}
		for a := range t.TypeArgs().Types() {
			namedIn(a, pkg, into, depth+1)
		}
	case *types.Map:
		namedIn(t.Key(), pkg, into, depth+1)
		namedIn(t.Elem(), pkg, into, depth+1)
	case interface{ Elem() types.Type }:
		namedIn(t.Elem(), pkg, into, depth+1)
	}
}

// twoTypes is a sentence beside a message that may be about two types of one name: the present one, and one that values
// of earlier cells have; "" for other messages.
func (e *Engine) twoTypes(msg string) string {
	for _, name := range slices.Sorted(maps.Keys(e.fresh)) {
		old := elems(e.pkg.Scope())[name]
		if src, _, _ := e.position(old.Pos()); src != nil && e.meet(msg, name, e.fresh[name]) {
			return fmt.Sprintf("the %s of %s is not the %s of this cell: values made before keep the old type", name, src.where(), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.older)) {
		now, ok := elems(e.pkg.Scope())[name].(*types.TypeName)
		if !ok || !e.meet(msg, name, now) {
			continue
		}
		src, _, _ := e.position(now.Pos())
		if src == nil {
			continue
		}
		olds := e.older[name]
		return fmt.Sprintf("the %s of %s is not the %s of %s: values made before keep the old type", name, olds[len(olds)-1].where(), name, src.where())
	}
	return ""
}

// newTypes lists the types of a cell that take the name of a type of an earlier one.
func (c *checked) newTypes(e *Engine) map[string]*types.TypeName {
	scope, found := elems(e.pkg.Scope()), map[string]*types.TypeName{}
	for name, old := range c.old {
		_, was := old.(*types.TypeName)
		if now, is := scope[name].(*types.TypeName); was && is && now != old {
			found[name] = now
		}
	}
	return found
}

// meet reports whether a message is about an old type of a name: it names the type twice, or misses a member
// that the present one has.
func (e *Engine) meet(msg, name string, now *types.TypeName) bool {
	if _, rest, ok := strings.Cut(msg, "(type "); ok && strings.Contains(msg, " undefined ") {
		typ, rest, _ := strings.Cut(rest, " ")
		if strings.TrimPrefix(typ, "*") != name {
			return false
		}
		_, member, _ := strings.Cut(rest, "no field or method ")
		member, _, _ = strings.Cut(member, ")")
		member, _, _ = strings.Cut(member, ",")
		obj, _, _ := types.LookupFieldOrMethod(now.Type(), true, e.pkg, member)
		return obj != nil
	}
	return countWord(literals.ReplaceAllString(msg, ""), name) >= 2
}

var literals = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// countWord counts name as a whole word, also behind "main.".
func countWord(text, name string) (n int) {
	for i := 0; ; {
		k := strings.Index(text[i:], name)
		if k < 0 {
			return n
		}
		at, end := i+k, i+k+len(name)
		if (at == 0 || !isIdent(text[at-1])) && (end == len(text) || !isIdent(text[end])) {
			n++
		}
		i = end
	}
}
