package goeval

import (
	"strings"
	"testing"
)

// TestNotesAboutOldMeanings defines names again with other types; what keeps the old ones is named.
func TestNotesAboutOldMeanings(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ code, note string }{
		{"n := 1\nfunc add(k int) int { n += k; return n }\nfunc twice() int { return 2 * add(1) }", ""},
		{"n := 2", ""}, // same type: add sees it
		{"func add(k int) int { return n + 2*k }", ""},
		{"n := \"text\"", "note: n has another type now; func add still uses that of cell [2]. To renew, run again: [3]\n"},
		{"func add(k int) string { return n }", "note: add has another signature now; func twice still uses that of cell [3]. To renew, run again: [1]\n"},
		{"type P struct{ X int }\nfunc (p P) String() string { return \"P\" }\np := P{1}\nall := []P{p}\ntype Q struct{ P P }", ""},
		{"func (p P) Double() P { return P{2 * p.X} }\nfunc show(p P) string { return p.String() }\nf := func() P { return p }", ""},
		{"type P struct{ X int }\np = P{2}", ""}, // the same text
		{"type P struct{ X, Y int }", "note: P has another definition now; func show, method P.Double, method P.String, type Q, var all and 2 more still use that of cell [6]. To renew, run again: [6], [7]\n"},
		{"type P struct{ X, Y, Z int }", ""},
		{"const limit = 10\nfunc max2() int { return limit }", ""},
		{"const limit = 10", ""},
		{"const limit = 20", "note: limit has another value now; func max2 still uses that of cell [12]. To renew, run again: [11]\n"},
		{"func id[T any](x T) T { return x }\nfunc useID() int { return id(1) }", ""},
		{"func id[T any](x T) T { var z T; return z }", "note: id has another body now; func useID still uses that of cell [14]. To renew, run again: [14]\n"},
		{"x := 1\ng := func() int { return x }", ""},
		{"x := 1.5\ng := func() float64 { return x }", ""}, // everything is renewed at once
		{"nope := undefined\ntype Q int", ""},              // a cell that does not run
		{"var bad []int\nbad[3] = 1\nn := 3.5", ""},        // one that fails before the definition
		{"func add(k int) string { return n }", ""},        // and has not changed what uses n
		{"n := 3.5\nbad[3] = 1", "note: n has another type now; func add still uses that of cell [4]. To renew, run again: [20]\n"},
	} {
		s.stderr.Reset()
		s.run(c.code)
		if got := s.err(); got != c.note {
			t.Errorf("%s\nprints %q\nwant   %q", c.code, got, c.note)
		}
	}
}

// TestOldTypesMeetNew tells two types of one name apart where they meet.
func TestOldTypesMeetNew(t *testing.T) {
	s := newSession(t)
	s.run("type P struct{ X int }\np := P{1}\nvar x any = p\nfunc take(p P) {}")
	s.run("type P struct{ X, Y int }")
	const note = "the P of cell [1] is not the P of cell [2]: values made before keep the old type"
	for code, want := range map[string]bool{
		"p = P{1, 2}": true, "take(P{})": true, "p == P{}": true, "x.(P)": true, "p.Y": true, "[]P{p}": true, "(&p).Y": true,
		"P{}.Z": false, "p.Z": false, "var i int = \"P P\"": false, "p.X": false,
	} {
		o := s.run(code)
		told := o.Failure != nil && strings.Contains(strings.Join(o.Failure.Traceback, "\n"), note)
		if told != want {
			t.Errorf("%s: told %v, want %v: %+v", code, told, want, o.Failure)
		}
	}
	o := s.run("type P struct{ X, Y, Z int }\nP{} == p")
	if got := strings.Join(o.Failure.Traceback, "\n"); !strings.Contains(got, "the P of cell [2] is not the P of this cell: values made before keep the old type") {
		t.Errorf("in one cell: %s", got)
	}
	if got := s.result("fmt.Sprint(p, x) + fmt.Sprint(p == x.(interface{}))"); got != "{1} {1}true" {
		t.Errorf("old values: %s", got)
	}
}
