package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
)

// Consumer, as a member of a group with the consumer protocol (KIP-848).
//
// One request does everything: the heartbeat, which a thread of its own sends. What the coordinator answers is
// carried out in poll, where the application's callbacks run: positions are committed, partitions given up, others begun,
// and then the next heartbeat says so at once. Partitions that stay are read all the while.
//
// Kafka: AsyncKafkaConsumer, ConsumerMembershipManager, AbstractMembershipManager, ConsumerHeartbeatRequestManager.
// Simplified: the classic consumer's poll is used for everything but the group.

// ProtocolPhase is where such a consumer stands (AbstractMembershipManager's MemberState, A-90).
type ProtocolPhase uint8

// The phases. PREPARE_LEAVING is not there: what comes before a leave happens at once.
const (
	PhaseUnsubscribed ProtocolPhase = iota
	PhaseJoining
	PhaseReconciling
	PhaseAcknowledging
	PhaseStable
	PhaseFenced
	PhaseLeaving
	PhaseStale
)

// String is Kafka's name of the phase.
func (p ProtocolPhase) String() string {
	return [...]string{"UNSUBSCRIBED", "JOINING", "RECONCILING", "ACKNOWLEDGING", "STABLE", "FENCED", "LEAVING", "STALE"}[p]
}

// ProtocolMember is a consumer's side of such a group.
type ProtocolMember struct {
	Phase    ProtocolPhase
	Pattern  string       // it subscribes by this regular expression, "" for by name; a classic member resolves it itself
	Target   []TopicParts // what the coordinator wants it to have; immutable
	Interval int64        // µs between heartbeats, as the coordinator says
	Full     bool         // the next heartbeat says everything
	Said     []TopicParts // what it last said that it has; immutable
	HasSaid  bool
	Ready    bool // what it had to commit is committed, and what it had to give up is given up
	Began    bool // it has carried out a target since it joined
}

// protocol848 tells whether the consumer speaks the consumer protocol.
func (c *Consumer) protocol848() bool { return c.Config.Member.Protocol == config.ConsumerProtocol }

// subscribeProtocol begins, changes or ends a membership.
func (s *State) subscribeProtocol(c *Consumer, topics []string, pattern string) {
	m := &c.Group
	if len(topics) == 0 && pattern == "" {
		s.leaveProtocol(c, PhaseUnsubscribed)
		s.callListener(c, CallRevoked, c.assigned())
		c.Parts, c.Buffer, c.WholeOf = nil, nil, ""
		m.On, m.Topics, m.New = false, nil, ProtocolMember{}
		s.background(c)
		return
	}
	if !m.On {
		c.Parts, c.Buffer, c.WholeOf = nil, nil, ""
		m.On, m.Generation, m.State = true, -1, MemberUnjoined
		m.New.Phase = PhaseUnsubscribed // it joins at its first poll
	}
	if m.ID == "" {
		m.ID = s.newMemberID() // the client makes it
	}
	m.Topics = slices.Clone(topics)
	slices.Sort(m.Topics)
	m.New.Pattern, m.New.Full = pattern, true
	for _, t := range m.Topics {
		c.Meta.add(t)
	}
	if m.New.Phase == PhaseStable {
		m.HeartbeatAt = s.Now
	}
	m.PollEnds = s.Now + c.Config.Member.MaxPollIntervalMs*ms
	s.goOnPolling(c)
}

// pollProtocol is what a poll does for the group.
func (s *State) pollProtocol(c *Consumer) {
	m := &c.Group
	if m.On {
		m.PollEnds = s.Now + c.Config.Member.MaxPollIntervalMs*ms
		if m.Fatal != NONE {
			c.Poll.Error = m.Fatal
			return
		}
		switch m.New.Phase {
		case PhaseUnsubscribed:
			s.joinProtocol(c)
		case PhaseFenced, PhaseStale:
			s.callListener(c, CallLost, c.assigned())
			c.keepOnly(nil)
			s.joinProtocol(c)
		case PhaseReconciling:
			s.reconcileProtocol(c)
		}
	}
	if m.Coordinator == NoNode {
		s.findCoordinator(c)
	}
	if m.New.Phase != PhaseReconciling {
		s.maybeAutoCommit(c)
	}
	s.beatProtocol(c)
}

// joinProtocol lets the next heartbeat be a join.
func (s *State) joinProtocol(c *Consumer) {
	m := &c.Group
	m.Generation, m.State = -1, MemberUnjoined
	m.New.Phase, m.New.Full, m.New.Target, m.New.HasSaid, m.New.Said, m.New.Ready, m.New.Began = PhaseJoining, true, nil, false, nil, false, false
	m.HeartbeatAt = max(s.Now, m.JoinAt)
	m.PrepareTo, m.BeforeJoin = 0, 0
}

