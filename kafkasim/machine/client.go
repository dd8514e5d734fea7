// Client: what producers and consumers share.
//
// A client holds one connection per broker, with its requests in flight in order, a copy of the metadata
// (client_metadata.go), and the timers of its own thread. Nothing here decides what to send.
//
// Kafka: NetworkClient, InFlightRequests, ClusterConnectionStates, ExponentialBackoff (KIP-91, KIP-580).
// Simplified: no handshake, so the first request on a connection finds out whether the broker is there;
// the bootstrap servers are all brokers, and their connections are those of the brokers.
package machine

import (
	"slices"

	"kafkalab/kafkasim/prng"
)

// ms is how many µs a millisecond has: properties are in ms, the machine's time is in µs.
const ms int64 = 1000

// never is a time that does not come.
const never int64 = 1<<63 - 1

// Purposes of draws that clients make; each belongs to this file's callers only.
const (
	drawBackoff uint32 = 0x0c01 + iota
	drawNode
	drawSticky
)

// Client says what a client's node id stands for: an index into Producers, Consumers or Share.Consumers.
type Client struct {
	Name  string
	Kind  ClientKind
	Index int32 // among those of its kind
}

// ClientKind says what a client is.
type ClientKind uint8

// The kinds.
const (
	ProducerClient ClientKind = iota
	ConsumerClient
	ShareConsumerClient
)

// String is the kind in words.
func (k ClientKind) String() string { return [...]string{"producer", "consumer", "share consumer"}[k] }

// clientNode is the node id of the n-th client, in the order in which clients were made.
func clientNode(n int) NodeID { return FirstClient + NodeID(n) }

// client finds what a client's node id stands for.
func (s *State) client(n NodeID) *Client { return &s.Clients[n-FirstClient] }

// newClient registers a client and makes its half of the network.
func (s *State) newClient(name string, kind ClientKind, index int32, t ClientTimes) ClientIO {
	s.Clients = append(s.Clients, Client{Name: name, Kind: kind, Index: index})
	io := ClientIO{Node: clientNode(len(s.Clients) - 1), Name: name, Times: t}
	io.Meta.LastRefresh, io.Meta.LastSuccess = -never, -never
	for b := int32(1); b <= s.World.Brokers; b++ {
		io.Conns = append(io.Conns, Connection{Broker: NodeID(b)})
	}
	return io
}

// ClientTimes are the properties that every client has, in µs.
type ClientTimes struct {
	RequestTimeout, RetryBackoff, RetryBackoffMax, MetadataMaxAge, ReconnectBackoff, ReconnectBackoffMax int64
}

// ClientIO is one client's network and metadata.
type ClientIO struct {
	Node            NodeID
	Name            string
	Times           ClientTimes
	Meta            Metadata
	Conns           []Connection // one per broker, by id
	Second          Connection   // a consumer's to its coordinator, beside that to the same broker
	NextConn        uint32
	NextCorrelation uint32
	Timers          []int64 // when the client's timers in the queue fire, ascending
}

// Connection is a client's connection to one broker.
type Connection struct {
	Broker   NodeID
	ID       uint32 // 0 while there is none
	Failures int32  // connections that broke since the last answer
	RetryAt  int64  // µs: no new connection before (P-65)
	// ThrottledUntil is when the broker reads the connection again: nothing is sent before (KIP-219), µs.
	ThrottledUntil int64
	InFlight       []Request
	Session        SessionHandler // of a consumer's fetches
	// For a producer's sender: there is something to send (within a pass), and where the last drain ended.
	Ready     bool
	DrainFrom PartRef
	// … when there last was, and when it last could be sent, µs (P-20).
	ReadySince, DrainedAt int64
}

// Request is a request in flight.
type Request struct {
	Correlation uint32
	SentAt      int64   // µs
	Payload     Payload // as it was sent
	Batches     []int32 // a ProduceRequest's batches, as slots of Producer.Live, in the order of its parts
}

// conn is the connection to a broker, nil for a broker that the client does not know.
func (io *ClientIO) conn(b NodeID) *Connection {
	if b < 1 || int(b) > len(io.Conns) {
		return nil
	}
	return &io.Conns[b-1]
}

// connOf is the open connection that something came on; nil for one that is gone.
func (io *ClientIO) connOf(e *Event) *Connection {
	if c := io.conn(e.From); c != nil && c.ID != 0 && c.ID == e.Conn {
		return c
	}
	if c := &io.Second; c.Broker == e.From && c.ID != 0 && c.ID == e.Conn {
		return c
	}
	return nil
}

