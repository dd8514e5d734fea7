package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"kafkalab/kernel"
)

// Complete proposes how to go on at cursor. Nothing is evaluated: types decide.
func (e *Engine) Complete(code string, cursor int) kernel.Completion {
	offset := byteOffset(code, cursor)
	end := utf8.RuneCountInString(code[:offset])
	if c, ok := e.completeMagic(code[:offset], end); ok {
		return c
	}
	text, prefix, inString, inComment := cut(e.withoutMagics(code[:offset]), offset)
	none := kernel.Completion{Start: end, End: end, Matches: []kernel.Match{}}
	if inComment {
		return none
	}
	var ms []kernel.Match
	if inString {
		ms = e.completeString(text, prefix)
	} else {
		ms = e.completeName(text, prefix)
	}
	if len(ms) == 0 {
		return none
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].Text < ms[j].Text })
	return kernel.Completion{Start: end - utf8.RuneCountInString(prefix), End: end, Matches: ms}
}

// byteOffset turns a count of code points into an offset; counts beyond the end mean the end.
func byteOffset(s string, points int) int {
	n := 0
	for i := range s {
		if n == points {
			return i
		}
		n++
	}
	return len(s)
}

// completeName completes an identifier, alone or behind a dot.
func (e *Engine) completeName(text, prefix string) (ms []kernel.Match) {
	e.peek(text, func(v *view) {
		n, path := v.find(func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && id.Name == cursorName
		})
		if n == nil {
			if x, ok := lastSelector(text); ok {
				ms = e.membersOfText(v, x, prefix)
			}
			return
		}
		if len(path) > 1 {
			if sel, ok := path[len(path)-2].(*ast.SelectorExpr); ok && sel.Sel == n {
				ms = e.members(v, sel.X, prefix)
				return
			}
			if fields, ok := literalFields(v, path); ok {
				ms = matching(fields, prefix)
			}
		}
		ms = append(ms, e.namesAt(v, n.Pos(), prefix)...)
	})
	return ms
}

// lastSelector is the operand before the last dot of text that does not parse.
func lastSelector(text string) (string, bool) {
	i := strings.LastIndex(text, "."+cursorName)
	if i < 0 {
		return "", false
	}
	depth, start := 0, i
	for start > 0 {
		b := text[start-1]
		switch {
		case b == ')' || b == ']' || b == '}':
			depth++
		case b == '(' || b == '[' || b == '{':
			if depth == 0 {
				return text[start:i], start < i
			}
			depth--
		case depth == 0 && !isIdent(b) && b != '.':
			return text[start:i], start < i
		}
		start--
	}
	return text[start:i], start < i
}

// membersOfText completes behind an operand whose surroundings could not be parsed.
func (e *Engine) membersOfText(v *view, x, prefix string) []kernel.Match {
	if path, ok := v.pkgs[x]; ok && elems(e.pkg.Scope())[x] == nil {
		return e.packageMembers(path, prefix)
	}
	tv, err := types.Eval(e.fset, e.pkg, token.NoPos, x)
	if err != nil || tv.Type == nil {
		return nil
	}
	return matching(typeMembers(tv.Type, e.pkg, tv.Addressable()), prefix)
}

func (e *Engine) members(v *view, x ast.Expr, prefix string) []kernel.Match {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := v.info.Uses[id].(*types.PkgName); ok {
			return e.packageMembers(p.Imported().Path(), prefix)
		}
		if path, ok := v.pkgs[id.Name]; ok && v.info.Uses[id] == nil {
			return e.packageMembers(path, prefix)
		}
	}
	tv, ok := v.info.Types[x]
	if !ok || tv.Type == nil {
		return nil
	}
	return matching(typeMembers(tv.Type, e.pkg, true), prefix)
}

func (e *Engine) packageMembers(path, prefix string) []kernel.Match {
	pkg, err := e.imp.Import(path)
	if err != nil {
		return nil
	}
	var objs []types.Object
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			objs = append(objs, obj)
		}
	}
	return matching(objs, prefix)
}

// typeMembers lists fields and methods that can follow a dot.
func typeMembers(t types.Type, from *types.Package, addressable bool) []types.Object {
	var objs []types.Object
	seen := map[string]bool{}
	add := func(o types.Object) {
		if !seen[o.Name()] && o.Name() != "_" && (o.Exported() || o.Pkg() == from) {
			seen[o.Name()] = true
			objs = append(objs, o)
		}
	}
	mt := t
	if _, isPtr := t.Underlying().(*types.Pointer); !isPtr && addressable && !types.IsInterface(t) {
		mt = types.NewPointer(t)
	}
	for sel := range types.NewMethodSet(mt).Methods() {
		add(sel.Obj())
	}
	addFields(t, add, 0)
	return objs
}

func addFields(t types.Type, add func(types.Object), depth int) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 5 {
		return
	}
	for f := range s.Fields() {
		add(f)
	}
	for f := range s.Fields() {
		if f.Embedded() {
			addFields(f.Type(), add, depth+1)
		}
	}
}

// literalFields proposes field names inside a struct literal.
func literalFields(v *view, path []ast.Node) ([]types.Object, bool) {
	lit, ok := path[len(path)-2].(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	tv, ok := v.info.Types[lit]
	if !ok || tv.Type == nil {
		return nil, false
	}
	s, ok := tv.Type.Underlying().(*types.Struct)
	if !ok {
		return nil, false
	}
	used := map[string]bool{}
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
	}
	var objs []types.Object
	for f := range s.Fields() {
		if !used[f.Name()] && f.Exported() {
			objs = append(objs, f)
		}
	}
	return objs, true
}

