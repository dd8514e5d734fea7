package goeval

import (
	"flag"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var record = flag.Bool("record", false, "compile and run the programs of testdata with the Go tool and record what they print")

// TestPrograms runs each program as a cell and compares it with what the compiled program printed.
func TestPrograms(t *testing.T) {
	programs, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if *record {
		recordPrograms(t, programs)
	}
	golden, err := txtar.ParseFile("testdata/programs.golden")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range golden.Files {
		want[f.Name] = string(f.Data)
	}
	if len(programs.Files) < 60 {
		t.Errorf("only %d programs", len(programs.Files))
	}
	equal, refused := 0, 0
	for _, f := range programs.Files {
		t.Run(f.Name, func(t *testing.T) {
			s := newSession(t)
			timer := time.AfterFunc(10*time.Second, s.Interrupt)
			defer timer.Stop()
			o := s.run(string(f.Data))
			if o.Failure != nil && o.Failure.Name == "NotSupported" {
				refused++
				t.Logf("refused: %s", o.Failure.Value)
				return
			}
			got := s.out()
			if o.Failure != nil {
				got += "\nfailure: " + strings.Join(o.Failure.Traceback, "\n")
			}
			if got != want[f.Name] {
				t.Errorf("as a cell:\n%s\ncompiled:\n%s", got, want[f.Name])
				return
			}
			equal++
		})
	}
	t.Logf("%d equal, %d refused, of %d", equal, refused, len(programs.Files))
}

// recordPrograms compiles each program: its declarations at package level, its statements in main.
func recordPrograms(t *testing.T, programs *txtar.Archive) {
	out := &txtar.Archive{Comment: []byte("What the compiled programs print. Recorded by go test -run Programs -record.\n")}
	dir := t.TempDir()
	for _, f := range programs.Files {
		file := filepath.Join(dir, "main.go")
		if err := os.WriteFile(file, []byte(asProgram(string(f.Data))), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", file)
		text, err := cmd.Output()
		if err != nil {
			stderr := ""
			if ee, ok := err.(*exec.ExitError); ok {
				stderr = string(ee.Stderr)
			}
			t.Errorf("%s: %v\n%s", f.Name, err, stderr)
			continue
		}
		out.Files = append(out.Files, txtar.File{Name: f.Name, Data: text})
	}
	if err := os.WriteFile("testdata/programs.golden", txtar.Format(out), 0o666); err != nil {
		t.Fatal(err)
	}
}

func asProgram(cell string) string {
	var decls, stmts strings.Builder
	names := map[string]bool{}
	for _, tok := range tokens(cell) {
		if tok.tok == token.IDENT {
			names[tok.lit] = true
		}
	}
	imports := map[string]bool{}
	for name, path := range stdImports {
		if names[name] && strings.Contains(cell, name+".") && name != "lab" {
			imports[path] = true
		}
	}
	for _, more := range []string{"reflect", "iter"} {
		if strings.Contains(cell, more+".") {
			imports[more] = true
		}
	}
	var vars []string
	for _, s := range split(cell) {
		text := cell[s.start:s.end]
		switch s.kind {
		case token.IMPORT:
			for _, w := range strings.Fields(text) {
				if p, err := strconv.Unquote(strings.Trim(w, "();")); err == nil {
					imports[p] = true
				}
			}
		case token.TYPE, token.CONST, token.VAR, token.FUNC:
			decls.WriteString(text + "\n")
		default:
			stmts.WriteString(text + "\n")
			if head, _, ok := strings.Cut(text, " :="); ok && !strings.ContainsAny(head, "{(\n") && !startsBlock(head) {
				for _, n := range strings.Split(head, ",") {
					if n = strings.TrimSpace(n); n != "_" && token.IsIdentifier(n) {
						vars = append(vars, n)
					}
				}
			}
		}
	}
	for _, v := range vars {
		fmt.Fprintf(&stmts, "_ = %s\n", v)
	}
	var paths []string
	for p := range imports {
		paths = append(paths, strconv.Quote(p))
	}
	sort.Strings(paths)
	return "package main\nimport (\n" + strings.Join(paths, "\n") + "\n)\n" + decls.String() + "func main() {\n" + stmts.String() + "}\n"
}

func startsBlock(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return word == "for" || word == "if" || word == "switch"
}