// usable tells whether a request can go out on the connection now.
func (c *Connection) usable(now int64) bool { return now >= c.retryAt() }

// throttle takes over what an answer says about being silent.
func (c *Connection) throttle(now, wait int64) {
	if c != nil && wait > 0 {
		c.ThrottledUntil = max(c.ThrottledUntil, now+wait*ms)
	}
}

// clientRequest puts a request on the wire, over a new connection if there is none. One that expects no
// answer (acks=0) is not kept.
func (s *State) clientRequest(io *ClientIO, c *Connection, r Request, answered bool) {
	if c.ID == 0 {
		io.NextConn++
		c.ID = io.NextConn
	}
	io.NextCorrelation++
	r.Correlation, r.SentAt = io.NextCorrelation, s.Now
	s.send(io.Node, c.Broker, c.ID, r.Correlation, r.Payload)
	if answered {
		c.InFlight = append(c.InFlight, r)
	}
}

// answered takes the request that a response answers out of flight; false when the connection is not
// the present one or the request was given up.
func (io *ClientIO) answered(e Event) (Request, bool) {
	c := io.connOf(&e)
	if c == nil {
		return Request{}, false
	}
	for i := range c.InFlight {
		if c.InFlight[i].Correlation == e.Correlation {
			r := c.InFlight[i]
			c.InFlight = append(c.InFlight[:i], c.InFlight[i+1:]...)
			c.Failures = 0
			return r, true
		}
	}
	return Request{}, false
}

// disconnect drops a connection and hands back what was in flight on it. A broken connection always asks
// for new metadata (P-65), and the next one waits for reconnect.backoff.ms, doubled each time.
func (s *State) disconnect(io *ClientIO, c *Connection) []Request {
	if c.fetching() {
		c.Session.failed()
	}
	lost := c.InFlight
	c.InFlight = nil
	wait := s.backoff(io, io.Times.ReconnectBackoff, io.Times.ReconnectBackoffMax, c.Failures, uint64(c.Broker), uint64(c.ID))
	c.ID = 0
	c.Failures++
	c.RetryAt, c.ThrottledUntil = s.Now+wait, 0
	io.Meta.Requested = true
	for i := range lost {
		if _, ok := lost[i].Payload.(MetadataRequest); ok {
			io.Meta.failed(s.Now)
		}
	}
	return lost
}

// hangUpClient closes a connection from the client's side: the broker hears of it, unless the network
// never carried anything of it, and what a cut link still holds of it is taken back.
func (s *State) hangUpClient(io *ClientIO, c *Connection) []Request {
	l := s.link(io.Node, c.Broker)
	held := len(l.Held)
	l.Held = slices.DeleteFunc(l.Held, func(e Event) bool { return e.Conn == c.ID })
	if len(l.Held) == held {
		s.send(io.Node, c.Broker, c.ID, 0, Disconnected{})
	}
	return s.disconnect(io, c)
}

// overdueAt is when the connection's oldest request is over its time (P-64: more than request.timeout.ms,
// on a clock that counts in ms).
func (io *ClientIO) overdueAt(c *Connection) int64 {
	if len(c.InFlight) == 0 {
		return never
	}
	if c == &io.Second {
		at := never
		for i := range c.InFlight {
			at = min(at, c.InFlight[i].SentAt+io.timeout(c.InFlight[i].Payload)+ms)
		}
		return at
	}
	return c.InFlight[0].SentAt + io.Times.RequestTimeout + ms
}

// timeout is a request's: a JoinGroup may take as long as the rebalance (C-73).
func (io *ClientIO) timeout(p Payload) int64 {
	if m, ok := p.(JoinGroupRequest); ok {
		return max(io.Times.RequestTimeout, m.RebalanceTimeoutMs*ms+5_000_000)
	}
	return io.Times.RequestTimeout
}

// lostError is how a request in flight fails when its connection is closed (P-64): overdue ones
// REQUEST_TIMED_OUT, others NETWORK_EXCEPTION.
func (io *ClientIO) lostError(r *Request, now int64) Code {
	if now > r.SentAt+io.Times.RequestTimeout {
		return REQUEST_TIMED_OUT
	}
	return NETWORK_EXCEPTION
}

// retryBackoff is the wait before another attempt of a request. Before KIP-580 it was always the same.
func (s *State) retryBackoff(io *ClientIO, failures int32, ids ...uint64) int64 {
	if s.World.Rules.Without(ExponentialBackoff) {
		return io.Times.RetryBackoff
	}
	return s.backoff(io, io.Times.RetryBackoff, io.Times.RetryBackoffMax, failures, ids...)
}

