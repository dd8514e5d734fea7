package goeval

import (
	"strings"
	"testing"
	"time"
)

// step is a cell and what it shows: all of it, or with "~" in front a part of it.
type step struct{ code, want string }

// What the plain yaegi interpreter gets silently wrong, and what makes it fail or die, one test each.
var yaegiTraps = []struct {
	name  string
	steps []step
}{
	{"wrong 1: loop variables are per iteration", []step{
		{"var fs []func() int\nfor i := 0; i < 3; i++ { fs = append(fs, func() int { return i }) }", ""},
		{"fmt.Sprint(fs[0](), fs[1](), fs[2]())", "0 1 2"},
	}},
	{"wrong 2: a redefined type has its new fields", []step{
		{"type P struct{ X int }\nfunc (p P) Show() string { return \"old\" }", ""},
		{"type P struct{ X, Y int }\nfunc (p P) Show() string { return \"new\" }", ""},
		{"fmt.Sprintf(\"%+v %s\", P{1, 2}, P{}.Show())", "{X:1 Y:2} new"},
	}},
	{"wrong 2: callers run the redefined function", []step{
		{"func f() string { return \"old\" }\nfunc g() string { return f() }", ""},
		{"g()", "old"},
		{"func f() string { return \"new\" }", ""},
		{"g()", "new"},
	}},
	{"wrong 2: callers run the redefined method", []step{
		{"type T struct{}\nfunc (T) M() string { return \"old\" }\nfunc use(t T) string { return t.M() }", ""},
		{"func (T) M() string { return \"new\" }", ""},
		{"use(T{}) + (interface{ M() string }(T{})).M()", "newnew"},
	}},
	{"wrong 3: an assertion finds an error with a value receiver", []step{
		{"type E struct{ code int }\nfunc (e E) Error() string { return fmt.Sprint(\"E\", e.code) }\nvar err error = E{7}", ""},
		{"e, ok := err.(E)\nfmt.Sprint(e.code, ok)", "7 true"},
	}},
	{"wrong 3: case error finds compiled errors", []step{
		{"func kind(x any) string {\nswitch x.(type) {\ncase int:\nreturn \"int\"\ncase error:\nreturn \"error\"\n}\nreturn \"?\"\n}", ""},
		{"kind(io.EOF) + kind(errors.New(\"x\")) + kind(1)", "errorerrorint"},
	}},
	{"wrong 3: struct types of equal fields are told apart", []step{
		{"type A struct{ N int }\ntype B struct{ N int }\nvar x any = B{1}", ""},
		{"_, isA := x.(A)\n_, isB := x.(B)\nfmt.Sprint(isA, isB)", "false true"},
	}},
	{"wrong 3: a named type is not its underlying type", []step{
		{"type Mon int\nvar x any = Mon(3)", ""},
		{"s := \"\"\nswitch x.(type) {\ncase int:\n\ts = \"int\"\ncase Mon:\n\ts = \"Mon\"\n}\ns", "Mon"},
	}},
	{"wrong 4: a variable of an if statement does not leak", []step{
		{"x := 10\nif x := 5; x > 3 { x++ }", ""},
		{"x", "10"},
	}},
	{"wrong 5: String methods and fields are printed as compiled", []step{
		{"type Temp float64\nfunc (t Temp) String() string { return fmt.Sprintf(\"%.1f°\", float64(t)) }\ntype P struct { name string; T Temp }", ""},
		{"fmt.Sprintf(\"%v %s %+v %T\", Temp(3), []Temp{1, 2}, P{\"x\", 4}, P{})", "3.0° [1.0° 2.0°] {name:x T:4.0°} main.P"},
	}},
	{"wrong 6: compiled code sees optional interfaces", []step{
		{"type W struct{ sb *strings.Builder }\nfunc (w W) Write(p []byte) (int, error) { return w.sb.Write(p) }\nfunc (w W) WriteString(s string) (int, error) { return w.sb.WriteString(\"S:\" + s) }", ""},
		{"w := W{&strings.Builder{}}\nio.WriteString(w, \"x\")\nw.sb.String()", "S:x"},
	}},
	{"wrong 7: a deferred call at the top level runs once", []step{
		{"n := 0\ndefer func() { n++ }()", ""},
		{"func() { n += 10 }()", ""},
		{"n", "11"},
		{"n", "11"},
	}},
	{"wrong 7: main runs once", []step{
		{"var runs int\nfunc main() { runs++ }", ""},
		{"runs", "1"},
		{"runs", "1"},
	}},
	{"wrong 8: a constant that overflows is an error", []step{
		{"uint8(200) + 100", "~overflows"},
	}},
	{"wrong 8: unused variables in functions are errors", []step{
		{"func f() { x := 1 }", "~declared and not used: x"},
	}},
	{"wrong 9: closures live on after an interrupt", []step{
		{"n := 0\ninc := func() int { n++; return n }", ""},
		{"for {}", "~interrupted"},
		{"inc() + inc()", "3"},
	}},
	{"wrong 10: variables of compiled packages are read anew", []step{
		{"old := os.Args\nos.Args = []string{\"a\", \"b\"}\nn := len(os.Args)\nos.Args = old", ""},
		{"n", "2"},
	}},
	{"fails: range over an int", []step{{"s := 0\nfor i := range 4 { s += i }\ns", "6"}}},
	{"fails: range over a function", []step{
		{"func two(yield func(int) bool) { _ = yield(1) && yield(2) }\ns := 0\nfor x := range two { s += x }\ns", "3"},
	}},
	{"fails: min, max and clear", []step{{"m := map[int]int{1: 2}\nclear(m)\nfmt.Sprint(min(3, 1), max(2.5, 1), len(m))", "1 2.5 0"}}},
	{"fails: generic functions with inference", []step{
		{"func Map[T, U any](xs []T, f func(T) U) (out []U) { for _, x := range xs { out = append(out, f(x)) }; return }", ""},
		{"fmt.Sprint(Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i, \"!\") }))", "[1! 2!]"},
	}},
	{"fails: constraints and generic types", []step{
		{"type Num interface{ ~int | ~float64 }\ntype Acc[T Num] struct{ sum T }\nfunc (a *Acc[T]) Add(x T) *Acc[T] { a.sum += x; return a }", ""},
		{"(&Acc[float64]{}).Add(1.5).Add(2).sum", "3.5"},
	}},
	{"fails: slices, maps and iter", []step{
		{"xs := []int{3, 1, 2}\nslices.Sort(xs)\nfmt.Sprint(xs, slices.Max(xs), slices.Sorted(maps.Keys(map[string]int{\"b\": 1, \"a\": 2})))", "[1 2 3] 3 [a b]"},
		{"var seq iter.Seq[int] = slices.Values(xs)\nfmt.Sprint(slices.Collect(seq))", "[1 2 3]"},
	}},
	{"fails: errors.As with an error of the session", []step{
		{"type E struct{ n int }\nfunc (e *E) Error() string { return \"E\" }", ""},
		{"var e *E\nok := errors.As(fmt.Errorf(\"w: %w\", &E{5}), &e)\nfmt.Sprint(ok, e.n)", "true 5"},
	}},
	{"fails: a type switch at the top level", []step{
		{"var x any = 2.5\nkind := \"\"\nswitch v := x.(type) {\ncase int:\n\tkind = \"int\"\ncase float64:\n\tkind = fmt.Sprint(\"float \", v)\n}\nkind", "float 2.5"},
	}},
	{"fails: a repeated import", []step{
		{"import \"strings\"", ""},
		{"import \"strings\"\nimport s \"strings\"\nstrings.ToUpper(\"a\") + s.ToUpper(\"b\")", "AB"},
	}},
	{"fails: declarations and statements in one cell", []step{
		{"type T int\nx := T(4)\nfunc (t T) Twice() T { return 2 * t }\nx = x.Twice()\nvar y = x + 1\ny", "9"},
	}},
	{"fails: return at the top level", []step{
		{"x := 1\nif x == 1 { return }\nx = 2", ""},
		{"x", "1"},
	}},
	{"fails: an unimported package", []step{
		{"nosuch.Do()", "~undefined: nosuch"},
	}},
	{"dies: a panic in a goroutine", []step{
		{"done := make(chan bool)\ngo func() { defer close(done); panic(\"boom\") }()\n<-done\ntime.Sleep(20 * time.Millisecond)", ""},
		{"1 + 1", "2"},
	}},
	{"dies: recursion without end", []step{
		{"func down(n int) int { return down(n+1) + 1 }\ndown(0)", "~stack overflow"},
		{"2 + 2", "4"},
	}},
	{"dies: concurrent map writes", []step{
		{"m := map[int]int{}\nvar wg sync.WaitGroup\nfor g := range 8 {\n\twg.Add(1)\n\tgo func() {\n\t\tdefer wg.Done()\n\t\tfor i := range 2000 { m[i%10] = g }\n\t}()\n}\nwg.Wait()", "~"},
		{"3 + 3", "6"},
	}},
	{"dies: an allocation that does not fit", []step{
		{"n := 1 << 50\nx := make([]byte, n)", "~"},
		{"y := make([]byte, 1 << 40)", "~memory"},
		{"4 + 4", "8"},
	}},
	{"positions: the line that panicked", []step{
		{"func f(xs []int) int {\n\tn := 1\n\tn++\n\treturn xs[n]\n}\nf(nil)", "~index out of range [2] with length 0"},
	}},
	{"positions: a nil dereference in Go's words", []step{
		{"type T struct{ n int }\nvar p *T\np.n", "~invalid memory address or nil pointer dereference"},
	}},
	{"results: all of them, and an error", []step{
		{"func two() (int, error) { return 3, errors.New(\"bad\") }", ""},
		{"two()", "~bad"},
	}},
	{"results: a statement or a void call has none", []step{
		{"x := 5", ""},
		{"func() {}()", ""},
		{"x = 6", ""},
	}},
}

