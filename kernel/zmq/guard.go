package zmq

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"
)

// Limits bound what peers of one socket can cost.
type Limits struct {
	Handshake time.Duration // for a whole handshake
	Shaking   int           // connections that shake hands at the same time; the oldest makes room
	Peers     int           // connections in all
	InBytes   int           // one message from a peer
	OutBytes  int           // waiting for a peer that does not read
	Topics    int           // subscriptions of one peer
}

// DefaultLimits are what a kernel runs with.
func DefaultLimits() Limits {
	return Limits{Handshake: 3 * time.Second, Shaking: 64, Peers: 512, InBytes: 64 << 20, OutBytes: 64 << 20, Topics: 256}
}

// Counts tell what was turned away.
type Counts struct {
	Handshakes   atomic.Int64 // connections that did not shake hands in time or in form
	Refused      atomic.Int64 // connections over the limit
	Illegal      atomic.Int64 // connections dropped for what they sent
	Slow         atomic.Int64 // connections cut off because they did not read
	BadSignature atomic.Int64 // messages with a wrong signature
	BadMessage   atomic.Int64 // messages that are no Jupyter messages
	Replayed     atomic.Int64 // messages that were there before
}

// listener is a net.Listener whose connections have shaken hands.
type listener struct {
	raw     net.Listener
	kind    string // our socket's type
	limits  Limits
	counts  *Counts
	welcome func(topic string) []byte // XPUB: the message for a new subscription, nil for none

	ready  chan net.Conn
	quit   chan struct{}
	once   sync.Once
	serial atomic.Uint32

	mu      sync.Mutex
	shaking []net.Conn // oldest first
	peers   map[string]*peer
}

func newListener(raw net.Listener, kind string, limits Limits, counts *Counts) *listener {
	return &listener{
		raw: raw, kind: kind, limits: limits, counts: counts,
		ready: make(chan net.Conn), quit: make(chan struct{}), peers: map[string]*peer{},
	}
}

// run takes connections from the network. A failing Accept (out of descriptors) is tried again at
// leisure, not in a spin.
func (l *listener) run() {
	pause := time.Duration(0)
	for {
		conn, err := l.raw.Accept()
		if err == nil {
			pause = 0
			l.begin(conn)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		pause = min(max(2*pause, time.Millisecond), 100*time.Millisecond)
		select {
		case <-time.After(pause):
		case <-l.quit:
			return
		}
	}
}

// begin starts a handshake. An honest one is over in a millisecond; if too many are under way, the
// oldest is the least likely to be one.
func (l *listener) begin(conn net.Conn) {
	l.mu.Lock()
	if len(l.shaking) >= l.limits.Shaking {
		l.shaking[0].Close()
		l.shaking = l.shaking[1:]
	}
	l.shaking = append(l.shaking, conn)
	l.mu.Unlock()
	go l.shake(conn)
}

func (l *listener) shake(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(l.limits.Handshake)) // fails only on a closed connection
	r := bufio.NewReaderSize(conn, 16<<10)
	peerType, identity, err := shake(conn, r, l.kind, "")
	l.shaken(conn)
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		l.counts.Handshakes.Add(1)
		conn.Close()
		return
	}
	if identity == "" { // as libzmq does: a zero byte, then a number
		identity = "\x00" + strconv.FormatUint(uint64(l.serial.Add(1)), 36)
	}
	p := newPeer(l, conn, r, peerType, identity)
	if !l.admit(p) {
		return
	}
	go p.out.run()
	select {
	case l.ready <- p:
	case <-l.quit:
		p.Close()
	}
}

func (l *listener) shaken(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range l.shaking {
		if c == conn {
			l.shaking = append(l.shaking[:i], l.shaking[i+1:]...)
			return
		}
	}
}

// admit takes a peer in. A frontend that comes back with its old identity replaces its old connection,
// as ROUTER_HANDOVER does; that may not have noticed yet that it is dead.
func (l *listener) admit(p *peer) bool {
	l.mu.Lock()
	old := l.peers[p.identity]
	full := old == nil && len(l.peers) >= l.limits.Peers
	if !full {
		l.peers[p.identity] = p
	}
	l.mu.Unlock()
	if full {
		l.counts.Refused.Add(1)
		p.Close()
		return false
	}
	if old != nil {
		old.Close()
	}
	return true
}

func (l *listener) forget(p *peer) {
	l.mu.Lock()
	if l.peers[p.identity] == p {
		delete(l.peers, p.identity)
	}
	l.mu.Unlock()
}

// dropped counts a connection that ended because of what it sent; one that just ended is not counted.
func (l *listener) dropped(err error) {
	if errors.Is(err, errTooBig) || errors.Is(err, errIllegal) {
		l.counts.Illegal.Add(1)
	}
}

// Accept implements net.Listener for zmq4.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.quit:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	var err error
	l.once.Do(func() {
		close(l.quit)
		err = l.raw.Close()
		l.mu.Lock()
		for _, conn := range l.shaking {
			conn.Close()
		}
		l.mu.Unlock()
	})
	return err
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.raw.Addr() }

// all lists the peers.
func (l *listener) all() []*peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	peers := make([]*peer, 0, len(l.peers))
	for _, p := range l.peers {
		peers = append(peers, p)
	}
	return peers
}

// guarded is the transport that zmq4 knows: an endpoint is guarded://N, N the number of a listener that
// was opened before.
type guarded struct {
	mu        sync.Mutex
	listeners map[string]*listener
	count     int
}

var registered = sync.OnceValues(func() (*guarded, error) {
	g := &guarded{listeners: map[string]*listener{}}
	return g, zmq4.RegisterTransport("guarded", g)
})

// endpoint makes a listener known and returns what to give to a socket's Listen.
func (g *guarded) endpoint(l *listener) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	name := strconv.Itoa(g.count)
	g.listeners[name] = l
	return "guarded://" + name
}

// Listen implements transport.Transport.
func (g *guarded) Listen(_ context.Context, addr string) (net.Listener, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.listeners[addr]
	if !ok {
		return nil, fmt.Errorf("zmq: no guarded listener %q", addr)
	}
	delete(g.listeners, addr)
	return l, nil
}

// Dial implements transport.Transport; a kernel does not dial.
func (g *guarded) Dial(context.Context, transport.Dialer, string) (net.Conn, error) {
	return nil, fmt.Errorf("zmq: the guarded transport only listens: %w", errors.ErrUnsupported)
}

// Addr implements transport.Transport.
func (g *guarded) Addr(endpoint string) (string, error) { return endpoint, nil }

var (
	_ transport.Transport = (*guarded)(nil)
	_ net.Listener        = (*listener)(nil)
	_ io.ReadWriteCloser  = (*peer)(nil)
)
