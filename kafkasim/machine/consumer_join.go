package machine

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/assign"
)

// Consumer, answers from the coordinator: a generation begins, the leader assigns, everybody gets its partitions.
//
// Kafka: AbstractCoordinator.JoinGroupResponseHandler, SyncGroupResponseHandler, ConsumerCoordinator.onLeaderElected,
// onJoinComplete.

// groupAnswer looks at an answer to JoinGroup or SyncGroup.
func (s *State) groupAnswer(c *Consumer, p Payload) {
	switch a := p.(type) {
	case JoinGroupResponse:
		s.joinAnswered(c, &a)
	case SyncGroupResponse:
		s.synced(c, &a)
	}
}

// joinAnswered begins the generation: SyncGroup follows (G-54 for the errors).
func (s *State) joinAnswered(c *Consumer, a *JoinGroupResponse) {
	m := &c.Group
	if m.State != MemberPreparing {
		return
	}
	if a.Error != NONE {
		m.State = MemberUnjoined
		s.joinRefused(c, a)
		return
	}
	if a.Leader == a.Member && !s.leaderKnowsTopics(c, a) {
		m.Answers = append(m.Answers, Later{*a})
		return
	}
	m.ID, m.Generation, m.Protocol = a.Member, a.Generation, a.Protocol
	m.State, m.Rejoin = MemberCompleting, false
	m.Leads = a.Leader == a.Member
	s.beginHeartbeats(c)
	r := SyncGroupRequest{Group: c.Config.Member.GroupID, Member: m.ID, Instance: c.Config.Member.InstanceID, Generation: m.Generation, Protocol: m.Protocol}
	if m.Leads {
		s.watchTopics(c, a)
		if !a.SkipAssignment { // G-71
			r.Assignments = s.assignGroup(c, a)
		}
	}
	if !s.askCoordinator(c, r) {
		m.State, m.Rejoin = MemberUnjoined, true
	}
}

func (s *State) joinRefused(c *Consumer, a *JoinGroupResponse) {
	m := &c.Group
	later := func() { m.JoinAt = s.Now + s.retryBackoff(&c.ClientIO, 0, uint64(s.Now), 2) }
	switch a.Error {
	case MEMBER_ID_REQUIRED: // G-20
		m.ID = a.Member
		return
	case UNKNOWN_MEMBER_ID:
		m.ID, m.Generation = "", -1
	case REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION:
	case COORDINATOR_LOAD_IN_PROGRESS:
		later()
	case COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR:
		s.coordinatorLost(c)
		later()
	default: // FENCED_INSTANCE_ID, INCONSISTENT_GROUP_PROTOCOL, INVALID_SESSION_TIMEOUT, GROUP_MAX_SIZE_REACHED, …
		m.Fatal = a.Error
	}
	c.Stats.rebalanceFails()
}

// leaderKnowsTopics makes sure that the leader has metadata of all topics of the group.
func (s *State) leaderKnowsTopics(c *Consumer, a *JoinGroupResponse) bool {
	known := true
	for i := range a.Members {
		for _, t := range a.Members[i].Subscription.Topics {
			at := c.Meta.add(t)
			if meta := &c.Meta.Topics[at]; meta.Topic < 0 && meta.Error == NONE {
				known = false
			}
		}
	}
	return known && !c.Meta.Wanted
}

// groupTopics are the topics of a group's members that exist, by name.
func (c *Consumer) groupTopics(a *JoinGroupResponse) []assign.Topic {
	var out []assign.Topic
	for i := range a.Members {
		for _, name := range a.Members[i].Subscription.Topics {
			t := c.Meta.topic(name)
			at, found := slices.BinarySearchFunc(out, name, func(x assign.Topic, n string) int { return cmp.Compare(x.Name, n) })
			if t >= 0 && !found && len(c.Meta.Topics[t].Parts) > 0 && c.Meta.Topics[t].Error == NONE {
				out = slices.Insert(out, at, assign.Topic{Name: name, Partitions: len(c.Meta.Topics[t].Parts)})
			}
		}
	}
	return out
}

// watchTopics remembers what the leader assigns, to notice when it changes: a topic that is not there yet counts
// as one without partitions.
func (s *State) watchTopics(c *Consumer, a *JoinGroupResponse) {
	c.Group.Watched = nil
	for i := range a.Members {
		for _, name := range a.Members[i].Subscription.Topics {
			if !slices.ContainsFunc(c.Group.Watched, func(w TopicParts) bool { return w.Topic == name }) {
				c.Group.Watched = append(c.Group.Watched, TopicParts{name, []int32{c.partitionCount(name)}})
			}
		}
	}
	slices.SortFunc(c.Group.Watched, func(a, b TopicParts) int { return cmp.Compare(a.Topic, b.Topic) })
}

// partitionCount is how many partitions a topic has by the client's metadata, 0 when it is not there.
func (c *Consumer) partitionCount(name string) int32 {
	if t := c.Meta.topic(name); t >= 0 && c.Meta.Topics[t].Error == NONE {
		return int32(len(c.Meta.Topics[t].Parts))
	}
	return 0
}

