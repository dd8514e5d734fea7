package zmq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// Each test here is one way in which a peer breaks a bare zmq4 socket, and shows that behind the guard
// everybody else goes on.

func limits(f func(*Limits)) func(*wire.Connection, *Options) {
	return func(_ *wire.Connection, o *Options) { f(&o.Limits) }
}

// works runs a cell from a new connection.
func works(t *testing.T, r *running) {
	t.Helper()
	c := r.frontend(t, fmt.Sprintf("w%d", workers.Add(1)))
	if got := c.Execute("print works").Text("stdout"); got != "works\n" {
		t.Errorf("another frontend sees %q", got)
	}
}

var workers atomic.Int64

func TestSilentPeersBlockNobody(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.Handshake = time.Second }))
	var silent []*link
	for _, ch := range wire.Sockets {
		mute := r.dial(t, ch)
		held := r.dial(t, ch)
		if _, err := held.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n")); err != nil {
			t.Fatal(err)
		}
		half := r.dial(t, ch) // a libzmq that stops after its signature
		if _, err := half.Write(greeting()[:10]); err != nil {
			t.Fatal(err)
		}
		silent = append(silent, mute, held, half)
	}
	works(t, r)
	for ch, l := range r.listeners {
		l.mu.Lock()
		if n := len(l.shaking); n < 2 { // HTTP is known by its first byte
			t.Errorf("%s: %d silent peers are left; the good one should have come in beside both", ch, n)
		}
		l.mu.Unlock()
	}
	for _, l := range silent {
		l.closedSoon(t, 2*time.Second)
	}
	if n := r.Counts().Handshakes.Load(); n != 15 {
		t.Errorf("%d handshakes counted as failed, want 15", n)
	}
}

// More silent peers than may shake hands at once: the oldest make room at once, not after a deadline.
func TestTooManyHandshakesPushOutTheOldest(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.Shaking, l.Handshake = 8, time.Minute }))
	var silent []*link
	for range 20 {
		silent = append(silent, r.dial(t, wire.Shell))
	}
	works(t, r)
	for _, l := range silent[:12] {
		l.closedSoon(t, 2*time.Second)
	}
}

func TestWrongHandshakes(t *testing.T) {
	r := start(t)
	change := func(at int, to ...byte) []byte {
		g := greeting()
		copy(g[at:], to)
		return g
	}
	for name, bytes := range map[string][]byte{
		"HTTP":                     []byte("POST / HTTP/1.1\r\n\r\n"),
		"ZMTP 2":                   change(10, 2),
		"CURVE":                    change(12, []byte("CURVE")...),
		"a message before READY":   appendFrame(greeting(), 0, []byte("hello")),
		"a PUB on shell":           append(greeting(), ready("PUB", "")...),
		"an endless READY":         append(greeting(), flagCommand|flagLong, 0, 0, 0, 0, 1, 0, 0, 0),
		"READY, metadata cut":      appendFrame(greeting(), flagCommand, []byte("\x05READY\x0bSocket-Type\xff\xff\xff\xffDEALER")),
		"READY, name cut":          appendFrame(greeting(), flagCommand, []byte("\x05READY\xffSocket")),
		"an identity of 256 bytes": append(greeting(), ready("DEALER", strings.Repeat("x", 256))...),
		"unknown flags":            append(greeting(), 0x80, 0),
		"empty command":            appendFrame(greeting(), flagCommand, nil),
	} {
		l := r.dial(t, wire.Shell)
		if _, err := l.Write(bytes); err != nil {
			t.Fatal(err)
		}
		_ = l.SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := io.Copy(io.Discard, l.r); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection is still open", name)
		}
	}
	if n := r.Counts().Handshakes.Load(); n != 11 {
		t.Errorf("%d failed handshakes counted, want 11", n)
	}
	works(t, r)
}

// A header may claim any size: memory follows what arrives.
func TestClaimedSizesCostNothing(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.InBytes = 32 << 20 }))
	claim := func(size uint64) []byte {
		return binary.BigEndian.AppendUint64([]byte{flagLong}, size)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, ch := range wire.Sockets {
		socketType := map[wire.Channel]string{wire.IOPub: "SUB", wire.Heartbeat: "REQ"}[ch]
		if socketType == "" {
			socketType = "DEALER"
		}
		for _, size := range []uint64{1<<64 - 1, 1 << 63, 1 << 62, 1 << 47, 8 << 30, 33 << 20} {
			l := r.connect(t, ch, socketType, "")
			if _, err := l.Write(claim(size)); err != nil {
				t.Fatal(err)
			}
			l.closedSoon(t, 2*time.Second)
		}
	}
	// Below the cap, but never sent.
	for range 20 {
		l := r.connect(t, wire.Shell, "DEALER", "")
		if _, err := l.Write(claim(31 << 20)); err != nil {
			t.Fatal(err)
		}
	}
	works(t, r)
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if n := r.Counts().Illegal.Load(); n != 30 {
		t.Errorf("%d connections dropped, want 30", n)
	}
}

