// Package browser drives a real Chromium: the exported page from disk, and JupyterLab with the extension
// and the kernel installed.
//
// It needs node with npm, a Chromium ($KAFKALAB_CHROMIUM or on the PATH) and, for the second half, a
// JupyterLab 4.2 or later ($KAFKALAB_TEST_JUPYTER, or on the PATH). What is missing is named and its tests are skipped; under CI=true they fail.
// Screenshots go to tests/out/browser.
package browser

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"kafkalab/tests/testenv"
)

// need ends the test when a tool is missing: skipped at home, failed in CI, where it was to be installed.
func need(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI=true", what)
	}
	t.Skip(what)
}

func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("KAFKALAB_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if mac := "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; runtime.GOOS == "darwin" {
		if _, err := os.Stat(mac); err == nil {
			return mac
		}
	}
	need(t, "no Chromium on the PATH (or set KAFKALAB_CHROMIUM)")
	return ""
}

var modules = sync.OnceValues(func() (string, error) {
	missing := false
	for _, name := range []string{"playwright-core", "axe-core", "html-validate"} {
		_, err := os.Stat("node_modules/" + name + "/package.json")
		missing = missing || err != nil
	}
	if !missing {
		return "", nil
	}
	out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput()
	return string(out), err
})

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		need(t, "no node on the PATH")
	}
	if out, err := modules(); err != nil {
		need(t, "npm ci in tests/browser failed: "+err.Error()+"\n"+out)
	}
	return path
}

// lab is the JupyterLab that the tests run with.
func lab(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short")
	}
	return testenv.Jupyter(t, "jupyter-lab", "jupyterlab", "ipykernel")
}

var built struct {
	sync.Once
	binary string
	remove func()
	err    error
}

// kafkalab is the binary, built once for all tests that want it.
func kafkalab(t *testing.T) string {
	t.Helper()
	built.Do(func() { built.binary, built.remove, built.err = testenv.Build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.binary
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.remove != nil {
		built.remove()
	}
	os.Exit(code)
}

// script runs scripts/NAME.mjs with a configuration; what it prints and why it failed is the test's log.
func script(t *testing.T, name string, config map[string]any) {
	t.Helper()
	program := node(t)
	out, err := filepath.Abs("../out/browser")
	if err != nil {
		t.Fatal(err)
	}
	config["chromium"], config["out"], config["script"] = chromium(t), out, name
	old, _ := filepath.Glob(filepath.Join(out, "failed-"+name+"-*.png"))
	for _, path := range old {
		os.Remove(path)
	}
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{name, "lib", "lab"} { // read here too, so that go test's cache sees a change
		if _, err := os.ReadFile(filepath.Join("scripts", file+".mjs")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, filepath.Join("scripts", name+".mjs"))
	given := filepath.Join(t.TempDir(), "config.json") // an environment variable has no room for pictures
	if err := os.WriteFile(given, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "CONFIG="+given)
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.CombinedOutput()
	if len(output) > 0 {
		t.Logf("%s.mjs:\n%s", name, output)
	}
	if err != nil {
		t.Fatalf("%s.mjs: %v", name, err)
	}
}
