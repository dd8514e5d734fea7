package corpustest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval"
)

var (
	programs  = flag.Int("random", 0, "how many random programs to compare; they are compiled in batches")
	seed      = flag.Uint64("seed", 1, "of the random programs")
	batchSize = flag.Int("batch", 250, "random programs in one build")
)

// TestRandom compares random programs compiled and as cells. A program whose compiled output depends on
// the compiler's optimisations is left out: Go does not fix what it does. So is one that prints megabytes,
// or recurses without end.
func TestRandom(t *testing.T) {
	if *programs == 0 {
		t.Skip("see -random")
	}
	compared, open, refusedN, wrongN := 0, 0, 0, 0
	for first := 0; first < *programs; first += *batchSize {
		n := min(*batchSize, *programs-first)
		bodies := make([]string, n)
		for i := range bodies {
			bodies[i] = body(*seed, uint64(first+i))
		}
		want, also := compiledBatch(t, bodies)
		s := newCells(t)
		for i, b := range bodies {
			if want[i] != also[i] || want[i] == endless || len(want[i]) > tooMuch/2 {
				open++
				continue
			}
			got, fail := s.runBody(i, b)
			switch {
			case fail == "refused":
				refusedN++
				t.Logf("refused: %s", got)
			case got != want[i]:
				wrongN++
				t.Errorf("program %d of seed %d:\n%s\ngot:\n%s\nwant:\n%s", first+i, *seed, b, got, want[i])
			default:
				compared++
			}
		}
		s.e.Close()
	}
	t.Logf("random programs: equal %d, refused %d, different %d, left out %d", compared, refusedN, wrongN, open)
}

// compiledBatch runs all bodies as one program, built with and without optimisation.
func compiledBatch(t *testing.T, bodies []string) (a, b []string) {
	var src strings.Builder
	src.WriteString("package main\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"os\"\n\t\"runtime/debug\"\n\t\"slices\"\n)\n\nvar _ = errors.New\n" + prelude +
		"\nfunc main() {\n\tdebug.SetMaxStack(64 << 20)\n")
	for i := range bodies {
		fmt.Fprintf(&src, "\tif slices.Contains(os.Args, \"%d\") { fmt.Println(\"== %d\\n%s\") } else { runp(%d, p%d) }\n", i, i, endless, i, i)
	}
	src.WriteString("}\n")
	for i, b := range bodies {
		fmt.Fprintf(&src, "\nfunc p%d() {\n%s}\n", i, b)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module random\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "main.go"), src.String())
	run := func(flags string) []string {
		bin := filepath.Join(dir, "prog")
		cmd := exec.Command("go", "build", "-gcflags="+flags, "-o", bin, ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			os.WriteFile(filepath.Join(os.TempDir(), "random-failed.go"), []byte(src.String()), 0o644)
			t.Fatalf("%v\n%.3000s", err, out)
		}
		out := runLeavingOut(t, bin)
		parts := strings.Split("\n"+string(out), "\n== ")[1:]
		if len(parts) != len(bodies) {
			t.Fatalf("%d outputs of %d programs", len(parts), len(bodies))
		}
		for i, p := range parts {
			_, text, _ := strings.Cut(p, "\n")
			parts[i] = strings.TrimSuffix(text, "\n")
		}
		return parts
	}
	return run(""), run("-N -l")
}

// endless is what stands for the output of a program that recurses without end, which would kill them all.
const endless = "recurses without end"

// runLeavingOut runs compiled programs, again without those that overflow the stack.
func runLeavingOut(t *testing.T, bin string) []byte {
	var without []string
	for {
		prog := exec.Command(bin, without...)
		var last tail
		prog.Stderr = &last
		out, err := prog.Output()
		if err == nil {
			return out
		}
		at := bytes.LastIndex(out, []byte("== "))
		if at < 0 || !strings.Contains(last.words(), "stack exceeds") {
			t.Fatalf("the compiled programs failed: %v: %s", err, last.words())
		}
		n, _, _ := strings.Cut(string(out[at+len("== "):]), "\n")
		without = append(without, n)
	}
}

// cells is a session that has run the prelude.
type cells struct {
	e *goeval.Engine
	n int
}

func newCells(t *testing.T) *cells {
	e, err := goeval.New(goeval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &cells{e: e}
	var tp tape
	if o := s.run(prelude, &tp); o.Failure != nil {
		t.Fatal(o.Failure.Traceback)
	}
	return s
}

func (s *cells) run(code string, tp *tape) kernel.Outcome {
	s.n++
	timer := time.AfterFunc(20*time.Second, s.e.Interrupt)
	defer timer.Stop()
	return s.e.Execute(kernel.Cell{Code: code, Count: s.n}, tp)
}

// runBody runs a program in one of the forms that a cell can give it: a function, a literal, or bare
// statements.
func (s *cells) runBody(i int, b string) (out, fail string) {
	code := fmt.Sprintf("runp(%d, func() {\n%s})", i, b)
	switch i % 3 {
	case 1:
		code = fmt.Sprintf("func p%d() {\n%s}\nrunp(%d, p%d)", i, b, i, i)
	case 2:
		code = b
	}
	var tp tape
	o := s.run(code, &tp)
	out = tp.out.String()
	if f := o.Failure; f != nil {
		switch {
		case f.Name == "NotSupported":
			return f.Value, "refused"
		case i%3 == 2 && (f.Name == "RuntimeError" || f.Name == "Panic"):
			out += "panic: " + f.Value + "\n"
		default:
			out += f.Name + ": " + f.Value + "\n" + strings.Join(f.Traceback, "\n")
		}
	}
	if i%3 != 2 {
		_, out, _ = strings.Cut(out, "\n")
	}
	return strings.TrimSuffix(out, "\n"), ""
}