func TestManyFramesAndStrangeCommands(t *testing.T) {
	r := start(t)
	flood := r.connect(t, wire.Shell, "DEALER", "")
	if _, err := flood.Write(bytes.Repeat([]byte{flagMore, 0}, maxFrames+1)); err != nil {
		t.Fatal(err)
	}
	flood.closedSoon(t, 2*time.Second)
	multi := r.connect(t, wire.Shell, "DEALER", "")
	if _, err := multi.Write([]byte{flagCommand | flagMore, 0}); err != nil {
		t.Fatal(err)
	}
	multi.closedSoon(t, 2*time.Second)
	topics := r.connect(t, wire.IOPub, "SUB", "")
	for i := range DefaultLimits().Topics + 1 {
		if topics.send([]byte(fmt.Sprintf("\x01topic %d", i))) != nil {
			break // cut off already
		}
	}
	topics.closedSoon(t, 2*time.Second)
	works(t, r)
}

// One subscriber that does not read, and one client that does not read its replies: each is cut off
// when its queue is full, and nobody else waits for it. The queues have room for several cells' output, so that on a
// busy machine the frontend that reads is not taken for a slow one.
func TestSlowPeersStallNobody(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.OutBytes = 4 << 20 }))
	slowSub := r.connect(t, wire.IOPub, "SUB", "")
	if err := slowSub.send([]byte{1}); err != nil {
		t.Fatal(err)
	}
	slowDealer := r.connect(t, wire.Shell, "DEALER", "slow")
	// It never reads; Linux buffers a few MB between the two ends.
	go func() {
		request := wire.Message{Content: []byte(`{"code":"","cursor_pos":0}`)}
		session := wire.NewSession("slow")
		for range 20000 {
			request.Header = session.Header("complete_request")
			frames, err := r.signer.Encode(&request)
			if err != nil || slowDealer.send(frames...) != nil {
				return
			}
		}
	}()
	c := r.frontend(t, "fast")
	c.Answer = nil
	long := strings.Repeat("0123456789", 100)
	for i := 0; r.Counts().Slow.Load() < 2; i++ {
		ex := c.Execute("flood 500 " + long)
		if n := len(ex.Text("stdout")); n != 500*1001 {
			t.Fatalf("the fast frontend got %d bytes", n)
		}
		if i > 200 {
			t.Fatalf("only %d slow peers were cut off", r.Counts().Slow.Load())
		}
	}
	slowSub.closedSoon(t, 5*time.Second)
	works(t, r)
}

func TestDescriptorsAreClosedAtOnce(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc/self/fd to count descriptors")
	}
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	r := start(t)
	works(t, r)
	before := count()
	for range 100 {
		l := r.dial(t, wire.Shell)
		if _, err := l.Write([]byte("garbage that is no greeting")); err != nil {
			t.Fatal(err)
		}
		l.closedSoon(t, 2*time.Second)
		l.Close()
	}
	// A collection would close what was forgotten, and hide it; so there must be none to wait for.
	deadline := time.Now().Add(2 * time.Second)
	for count() > before && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Accept failing (out of descriptors) must not spin.
func TestAcceptErrorsDoNotSpin(t *testing.T) {
	raw := &failing{quit: make(chan struct{})}
	l := newListener(raw, "ROUTER", DefaultLimits(), &Counts{})
	go l.run()
	time.Sleep(300 * time.Millisecond)
	l.Close()
	if n := raw.calls.Load(); n < 3 || n > 20 {
		t.Errorf("%d calls of Accept in 300 ms, want a handful", n)
	}
}

type failing struct {
	calls atomic.Int64
	quit  chan struct{}
}

func (f *failing) Accept() (net.Conn, error) {
	f.calls.Add(1)
	return nil, errors.New("too many open files")
}
func (f *failing) Close() error   { return nil }
func (f *failing) Addr() net.Addr { return &net.TCPAddr{} }

