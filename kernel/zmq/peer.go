package zmq

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// peer is a connection that has shaken hands, as zmq4 sees it: a net.Conn that first plays the peer's
// greeting and READY, which zmq4 wants to see, then hands over whole messages.
type peer struct {
	net.Conn // the raw connection
	owner    *listener
	identity string
	r        *bufio.Reader
	out      *queue
	closing  sync.Once
	slow     sync.Once

	pending []byte // what zmq4 has not read yet; touched by its reading goroutine only

	mu     sync.Mutex
	skip   int // bytes of zmq4's own greeting, which the guard has already sent
	asm    assembler
	held   bool     // output waits for the welcome
	behind [][]byte // that output

	topics  map[string]bool
	welcome []byte // goes out when zmq4 has taken note of the subscription
}

func newPeer(l *listener, conn net.Conn, r *bufio.Reader, peerType, identity string) *peer {
	p := &peer{Conn: conn, owner: l, identity: identity, r: r, topics: map[string]bool{}}
	p.pending = append(greeting(), ready(peerType, identity)...)
	p.skip = greetingSize
	p.out = newQueue(conn, l.limits.OutBytes, func() { p.Close() })
	return p
}

// Read gives zmq4 the next bytes. Whatever goes wrong is the end of the connection: zmq4 forgets a
// connection on io.EOF, and on nothing else reliably.
func (p *peer) Read(b []byte) (int, error) {
	for len(p.pending) == 0 {
		if err := p.fill(); err != nil {
			p.owner.dropped(err)
			p.Close()
			return 0, io.EOF
		}
	}
	n := copy(b, p.pending)
	if p.pending = p.pending[n:]; len(p.pending) == 0 {
		p.pending = nil // zmq4 may remember the connection, which must not hold a big message
	}
	return n, nil
}

// fill reads the next message for zmq4 and deals with what zmq4 must not see. zmq4 asks for more only
// when it has dealt with the last message: a subscription is in force by now, and can be welcomed.
func (p *peer) fill() error {
	p.release()
	m, err := readMessage(p.r, p.owner.limits.InBytes)
	if err != nil {
		return err
	}
	switch {
	case m.command:
		return p.command(m)
	case p.owner.kind == "XPUB":
		return p.subscription(m.frames, m.first())
	}
	p.pending = m.raw
	return nil
}

// command serves ZMTP commands (RFC 37): heartbeats, and subscriptions of newer peers. Others are
// ignored; zmq4 would take them for messages.
func (p *peer) command(m inbound) error {
	name, data := command(m.first())
	switch name {
	case "PING":
		context := data[min(2, len(data)):] // after the TTL
		p.slip(appendFrame(nil, flagCommand, append([]byte("\x04PONG"), context[:min(16, len(context))]...)))
	case "SUBSCRIBE":
		if p.owner.kind == "XPUB" {
			return p.subscription(1, append([]byte{1}, data...))
		}
	case "CANCEL":
		if p.owner.kind == "XPUB" {
			return p.subscription(1, append([]byte{0}, data...))
		}
	}
	return nil
}

// subscription takes note of a topic and prepares its welcome. A subscriber that says anything else is
// not listened to.
func (p *peer) subscription(frames int, body []byte) error {
	if frames != 1 || len(body) == 0 || body[0] > 1 {
		return nil
	}
	topic := string(body[1:])
	if body[0] == 0 {
		delete(p.topics, topic)
	} else if p.topics[topic] = true; len(p.topics) > p.owner.limits.Topics {
		return errTooBig
	}
	p.pending = appendFrame(nil, 0, body)
	if body[0] == 1 && p.owner.welcome != nil {
		p.mu.Lock()
		p.held = true
		p.mu.Unlock()
		p.welcome = p.owner.welcome(topic)
	}
	return nil
}

// release sends the welcome and then what waited behind it: the welcome is the first message of a
// subscription.
func (p *peer) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held {
		return
	}
	p.held = false
	messages := p.behind
	if p.welcome != nil {
		messages = append([][]byte{p.welcome}, messages...)
	}
	p.behind, p.welcome = nil, nil
	for _, m := range messages {
		p.push(m)
	}
}

// slip puts a message of the guard's own between zmq4's.
func (p *peer) slip(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(message)
}

// push queues a message, or cuts off a peer that does not read. The lock is held.
func (p *peer) push(message []byte) {
	if !p.out.push(message) {
		if p.out.full() {
			p.slow.Do(func() { p.owner.counts.Slow.Add(1) })
		}
		p.Close()
	}
}

// Write takes what zmq4 writes and never blocks. zmq4's greeting and its commands (READY) go nowhere:
// the guard has said all that.
func (p *peer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(p.skip, len(b))
	p.skip -= n
	p.asm.add(b[n:], func(message []byte) {
		switch {
		case message[0]&flagCommand != 0 || bytes.Equal(message, marker):
		case p.held:
			p.behind = append(p.behind, message)
		default:
			p.push(message)
		}
	})
	return len(b), nil
}

// Close closes the connection at once, whatever is queued.
func (p *peer) Close() error {
	var err error
	p.closing.Do(func() {
		p.out.close()
		err = p.Conn.Close()
		p.owner.forget(p)
	})
	return err
}

// finish writes what is queued, until the deadline, and tells the peer that nothing follows.
func (p *peer) finish(deadline time.Time) {
	if p.out.drain(deadline) {
		if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite() // the connection is closed right after
		}
	}
}
