package goeval

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
)

// story runs cells one after the other; each pair is a cell and what it shows.
func story(t *testing.T, pairs ...string) *session {
	t.Helper()
	s := newSession(t)
	for i := 0; i < len(pairs); i += 2 {
		if got := strings.TrimRight(s.result(pairs[i]), "\n"); got != pairs[i+1] {
			t.Errorf("cell %d\n%s\nshows %q\nwant  %q", i/2+1, pairs[i], got, pairs[i+1])
		}
	}
	return s
}

func TestResults(t *testing.T) {
	story(t,
		"1+1", "2",
		`"a" + "b"`, "ab",
		"x := 5", "",
		"x", "5",
		"x > 3", "true",
		"x = 6", "",
		"x++", "",
		"func two() (int, error) { return 7, errors.New(\"no\") }", "",
		"two()", "7 no",
		"func void() {}", "",
		"void()", "",
		"nil", "<nil>",
		"len(\"abc\")", "3",
		"float64(3)", "3",
		"1 << 10", "1024",
		"'x'", "120",
		"[]int{1,2}[1]", "2",
		"map[string]int{\"a\": 1}", "map[a:1]",
		"struct{A int}{4}", "{4}",
		"var p *int", "",
		"p", "<nil>",
		"(x)", "7",
		"func() int { return 9 }()", "9",
		"type T struct{ n int }\nT{3}", "{3}",
		"&T{3}", "&{3}",
		"time.Duration(1500) * time.Microsecond", "1.5ms",
		"error(nil)", "<nil>",
		"x // a comment", "7",
		"", "",
		"// only a comment", "",
		"package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"program\") }", "program",
	)
}

func TestShownByMethod(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"type M struct{}\nfunc (M) MIMEBundle() map[string]any { return map[string]any{\"application/x\": 1} }\nfunc (M) MIMEMetadata() map[string]any { return map[string]any{\"k\": 2} }\nM{}": "map[application/x:1 text/plain:{}] map[k:2]",
		"type H struct{}\nfunc (H) HTML() string { return \"<b>\" }\nfunc (H) String() string { return \"plain\" }\nH{}":                                                                         "map[text/html:<b> text/plain:plain] map[]",
		"type G struct{}\nfunc (*G) SVG() string { return \"<svg/>\" }\n&G{}":                                                                                                                    "map[image/svg+xml:<svg/> text/plain:&{}] map[]",
		"type S int\nfunc (s S) String() string { return \"S!\" }\nS(4)":                                                                                                                         "map[text/plain:S!] map[]",
	} {
		o := s.run(code)
		if o.Result == nil {
			t.Errorf("%s: %+v", code, o.Failure)
			continue
		}
		if got := fmt.Sprint(o.Result.Data, " ", o.Result.Metadata); got != want {
			t.Errorf("%s\nshows %s\nwant  %s", code, got, want)
		}
	}
}

func TestStateAcrossCells(t *testing.T) {
	story(t,
		// Functions see later bodies and variables.
		"func f() int { return 1 }\nfunc g() int { return f() }", "",
		"g()", "1",
		"func f() int { return 2 }", "",
		"g()", "2",
		"n := 10\nfunc add(k int) int { n += k; return n }", "",
		"add(5)", "15",
		"n := 100", "",
		"add(1)", "101",
		"n := \"text\"", "",
		"n", "text",
		// A redefinition may use the old value.
		"a := 1", "",
		"a := a + 1", "",
		"a", "2",
		"a := fmt.Sprint(a, \"!\")", "",
		"a", "2!",
		// err again and again, as in Go.
		"v, err := strconv.Atoi(\"1\")\nw, err := strconv.Atoi(\"x\")", "",
		"err == nil", "false",
		"u, err := strconv.Atoi(\"3\")\nu", "3",
		"err", "<nil>",
		// Closures over cells.
		"count := 0\ninc := func() int { count++; return count }", "",
		"inc()", "1",
		"count = 10\ninc()", "11",
		// Imports and a package clause, repeated.
		"import \"sort\"\nimport \"sort\"", "",
		"package main\nimport s \"strings\"\ns.ToUpper(\"x\")", "X",
		"s.Repeat(\"y\", 2)", "yy",
		"import . \"math\"", "",
		"Sqrt(16)", "4",
	)
}