func TestPeersOverTheLimitAreRefused(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.Peers = 4 }))
	for i := range 4 {
		r.connect(t, wire.Shell, "DEALER", fmt.Sprint(i))
	}
	fifth := r.dial(t, wire.Shell)
	_ = fifth.shake("DEALER", "5") // our side may finish before it is turned away
	fifth.closedSoon(t, 15*time.Second)
	if n := r.Counts().Refused.Load(); n != 1 {
		t.Errorf("%d refused, want 1", n)
	}
}

// A frontend that comes back replaces its old connection.
func TestTheNewestConnectionOfAnIdentityCounts(t *testing.T) {
	r := start(t)
	old := r.connect(t, wire.Shell, "DEALER", "alice")
	for len(r.listeners[wire.Shell].all()) == 0 { // its handshake ends on our side a moment later
		time.Sleep(time.Millisecond)
	}
	c := r.frontend(t, "alice")
	old.closedSoon(t, 2*time.Second)
	if got := c.Execute("result 1").Result(); got != "1" {
		t.Errorf("result %q", got)
	}
}

func TestWrongSignaturesAndReplaysAreDropped(t *testing.T) {
	r := start(t)
	l := r.connect(t, wire.Shell, "DEALER", "eve")
	m := wire.Message{Header: wire.NewSession("eve").Header("execute_request"), Content: []byte(`{"code":"print x"}`)}
	other, err := wire.NewSigner("", "another key")
	if err != nil {
		t.Fatal(err)
	}
	forged, _ := other.Encode(&m)
	good, _ := r.signer.Encode(&m)
	m.Content = []byte(`{"code":"print y"}`) // jupyter_client does use an id twice
	again, _ := r.signer.Encode(&m)
	for _, frames := range [][][]byte{forged, forged, {[]byte("junk")}, good, good, again} {
		if err := l.send(frames...); err != nil {
			t.Fatal(err)
		}
	}
	works(t, r) // everything before has been looked at: one reader serves the socket
	for name, tc := range map[string]struct {
		got  int64
		want int64
	}{
		"wrong signatures": {r.Counts().BadSignature.Load(), 2},
		"bad messages":     {r.Counts().BadMessage.Load(), 1},
		"replays":          {r.Counts().Replayed.Load(), 1},
	} {
		if tc.got != tc.want {
			t.Errorf("%d %s, want %d", tc.got, name, tc.want)
		}
	}
	if n := strings.Count(r.log.String(), "wrong signature"); n != 1 {
		t.Errorf("the log names wrong signatures %d times:\n%s", n, r.log)
	}
	for range 2 {
		reply, err := l.recv()
		if err != nil {
			t.Fatal(err)
		}
		if m, err := r.signer.Decode(reply); err != nil || m.Header.MsgType != "execute_reply" {
			t.Errorf("a good message was answered by %v, %v", m.Header.MsgType, err)
		}
	}
	_ = l.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if extra, err := l.recv(); err == nil {
		t.Errorf("a third answer came: %q", extra)
	}
}

// ZMTP heartbeats are answered by the guard; zmq4 would hand PING to the kernel as a message.
func TestPingIsAnsweredAndNotAMessage(t *testing.T) {
	r := start(t)
	for _, ch := range []wire.Channel{wire.Shell, wire.IOPub} {
		l := r.connect(t, ch, map[wire.Channel]string{wire.Shell: "DEALER", wire.IOPub: "SUB"}[ch], "")
		if _, err := l.Write(appendFrame(nil, flagCommand, []byte("\x04PING\x00\x0acontext"))); err != nil {
			t.Fatal(err)
		}
		_ = l.SetReadDeadline(time.Now().Add(2 * time.Second))
		m, err := readMessage(l.r, 1<<10)
		if err != nil || !m.command || string(m.first()) != "\x04PONGcontext" {
			t.Errorf("%s: %q, %v", ch, m.raw, err)
		}
	}
	works(t, r)
	if n := r.Counts().BadMessage.Load(); n != 0 {
		t.Errorf("%d commands were taken for messages", n)
	}
}

