package zmq

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// probe is a subscriber inside the kernel. zmq4's XPUB puts messages into a queue of its own that cannot
// be asked whether it is empty; but it serves its subscribers message by message. Closing sends a marker
// behind the last message and waits until the probe has seen it, or the last messages would be lost.
type probe struct {
	pending []byte
	skip    int
	asm     assembler

	mu         sync.Mutex
	change     *sync.Cond
	subscribed bool
	drained    bool
	closed     bool
}

// marker is the message behind the last one; peers do not get to see it.
var (
	markerTopic = []byte("\x00kafkalab: nothing follows")
	marker      = appendFrame(nil, 0, markerTopic)
)

func newProbe() *probe {
	p := &probe{skip: greetingSize}
	p.pending = append(greeting(), ready("SUB", "\x00probe")...)
	p.pending = appendFrame(p.pending, 0, []byte{1})
	p.change = sync.NewCond(&p.mu)
	return p
}

// Read plays a subscriber's handshake and its subscription to everything, then blocks.
func (p *probe) Read(b []byte) (int, error) {
	if len(p.pending) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.subscribed = true // zmq4 has dealt with the subscription when it asks for more
		p.change.Broadcast()
		for !p.closed {
			p.change.Wait()
		}
		return 0, io.EOF
	}
	n := copy(b, p.pending)
	p.pending = p.pending[n:]
	return n, nil
}

// Write looks for the marker.
func (p *probe) Write(b []byte) (int, error) {
	n := min(p.skip, len(b))
	p.skip -= n
	p.asm.add(b[n:], func(message []byte) {
		if bytes.Equal(message, marker) {
			p.mu.Lock()
			p.drained = true
			p.change.Broadcast()
			p.mu.Unlock()
		}
	})
	return len(b), nil
}

// waitSubscribed waits until zmq4 publishes to the probe.
func (p *probe) waitSubscribed(deadline time.Time) bool { return p.wait(&p.subscribed, deadline) }

// waitDrained waits until the marker has come through.
func (p *probe) waitDrained(deadline time.Time) bool { return p.wait(&p.drained, deadline) }

func (p *probe) wait(flag *bool, deadline time.Time) bool {
	timer := time.AfterFunc(time.Until(deadline), func() {
		p.mu.Lock()
		p.change.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !*flag && !p.closed && time.Now().Before(deadline) {
		p.change.Wait()
	}
	return *flag
}

// Close implements net.Conn.
func (p *probe) Close() error {
	p.mu.Lock()
	p.closed = true
	p.change.Broadcast()
	p.mu.Unlock()
	return nil
}

type probeAddr struct{}

func (probeAddr) Network() string { return "probe" }
func (probeAddr) String() string  { return "probe" }

// The rest of net.Conn, which zmq4 does not use.
func (p *probe) LocalAddr() net.Addr              { return probeAddr{} }
func (p *probe) RemoteAddr() net.Addr             { return probeAddr{} }
func (p *probe) SetDeadline(time.Time) error      { return nil }
func (p *probe) SetReadDeadline(time.Time) error  { return nil }
func (p *probe) SetWriteDeadline(time.Time) error { return nil }

var _ net.Conn = (*probe)(nil)
