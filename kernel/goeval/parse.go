package goeval

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"sort"
	"strings"
)

// source is the text of one cell.
type source struct {
	count int
	file  string // the file that %run read, "" for a cell
	text  string
	lines []string
}

func newSource(count int, text string) *source {
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		text = "   " + rest // a byte order mark means nothing; places stay
	}
	s := &source{count: count, text: text, lines: strings.Split(text, "\n")}
	for i, line := range s.lines {
		s.lines[i] = strings.TrimSuffix(line, "\r")
	}
	return s
}

// plainLines is the text without line directives: places in a cell are those of the cell.
func plainLines(text string) []byte {
	b := []byte(text)
	if !strings.Contains(text, "//line ") && !strings.Contains(text, "/*line ") {
		return b
	}
	f := token.NewFileSet().AddFile("", -1, len(b))
	var s scanner.Scanner
	s.Init(f, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return b
		}
		if tok == token.COMMENT && strings.HasPrefix(lit[2:], "line ") {
			b[f.Offset(pos)+2] = 'L'
		}
	}
}

// label names the cell, or the file, in front of a line and a column.
func (s *source) label() string {
	if s.file != "" {
		return s.file
	}
	return fmt.Sprintf("[%d]", s.count)
}

// where names it in a sentence.
func (s *source) where() string {
	if s.file != "" {
		return s.file
	}
	return fmt.Sprintf("cell [%d]", s.count)
}

func (s *source) at(line, col int) string { return fmt.Sprintf("%s:%d:%d", s.label(), line, col) }

// Both parses of a cell see its text after a prefix of one length, so that positions agree.
const (
	declPrefix = "package main;                  "
	stmtPrefix = "package main; func _() {       "
	prefixLen  = len(stmtPrefix)
)

// segment is a top-level piece of a cell: a declaration or a statement.
type segment struct {
	start, end int // byte offsets
	kind       token.Token
}

// parsed is a cell taken apart.
type parsed struct {
	src        *source
	decls      []ast.Decl // import, type, const, var and func
	stmts      []ast.Stmt // everything else, in order
	unresolved map[string][]*ast.Ident
	hasPackage bool
	files      []*ast.File
}

// parse reads a cell. Declarations and statements may follow each other in any order.
func (e *Engine) parse(src *source) (*parsed, error) {
	segs := split(src.text)
	decl, stmt := plainLines(src.text), plainLines(src.text)
	p := &parsed{src: src, unresolved: map[string][]*ast.Ident{}}
	late := lateImports(segs)
	var imports []byte
	if late {
		imports = plainLines(src.text)
	}
	stmts := false
	for _, s := range segs {
		if late {
			if s.kind == token.IMPORT {
				blank(decl, s)
			} else {
				blank(imports, s)
			}
		}
		switch s.kind {
		case token.PACKAGE:
			blank(decl, s)
			blank(stmt, s)
			p.hasPackage = true
		case token.IMPORT, token.TYPE, token.CONST, token.VAR, token.FUNC:
			blank(stmt, s)
		default:
			blank(decl, s)
			stmts = true
		}
	}
	mode := parser.ParseComments
	var errs scanner.ErrorList
	for _, text := range [][]byte{imports, decl} {
		if text == nil {
			continue
		}
		f, err := e.parseFile(src, declPrefix+string(text), mode)
		errs = add(errs, err)
		if f != nil {
			p.decls = append(p.decls, f.Decls...)
			p.collect(f)
		}
	}
	if stmts {
		f, err := e.parseFile(src, stmtPrefix+string(stmt)+"\n}", mode)
		errs = add(errs, atCellEnd(err, src.text))
		if f != nil && len(f.Decls) > 0 {
			if fd, ok := f.Decls[len(f.Decls)-1].(*ast.FuncDecl); ok && fd.Body != nil {
				p.stmts = fd.Body.List
			}
			if len(f.Decls) > 1 && len(errs) == 0 {
				errs = append(errs, &scanner.Error{Pos: e.fset.Position(f.Decls[0].End()), Msg: "unexpected }"})
			}
			p.collect(f)
		}
	}
	if pos := p.tooDeep(); pos.IsValid() {
		p.decls, p.stmts = nil, nil // nobody looks at them any more
		at := e.fset.PositionFor(pos, false)
		errs = append(errs, &scanner.Error{Pos: at, Msg: fmt.Sprintf("a type is nested more than %d deep", maxTypeDepth)})
	}
	if len(errs) > 0 {
		sort.Sort(errs)
		return p, errs
	}
	return p, nil
}

// lateImports reports whether an import follows another declaration, which is fine in a cell: imports are
// then parsed apart.
func lateImports(segs []segment) bool {
	others := false
	for _, s := range segs {
		switch s.kind {
		case token.IMPORT:
			if others {
				return true
			}
		case token.TYPE, token.CONST, token.VAR, token.FUNC:
			others = true
		}
	}
	return false
}

