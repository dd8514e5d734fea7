package goeval

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// inFolder runs a test in a folder of its own.
func inFolder(t *testing.T) string {
	dir := t.TempDir()
	t.Chdir(dir)
	return dir
}

var ran = regexp.MustCompile(`ran [0-9.]+[mnµ]?s, after [0-9.]+[mnµ]?s of checking and compiling\n`)

func TestMagicTime(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"%time x := 40 + 2\nx":              "RAN42",
		"%time\ny := 1\ny + 1":              "RAN2",
		"%%time\nz := 1\nfmt.Println(z)":    "1\nRAN",
		"a := 1\n%time fmt.Println(a)":      "1\nRAN",
		"%time nope":                        "RANCompileError: [N]:1:7: undefined: nope",
		"%%time now\n1":                     "UnknownMagic: [N]:1:1: %%time takes no arguments",
		"q := 1\n%%time\n1":                 "UnknownMagic: [N]:2:1: %%time must stand on the first line of its cell",
		"%time panic(\"x\")\nb := 1":        "RANPanic: x",
		"func f() {\n\t%time 1\n}":          "SyntaxError: [N]:2:2: syntax error: expected statement, found '%'",
		"v := 7 +\n  3\n%time v\n  %time v": "RANRAN10",
	} {
		got := ran.ReplaceAllString(s.result(code), "RAN")
		if want = strings.ReplaceAll(want, "[N]", "["+strconv.Itoa(s.n)+"]"); got != want {
			t.Errorf("%s\nshows %q\nwant  %q", code, got, want)
		}
	}
	if s.result("b") == "1" {
		t.Error("a cell went on after its magic failed")
	}
}

func TestMagicHelp(t *testing.T) {
	s := newSession(t)
	all := s.result("%help")
	for _, name := range []string{"%help", "%time", "%who", "%reset", "%load", "%run", "%%file", "%%time", "!command"} {
		if !regexp.MustCompile(`(?m)^` + name + ` .*\S\.$`).MatchString(all) {
			t.Errorf("%%help does not tell of %s:\n%s", name, all)
		}
	}
	for _, arg := range []string{"time", "%time"} {
		if got := s.result("%help " + arg); !strings.HasPrefix(got, "%time [Go]  Run the Go") || strings.Contains(got, "\n") {
			t.Errorf("%%help %s: %s", arg, got)
		}
	}
	for _, code := range []string{"%tme", "%%nope\nx", "%help nope", "%timeit 1", "%"} {
		o := s.run(code)
		if o.Failure == nil || o.Failure.Name != "UnknownMagic" || !strings.Contains(strings.Join(o.Failure.Traceback, "\n"), "%who [vars|funcs|types|consts]") {
			t.Errorf("%s: %+v", code, o.Failure)
		}
	}
	if f := s.run("%file x").Failure; f == nil || f.Value != "[9]:1:1: %file is for a whole cell: write %%file on its first line" {
		t.Errorf("%+v", f)
	}
}

func TestMagicWho(t *testing.T) {
	s := story(t,
		"%who", "the cells have declared nothing",
		"x := 3\nname := \"kafka\"\nconst Limit = 10\ntype P struct{ A int }\nfunc f(n int) string { return \"\" }\np := &P{1}", "",
		"%who vars", "name  [2]  string  \"kafka\"\np     [2]  *P      &main.P{A: 1}\nx     [2]  int     3",
		"%who types", "P  [2]  type struct{A int}",
	)
	s.n = 10
	if got := s.result("%who funcs"); got != "f  [2]  func(n int) string" {
		t.Error(got)
	}
	if got := s.result("%who consts"); got != "Limit  [2]  untyped int  10" {
		t.Error(got)
	}
	if got := s.result("%who"); strings.Count(got, "\n") != 5 {
		t.Error(got)
	}
	if got := s.result("%who nobody"); !strings.HasPrefix(got, "UsageError") {
		t.Error(got)
	}
}

