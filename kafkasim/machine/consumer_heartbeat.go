package machine

// Consumer, heartbeats: the thread beside the application's.
//
// It runs between two generations' joins only: it sends a heartbeat each heartbeat.interval.ms, looks for the coordinator
// when it has not answered for a session, and, when the application has not polled for max.poll.interval.ms, leaves the
// group in its name (C-71). It never joins: that is poll's work.
//
// Kafka: AbstractCoordinator.HeartbeatThread, Heartbeat, HeartbeatResponseHandler.

// beginHeartbeats starts the thread's clocks anew (Heartbeat.resetTimeouts).
func (s *State) beginHeartbeats(c *Consumer) {
	m, cfg := &c.Group, &c.Config.Member
	m.HeartbeatAt = s.Now + cfg.HeartbeatIntervalMs*ms
	m.SessionEnds = s.Now + cfg.SessionTimeoutMs*ms
	m.PollEnds = s.Now + cfg.MaxPollIntervalMs*ms
}

// beats tells whether the thread runs.
func (m *Membership) beats() bool {
	return m.On && m.Fatal == NONE && m.New.Phase == PhaseUnsubscribed && (m.State == MemberCompleting || m.State == MemberStable)
}

// background does what the consumer does beside its polls: heartbeats, commits under way, and a close. It sets the timer
// for what comes next.
func (s *State) background(c *Consumer) {
	m := &c.Group
	if c.Config.Member.GroupID == "" || c.Closed {
		return
	}
	if s.Now >= c.overdueAt(&c.Second) {
		s.coordinatorLost(c)
	}
	if c.protocol848() {
		s.beatProtocol(c)
	} else {
		s.beat(c)
	}
	s.goOnCommitting(c)
	if m.Closing {
		s.goOnClosing(c)
	}
	if c.Closed {
		return
	}
	s.wakeAt(&c.ClientIO, s.groupDeadline(c))
}

// beat is one round of the heartbeat thread.
func (s *State) beat(c *Consumer) {
	m := &c.Group
	switch {
	case !m.beats():
	case m.Coordinator == NoNode:
		s.findCoordinator(c)
	case s.Now >= m.SessionEnds: // G-116
		s.coordinatorLost(c)
		s.findCoordinator(c)
	case s.Now >= m.PollEnds && !m.Closing && !s.mutant(PollsNeverEnd):
		s.leaveGroup(c)
	case s.Now >= m.HeartbeatAt && !m.Beating:
		if s.askCoordinator(c, HeartbeatRequest{Group: c.Config.Member.GroupID, Member: m.ID, Instance: c.Config.Member.InstanceID, Generation: m.Generation}) {
			m.Beating = true
			m.HeartbeatAt = s.Now + c.Config.Member.HeartbeatIntervalMs*ms
		}
	}
}

// leaveGroup ends the membership: a dynamic member says so (C-71, C-74), a static one is waited for.
func (s *State) leaveGroup(c *Consumer) {
	m := &c.Group
	if c.protocol848() {
		s.leaveProtocol(c, PhaseLeaving)
		return
	}
	static := c.Config.Member.InstanceID
	goes := static == "" && m.CloseHow.Membership != RemainInGroup || m.CloseHow.Membership == LeaveGroup // C-74
	if goes && m.ID != "" && m.Coordinator != NoNode {
		if s.askCoordinator(c, LeaveGroupRequest{Group: c.Config.Member.GroupID, Members: []LeavingMember{{Member: m.ID, Instance: static}}}) {
			m.Leaving = true
		}
	}
	s.resetMembership(c, "")
}

// resetMembership forgets generation and state; what the consumer had is lost at the next poll.
func (s *State) resetMembership(c *Consumer, id string) {
	m := &c.Group
	m.ID, m.Generation, m.State, m.Rejoin, m.Leads = id, -1, MemberUnjoined, true, false
	m.Prepared, m.PrepareTo, m.Answers = false, 0, nil
}

// heartbeatAnswered is G-54.
func (s *State) heartbeatAnswered(c *Consumer, r HeartbeatRequest, a *HeartbeatResponse) {
	m := &c.Group
	m.Beating = false
	if a.Error != NONE {
		m.HeartbeatAt = s.Now + c.Times.RetryBackoff
	}
	switch a.Error {
	case NONE:
		m.SessionEnds = s.Now + c.Config.Member.SessionTimeoutMs*ms
	case COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR:
		s.coordinatorLost(c)
	case REBALANCE_IN_PROGRESS:
		if m.State == MemberStable {
			m.Rejoin = true
		}
		m.SessionEnds = s.Now + c.Config.Member.SessionTimeoutMs*ms
		m.HeartbeatAt = s.Now + c.Config.Member.HeartbeatIntervalMs*ms
	case ILLEGAL_GENERATION:
		if r.Generation == m.Generation {
			s.resetMembership(c, m.ID)
		}
	case UNKNOWN_MEMBER_ID:
		if r.Generation == m.Generation && r.Member == m.ID {
			s.resetMembership(c, "")
		}
	case FENCED_INSTANCE_ID:
		m.Fatal = a.Error
	}
}

