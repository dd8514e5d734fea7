package zmq

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// running is a kernel for Echo behind five TCP sockets.
type running struct {
	*Server
	k    *kernel.Kernel
	log  *lockedBuffer
	done chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const testKey = "6f1c-key"

func start(t testing.TB, change ...func(*wire.Connection, *Options)) *running {
	t.Helper()
	info := wire.Connection{Transport: "tcp", IP: "127.0.0.1", Key: testKey}
	r := &running{log: &lockedBuffer{}, done: make(chan error, 1)}
	opts := Options{Limits: DefaultLimits(), Log: log.New(r.log, "", 0)}
	for _, f := range change {
		f(&info, &opts)
	}
	s, err := Listen(info, opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	r.k = kernel.New(&kerneltest.Echo{}, kernel.Options{Limits: kernel.Limits{Unpaced: true}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.done <- s.Serve(ctx, r.k) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-r.done:
		case <-time.After(10 * time.Second):
			t.Error("Serve does not come back")
		}
	})
	return r
}

// link is one ZMTP connection, spoken byte by byte: tests misbehave with it.
type link struct {
	net.Conn
	r *bufio.Reader
}

func (r *running) dial(t testing.TB, ch wire.Channel) *link {
	t.Helper()
	network, address := r.Connection().Address(ch)
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return newLink(conn)
}

func newLink(conn net.Conn) *link { return &link{conn, bufio.NewReader(conn)} }

// connect dials and shakes hands.
func (r *running) connect(t testing.TB, ch wire.Channel, socketType, identity string) *link {
	t.Helper()
	l := r.dial(t, ch)
	if err := l.shake(socketType, identity); err != nil {
		t.Fatalf("handshake on %s: %v", ch, err)
	}
	return l
}

func (l *link) shake(socketType, identity string) error {
	_ = l.SetDeadline(time.Now().Add(5 * time.Second))
	defer l.SetDeadline(time.Time{})
	if _, err := l.Write(append(greeting(), ready(socketType, identity)...)); err != nil {
		return err
	}
	if err := readGreeting(l.r); err != nil {
		return err
	}
	_, err := readMessage(l.r, maxReady)
	return err
}

func (l *link) send(frames ...[]byte) error {
	_, err := l.Write(appendMessage(nil, frames))
	return err
}

// recv reads a message's frames.
func (l *link) recv() ([][]byte, error) {
	m, err := readMessage(l.r, 1<<30)
	if err != nil {
		return nil, err
	}
	return split(m.raw), nil
}

// closedSoon requires the server to close the connection before the deadline.
func (l *link) closedSoon(t testing.TB, within time.Duration) {
	t.Helper()
	_ = l.SetReadDeadline(time.Now().Add(within))
	if _, err := io.Copy(io.Discard, l.r); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection is still open after %v", within)
	}
}

// frontend is a well-behaved client on shell, control, stdin and iopub.
func (r *running) frontend(t testing.TB, identity string) *kerneltest.Client {
	t.Helper()
	links := map[wire.Channel]*link{}
	var sending sync.Mutex
	c := kerneltest.New(t, func(ch wire.Channel, m wire.Message) {
		m.Identities = nil
		frames, err := r.signer.Encode(&m)
		if err != nil {
			t.Error(err)
			return
		}
		sending.Lock()
		defer sending.Unlock()
		if err := links[ch].send(frames...); err != nil {
			t.Errorf("send on %s: %v", ch, err)
		}
	})
	for _, ch := range []wire.Channel{wire.Shell, wire.Control, wire.Stdin} {
		links[ch] = r.connect(t, ch, "DEALER", identity)
	}
	links[wire.IOPub] = r.connect(t, wire.IOPub, "SUB", "")
	if err := links[wire.IOPub].send([]byte{1}); err != nil {
		t.Fatal(err)
	}
	for ch, l := range links {
		go func() {
			for {
				frames, err := l.recv()
				if err != nil {
					return
				}
				m, err := r.signer.Decode(frames)
				if err != nil {
					t.Errorf("from the kernel on %s: %v", ch, err)
					return
				}
				c.Receive(ch, m)
			}
		}()
	}
	c.UntilStray("iopub_welcome")
	return c
}
