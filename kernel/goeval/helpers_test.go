package goeval

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"kafkalab/kernel"
)

// tape records what cells show.
type tape struct {
	sync.Mutex
	stdout, stderr strings.Builder
	events         []string
	input          func(prompt string, password bool) (string, error)
}

func (t *tape) Stream(name, text string) {
	t.Lock()
	defer t.Unlock()
	if name == "stdout" {
		t.stdout.WriteString(text)
	} else {
		t.stderr.WriteString(text)
	}
}

func (t *tape) note(format string, args ...any) {
	t.Lock()
	defer t.Unlock()
	t.events = append(t.events, fmt.Sprintf(format, args...))
}

func (t *tape) Display(b kernel.Bundle, id string) { t.note("display %s %v", id, b.Data["text/plain"]) }
func (t *tape) UpdateDisplay(b kernel.Bundle, id string) {
	t.note("update %s %v", id, b.Data["text/plain"])
}
func (t *tape) ClearOutput(wait bool)               { t.note("clear %v", wait) }
func (t *tape) Page(b kernel.Bundle)                { t.note("page %v", b.Data["text/plain"]) }
func (t *tape) NextInput(text string, replace bool) { t.note("next %s %v", text, replace) }
func (t *tape) Input(prompt string, password bool) (string, error) {
	if t.input == nil {
		return "", errors.New("no input")
	}
	return t.input(prompt, password)
}

func (t *tape) out() string {
	t.Lock()
	defer t.Unlock()
	return t.stdout.String()
}

func (t *tape) err() string {
	t.Lock()
	defer t.Unlock()
	return t.stderr.String()
}

// session is an engine with its tape.
type session struct {
	*Engine
	tape
	n int
}

func newSession(t testing.TB, libs ...Library) *session {
	t.Helper()
	e, err := New(Options{Libraries: libs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &session{Engine: e}
}

func (s *session) run(code string) kernel.Outcome {
	s.n++
	return s.Execute(kernel.Cell{Code: code, Count: s.n}, &s.tape)
}

// result is what a cell shows: its output, then the text of its value, then its failure.
func (s *session) result(code string) string {
	s.Lock()
	s.stdout.Reset()
	s.Unlock()
	o := s.run(code)
	text := s.out()
	if o.Result != nil {
		text += fmt.Sprint(o.Result.Data["text/plain"])
	}
	if o.Failure != nil {
		text += o.Failure.Name + ": " + o.Failure.Value
	}
	return text
}
