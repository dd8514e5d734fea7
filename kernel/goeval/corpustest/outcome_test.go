package corpustest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval"
)

// outcome is what a program did, compiled or as cells.
type outcome struct {
	Stdout string
	Stderr string
	Both   string // both streams in the order of writing, as far as it is known
	// End is empty for a normal end, or one of: "compile: msg", "panic: text", "exit: n", "deadlock",
	// "stack overflow", "refused: why", "timeout", "dies: how", "internal: msg".
	End string
}

func (o outcome) kind() string {
	k, _, _ := strings.Cut(o.End, ":")
	return k
}

// tape records what a session prints.
type tape struct {
	sync.Mutex
	out, err, both strings.Builder
	live           func(stream, text string)
}

// tooMuch bytes of output end a program.
const tooMuch = 8 << 20

func (t *tape) Stream(name, text string) {
	t.Lock()
	defer t.Unlock()
	if t.both.Len() > tooMuch {
		return
	}
	t.both.WriteString(text)
	if name == "stdout" {
		t.out.WriteString(text)
	} else {
		t.err.WriteString(text)
	}
}

func (t *tape) Display(kernel.Bundle, string)       {}
func (t *tape) UpdateDisplay(kernel.Bundle, string) {}
func (t *tape) ClearOutput(bool)                    {}
func (t *tape) NextInput(string, bool)              {}
func (t *tape) Page(kernel.Bundle)                  {}
func (t *tape) Input(string, bool) (string, error)  { return "", fmt.Errorf("no input") }

// runCells runs a program cell by cell in a session of its own, and stops at the first failure.
func runCells(cells []string, limit time.Duration) (o outcome) {
	e, err := goeval.New(goeval.Options{})
	if err != nil {
		return outcome{End: "internal: " + err.Error()}
	}
	defer e.Close()
	var t tape
	late := false
	timer := time.AfterFunc(limit, func() {
		late = true
		e.Interrupt()
	})
	defer timer.Stop()
	for i, code := range cells {
		res := e.Execute(kernel.Cell{Code: code, Count: i + 1}, &t)
		if res.Failure != nil {
			o.End = endOf(res.Failure, late)
			break
		}
	}
	t.Lock()
	defer t.Unlock()
	o.Stdout, o.Stderr, o.Both = t.out.String(), t.err.String(), t.both.String()
	return o
}

var exitStatus = regexp.MustCompile(`status (-?\d+)`)

// endOf translates a failure into the words of outcome.End.
func endOf(f *kernel.Failure, late bool) string {
	switch f.Name {
	case "CompileError", "SyntaxError":
		return "compile: " + f.Value
	case "NotSupported":
		return "refused: " + f.Value
	case "RuntimeError", "Panic":
		return "panic: " + f.Value
	case "Exit":
		if m := exitStatus.FindStringSubmatch(f.Value); m != nil {
			if m[1] == "0" {
				return ""
			}
			return "exit: " + m[1]
		}
	case "StackOverflow":
		return "stack overflow"
	case "Deadlock":
		return "deadlock"
	case "KeyboardInterrupt":
		if late {
			return "timeout"
		}
	}
	return "internal: " + f.Name + ": " + f.Value
}

// verdict compares a run with what was wanted.
type verdict string

const (
	equal   verdict = "equal"
	refused verdict = "refused"
	wrong   verdict = "wrong" // silently: the program ended as if all were well, with other output
	loud    verdict = "loud"  // it differs, and says so: a panic, an internal error, a time limit
)

// address matches what the run time prints for a panic value that it cannot print.
var address = regexp.MustCompile(`^(panic: \(.*\) )0x[0-9a-f]+$`)

// sameEnd compares how a run ended with how it should. The words of compile errors may differ; addresses do.
func sameEnd(a, b string) bool {
	if a == b {
		return true
	}
	ka, _, _ := strings.Cut(a, ":")
	kb, _, _ := strings.Cut(b, ":")
	if ka != kb {
		return false
	}
	switch ka {
	case "compile":
		return true
	case "panic":
		m := address.FindStringSubmatch(b)
		return m != nil && strings.HasPrefix(a, m[1])
	}
	return false
}

func judge(got, want outcome) verdict {
	switch {
	case got.kind() == "refused":
		return refused
	case got.Stdout == want.Stdout && sameEnd(got.End, want.End) && (got.End != "" || got.Stderr == want.Stderr):
		return equal
	case got.End != want.End && got.End != "":
		return loud
	}
	return wrong
}
