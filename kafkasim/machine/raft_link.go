package machine

import "kafkalab/kafkasim/prng"

// A node's connections to the controllers of the quorum, for Raft's requests: one request in flight to each,
// and none for a while after one has failed.
//
// Kafka: raft.RequestManager, KafkaNetworkChannel. Simplified: after an answer that brings nothing (a
// controller that does not lead, and knows no better) the next request waits controller.quorum.retry.backoff.ms
// too, where Kafka asks again at once.

// RaftLink is the connection to one controller.
type RaftLink struct {
	Channel      Channel
	BackoffUntil int64 // µs
	Broken       int32 // how often in a row the connection has broken
	Stale        bool  // the answer to the request in flight will be ignored
}

// reset forgets what is in flight: an answer that still comes is ignored. The next request has to wait for it
// all the same, since a connection carries one at a time (max.in.flight.requests.per.connection).
func (l *RaftLink) reset() {
	l.Stale = l.Channel.InFlight
	if l.Broken == 0 {
		l.BackoffUntil = 0
	}
}

// next is when something is due on the link by itself: the end of a request's time or of a backoff.
func (l *RaftLink) next(now int64) int64 {
	switch {
	case l.Channel.InFlight:
		return l.Channel.Deadline
	case l.BackoffUntil > now:
		return l.BackoffUntil
	}
	return never
}

// backOffLink keeps a link from being used for a while.
func (s *State) backOffLink(l *RaftLink) {
	l.BackoffUntil = s.Now + s.World.Broker.QuorumRetryBackoffMs*1000
}

// broken is a link whose other end is gone. Connecting again waits longer each time, from 50 to 500 ms
// (KafkaRaftManager's reconnect.backoff.ms).
func (s *State) broken(l *RaftLink) {
	l.Channel, l.Stale = Channel{Correlation: l.Channel.Correlation}, false
	s.backOffLink(l)
	l.BackoffUntil = max(l.BackoffUntil, s.Now+min(int64(50_000)<<min(l.Broken, 4), 500_000))
	l.Broken++
}

// heard takes an answer on a link; true when it is one that is still wanted.
func (l *RaftLink) heard() bool {
	wanted := !l.Stale
	l.Broken, l.Stale = 0, false
	return wanted
}

// raftRequest sends a request on a link that is ready for one.
func (s *State) raftRequest(from, to NodeID, l *RaftLink, p Payload) {
	s.giveUp(from, to, l)
	if !l.Channel.InFlight && s.Now >= l.BackoffUntil {
		s.request(from, to, &l.Channel, s.World.Broker.QuorumRequestTimeoutMs*1000, p)
	}
}

// giveUp ends a request that has had no answer for controller.quorum.request.timeout.ms; true when it was so.
func (s *State) giveUp(from, to NodeID, l *RaftLink) bool {
	if !l.Channel.InFlight || s.Now < l.Channel.Deadline {
		return false
	}
	s.hangUp(from, to, &l.Channel)
	l.Stale = false
	return true
}

// fetchTarget chooses whom a node fetches the metadata log from now: the leader, or, when it is unknown, does
// not answer or is unreachable, anybody, who may know the next one; NoNode while a request is in flight or
// everybody has failed just now.
func (s *State) fetchTarget(node NodeID, links []RaftLink, leader NodeID, counter *uint64) NodeID {
	silent, busy := false, false
	for i := range links {
		id := FirstController + NodeID(i)
		if s.giveUp(node, id, &links[i]) && id == leader {
			silent = true
		}
		busy = busy || links[i].Channel.InFlight && !links[i].Stale
	}
	switch {
	case busy:
		return NoNode
	case leader != NoNode && !silent && s.Now >= links[leader-FirstController].BackoffUntil:
		return leader
	}
	*counter++
	start := prng.Below(prng.Draw(s.World.Seed, drawBootstrap, uint64(node), *counter), len(links))
	for i := range links {
		at := (start + i) % len(links)
		if id := FirstController + NodeID(at); id != node && s.Now >= links[at].BackoffUntil && !links[at].Stale {
			return id
		}
	}
	return NoNode
}
