package machine

import "slices"

// JoinGroup: who is in the next generation.
//
// A new member is told its id first, so that one whose answer was lost does not count twice (KIP-394). Then its JoinGroup
// waits, and is answered when the generation begins: when all have joined, or after the longest rebalance timeout
// (G-25); in a group that was empty after the initial delay, so that a whole application can start in one
// generation (G-23).
//
// Kafka: GroupMetadataManager.classicGroupJoin and what it calls; GroupCoordinatorService.joinGroup.

// newMemberJoinTimeout is after how long a new member that waits for its first generation is given up, µs (G-33).
const newMemberJoinTimeout = 300_000_000

// groupShard is the shard of a group, if this broker coordinates it.
func (s *State) groupShard(b *Broker, group string) (*CoordinatorShard, Code) {
	if group == "" {
		return nil, INVALID_GROUP_ID
	}
	return b.coordinator(GroupCoordinator, group)
}

// onJoinGroup is one JoinGroup.
func (s *State) onJoinGroup(b *Broker, e Event, m JoinGroupRequest) {
	p := parked(&e)
	fail := func(code Code, member string) {
		s.answerParked(b, &p, JoinGroupResponse{Error: code, Generation: -1, Member: member})
	}
	x, code := s.groupShard(b, m.Group)
	if code != NONE {
		fail(code, m.Member)
		return
	}
	if cfg := &s.World.Broker.Groups; m.SessionTimeoutMs < cfg.MinSessionTimeoutMs || m.SessionTimeoutMs > cfg.MaxSessionTimeoutMs {
		fail(INVALID_SESSION_TIMEOUT, "") // G-32
		return
	}
	if x.shareGroup(m.Group) != nil {
		fail(INCONSISTENT_GROUP_PROTOCOL, "") // a share group has the name
		return
	}
	g := x.group(m.Group)
	if g == nil && m.Member != "" {
		fail(UNKNOWN_MEMBER_ID, m.Member) // G-22
		return
	}
	g = x.addGroup(m.Group)
	if g.Consumer.On && len(g.Consumer.Members) > 0 {
		s.joinConsumerGroup(b, x, g, &m, &p)
		return
	}
	if code := s.leaveConsumerProtocol(b, x, g); code != NONE {
		fail(code, m.Member)
		return
	}
	switch {
	case !s.acceptsMember(g, m.Member): // G-32
		s.removeMember(b, g, m.Member)
		fail(GROUP_MAX_SIZE_REACHED, "")
	case !g.supports(m.Type, m.Protocols): // G-29
		fail(INCONSISTENT_GROUP_PROTOCOL, m.Member)
	case m.Member == "" && m.Instance != "":
		s.joinStatic(b, x, g, &m, &p)
	case m.Member == "" && s.World.Rules.On(MemberIDRequired): // G-20
		id := s.memberID(m.ClientID, "")
		g.Pending = append(g.Pending, PendingMember{id, s.Now + m.SessionTimeoutMs*ms})
		fail(MEMBER_ID_REQUIRED, id)
	case m.Member == "":
		s.joinNew(b, x, g, &m, s.memberID(m.ClientID, ""), &p)
	default:
		s.joinKnown(b, x, g, &m, &p)
	}
	if g.BornAt < 0 {
		s.storeGroup(b, x, g, nil) // a new group is known from its first record on
	}
	s.watchGroup(b, x, g)
}

// acceptsMember keeps a group below group.max.size.
func (s *State) acceptsMember(g *Group, id string) bool {
	most, known := int(s.World.Broker.Groups.MaxSize), g.member(id)
	switch g.State {
	case GroupPreparingRebalance:
		waiting := 0
		for i := range g.Members {
			if g.Members[i].Join.there() {
				waiting++
			}
		}
		return known != nil && known.Join.there() || waiting < most
	case GroupCompletingRebalance, GroupStable:
		return known != nil || len(g.Members) < most
	}
	return true
}