// groupAnswered handles what comes back from a coordinator; false for answers to other requests.
func (s *State) groupAnswered(c *Consumer, r *Request, answer Payload) bool {
	m := &c.Group
	switch a := answer.(type) {
	case FindCoordinatorResponse:
		s.foundCoordinator(c, &a)
	case JoinGroupResponse:
		m.Answers = append(m.Answers, Later{a})
	case SyncGroupResponse:
		m.Answers = append(m.Answers, Later{a})
	case HeartbeatResponse:
		s.heartbeatAnswered(c, r.Payload.(HeartbeatRequest), &a)
	case LeaveGroupResponse:
		m.Leaving = false
	case ConsumerGroupHeartbeatResponse:
		s.protocolAnswered(c, r.Payload.(ConsumerGroupHeartbeatRequest), &a)
	case OffsetFetchResponse:
		s.offsetsFetched(c, r.Payload.(OffsetFetchRequest), &a)
	case OffsetCommitResponse:
		s.offsetsCommitted(c, r.Payload.(OffsetCommitRequest), &a)
	default:
		return false
	}
	return true
}

// loseGroupAnswers gives up requests to the coordinator that will not be answered.
func (s *State) loseGroupAnswers(c *Consumer, lost []Request) {
	m := &c.Group
	for i := range lost {
		switch r := lost[i].Payload.(type) {
		case FindCoordinatorRequest:
			s.findLater(c)
		case JoinGroupRequest, SyncGroupRequest:
			m.State, m.Rejoin = MemberUnjoined, true
			m.JoinAt = s.Now + c.Times.RetryBackoff
		case HeartbeatRequest:
			m.Beating = false
			m.HeartbeatAt = s.Now + c.Times.RetryBackoff
		case ConsumerGroupHeartbeatRequest:
			m.Leaving = m.Leaving && r.Epoch >= JoinEpoch
			if r.Epoch >= JoinEpoch {
				m.Beating = false
				m.New.Full, m.New.HasSaid = true, false
				m.HeartbeatAt = s.Now + c.Times.RetryBackoff
			}
		case LeaveGroupRequest:
			m.Leaving = false
		case OffsetFetchRequest:
			m.Asking, m.AskAt = false, s.Now+c.Times.RetryBackoff
		case OffsetCommitRequest:
			s.commitLost(c, r)
		}
	}
}

// pollGroupAt is when a running poll has something to do for the group: when auto.commit.interval.ms have passed it commits
// (ConsumerCoordinator.timeToNextPoll, CommitRequestManager.maximumTimeToWait), however long it may still wait for records.
func (c *Consumer) pollGroupAt(now int64) int64 {
	m := &c.Group
	at := c.pollJoinAt(now)
	if m.AutoCommitAt > now && m.Coordinator != NoNode && c.Config.Member.GroupID != "" && c.Config.Member.EnableAutoCommit {
		at = min(at, m.AutoCommitAt) // C-61
	}
	return at
}

// pollJoinAt is when a running poll can go on with joining: a coordinator that was not found, a group that was not
// joined and committed offsets that were not there are asked for again after a backoff.
func (c *Consumer) pollJoinAt(now int64) int64 {
	m := &c.Group
	switch {
	case c.Config.Member.GroupID == "":
		return never
	case c.protocol848() && m.BeforeJoin != 0 && m.PrepareTo > now:
		return m.PrepareTo
	case m.Coordinator == NoNode && !m.Finding:
		return c.orReconnect(m.FindAt, now)
	case m.Coordinator != NoNode && m.On && m.Rejoin && m.JoinAt > now:
		return m.JoinAt
	case m.AskAt > now:
		return m.AskAt
	}
	return never
}

// groupDeadline is when the group side has something to do by itself.
func (s *State) groupDeadline(c *Consumer) int64 {
	m := &c.Group
	at := min(c.overdueAt(&c.Second), s.protocolDeadline(c))
	needs := m.beats() || len(m.Commits) > 0 || m.Closing
	if needs && m.Coordinator == NoNode && !m.Finding {
		at = min(at, c.orReconnect(m.FindAt, s.Now))
	}
	if m.beats() && m.Coordinator != NoNode {
		at = min(at, m.SessionEnds, m.PollEnds)
		if !m.Beating {
			at = min(at, max(m.HeartbeatAt, c.Second.RetryAt))
		}
	}
	for i := range m.Commits {
		o := &m.Commits[i]
		if o.Done {
			continue
		}
		if !o.Sent {
			at = min(at, max(o.RetryAt, c.Second.RetryAt))
		}
		if o.Until != 0 {
			at = min(at, o.Until)
		}
	}
	if m.Closing {
		at = min(at, m.CloseBy)
	}
	if at <= s.Now {
		at = s.Now + ms // what is due and cannot be sent waits for an answer or a backoff
	}
	return at
}
