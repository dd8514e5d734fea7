package corpustest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// recordOurs compiles the chosen programs, all in one build, runs them and writes what they print into
// their files.
func recordOurs(t *testing.T, all []*program) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module corpus\n\ngo 1.26\n")
	var chosen []*program
	for _, p := range all {
		switch {
		case *record == "all", *record == "new" && !p.recorded, *record != "new" && strings.Contains(p.name, *record):
			chosen = append(chosen, p)
			write(t, filepath.Join(dir, p.name, "prog.go"), p.source)
		}
	}
	if len(chosen) == 0 {
		return
	}
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	os.MkdirAll(bin, 0o755)
	failed := build(t, dir, bin)
	for _, p := range chosen {
		if msg, bad := failed[p.name]; bad {
			p.want = outcome{End: "compile: " + msg}
		} else {
			p.want = compiledRun(t, filepath.Join(bin, p.name))
		}
		p.save(t)
	}
	t.Logf("recorded %d programs, %d of them do not compile", len(chosen), len(failed))
}

func write(t testing.TB, path, text string) {
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// build compiles every program; the result holds the first error of those that do not compile.
func build(t testing.TB, dir, bin string) map[string]string {
	failed := map[string]string{}
	for {
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "./...")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			return failed
		}
		before := len(failed)
		name := ""
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			if pkg, ok := strings.CutPrefix(line, "# corpus/"); ok {
				name = pkg
			} else if name != "" && failed[name] == "" {
				_, msg, _ := strings.Cut(line, ".go:")
				failed[name] = msg[strings.Index(msg, " ")+1:]
				os.RemoveAll(filepath.Join(dir, name))
			}
		}
		if len(failed) == before {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
}

// compiledRun runs a binary.
func compiledRun(t testing.TB, path string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	o := outcome{Stdout: out.String(), Stderr: errs.String()}
	if err == nil {
		return o
	}
	code := cmd.ProcessState.ExitCode()
	o.End = fmt.Sprintf("exit: %d", code)
	if code == 2 {
		o.Stderr, o.End = endOfCompiled(o.Stderr)
	}
	if o.End == "" || ctx.Err() != nil {
		t.Errorf("%s: how did it end?\n%s", path, errs.String())
	}
	return o
}

var recoveredMark = regexp.MustCompile(` \[recovered[^\]]*\]`)

// endOfCompiled reads the run time's last words.
func endOfCompiled(stderr string) (before, end string) {
	switch {
	case strings.Contains(stderr, "all goroutines are asleep"):
		return "", "deadlock"
	case strings.Contains(stderr, "stack overflow"):
		return "", "stack overflow"
	}
	at := strings.Index(stderr, "panic: ")
	if at < 0 {
		return stderr, ""
	}
	text, _, _ := strings.Cut(stderr[at:], "\n\ngoroutine ")
	text, _, _ = strings.Cut(text, "\n[signal ")
	text = recoveredMark.ReplaceAllString(text, "")
	if i := strings.LastIndex(text, "\n\tpanic: "); i >= 0 {
		text = text[i+2:]
	}
	return stderr[:at], strings.TrimSuffix(text, "\n")
}

// save writes the program with its output.
func (p *program) save(t *testing.T) {
	a := &txtar.Archive{Comment: []byte(p.note), Files: []txtar.File{{Name: "prog.go", Data: []byte(p.source)}, {Name: "stdout", Data: []byte(p.want.Stdout)}}}
	if p.want.Stderr != "" {
		a.Files = append(a.Files, txtar.File{Name: "stderr", Data: []byte(p.want.Stderr)})
	}
	if p.want.End != "" {
		a.Files = append(a.Files, txtar.File{Name: "end", Data: []byte(p.want.End + "\n")})
	}
	if strings.Contains(p.want.Stdout, "\n-- ") || strings.HasPrefix(p.want.Stdout, "-- ") {
		t.Fatalf("%s prints what txtar cannot hold", p.name)
	}
	if err := os.WriteFile(p.path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
