package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// From one protocol to the other with members.
//
// A group becomes one of the consumer protocol when the first member joins it so, and a classic one again when the last
// such member has gone. In between it holds both kinds: for a classic member the coordinator is the leader, its generation is
// its member epoch, and REBALANCE_IN_PROGRESS tells it that its part of the target has changed. It joins, gives up what it is
// not to have any more, joins again if it was cooperative, and syncs to hear what it has.
//
// Kafka: GroupMetadataManager.convertToConsumerGroup, convertToClassicGroup, classicGroupJoinToConsumerGroup and its
// neighbours, ConsumerGroup.fromClassicGroup, ClassicGroup.fromConsumerGroup. Recordings ga1.

// ClassicMember is what a group with the consumer protocol knows of a member that speaks the classic one.
type ClassicMember struct {
	Protocols      []GroupProtocol // immutable; none is a member with the consumer protocol
	SessionTimeout int64           // µs
	JoinBy, SyncBy int64           // µs: when it must have joined again, and have synced; 0 for nothing
}

func (m *ConsumerMember) classic() bool { return len(m.Classic.Protocols) > 0 }

// memberSession is the coordinator's, or the one that a classic member asked for.
func (s *State) memberSession(m *ConsumerMember) int64 {
	if m.classic() {
		return m.Classic.SessionTimeout
	}
	return s.World.Broker.ConsumerGroups.SessionTimeoutMs * ms
}

// upgrades tells whether a classic group with members may become one of the consumer protocol.
func (s *State) upgrades(g *Group) bool {
	return s.World.Broker.ConsumerGroups.Migration.Upgrades() && g.Type == "consumer" && len(g.Members) <= int(s.World.Broker.ConsumerGroups.MaxSize)
}

// upgrade makes a classic group one of the consumer protocol. Its members keep what they have, which is the first target;
// its epoch is their generation. Who waits for an answer has to join again.
func (s *State) upgrade(b *Broker, g *Group) {
	c := ConsumerGroup{On: true, Epoch: g.Generation, AssignmentEpoch: g.Generation}
	for i := range g.Members {
		m := &g.Members[i]
		s.answerParked(b, &m.Join, JoinGroupResponse{Error: REBALANCE_IN_PROGRESS, Generation: -1, Member: m.ID})
		s.answerParked(b, &m.Sync, SyncGroupResponse{Error: REBALANCE_IN_PROGRESS})
		n := ConsumerMember{ID: m.ID, Instance: m.Instance, ClientID: m.ClientID, Host: m.Host, RebalanceTimeout: m.RebalanceTimeout,
			Epoch: g.Generation, Previous: g.Generation, ExpiresAt: s.Now + m.SessionTimeout,
			Classic: ClassicMember{Protocols: m.Protocols, SessionTimeout: m.SessionTimeout}}
		n.says(m.subscription(g.Protocol))
		n.Target = ownedPartitions(&b.Image, m.Assignment)
		slices.SortFunc(n.Target, compareTP)
		for _, tp := range n.Target {
			n.Assigned = append(n.Assigned, OwnedPartition{tp, g.Generation})
		}
		c.put(n)
	}
	c.Metadata, c.Assignor = c.metadata(&b.Image), s.preferredAssignor(&c)
	g.Members, g.Pending = nil, nil
	g.JoinAt, g.SyncAt, g.JoinDelay, g.JoinLeft, g.NewcomersJoined = 0, 0, 0, 0, false
	g.Consumer = c
}

// subscription is what a member says to an assignor, or to its first one.
func (m *GroupMember) subscription(assignor string) *Subscription {
	if p := m.protocol(assignor); p != nil {
		return &p.Subscription
	}
	return &m.Protocols[0].Subscription
}

// says takes a subscription over.
func (m *ConsumerMember) says(p *Subscription) {
	m.Topics, m.Rack = slices.Clone(p.Topics), p.Rack
	slices.Sort(m.Topics)
	m.Topics = slices.Compact(m.Topics)
}

// downgrades tells whether the group is a classic one without these members, with so many that come in their place: nobody
// speaks the consumer protocol then. Until a member goes a group stays what it is, whatever its members speak.
func (s *State) downgrades(c *ConsumerGroup, comes int, gone ...string) bool {
	left := comes
	for i := range c.Members {
		if m := &c.Members[i]; !slices.Contains(gone, m.ID) {
			if !m.classic() {
				return false
			}
			left++
		}
	}
	return left > 0 && left < len(c.Members)+comes && left <= int(s.World.Broker.Groups.MaxSize) && s.World.Broker.ConsumerGroups.Migration.Downgrades()
}

