package goeval

import (
	"go/scanner"
	"go/token"
	"strings"

	"kafkalab/kernel"
)

// IsComplete says whether code can be run as it stands, and how far the next line is indented if not.
func (e *Engine) IsComplete(code string) kernel.Completeness {
	if pieces := e.cutMagics(code); pieces != nil {
		if body := pieces[0].name; strings.HasPrefix(body, "%%") && body != "%%time" && !strings.HasSuffix(code, "\n") {
			return kernel.Completeness{Status: "incomplete"} // an empty line ends it
		}
		code = e.withoutMagics(code)
	}
	toks := tokens(code)
	depth := 0
	var last, before token.Token
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if depth--; depth < 0 {
				return kernel.Completeness{Status: "invalid"}
			}
		}
		if t.tok != token.EOF && !(t.tok == token.SEMICOLON && t.lit == "\n") {
			before, last = last, t.tok
		}
	}
	if openLiteral(code) {
		return kernel.Completeness{Status: "incomplete"}
	}
	if depth > 0 || goesOn(last) || before == token.TYPE {
		return kernel.Completeness{Status: "incomplete", Indent: strings.Repeat("\t", max(depth, 0))}
	}
	p, err := e.parse(newSource(0, code))
	for _, f := range p.files {
		e.forget(f)
	}
	if err == nil {
		return kernel.Completeness{Status: "complete"}
	}
	if list, ok := err.(scanner.ErrorList); ok && atEnd(code, list) {
		return kernel.Completeness{Status: "incomplete"}
	}
	return kernel.Completeness{Status: "invalid"}
}

// openLiteral reports a raw string or a comment without its end.
func openLiteral(code string) bool {
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(code))
	open := false
	var s scanner.Scanner
	s.Init(f, []byte(code), func(_ token.Position, msg string) {
		if strings.Contains(msg, "raw string literal not terminated") || strings.Contains(msg, "comment not terminated") {
			open = true
		}
	}, 0)
	for {
		if _, tok, _ := s.Scan(); tok == token.EOF {
			return open
		}
	}
}

// goesOn reports whether a statement cannot end with t.
func goesOn(t token.Token) bool {
	switch t {
	case token.INC, token.DEC, token.RPAREN, token.RBRACE, token.RBRACK, token.SEMICOLON:
		return false
	case token.FUNC, token.IF, token.FOR, token.SWITCH, token.SELECT, token.TYPE, token.VAR, token.CONST, token.IMPORT,
		token.GO, token.DEFER, token.STRUCT, token.INTERFACE, token.MAP, token.CHAN, token.RANGE, token.ELSE, token.CASE, token.PACKAGE:
		return true
	}
	return t.IsOperator()
}

// atEnd reports whether the first error is that the text ends.
func atEnd(code string, list scanner.ErrorList) bool {
	lines := strings.Count(strings.TrimRight(code, "\n \t"), "\n") + 1
	return len(list) > 0 && (list[0].Pos.Line > lines || strings.HasSuffix(list[0].Msg, foundEnd))
}
