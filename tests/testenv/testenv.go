// Package testenv gives the tests that drive the real thing what they need: the binary, a Jupyter, and a
// person with a home folder of their own.
package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Build builds kafkalab into a new folder whose name holds a space, and returns its path and how to remove
// it. A TestMain calls it once.
func Build() (binary string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "kafkalab test ")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	binary = filepath.Join(dir, executable("kafkalab"))
	if out, err := exec.Command("go", "build", "-o", binary, "kafkalab/install/kafkalab").CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, remove, nil
}

// Main is a TestMain around Build.
func Main(m *testing.M, binary *string) int {
	path, remove, err := Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	*binary = path
	return m.Run()
}

// Environ is the environment of a person whose home is the folder: nothing of the developer's own Jupyter
// settings and environments is in it.
func Environ(home string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "JUPYTER") || strings.HasPrefix(name, "XDG_") || name == "VIRTUAL_ENV" || name == "CONDA_PREFIX" {
			continue
		}
		switch name {
		case "HOME", "APPDATA", "LOCALAPPDATA", "PYTHONPATH", "PYTHONHOME":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "HOME="+home, "APPDATA="+home, "LOCALAPPDATA="+home)
}

// Jupyter returns a program of the Jupyter environment (python, jupyter, jupyter-lab) that can import the
// modules: the environment that KAFKALAB_TEST_JUPYTER names by its folder of programs, or the one on the
// PATH. Without one the test is skipped, but fails in CI, whose script makes one.
func Jupyter(t testing.TB, program string, modules ...string) string {
	t.Helper()
	bin, err := jupyterBin()
	path := ""
	if err == nil {
		path, err = jupyter(bin, program, modules)
	}
	return orMissing(t, path, err, "set KAFKALAB_TEST_JUPYTER to the folder of programs (bin) of an environment made from .ci/requirements.txt")
}

// JupyterLab42 returns the jupyter-lab of the oldest JupyterLab that the extension is for, in the environment that
// KAFKALAB_TEST_JUPYTER_4_2 names by its folder of programs.
func JupyterLab42(t testing.TB) string {
	t.Helper()
	bin, path, err := os.Getenv("KAFKALAB_TEST_JUPYTER_4_2"), "", errors.New("KAFKALAB_TEST_JUPYTER_4_2 is not set")
	if bin != "" {
		path, err = jupyter(bin, "jupyter-lab", []string{"jupyterlab", "ipykernel"})
	}
	return orMissing(t, path, err, "set it to the folder of programs (bin) of an environment with jupyterlab==4.2.7 and ipykernel")
}

// orMissing is the path of a program that was found; without it the test is skipped, or fails in CI.
func orMissing(t testing.TB, path string, err error, how string) string {
	t.Helper()
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("%v; .ci/run makes such an environment", err)
	default:
		t.Skipf("%v; %s", err, how)
	}
	return ""
}

// jupyterBin is the folder of programs of the Jupyter that the tests run with.
func jupyterBin() (string, error) {
	if bin := os.Getenv("KAFKALAB_TEST_JUPYTER"); bin != "" {
		return bin, nil
	}
	lab, err := exec.LookPath(executable("jupyter-lab"))
	if err != nil {
		return "", errors.New("no Jupyter was found: KAFKALAB_TEST_JUPYTER is not set and jupyter-lab is not on the PATH")
	}
	return filepath.Dir(lab), nil
}

func jupyter(bin, program string, modules []string) (string, error) {
	path := filepath.Join(bin, executable(program))
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	python := filepath.Join(bin, executable("python"))
	if out, err := exec.Command(python, "-c", "import "+strings.Join(append(modules, "sys"), ", ")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the Jupyter in %s lacks a module: %s", bin, lastLine(string(out)))
	}
	return path, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