// downgrade makes a group, whose members are all classic ones now, a classic group: the group epoch is its generation, and
// the target what its members have.
func (s *State) downgrade(g *Group) {
	c := g.Consumer
	g.Consumer = ConsumerGroup{}
	g.Type, g.Generation, g.Members, g.Leader = "consumer", c.Epoch, nil, ""
	for i := range c.Members {
		m := &c.Members[i]
		n := GroupMember{ID: m.ID, Instance: m.Instance, ClientID: m.ClientID, Host: m.Host, SessionTimeout: m.Classic.SessionTimeout,
			RebalanceTimeout: m.RebalanceTimeout, Protocols: m.Classic.Protocols, ExpiresAt: s.Now + m.Classic.SessionTimeout}
		g.Members = append(g.Members, n)
	}
	g.Leader = g.Members[0].ID
	g.Protocol = s.vote(g)
	g.Topics = g.subscribedTopics()
	g.State, g.Previous, g.ChangedMs = GroupStable, GroupStable, s.Now/ms
}

// storeDowngrade writes a group that has become a classic one, with what its members have by the target before.
func (s *State) storeDowngrade(b *Broker, x *CoordinatorShard, g *Group, before *ConsumerGroup, target []MemberAssignment, then Payload) Code {
	var records []partlog.Record
	for i := range before.Members {
		for _, kind := range []int16{memberCurrentKey, memberTargetKey, consumerMemberKey} {
			records = append(records, consumerTombstone(consumerKey(kind, g.ID, before.Members[i].ID)))
		}
	}
	old := Group{ID: g.ID, Consumer: *before}
	records = append(records, groupTombstones(&old)...)
	records = append(records, groupRecord(g, target))
	return s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), then)
}

// targets are what the members of a group are to have.
func (c *ConsumerGroup) targets(b *Broker) []MemberAssignment {
	var out []MemberAssignment
	for i := range c.Members {
		out = append(out, MemberAssignment{Member: c.Members[i].ID, Parts: named(&b.Image, c.Members[i].Target)})
	}
	return out
}

// becomeClassic ends the consumer protocol of a group without these members; before is what was written of it. The others
// begin a generation, unless somebody has taken a place.
func (s *State) becomeClassic(b *Broker, x *CoordinatorShard, g *Group, before ConsumerGroup, then Payload, rebalance bool, gone ...string) Code {
	was := *g
	g.Consumer = g.Consumer.clone()
	for _, id := range gone {
		g.Consumer.drop(id)
	}
	target := g.Consumer.targets(b)
	s.downgrade(g)
	if code := s.storeDowngrade(b, x, g, &before, target, then); code != NONE {
		*g = was
		return code
	}
	for i := range g.Members {
		for _, a := range target {
			if a.Member == g.Members[i].ID {
				g.Members[i].Assignment = a.Parts
			}
		}
	}
	if rebalance {
		s.prepareRebalance(b, x, g)
	} else {
		s.noteGroup(b, g)
	}
	s.watchGroup(b, x, g)
	return NONE
}

// ClassicJoinStored answers a JoinGroup in a group with the consumer protocol when its records are committed.
type ClassicJoinStored struct {
	To       Parked
	Response JoinGroupResponse
}

func (ClassicJoinStored) payload() {}

func (s *State) classicJoinStored(b *Broker, m ClassicJoinStored, code Code) {
	r := m.Response
	if code != NONE {
		r = JoinGroupResponse{Error: code, Generation: -1, Member: r.Member}
	}
	s.answerParked(b, &m.To, r)
}