// backoff is Kafka's ExponentialBackoff (P-61): initial × 2^failures, at most max, ± 20 %, in whole ms.
// Without room to grow it is the initial value, without jitter. ids name the draw.
func (s *State) backoff(io *ClientIO, initial, most int64, failures int32, ids ...uint64) int64 {
	if most <= initial {
		return initial
	}
	term := initial
	for ; failures > 0 && term < most; failures-- {
		term *= 2
	}
	term = min(term, most)
	draw := prng.Draw(s.World.Seed, drawBackoff, append(ids, uint64(io.Node))...)
	term = term * (800_000 + int64(prng.Below(draw, 400_001))) / 1_000_000
	return min(term/ms*ms, most)
}

// leastLoaded is the broker that a request may go to which any broker can answer: an idle connected one,
// else the connected one with the fewest requests in flight (below most), else one that can be connected
// to. The walk starts at a drawn broker. Known brokers come first, then the bootstrap list.
func (s *State) leastLoaded(io *ClientIO, most int32) *Connection {
	if c := s.leastLoadedOf(io, io.Meta.Brokers, most); c != nil {
		return c
	}
	all := make([]NodeID, len(io.Conns))
	for i := range io.Conns {
		all[i] = io.Conns[i].Broker
	}
	return s.leastLoadedOf(io, all, most)
}

func (s *State) leastLoadedOf(io *ClientIO, brokers []NodeID, most int32) *Connection {
	if len(brokers) == 0 {
		return nil
	}
	start := prng.Below(prng.Draw(s.World.Seed, drawNode, uint64(io.Node), uint64(io.NextCorrelation)), len(brokers))
	var best, fresh *Connection
	for i := range brokers {
		c := io.conn(brokers[(start+i)%len(brokers)])
		switch {
		case s.Now < c.ThrottledUntil:
		case c.ID != 0 && len(c.InFlight) == 0:
			return c
		case c.ID != 0 && int32(len(c.InFlight)) < most && (best == nil || len(c.InFlight) < len(best.InFlight)):
			best = c
		case c.ID == 0 && fresh == nil && s.Now >= c.RetryAt:
			fresh = c
		}
	}
	if best != nil {
		return best
	}
	return fresh
}

// reconnectAt is when the first broken connection may be tried again.
func (io *ClientIO) reconnectAt(now int64) int64 {
	at := never
	for i := range io.Conns {
		if c := &io.Conns[i]; c.retryAt() > now {
			at = min(at, c.retryAt())
		}
	}
	return at
}

// orReconnect is when something that is due may be sent: if it is due already it found no broker, and
// waits for a reconnect backoff to end or an answer to come.
func (io *ClientIO) orReconnect(due, now int64) int64 {
	if due <= now {
		return io.reconnectAt(now)
	}
	return due
}

// ClientTimer wakes a client's own thread: the producer's sender or a consumer's poll.
type ClientTimer struct{}

func (ClientTimer) payload() {}

// wakeAt makes sure that the client wakes at a time, or before.
func (s *State) wakeAt(io *ClientIO, at int64) {
	if at == never || len(io.Timers) > 0 && io.Timers[0] <= at {
		return
	}
	at = max(at, s.Now)
	io.Timers = append(io.Timers, 0)
	copy(io.Timers[1:], io.Timers)
	io.Timers[0] = at
	s.after(at-s.Now, io.Node, ClientTimer{})
}

// woke forgets the timer that just fired.
func (io *ClientIO) woke(now int64) {
	if len(io.Timers) > 0 && io.Timers[0] <= now {
		io.Timers = io.Timers[1:]
	}
}

// clone copies what a step may change.
func (io *ClientIO) clone() ClientIO {
	c := *io
	c.Meta = io.Meta.clone()
	c.Conns = append([]Connection(nil), io.Conns...)
	for i := range c.Conns {
		c.Conns[i].InFlight = append([]Request(nil), c.Conns[i].InFlight...)
		c.Conns[i].Session.Parts = slices.Clone(c.Conns[i].Session.Parts)
	}
	c.Second.InFlight = append([]Request(nil), io.Second.InFlight...)
	c.Second.Session.Parts = slices.Clone(c.Second.Session.Parts)
	c.Timers = append([]int64(nil), io.Timers...)
	return c
}
