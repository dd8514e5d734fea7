package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kafkalab/install/notebook"
)

// printer shows the outputs of cells on a terminal or in a log.
type printer struct {
	out     io.Writer
	colours bool
}

// nothing takes what nobody wants to see.
type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// cell prints what a cell has shown, under its number; a cell that shows nothing is not mentioned.
func (p printer) cell(count int, outputs []notebook.Output) {
	if len(outputs) == 0 {
		return
	}
	fmt.Fprintf(p.out, "── In [%d] ", count)
	fmt.Fprintln(p.out, strings.Repeat("─", 60))
	for _, o := range outputs {
		text := p.text(o)
		if !p.colours {
			text = colour.ReplaceAllString(text, "")
		}
		io.WriteString(p.out, text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			fmt.Fprintln(p.out)
		}
	}
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (p printer) text(o notebook.Output) string {
	switch o.Type {
	case notebook.Stream:
		return o.Text
	case notebook.Error:
		if len(o.Traceback) == 0 {
			return o.EName + ": " + o.EValue
		}
		return strings.Join(o.Traceback, "\n")
	}
	if text, ok := o.Data["text/plain"].(string); ok {
		return text
	}
	return "(" + strings.Join(slices.Sorted(maps.Keys(o.Data)), ", ") + ")"
}

// progressLine tells which cell runs, in one line that is updated in place; away from a terminal it keeps
// silent, since the cells' outputs tell as much.
type progressLine struct {
	to     io.Writer
	number map[int]int // cell index -> its number among the code cells
	total  int
	on     bool
}

func newProgressLine(to io.Writer, nb *notebook.Notebook) *progressLine {
	l := &progressLine{to: to, number: map[int]int{}, on: isTerminal(to)}
	for i, c := range nb.Cells {
		if c.Type == notebook.Code {
			l.total++
			l.number[i] = l.total
		}
	}
	return l
}

func (l *progressLine) show(cell int) {
	if l.on {
		fmt.Fprintf(l.to, "\rrunning code cell %d of %d …\x1b[K", l.number[cell], l.total)
	}
}

func (l *progressLine) clear() {
	if l.on {
		fmt.Fprint(l.to, "\r\x1b[K")
	}
}
