package machine

import "slices"

// Requests of brokers to the share coordinator: the group coordinator's, for partitions that are new to a group, and
// the leaders', who read a state when they begin and write what changes.
//
// Requests about one partition go one after the other, and are tried again while there is no coordinator; after a few
// attempts they fail. Kafka: PersisterStateManager, DefaultStatePersister.

// shareRetries is how often a request is tried (PersisterStateManager.MAX_FIND_COORD_ATTEMPTS is 5; with the backoff it
// is about as long).
const shareRetries = 5

// Backoffs between two attempts, µs (REQUEST_BACKOFF_MS, REQUEST_BACKOFF_MAX_MS).
const (
	shareBackoff    = 1_000_000
	shareBackoffMax = 30_000_000
)

// ShareTimer: a broker looks after its share groups.
type ShareTimer struct{}

func (ShareTimer) payload() {}

// shareCall queues a request.
func (s *State) shareCall(b *Broker, c ShareCall) {
	c.Node = NoNode
	b.Share.Calls = append(b.Share.Calls, c)
	s.sendShareCalls(b)
}

// sendShareCalls sends what can be sent: one request to a node at a time, and one about a partition.
func (s *State) sendShareCalls(b *Broker) {
	for i := 0; i < len(b.Share.Calls); i++ {
		c := &b.Share.Calls[i]
		if c.Node != NoNode || c.Failed != NONE || b.shareCallWaits(i) {
			continue
		}
		if c.RetryAt > s.Now {
			s.wake(&b.Share.WakeAt, c.RetryAt, b.ID, ShareTimer{})
			continue
		}
		node := b.coordinatorOf(ShareCoordinator, shareKey(c.Request.Group, c.Request.TP))
		if node == NoNode {
			if b.Image.topic(ShareGroupStateTopic) < 0 {
				s.makeInternalTopic(b, ShareGroupStateTopic)
			}
			s.shareCallLater(b, &b.Share.Calls[i], COORDINATOR_NOT_AVAILABLE)
			continue
		}
		if p := b.peer(node, SharePeer); !p.Channel.InFlight {
			c.Node = node
			s.askPeer(b, p, c.Request)
		}
	}
}

// shareCallWaits tells whether an earlier request about the same partition is open.
func (b *Broker) shareCallWaits(i int) bool {
	for j := range i {
		if o := &b.Share.Calls[j].Request; o.Group == b.Share.Calls[i].Request.Group && o.TP == b.Share.Calls[i].Request.TP {
			return true
		}
	}
	return false
}

// shareCallLater lets a request wait for another attempt; after too many it has failed, which the timer makes known.
func (s *State) shareCallLater(b *Broker, c *ShareCall, code Code) {
	c.Node = NoNode
	c.Tries++
	c.RetryAt = s.Now + min(int64(shareBackoff)<<min(c.Tries-1, 5), shareBackoffMax)
	if c.Tries >= shareRetries && c.Request.Op != InitializeShareState {
		c.Failed, c.RetryAt = code, s.Now+1
	}
	s.wake(&b.Share.WakeAt, c.RetryAt, b.ID, ShareTimer{})
}

// onShareStateAnswer takes a coordinator's answer.
func (s *State) onShareStateAnswer(b *Broker, e Event, a ShareStateResponse) {
	if b.answeredPeer(&e, SharePeer) == nil {
		return
	}
	i := slices.IndexFunc(b.Share.Calls, func(c ShareCall) bool { return c.Node == e.From })
	if i < 0 {
		return
	}
	c := &b.Share.Calls[i]
	switch a.Error {
	case COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR:
		s.shareCallLater(b, c, a.Error)
	default:
		s.shareCallEnded(b, c, &a)
	}
	s.sendShareCalls(b)
}

// shareCallsLost goes on after a connection to a coordinator has broken: whether a write was carried out nobody knows,
// and it is written again, which changes nothing.
func (s *State) shareCallsLost(b *Broker, node NodeID) {
	for i := range b.Share.Calls {
		if c := &b.Share.Calls[i]; c.Node == node {
			s.shareCallLater(b, c, COORDINATOR_NOT_AVAILABLE)
			break
		}
	}
	s.sendShareCalls(b)
}

// shareCallEnded takes a request out and does what follows from its answer.
func (s *State) shareCallEnded(b *Broker, at *ShareCall, a *ShareStateResponse) {
	c := *at
	i := slices.IndexFunc(b.Share.Calls, func(o ShareCall) bool {
		return o.Request.Op == c.Request.Op && o.Request.Group == c.Request.Group && o.Request.TP == c.Request.TP
	})
	b.Share.Calls = slices.Delete(b.Share.Calls, i, i+1)
	switch c.Request.Op {
	case InitializeShareState, DeleteShareState:
		s.shareStateMade(b, &c, a.Error)
	case ReadShareState:
		s.shareRead(b, &c, a)
	case WriteShareState:
		s.shareWritten(b, &c, a.Error)
	}
}

// onShareTimer does what is due in a broker's share groups: locks that end, requests that wait for too long, and
// attempts at the share coordinator.
func (s *State) onShareTimer(b *Broker, e Event) {
	if e.At != b.Share.WakeAt {
		return
	}
	b.Share.WakeAt = 0
	for {
		i := slices.IndexFunc(b.Share.Calls, func(c ShareCall) bool { return c.Failed != NONE })
		if i < 0 {
			break
		}
		s.shareCallEnded(b, &b.Share.Calls[i], &ShareStateResponse{Error: b.Share.Calls[i].Failed})
	}
	s.expireShareLocks(b)
	s.sendShareCalls(b)
	s.tryShareJobs(b)
	s.watchShares(b)
}

// watchShares sets the timer for what comes next.
func (s *State) watchShares(b *Broker) {
	at := never
	b.Share.Partitions = slices.DeleteFunc(b.Share.Partitions, func(p SharePartition) bool {
		return s.sharePartition(b, p.Group, p.TP) == nil // of an earlier leadership
	})
	for i := range b.Share.Partitions {
		for j := range b.Share.Partitions[i].Window {
			if r := &b.Share.Partitions[i].Window[j]; r.State == ShareAcquired && !r.Pending && !s.mutant(LocksForEver) {
				at = min(at, r.LockEnds)
			}
		}
	}
	for i := range b.Share.Jobs {
		if j := &b.Share.Jobs[i]; j.Left == 0 {
			at = min(at, j.Deadline)
		}
	}
	for i := range b.Share.Calls {
		if c := &b.Share.Calls[i]; c.Node == NoNode && (c.RetryAt > s.Now || c.Failed != NONE) {
			at = min(at, c.RetryAt)
		}
	}
	if at != never {
		s.wake(&b.Share.WakeAt, max(at, s.Now+1), b.ID, ShareTimer{})
	}
}
