package machine

import "slices"

// A controller: its process, its copy of the metadata log, and, while it is the active one, the image as of
// the log's end.
//
// The leader of the quorum (quorum.go) becomes the active controller when it has replayed everything that was
// committed before it. It appends what it decides to its log, answers when that is committed, watches the
// brokers' sessions, and answers fetches of the log. A controller that stops leading forgets its image; what
// it had appended and not committed may live on or not.
//
// Kafka: QuorumController (claim, renounce, ControllerWriteEvent), DeferredEventQueue. Simplified: a record
// is on disk when it is appended; no snapshots, so that a follower is always sent the log itself.

// Controller is one controller of the KRaft quorum.
type Controller struct {
	ID          NodeID
	Incarnation uint32 // how often the process was started
	Running     bool   // the process exists
	Paused      bool   // SIGSTOP: alive but silent
	Backlog     []Event
	Conns       []PeerConn // by (Node, ID): connections that others opened to it

	Log    []MetadataRecord // on disk; clones share it
	Quorum Quorum

	Active    bool // acts for the cluster
	Image     Image
	Sessions  []BrokerSession // by broker id, from 1
	Deferred  []DeferredReply // answers that wait for the commit, in order
	Mutations MutationQuotas
	Pause     ControllerPause
	Parked    []ParkedMetadataFetch
	WakeAt    int64 // µs: when MetadataFetchTimer is due, 0 for none
	Observers []Observer
}

// PeerConn is a connection that a node opened to a controller.
type PeerConn struct {
	Node NodeID
	ID   uint32
}

// DeferredReply is an answer that waits until everything below an offset is committed.
type DeferredReply struct {
	Offset int64
	Event  Event // who is answered, and what
}

// controller finds a controller by its id.
func (s *State) controller(id NodeID) *Controller { return &s.Controllers[id-FirstController] }

// soleController tells whether the quorum has one voter: what it appends is committed at once.
func (s *State) soleController() bool { return len(s.Controllers) == 1 }

// ActiveController is the controller that acts for the cluster and can be reached: the one of the highest
// epoch among those that live and are not paused. nil for none.
func (s *State) ActiveController() *Controller {
	var found *Controller
	for i := range s.Controllers {
		c := &s.Controllers[i]
		if c.Active && c.Running && !c.Paused && (found == nil || c.Quorum.Epoch > found.Quorum.Epoch) {
			found = c
		}
	}
	return found
}

// controllerEvent hands an event to a controller, if there is a process to take it.
func (s *State) controllerEvent(e Event) {
	c := s.controller(e.To)
	stale := !c.Running || e.Incarnation != c.Incarnation
	switch {
	case c.Paused:
		c.Backlog = append(c.Backlog, e)
		return
	case stale && e.From != NoNode && isControllerRequest(e.Payload):
		s.send(c.ID, e.From, e.Conn, e.Correlation, Disconnected{}) // a closed port: reset
		return
	case stale:
		return
	case e.From == NoNode:
		s.controllerTimer(c, e)
	case isControllerRequest(e.Payload):
		c.connect(e.From, e.Conn)
		s.controllerRequest(c, e)
	default:
		s.quorumAnswer(c, e)
	}
	s.pollQuorum(c)
}

// isControllerRequest tells whether a message to a controller opens an exchange.
func isControllerRequest(p Payload) bool {
	switch p.(type) {
	case VoteResponse, BeginQuorumEpochResponse, EndQuorumEpochResponse, MetadataFetchResponse, Disconnected:
		return false
	}
	return true
}

// controllerRequest handles a request: the quorum's own by whoever gets it, all others by the active
// controller only (R3.29).
func (s *State) controllerRequest(c *Controller, e Event) {
	switch p := e.Payload.(type) {
	case MetadataFetchRequest:
		s.onMetadataFetch(c, e, p)
		return
	case VoteRequest:
		s.onVote(c, e, p)
		return
	case BeginQuorumEpochRequest:
		s.onBeginQuorumEpoch(c, e, p)
		return
	case EndQuorumEpochRequest:
		s.onEndQuorumEpoch(c, e, p)
		return
	}
	if !c.Active {
		s.send(c.ID, e.From, e.Conn, e.Correlation, notController(e.Payload))
		return
	}
	switch p := e.Payload.(type) {
	case BrokerRegistrationRequest:
		s.onBrokerRegistration(c, e, p)
	case BrokerHeartbeatRequest:
		s.onBrokerHeartbeat(c, e, p)
	case AlterPartitionRequest:
		s.onAlterPartition(c, e, p)
	case AssignReplicasToDirsRequest:
		s.onAssignReplicasToDirs(c, e, p)
	case AllocateProducerIDsRequest:
		s.onAllocateProducerIDs(c, e)
	default:
		s.onAdmin(c, e)
	}
}

// notController is the answer NOT_CONTROLLER to a request, or in the place of another answer.
func notController(p Payload) Payload {
	switch p.(type) {
	case BrokerRegistrationRequest, BrokerRegistrationResponse:
		return BrokerRegistrationResponse{Error: NOT_CONTROLLER, BrokerEpoch: -1}
	case BrokerHeartbeatRequest, BrokerHeartbeatResponse:
		return BrokerHeartbeatResponse{Error: NOT_CONTROLLER}
	case AlterPartitionRequest, AlterPartitionResponse:
		return AlterPartitionResponse{Error: NOT_CONTROLLER}
	case AssignReplicasToDirsRequest, AssignReplicasToDirsResponse:
		return AssignReplicasToDirsResponse{Error: NOT_CONTROLLER}
	case AllocateProducerIDsRequest, AllocateProducerIDsResponse:
		return AllocateProducerIDsResponse{Error: NOT_CONTROLLER}
	}
	return AdminResponse{Error: NOT_CONTROLLER, ID: -1}
}

