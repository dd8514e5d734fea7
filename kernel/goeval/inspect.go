package goeval

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"strings"

	"kafkalab/kernel"
)

// Inspect tells about the name at cursor: its signature, its doc, the value of a variable of the
// session; with detail 1 the source, where it is known.
func (e *Engine) Inspect(code string, cursor, detail int) (b kernel.Bundle, found bool) {
	offset := byteOffset(code, cursor)
	start, end := offset, offset
	for start > 0 && isIdent(code[start-1]) {
		start--
	}
	for end < len(code) && isIdent(code[end]) {
		end++
	}
	if b, ok := e.inspectMagic(code, offset); ok {
		return b, true
	}
	if start == end {
		return kernel.Bundle{}, false
	}
	code = e.withoutMagics(code)
	var obj types.Object
	var pkgPath string
	text := code
	try := func(v *view) {
		n, path := v.find(func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && id.Name == code[start:end] && e.offsetIn(id.Pos()) == start
		})
		if n == nil {
			return
		}
		id := n.(*ast.Ident)
		if obj = v.info.ObjectOf(id); obj == nil {
			obj = selected(v, path)
		}
		if p, ok := obj.(*types.PkgName); ok {
			pkgPath = p.Imported().Path()
		}
	}
	e.peek(text, try)
	if obj == nil { // code that does not parse: the operand alone
		x := code[dottedStart(code, start):end]
		start -= dottedStart(code, start)
		code, end = x, len(x)
		e.peek(x, try)
	}
	name := code[start:end]
	if obj == nil {
		if path, ok := e.imp.names[name]; ok {
			pkgPath = path
		} else if obj = types.Universe.Lookup(name); obj == nil {
			return kernel.Bundle{}, false
		}
	}
	return e.describe(obj, pkgPath, detail), true
}

// dottedStart is where the operand a.b.c that ends at start begins.
func dottedStart(code string, start int) int {
	for start > 0 && (isIdent(code[start-1]) || code[start-1] == '.') {
		start--
	}
	return start
}

// offsetIn is the offset in the code of a peek.
func (e *Engine) offsetIn(pos token.Pos) int {
	f := e.fset.File(pos)
	if f == nil {
		return -1
	}
	return f.Offset(pos) - prefixLen
}

// selected resolves the name behind a dot.
func selected(v *view, path []ast.Node) types.Object {
	if len(path) < 2 {
		return nil
	}
	if sel, ok := path[len(path)-2].(*ast.SelectorExpr); ok {
		if s := v.info.Selections[sel]; s != nil {
			return s.Obj()
		}
	}
	return nil
}

// describe makes the bundle about an object.
func (e *Engine) describe(obj types.Object, pkgPath string, detail int) kernel.Bundle {
	var head, docText, value string
	if pkgPath != "" {
		head = "package " + pkgPath
		docText = e.packageDoc(pkgPath)
	} else {
		head = types.ObjectString(obj, qualify)
		docText = e.docOf(obj)
		value = e.valueOf(obj)
	}
	if detail > 0 {
		if src := e.sourceOf(obj); src != "" {
			head = src
		}
	}
	plainText := head
	md := "```go\n" + head + "\n```\n"
	if value != "" {
		plainText += "\n\nvalue: " + value
		md += "\nvalue: `" + strings.ReplaceAll(value, "`", "'") + "`\n"
	}
	if docText != "" {
		d := new(comment.Parser).Parse(docText)
		plainText += "\n\n" + strings.TrimSpace(string(new(comment.Printer).Text(d)))
		md += "\n" + string(new(comment.Printer).Markdown(d))
	}
	return kernel.Bundle{Data: map[string]any{"text/plain": plainText, "text/markdown": md}, Metadata: map[string]any{}}
}