// reconcileProtocol brings what the consumer has in line with its target: it commits, gives up, begins, and
// acknowledges.
func (s *State) reconcileProtocol(c *Consumer) {
	m := &c.Group
	target, had := each(m.New.Target), c.assigned()
	var gone, kept, added []NamedPartition
	for _, p := range had {
		if slices.Contains(target, p) {
			kept = append(kept, p)
		} else {
			gone = append(gone, p)
		}
	}
	for _, p := range target {
		if !slices.Contains(had, p) {
			added = append(added, p)
		}
	}
	if len(gone)+len(added) == 0 && m.New.Began && !m.New.Ready {
		m.PrepareTo, m.BeforeJoin = 0, 0 // a target before this one may have begun to take something away
		for i := range c.Parts {
			c.Parts[i].Revoking = false
		}
		m.New.Phase, m.HeartbeatAt = PhaseAcknowledging, s.Now
		return
	}
	c.Stats.rebalanceBegins(s.Now)
	if !m.New.Ready && !s.giveUpParts(c, gone, kept) {
		return
	}
	m.New.Ready, m.New.Began, m.PrepareTo, m.GivenUp = false, true, 0, GivenUp{}
	for _, p := range added {
		c.Meta.add(p.Topic)
		c.addPart(p.Topic, p.Partition)
	}
	c.learnPartitions()
	m.AutoCommitAt = s.Now + c.Config.Member.AutoCommitIntervalMs*ms
	c.Stats.rebalanceEnds(s.Now)
	s.callListener(c, CallAssigned, added)
	m.New.Phase, m.HeartbeatAt = PhaseAcknowledging, s.Now
}

// giveUpParts commits, if the consumer commits by itself, and gives partitions up; it is done when that is done and the
// application has heard of it.
func (s *State) giveUpParts(c *Consumer, gone, kept []NamedPartition) bool {
	m := &c.Group
	if m.PrepareTo == 0 {
		m.PrepareTo = s.Now + c.Config.Member.MaxPollIntervalMs*ms
	}
	for i := range c.Parts {
		c.Parts[i].Revoking = slices.Contains(gone, NamedPartition{c.Parts[i].Topic, c.Parts[i].TP.Partition})
	}
	if c.Config.Member.EnableAutoCommit && s.Now < m.PrepareTo && !s.commitBeforeJoin(c) {
		return false
	}
	m.New.Ready, m.BeforeJoin = true, 0 // a commit that has taken too long is not waited for any more
	if len(gone) == 0 {
		return true
	}
	s.callListener(c, CallRevoked, gone)
	if !s.mutant(KeepsFetching) {
		c.keepOnly(kept)
	}
	s.wakeAt(&c.ClientIO, s.Now) // the application's listener comes first
	return false
}

// beatProtocol is one round of the heartbeat thread.
func (s *State) beatProtocol(c *Consumer) {
	m := &c.Group
	switch {
	case !m.beatsProtocol():
	case m.Coordinator == NoNode:
		s.findCoordinator(c)
	case s.Now >= m.PollEnds && !m.Closing && m.New.Phase != PhaseJoining && !s.mutant(PollsNeverEnd):
		s.leaveProtocol(c, PhaseStale)
	case s.Now >= m.HeartbeatAt && !m.Beating:
		r := c.protocolHeartbeat()
		if s.askCoordinator(c, r) {
			m.Beating = true
			m.HeartbeatAt = s.Now + max(m.New.Interval, c.Times.RetryBackoff)
			m.New.Full = false
			if r.HasOwned {
				m.New.Said, m.New.HasSaid = r.Owned, true
			}
			if m.New.Phase == PhaseAcknowledging {
				m.New.Phase = PhaseStable
			}
		}
	}
}

// beatsProtocol tells whether the thread has something to send.
func (m *Membership) beatsProtocol() bool {
	switch m.New.Phase {
	case PhaseJoining, PhaseReconciling, PhaseAcknowledging, PhaseStable:
		return m.On && m.Fatal == NONE
	}
	return false
}

// protocolHeartbeat says what the coordinator does not know yet.
func (c *Consumer) protocolHeartbeat() ConsumerGroupHeartbeatRequest {
	m, cfg := &c.Group, &c.Config.Member
	r := ConsumerGroupHeartbeatRequest{Group: cfg.GroupID, Member: m.ID, Instance: cfg.InstanceID, ClientID: c.Name, Rack: c.Config.ClientRack,
		Epoch: max(m.Generation, JoinEpoch), Full: m.New.Full}
	if r.Full {
		r.RebalanceTimeoutMs, r.Topics, r.Pattern, r.Assignor = cfg.MaxPollIntervalMs, m.Topics, m.New.Pattern, cfg.RemoteAssignor
	}
	owned := byTopic(c.assigned())
	if r.Full || !m.New.HasSaid || !slices.EqualFunc(owned, m.New.Said, equalParts) {
		r.HasOwned, r.Owned = true, owned
	}
	return r
}

