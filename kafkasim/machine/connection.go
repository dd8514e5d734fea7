package machine

import "slices"

// Connections.
//
// A broker handles one request of a connection at a time and answers in order: while a request is handled
// (an acks=all waits for the high watermark, a fetch for data) the connection is muted and what else comes
// on it stays unread (P-54). A connection comes into being with its first request.
//
// Kafka: SocketServer.Processor, RequestChannel, Selector.mute.

// Conn is a connection that somebody opened to a broker.
type Conn struct {
	Node    NodeID
	ID      uint32
	Muted   bool    // a request of it is being handled
	Closed  bool    // by the broker: what was on the wire still arrives, and is not read
	Waiting []Event // requests not read yet
}

// conn finds a connection: its index, or where it belongs.
func (b *Broker) conn(node NodeID, id uint32) (int, bool) {
	return slices.BinarySearchFunc(b.Conns, Conn{Node: node, ID: id}, func(a, x Conn) int {
		if a.Node != x.Node {
			return int(a.Node - x.Node)
		}
		return int(int64(a.ID) - int64(x.ID))
	})
}

// receive takes a request off the wire: it is handled now, or when the one before it is done.
func (s *State) receive(b *Broker, e Event) {
	i, found := b.conn(e.From, e.Conn)
	if !found {
		i = b.openConn(e.From, e.Conn)
	}
	c := &b.Conns[i]
	if c.Closed {
		return
	}
	if c.Muted {
		c.Waiting = append(c.Waiting, e)
		return
	}
	c.Muted = true
	s.handle(b, e)
}

// openConn takes up a new connection. The link keeps order, so nothing more comes on a closed one that the
// same node used before.
func (b *Broker) openConn(node NodeID, id uint32) int {
	b.Conns = slices.DeleteFunc(b.Conns, func(c Conn) bool { return c.Closed && c.Node == node })
	i, _ := b.conn(node, id)
	b.Conns = slices.Insert(b.Conns, i, Conn{Node: node, ID: id})
	return i
}

// reply answers a request, whose time counts for its sender's quota.
func (s *State) reply(b *Broker, to NodeID, conn, correlation uint32, p Payload) {
	s.replyThrottled(b, to, conn, correlation, p, s.throttleWork(b, to, requestNs))
}

// sendAnswer sends an answer and unmutes the connection. The answer to a connection that is gone goes nowhere.
func (s *State) sendAnswer(b *Broker, to NodeID, conn, correlation uint32, p Payload) {
	if i, found := b.conn(to, conn); found && !b.Conns[i].Closed {
		s.countAnswer(b, to, p)
		s.send(b.ID, to, conn, correlation, p)
		s.unmute(b, &b.Conns[i])
	}
}

// replyNothing ends a request that has no answer (acks=0).
func (s *State) replyNothing(b *Broker, e Event) {
	if i, found := b.conn(e.From, e.Conn); found {
		s.unmute(b, &b.Conns[i])
	}
}

// unmute lets the next request of a connection be read. That is an event of its own, so that a request is
// never handled in the middle of another one.
func (s *State) unmute(b *Broker, c *Conn) {
	c.Muted = false
	if len(c.Waiting) > 0 {
		c.Muted = true
		s.after(0, b.ID, NextRequest{Node: c.Node, Conn: c.ID})
	}
}

// readNext handles the request that waited longest on a connection.
func (s *State) readNext(b *Broker, n NextRequest) {
	i, found := b.conn(n.Node, n.Conn)
	if !found || len(b.Conns[i].Waiting) == 0 {
		return
	}
	c := &b.Conns[i]
	e := c.Waiting[0]
	c.Waiting = slices.Clone(c.Waiting[1:])
	s.handle(b, e)
}

// closeConn closes a connection from the broker's side. Requests that the peer had sent before it hears of
// the close are lost, and must not open the connection again.
func (s *State) closeConn(b *Broker, node NodeID, conn uint32) {
	s.send(b.ID, node, conn, 0, Disconnected{})
	if i, found := b.conn(node, conn); found {
		b.Conns[i] = Conn{Node: node, ID: conn, Closed: true}
	}
}

// forgetConn drops a connection that is gone, with what was not read from it. A request of it that waits in
// a purgatory goes on waiting, and its answer goes nowhere.
func (s *State) forgetConn(b *Broker, node NodeID, conn uint32) {
	if i, found := b.conn(node, conn); found {
		b.Conns = slices.Delete(b.Conns, i, i+1)
	}
}

// Channel is a connection that a broker opened to another node, with one request in flight at most.
type Channel struct {
	Conn        uint32 // 0 before the first request
	Correlation uint32 // of the last request
	InFlight    bool
	Answered    bool  // something came back on this connection
	Deadline    int64 // µs: when the request in flight is given up
}

// request sends a request on a channel, opening a connection when there is none.
func (s *State) request(from, to NodeID, ch *Channel, timeout int64, p Payload) {
	if ch.Conn == 0 {
		s.LastConn++
		ch.Conn = s.LastConn
		ch.Answered = false
	}
	ch.Correlation++
	ch.InFlight = true
	ch.Deadline = s.Now + timeout
	s.send(from, to, ch.Conn, ch.Correlation, p)
}

// answers tells whether an event answers the request in flight, which then is in flight no more.
func (ch *Channel) answers(e *Event) bool {
	if !ch.InFlight || e.Conn != ch.Conn || e.Correlation != ch.Correlation {
		return false
	}
	ch.InFlight = false
	ch.Answered = true
	return true
}

// hangUp closes a channel. What the network still holds of it is taken back; the peer hears of the close
// if it ever heard of the connection.
func (s *State) hangUp(from, to NodeID, ch *Channel) {
	if ch.Conn == 0 {
		return
	}
	l := s.link(from, to)
	held := len(l.Held)
	l.Held = slices.DeleteFunc(l.Held, func(e Event) bool { return e.Conn == ch.Conn })
	if ch.Answered || len(l.Held) == held {
		s.send(from, to, ch.Conn, 0, Disconnected{})
	}
	*ch = Channel{Correlation: ch.Correlation}
}