func TestHeartbeat(t *testing.T) {
	r := start(t)
	c := r.frontend(t, "busy")
	c.AskExecute("loop") // the heart beats while a cell runs
	for i := range 30 {
		l := r.connect(t, wire.Heartbeat, "REQ", "")
		if i%3 == 2 {
			_ = l.send([]byte("no delimiter")) // must not stop the heart
			continue
		}
		if err := l.send(nil, []byte("ping"), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		_ = l.SetReadDeadline(time.Now().Add(2 * time.Second))
		echo, err := l.recv()
		if err != nil || len(echo) != 3 || string(echo[1]) != "ping" || string(echo[2]) != fmt.Sprint(i) {
			t.Fatalf("beat %d: %q %v", i, echo, err)
		}
	}
	c.Control("interrupt_request", map[string]any{})
}

func TestWelcomeIsFirstAndForItsSubscriberOnly(t *testing.T) {
	r := start(t)
	c := r.frontend(t, "one")
	c.AskExecute("flood 100000 x") // so that there is something to come before it
	l := r.connect(t, wire.IOPub, "SUB", "")
	for _, topic := range []string{"\x00nothing", "\x01kernel", "\x01\xff\xfe"} {
		if err := l.send([]byte(topic)); err != nil {
			t.Fatal(err)
		}
	}
	_ = l.SetReadDeadline(time.Now().Add(5 * time.Second))
	frames, err := l.recv()
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.signer.Decode(frames)
	if err != nil || m.Header.MsgType != "iopub_welcome" || kerneltest.Field(m.Content, "subscription") != "kernel" ||
		string(m.Identities[0]) != "kernel" || string(m.Parent) != "{}" {
		t.Errorf("first message %s %s of parent %s, %v", m.Header.MsgType, m.Content, m.Parent, err)
	}
	for _, stray := range c.Strays() {
		if stray.Header.MsgType == "iopub_welcome" && kerneltest.Field(stray.Content, "subscription") != "" {
			t.Error("another subscriber's welcome arrived here")
		}
	}
}

// The last messages arrive although the sockets close behind them, and to a subscriber that is slow.
func TestTheLastWordsArrive(t *testing.T) {
	for range 20 {
		r := start(t)
		c := r.frontend(t, "alice")
		cell := c.AskExecute("flood 20000 some text\nloop")
		for cell.Text("stdout") == "" {
			time.Sleep(time.Millisecond)
		}
		late := r.connect(t, wire.IOPub, "SUB", "")
		if err := late.send([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := late.recv(); err != nil {
			t.Fatal(err)
		}
		ex := c.Ask(wire.Control, "shutdown_request", map[string]any{"restart": false})
		ex.Wait()
		cell.Wait()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
		r.done <- nil // for the clean-up
		last := ""
		for {
			_ = late.SetReadDeadline(time.Now().Add(2 * time.Second))
			frames, err := late.recv()
			if err != nil {
				break
			}
			m, err := r.signer.Decode(frames)
			if err != nil {
				t.Fatal(err)
			}
			last = m.Header.MsgType + fmt.Sprint(kerneltest.Field(m.Content, "execution_state"))
		}
		if last != "statusidle" {
			t.Errorf("the late reader's last message is %s, want the final idle", last)
		}
	}
}

// 1,000 clients come and go, half of them in the middle of a message, while a cell prints.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or two")
	}
	r := start(t)
	c := r.frontend(t, "steady")
	cell := c.AskExecute("flood 3000 x\nsleep 200ms\nflood 3000 x")
	for i := range 1000 {
		ch, socketType := wire.Shell, "DEALER"
		if i%2 == 1 {
			ch, socketType = wire.IOPub, "SUB"
		}
		l := r.connect(t, ch, socketType, "")
		switch i % 4 {
		case 0:
			_, _ = l.Write([]byte{flagMore, 200, 'h', 'a', 'l', 'f'})
		case 1:
			_ = l.send([]byte{1})
		}
		l.Close()
	}
	cell.Wait()
	if n := len(cell.Text("stdout")); n != 12000 {
		t.Errorf("%d bytes arrived, want 12000", n)
	}
	works(t, r)
	for _, l := range r.listeners {
		for deadline := time.Now().Add(5 * time.Second); len(l.all()) > 4; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d peers are still there", len(l.all()))
			}
		}
	}
}

func TestListeningBeyondThisMachineIsSaid(t *testing.T) {
	r := start(t, func(c *wire.Connection, _ *Options) { c.IP = "0.0.0.0" })
	if got := r.log.String(); !strings.Contains(got, "listening on 0.0.0.0, which other machines may reach") {
		t.Errorf("log %q", got)
	}
	if got := start(t).log.String(); got != "" {
		t.Errorf("on loopback the log says %q", got)
	}
}