func qualify(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// valueOf is the present value of a variable of the session, cut short. Its methods are not called.
func (e *Engine) valueOf(obj types.Object) string {
	v, ok := obj.(*types.Var)
	if !ok || elems(e.pkg.Scope())[obj.Name()] != obj {
		return ""
	}
	s := fmt.Sprintf("%+v", valuesOnly{e.machine.Value(v)})
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

// declOf finds the syntax of a declaration: in a cell, or in the sources of a library.
func (e *Engine) declOf(obj types.Object) (decl ast.Node, docText string) {
	if obj == nil || obj.Pkg() == nil {
		return nil, ""
	}
	if obj.Pkg() == e.pkg {
		return e.cellDecl(obj)
	}
	for _, f := range e.parsedSources(obj.Pkg().Path()) {
		if d, text := findDecl(f, obj); d != nil {
			return d, text
		}
	}
	return nil, ""
}

func (e *Engine) docOf(obj types.Object) string {
	_, text := e.declOf(obj)
	return text
}

func (e *Engine) sourceOf(obj types.Object) string {
	d, _ := e.declOf(obj)
	if d == nil {
		return ""
	}
	var b bytes.Buffer
	if format.Node(&b, e.docSet, d) != nil {
		return ""
	}
	return b.String()
}

// cellDecl parses the cell that declares obj again.
func (e *Engine) cellDecl(obj types.Object) (ast.Node, string) {
	src, _, _ := e.position(obj.Pos())
	if src == nil {
		return nil, ""
	}
	text := []byte(src.text)
	for _, s := range split(src.text) {
		switch s.kind {
		case token.TYPE, token.CONST, token.VAR, token.FUNC:
		default:
			blank(text, s)
		}
	}
	f, _ := parser.ParseFile(e.docSet, "cell", "package main\n\n"+string(text), parser.ParseComments)
	if f == nil {
		return nil, ""
	}
	return findDecl(f, obj)
}

// parsedSources parses the sources of a library's package, once.
func (e *Engine) parsedSources(path string) []*ast.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	if fs, ok := e.docs[path]; ok {
		return fs
	}
	var fs []*ast.File
	for _, z := range e.imp.sourcesIn(path) {
		r, err := z.Open()
		if err != nil {
			continue
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			continue
		}
		if f, err := parser.ParseFile(e.docSet, z.Name, b, parser.ParseComments); err == nil {
			fs = append(fs, f)
		}
	}
	e.docs[path] = fs
	return fs
}

func (e *Engine) packageDoc(path string) string {
	for _, f := range e.parsedSources(path) {
		if f.Doc != nil {
			return f.Doc.Text()
		}
	}
	return ""
}

// findDecl finds the declaration of obj in a file, and its doc comment.
func findDecl(f *ast.File, obj types.Object) (ast.Node, string) {
	recv := ""
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		t := fn.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			recv = n.Obj().Name()
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			have := ""
			if d.Recv != nil {
				have = recvBase(d)
			}
			if d.Name.Name == obj.Name() && have == recv {
				return d, d.Doc.Text()
			}
		case *ast.GenDecl:
			if n, text := findSpec(d, obj); n != nil {
				return n, text
			}
		}
	}
	return nil, ""
}

func findSpec(d *ast.GenDecl, obj types.Object) (ast.Node, string) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if v, ok := obj.(*types.Var); ok && v.IsField() {
				if text, ok := fieldDoc(s, v); ok {
					return s, text
				}
			}
			if _, isFunc := obj.(*types.Func); !isFunc && s.Name.Name == obj.Name() {
				return whole(d, s), first(s.Doc.Text(), d.Doc.Text(), s.Comment.Text())
			}
		case *ast.ValueSpec:
			if v, ok := obj.(*types.Var); ok && v.IsField() {
				continue
			}
			for _, n := range s.Names {
				if n.Name == obj.Name() {
					return whole(d, s), first(s.Doc.Text(), s.Comment.Text(), d.Doc.Text())
				}
			}
		}
	}
	return nil, ""
}

// whole is the declaration if it declares one thing only.
func whole(d *ast.GenDecl, s ast.Node) ast.Node {
	if len(d.Specs) == 1 {
		return d
	}
	return s
}

// fieldDoc finds the comment of a struct field; fields of one name in other structs are told apart by
// their types' text.
func fieldDoc(s *ast.TypeSpec, v *types.Var) (string, bool) {
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return "", false
	}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			if n.Name == v.Name() && types.ExprString(f.Type) == types.TypeString(v.Type(), types.RelativeTo(v.Pkg())) {
				return first(f.Doc.Text(), f.Comment.Text()), true
			}
		}
	}
	return "", false
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