// leaveProtocol tells the coordinator that the consumer goes: for good, or with an instance id for a while.
func (s *State) leaveProtocol(c *Consumer, then ProtocolPhase) {
	m := &c.Group
	static := c.Config.Member.InstanceID != ""
	if m.Generation > 0 && m.Coordinator != NoNode && (static || m.CloseHow.Membership != RemainInGroup) {
		epoch := LeaveEpoch
		if static && m.CloseHow.Membership != LeaveGroup {
			epoch = StaticLeaveEpoch
		}
		if s.askCoordinator(c, ConsumerGroupHeartbeatRequest{Group: c.Config.Member.GroupID, Member: m.ID, Instance: c.Config.Member.InstanceID, Epoch: epoch}) {
			m.Leaving = true
		}
	}
	m.Generation, m.State, m.New.Phase = -1, MemberUnjoined, then
}

// protocolAnswered takes the answer to a heartbeat.
func (s *State) protocolAnswered(c *Consumer, r ConsumerGroupHeartbeatRequest, a *ConsumerGroupHeartbeatResponse) {
	m := &c.Group
	if r.Epoch < JoinEpoch {
		m.Leaving = false
		return
	}
	m.Beating = false
	if a.Error != NONE {
		s.protocolRefused(c, &r, a.Error)
		return
	}
	if !m.beatsProtocol() {
		return // it has left since
	}
	m.Generation, m.State, m.New.Interval, m.Last = a.Epoch, MemberStable, a.HeartbeatIntervalMs*ms, LastJoined{m.ID, a.Epoch}
	if m.HeartbeatAt > s.Now {
		m.HeartbeatAt = s.Now + m.New.Interval
	}
	if a.HasAssignment {
		m.New.Target = a.Assignment
		if m.New.Phase != PhaseReconciling { // the next poll does it
			m.New.Phase = PhaseReconciling
		}
		m.New.Ready = false
	} else if m.New.Phase == PhaseJoining {
		m.New.Phase = PhaseStable
	}
	s.wakeAt(&c.ClientIO, s.Now)
}

// protocolRefused is how a member takes errors.
func (s *State) protocolRefused(c *Consumer, r *ConsumerGroupHeartbeatRequest, why Code) {
	m := &c.Group
	m.HeartbeatAt = s.Now + s.retryBackoff(&c.ClientIO, 0, uint64(s.Now), 3)
	m.New.Full, m.New.HasSaid = !s.mutant(SaysLittle) || m.New.Full || r.Full, false // AbstractHeartbeatRequestManager.onErrorResponse: what it has said may be forgotten
	switch why {
	case NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE:
		m.HeartbeatAt = s.Now // as soon as there is a coordinator again
		s.coordinatorLost(c)
	case COORDINATOR_LOAD_IN_PROGRESS, REQUEST_TIMED_OUT, NETWORK_EXCEPTION:
	case FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID:
		if m.beatsProtocol() {
			m.Generation, m.State, m.New.Phase = -1, MemberUnjoined, PhaseFenced
			m.JoinAt = s.Now
		}
	default: // UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_ASSIGNOR, INVALID_REGULAR_EXPRESSION, …
		m.Fatal = why
		m.Generation, m.State = -1, MemberUnjoined
	}
	s.wakeAt(&c.ClientIO, s.Now)
}

// protocolDeadline is when the heartbeat thread has something to do by itself.
func (s *State) protocolDeadline(c *Consumer) int64 {
	m := &c.Group
	if !m.beatsProtocol() {
		return never
	}
	at := never
	if m.New.Phase != PhaseJoining && !m.Closing {
		at = m.PollEnds
	}
	switch {
	case m.Coordinator == NoNode && !m.Finding:
		at = min(at, c.orReconnect(m.FindAt, s.Now))
	case m.Coordinator != NoNode && !m.Beating:
		at = min(at, max(m.HeartbeatAt, c.Second.RetryAt))
	}
	return at
}

// staleCommit is a commit of an old member epoch: only the one before a revocation is tried again, with the new one (C-67).
func (s *State) staleCommit(c *Consumer, o *CommitOp) {
	switch o.Kind {
	case CommitBeforeJoin:
		s.commitAgain(c, o, STALE_MEMBER_EPOCH)
	case CommitSync:
		s.commitDone(c, o, COMMIT_FAILED)
	default:
		s.commitDone(c, o, STALE_MEMBER_EPOCH)
	}
}