func TestTypesAcrossCells(t *testing.T) {
	story(t,
		"type P struct{ X int }\np := P{1}", "",
		"func (p P) Twice() int { return 2 * p.X }", "",
		"p.Twice()", "2",
		"func (p P) Twice() int { return 20 * p.X }\np.Twice()", "20",
		"func show(v P) string { return fmt.Sprint(v) }\nshow(p)", "{1}",
		"func (p P) String() string { return fmt.Sprintf(\"P%d\", p.X) }", "",
		"show(p)", "P1",
		"fmt.Sprint([]P{p}, map[string]P{\"k\": p})", "[P1] map[k:P1]",
		"func (p *P) Set(x int) { p.X = x }\np.Set(5)\np", "P5",
		// The same text is the same type.
		"type P struct{ X int }", "",
		"p = P{7}\np", "P7",
		// Another text is another type.
		"type P struct{ X, Y int }\nP{1, 2}", "{1 2}",
		"p", "P7",
		"func (q P) Nope() {}\nfunc (q P) nope2() {}", "",
		"any(P{1, 2}) == any(P{1, 2})", "true",
	)
}

func TestFailedCellsLeaveNoHalfState(t *testing.T) {
	s := story(t,
		"x := 1", "",
		"x := undefined1", "CompileError: [2]:1:6: undefined: undefined1",
		"x", "1",
		"y := 2\npanic(\"stop\")\nx := \"new\"", "Panic: stop",
		"x", "1",
		"y", "2",
		"func f() int { return 1 }", "",
		"func f() string { return 2 }", "CompileError: [8]:1:26: cannot use 2 (untyped int constant) as string value in return statement",
		"f()", "1",
		"type T struct{ a int }", "",
		"func (t T) M() int { return \"\" }", "CompileError: [11]:1:29: cannot use \"\" (untyped string constant) as int value in return statement",
		"T{}.M()", "CompileError: [12]:1:5: T{}.M undefined (type T has no field or method M)",
	)
	_ = s
}

func TestErrorsShowTheirPlace(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"//line a.go:77\n/*line b.go:3:4*/ nope":    "in cell [N], line 2: undefined: nope\n    /*line b.go:3:4*/ nope\n                      ^",
		"\ufeffx := 1\r\nnope\r\n":                  "in cell [N], line 2: undefined: nope\n    nope\n    ^",
		"x := 1 +":                                  "in cell [N], line 1: syntax error: expected operand, found the end of the cell\n    x := 1 +\n            ^",
		"fmt.Println(\"a\", nope)":                  "in cell [N], line 1: undefined: nope\n    fmt.Println(\"a\", nope)\n                     ^",
		"if true {\n\tvar s string = 1\n\t_ = s\n}": "in cell [N], line 2: cannot use 1 (untyped int constant) as string value in variable declaration\n    \tvar s string = 1\n    \t               ^",
		"func h() { z := 1 }":                       "in cell [N], line 1: declared and not used: z\n    func h() { z := 1 }\n               ^",
		"é := []int{1}\ni := 5\né[i]":               "RuntimeError: runtime error: index out of range [5] with length 1\ncell [N], line 3\n    é[i]\n    ^",
		"func a(m map[string]int) { m[\"k\"] = 1 }\nfunc b() { a(nil) }\nb()": "RuntimeError: assignment to entry in nil map\nin a, cell [N], line 1\n    func a(m map[string]int) { m[\"k\"] = 1 }\n                               ^\nin b, cell [N], line 2\n    func b() { a(nil) }\n               ^\ncell [N], line 3\n    b()\n    ^",
		"http.Get(\"\")":                          "in cell [N], line 1: undefined: http\n    http.Get(\"\")\n    ^\na package has this name; it needs: import \"net/http\"",
		"import \"syscall\"":                      "in cell [N], line 1: package syscall is not available in cells\n    import \"syscall\"\n           ^",
		"import \"unsafe\"\nvar p unsafe.Pointer": "in cell [N], line 2: cells cannot use unsafe.Pointer: a wrong pointer would end the kernel\n    var p unsafe.Pointer\n                 ^",
	} {
		o := s.run(code)
		if o.Failure == nil {
			t.Errorf("%s did not fail", code)
			continue
		}
		got := strings.Join(o.Failure.Traceback, "\n")
		want = strings.ReplaceAll(want, "[N]", fmt.Sprintf("[%d]", s.n))
		if want == "SyntaxError" {
			if o.Failure.Name != want {
				t.Errorf("%s: %s", code, o.Failure.Name)
			}
			continue
		}
		if got != want {
			t.Errorf("%s\nshows\n%s\nwant\n%s", code, got, want)
		}
	}
}

