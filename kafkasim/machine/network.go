// Network.
//
// Connections keep order, as TCP does: on each directed link a message never overtakes an earlier one.
// A cut link holds what is sent until it heals (TCP sends again); what was on the wire arrives. A message
// to a process that is dead on a live host is answered by a reset; a dead or silent host answers nothing.
//
// Kafka: SocketServer, NetworkClient, Selector. Simplified: no bandwidth, no loss inside a connection; a
// message dropped by hand leaves a hole that only the requester's timeout ends. What is done to single messages
// by hand is in hold.go and delay.go; neither lets a message overtake another on its connection.
package machine

// Link is the state of one directed connection path between two nodes.
type Link struct {
	From, To    NodeID
	LastArrival int64 // µs: nothing sent later on this link arrives earlier
	Latency     int64 // µs; -1 for the world's
	Cut         bool
	Held        []Event // what was sent while the link was cut, in order
}

// Disconnected tells a node that the connection Conn to From is gone.
type Disconnected struct{}

// link finds or makes the directed link between two nodes. Links are kept sorted by (From, To).
func (s *State) link(from, to NodeID) *Link {
	lo, hi := 0, len(s.Links)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		l := &s.Links[mid]
		if l.From < from || l.From == from && l.To < to {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(s.Links) && s.Links[lo].From == from && s.Links[lo].To == to {
		return &s.Links[lo]
	}
	s.Links = append(s.Links, Link{})
	copy(s.Links[lo+1:], s.Links[lo:])
	s.Links[lo] = Link{From: from, To: to, Latency: -1}
	return &s.Links[lo]
}

// send puts a message on the wire. conn and correlation name the connection and the request; a reply
// carries those of its request.
func (s *State) send(from, to NodeID, conn, correlation uint32, p Payload) {
	s.Seq++
	e := Event{Seq: s.Seq, To: to, From: from, Incarnation: s.incarnation(to), Conn: conn, Correlation: correlation, Payload: p}
	if s.holds(&e) {
		s.Held = append(s.Held, e)
		return
	}
	l := s.link(from, to)
	if l.Cut {
		l.Held = append(l.Held, e)
		return
	}
	s.launch(l, e)
}

// launch schedules a message's arrival, not before anything sent earlier on the link.
func (s *State) launch(l *Link, e Event) {
	latency := l.Latency
	if latency < 0 {
		latency = s.World.Latency
	}
	if l.From == l.To {
		latency = 0
	}
	if b := s.broker(l.From); b != nil && b.Slow > 0 && touchesLog(e.Payload) {
		latency += b.Slow
	}
	e.At = max(s.Now+latency, l.LastArrival)
	if s.mutant(LinksReorder) {
		e.At = s.Now + latency*int64(1+s.Seq%3)
	}
	l.LastArrival = e.At
	e.At = s.behindDelayed(&e)
	s.push(e)
}

// touchesLog tells whether a broker has read or written its logs before it sends a message: answers to
// produce and fetch requests, and a follower's next fetch, which comes after the append of what it had got.
func touchesLog(p Payload) bool {
	switch p.(type) {
	case ProduceResponse, FetchRequest, FetchResponse:
		return true
	}
	return false
}

// Reaches tells whether a message that arrives now finds the process that it was sent to.
func (s *State) Reaches(e *Event) bool {
	if b := s.broker(e.To); b != nil {
		return b.Process != NotRunning && b.Incarnation == e.Incarnation
	}
	if e.To.IsController() {
		c := s.controller(e.To)
		return c.Running && c.Incarnation == e.Incarnation
	}
	return true
}

// heal lets a cut link carry again; what it held arrives in order.
func (s *State) heal(l *Link) {
	l.Cut = false
	held := l.Held
	l.Held = nil
	for _, e := range held {
		s.launch(l, e)
	}
}

// applyNetwork carries out what a user does to links and to single messages on the wire.
func (s *State) applyNetwork(c Command) Result {
	switch c := c.(type) {
	case CutLink:
		s.link(c.A, c.B).Cut = true
		s.link(c.B, c.A).Cut = true
	case CutOneWay:
		s.link(c.From, c.To).Cut = true
	case HealLink:
		s.heal(s.link(c.A, c.B))
		s.heal(s.link(c.B, c.A))
	case HoldMessages:
		s.holdBack(c.Pattern)
	case ReleaseMessages:
		s.release()
	case SetLatency:
		s.link(c.From, c.To).Latency = c.Latency
	case DeliverMessage:
		s.deliver(c.Seq)
	case DropMessage:
		s.remove(s.inFlight(c.Seq))
	case DelayMessage:
		s.delay(c.Seq, c.By)
	}
	return Result{ID: -1}
}

// inFlight finds a message on the wire by its number; it must be there.
func (s *State) inFlight(seq uint64) int {
	for i := range s.Queue {
		if s.Queue[i].Seq == seq && s.Queue[i].From != NoNode {
			return i
		}
	}
	panic("machine: no message with this number is on the wire")
}
