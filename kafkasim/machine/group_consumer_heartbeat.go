package machine

import (
	"regexp"
	"slices"
)

// ConsumerGroupHeartbeat at the coordinator: joining, living and leaving.

// onConsumerGroupHeartbeat is one heartbeat.
func (s *State) onConsumerGroupHeartbeat(b *Broker, e Event, m ConsumerGroupHeartbeatRequest) {
	p := parked(&e)
	r := ConsumerGroupHeartbeatResponse{Member: m.Member}
	fail := func(code Code) {
		s.answerParked(b, &p, ConsumerGroupHeartbeatResponse{Error: code, Member: m.Member})
	}
	if code := s.validHeartbeat(&m); code != NONE {
		fail(code)
		return
	}
	x, code := s.groupShard(b, m.Group)
	if code == NONE && x.shareGroup(m.Group) != nil {
		code = GROUP_ID_NOT_FOUND // a share group has the name
	}
	if code != NONE {
		fail(code)
		return
	}
	g, code := s.consumerGroup(x, &m)
	if code != NONE {
		fail(code)
		return
	}
	before, was := g.Consumer.clone(), *g
	if !before.On {
		s.beginConsumerGroup(b, g)
		defer func() {
			if !g.Consumer.On && g.BornAt < 0 {
				x.dropGroup(m.Group)
			}
		}()
	}
	last := m.Epoch == LeaveEpoch && s.downgrades(&before, 0, m.Member)
	if m.Epoch < JoinEpoch {
		code = s.leaveConsumerGroup(b, g, &m, &r)
	} else {
		code = s.heartbeatConsumer(b, g, &m, &r)
	}
	switch {
	case code != NONE:
	case last:
		g.Consumer = before.clone()
		code = s.becomeClassic(b, x, g, before, ConsumerHeartbeatStored{To: p, Response: r}, true, m.Member)
	default:
		code = s.storeConsumerGroup(b, x, g, &before, ConsumerHeartbeatStored{To: p, Response: r})
	}
	if code != NONE {
		*g = was
		g.Consumer = before
		fail(code)
		return
	}
	if last {
		return
	}
	s.consumerGroupMoved(b, g)
	s.watchConsumerGroup(b, x, g)
	s.watchOffsets(b, x)
}

// validHeartbeat looks at the request alone (GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid).
func (s *State) validHeartbeat(m *ConsumerGroupHeartbeatRequest) Code {
	switch {
	case s.World.Rules.Without(ConsumerProtocol):
		return UNSUPPORTED_VERSION
	case m.Group == "":
		return INVALID_REQUEST
	case m.Member == "", m.Epoch < StaticLeaveEpoch:
		return INVALID_REQUEST
	case m.Epoch == JoinEpoch && (!m.Full || m.RebalanceTimeoutMs <= 0 || !m.HasOwned || len(m.Owned) > 0):
		return INVALID_REQUEST
	case m.Epoch == StaticLeaveEpoch && m.Instance == "":
		return INVALID_REQUEST
	case m.Assignor != "" && !slices.Contains(s.World.Broker.ConsumerGroups.Assignors, m.Assignor):
		return UNSUPPORTED_ASSIGNOR
	}
	if _, err := regexp.Compile(m.Pattern); err != nil {
		return INVALID_REGULAR_EXPRESSION // RE2J and Go's regexp are the same language
	}
	return NONE
}

// consumerGroup finds the group of a heartbeat; who joins makes it. An empty classic group becomes one of the consumer
// protocol, and begins anew.
func (s *State) consumerGroup(x *CoordinatorShard, m *ConsumerGroupHeartbeatRequest) (*Group, Code) {
	g := x.group(m.Group)
	switch {
	case g == nil && m.Epoch != JoinEpoch:
		return nil, GROUP_ID_NOT_FOUND
	case g == nil:
		g = x.addGroup(m.Group)
	case g.Consumer.On:
		return g, NONE
	case m.Epoch != JoinEpoch || g.State != GroupEmpty && !s.upgrades(g):
		return nil, GROUP_ID_NOT_FOUND // "Group … is not a consumer group."
	}
	return g, NONE
}

