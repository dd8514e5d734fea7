// Package jupyter holds the kernel against Jupyter's own programs: the conformance suite
// jupyter_kernel_test, and nbclient, whose outputs `kafkalab run` must equal.
package jupyter

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/install/notebook"
	"kafkalab/tests/testenv"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, &binary)) }

// installed installs the kernel for a new person and returns that person's environment.
func installed(t *testing.T) []string {
	t.Helper()
	env := testenv.Environ(t.TempDir())
	if out, err := command(t, env, binary, "install").CombinedOutput(); err != nil {
		t.Fatalf("kafkalab install: %v\n%s", err, out)
	}
	return env
}

func command(t *testing.T, env []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	return cmd
}

// suiteTests are the tests of jupyter_kernel_test 0.7: twelve, and the one about iopub_welcome.
const suiteTests = "Ran 13 tests"

func TestJupyterKernelTestPassesWhole(t *testing.T) {
	python := testenv.Jupyter(t, "python", "jupyter_kernel_test")
	out, err := command(t, installed(t), python, "suite.py").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, suiteTests) || regexp.MustCompile(`(?i)skipped`).MatchString(text) {
		t.Errorf("not every test of the suite ran:\n%s", text)
	}
}

// The course and the cases of testdata show the same through nbclient as through `kafkalab run`: the text,
// the pictures to the byte, the counts.
func TestNotebooksRunTheSameWithAndWithoutJupyter(t *testing.T) {
	python := testenv.Jupyter(t, "python", "nbclient")
	env := installed(t)
	notebooks, _ := filepath.Glob("../../notebooks/*.ipynb")
	cases, _ := filepath.Glob("testdata/*.ipynb")
	if len(cases) == 0 {
		t.Fatal("no case was found in testdata")
	}
	for _, path := range append(notebooks, cases...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			ours, theirs := filepath.Join(dir, "ours.ipynb"), filepath.Join(dir, "theirs.ipynb")
			out, ourErr := command(t, env, binary, "run", "--quiet", "-o", ours, alone(t, path)).CombinedOutput()
			said, theirErr := command(t, env, python, "nbclient_run.py", "kafkalab", alone(t, path), theirs).CombinedOutput()
			fails := strings.HasPrefix(filepath.Base(path), "fails")
			if (ourErr != nil) != fails || (theirErr != nil) != fails {
				t.Fatalf("kafkalab run: %v\n%s\nnbclient: %v\n%s", ourErr, out, theirErr, said)
			}
			compare(t, read(t, ours), read(t, theirs))
		})
	}
}

// alone copies a notebook into a folder of its own: a lesson keeps its answers beside itself.
func alone(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(at, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

func read(t *testing.T, path string) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func compare(t *testing.T, ours, theirs *notebook.Notebook) {
	t.Helper()
	if len(ours.Cells) != len(theirs.Cells) {
		t.Fatalf("%d cells, nbclient has %d", len(ours.Cells), len(theirs.Cells))
	}
	for i := range ours.Cells {
		a, b := ours.Cells[i], theirs.Cells[i]
		if a.ExecutionCount != b.ExecutionCount {
			t.Errorf("cell %d: In [%d], nbclient has In [%d]", i+1, a.ExecutionCount, b.ExecutionCount)
		}
		mine, nbclients := text(t, a.Outputs), text(t, joined(b.Outputs))
		if mine != nbclients {
			t.Errorf("cell %d: outputs differ\nkafkalab run:\n%.2000s\nnbclient:\n%.2000s", i+1, mine, nbclients)
		}
	}
}

// joined joins neighbouring streams of one name, which nbclient leaves as they came.
func joined(outputs []notebook.Output) []notebook.Output {
	var all []notebook.Output
	for _, o := range outputs {
		if n := len(all); n > 0 && o.Type == notebook.Stream && all[n-1].Type == notebook.Stream && all[n-1].Name == o.Name {
			all[n-1].Text += o.Text
			continue
		}
		all = append(all, o)
	}
	return slices.Clip(all)
}

func text(t *testing.T, outputs []notebook.Output) string {
	t.Helper()
	for i := range outputs {
		if len(outputs[i].Metadata) == 0 {
			outputs[i].Metadata = nil
		}
	}
	b, err := json.MarshalIndent(outputs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