// maxTypeDepth bounds types in types: the cost of comparing deep ones grows without measure.
const maxTypeDepth = 300

// tooDeep finds a type that is nested too deep.
func (p *parsed) tooDeep() (at token.Pos) {
	for _, f := range p.files {
		depth := 0
		var stack []bool
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				last := len(stack) - 1
				if stack[last] {
					depth--
				}
				stack = stack[:last]
				return true
			}
			if at.IsValid() {
				return false
			}
			is := isTypeNode(n)
			stack = append(stack, is)
			if is {
				if depth++; depth > maxTypeDepth {
					at = n.Pos()
				}
			}
			return true
		})
		if at.IsValid() {
			return at
		}
	}
	return token.NoPos
}

func isTypeNode(n ast.Node) bool {
	switch n.(type) {
	case *ast.ArrayType, *ast.StarExpr, *ast.ChanType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.InterfaceType, *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

const foundEnd = "found the end of the cell"

// atCellEnd gives complaints about the brace that closes the statements, which nobody has typed, the place
// and the words of what is meant: the cell ends too early.
func atCellEnd(err error, text string) error {
	list, _ := err.(scanner.ErrorList)
	for _, x := range list {
		if x.Pos.Offset <= len(stmtPrefix)+len(text) || !strings.HasSuffix(x.Msg, "found '}'") {
			continue
		}
		x.Msg = strings.TrimSuffix(x.Msg, "found '}'") + foundEnd
		written := strings.TrimRight(text, " \t\r\n")
		x.Pos.Line = strings.Count(written, "\n") + 1
		x.Pos.Column = len(written) - strings.LastIndexByte(written, '\n')
		if x.Pos.Line == 1 {
			x.Pos.Column += prefixLen
		}
	}
	return err
}

func add(errs scanner.ErrorList, err error) scanner.ErrorList {
	if list, ok := err.(scanner.ErrorList); ok {
		return append(errs, list...)
	}
	return errs
}

func (e *Engine) parseFile(src *source, text string, mode parser.Mode) (*ast.File, error) {
	f, err := parser.ParseFile(e.fset, "cell", text, mode)
	if f != nil {
		e.mu.Lock()
		e.files[e.fset.File(f.FileStart)] = src
		e.mu.Unlock()
	}
	return f, err
}

func (p *parsed) collect(f *ast.File) {
	p.files = append(p.files, f)
	for _, id := range f.Unresolved {
		p.unresolved[id.Name] = append(p.unresolved[id.Name], id)
	}
}

// blank overwrites a segment with spaces; lines stay where they are.
func blank(text []byte, s segment) {
	for i := s.start; i < s.end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// scan is a token with its place.
type scan struct {
	off int
	tok token.Token
	lit string
}

func tokens(text string) []scan {
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(f, []byte(text), func(token.Position, string) {}, 0)
	var all []scan
	for {
		pos, tok, lit := s.Scan()
		all = append(all, scan{f.Offset(pos), tok, lit})
		if tok == token.EOF {
			return all
		}
	}
}

// split cuts a cell at the semicolons, written or implied, that lie outside all brackets.
func split(text string) []segment {
	var segs []segment
	toks := tokens(text)
	depth, first := 0, 0
	for i, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.SEMICOLON, token.EOF:
			if depth > 0 && t.tok != token.EOF {
				continue
			}
			if i == first && t.lit == ";" { // as in for ;; {
				segs = append(segs, segment{t.off, t.off + 1, token.ILLEGAL})
			}
			if i > first {
				end := t.off
				if t.tok == token.SEMICOLON && t.lit == ";" {
					end++
				}
				segs = append(segs, segment{toks[first].off, min(end, len(text)), kindOf(toks[first:i])})
			}
			first = i + 1
		}
	}
	return segs
}

// kindOf is the keyword that a declaration begins with; ILLEGAL for statements.
func kindOf(toks []scan) token.Token {
	switch t := toks[0].tok; t {
	case token.PACKAGE, token.IMPORT, token.TYPE, token.CONST, token.VAR:
		return t
	case token.FUNC:
		if isFuncDecl(toks) {
			return token.FUNC
		}
	}
	return token.ILLEGAL
}

// isFuncDecl tells func f() and func (t T) f() from a function literal.
func isFuncDecl(toks []scan) bool {
	if len(toks) > 1 && toks[1].tok == token.IDENT {
		return true
	}
	depth := 0
	for i, t := range toks[1:] {
		switch t.tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				rest := toks[1+i+1:]
				return len(rest) > 1 && rest[0].tok == token.IDENT && (rest[1].tok == token.LPAREN || rest[1].tok == token.LBRACK)
			}
		}
	}
	return false
}