// controllerTimer handles a timer of the living process. The active controller's own are void when it has
// stopped to be it.
func (s *State) controllerTimer(c *Controller, e Event) {
	switch p := e.Payload.(type) {
	case ElectionTimer:
		if c.Active && p.Epoch == c.Quorum.Epoch {
			s.onElectionTimer(c, p)
		}
	case SessionCheckTimer:
		if c.Active && p.Epoch == c.Quorum.Epoch {
			s.onSessionCheck(c)
		}
	case ControllerLoaded:
		s.activate(c)
	case MetadataFetchTimer:
		if e.At == c.WakeAt {
			s.expireMetadataFetches(c)
		}
	case QuorumTimer:
		if e.At == c.Quorum.WakeAt {
			c.Quorum.WakeAt = 0
		}
	default:
		unexpected(e)
	}
}

// replyAsController answers a request: at once when everything in the log is committed, else with the
// commit of the log's end as it is now, because the answer may rest on it (R3.28).
func (s *State) replyAsController(c *Controller, e Event, p Payload) {
	if end := int64(len(c.Log)); c.Quorum.HighWatermark < end && !s.mutant(AnswersBeforeCommit) {
		c.Deferred = append(c.Deferred, DeferredReply{end, Event{To: e.From, Conn: e.Conn, Correlation: e.Correlation, Payload: p}})
		return
	}
	s.send(c.ID, e.From, e.Conn, e.Correlation, p)
}

// completeDeferred sends the answers whose records are committed.
func (s *State) completeDeferred(c *Controller) {
	n := 0
	for n < len(c.Deferred) && c.Deferred[n].Offset <= c.Quorum.HighWatermark {
		n++
	}
	done := c.Deferred[:n:n]
	c.Deferred = c.Deferred[n:]
	for i := range done {
		e := &done[i].Event
		s.send(c.ID, e.To, e.Conn, e.Correlation, e.Payload)
	}
}

// activate lets the quorum's leader act: it builds the image from its log, and gives every unfenced broker
// a whole session from now on, since heartbeats are not in the log (R3.29).
func (s *State) activate(c *Controller) {
	c.Active, c.Mutations = true, MutationQuotas{}
	if !s.soleController() {
		c.Image = s.emptyImage()
		for i := range c.Log {
			c.Image.apply(&c.Log[i])
		}
	}
	c.Sessions = make([]BrokerSession, s.World.Brokers)
	for i := range c.Sessions {
		c.Sessions[i] = BrokerSession{LastContact: never0, MetadataOffset: -1, ShutdownOffset: -1}
		dead := s.World.Rules.Without(KRaft) && !s.atZooKeeper(c, &s.Brokers[i])
		if !c.Image.Brokers[i].Fenced && !dead && !s.mutant(SessionsExpireAtOnce) {
			c.Sessions[i].LastContact = s.Now
		}
	}
	s.startPeriodic(c)
	s.noteController(c, "ACTIVE")
}

// never0 is a time before everything, µs.
const never0 = -1 << 62

// startPeriodic starts the clocks of the active controller.
func (s *State) startPeriodic(c *Controller) {
	s.after(s.sessionTimeout()/8, c.ID, SessionCheckTimer{Epoch: c.Quorum.Epoch})
	s.startElections(c)
}

// renounce ends a controller's acting: who waits for a commit is told to look elsewhere.
func (s *State) renounce(c *Controller) {
	deferred, parked := c.Deferred, c.Parked
	c.Deferred, c.Parked, c.Observers = nil, nil, nil
	for i := range parked {
		p := &parked[i]
		s.send(c.ID, p.From, p.Conn, p.Correlation, c.fetchError(NOT_LEADER_OR_FOLLOWER))
	}
	for i := range deferred {
		e := &deferred[i].Event
		s.send(c.ID, e.To, e.Conn, e.Correlation, notController(e.Payload))
	}
	if c.Active {
		c.Active, c.Image, c.Sessions = false, Image{}, nil
	}
}

// connect remembers a connection that a node uses.
func (c *Controller) connect(node NodeID, conn uint32) {
	if i, found := c.findConn(node, conn); !found {
		c.Conns = slices.Insert(c.Conns, i, PeerConn{node, conn})
	}
}

func (c *Controller) findConn(node NodeID, conn uint32) (int, bool) {
	return slices.BinarySearchFunc(c.Conns, PeerConn{node, conn}, func(a, x PeerConn) int {
		if a.Node != x.Node {
			return int(a.Node - x.Node)
		}
		return int(int64(a.ID) - int64(x.ID))
	})
}

// dropConn forgets a connection that is gone, and the fetch that was parked on it.
func (s *State) dropConn(c *Controller, node NodeID, conn uint32) {
	if i, found := c.findConn(node, conn); found {
		c.Conns = slices.Delete(c.Conns, i, i+1)
	}
	s.forgetMetadataFetch(c, node, conn)
}

// producerIDBlock is how many producer ids a broker gets at once (ProducerIdsBlock).
const producerIDBlock = 1000

// onAllocateProducerIDs hands a broker the next block of producer ids (P-81).
func (s *State) onAllocateProducerIDs(c *Controller, e Event) {
	first := c.Image.NextID
	s.commit(c, []MetadataRecord{{Kind: ProducerIDsRecord, NextID: first + producerIDBlock}})
	s.replyAsController(c, e, AllocateProducerIDsResponse{First: first, Count: producerIDBlock})
}
