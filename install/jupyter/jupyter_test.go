package jupyter

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string]Version{
		"4.6.3\n": {4, 6, 3}, "4.2": {4, 2, 0}, "4.10.0rc1": {4, 10, 0}, "jupyterlab 3.6.8": {3, 6, 8},
	} {
		if got, ok := ParseVersion(text); !ok || got != want {
			t.Errorf("ParseVersion(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	if _, ok := ParseVersion("none here"); ok {
		t.Error("a version was found where there is none")
	}
	if v := (Version{4, 10, 0}); v.Less(MinLab) || !(Version{4, 1, 9}).Less(MinLab) || MinLab.Less(MinLab) {
		t.Error("versions are ordered wrongly")
	}
}

// program writes a shell script that prints what a JupyterLab of that version would.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstLabThatIsNewEnoughIsTaken(t *testing.T) {
	old, broken, good, later := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "with space"), t.TempDir()
	os.Mkdir(good, 0o755)
	program(t, old, "jupyter-lab", "echo 3.6.8")
	program(t, broken, "jupyter-lab", "exit 1")
	program(t, good, "jupyter-lab", "echo 4.2.0")
	program(t, later, "jupyter-lab", "echo 4.6.6")
	t.Setenv("PATH", strings.Join([]string{old, broken, good, later}, string(filepath.ListSeparator)))
	s := OnPath(context.Background())
	if s.Found == nil || s.Found.Program != filepath.Join(good, "jupyter-lab") || s.Found.Prefix() != filepath.Dir(good) {
		t.Errorf("found %+v", s.Found)
	}
	if len(s.Old) != 1 || s.Old[0].Version != (Version{3, 6, 8}) {
		t.Errorf("old %+v", s.Old)
	}
}

func TestMissingPythonSaysHowToGetIt(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("PATH", empty)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		t.Skip("this machine has a Python where every system keeps it")
	}
	_, err := Make(context.Background(), func(float64, string) {})
	if err == nil || !strings.Contains(err.Error(), "no Python") {
		t.Errorf("error %v", err)
	}
}

func TestPythonsThatWillNotDo(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "old", "echo 3.6.1")
	program(t, dir, "bare", "echo 3.11.2; echo ensurepip")
	program(t, dir, "broken", "exit 3")
	for name, want := range map[string]string{"old": "too old", "bare": "lacks the module ensurepip", "broken": "does not run"} {
		_, err := examine(context.Background(), []string{filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestFailuresSayHowToMendThem(t *testing.T) {
	for output, want := range map[string]string{
		"Failed to establish a new connection: [Errno -3] Temporary failure in name resolution": "check the network",
		"ERROR: Could not find a version\nERROR: No matching distribution found for anyio":      "check the network",
		"SSL: CERTIFICATE_VERIFY_FAILED":                                    "PIP_CERT",
		"THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE": "not the file that was pinned",
		"OSError: [Errno 28] No space left on device":                       "disk is full",
		"something nobody has seen":                                         "pip install jupyterlab",
	} {
		err := failed(context.Background(), "installing", output, errors.New("exit status 1"))
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %q, want %q in it", output, err, want)
		}
	}
}

func TestPipsLinesBecomeProgress(t *testing.T) {
	var said []string
	last := 0.0
	follow(strings.NewReader("Looking in links: /x\nCollecting anyio==4.16.0 (from -r x)\n  Downloading anyio.whl\n"+
		"Collecting zipp==1\nInstalling collected packages: "+strings.Repeat("x, ", 1000)+"\n"),
		func(done float64, what string) {
			if done < last || done > 1 {
				t.Errorf("progress went from %v to %v", last, done)
			}
			last = done
			said = append(said, what)
		})
	if want := []string{"fetching anyio", "fetching zipp", "unpacking"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// Every pinned package carries at least one hash: pip refuses the whole list otherwise.
func TestEveryRequirementIsHashed(t *testing.T) {
	if n := packageCount(); n < 80 {
		t.Fatalf("only %d packages are pinned", n)
	}
	lines := strings.Split(requirements, "\n")
	for i, line := range lines {
		if pinned.MatchString(line) && (i+1 >= len(lines) || !strings.Contains(lines[i+1], "--hash=sha256:")) {
			t.Errorf("line %d has no hash: %s", i+1, line)
		}
		if strings.Contains(line, "://") {
			t.Errorf("line %d names a host: %s", i+1, line)
		}
	}
	if !strings.Contains(requirements, "jupyterlab==4.6.") {
		t.Error("JupyterLab 4.6 is not in the list")
	}
}

func TestATakenPortIsOneSentence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := CheckPort(port); err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("taken port: %v", err)
	}
	l.Close()
	if err := CheckPort(port); err != nil {
		t.Errorf("free port: %v", err)
	}
}

func TestTheServersCommandLine(t *testing.T) {
	s := Server{Root: t.TempDir(), Open: "06 a lesson.ipynb", NoBrowser: true, Port: 8899, Args: []string{"--debug"}}
	cmd := s.Command(Lab{Program: "/venv/bin/jupyter-lab"})
	line := strings.Join(cmd.Args, " ")
	for _, want := range []string{"--ServerApp.root_dir=" + s.Root, "default_url=/lab/tree/06%20a%20lesson.ipynb", "--no-browser", "--port 8899", "--debug"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %s", want, line)
		}
	}
}
