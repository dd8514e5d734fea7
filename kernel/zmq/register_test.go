package zmq

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// launcher is who starts a kernel by the handshake: a ROUTER socket and the registration file that names it.
type launcher struct {
	net.Listener
	file    string
	runtime string
	signer  *wire.Signer
	served  chan error
}

func launch(t *testing.T, transport string, ack time.Duration) *launcher {
	t.Helper()
	dir, err := os.MkdirTemp("", "klab") // short enough for a Unix socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := &launcher{file: filepath.Join(dir, "a registration.json"), runtime: filepath.Join(dir, "runtime"), served: make(chan error, 1)}
	r := wire.Registration{KernelID: "1f/../2", Transport: transport, IP: "127.0.0.1", Port: 7, SignatureScheme: wire.SignatureScheme, Key: testKey}
	if transport == "ipc" {
		r.IP = filepath.Join(dir, "k")
		network, address := r.Address()
		l.Listener, err = net.Listen(network, address)
	} else if l.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
		r.Port = l.Addr().(*net.TCPAddr).Port
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if l.signer, err = wire.NewSigner("", testKey); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := kernel.New(&kerneltest.Echo{}, kernel.Options{Limits: kernel.Limits{Unpaced: true}})
	go func() { l.served <- Serve(ctx, l.file, k, Options{Ack: ack, Runtime: l.runtime}) }()
	t.Cleanup(cancel)
	return l
}

// announced takes the kernel's announcement and returns its connection and the identity.
func (l *launcher) announced(t *testing.T) (*link, wire.Connection, string) {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	peer := &link{conn, bufio.NewReader(conn)}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	kind, identity, err := shake(conn, peer.r, "ROUTER", "")
	if err != nil || kind != "DEALER" {
		t.Fatalf("the kernel is a %q: %v", kind, err)
	}
	frames, err := peer.recv()
	if err != nil {
		t.Fatal(err)
	}
	if !l.signer.Acknowledged(frames) { // the same shape, signed the same way
		t.Fatalf("the announcement is %q", frames)
	}
	var ports map[string]string
	if err := json.Unmarshal(frames[2], &ports); err != nil {
		t.Fatalf("%s: %v", frames[2], err)
	}
	if len(ports) != 6 || ports["kernel_id"] != identity {
		t.Errorf("the announcement of %s is %s", identity, frames[2])
	}
	c := wire.Connection{Transport: "tcp", IP: "127.0.0.1", Key: testKey}
	for _, ch := range wire.Sockets {
		var port int
		if err := json.Unmarshal([]byte(ports[string(ch)+"_port"]), &port); err != nil || port == 0 {
			t.Errorf("%s_port is %q", ch, ports[string(ch)+"_port"])
		}
		c.SetPort(ch, port)
	}
	return peer, c, identity
}

func (l *launcher) ack(t *testing.T, peer *link, key string) {
	t.Helper()
	signer, err := wire.NewSigner("", key)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := signer.Announce("ack", wire.Connection{}) // any signed content will do
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.send(frames...); err != nil {
		t.Fatal(err)
	}
}

func TestTheKernelChoosesItsPortsAndTellsThem(t *testing.T) {
	for _, transport := range []string{"tcp", "ipc"} {
		t.Run(transport, func(t *testing.T) {
			l := launch(t, transport, 10*time.Second)
			peer, c, identity := l.announced(t)
			if identity != "1f/../2" {
				t.Errorf("the kernel is called %q", identity)
			}
			if transport == "ipc" {
				c.Transport, c.IP = "ipc", strings.TrimSuffix(l.Addr().String(), "-7")
			}
			l.ack(t, peer, testKey)
			peer.closedSoon(t, 5*time.Second)
			works(t, &running{Server: &Server{info: c, signer: l.signer}})

			path := filepath.Join(l.runtime, "kernel-1f____2.json")
			written, err := wire.ReadConnection(path)
			if err != nil || written.Transport != c.Transport || written.IP != c.IP || written.ShellPort != c.ShellPort || written.Key != testKey {
				t.Errorf("the connection file holds %+v (%v)", written, err)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the connection file has mode %v", info.Mode())
			}
			r := &running{Server: &Server{info: c, signer: l.signer}}
			r.frontend(t, "last").Control("shutdown_request", map[string]any{"restart": false})
			if err := l.ended(t); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the connection file outlives the kernel")
			}
		})
	}
}