// joinConsumerGroup is a JoinGroup for a group of the consumer protocol that has members.
func (s *State) joinConsumerGroup(b *Broker, x *CoordinatorShard, g *Group, m *JoinGroupRequest, p *Parked) {
	c := &g.Consumer
	before := c.clone()
	code := s.classicMayJoin(c, m)
	id := m.Member
	if id == "" {
		id = s.newMemberID()
	}
	if code == NONE && m.Member == "" && m.Instance == "" && s.World.Rules.On(MemberIDRequired) { // G-20
		code = MEMBER_ID_REQUIRED
	}
	var member ConsumerMember
	replaced := ""
	if code == NONE {
		member, replaced, code = c.classicMember(m, id)
	}
	if code != NONE {
		s.answerParked(b, p, JoinGroupResponse{Error: code, Generation: -1, Member: id})
		return
	}
	last := replaced != "" && s.downgrades(c, 1, replaced)
	mine := s.classicJoins(b, c, m, member, replaced)
	r := JoinGroupResponse{Member: id, Generation: mine.Epoch, Protocol: m.Protocols[0].Name}
	then := ClassicJoinStored{To: *p, Response: r}
	if last {
		code = s.becomeClassic(b, x, g, before, then, false)
	} else {
		code = s.storeConsumerGroup(b, x, g, &before, then)
	}
	if code != NONE {
		g.Consumer = before
		s.answerParked(b, p, JoinGroupResponse{Error: code, Generation: -1, Member: id})
		return
	}
	if !last {
		s.consumerGroupMoved(b, g)
		s.watchConsumerGroup(b, x, g)
	}
}

// classicMayJoin looks at a JoinGroup alone.
func (s *State) classicMayJoin(c *ConsumerGroup, m *JoinGroupRequest) Code {
	switch {
	case s.World.Broker.ConsumerGroups.Migration.Policy == config.MigrationDisabled:
		return INCONSISTENT_GROUP_PROTOCOL
	case len(c.Members) >= int(s.World.Broker.ConsumerGroups.MaxSize) && c.member(m.Member) == nil:
		return GROUP_MAX_SIZE_REACHED
	case m.Type != "consumer" || !slices.ContainsFunc(m.Protocols, func(p GroupProtocol) bool { return c.classicKnow(p.Name) }):
		return INCONSISTENT_GROUP_PROTOCOL
	}
	return NONE
}

// classicKnow tells whether all classic members know an assignor.
func (c *ConsumerGroup) classicKnow(protocol string) bool {
	return !slices.ContainsFunc(c.Members, func(m ConsumerMember) bool {
		return m.classic() && !slices.ContainsFunc(m.Classic.Protocols, func(p GroupProtocol) bool { return p.Name == protocol })
	})
}

// classicMember is who joins: the present member, a new one, or the one that takes an instance's place, whatever protocol
// that one spoke; its former id is replaced.
func (c *ConsumerGroup) classicMember(m *JoinGroupRequest, id string) (ConsumerMember, string, Code) {
	static := c.static(m.Instance)
	switch {
	case m.Instance == "" || static == nil && m.Member == "":
	case static == nil:
		return ConsumerMember{}, "", UNKNOWN_MEMBER_ID
	case m.Member == "":
		next := *static
		next.ID, next.Epoch, next.Previous = id, 0, 0
		return next, static.ID, NONE
	case static.ID != m.Member:
		return ConsumerMember{}, "", FENCED_INSTANCE_ID
	}
	if present := c.member(id); present != nil {
		return *present, "", NONE
	}
	return ConsumerMember{ID: id, Instance: m.Instance, Host: "/127.0.0.1"}, "", NONE
}

// classicJoins takes over what a classic member says, and moves it towards the target.
func (s *State) classicJoins(b *Broker, c *ConsumerGroup, m *JoinGroupRequest, member ConsumerMember, replaced string) ConsumerMember {
	said := m.Protocols[0].Subscription
	topics := member.Topics
	member.says(&said)
	changed := !slices.Equal(topics, member.Topics) || replaced == "" && c.member(member.ID) == nil
	member.ClientID, member.RebalanceTimeout = m.ClientID, m.RebalanceTimeoutMs*ms
	member.Classic = ClassicMember{Protocols: m.Protocols, SessionTimeout: m.SessionTimeoutMs * ms, SyncBy: s.Now + m.RebalanceTimeoutMs*ms}
	member.ExpiresAt, member.RevokeBy = s.Now+member.Classic.SessionTimeout, 0
	if replaced != "" {
		c.drop(replaced)
	}
	c.put(member)
	s.settleTarget(b, c, changed)
	at, _ := c.find(member.ID)
	owned := said.Owned
	if said.Sticky {
		owned = nil // what StickyAssignor remembers is not what the member has: it is eager
	}
	s.reconcile(c, &c.Members[at], true, ownedPartitions(&b.Image, owned))
	return c.Members[at]
}

