package jupyter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kafkalab/install/papermill"
	"kafkalab/tests/testenv"
)

// papermillNotebook has a cell with defaults and one that shows what it got.
const papermillNotebook = "testdata/papermill.ipynb"

// papermillRun runs papermill, the program, and returns what the notebook's last cell printed, and what
// papermill said when it failed.
func papermillRun(t *testing.T, python string, env []string, args ...string) (shown, complaint string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.ipynb")
	args = append([]string{"-m", "papermill", papermillNotebook, out, "--no-progress-bar"}, args...)
	if said, err := command(t, env, python, args...).CombinedOutput(); err != nil {
		return "", string(said)
	}
	cells := read(t, out).Cells
	for _, o := range cells[len(cells)-1].Outputs {
		shown += o.Text
	}
	return shown, ""
}

// With the wheel that `kafkalab install` lays beside the kernel, papermill sets parameters as `kafkalab
// run -p` does: each keeps its type, and a name that the notebook does not declare is an error.
func TestPapermill(t *testing.T) {
	python := testenv.Jupyter(t, "python", "papermill", "pip")
	home := t.TempDir()
	env := testenv.Environ(home)
	said, err := command(t, env, binary, "install").CombinedOutput()
	if err != nil {
		t.Fatalf("kafkalab install: %v\n%s", err, said)
	}
	wheel := filepath.Join(home, ".local", "share", "jupyter", "kernels", "kafkalab", papermill.Name)
	if !strings.Contains(string(said), papermill.Name) {
		t.Errorf("install does not name the wheel:\n%s", said)
	}
	if shown, complaint := papermillRun(t, python, env); shown != `7 0.5 float64 "a // b" false 1s [1 2 3] map[a:1]` {
		t.Errorf("without parameters, and without the wheel, it shows %q\n%s", shown, complaint)
	}
	if _, complaint := papermillRun(t, python, env, "-p", "seed", "11"); !strings.Contains(complaint, "No parameter translator") {
		t.Errorf("papermill knows Go without the wheel? %s", complaint)
	}

	site := filepath.Join(home, "site")
	if out, err := command(t, env, python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", site, wheel).CombinedOutput(); err != nil {
		t.Fatalf("pip: %v\n%s", err, out)
	}
	env = append(env, "PYTHONPATH="+site)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-p", "seed", "-11", "-p", "rate", "2"}, `-11 2 float64 "a // b" false 1s [1 2 3] map[a:1]`},
		{[]string{"-p", "rate", "1e-3", "-p", "fast", "True", "-p", "name", "é \"q\" \\ 漢 \U0001F600"}, `7 0.001 float64 "é \"q\" \\ 漢 😀" true 1s [1 2 3] map[a:1]`},
		{[]string{"-y", "{brokers: [4, 5], weights: {x: 1, y: 2.5}, name: \"two\\nlines\\t.\"}"}, `7 0.5 float64 "two\nlines\t." false 1s [4 5] map[x:1 y:2.5]`},
		{[]string{"-y", "{brokers: []}", "-r", "name", "007"}, "cannot use"},
		{[]string{"-p", "sead", "1"}, "undefined: sead"},
	} {
		if shown, complaint := papermillRun(t, python, env, c.args...); shown != c.want && !strings.Contains(complaint, c.want) {
			t.Errorf("%q shows %q, want %q\n%s", c.args, shown, c.want, complaint)
		}
	}
	help, err := command(t, env, python, "-m", "papermill", "--help-notebook", papermillNotebook).CombinedOutput()
	for _, want := range []string{`seed: Unknown type (default 7)`, `of the cluster`, `name: Unknown type (default "a // b")`, `who sends`, `wait: time.Duration (default time.Second)`} {
		if err != nil || !strings.Contains(string(help), want) {
			t.Errorf("papermill --help-notebook does not say %q (%v):\n%s", want, err, help)
		}
	}
}

// script runs one of the scripts of this folder with the installed kernel, and returns what it printed.
func script(t *testing.T, python string, env []string, args ...string) string {
	t.Helper()
	out, err := command(t, env, python, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// jupyter console in a terminal of its own: cells, results, errors, completion, help, a question, an
// interrupt, the history, and the end.
func TestJupyterConsole(t *testing.T) {
	python := testenv.Jupyter(t, "python", "jupyter_console", "pexpect")
	if out := script(t, python, installed(t), "console.py", python); !strings.HasSuffix(out, "all of it works\n") {
		t.Errorf("it says %s", out)
	}
}

// nbconvert runs a notebook and writes what it showed, or its Go; a cell that fails stops it.
func TestNbconvertExecutes(t *testing.T) {
	python := testenv.Jupyter(t, "python", "nbconvert")
	env := installed(t)
	for format, want := range map[string]string{
		"html": "7 0.5 float64", "script": "seed := 7",
	} {
		dir := t.TempDir()
		script(t, python, env, "-m", "nbconvert", "--execute", "--to", format, "--output-dir", dir, papermillNotebook)
		found, _ := filepath.Glob(filepath.Join(dir, "papermill.*"))
		if len(found) != 1 {
			t.Errorf("%s: it writes %v", format, found)
			continue
		}
		text, err := os.ReadFile(found[0])
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q is not in\n%.3000s", found[0], want, text)
		}
		if format == "script" && filepath.Ext(found[0]) != ".go" {
			t.Errorf("the script is %s", found[0])
		}
	}
	failing := exec.Command(python, "-m", "nbconvert", "--execute", "--to", "notebook", "--output-dir", t.TempDir(), "testdata/fails.ipynb")
	failing.Env = env
	if out, err := failing.CombinedOutput(); err == nil {
		t.Errorf("a cell that fails does not stop nbconvert:\n%s", out)
	}
}

// VS Code without a Jupyter server: it reads the kernelspec itself, interrupts on shell, ends by a signal.
func TestVSCodesWay(t *testing.T) {
	python := testenv.Jupyter(t, "python", "zmq")
	home := t.TempDir()
	env := testenv.Environ(home)
	if out, err := command(t, env, binary, "install").CombinedOutput(); err != nil {
		t.Fatalf("kafkalab install: %v\n%s", err, out)
	}
	spec := filepath.Join(home, ".local", "share", "jupyter", "kernels", "kafkalab", "kernel.json")
	const want = `kernel_info ok go text/x-go .go
1 + 1 is 2
printed é
a wrong cell error
display ['application/vnd.kafkalab.chart+json', 'image/png', 'text/plain']
asked ada
stopped with KeyboardInterrupt error soon
interrupt [('shell', 'ok')]
kept is 7
SIGTERM ends it soon
it said b''
`
	if got := script(t, python, env, "vscode.py", spec, t.TempDir()); got != want {
		t.Errorf("VS Code would see\n%s\nwant\n%s", got, want)
	}
}