func TestMagicReset(t *testing.T) {
	s := newSession(t)
	s.run("import m \"math\"\ntype T struct{}\nfunc (T) M() int { return 1 }\nx := T{}\nfunc g[E any](e E) E { return e }\ng(1)\nstopped := make(chan bool)\ngo func() { for {} }()")
	if got := s.result("%reset"); got != "the session is as it was at its start\n" {
		t.Fatal(got)
	}
	for _, name := range []string{"x", "T{}", "m.Pi", "g(1)"} {
		if got := s.result(name); !strings.Contains(got, "undefined") {
			t.Errorf("%s is still there: %s", name, got)
		}
	}
	if got := s.result("%who"); got != "the cells have declared nothing" {
		t.Error(got)
	}
	for i := 0; s.machine.Running() > 0; i++ {
		if time.Sleep(time.Millisecond); i > 1000 {
			t.Fatal("a goroutine lives on")
		}
	}
	if got := s.result("type T struct{ A int }\nfunc (t T) M() int { return t.A }\nfunc g[E any](e E) E { return e }\ng(T{5}).M()"); got != "5" {
		t.Error(got)
	}
	if got := s.result("y := 1\n%reset\nz := 2\nz"); got != "the session is as it was at its start\n2" {
		t.Error(got)
	}
}