// beginConsumerGroup makes a group one of the consumer protocol.
func (s *State) beginConsumerGroup(b *Broker, g *Group) {
	if g.State != GroupEmpty {
		s.upgrade(b, g)
		return
	}
	g.Pending = nil
	g.Consumer = ConsumerGroup{On: true}
	if s.World.Rules.On(GroupEpochFromOne) {
		g.Consumer.Epoch = 1
	}
}

// leaveConsumerGroup takes a member out at once, or notes that a static one is away.
func (s *State) leaveConsumerGroup(b *Broker, g *Group, m *ConsumerGroupHeartbeatRequest, r *ConsumerGroupHeartbeatResponse) Code {
	c := &g.Consumer
	member := c.member(m.Member)
	if m.Instance != "" {
		static := c.static(m.Instance)
		switch {
		case static == nil:
			return UNKNOWN_MEMBER_ID
		case static.ID != m.Member:
			return FENCED_INSTANCE_ID
		}
	}
	if member == nil {
		return UNKNOWN_MEMBER_ID
	}
	r.Epoch = m.Epoch
	if m.Epoch == StaticLeaveEpoch {
		member.Previous, member.Epoch = member.Epoch, StaticLeaveEpoch
		member.Assigned, member.Revoking, member.State = slices.Concat(member.Assigned, member.Revoking), nil, MemberAssigned
		slices.SortFunc(member.Assigned, func(a, b OwnedPartition) int { return compareTP(a.TP, b.TP) })
		member.RevokeBy = 0
		return NONE
	}
	s.fenceConsumer(b, c, m.Member)
	return NONE
}

// fenceConsumer takes a member out; the target follows at somebody's next heartbeat.
func (s *State) fenceConsumer(b *Broker, c *ConsumerGroup, id string) {
	c.drop(id)
	c.Epoch++
	c.Metadata = c.metadata(&b.Image)
	if len(c.Members) == 0 && s.World.Rules.Without(EmptiedGroupStays) {
		c.AssignmentEpoch = c.Epoch
	}
}

// heartbeatConsumer is the heartbeat of who joins or is a member.
func (s *State) heartbeatConsumer(b *Broker, g *Group, m *ConsumerGroupHeartbeatRequest, r *ConsumerGroupHeartbeatResponse) Code {
	c := &g.Consumer
	owned := ownedPartitions(&b.Image, m.Owned)
	member, replaced, code := s.consumerMember(c, m, owned)
	if code != NONE {
		return code
	}
	was := tps(member.Assigned)
	changed := member.hears(m)
	member.ExpiresAt = s.Now + s.World.Broker.ConsumerGroups.SessionTimeoutMs*ms
	member.Classic = ClassicMember{}
	if replaced != "" {
		c.drop(replaced)
	}
	changed = changed || c.member(member.ID) == nil && replaced == ""
	c.put(member)
	s.askPatterns(c)
	s.settleTarget(b, c, changed)
	at, _ := c.find(member.ID)
	mine := c.Members[at]
	s.reconcile(c, &mine, m.HasOwned, owned)
	if mine.State != MemberUnrevoked {
		mine.RevokeBy = 0
	} else if mine.RevokeBy == 0 {
		mine.RevokeBy = s.Now + mine.RebalanceTimeout
	}
	c.Members[at] = mine
	r.Epoch, r.HeartbeatIntervalMs = mine.Epoch, s.World.Broker.ConsumerGroups.HeartbeatIntervalMs
	now := tps(mine.Assigned)
	if m.Full || !slices.Equal(was, now) {
		r.HasAssignment, r.Assignment = true, named(&b.Image, now)
	}
	return NONE
}

// settleTarget raises the group epoch, if what members subscribe to has changed or its topics have, and computes the target
//
func (s *State) settleTarget(b *Broker, c *ConsumerGroup, changed bool) {
	if now := c.metadata(&b.Image); changed || now != c.Metadata {
		c.Metadata = now
		if !s.mutant(EpochStands) {
			c.Epoch++
		}
	}
	s.retarget(b, c)
}

