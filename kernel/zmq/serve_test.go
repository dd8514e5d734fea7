package zmq

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

func TestACellOverTCP(t *testing.T) {
	r := start(t)
	c := r.frontend(t, "alice")
	c.Answer = func(prompt string, _ bool) string { return "to " + prompt }
	ex := c.Execute("print hello\nask name?\ndisplay d chart\nresult 42")
	if ex.Status() != "ok" || ex.Text("stdout") != "hello\nto name?\n" || ex.Result() != "42" {
		t.Errorf("got\n%s", ex.Transcript())
	}
	if got := c.Request("connect_request", map[string]any{}).Reply("shell_port"); got != float64(r.Connection().ShellPort) {
		t.Errorf("connect_reply has shell_port %v", got)
	}
}

func TestTwoFrontendsSeeEachOthersOutput(t *testing.T) {
	r := start(t)
	alice, bob := r.frontend(t, "alice"), r.frontend(t, "bob")
	ex := alice.Execute("print from alice")
	seen := bob.UntilStray("stream")
	if seen.ParentHeader().MsgID != ex.Request.Header.MsgID {
		t.Errorf("bob sees %s", seen.Content)
	}
	for _, m := range bob.All() {
		if m.Header.MsgType == "execute_reply" {
			t.Error("bob got alice's reply")
		}
	}
}

func TestIPC(t *testing.T) {
	dir, err := os.MkdirTemp("", "klab") // t.TempDir is too long for a socket's path on some systems
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "k")
	stale, err := net.Listen("unix", path+"-1")
	if err != nil {
		t.Skipf("no Unix sockets here: %v", err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close() // a dead kernel's socket file is in the way
	r := start(t, func(c *wire.Connection, _ *Options) {
		*c = wire.Connection{Transport: "ipc", IP: path, Key: testKey, ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5}
	})
	works(t, r)
	if _, err := Listen(r.Connection(), Options{}); err == nil {
		t.Error("a second kernel took a live kernel's sockets")
	}
	works(t, r)
}

// The whole entry: a connection file, SIGINT as interrupt, shutdown by message.
func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself an interrupt on Windows")
	}
	free := start(t).Connection() // ports that were free a moment ago, one more each
	for _, ch := range wire.Sockets {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free.SetPort(ch, l.Addr().(*net.TCPAddr).Port)
		defer l.Close()
		l.Close()
	}
	raw, err := json.Marshal(free)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kernel.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	k := kernel.New(&kerneltest.Echo{}, kernel.Options{})
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), path, k, Options{}) }()
	signer, err := wire.NewSigner("", testKey)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Server: &Server{info: free, signer: signer}}
	waitDial(t, free)
	c := r.frontend(t, "alice")
	cell := c.AskExecute("print running\nloop")
	for cell.Text("stdout") == "" {
		time.Sleep(time.Millisecond)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := cell.Wait().Reply("ename"); got != "KeyboardInterrupt" {
		t.Errorf("SIGINT ended the cell with %v", got)
	}
	c.Control("shutdown_request", map[string]any{"restart": false})
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Serve does not come back")
	}
}

func waitDial(t *testing.T, info wire.Connection) {
	t.Helper()
	for _, ch := range wire.Sockets {
		network, address := info.Address(ch)
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			conn, err := net.Dial(network, address)
			if err == nil {
				conn.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
}

func TestServeSaysWhatIsWrong(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	info := wire.Connection{Transport: "tcp", IP: "127.0.0.1", ControlPort: busy.Addr().(*net.TCPAddr).Port}
	if _, err := Listen(info, Options{}); err == nil || !strings.Contains(err.Error(), "control socket") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a taken port: %v", err)
	}
	k := kernel.New(&kerneltest.Echo{}, kernel.Options{})
	if err := Serve(context.Background(), "/no/such/file.json", k, Options{}); err == nil || !strings.Contains(err.Error(), "/no/such/file.json") {
		t.Errorf("no file: %v", err)
	}
}
