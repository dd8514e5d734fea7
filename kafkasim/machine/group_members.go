package machine

// SyncGroup, Heartbeat and LeaveGroup; the ends of sessions.
//
// Kafka: GroupMetadataManager.classicGroupSync, classicGroupHeartbeat, classicGroupLeave,
// expireClassicGroupMemberHeartbeat, expirePendingSync.

// AssignmentStored is what is done when the record with a generation's assignment is committed.
type AssignmentStored struct {
	Group       string
	Generation  int32
	Assignments []MemberAssignment
}

// GroupStored ends the writing of a group from which nothing follows.
type GroupStored struct{ Group string }

func (AssignmentStored) payload() {}
func (GroupStored) payload()      {}

// onSyncGroup is one SyncGroup (G-40, G-42).
func (s *State) onSyncGroup(b *Broker, e Event, m SyncGroupRequest) {
	p := parked(&e)
	x, code := s.groupShard(b, m.Group)
	if code == COORDINATOR_LOAD_IN_PROGRESS {
		code = REBALANCE_IN_PROGRESS // SyncGroup has no error that says "loading": join again
	}
	var g *Group
	if code == NONE {
		if g = x.group(m.Group); g == nil {
			code = UNKNOWN_MEMBER_ID
		} else if g.Consumer.On {
			s.answerParked(b, &p, s.syncConsumerGroup(b, x, g, &m))
			return
		} else if code = s.check(g, m.Member, m.Instance); code == NONE && m.Generation != g.Generation {
			code = ILLEGAL_GENERATION
		} else if code == NONE && g.State == GroupPreparingRebalance {
			code = REBALANCE_IN_PROGRESS
		}
	}
	if code != NONE {
		s.answerParked(b, &p, SyncGroupResponse{Error: code})
		return
	}
	member := g.member(m.Member)
	member.Unsynced = false
	if g.State == GroupStable {
		s.answerParked(b, &p, SyncGroupResponse{Protocol: g.Protocol, Parts: member.Assignment})
		return
	}
	member.Sync = p
	if member.ID == g.Leader {
		s.storeGroupThen(b, x, g, m.Assignments, AssignmentStored{Group: g.ID, Generation: g.Generation, Assignments: m.Assignments})
	}
}

// assignmentStored hands out what the leader decided, once it is safe in the log (G-12).
func (s *State) assignmentStored(b *Broker, x *CoordinatorShard, m AssignmentStored, code Code) {
	if x == nil {
		return // G-113: who waits has had its answer
	}
	g := x.group(m.Group)
	if g == nil || g.State != GroupCompletingRebalance || g.Generation != m.Generation {
		return
	}
	if code != NONE {
		s.handOut(b, g, nil, code)
		s.rebalanceOrComplete(b, x, g)
	} else {
		s.handOut(b, g, m.Assignments, NONE)
		s.becomes(b, g, GroupStable)
	}
	s.watchGroup(b, x, g)
}

// handOut answers all who wait for their partitions; members that the leader left out get none.
func (s *State) handOut(b *Broker, g *Group, assignments []MemberAssignment, code Code) {
	for i := range g.Members {
		m := &g.Members[i]
		m.Assignment = nil
		for j := range assignments {
			if assignments[j].Member == m.ID {
				m.Assignment = assignments[j].Parts
			}
		}
		r := SyncGroupResponse{Error: code, Parts: m.Assignment}
		if code == NONE {
			r.Protocol = g.Protocol
		}
		if s.answerParked(b, &m.Sync, r) {
			s.alive(m)
		}
	}
}

func (s *State) forgetSyncs(g *Group) {
	g.SyncAt = 0
	for i := range g.Members {
		g.Members[i].Unsynced = false
	}
}

// onHeartbeat is one Heartbeat (G-50 to G-52).
func (s *State) onHeartbeat(b *Broker, e Event, m HeartbeatRequest) {
	s.reply(b, e.From, e.Conn, e.Correlation, HeartbeatResponse{Error: s.heartbeat(b, &m)})
}

func (s *State) heartbeat(b *Broker, m *HeartbeatRequest) Code {
	x, code := s.groupShard(b, m.Group)
	switch code {
	case NONE:
	case COORDINATOR_LOAD_IN_PROGRESS:
		return NONE // G-51
	default:
		return code
	}
	g := x.group(m.Group)
	if g == nil {
		return UNKNOWN_MEMBER_ID
	}
	if g.Consumer.On {
		return s.heartbeatClassic(b, x, g, m)
	}
	if code := s.check(g, m.Member, m.Instance); code != NONE {
		return code
	}
	if m.Generation != g.Generation && !s.mutant(IgnoresGeneration) {
		return ILLEGAL_GENERATION
	}
	switch g.State {
	case GroupEmpty:
		return UNKNOWN_MEMBER_ID
	case GroupPreparingRebalance:
		s.alive(g.member(m.Member))
		return REBALANCE_IN_PROGRESS
	}
	s.alive(g.member(m.Member))
	return NONE
}