func TestYaegiTraps(t *testing.T) {
	for _, trap := range yaegiTraps {
		t.Run(trap.name, func(t *testing.T) {
			s := newSession(t)
			for _, st := range trap.steps {
				timer := time.AfterFunc(30*time.Second, s.Interrupt)
				if st.code == "for {}" {
					timer.Reset(50 * time.Millisecond)
				}
				got := s.result(st.code)
				timer.Stop()
				part, anywhere := strings.CutPrefix(st.want, "~")
				if got != st.want && !(anywhere && strings.Contains(got, part)) {
					t.Errorf("%s\ngot  %q\nwant %q", st.code, got, st.want)
				}
			}
		})
	}
}

// TestPanicNamesItsLine: the traceback points at the statement that panicked, not at the function's first.
func TestPanicNamesItsLine(t *testing.T) {
	s := newSession(t)
	o := s.run("func f(xs []int) int {\n\tn := 1\n\tn++\n\treturn xs[n]\n}\nf(nil)")
	if o.Failure == nil {
		t.Fatal("no failure")
	}
	trace := strings.Join(o.Failure.Traceback, "\n")
	for _, want := range []string{"cell [1], line 4", "return xs[n]", "cell [1], line 6", "f(nil)"} {
		if !strings.Contains(trace, want) {
			t.Errorf("the traceback lacks %q:\n%s", want, trace)
		}
	}
}

// TestAllCompileErrorsAtOnce: a cell's errors come together, each with its line.
func TestAllCompileErrorsAtOnce(t *testing.T) {
	s := newSession(t)
	o := s.run("var a int = \"x\"\nb := undefinedName\nvar c string = 5")
	if o.Failure == nil {
		t.Fatal("no failure")
	}
	trace := strings.Join(o.Failure.Traceback, "\n")
	for _, want := range []string{"in cell [1], line 1:", "in cell [1], line 2:", "in cell [1], line 3:"} {
		if !strings.Contains(trace, want) {
			t.Errorf("the errors lack %q:\n%s", want, trace)
		}
	}
}