func TestMagicFiles(t *testing.T) {
	dir := inFolder(t)
	s := newSession(t)
	if got := s.result("%%file hello.go\npackage main\n\nimport \"fmt\"\n\ntype Greeting string\n\nfunc main() { fmt.Println(Greeting(\"hi\")) }"); got != "wrote 94 bytes to hello.go\n" {
		t.Fatal(got)
	}
	if got := s.result("%run hello.go\nGreeting(\"still here\")"); got != "hi\nstill here" {
		t.Errorf("%%run: %s", got)
	}
	s.result("%%file -a hello.go\nfunc bad() int { return \"\" }")
	o := s.run("%run hello.go")
	if o.Failure == nil || !strings.HasPrefix(o.Failure.Value, "hello.go:8:25: cannot use") || !slices.Contains(o.Failure.Traceback, "    func bad() int { return \"\" }") {
		t.Errorf("%+v", o.Failure)
	}
	s.result("%%file boom.go\nfunc boom() {\n\tvar m map[int]int\n\tm[1] = 1\n}")
	s.run("%run boom.go")
	if tb := strings.Join(s.run("boom()").Failure.Traceback, "\n"); !strings.Contains(tb, "in boom, boom.go, line 3\n    \tm[1] = 1") {
		t.Error(tb)
	}
	s.run("%load boom.go")
	if last := s.events[len(s.events)-1]; !strings.HasPrefix(last, "next // %load boom.go\nfunc boom() {") || !strings.HasSuffix(last, " true") {
		t.Error(last)
	}
	os.WriteFile(filepath.Join(dir, "bytes"), []byte{0xff, 0xfe}, 0o644)
	for code, want := range map[string]string{
		"%load nowhere": "no such file", "%run nowhere.go": "no such file", "%run notes.txt": "%run runs Go files", "%load": "needs the name",
		"%load bytes": "not UTF-8", "%load " + dir: "is a folder", "%%file\nx": "needs the name", "%%file no/such/folder\nx": "no such file",
	} {
		if f := s.run(code).Failure; f == nil || f.Name != "FileError" || !strings.Contains(f.Value, want) {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

func TestMagicShell(t *testing.T) {
	s := newSession(t)
	if f := s.run("!echo hi").Failure; f == nil || f.Name != "NotAllowed" || !strings.Contains(strings.Join(f.Traceback, " "), "--allow-shell") {
		t.Fatalf("%+v", f)
	}
	if got := s.result("ok := true\n!ok"); got != "false" {
		t.Errorf("Go's own !: %s", got)
	}
	for _, code := range []string{"!ok", "!(ok)", "!!ok", "!func() bool { return true }()", "ok &&\n!ok", "!strings.Contains(\"a\", \"b\")"} {
		if got := s.result(code); got != "false" && got != "true" {
			t.Errorf("%s: %s", code, got)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	e, err := New(Options{AllowShell: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s = &session{Engine: e}
	for code, want := range map[string]string{
		"!echo it\\'s; echo two":      "it's\ntwo\n",
		"x := 1\n!echo `echo in`\nx":  "in\n1",
		"!exit 3":                     "ShellError: [N]:1:1: the command ended with exit status 3",
		"!nosuchcommand":              "ShellError: [N]:1:1: the command ended with exit status 127",
		"!":                           "UsageError: [N]:1:1: ! needs a command",
		"! printf 'a b'":              "a b",
		"y := `\n!echo no\n`\nlen(y)": "10",
	} {
		got := s.result(code)
		if want = strings.ReplaceAll(want, "[N]", "["+strconv.Itoa(s.n)+"]"); got != want {
			t.Errorf("%s\nshows %q\nwant  %q", code, got, want)
		}
	}
	begun := time.Now()
	time.AfterFunc(50*time.Millisecond, s.Interrupt)
	if f := s.run("!sleep 20 & sleep 20; wait").Failure; f == nil || f.Name != "KeyboardInterrupt" || time.Since(begun) > 5*time.Second {
		t.Errorf("%+v after %v", f, time.Since(begun))
	}
}

func TestMagicsInCompletionAndInspection(t *testing.T) {
	dir := inFolder(t)
	os.Mkdir(filepath.Join(dir, "sub"), 0o755)
	os.WriteFile(filepath.Join(dir, "one.go"), nil, 0o644)
	os.WriteFile(filepath.Join(dir, "sub", "two.go"), nil, 0o644)
	s := newSession(t)
	s.run("limit := 3")
	for code, want := range map[string]string{
		"%":                   "%%file %%time %help %load %reset %run %time %who",
		"%t":                  "%%time %time",
		"%%f":                 "%%file",
		"x := 1\n%re":         "%reset",
		"%run ":               "one.go sub/",
		"%load sub/t":         "sub/two.go",
		"%%file o":            "one.go",
		"%who v":              "vars",
		"%help %%":            "%%file %%time",
		"%time lim":           "limit",
		"%who\nlim":           "limit",
		"%time strings.ToUpp": "ToUpper ToUpperSpecial",
		"%%file x\nlim":       "",
		"x := 5 % lim":        "limit",
	} {
		c := s.Complete(code, len([]rune(code)))
		var got []string
		for _, m := range c.Matches {
			got = append(got, m.Text)
		}
		if g := filepath.ToSlash(strings.Join(got, " ")); g != want {
			t.Errorf("%q: %q, want %q", code, g, want)
		}
		if rest := []rune(code)[c.Start:c.End]; len(got) > 0 && !strings.Contains(code, " ") && string(rest) != code[strings.LastIndex(code, "\n")+1:] {
			t.Errorf("%q replaces %q", code, string(rest))
		}
	}
	if b, ok := s.Inspect("x := 1\n%who vars", 9, 0); !ok || !strings.HasPrefix(b.Data["text/plain"].(string), "%who [vars") {
		t.Errorf("%v %v", b, ok)
	}
	if b, ok := s.Inspect("%time limit", 8, 0); !ok || !strings.HasPrefix(b.Data["text/plain"].(string), "var limit int") {
		t.Errorf("%v %v", b, ok)
	}
	for code, want := range map[string]string{
		"%who": "complete", "%%file x": "incomplete", "%%file x\nabc": "incomplete", "%%file x\nabc\n": "complete",
		"%time f(": "incomplete", "x := 1\n!ls `": "complete", "%time\nfor {": "incomplete",
	} {
		if got := s.IsComplete(code); got.Status != want {
			t.Errorf("%q: %v, want %s", code, got, want)
		}
	}
}

func TestManyMagics(t *testing.T) {
	s := newSession(t)
	begun := time.Now()
	s.run(strings.Repeat("%time 1\n", 100_000))
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
