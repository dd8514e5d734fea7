package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkalab/install/notebook"
)

// hasNotebook writes a notebook; a cell that starts with # is prose, one that starts with "tag: " is
// tagged.
func (p *person) hasNotebook(name string, cells ...string) {
	p.t.Helper()
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	for i, source := range cells {
		c := &notebook.Cell{Type: notebook.Code, ID: fmt.Sprintf("cell-%d", i), Source: source, Metadata: map[string]any{}}
		if strings.HasPrefix(source, "#") {
			c.Type = notebook.Markdown
		}
		if rest, ok := strings.CutPrefix(source, "tag: "); ok {
			tag, code, _ := strings.Cut(rest, "\n")
			c.Source, c.Metadata["tags"] = code, []any{tag}
		}
		nb.Cells = append(nb.Cells, c)
	}
	if err := nb.Write(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) opens(name string) *notebook.Notebook {
	p.t.Helper()
	nb, err := notebook.Read(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return nb
}

func TestRunPrintsAndWritesOutputs(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("lesson one.ipynb", "# A lesson", `fmt.Println("hello")`, "x := 6", "x * 7")
	p.types("run", "lesson one.ipynb", "-o", "out.ipynb").exits(0).prints("In [1]", "hello", "In [3]", "42")
	cells := p.opens("out.ipynb").Cells
	if o := cells[1].Outputs; len(o) != 1 || o[0].Text != "hello\n" {
		t.Errorf("cell 2 shows %+v", o)
	}
	if o := cells[3].Outputs; len(o) != 1 || o[0].Data["text/plain"] != "42" || cells[3].ExecutionCount != 3 {
		t.Errorf("cell 4 shows %+v", o)
	}
	if p.opens("lesson one.ipynb").Cells[1].Outputs != nil {
		t.Error("the notebook itself was changed")
	}
	p.types("run", "--quiet", "--inplace", "lesson one.ipynb").exits(0)
	if p.opens("lesson one.ipynb").Cells[1].Outputs == nil {
		t.Error("--inplace left the notebook as it was")
	}
}

func TestRunTwiceGivesTheSameBytes(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("page.ipynb", "c := kafkasim.Page()\nc.RunFor(20 * time.Millisecond)", "charts.Cluster(c)", `c.Partition("orders", 0)`)
	p.types("run", "page.ipynb", "-q", "-o", "one.ipynb").exits(0)
	p.types("run", "page.ipynb", "-q", "-o", "two.ipynb").exits(0)
	if p.reads("one.ipynb") != p.reads("two.ipynb") {
		t.Error("two runs of one notebook differ")
	}
}

func TestAFailingCellIsNamedAndTheRestIsLeft(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("bad.ipynb", "# prose", `fmt.Println("before")`, `panic("on purpose")`, `fmt.Println("after")`)
	said := p.types("run", "bad.ipynb", "-o", "out.ipynb").exits(1).prints("before")
	said.complains("bad.ipynb: cell 3 (In [2]) failed", "on purpose")
	if strings.Contains(said.out, "after") {
		t.Error("a cell ran after the one that failed")
	}
	cells := p.opens("out.ipynb").Cells
	if o := cells[2].Outputs; len(o) != 1 || o[0].Type != notebook.Error {
		t.Errorf("the failing cell shows %+v", o)
	}
	p.types("run", "bad.ipynb", "--allow-errors").exits(0).prints("after")
	p.hasNotebook("may.ipynb", "tag: raises-exception\npanic(\"expected\")", `fmt.Println("after")`, "tag: skip-execution\nnot even Go")
	p.types("run", "may.ipynb").exits(0).prints("expected", "after")
}

// Each is something that a beginner does; each is answered by where, what and what would have been right.
func TestMistakesInCellsAreSentences(t *testing.T) {
	p := newPerson(t)
	for code, want := range map[string]string{
		"x := ":                       "cell 1",
		`var n int = "text"`:          "cell 1",
		"undefinedName":               "undefinedName",
		"var p *int\nfmt.Println(*p)": "nil",
		"kafkasim.New(kafkasim.World{Brokers: 1}).NewProducer(\"p\", kafkasim.Config{\"ack\": 1})": `did you mean "acks"`,
	} {
		p.hasNotebook("mistake.ipynb", code)
		p.types("run", "mistake.ipynb").exits(1).complains(want)
	}
}

func TestAnEndlessCellIsStoppedByTheTimeout(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("endless.ipynb", "for {\n}")
	begun := time.Now()
	p.types("run", "endless.ipynb", "--timeout", "300ms").exits(1).complains("cell 1 (In [1]) took longer than 300ms", "--timeout")
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCtrlCStopsARun(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("endless.ipynb", `fmt.Println("begun")`, "for {\n}")
	cmd := exec.Command(binary, "run", "endless.ipynb")
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1)
	if _, err := out.Read(buffer); err != nil { // the first cell has ended
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(errs.String(), "was interrupted") {
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			t.Fatalf("it died of the signal %v", status.Signal())
		}
		t.Errorf("exit code %d, it said %q", code, errs.String())
	}
}

func TestParametersOfARun(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("p.ipynb", "tag: parameters\nseed := 7\nname := \"nobody\"", `fmt.Println(name, seed*2)`)
	p.types("run", "p.ipynb").exits(0).prints("nobody 14")
	p.types("run", "p.ipynb", "-p", "seed=21", "-p", "name=ada lovelace", "--inplace").exits(0).prints("ada lovelace 42")
	p.types("run", "p.ipynb", "-p", "seed=1", "--inplace").exits(0).prints("nobody 2")
	if n := len(p.opens("p.ipynb").Cells); n != 3 {
		t.Errorf("%d cells after two runs with parameters, want 3", n)
	}
	p.types("run", "p.ipynb", "-p", "sead=1").exits(1).complains(`no parameter "sead"`, "name, seed")
	p.types("run", "p.ipynb", "-p", "seed").exits(2).complains("name=value")
}

func TestFilesThatAreNoNotebooks(t *testing.T) {
	p := newPerson(t)
	p.writes("broken.ipynb", `{"cells": [`)
	p.writes("other.ipynb", `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "python"}, "kernelspec": {"name": "python3", "display_name": "Python 3"}}, "cells": []}`)
	p.writes("list.ipynb", `[1, 2]`)
	p.writes("old.ipynb", `{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}`)
	for _, verb := range []string{"run", "export"} {
		p.types(verb, "missing.ipynb").exits(1).complains("missing.ipynb")
		p.types(verb, "broken.ipynb").exits(1).complains("broken.ipynb", "line 1")
		p.types(verb, "other.ipynb").exits(1).complains("python", "runs notebooks in Go")
		p.types(verb, "list.ipynb").exits(1).complains("list.ipynb")
		p.types(verb, "old.ipynb").exits(1).complains("old.ipynb")
		p.types(verb, p.dir).exits(1).complains(p.dir)
	}
	p.hasNotebook("good.ipynb", "1 + 1")
	p.types("run", "good.ipynb", "-o", "no/such/folder/out.ipynb").exits(1).complains("out.ipynb")
}

func TestExportWritesOnePageThatNeedsNothing(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("lesson.ipynb", "# When a leader fails", "c := kafkasim.Page()\nc.RunFor(20 * time.Millisecond)\ncharts.Replay(c)", `charts.HighWatermark(c, "orders")`)
	p.types("export", "lesson.ipynb").exits(0).complains("Written to lesson.html")
	page := p.reads("lesson.html")
	for _, want := range []string{"<title>When a leader fails</title>", "Content-Security-Policy", "default-src 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, not := range []string{`src="http`, `href="http`, "cdn.", "cdnjs"} {
		if strings.Contains(page, not) {
			t.Errorf("%q is in the page", not)
		}
	}
	if p.opens("lesson.ipynb").Cells[1].Outputs != nil {
		t.Error("export changed the notebook")
	}
	p.types("export", "lesson.ipynb", "--no-run", "-o", "bare.html", "--title", "Bare <1>").exits(0)
	if bare := p.reads("bare.html"); !strings.Contains(bare, "Bare &lt;1&gt;") || len(bare) > len(page)/2 {
		t.Errorf("a page without outputs has %d bytes, with them %d", len(bare), len(page))
	}
}

func TestDoctorOnAHealthyAndABrokenInstallation(t *testing.T) {
	p := newPerson(t)
	p.types("doctor").exits(1).prints("BAD   no working kernel is installed", "`kafkalab install`")
	p.types("install").exits(0)
	healthy := p.types("doctor").exits(0)
	healthy.prints("ok    the kernel answers", "ok    a cell runs", "ok    a chart is drawn", "ok    chart extension")
	if strings.Contains(healthy.out, "BAD") {
		t.Errorf("a healthy installation:\n%s", healthy.out)
	}
	spec := filepath.Join(p.userData(), "kernels", "kafkalab", "kernel.json")
	gone := strings.Replace(p.reads(spec), binary, filepath.Join(p.dir, "gone"), 1)
	os.WriteFile(spec, []byte(gone), 0o644)
	os.WriteFile(filepath.Join(p.userData(), "labextensions", "kafkalab-charts", "package.json"), []byte(`{"name": "kafkalab-charts"}`), 0o644)
	p.types("doctor").exits(1).prints("BAD   kernel", "cannot run", "BAD   chart extension", "another version", "`kafkalab install` again")
}

func TestTheKernelRefusesAConnectionFileThatCannotWork(t *testing.T) {
	p := newPerson(t)
	p.types("kernel", "missing.json").exits(1).complains("missing.json")
	p.writes("bad.json", `{"transport": "tcp"`)
	p.types("kernel", "bad.json").exits(1).complains("bad.json")
	p.writes("curve.json", `{"transport": "tcp", "ip": "127.0.0.1", "key": "k", "signature_scheme": "hmac-sha256", "curve_publickey": "x", "curve_secretkey": "y"}`)
	p.types("kernel", "curve.json").exits(1).complains("CURVE")
}

// A folder becomes a site: a page for each notebook, an index that names them, and links between them.
func TestExportMakesASite(t *testing.T) {
	p := newPerson(t)
	p.hasNotebook("a.ipynb", "# First\n\nSee [the other](b.ipynb).", "1 + 1")
	p.hasNotebook("b.ipynb", "# Second", "20 + 3")
	p.types("export", ".", "-o", "site").exits(0).complains("Written to")
	for name, want := range map[string]string{"index.html": `href="a.html">First</a>`, "a.html": `href="b.html"`, "b.html": "23"} {
		if text := p.reads(filepath.Join("site", name)); !strings.Contains(text, want) {
			t.Errorf("%s has not %s", name, want)
		}
	}
}