// joinKnown is the JoinGroup of somebody with a member id (G-30, G-31).
func (s *State) joinKnown(b *Broker, x *CoordinatorShard, g *Group, m *JoinGroupRequest, p *Parked) {
	if i := g.pending(m.Member); i >= 0 {
		g.Pending = slices.Delete(g.Pending, i, i+1)
		s.joinNew(b, x, g, m, m.Member, p)
		return
	}
	if code := s.check(g, m.Member, m.Instance); code != NONE {
		s.answerParked(b, p, JoinGroupResponse{Error: code, Generation: -1, Member: m.Member})
		return
	}
	member := g.member(m.Member)
	same := slices.EqualFunc(member.Protocols, m.Protocols, equalProtocols)
	switch {
	case g.State == GroupPreparingRebalance,
		g.State == GroupCompletingRebalance && !same,
		g.State == GroupStable && (g.Leader == member.ID || !same):
		s.updateMember(member, m, p)
		s.rebalanceOrComplete(b, x, g)
	case g.State == GroupCompletingRebalance, g.State == GroupStable:
		s.answerParked(b, p, g.joinAnswer(member, g.State == GroupCompletingRebalance))
	default:
		s.answerParked(b, p, JoinGroupResponse{Error: UNKNOWN_MEMBER_ID, Generation: -1, Member: m.Member})
	}
}

// joinAnswer is a member's answer in the present generation; listed says that the leader gets the list.
func (g *Group) joinAnswer(m *GroupMember, listed bool) JoinGroupResponse {
	r := JoinGroupResponse{Generation: g.Generation, Protocol: g.Protocol, Leader: g.Leader, Member: m.ID}
	if listed && m.ID == g.Leader { // G-27
		for i := range g.Members {
			o := &g.Members[i]
			j := JoinedMember{ID: o.ID, Instance: o.Instance}
			if p := o.protocol(g.Protocol); p != nil {
				j.Subscription = p.Subscription
			}
			r.Members = append(r.Members, j)
		}
	}
	return r
}

// updateMember takes over what a member says now; its JoinGroup waits.
func (s *State) updateMember(member *GroupMember, m *JoinGroupRequest, p *Parked) {
	member.Protocols, member.Join = m.Protocols, *p
	member.SessionTimeout, member.RebalanceTimeout = m.SessionTimeoutMs*ms, m.RebalanceTimeoutMs*ms
}

// joinNew adds a member.
func (s *State) joinNew(b *Broker, x *CoordinatorShard, g *Group, m *JoinGroupRequest, id string, p *Parked) {
	if g.State == GroupPreparingRebalance && g.Previous == GroupEmpty {
		g.NewcomersJoined = true
	}
	if len(g.Members) == 0 {
		g.Type = m.Type
	}
	g.Members = append(g.Members, GroupMember{ID: id, Instance: m.Instance, ClientID: m.ClientID, Host: "/127.0.0.1",
		New: true, ExpiresAt: s.Now + newMemberJoinTimeout})
	s.updateMember(&g.Members[len(g.Members)-1], m, p)
	if g.Leader == "" {
		g.Leader = id // G-28
	}
	s.rebalanceOrComplete(b, x, g)
}

// rebalanceOrComplete begins to collect JoinGroups, or ends it if this was the last.
func (s *State) rebalanceOrComplete(b *Broker, x *CoordinatorShard, g *Group) {
	if g.State != GroupPreparingRebalance {
		s.prepareRebalance(b, x, g)
		return
	}
	if g.Previous != GroupEmpty && g.allJoined() { // G-24
		s.completeJoin(b, x, g)
	}
}

