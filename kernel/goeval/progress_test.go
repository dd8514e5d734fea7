package goeval

import (
	"regexp"
	"slices"
	"testing"
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
