package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"kafkalab/kernel/goeval/internal/exec"
)

// view is code as the type checker sees it, without effect on the session: for completion and
// inspection.
type view struct {
	*parsed
	info *types.Info
	file *ast.File
	pkgs map[string]string // names of packages in sight, with their paths
}

// peek parses and checks code as far as it goes; errors do not matter.
func (e *Engine) peek(code string, do func(v *view)) {
	e.checking.Lock()
	defer e.checking.Unlock()
	src := newSource(0, code)
	p, _ := e.parse(src)
	for _, f := range p.files {
		defer e.forget(f)
	}
	names, dots, declared := maps.Clone(e.names), slices.Clone(e.dots), maps.Clone(e.types)
	scope := elems(e.pkg.Scope())
	before := maps.Clone(scope)
	c := &checked{parsed: p, old: map[string]types.Object{}}
	defer func() {
		recover() // half-written code may surprise anyone
		c.undo(e)
		clear(scope)
		maps.Copy(scope, before)
		dropChildren(e.pkg.Scope())
		e.names, e.dots, e.types = names, dots, declared
	}()
	b := &builder{e: e, c: c, file: &ast.File{Name: ast.NewIdent("main")}}
	b.build() // what could not be built is missing from the view, no more
	info := newInfo()
	c.unit = &exec.Unit{Info: info, Pkg: e.pkg}
	for _, d := range c.defs {
		delete(scope, d.name)
	}
	b.runChecker(info)
	pkgs := maps.Clone(e.imp.names)
	maps.Copy(pkgs, e.names)
	do(&view{parsed: p, info: info, file: b.file, pkgs: pkgs})
}

// forget drops what was noted of a parse that is not a cell.
func (e *Engine) forget(f *ast.File) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if tf := e.fset.File(f.FileStart); tf != nil {
		delete(e.files, tf)
		e.fset.RemoveFile(tf)
	}
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		Scopes: map[ast.Node]*types.Scope{},
	}
}

// find looks for the first node, in any file of the view, that ok accepts.
func (v *view) find(ok func(n ast.Node) bool) (found ast.Node, path []ast.Node) {
	for _, d := range v.file.Decls {
		var stack []ast.Node
		ast.Inspect(d, func(n ast.Node) bool {
			if found != nil {
				return false
			}
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			stack = append(stack, n)
			if ok(n) {
				found, path = n, slices.Clone(stack)
				return false
			}
			return true
		})
		if found != nil {
			return found, path
		}
	}
	return nil, nil
}

// cursorName marks, in completed code, the identifier at the cursor.
const cursorName = "cursor__"

// cut takes code up to offset and closes what is open there, so that it parses: the identifier at the
// cursor becomes cursorName, or a string literal ends there.
func cut(code string, offset int) (text, prefix string, inString, inComment bool) {
	head := code[:offset]
	var open []token.Token
	toks := tokens(head)
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, t.tok)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case token.STRING, token.CHAR:
			if t.off+len(t.lit) >= len(head) && !closedLiteral(t.lit) {
				inString = true
				text = head[:t.off] + closeLiteral(t.lit)
				prefix = t.lit[1:]
			}
		}
	}
	if !inString {
		inComment = endsInComment(head)
		start := offset
		for start > 0 && isIdent(head[start-1]) {
			start--
		}
		prefix = head[start:]
		text = head[:start] + cursorName
	}
	var closed strings.Builder
	closed.WriteString(text)
	for i := len(open) - 1; i >= 0; i-- {
		switch open[i] {
		case token.LPAREN:
			closed.WriteString(")")
		case token.LBRACK:
			closed.WriteString("]")
		default:
			closed.WriteString("\n}")
		}
	}
	return closed.String(), prefix, inString, inComment
}

func closedLiteral(lit string) bool {
	if len(lit) < 2 || lit[len(lit)-1] != lit[0] {
		return false
	}
	slashes := 0
	for i := len(lit) - 2; i > 0 && lit[i] == '\\'; i-- {
		slashes++
	}
	return lit[0] == '`' || slashes%2 == 0
}

func closeLiteral(lit string) string { return lit + lit[:1] }

func isIdent(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// endsInComment reports whether the end of text lies in a comment.
func endsInComment(text string) bool {
	const probe = " cursor__x"
	for _, t := range tokens(text + probe) {
		if t.tok == token.IDENT && t.off >= len(text) {
			return false
		}
		if t.tok == token.IDENT && t.off < len(text) && t.off+len(t.lit) > len(text) {
			return false
		}
	}
	return true
}