// ownedPartitions reads what a member says it has; topics that are no more are left out.
func ownedPartitions(im *Image, parts []TopicParts) []TopicPartition {
	var out []TopicPartition
	for _, p := range each(parts) {
		if t := im.topic(p.Topic); t >= 0 {
			out = append(out, TopicPartition{t, p.Partition})
		}
	}
	return out
}

// consumerMember is the member of a heartbeat: a new one, the present one, or the one that takes an instance's place, whose
// former id is replaced.
func (s *State) consumerMember(c *ConsumerGroup, m *ConsumerGroupHeartbeatRequest, owned []TopicPartition) (ConsumerMember, string, Code) {
	present := c.member(m.Member)
	if m.Instance != "" {
		static := c.static(m.Instance)
		switch {
		case static == nil && m.Epoch != JoinEpoch:
			return ConsumerMember{}, "", UNKNOWN_MEMBER_ID
		case static != nil && static.ID != m.Member && m.Epoch != JoinEpoch:
			return ConsumerMember{}, "", FENCED_INSTANCE_ID
		case static != nil && static.ID != m.Member && static.Epoch != StaticLeaveEpoch && !static.classic():
			return ConsumerMember{}, "", UNRELEASED_INSTANCE_ID
		case static != nil && (static.Epoch == StaticLeaveEpoch || static.ID != m.Member) && m.Epoch == JoinEpoch:
			next := *static
			next.ID, next.Epoch, next.Previous = m.Member, 0, 0
			return next, static.ID, NONE
		}
	}
	if present == nil {
		switch {
		case m.Epoch != JoinEpoch:
			return ConsumerMember{}, "", UNKNOWN_MEMBER_ID
		case len(c.Members) >= int(s.World.Broker.ConsumerGroups.MaxSize):
			return ConsumerMember{}, "", GROUP_MAX_SIZE_REACHED
		}
		return ConsumerMember{ID: m.Member, Instance: m.Instance, Host: "/127.0.0.1"}, "", NONE
	}
	return *present, "", s.validEpoch(present, m, owned)
}

// validEpoch fences a member that is not where it should be. One whose answer was lost may be an epoch behind, if it
// has nothing that it should not have; one that joins again gets what it has.
func (s *State) validEpoch(p *ConsumerMember, m *ConsumerGroupHeartbeatRequest, owned []TopicPartition) Code {
	switch {
	case m.Epoch == p.Epoch, s.mutant(AnyMemberEpoch):
		return NONE
	case m.Epoch == JoinEpoch && s.World.Rules.On(RejoinKeepsEpoch):
		return NONE
	case m.Epoch > p.Epoch || m.Epoch != p.Previous || !m.HasOwned:
		return FENCED_MEMBER_EPOCH
	}
	assigned := tps(p.Assigned)
	for _, tp := range owned {
		if !slices.Contains(assigned, tp) {
			return FENCED_MEMBER_EPOCH
		}
	}
	return NONE
}

// hears takes over what a member says of itself, and tells whether its subscription is another one.
func (m *ConsumerMember) hears(r *ConsumerGroupHeartbeatRequest) bool {
	if !r.Full {
		return false
	}
	topics := slices.Clone(r.Topics)
	slices.Sort(topics)
	changed := !slices.Equal(m.Topics, topics) || m.Pattern != r.Pattern || m.Assignor != r.Assignor
	m.Topics, m.Pattern, m.Assignor = topics, r.Pattern, r.Assignor
	m.RebalanceTimeout, m.ClientID, m.Rack = r.RebalanceTimeoutMs*ms, r.ClientID, r.Rack
	return changed
}

// consumerGroupMoved brings what every group has in line with what has happened.
func (s *State) consumerGroupMoved(b *Broker, g *Group) {
	g.Topics = g.Consumer.subscribed()
	g.Type, g.Leader = "consumer", ""
	g.Protocol = g.Consumer.Assignor
	state := g.Consumer.state()
	if state != g.State || g.Generation != g.Consumer.Epoch {
		g.Generation = g.Consumer.Epoch
		s.becomes(b, g, state)
	}
}
