package browser

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkalab/charts/assets"
	"kafkalab/install/jupyter"
	"kafkalab/install/notebook"
	"kafkalab/tests/testenv"
)

// server is a JupyterLab of one test: its own home, its own data folder, the network's inside only.
type server struct {
	URL   string // http://127.0.0.1:PORT/
	Token string
	Root  string // the folder that it shows
	Data  string // its Jupyter data folder: kernels/ and labextensions/ below it
	log   *tail
}

const token = "a-token-of-the-tests"

// startLab starts a JupyterLab and ends it with the test. Extensions and kernels go into Data before.
func startLab(t *testing.T, prepare func(s *server)) *server {
	t.Helper()
	return startServer(t, lab(t), prepare)
}

func startServer(t *testing.T, program string, prepare func(s *server)) *server {
	t.Helper()
	home := t.TempDir()
	s := &server{Token: token, Root: filepath.Join(home, "work"), Data: filepath.Join(home, "data"), log: &tail{}}
	for _, dir := range []string{s.Root, s.Data, filepath.Join(home, "runtime"), filepath.Join(home, "config")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	quiet := filepath.Join(home, "config", "lab", "user-settings", "@jupyterlab", "apputils-extension")
	if err := os.MkdirAll(quiet, 0o755); err != nil {
		t.Fatal(err)
	}
	const settings = `{"fetchNews": "false", "checkForUpdates": false}`
	if err := os.WriteFile(filepath.Join(quiet, "notification.jupyterlab-settings"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	prepare(s)
	port := freePort(t)
	s.URL = fmt.Sprintf("http://127.0.0.1:%d/", port)
	cmd := jupyter.Server{Root: s.Root, NoBrowser: true, Port: port, Args: []string{
		"--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=" + token,
		"--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
	}}.Command(jupyter.Lab{Program: program})
	cmd.Env = append(testenv.Environ(home), "JUPYTER_DATA_DIR="+s.Data, "JUPYTER_CONFIG_DIR="+filepath.Join(home, "config"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(home, "runtime"), "JUPYTER_PREFER_ENV_PATH=0")
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		time.AfterFunc(100*time.Millisecond, func() { cmd.Process.Signal(os.Interrupt) }) // the second one means yes
		select {
		case <-ended:
		case <-time.After(15 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("JupyterLab said:\n%s", s.log)
		}
	})
	s.waitUntilUp(t, ended)
	return s
}

func (s *server) waitUntilUp(t *testing.T, ended chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for {
		req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"api/status?token="+s.Token, nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ended:
			t.Fatalf("JupyterLab ended:\n%s", s.log)
		case <-ctx.Done():
			t.Fatalf("JupyterLab does not answer:\n%s", s.log)
		case <-time.After(200 * time.Millisecond):
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

// tail keeps the end of what a process said.
type tail struct {
	sync.Mutex
	bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	if t.Len() > 64<<10 {
		t.Next(t.Len() - 32<<10)
	}
	return t.Buffer.Write(p)
}

func (t *tail) String() string {
	t.Lock()
	defer t.Unlock()
	return strings.TrimSpace(t.Buffer.String())
}

// extension installs the JupyterLab extension for the server.
func (s *server) extension(t *testing.T) {
	t.Helper()
	if err := assets.WriteLabExtension(filepath.Join(s.Data, "labextensions")); err != nil {
		t.Fatal(err)
	}
}

// kernel installs kafkalab for the server as a person does: the kernel and the extension.
func (s *server) kernel(t *testing.T) {
	t.Helper()
	cmd := exec.Command(kafkalab(t), "install", "--user")
	cmd.Env = append(testenv.Environ(filepath.Dir(s.Data)), "JUPYTER_DATA_DIR="+s.Data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kafkalab install: %v\n%s", err, out)
	}
}

// put writes a notebook into the server's folder.
func (s *server) put(t *testing.T, name string, nb *notebook.Notebook) {
	t.Helper()
	if err := nb.Write(filepath.Join(s.Root, name)); err != nil {
		t.Fatal(err)
	}
}

// config is what a script needs to talk to the server.
func (s *server) config(more map[string]any) map[string]any {
	more["url"], more["token"] = s.URL, s.Token
	return more
}