// TestImportsAnywhere imports between declarations and statements, again and again.
func TestImportsAnywhere(t *testing.T) {
	story(t,
		"x := 1\nimport \"math/cmplx\"\ncmplx.Abs(3+4i) + float64(x)", "6",
		"func f() string { return tabs.Name }\ntype S struct{ Name string }\nimport \"text/tabwriter\"\nvar tabs = S{\"late\"}\nimport \"math/cmplx\"\n_ = tabwriter.Debug\nf()", "late",
		"func g() int {\n\treturn 1 }\nimport \"nowhere\"", "NotSupported: [3]:3:8: package nowhere is not available in cells",
		"f() + tabs.Name", "latelate",
	)
}

// TestAllErrorsOfACell shows every error at once, in the order of the cell.
func TestAllErrorsOfACell(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string][]string{
		"nope1 + nope2\nnope3()\nfunc g() int { return \"\" }\nvar s string = 1": {"1: undefined: nope1", "1: undefined: nope2", "2: undefined: nope3",
			"3: cannot use \"\" (untyped string constant) as int value in return statement", "4: cannot use 1 (untyped int constant) as string value in variable declaration"},
		"q := 1\nq := nope\nw := nope2\nfunc g() { z := 1 }": {"2: no new variables on left side of :=", "2: undefined: nope", "3: undefined: nope2", "4: declared and not used: z"},
		"f := g\ng := 1\nh()":                                {"1: undefined: g", "3: undefined: h"},
		"func f()\nfunc g() { h() }":                         {"1: missing function body", "2: undefined: h"},
		"x x\ny y\nz := 1":                                   {"1: syntax error: expected ';', found x"},
		"a := 1 +\n":                                         {"1: syntax error: expected operand, found the end of the cell"},
		"if true {\n\tu := 1\n}\nx.y":                        {"2: declared and not used: u", "4: undefined: x"},
	} {
		o := s.run(code)
		if o.Failure == nil {
			t.Errorf("%s did not fail", code)
			continue
		}
		var got []string
		for _, line := range o.Failure.Traceback {
			if rest, ok := strings.CutPrefix(line, fmt.Sprintf("in cell [%d], line ", s.n)); ok {
				got = append(got, rest)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nshows %q\nwant  %q", code, got, want)
		}
	}
}

