package jupyter

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kafkalab/tests/testenv"
)

// server is a running `kafkalab lab`.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	port  int
	said  syncBuffer
	ended chan error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

const token = "only-for-this-test"

// startLab runs `kafkalab lab` as a person would and waits until the server answers.
func startLab(t *testing.T, env []string, patience time.Duration, args ...string) *server {
	t.Helper()
	s := &server{t: t, port: freePort(t), ended: make(chan error, 1)}
	args = append([]string{"lab", "--no-browser", "--port", fmt.Sprint(s.port)}, args...)
	s.cmd = exec.Command(binary, append(args, "--", "--IdentityProvider.token="+token)...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = env, &s.said, &s.said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(s.stop)
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		select {
		case err := <-s.ended:
			s.ended <- err
			t.Fatalf("kafkalab lab ended: %v\n%s", err, s.said.String())
		default:
		}
		if r, err := http.Get(s.url("/api/status")); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer after %v\n%s", patience, s.said.String())
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *server) url(path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s?token=%s", s.port, path, token)
}

func (s *server) get(path string) string {
	s.t.Helper()
	r, err := http.Get(s.url(path))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s (%v)", path, r.Status, err)
	}
	return string(body)
}

// stop ends the server by the signal that a service manager sends.
func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(30 * time.Second):
		s.cmd.Process.Kill()
		s.t.Errorf("kafkalab lab does not end on SIGTERM:\n%s", s.said.String())
	}
}

// showsTheCourse checks what a learner who opens the page has: the lessons, the kernel, the extension.
func (s *server) showsTheCourse() {
	s.t.Helper()
	for path, want := range map[string]string{
		"/api/kernelspecs":                   "Go (Kafka Lab)",
		"/api/contents":                      "README.md",
		"/kernelspecs/kafkalab/logo-svg.svg": "<svg",
		"/lab":                               "kafkalab-charts",
	} {
		if body := s.get(path); !strings.Contains(body, want) {
			s.t.Errorf("%s does not show %q:\n%.2000s", path, want, body)
		}
	}
}

func TestLabOpensTheCourseInTheJupyterOnThePath(t *testing.T) {
	lab := testenv.Jupyter(t, "jupyter-lab")
	home := t.TempDir()
	env := append(testenv.Environ(home), "PATH="+filepath.Dir(lab)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := startLab(t, env, time.Minute)
	s.showsTheCourse()
	if !strings.Contains(s.said.String(), filepath.Join(home, "kafkalab")) {
		t.Errorf("it does not say where the course lies:\n%s", s.said.String())
	}
	s.stop()

	// What the learner wrote stands there the next time.
	mine := filepath.Join(home, "kafkalab", "README.md")
	if err := os.WriteFile(mine, []byte("my notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	startLab(t, env, time.Minute)
	if text, _ := os.ReadFile(mine); string(text) != "my notes" {
		t.Errorf("the learner's file now holds %q", text)
	}
}

// A machine with Python and no Jupyter: the private environment is made from the pinned list. It takes the
// network and half a minute, so it runs in CI and when asked for.
func TestLabMakesItsOwnJupyter(t *testing.T) {
	if os.Getenv("CI") != "true" && os.Getenv("KAFKALAB_TEST_NETWORK") == "" {
		t.Skip("set KAFKALAB_TEST_NETWORK=1 to let it install JupyterLab from the network")
	}
	home := filepath.Join(t.TempDir(), "a new home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	s := startLab(t, testenv.Environ(home), 8*time.Minute, "--private", "--dir", filepath.Join(home, "course"))
	s.showsTheCourse()
	if !strings.Contains(s.said.String(), "Making a private JupyterLab") {
		t.Errorf("it says nothing about the environment:\n%s", s.said.String())
	}
	s.stop()
	if s := startLab(t, testenv.Environ(home), time.Minute, "--private", "--dir", filepath.Join(home, "course")); strings.Contains(s.said.String(), "Making a private") {
		t.Error("the environment was made a second time")
	}
}