// namesAt lists what an identifier can be: variables in scope, names of the session, packages,
// predeclared names and keywords.
func (e *Engine) namesAt(v *view, pos token.Pos, prefix string) []kernel.Match {
	seen := map[string]bool{}
	var ms []kernel.Match
	add := func(m kernel.Match) {
		if !seen[m.Text] && hasPrefix(m.Text, prefix) && m.Text != "_" && m.Text != cursorName && !strings.Contains(m.Text, early) {
			seen[m.Text] = true
			ms = append(ms, m)
		}
	}
	scope := e.pkg.Scope()
	for _, s := range v.info.Scopes {
		if in := s.Innermost(pos); in != nil {
			scope = in
			break
		}
	}
	for s := scope; s != nil; s = s.Parent() {
		for _, name := range s.Names() {
			obj := s.Lookup(name)
			if obj.Parent() != nil && obj.Parent() != e.pkg.Scope() && obj.Parent() != types.Universe && obj.Pos() > pos {
				continue
			}
			add(match(obj))
		}
	}
	for _, name := range e.pkg.Scope().Names() {
		add(match(e.pkg.Scope().Lookup(name)))
	}
	for name, path := range v.pkgs {
		add(kernel.Match{Text: name, Kind: "module", Signature: strconv.Quote(path)})
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		add(kernel.Match{Text: t.String(), Kind: "keyword"})
	}
	return ms
}

func hasPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && (name[:len(prefix)] == prefix || strings.EqualFold(name[:len(prefix)], prefix) && prefix != "")
}

func matching(objs []types.Object, prefix string) []kernel.Match {
	var ms []kernel.Match
	for _, o := range objs {
		if hasPrefix(o.Name(), prefix) {
			ms = append(ms, match(o))
		}
	}
	return ms
}

// match describes an object as JupyterLab shows it.
func match(o types.Object) kernel.Match {
	m := kernel.Match{Text: o.Name()}
	q := (*types.Package).Name
	switch o := o.(type) {
	case *types.Func:
		m.Kind, m.Signature = "function", signatureOf(o)
	case *types.Var:
		m.Kind, m.Signature = "instance", types.TypeString(o.Type(), q)
		if o.IsField() {
			m.Kind = "property"
		}
	case *types.Const:
		m.Kind, m.Signature = "constant", types.TypeString(o.Type(), q)+" = "+o.Val().String()
	case *types.TypeName:
		m.Kind = "class"
		if types.IsInterface(o.Type()) {
			m.Kind = "interface"
		}
	case *types.PkgName:
		m.Kind, m.Signature = "module", strconv.Quote(o.Imported().Path())
	case *types.Builtin:
		m.Kind = "function"
	default:
		m.Kind = "constant" // nil
	}
	return m
}

// signatureOf is a function's type as Go writes it.
func signatureOf(f *types.Func) string {
	return types.TypeString(f.Type(), (*types.Package).Name)
}

// completeString completes inside a string literal, where a library has hints.
func (e *Engine) completeString(text, prefix string) (ms []kernel.Match) {
	e.peek(text, func(v *view) {
		lit, path := v.find(func(n ast.Node) bool {
			b, ok := n.(*ast.BasicLit)
			if !ok || b.Kind != token.STRING {
				return false
			}
			return len(b.Value) >= 2 && b.Value[1:len(b.Value)-1] == prefix && v.isLastString(b)
		})
		if lit == nil {
			return
		}
		key, arg := e.hintKey(v, path)
		for _, l := range e.imp.libs {
			for _, h := range l.Hints {
				if h.Func != key || h.Arg != arg {
					continue
				}
				for _, t := range h.Texts() {
					if strings.HasPrefix(t.Text, prefix) {
						ms = append(ms, kernel.Match{Text: t.Text, Kind: "text", Signature: t.Doc})
					}
				}
			}
		}
	})
	return ms
}

// isLastString reports whether no string literal begins behind b.
func (v *view) isLastString(b *ast.BasicLit) bool {
	last := true
	for _, d := range v.file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING && x.Pos() > b.Pos() && x.ValuePos != 0 {
				last = false
			}
			return last
		})
	}
	return last
}

// hintKey says in whose argument, or among whose keys, a string literal stands.
func (e *Engine) hintKey(v *view, path []ast.Node) (key string, arg int) {
	lit := path[len(path)-1]
	for i := len(path) - 2; i >= 0; i-- {
		switch n := path[i].(type) {
		case *ast.KeyValueExpr:
			if n.Key != lit {
				return "", 0
			}
		case *ast.CompositeLit:
			if t, ok := types.Unalias(v.info.TypeOf(n)).(*types.Named); ok && t.Obj().Pkg() != nil {
				return t.Obj().Pkg().Path() + "." + t.Obj().Name(), -1
			}
			return "", 0
		case *ast.CallExpr:
			for k, a := range n.Args {
				if a == lit {
					return calleeName(v, n), k
				}
			}
			return "", 0
		default:
			return "", 0
		}
	}
	return "", 0
}

// calleeName is the called function as hints name it: path.Func or path.Type.Method.
func calleeName(v *view, c *ast.CallExpr) string {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := v.info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	if recv := f.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			return f.Pkg().Path() + "." + n.Obj().Name() + "." + f.Name()
		}
	}
	return f.Pkg().Path() + "." + f.Name()
}