// assignGroup is the leader's work: the chosen assignor over what the members said.
func (s *State) assignGroup(c *Consumer, a *JoinGroupResponse) []MemberAssignment {
	g := assign.Group{Topics: c.groupTopics(a), TrustClaims: s.World.Rules.Without(OwnedGeneration)}
	topic := func(name string) int32 {
		at, found := slices.BinarySearchFunc(g.Topics, name, func(x assign.Topic, n string) int { return cmp.Compare(x.Name, n) })
		if !found {
			return -1
		}
		return int32(at)
	}
	for i := range a.Members {
		j := &a.Members[i]
		m := assign.Member{ID: j.ID, Instance: j.Instance, Rack: j.Subscription.Rack, Generation: int(j.Subscription.Generation)}
		for _, name := range j.Subscription.Topics {
			if t := topic(name); t >= 0 {
				m.Topics = append(m.Topics, t)
			}
		}
		for _, p := range each(j.Subscription.Owned) {
			if t := topic(p.Topic); t >= 0 {
				m.Owned = append(m.Owned, assign.Partition{Topic: t, Number: p.Partition})
			}
		}
		g.Members = append(g.Members, m)
	}
	s.addRacks(&g)
	result, _ := assign.Do(a.Protocol, &g)
	if s.mutant(HandsOverAtOnce) && a.Protocol == assign.CooperativeStickyName {
		result = assign.Sticky(&g)
	}
	if n := len(result); n > 1 && s.mutant(AssignsTwice) && len(result[0]) > 0 && !slices.Contains(result[n-1], result[0][0]) {
		result[n-1] = append(result[n-1], result[0][0])
	}
	out := make([]MemberAssignment, len(result))
	for i := range result {
		out[i].Member = g.Members[i].ID
		for _, p := range result[i] {
			out[i].Parts = addTo(out[i].Parts, g.Topics[p.Topic].Name, p.Number)
		}
	}
	return out
}

// addRacks tells an assignor where replicas are, if any member says where it is itself (A-13, KIP-881). The leader's
// metadata here name leaders only, so the replicas are those of the committed metadata.
func (s *State) addRacks(g *assign.Group) {
	if !slices.ContainsFunc(g.Members, func(m assign.Member) bool { return m.Rack != "" }) {
		return
	}
	im := s.Metadata()
	for i := range g.Topics {
		t := &g.Topics[i]
		topic := im.topic(t.Name)
		for p := range t.Partitions {
			var racks []string
			if reg := im.partition(TopicPartition{topic, int32(p)}); reg != nil {
				for _, id := range reg.Replicas {
					racks = append(racks, s.rack(id))
				}
			}
			t.Racks = append(t.Racks, racks)
		}
	}
}

// addTo adds a partition behind those of its topic, which come in order.
func addTo(parts []TopicParts, topic string, partition int32) []TopicParts {
	if n := len(parts); n == 0 || parts[n-1].Topic != topic {
		parts = append(parts, TopicParts{Topic: topic})
	}
	last := &parts[len(parts)-1]
	last.Partitions = append(last.Partitions, partition)
	return parts
}

// synced takes the assignment (onJoinComplete).
func (s *State) synced(c *Consumer, a *SyncGroupResponse) {
	m := &c.Group
	if m.State != MemberCompleting {
		return
	}
	switch a.Error {
	case NONE:
	case FENCED_INSTANCE_ID:
		m.State, m.Fatal = MemberUnjoined, a.Error
		return
	default:
		c.Stats.rebalanceFails()
		m.State, m.Rejoin = MemberUnjoined, true
		switch a.Error {
		case UNKNOWN_MEMBER_ID:
			m.ID, m.Generation = "", -1
		case ILLEGAL_GENERATION:
			m.Generation = -1
		case COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR:
			s.coordinatorLost(c)
		}
		m.Prepared = m.Generation >= 0 && m.Prepared
		return
	}
	m.State, m.Prepared = MemberStable, false
	c.Stats.rebalanceEnds(s.Now)
	s.takeAssignment(c, a.Parts)
}

// takeAssignment replaces what the consumer had. A cooperative member keeps what stays, and joins again if it had to give
// anything up.
func (s *State) takeAssignment(c *Consumer, parts []TopicParts) {
	m := &c.Group
	now, before := each(parts), c.assigned()
	m.Former, m.FormerIn, m.Last = parts, m.Generation+1, LastJoined{m.ID, m.Generation}
	without := func(list, out []NamedPartition) []NamedPartition {
		return slices.DeleteFunc(slices.Clone(list), func(p NamedPartition) bool { return slices.Contains(out, p) })
	}
	if revoked := without(before, now); c.cooperative() {
		if len(revoked) > 0 && !s.mutant(KeepsRevoked) {
			s.callListener(c, CallRevoked, revoked)
			m.Rejoin = true
		}
	}
	c.keepOnly(now)
	added := without(now, before)
	for _, p := range added {
		c.addPart(p.Topic, p.Partition)
	}
	c.learnPartitions()
	m.AutoCommitAt = s.Now + c.Config.Member.AutoCommitIntervalMs*ms
	s.callListener(c, CallAssigned, added)
}
