// Package cli tells the command line's stories with the real binary: each test is what a person types and
// what becomes of it.
package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/tests/testenv"
)

// binary is the kafkalab that TestMain builds.
var binary string

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, &binary)) }

// person is someone at a shell: a home folder of their own, and a working folder.
type person struct {
	t    *testing.T
	home string
	dir  string
	env  []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home of ada")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, home: home, dir: t.TempDir(), env: testenv.Environ(home)}
	return p
}

// told is what a command answered.
type told struct {
	t        *testing.T
	line     string
	out, err string
	code     int
}

// types runs kafkalab with the arguments.
func (p *person) types(args ...string) told {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("kafkalab %q: %v", args, err)
	}
	return told{p.t, "kafkalab " + strings.Join(args, " "), out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// exits checks the exit code.
func (a told) exits(code int) told {
	a.t.Helper()
	if a.code != code {
		a.t.Errorf("%s: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", a.line, a.code, code, a.out, a.err)
	}
	return a
}

// prints checks that each text stands in what was printed.
func (a told) prints(texts ...string) told {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.out, text) {
			a.t.Errorf("%s: %q is not in what it printed:\n%s", a.line, text, a.out)
		}
	}
	return a
}

// complains checks that the complaint holds each text and is a sentence for people: no Go stack, nothing
// long.
func (a told) complains(texts ...string) told {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.err, text) {
			a.t.Errorf("%s: %q is not in the complaint:\n%s", a.line, text, a.err)
		}
	}
	if strings.Contains(a.err, "goroutine ") || strings.Contains(a.err, "panic:") || strings.Count(a.err, "\n") > 6 {
		a.t.Errorf("%s: that is no sentence:\n%s", a.line, a.err)
	}
	return a
}

func (p *person) writes(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *person) reads(path string) string {
	p.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
