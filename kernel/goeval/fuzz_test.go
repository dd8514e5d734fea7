package goeval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kafkalab/kernel"
)

// badInput is text that is no cell anybody means to write.
func badInput() map[string]string {
	deep := strings.Repeat
	return map[string]string{
		"empty":                 "",
		"blanks":                " \t\n\r\n \n",
		"a comment":             "// nothing",
		"an open comment":       "/* nothing",
		"comments":              "/* a */ // b\n/* c\n */",
		"CRLF":                  "x := 1\r\nfmt.Println(x)\r\n",
		"CR":                    "x := 1\rfmt.Println(x)\r",
		"BOM":                   "\ufeffx := 1\nx",
		"BOM inside":            "x := 1\n\ufeffx",
		"NUL":                   "x := 1\x00\nx",
		"NUL in a string":       "\"a\x00b\"",
		"invalid UTF-8":         "x := \"\xff\xfe\"\n\xff",
		"invalid UTF-8 in name": "x\xc3 := 1",
		"all bytes":             allBytes(),
		"braces":                deep("{", 40_000),
		"closed braces":         deep("{", 20_000) + deep("}", 20_000),
		"parentheses":           "x := " + deep("(", 40_000) + "1" + deep(")", 40_000),
		"brackets":              "var x " + deep("[]", 40_000) + "int",
		"stars":                 "var x " + deep("*", 40_000) + "int",
		"minus":                 "x := " + deep("-", 40_000) + "1",
		"sum":                   "x := 1" + deep(" + 1", 20_000),
		"strings added":         "x := \"a\"" + deep(" + \"a\"", 20_000),
		"ifs":                   deep("if true {\n", 5_000) + deep("}\n", 5_000),
		"elses":                 "if true {}" + deep(" else if true {}", 20_000),
		"funcs":                 "x := " + deep("func() {", 5_000) + deep("}", 5_000),
		"calls":                 "func f(n int) int { return n }\n" + deep("f(", 5_000) + "1" + deep(")", 5_000),
		"selectors":             "x := 1\nx" + deep(".y", 20_000),
		"literals":              "x := " + deep("[]any{", 5_000) + deep("}", 5_000),
		"literals of a call":    "func f() any { return 1 }\nx := " + deep("struct{ A any }{", 1_000) + "f()" + deep("}", 1_000),
		"maps of a call":        "func f() any { return 1 }\nx := " + deep("map[string]any{\"a\": ", 1_000) + "f()" + deep("}", 1_000),
		"pointers to structs":   "var x " + deep("struct{ a *", 5_000) + "int" + deep("}", 5_000),
		"channels":              "var x " + deep("chan ", 20_000) + "int",
		"generics":              "type T[A any] struct{ x *T[T[A]] }\nvar t T[int]",
		"a type of itself":      "type T [2]T\nvar t T",
		"a big array":           "var x [1 << 40]int\nx[0]",
		"a huge constant":       "const c = 1 << 100_000_000\nc",
		"shifted often":         "const c = 1" + deep(" << 500", 20),
		"a long name":           deep("a", 1<<20) + " := 1",
		"a long string":         "x := \"" + deep("a", 1<<20) + "\"\nlen(x)",
		"a raw string":          "x := `" + deep("a\r\n", 1<<18) + "`\nlen(x)",
		"an open raw string":    "x := `" + deep("a\n", 1<<18),
		"a megabyte of Go":      deep("x = x*3 + 1; if x > 9 { x = 0 }\n", 32_000),
		"many calls":            "y := 0\n" + deep("y += len(\"abc\")\n", 20_000),
		"a megabyte of text":    deep("lorem ipsum dolor sit amet, ", 1<<15),
		"a megabyte of percent": deep("% ", 1<<19),
		"many bangs":            deep("!a\n", 1<<16),
		"semicolons":            deep(";", 1<<16),
		"labels":                deep("L:\n", 1<<15),
		"many errors":           deep("undefined1()\n", 20_000),
		"many declarations":     deep("var _ = 1\n", 5_000),
		"imports":               deep("import \"fmt\"\n", 20_000),
		"goto":                  "goto L\nL:\nx := 1",
		"quotes":                deep("'", 1<<16),
		"numbers":               "0x 0b2 09 1e 1e+ 0x1p 1__0 0_ .5. 1i2",
		"unicode":               "π := 3.14\n世界 := \"𝕏\"\nπ, 世界",
		"directional":           "x := 1 /*\u202e } \u2066*/\nx",
		"line directives":       "//line /etc/passwd:1000000000\nx := nope\n/*line a.go:2:3*/ y",
		"cgo":                   "// #include <stdio.h>\nimport \"C\"\nC.puts(nil)",
		"directives":            "//go:linkname f runtime.throw\nfunc f(string)\n//go:noescape\nfunc g()",
	}
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

// bear gives the text to everything that takes text. It returns how long the slowest took.
func bear(t testing.TB, text string) (slowest time.Duration, which string) {
	s := newSession(t)
	s.run("x := 0\nvar L = 1")
	timed := func(name string, f func()) {
		begun := time.Now()
		f()
		if took := time.Since(begun); took > slowest {
			slowest, which = took, name
		}
	}
	end := utf8.RuneCountInString(text)
	timed("IsComplete", func() { s.IsComplete(text) })
	timed("Complete", func() { s.Complete(text, end); s.Complete(text, end/2) })
	timed("Inspect", func() { s.Inspect(text, end, 1); s.Inspect(text, end/2, 0) })
	timed("Execute", func() {
		timer := time.AfterFunc(time.Second, s.Interrupt)
		defer timer.Stop()
		o := s.run(text)
		if o.Failure != nil && o.Failure.Name == "InternalError" {
			t.Errorf("%.200q: %s\n%.3000s", text, o.Failure.Value, strings.Join(o.Failure.Traceback, "\n"))
		}
	})
	if got := s.Execute(kernel.Cell{Code: "40 + 2", Count: 9}, &s.tape); got.Result == nil || got.Result.Data["text/plain"] != "42" {
		t.Errorf("%.200q: afterwards 40 + 2 is %+v", text, got)
	}
	return slowest, which
}

// TestBadInput gives what no one means to write: no panic, no hang, and the session lives on.
func TestBadInput(t *testing.T) {
	for name, text := range badInput() {
		t.Run(name, func(t *testing.T) {
			took, which := bear(t, text)
			if took > 10*time.Second { // a busy machine may need another try
				took, which = bear(t, text)
			}
			if took > 10*time.Second {
				t.Errorf("%s took %v, twice", which, took)
			}
		})
	}
}

// FuzzCells gives anything to the session: go test -fuzz FuzzCells ./kernel/goeval. Cells of the corpus are
// where it begins.
func FuzzCells(f *testing.F) {
	for _, text := range badInput() {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	files, _ := filepath.Glob("testdata/corpus/*.txtar")
	for i := 0; i < len(files); i += 10 {
		if data, err := os.ReadFile(files[i]); err == nil && len(data) < 4000 {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 || strings.Contains(text, "os.") || strings.Contains(text, "ioutil") || strings.Contains(text, "%%file") || strings.Contains(text, "syscall") || strings.Contains(text, "net") || strings.Contains(text, "exec") {
			t.Skip("it might do harm")
		}
		if took, which := bear(t, text); took > 8*time.Second {
			t.Errorf("%s took %v", which, took)
		}
	})
}