func (l *launcher) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-l.served:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("Serve does not come back")
		return nil
	}
}

func TestWithoutAnAcknowledgementTheKernelEnds(t *testing.T) {
	for name, answer := range map[string]func(*launcher, *link){
		"silence":         func(*launcher, *link) {},
		"a wrong key":     func(l *launcher, p *link) { l.ack(t, p, "another key") },
		"hanging up":      func(_ *launcher, p *link) { p.Close() },
		"a huge message":  func(_ *launcher, p *link) { p.Write([]byte{2, 0x40, 0, 0, 0, 0, 0, 0, 0}) },
		"unsigned frames": func(_ *launcher, p *link) { p.send(wire.Delimiter, nil, []byte("{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			l := launch(t, "tcp", 300*time.Millisecond)
			peer, c, _ := l.announced(t)
			answer(l, peer)
			if err := l.ended(t); err == nil || !strings.Contains(err.Error(), "acknowledgement") {
				t.Errorf("Serve says %v", err)
			}
			network, address := c.Address(wire.Shell)
			if conn, err := net.Dial(network, address); err == nil {
				conn.Close()
				t.Error("the shell port is still open")
			}
		})
	}
	l := launch(t, "tcp", 300*time.Millisecond) // somebody who never shakes hands
	if err := l.ended(t); err == nil || !strings.Contains(err.Error(), "registration socket") {
		t.Errorf("Serve says %v", err)
	}
}

// A real libzmq ROUTER, with signatures as jupyter_client makes them, and then a whole conversation.
const registrarScript = `
import hashlib, hmac, json, sys, zmq
from jupyter_client import BlockingKernelClient
file, key = sys.argv[1], sys.argv[2].encode()
context = zmq.Context()
router = context.socket(zmq.ROUTER)
port = router.bind_to_random_port("tcp://127.0.0.1")
json.dump({"kernel_id": "k-1", "transport": "tcp", "registration_ip": "127.0.0.1", "registration_port": port,
           "signature_scheme": "hmac-sha256", "key": key.decode()}, open(file, "w"))
print("ready", flush=True)
identity, delimiter, signature, content = router.recv_multipart()
sign = lambda b: hmac.new(key, b, hashlib.sha256).hexdigest().encode()
assert delimiter == b"<IDS|MSG>" and signature == sign(content), (delimiter, signature)
ports = json.loads(content)
assert identity == b"k-1" and ports.pop("kernel_id") == "k-1", identity
router.send_multipart([identity, b"<IDS|MSG>", sign(b'{"status": "ok"}'), b'{"status": "ok"}'])
kc = BlockingKernelClient()
kc.load_connection_info({"transport": "tcp", "ip": "127.0.0.1", "key": key, "signature_scheme": "hmac-sha256",
                         **{name: int(value) for name, value in ports.items()}})
kc.start_channels()
kc.wait_for_ready(timeout=20)
reply = kc.execute("result 1", reply=True, timeout=10)["content"]
print(reply["status"], reply["execution_count"], flush=True)
kc.shutdown(reply=True, timeout=10)
`

func TestLibzmqRegistrar(t *testing.T) {
	interpreter := python(t, "jupyter_client")
	file := filepath.Join(t.TempDir(), "registration.json")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, "-c", registrarScript, file, testKey)
	stderr := &lockedBuffer{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the registrar says %q\n%s", lines.Text(), stderr)
	}
	served := make(chan error, 1)
	k := kernel.New(&kerneltest.Echo{}, kernel.Options{})
	go func() { served <- Serve(ctx, file, k, Options{}) }()
	if !lines.Scan() || lines.Text() != "ok 1" {
		t.Errorf("the registrar saw %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