// TestInterruptKeepsState stops cells of every kind; the session lives on with its variables.
func TestInterruptKeepsState(t *testing.T) {
	s := newSession(t)
	s.run("x := 41\nch := make(chan int)\nvar mu sync.Mutex")
	for _, code := range []string{
		"for {}",
		"for i := 0; ; i++ { x = 41 }",
		"func rec() { for { rec2() } }\nfunc rec2() {}\nrec()",
		"loop:\nx = 41\ngoto loop",
		"<-ch",
		"ch <- 1",
		"select {}",
		"select { case v := <-ch: _ = v }",
		"time.Sleep(time.Hour)",
		"for range ch {}",
		"for { func() { defer recover() }() }",
		"sort.Slice(make([]int, 100), func(i, j int) bool { for {} })",
		"mu.Lock()\ndefer mu.Unlock()\nfor {}",
		"defer func() { recover() }()\nfor {}",
		"for range func(yield func(int) bool) { for yield(1) {} } {}",
	} {
		began := time.Now()
		timer := time.AfterFunc(30*time.Millisecond, s.Interrupt)
		o := s.run(code)
		timer.Stop()
		if o.Failure == nil || o.Failure.Name != "KeyboardInterrupt" {
			t.Errorf("%s: %+v", code, o.Failure)
		}
		if d := time.Since(began); d > 500*time.Millisecond {
			t.Errorf("%s took %v to stop", code, d)
		}
	}
	if got := s.result("mu.Lock()\nmu.Unlock()\nx + 1"); got != "42" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestWhatWouldEndAProcess(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ code, want string }{
		{"func r(n int) int { return r(n+1) + 1 }\nr(0)", "StackOverflow"},
		{"type S struct{}\nfunc (s S) String() string { return fmt.Sprint(s) }\nfmt.Sprint(S{})", "StackOverflow"},
		{"os.Exit(3)", "Exit"},
		{"log.Fatal(\"x\")", "Exit"},
		{"log.New(os.Stderr, \"\", 0).Fatalf(\"%d\", 1)", "Exit"},
		{"make([]byte, 1<<44)", "OutOfMemory"},
		{"make(map[int]int, 1<<44)", "OutOfMemory"},
		{"make(chan [1024]int, 1<<30)", "OutOfMemory"},
		{"strings.Repeat(\"x\", 1<<40)", "OutOfMemory"},
		{"var sb strings.Builder\nsb.Grow(1<<40)", "OutOfMemory"},
		{"var big [1 << 40]int\nbig[0]", "NotSupported"},
		{"func f() int { var big [1 << 40]int; return big[3] }\nf()", "NotSupported"},
		{"make([]int, -1+len(os.Args)*0)", "RuntimeError"},
		{"var p *struct{ a [1 << 20]int }\np.a[99999]", "RuntimeError"},
		{"panic(\"p\")", "Panic"},
		{"runtime.Goexit()", ""},
		{"os.Exit(0)", ""},
	} {
		if !strings.HasPrefix(c.code, "runtime") {
			s.run("import \"runtime\"")
		}
		o := s.run(c.code)
		name := ""
		if o.Failure != nil {
			name = o.Failure.Name
		}
		if name != c.want {
			t.Errorf("%s: %q, want %q (%+v)", c.code, name, c.want, o.Failure)
		}
	}
	if got := s.result("1+1"); got != "2" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestDeepRecursionIsFine(t *testing.T) {
	story(t, "func d(n int) int { if n == 0 { return 0 }; return d(n-1) + 1 }\nd(100000)", "100000")
}

func TestMemoryIsWatched(t *testing.T) {
	e, err := New(Options{MemoryLimit: 600 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := &session{Engine: e}
	for _, code := range []string{
		"var all [][]byte\nfor { all = append(all, make([]byte, 1<<20)) }",
		"all = nil\nx := make([]byte, 1<<20)\nfor { x = append(x, x...) }",
		"x = nil\ny := \"abcdefgh\"\nfor { y += y }",
		"y = \"\"\nvar sb strings.Builder\nfor { sb.WriteString(strings.Repeat(\"x\", 1<<20)) }",
	} {
		o := s.run(code)
		if o.Failure == nil || o.Failure.Name != "OutOfMemory" {
			t.Errorf("%s: %+v", code, o.Failure)
		}
	}
	s.run("sb.Reset()")
	if got := s.result("time.Sleep(100 * time.Millisecond) // longer than it takes to look\n1+1"); got != "2" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestGoroutines(t *testing.T) {
	s := newSession(t)
	s.run("go func() { var m map[int]int; m[1] = 1 }()\ntime.Sleep(20 * time.Millisecond)")
	if got := s.err(); !strings.Contains(got, "panic in a goroutine: RuntimeError: assignment to entry in nil map\nin func literal, cell [1], line 1") {
		t.Errorf("stderr: %s", got)
	}
	s.run("go func() { time.Sleep(50 * time.Millisecond); fmt.Println(\"late\") }()")
	s.run("time.Sleep(100 * time.Millisecond)")
	if got := s.out(); got != "late\n" {
		t.Errorf("stdout: %q", got)
	}
	s.run("go func() { time.Sleep(30 * time.Millisecond); fmt.Println(\"one\"); fmt.Println(\"two\") }()\nfmt.Print(\"now\")")
	s.stderr.Reset()
	s.run("time.Sleep(80 * time.Millisecond)")
	if got := s.err(); got != "\n"+lateMark {
		t.Errorf("the mark of what comes late: %q", got)
	}
	s.run("done := make(chan int)\ngo func() { for { select { case done <- 1: default: } } }()")
	s.Interrupt() // nothing runs: what cells left behind ends
}

// TestOutputInOrder writes by every way there is; nothing is lost or late, and order is kept.
func TestOutputInOrder(t *testing.T) {
	s := newSession(t)
	o := s.run(`fmt.Println("1")
fmt.Fprintln(os.Stdout, "2")
fmt.Print("3\n")
os.Stdout.WriteString("4\n")
fmt.Printf("%d\n", 5)
println("e1")
fmt.Fprintln(os.Stderr, "e2")
log.SetFlags(0)
log.Println("e3")
print("e4\n")
w := bufio.NewWriter(os.Stdout)
fmt.Fprintln(w, "6")
w.Flush()`)
	if o.Failure != nil {
		t.Fatalf("%+v", o.Failure)
	}
	if got := s.out(); got != "1\n2\n3\n4\n5\n6\n" {
		t.Errorf("stdout %q", got)
	}
	if got := s.err(); got != "e1\ne2\ne3\ne4\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestUserMessages(t *testing.T) {
	s := newSession(t)
	o := s.run("type UsageError struct{ msg string }\nfunc (u *UsageError) UserMessage() string { return u.msg }\nfunc verb() { panic(&UsageError{\"unknown property\"}) }\nverb()")
	want := "UsageError: unknown property\nin verb, cell [1], line 3"
	if got := strings.Join(o.Failure.Traceback, "\n"); o.Failure.Name != "UsageError" || !strings.HasPrefix(got, want) || strings.Contains(got, "line 4") {
		t.Errorf("%s", got)
	}
}

func TestLab(t *testing.T) {
	s := newSession(t)
	s.input = func(prompt string, password bool) (string, error) { return fmt.Sprint(prompt, password), nil }
	o := s.run("lab.Display(1)\nh := lab.DisplayID(\"a\")\nh.Update(\"b\")\nlab.ClearOutput(true)\nlab.Page(\"p\")\nlab.Input(\"n? \") + lab.Password(\"pw? \")")
	if o.Failure != nil || o.Result.Data["text/plain"] != "n? falsepw? true" {
		t.Errorf("%+v %+v", o.Result, o.Failure)
	}
	var kinds []string
	for _, e := range s.events {
		kinds = append(kinds, strings.Fields(e)[0]+" "+e[strings.LastIndex(e, " ")+1:])
	}
	if want := []string{"display 1", "display a", "update b", "clear true", "page p"}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("events %q", kinds)
	}
	if f := s.run("h.Update(\"c\")").Failure; f != nil {
		t.Errorf("update from another cell: %+v", f)
	}
	s.input = nil
	if f := s.run("lab.Input(\"x\")").Failure; f == nil || f.Value != "lab: cannot ask: no input" {
		t.Errorf("%+v", f)
	}
}

func TestEvaluate(t *testing.T) {
	s := newSession(t)
	s.run("x := 20")
	b, f := s.Evaluate("x + 1")
	if f != nil || b.Data["text/plain"] != "21" {
		t.Errorf("%v %v", b, f)
	}
	if _, f := s.Evaluate("y"); f == nil {
		t.Error("no failure")
	}
}

func TestIsComplete(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]kernel.Completeness{
		"x := 1":                        {Status: "complete"},
		"":                              {Status: "complete"},
		"func f() {":                    {Status: "incomplete", Indent: "\t"},
		"func f() {\n\tif x {\n\t\ty()": {Status: "incomplete", Indent: "\t\t"},
		"fmt.Println(":                  {Status: "incomplete", Indent: "\t"},
		"x := 1 +":                      {Status: "incomplete"},
		"x :=":                          {Status: "incomplete"},
		"c.":                            {Status: "incomplete"},
		"f(1,":                          {Status: "incomplete", Indent: "\t"},
		"s := `raw":                     {Status: "incomplete"},
		"/* comment":                    {Status: "incomplete"},
		"if x":                          {Status: "incomplete"},
		"for i := 0; i < 3; i++ {}":     {Status: "complete"},
		"type T struct {":               {Status: "incomplete", Indent: "\t"},
		"type T":                        {Status: "incomplete"},
		"import":                        {Status: "incomplete"},
		"a, b :=":                       {Status: "incomplete"},
		"x = ]":                         {Status: "invalid"},
		")":                             {Status: "invalid"},
		"1 2":                           {Status: "invalid"},
		"x := \"open":                   {Status: "invalid"},
		"func f() int { return 1 }":     {Status: "complete"},
		"var x int":                     {Status: "complete"},
		"x++":                           {Status: "complete"},
		"undefined(1)":                  {Status: "complete"},
		"switch x {\ncase 1:":           {Status: "incomplete", Indent: "\t"},
		"// done":                       {Status: "complete"},
		"go":                            {Status: "incomplete"},
		"x && y ||":                     {Status: "incomplete"},
		"return":                        {Status: "complete"},
	} {
		if got := s.IsComplete(code); got != want {
			t.Errorf("%q: %+v, want %+v", code, got, want)
		}
	}
}
