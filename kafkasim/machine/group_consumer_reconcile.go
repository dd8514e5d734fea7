package machine

import (
	"slices"

	"kafkalab/kafkasim/assign"
	"kafkalab/kafkasim/prng"
)

// The target of a group with the consumer protocol, and each member's way to it.

// drawTopicID is the purpose of the draws for the hashes of topics' ids.
const drawTopicID uint32 = 0x0d02

// retarget computes the target for the present group epoch, if it is behind and it is time for it.
func (s *State) retarget(b *Broker, g *ConsumerGroup) {
	interval := s.World.Broker.ConsumerGroups.AssignmentIntervalMs * ms
	if s.World.Rules.Without(AssignmentInterval) {
		interval = 0
	}
	if g.AssignmentEpoch >= g.Epoch || g.AssignedAt != 0 && s.Now < g.AssignedAt+interval {
		return
	}
	g.Assignor = s.preferredAssignor(g)
	ag, topics := assignable(&b.Image, g)
	order := make([]int32, len(topics))
	for i := range order {
		order[i] = int32(i)
	}
	hash := func(i int32) uint64 { return prng.Draw(s.World.Seed, drawTopicID, uint64(topics[i])) }
	slices.SortFunc(order, func(x, y int32) int {
		if hash(x) < hash(y) {
			return -1
		}
		return 1
	})
	ag.ExtrasFirst = s.World.Rules.Without(UniformKeepsExtras)
	result, _ := assign.DoServer(g.Assignor, &ag, order)
	for i := range g.Members {
		target := make([]TopicPartition, len(result[i]))
		for j, p := range result[i] {
			target[j] = TopicPartition{topics[p.Topic], p.Number}
		}
		slices.SortFunc(target, compareTP)
		g.Members[i].Target = target
	}
	g.AssignmentEpoch, g.AssignedAt = g.Epoch, s.Now
}

// preferredAssignor is the one that most members name, the first of the coordinator's for those who name none.
func (s *State) preferredAssignor(g *ConsumerGroup) string {
	best, votes := s.World.Broker.ConsumerGroups.Assignors[0], 0
	for _, name := range s.World.Broker.ConsumerGroups.Assignors {
		n := 0
		for i := range g.Members {
			if g.Members[i].Assignor == name {
				n++
			}
		}
		if n > votes {
			best, votes = name, n
		}
	}
	return best
}

// assignable is the group as an assignor sees it: topics by name, and the target before.
func assignable(im *Image, g *ConsumerGroup) (assign.Group, []int32) {
	var ag assign.Group
	var topics []int32
	for _, name := range g.subscribed() {
		if t := im.topic(name); t >= 0 {
			ag.Topics = append(ag.Topics, assign.Topic{Name: name, Partitions: len(im.Topics[t].Partitions)})
			topics = append(topics, t)
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		x := assign.Member{ID: m.ID, Instance: m.Instance, Generation: assign.NoGeneration}
		for _, name := range g.topicsOf(m) {
			if at := slices.Index(topics, im.topic(name)); at >= 0 {
				x.Topics = append(x.Topics, int32(at))
			}
		}
		for _, tp := range m.Target {
			if at := slices.Index(topics, tp.Topic); at >= 0 {
				x.Owned = append(x.Owned, assign.Partition{Topic: int32(at), Number: tp.Partition})
			}
		}
		ag.Members = append(ag.Members, x)
	}
	return ag, topics
}

// reconcile moves a member towards its target. owned are the partitions that it says it has, if it says so.
func (s *State) reconcile(g *ConsumerGroup, m *ConsumerMember, says bool, owned []TopicPartition) {
	switch {
	case m.State == MemberAssigned && m.Epoch == g.AssignmentEpoch:
		return
	case m.State == MemberUnrevoked && has(says, owned, m.Revoking) && !s.mutant(RevokesUnasked):
		return
	}
	var keep, revoke []OwnedPartition
	for _, o := range m.Assigned {
		if slices.Contains(m.Target, o.TP) {
			keep = append(keep, o)
		} else {
			revoke = append(revoke, o)
		}
	}
	unreleased := false
	for _, tp := range m.Target {
		switch {
		case slices.ContainsFunc(keep, func(o OwnedPartition) bool { return o.TP == tp }):
		case g.held(tp) && !s.mutant(GivesHeldPartitions):
			unreleased = true
		default:
			if len(revoke) == 0 || !has(says, owned, revoke) {
				keep = append(keep, OwnedPartition{tp, g.AssignmentEpoch})
			}
		}
	}
	slices.SortFunc(keep, func(a, b OwnedPartition) int { return compareTP(a.TP, b.TP) })
	m.Assigned = keep
	if len(revoke) > 0 && has(says, owned, revoke) {
		m.State, m.Revoking = MemberUnrevoked, revoke
		return
	}
	m.Revoking = nil
	m.State = MemberAssigned
	if unreleased {
		m.State = MemberUnreleased
	}
	if m.Epoch != g.AssignmentEpoch {
		m.Previous, m.Epoch = m.Epoch, g.AssignmentEpoch
	}
	if s.mutant(MemberAhead) {
		m.Epoch = g.Epoch
	}
}

// has tells whether a member still has one of these partitions, for all that it says; who says nothing may have them.
func has(says bool, owned []TopicPartition, list []OwnedPartition) bool {
	return !says || slices.ContainsFunc(list, func(o OwnedPartition) bool { return slices.Contains(owned, o.TP) })
}
