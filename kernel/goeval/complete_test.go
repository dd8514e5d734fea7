package goeval

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kafkalab/kernel"
)

// complete completes at the | in code.
func (s *session) complete(code string) kernel.Completion {
	before, after, _ := strings.Cut(code, "|")
	return s.Complete(before+after, utf8.RuneCountInString(before))
}

func texts(c kernel.Completion) string {
	var out []string
	for _, m := range c.Matches {
		out = append(out, m.Text)
	}
	return strings.Join(out, " ")
}

func TestComplete(t *testing.T) {
	s := newSession(t)
	s.run("type Cluster struct{ Brokers int; name string }\nfunc (c *Cluster) CreateTopic(name string, n int) *Cluster { return c }\nfunc (c Cluster) Crash() {}\nc := &Cluster{}\ncluster2 := 1")
	for code, want := range map[string]string{
		"c.Cr|":                                "Crash CreateTopic",
		"c.|":                                  "Brokers Crash CreateTopic name",
		"clus|":                                "cluster2 Cluster",
		"x := c.CreateTopic(\"a\", 1).Cr|":     "Crash CreateTopic",
		"\"😀é\"; c.Br|":                        "Brokers",
		"strings.ToUp|":                        "ToUpper ToUpperSpecial",
		"import m \"math\"\nm.Sq|":             "Sqrt Sqrt2 SqrtE SqrtPi SqrtPhi",
		"if c.Br|":                             "Brokers",
		"for _, v := range c.Br|":              "Brokers",
		"func f(local int) { loc|":             "local",
		"func f() { var t time.Time; t.Weekd|": "Weekday",
		"fmt.Println(c.Brok| + 1)":             "Brokers",
		"Cluster{Br|":                          "Brokers break",
		"// c.|":                               "",
		"\"c.|":                                "",
		"swit|":                                "switch",
		"fm|":                                  "fmt",
		"undefined.x|":                         "",
		"c.Cr|ash()":                           "Crash CreateTopic",
	} {
		got := strings.Fields(texts(s.complete(code)))
		if !sameSet(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	got := s.complete("é := c.Cre|")
	if got.Start != 7 || got.End != 10 || got.Matches[0].Kind != "function" || got.Matches[0].Signature != "func(name string, n int) *main.Cluster" {
		t.Errorf("%+v", got)
	}
	if names := s.result("len(os.Args) >= 0"); names != "true" {
		t.Errorf("the session suffered: %s", names)
	}
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[string]bool{}
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if !in[x] {
			return false
		}
	}
	return true
}

func TestCompleteWhileACellRuns(t *testing.T) {
	s := newSession(t)
	s.run("xyz := 1")
	done := make(chan bool)
	go func() { s.run("for {}"); done <- true }()
	for texts(s.complete("xy|")) != "xyz" {
	}
	s.Interrupt()
	for {
		select {
		case <-done:
			return
		default:
			s.Interrupt()
		}
	}
}

func TestInspect(t *testing.T) {
	s := newSession(t)
	s.run("// Add adds two numbers.\nfunc Add(a, b int) int { return a + b }\nvalue := map[string]int{\"k\": 1}\ntype Point struct {\n\t// X goes right.\n\tX int\n}\np := Point{3}")
	for code, want := range map[string][]string{
		"A|dd(1, 2)":       {"func Add(a int, b int) int", "Add adds two numbers."},
		"valu|e":           {"var value map[string]int", "with 1 entries"},
		"p.|X":             {"X goes right."},
		"strings.To|Upper": {"func strings.ToUpper(s string) string", "ToUpper returns s with all Unicode letters mapped"},
		"prin|tln":         {"println"},
		"fm|t":             {"package fmt"},
		"Add":              {"func Add"},
		"broken(p.|X":      {"X int"},
	} {
		before, after, _ := strings.Cut(code, "|")
		if !strings.Contains(code, "|") {
			before, after = code, ""
		}
		b, ok := s.Inspect(before+after, utf8.RuneCountInString(before), 0)
		text, _ := b.Data["text/plain"].(string)
		for _, w := range want {
			if !ok || !strings.Contains(text, w) {
				t.Errorf("%s: %q lacks %q", code, text, w)
			}
		}
	}
	b, ok := s.Inspect("Add", 1, 1)
	if text, _ := b.Data["text/plain"].(string); !ok || !strings.Contains(text, "return a + b") {
		t.Errorf("source: %q", text)
	}
	if _, ok := s.Inspect("nothing_here", 3, 0); ok {
		t.Error("found nothing_here")
	}
}

func TestHints(t *testing.T) {
	lib := Library{
		Imports: map[string]string{"strs": "strings"},
		Hints: []Hint{
			{Func: "strings.Contains", Arg: 1, Texts: func() []HintText { return []HintText{{"acks", "how many"}, {"linger.ms", ""}} }},
			{Func: "net/url.Values", Arg: -1, Texts: func() []HintText { return []HintText{{"min.insync.replicas", ""}} }},
		},
	}
	s := newSession(t, lib)
	s.run("import \"net/url\"")
	for code, want := range map[string]string{
		`strings.Contains("x", "ac|`:     "acks",
		`strings.Contains("ac|`:          "",
		`v := url.Values{"min.in|`:       "min.insync.replicas",
		`v := url.Values{"a": nil, "|"}`: "min.insync.replicas",
		`strings.ToUpper("|`:             "",
	} {
		if got := texts(s.complete(code)); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

func FuzzPeek(f *testing.F) {
	for _, seed := range []string{"x := 1", "func f() {", "\"", "a.b.c(", "type T struct{", "import \"", "for i := range 3 { i.", "\x00é😀`"} {
		f.Add(seed, 3)
	}
	e, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, code string, cursor int) {
		e.Complete(code, cursor)
		e.Inspect(code, cursor, 1)
		e.IsComplete(code)
	})
}
