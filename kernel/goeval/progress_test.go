package goeval

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel/goeval/internal/exec"
)

// A cell's bars show the same whatever the machine's speed: once as they begin, once as they end.
func TestBarsOfACell(t *testing.T) {
	s := newSession(t)
	o := s.run("p := lab.Progress(4)\nfor range 4 {\n\tp.Step()\n}\nq := lab.Progress(4)\nfor i := range 4 {\n\tif i == 3 {\n\t\tbreak\n\t}\n\tq.Step()\n}\nlab.NextInput(\"x\")")
	if o.Failure != nil {
		t.Fatal(o.Failure.Value)
	}
	ids, blocks := regexp.MustCompile(`lab-\S+`), regexp.MustCompile(`[█·]+`)
	var got []string
	for _, e := range s.events {
		got = append(got, blocks.ReplaceAllString(ids.ReplaceAllString(e, "ID"), "-"))
	}
	want := []string{
		"display ID ▕-▏  0 of 4  0%", "update ID ▕-▏  4 of 4  100%", "display ID ▕-▏  0 of 4  0%",
		"next x false", "update ID ▕-▏  3 of 4  75%",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if o := s.run("p"); o.Result == nil || o.Result.Data["text/plain"] == "" {
		t.Error("a bar is no result")
	}
}

// A library's long work: no bar for what is over soon, one bar for a cell that works long twice, its last
// state when the cell ends.
func TestMeter(t *testing.T) {
	s := newSession(t)
	now := time.Unix(0, 0)
	m := &meter{e: s.Engine, now: func() time.Time { return now }}
	work := func(what string, step time.Duration, upTo, total int64) {
		for done := int64(1); done <= upTo; done++ {
			now = now.Add(step)
			m.progress(what, done, total)
		}
	}
	run := func(do func()) []string {
		s.events = nil
		e := exec.NewRun(&outlet{out: &s.tape})
		s.machine.SetCurrent(e)
		do()
		e.Tag.(*outlet).end()
		var got []string
		for _, e := range s.events {
			_, text, _ := strings.Cut(e, "  ")
			got = append(got, e[:7]+text)
		}
		return got
	}
	if got := run(func() { work("a", 200*time.Millisecond, 4, 4) }); len(got) > 0 {
		t.Errorf("short work shows %q", got)
	}
	got := run(func() {
		work("a", 400*time.Millisecond, 10, 10)
		work("b", 400*time.Millisecond, 3, 10)
	})
	if n := len(got); n < 3 || !strings.HasPrefix(got[0], "display") || strings.Contains(strings.Join(got[1:], ""), "display") ||
		!strings.HasSuffix(got[n-1], "3 of 10  30%") {
		t.Errorf("long work shows %q", got)
	}
}

// An interrupt while a value is being shown is an interrupt, not a value.
func TestInterruptWhileAValueIsShown(t *testing.T) {
	s := newSession(t)
	s.run("type slow int\nfunc (s slow) String() string {\n\tfor {\n\t}\n}\n")
	go func() {
		time.Sleep(50 * time.Millisecond)
		s.Interrupt()
	}()
	if o := s.run("slow(1)"); o.Failure == nil || o.Failure.Name != "KeyboardInterrupt" {
		t.Errorf("it ends with %+v", o)
	}
}
