package goeval

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"kafkalab/kernel"
)

// magicSpec is a magic: how it is written and what it does.
type magicSpec struct {
	name string
	args string // how its arguments are written
	doc  string // a sentence or two
	run  func(p *performance, part piece) kernel.Outcome
	body func(p *performance, part piece, text string) kernel.Outcome // of a magic for a whole cell
	arg  func(e *Engine, prefix string) []kernel.Match                // completes the last argument
}

var magicSpecs map[string]*magicSpec

func init() {
	magicSpecs = map[string]*magicSpec{}
	for _, m := range []magicSpec{
		{name: "%help", args: "[magic]", doc: "Show the magics, or what one of them does.", run: (*performance).help, arg: magicNames},
		{name: "%time", args: "[Go]", doc: "Run the Go on this line, or the rest of the cell if there is none, and say how long it took.", run: (*performance).time},
		{name: "%who", args: "[vars|funcs|types|consts]", doc: "List what the cells have declared, with types and values.", run: (*performance).who, arg: whoKinds},
		{name: "%reset", doc: "Forget everything that the cells have declared or imported, and end the goroutines that they left behind.", run: (*performance).reset},
		{name: "%load", args: "file", doc: "Put the text of a file in the place of this cell.", run: (*performance).load, arg: fileNames},
		{name: "%run", args: "file.go", doc: "Run a Go file as if it were a cell: its declarations stay, its main runs.", run: (*performance).runFile, arg: fileNames},
		{name: "%%file", args: "[-a] file", doc: "Write the rest of the cell to a file; -a appends.", body: (*performance).file, arg: fileNames},
		{name: "%%time", doc: "Run the cell and say how long it took."},
		{name: "!", args: "command", doc: "Run a command of the shell, if the kernel was started with --allow-shell.", run: (*performance).shell},
	} {
		magicSpecs[m.name] = &m
	}
}

// usageOf is how a magic is written.
func (m *magicSpec) usage() string {
	if m.name == "!" {
		return "!" + m.args
	}
	return strings.TrimSpace(m.name + " " + m.args)
}

// allMagics lists the magics as %help shows them.
func allMagics() []*magicSpec {
	var all []*magicSpec
	for _, m := range magicSpecs {
		all = append(all, m)
	}
	rank := func(m *magicSpec) string { return strings.NewReplacer("%%", "b", "%", "a", "!", "c").Replace(m.name) }
	sort.Slice(all, func(i, j int) bool { return rank(all[i]) < rank(all[j]) })
	return all
}

func magicList() string {
	var names []string
	for _, m := range allMagics() {
		names = append(names, m.usage())
	}
	return strings.Join(names, ", ")
}

// magic runs a magic of one line.
func (p *performance) magic(part piece) kernel.Outcome {
	m := magicSpecs[part.name]
	switch {
	case m != nil && m.run != nil:
		return m.run(p, part)
	case m == nil && magicSpecs["%"+part.name] != nil:
		return p.fail(part, "UnknownMagic", "%s is for a whole cell: write %%%s on its first line", part.name, part.name)
	}
	return p.unknown(part)
}

// cellMagic runs a magic that takes the rest of the cell.
func (p *performance) cellMagic(part piece) kernel.Outcome {
	m := magicSpecs[part.name]
	switch {
	case m == nil && magicSpecs[part.name[1:]] != nil:
		return p.fail(part, "UnknownMagic", "%s is for one line: write %s", part.name, part.name[1:])
	case m == nil:
		return p.unknown(part)
	case !p.isFirst(part):
		return p.fail(part, "UnknownMagic", "%s must stand on the first line of its cell", part.name)
	case m.body == nil:
		return p.fail(part, "UnknownMagic", "%s takes no arguments", part.name)
	}
	return m.body(p, part, p.src.text[min(part.to+1, len(p.src.text)):])
}

func (p *performance) unknown(part piece) kernel.Outcome {
	return p.fail(part, "UnknownMagic", "there is no magic %s\nThere are: %s.\n%%help says what they do.", part.name, magicList())
}

// help shows what magics there are.
func (p *performance) help(part piece) kernel.Outcome {
	all := allMagics()
	if part.arg != "" {
		m := findMagic(part.arg)
		if m == nil {
			return p.fail(part, "UnknownMagic", "there is no magic %s\nThere are: %s.", part.arg, magicList())
		}
		all = []*magicSpec{m}
	}
	return kernel.Outcome{Result: helpFor(all)}
}

// findMagic finds a magic by its name, with or without its sign.
func findMagic(name string) *magicSpec {
	for _, sign := range []string{"", "%", "%%"} {
		if m := magicSpecs[sign+name]; m != nil {
			return m
		}
	}
	return nil
}

// helpFor describes magics as text and as Markdown.
func helpFor(all []*magicSpec) *kernel.Bundle {
	width := 0
	for _, m := range all {
		width = max(width, len(m.usage()))
	}
	var text, md strings.Builder
	md.WriteString("| magic | |\n|---|---|\n")
	for _, m := range all {
		fmt.Fprintf(&text, "%-*s  %s\n", width, m.usage(), m.doc)
		fmt.Fprintf(&md, "| `%s` | %s |\n", strings.ReplaceAll(m.usage(), "|", "\\|"), m.doc)
	}
	b := plain(strings.TrimSuffix(text.String(), "\n"))
	b.Data["text/markdown"] = md.String()
	return &b
}

// stopwatch adds up times.
type stopwatch struct{ sum time.Duration }

func (s *stopwatch) start() (stop func()) {
	begun := time.Now()
	return func() { s.sum += time.Since(begun) }
}

// time runs the Go on its own line.
func (p *performance) time(part piece) kernel.Outcome {
	return p.timed(func() kernel.Outcome { return p.golang(only(p.src.text, part.argAt, part.to)) })
}

// timed says how long f took, apart from checking and compiling.
func (p *performance) timed(f func() kernel.Outcome) kernel.Outcome {
	before, begun := p.prep.sum, time.Now()
	outcome := f()
	took, prep := time.Since(begun), p.prep.sum-before
	p.say("ran %v, after %v of checking and compiling\n", short(took-prep), short(prep))
	return outcome
}

// short rounds to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
