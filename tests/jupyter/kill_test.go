package jupyter

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kafkalab/tests/testenv"
)

// A kernel that is killed outright under JupyterLab's server comes back, empty, and works.
func TestAKilledKernelComesBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no kill -9")
	}
	python := testenv.Jupyter(t, "python", "websocket", "jupyterlab")
	env := installed(t)
	env = append(env, "PATH="+filepath.Dir(python)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := startLab(t, env, time.Minute)
	out, err := command(t, env, python, "kill_restart.py", fmt.Sprintf("http://127.0.0.1:%d", s.port), token, "kafkalab").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.said.String())
	}
	for _, want := range []string{"before 42\n", "after the kill restarting\n", "x is CompileError\n", "a cell says 42\n", "left []\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	t.Logf("%s", out)
}