// onLeaveGroup takes members out at once (G-60).
func (s *State) onLeaveGroup(b *Broker, e Event, m LeaveGroupRequest) {
	x, code := s.groupShard(b, m.Group)
	if code == NONE {
		if g := x.group(m.Group); g != nil && g.Consumer.On {
			s.reply(b, e.From, e.Conn, e.Correlation, s.leaveByClassic(b, x, g, &m))
			return
		}
	}
	r := LeaveGroupResponse{Error: code}
	left := false
	for i := range m.Members {
		if code != NONE {
			break
		}
		c := s.leave(b, x.group(m.Group), &m.Members[i])
		left = left || c == NONE
		r.Members = append(r.Members, c)
	}
	s.reply(b, e.From, e.Conn, e.Correlation, r)
	if !left {
		return
	}
	g := x.group(m.Group)
	if g.State == GroupStable || g.State == GroupCompletingRebalance || g.State == GroupPreparingRebalance {
		s.rebalanceOrComplete(b, x, g)
	}
	s.watchGroup(b, x, g)
}

func (s *State) leave(b *Broker, g *Group, m *LeavingMember) Code {
	switch {
	case g == nil:
		return UNKNOWN_MEMBER_ID
	case m.Member == "":
		static := g.static(m.Instance)
		if static == nil {
			return UNKNOWN_MEMBER_ID
		}
		s.removeMember(b, g, static.ID)
		return NONE
	case g.pending(m.Member) < 0:
		if code := s.check(g, m.Member, m.Instance); code != NONE {
			return code
		}
	}
	s.removeMember(b, g, m.Member)
	return NONE
}

// watchGroup sets the timer for what the group waits for next.
func (s *State) watchGroup(b *Broker, x *CoordinatorShard, g *Group) {
	at := never
	for _, t := range [...]int64{g.JoinAt, g.SyncAt} {
		if t != 0 {
			at = min(at, t)
		}
	}
	for i := range g.Members {
		if m := &g.Members[i]; s.expires(m) {
			at = min(at, m.ExpiresAt)
		}
	}
	for i := range g.Pending {
		at = min(at, g.Pending[i].ExpiresAt)
	}
	if at != never {
		s.wake(&g.WakeAt, at, b.ID, GroupTimer{TP: x.TP, Epoch: x.Epoch, Group: g.ID})
	}
}

// expires tells whether a member's session can end: while it waits for an answer only a new one's does (G-33).
func (s *State) expires(m *GroupMember) bool {
	return (m.New || !m.Join.there() && !m.Sync.there()) && !s.mutant(SessionsNeverEnd)
}

// onGroupTimer does what is due in a group.
func (s *State) onGroupTimer(b *Broker, e Event, m GroupTimer) {
	x := b.shard(m.TP)
	if x == nil || x.Epoch != m.Epoch {
		return
	}
	g := x.group(m.Group)
	if g == nil || g.WakeAt != e.At {
		return
	}
	g.WakeAt = 0
	if g.Consumer.On {
		s.consumerGroupDue(b, x, g)
		return
	}
	s.expireMembers(b, x, g)
	if g.JoinAt != 0 && g.JoinAt <= s.Now {
		if g.JoinDelay != 0 {
			s.endInitialWait(b, x, g)
		} else {
			s.completeJoin(b, x, g)
		}
	}
	if g.SyncAt != 0 && g.SyncAt <= s.Now {
		s.expireSyncs(b, x, g)
	}
	s.watchGroup(b, x, g)
}

// expireMembers takes out whose session is over (G-53) and who was told an id and did not come back.
func (s *State) expireMembers(b *Broker, x *CoordinatorShard, g *Group) {
	members, all := len(g.Members), len(g.Members)+len(g.Pending)
	for i := len(g.Pending) - 1; i >= 0; i-- {
		if g.Pending[i].ExpiresAt <= s.Now {
			s.removeMember(b, g, g.Pending[i].ID)
		}
	}
	for i := len(g.Members) - 1; i >= 0; i-- {
		if m := &g.Members[i]; s.expires(m) && m.ExpiresAt <= s.Now {
			s.removeMember(b, g, m.ID)
		}
	}
	switch {
	case len(g.Members) < members && (g.State == GroupStable || g.State == GroupCompletingRebalance):
		s.rebalanceOrComplete(b, x, g)
	case len(g.Members)+len(g.Pending) < all && g.State == GroupPreparingRebalance && g.allJoined(): // G-24
		s.completeJoin(b, x, g)
	}
}

// expireSyncs takes out who has not synced in time, and begins anew (G-41).
func (s *State) expireSyncs(b *Broker, x *CoordinatorShard, g *Group) {
	g.SyncAt = 0
	gone := false
	for i := len(g.Members) - 1; i >= 0; i-- {
		if g.Members[i].Unsynced {
			s.removeMember(b, g, g.Members[i].ID)
			gone = true
		}
	}
	if gone && (g.State == GroupCompletingRebalance || g.State == GroupStable) {
		s.prepareRebalance(b, x, g)
	}
}