// prepareRebalance begins to collect JoinGroups (G-23, G-25).
func (s *State) prepareRebalance(b *Broker, x *CoordinatorShard, g *Group) {
	if g.State == GroupCompletingRebalance {
		s.handOut(b, g, nil, REBALANCE_IN_PROGRESS)
	}
	s.forgetSyncs(g)
	initial := g.State == GroupEmpty
	s.becomes(b, g, GroupPreparingRebalance)
	switch {
	case initial:
		g.JoinDelay = s.World.Broker.Groups.InitialRebalanceDelayMs * ms
		g.JoinLeft = max(g.rebalanceTimeout()-g.JoinDelay, 0)
		g.JoinAt = s.Now + g.JoinDelay
		g.NewcomersJoined = false
	case g.allJoined():
		s.completeJoin(b, x, g)
	default:
		g.JoinAt, g.JoinDelay = s.Now+g.rebalanceTimeout(), 0
	}
}

// endInitialWait is the end of the initial delay: another one if somebody came meanwhile and there is time left (G-23).
func (s *State) endInitialWait(b *Broker, x *CoordinatorShard, g *Group) {
	if !g.NewcomersJoined || g.JoinLeft == 0 {
		s.completeJoin(b, x, g)
		return
	}
	g.NewcomersJoined = false
	delay := min(s.World.Broker.Groups.InitialRebalanceDelayMs*ms, g.JoinLeft)
	g.JoinLeft = max(g.JoinLeft-g.JoinDelay, 0)
	g.JoinDelay, g.JoinAt = delay, s.Now+delay
}

// completeJoin begins a generation (G-11, G-26).
func (s *State) completeJoin(b *Broker, x *CoordinatorShard, g *Group) {
	g.JoinAt, g.JoinDelay, g.JoinLeft = 0, 0, 0
	for i := len(g.Members) - 1; i >= 0; i-- {
		if m := &g.Members[i]; !m.Join.there() && m.Instance == "" && !s.mutant(KeepsAbsentMembers) {
			s.removeMember(b, g, m.ID)
		}
	}
	if len(g.Members) > 0 && !g.electLeader() {
		g.JoinAt = s.Now + g.rebalanceTimeout() // only static members, and none of them is back
		return
	}
	if !s.mutant(GenerationStays) {
		g.Generation++
	}
	s.forgetSyncs(g)
	if len(g.Members) == 0 {
		g.Protocol, g.Leader, g.Topics = "", "", nil
		s.becomes(b, g, GroupEmpty)
		s.storeGroup(b, x, g, nil) // G-12
		return
	}
	g.Protocol = s.vote(g)
	g.Topics = g.subscribedTopics()
	s.becomes(b, g, GroupCompletingRebalance)
	for i := range g.Members {
		m := &g.Members[i]
		s.answerParked(b, &m.Join, g.joinAnswer(m, true))
		m.New, m.Unsynced = false, true
		s.alive(m)
	}
	g.SyncAt = s.Now + g.rebalanceTimeout() // G-41
}

// electLeader makes sure that the leader has joined; false when nobody has.
func (g *Group) electLeader() bool {
	if m := g.member(g.Leader); m != nil && m.Join.there() {
		return true
	}
	for i := range g.Members {
		if g.Members[i].Join.there() {
			g.Leader = g.Members[i].ID
			return true
		}
	}
	return false
}

// subscribedTopics are those of all members, sorted.
func (g *Group) subscribedTopics() []string {
	var out []string
	for i := range g.Members {
		if p := g.Members[i].protocol(g.Protocol); p != nil {
			for _, t := range p.Subscription.Topics {
				if at, found := slices.BinarySearch(out, t); !found {
					out = slices.Insert(out, at, t)
				}
			}
		}
	}
	return out
}

// alive puts the end of a member's session off.
func (s *State) alive(m *GroupMember) { m.ExpiresAt = s.Now + m.SessionTimeout }

func equalProtocols(a, b GroupProtocol) bool {
	x, y := &a.Subscription, &b.Subscription
	return a.Name == b.Name && slices.Equal(x.Topics, y.Topics) && x.Generation == y.Generation && x.Rack == y.Rack &&
		x.Sticky == y.Sticky && slices.EqualFunc(x.Owned, y.Owned, equalParts)
}

func equalParts(a, b TopicParts) bool {
	return a.Topic == b.Topic && slices.Equal(a.Partitions, b.Partitions)
}