// classicOf is the classic member of a request, if it may speak (validateConsumerGroupMember).
func (c *ConsumerGroup) classicOf(id, instance string) (*ConsumerMember, Code) {
	m := c.member(id)
	if instance != "" {
		if m = c.static(instance); m != nil && m.ID != id {
			return nil, FENCED_INSTANCE_ID
		}
	}
	if m == nil || !m.classic() {
		return nil, UNKNOWN_MEMBER_ID
	}
	return m, NONE
}

// syncConsumerGroup is a SyncGroup of a classic member: it hears what it has.
func (s *State) syncConsumerGroup(b *Broker, x *CoordinatorShard, g *Group, m *SyncGroupRequest) SyncGroupResponse {
	c := &g.Consumer
	member, code := c.classicOf(m.Member, m.Instance)
	switch {
	case code != NONE:
		return SyncGroupResponse{Error: code}
	case member.Epoch != m.Generation:
		return SyncGroupResponse{Error: ILLEGAL_GENERATION}
	case m.Protocol != "" && m.Protocol != member.Classic.Protocols[0].Name:
		return SyncGroupResponse{Error: INCONSISTENT_GROUP_PROTOCOL}
	case c.Epoch > member.Epoch && member.State != MemberUnrevoked:
		s.mustJoin(member)
		s.watchConsumerGroup(b, x, g)
		return SyncGroupResponse{Error: REBALANCE_IN_PROGRESS}
	}
	member.Classic.SyncBy, member.ExpiresAt = 0, s.Now+member.Classic.SessionTimeout
	s.watchConsumerGroup(b, x, g)
	return SyncGroupResponse{Protocol: member.Classic.Protocols[0].Name, Parts: named(&b.Image, tps(member.Assigned))}
}

// mustJoin gives a classic member its rebalance timeout to join again.
func (s *State) mustJoin(m *ConsumerMember) {
	if m.Classic.JoinBy == 0 {
		m.Classic.JoinBy = s.Now + m.RebalanceTimeout
	}
}

// heartbeatClassic is a Heartbeat of a classic member. It has to join when the group has moved on, when it has partitions to
// give up, and when what it waits for is free.
func (s *State) heartbeatClassic(b *Broker, x *CoordinatorShard, g *Group, m *HeartbeatRequest) Code {
	c := &g.Consumer
	member, code := c.classicOf(m.Member, m.Instance)
	if code != NONE {
		return code
	}
	if member.Epoch != m.Generation {
		return ILLEGAL_GENERATION
	}
	member.ExpiresAt = s.Now + member.Classic.SessionTimeout
	if member.Epoch < c.Epoch || member.State == MemberUnrevoked || member.State == MemberUnreleased && !c.waits(member) {
		s.mustJoin(member)
		code = REBALANCE_IN_PROGRESS
	}
	s.watchConsumerGroup(b, x, g)
	return code
}

// waits tells whether somebody else still holds a partition of the member's target.
func (c *ConsumerGroup) waits(m *ConsumerMember) bool {
	return slices.ContainsFunc(m.Target, func(tp TopicPartition) bool { return !m.holds(tp) && c.held(tp) })
}

// leaveByClassic is a LeaveGroup for a group of the consumer protocol: it takes classic members out, one epoch for all.
func (s *State) leaveByClassic(b *Broker, x *CoordinatorShard, g *Group, m *LeaveGroupRequest) LeaveGroupResponse {
	c := &g.Consumer
	before := c.clone()
	var r LeaveGroupResponse
	var gone []string
	for _, l := range m.Members {
		if static := c.static(l.Instance); l.Member == "" && static != nil {
			l.Member = static.ID
		}
		member, code := c.classicOf(l.Member, l.Instance)
		if code == NONE {
			gone = append(gone, member.ID)
			c.drop(member.ID)
		}
		r.Members = append(r.Members, code)
	}
	switch {
	case len(gone) == 0:
		return r
	case s.downgrades(&before, 0, gone...):
		if code := s.becomeClassic(b, x, g, before, GroupStored{Group: g.ID}, true); code != NONE {
			g.Consumer = before
			return LeaveGroupResponse{Error: code}
		}
		return r
	}
	c.Metadata = c.metadata(&b.Image)
	c.Epoch++
	if code := s.storeConsumerGroup(b, x, g, &before, GroupStored{Group: g.ID}); code != NONE {
		g.Consumer = before
		return LeaveGroupResponse{Error: code}
	}
	s.consumerGroupMoved(b, g)
	s.watchConsumerGroup(b, x, g)
	return r
}
