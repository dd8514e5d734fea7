package machine

import "slices"

// Connections from one broker to another for what coordinators and partition leaders have to say to each other:
// one for each purpose and node, with one request in flight. A broker that talks to itself does so over a
// connection too.
//
// Kafka: InterBrokerSendThread, TransactionMarkerChannelManager, AddPartitionsToTxnManager. Simplified: Kafka may
// have several requests in flight on such a connection.

// PeerPurpose is what a connection between brokers is for.
type PeerPurpose uint8

// The purposes.
const (
	MarkerPeer PeerPurpose = iota // WriteTxnMarkers, of a coordinator
	AddPeer                       // AddPartitionsToTxn, of a partition leader
	SharePeer                     // ShareGroupState, of a group coordinator or a partition leader
)

// Peer is such a connection.
type Peer struct {
	Node    NodeID
	Purpose PeerPurpose
	Channel Channel
	WakeAt  int64           // µs: when PeerTimer is due, 0 for none
	Markers []PendingMarker // in flight, in the order of the request
	Adds    []uint32        // … the numbers of those who wait
}

// PeerTimer: a broker looks after a connection to another.
type PeerTimer struct {
	Node    NodeID
	Purpose PeerPurpose
}

func (PeerTimer) payload() {}

// peerTimeout is how long a request between brokers may take, µs (request.timeout.ms of a broker).
const peerTimeout = 30_000_000

// peer finds or makes the connection; the pointer is good until another one is made.
func (b *Broker) peer(node NodeID, purpose PeerPurpose) *Peer {
	i, found := slices.BinarySearchFunc(b.Peers, Peer{Node: node, Purpose: purpose}, func(a, x Peer) int {
		if a.Node != x.Node {
			return int(a.Node - x.Node)
		}
		return int(a.Purpose) - int(x.Purpose)
	})
	if !found {
		b.Peers = slices.Insert(b.Peers, i, Peer{Node: node, Purpose: purpose})
	}
	return &b.Peers[i]
}

// askPeer sends a request on a connection that has none in flight.
func (s *State) askPeer(b *Broker, p *Peer, m Payload) {
	s.request(b.ID, p.Node, &p.Channel, peerTimeout, m)
	s.wake(&p.WakeAt, p.Channel.Deadline, b.ID, PeerTimer{p.Node, p.Purpose})
}

// onPeerTimer gives up a request that takes too long.
func (s *State) onPeerTimer(b *Broker, e Event, m PeerTimer) {
	p := b.peer(m.Node, m.Purpose)
	if e.At != p.WakeAt {
		return
	}
	p.WakeAt = 0
	switch {
	case !p.Channel.InFlight:
	case s.Now < p.Channel.Deadline:
		s.wake(&p.WakeAt, p.Channel.Deadline, b.ID, m)
	default:
		s.hangUp(b.ID, p.Node, &p.Channel)
		s.peerLost(b, m.Node, m.Purpose)
	}
}

// answeredPeer finds the connection whose request an event answers; nil for an answer that nobody waits for.
func (b *Broker) answeredPeer(e *Event, purpose PeerPurpose) *Peer {
	if p := b.peer(e.From, purpose); p.Channel.answers(e) {
		return p
	}
	return nil
}

// peerDisconnected handles the end of a connection that the broker opened to another one.
func (s *State) peerDisconnected(b *Broker, e Event) {
	for i := range b.Peers {
		if p := &b.Peers[i]; p.Node == e.From && p.Channel.Conn == e.Conn && e.Conn != 0 {
			waits := p.Channel.InFlight
			p.Channel = Channel{Correlation: p.Channel.Correlation}
			if waits {
				s.peerLost(b, p.Node, p.Purpose)
			}
			return
		}
	}
}

// peerLost goes on after a request that will not be answered.
func (s *State) peerLost(b *Broker, node NodeID, purpose PeerPurpose) {
	switch purpose {
	case MarkerPeer:
		s.markersLost(b, node)
	case AddPeer:
		s.addsLost(b, node)
	case SharePeer:
		s.shareCallsLost(b, node)
	}
}

func (p *Peer) unshare() {
	p.Markers, p.Adds = slices.Clone(p.Markers), slices.Clone(p.Adds)
}
