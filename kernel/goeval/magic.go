package goeval

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
)

// Magics are lines of a cell that are not Go: %name at the beginning of a statement, %%name on the first
// line of a cell, and !command. A cell that holds some is cut at them; its pieces run one after another, as
// cells of their own would.

// piece is a part of a cell: Go, or a magic.
type piece struct {
	from, to int    // the bytes of the text, without the end of the line
	name     string // of a magic, with its sign: %time, %%file, !; "" for Go
	arg      string
	argAt    int // where arg begins in the text
	line     int // from 1
}

// maxMagics in one cell; a cell with more is something else that was pasted.
const maxMagics = 200

// cutMagics takes a cell apart. A cell without magics has no pieces.
func (e *Engine) cutMagics(text string) []piece {
	if !strings.ContainsAny(text, "%!") {
		return nil
	}
	var all []piece
	from, magics := 0, 0
	seen := map[string]bool{}
	for magics < maxMagics {
		at := e.nextMagic(text, from, seen)
		if at < 0 {
			break
		}
		magics++
		if strings.TrimSpace(text[from:at]) != "" {
			all = append(all, piece{from: from, to: at})
		}
		p := magicAt(text, at)
		all = append(all, p)
		from = min(p.to+1, len(text))
		if strings.HasPrefix(p.name, "%%") {
			break // the rest is its body
		}
	}
	if magics > 0 && from < len(text) && strings.TrimSpace(text[from:]) != "" {
		all = append(all, piece{from: from, to: len(text)})
	}
	return all
}

// magicAt reads the magic that begins at a byte of the text.
func magicAt(text string, at int) piece {
	p := piece{from: at, to: len(text), line: strings.Count(text[:at], "\n") + 1}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		p.to = at + i
	}
	line := strings.TrimRight(text[at:p.to], " \t\r")
	end := 1
	if line[0] == '%' {
		if strings.HasPrefix(line, "%%") {
			end++
		}
		for end < len(line) && isIdent(line[end]) {
			end++
		}
	}
	p.name, p.arg = line[:end], strings.TrimLeft(line[end:], " \t")
	p.argAt = at + len(line) - len(p.arg)
	return p
}

// nextMagic finds the next magic from a byte on: a sign that begins both a line and a statement. It notes
// the identifiers that it has seen.
func (e *Engine) nextMagic(text string, from int, seen map[string]bool) int {
	rest := []byte(text[from:])
	f := token.NewFileSet().AddFile("", -1, len(rest))
	var s scanner.Scanner
	s.Init(f, rest, func(token.Position, string) {}, 0)
	depth, begins := 0, true
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.IDENT:
			seen[lit] = true
		case token.EOF:
			return -1
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.REM, token.NOT:
			at := from + f.Offset(pos)
			line := strings.LastIndexByte(text[:at], '\n') + 1
			if begins && depth <= 0 && strings.TrimSpace(text[line:at]) == "" && (tok == token.REM || !e.negation(text[at+1:], seen)) {
				return at
			}
		}
		begins = tok == token.SEMICOLON
	}
}

// negation tells Go's !x from a shell command: what follows cannot begin a command, or it is a name that Go
// knows.
func (e *Engine) negation(rest string, seen map[string]bool) bool {
	n := 0
	for n < len(rest) && isIdent(rest[n]) {
		n++
	}
	if n == 0 {
		for _, begin := range []string{"(", "!", "*", "[", "<-"} {
			if strings.HasPrefix(rest, begin) {
				return true
			}
		}
		return false
	}
	return strings.HasPrefix(rest[n:], "(") || seen[rest[:n]] || e.knows(rest[:n])
}

// knows reports whether a name means something in the session.
func (e *Engine) knows(name string) bool {
	e.checking.Lock()
	defer e.checking.Unlock()
	return elems(e.pkg.Scope())[name] != nil || types.Universe.Lookup(name) != nil || e.names[name] != "" || e.imp.names[name] != ""
}

// only is the text with blanks in the place of everything outside from and to, so that positions agree.
func only(text string, from, to int) string {
	b := []byte(text[:to])
	blank(b, segment{end: from})
	return string(b)
}

// withoutMagics is the text with blanks in the place of its magics: what Go there is, in its place. Go that
// is timed stays.
func (e *Engine) withoutMagics(text string) string {
	pieces := e.cutMagics(text)
	if pieces == nil {
		return text
	}
	b := []byte(text)
	for _, p := range pieces {
		switch {
		case p.name == "":
		case p.name == "%time":
			blank(b, segment{start: p.from, end: p.argAt})
		case strings.HasPrefix(p.name, "%%") && p.name != "%%time":
			blank(b, segment{start: p.from, end: len(b)})
		default:
			blank(b, segment{start: p.from, end: p.to})
		}
	}
	return string(b)
}

// performance is a cell being run.
type performance struct {
	e    *Engine
	src  *source
	out  kernel.Output
	run  *exec.Run
	prep stopwatch // what parsing, checking and compiling took
}

// pieces runs the pieces of a cell in order, up to the first that fails or ends the cell.
func (p *performance) pieces(all []piece) (outcome kernel.Outcome) {
	for i, part := range all {
		switch {
		case part.name == "":
			outcome = p.golang(only(p.src.text, part.from, part.to))
		case part.arg == "" && (part.name == "%time" || part.name == "%%time" && p.isFirst(part)):
			return p.timed(func() kernel.Outcome { return p.pieces(all[i+1:]) })
		case strings.HasPrefix(part.name, "%%"):
			return p.cellMagic(part)
		default:
			outcome = p.magic(part)
		}
		if outcome.Failure != nil || p.run.Reason() != 0 {
			break
		}
	}
	return outcome
}

// isFirst reports whether nothing stands above a piece.
func (p *performance) isFirst(part piece) bool {
	return strings.TrimSpace(p.src.text[:part.from]) == ""
}

// golang runs Go of the cell: its whole text, or a piece of it.
func (p *performance) golang(text string) kernel.Outcome {
	src := *p.src
	src.text = text
	return p.source(&src)
}

// problem fails at a place of the cell.
func (p *performance) problem(name string, line, col int, format string, args ...any) kernel.Outcome {
	msg := fmt.Sprintf(format, args...)
	first, rest, _ := strings.Cut(msg, "\n")
	trace := p.src.excerpt(line, col, first)
	if rest != "" {
		trace = append(trace, strings.Split(rest, "\n")...)
	}
	return kernel.Outcome{Failure: &kernel.Failure{Name: name, Value: p.src.at(line, col) + ": " + first, Traceback: trace}}
}

func (p *performance) fail(part piece, name, format string, args ...any) kernel.Outcome {
	line := strings.LastIndexByte(p.src.text[:part.from], '\n') + 1
	return p.problem(name, part.line, part.from-line+1, format, args...)
}

// say prints on the cell's standard output.
func (p *performance) say(format string, args ...any) {
	p.e.write(p.run, "stdout", fmt.Sprintf(format, args...))
}
