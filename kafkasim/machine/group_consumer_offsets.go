package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Offsets of groups with the consumer protocol, and the change from one protocol to the other.

// validateConsumerCommit says whether somebody may commit. A member that has not heard of its new epoch yet may commit for
// what it has had since (KIP-1251).
func (s *State) validateConsumerCommit(c *ConsumerGroup, member string, epoch int32, parts []CommitPart, txn bool) Code {
	if epoch < 0 && (txn || len(c.Members) == 0) {
		return NONE // G-81
	}
	m := c.member(member)
	stale := STALE_MEMBER_EPOCH
	if txn {
		stale = ILLEGAL_GENERATION
	}
	switch {
	case m == nil:
		return UNKNOWN_MEMBER_ID
	case m.classic():
		stale = ILLEGAL_GENERATION
	}
	switch {
	case epoch == m.Epoch, s.mutant(CommitsAnyEpoch):
		return NONE
	case epoch > m.Epoch, txn, s.World.Rules.Without(LateCommits):
		return stale
	}
	for i := range parts {
		at := s.Metadata().topic(parts[i].Topic)
		if !slices.ContainsFunc(slices.Concat(m.Assigned, m.Revoking), func(o OwnedPartition) bool {
			return o.TP == TopicPartition{at, parts[i].Partition} && epoch >= o.Epoch
		}) {
			return stale
		}
	}
	return NONE
}

// validateOffsetFetch says whether a member may ask for offsets: only in the epoch in which its coordinator has it, so that
// it is told nothing of a partition whose former owner may still commit (ConsumerGroup.validateOffsetFetch).
func (x *CoordinatorShard) validateOffsetFetch(m *OffsetFetchRequest) Code {
	g := x.group(m.Group)
	if m.Member == "" || g == nil || !g.Consumer.On {
		return NONE
	}
	switch p := g.Consumer.member(m.Member); {
	case p == nil:
		return UNKNOWN_MEMBER_ID
	case p.Epoch != m.Epoch:
		return STALE_MEMBER_EPOCH
	}
	return NONE
}

// groupTombstones are what is written when a group is removed.
func groupTombstones(g *Group) []partlog.Record {
	switch {
	case g.Consumer.On:
		return []partlog.Record{consumerTombstone(consumerKey(consumerTargetKey, g.ID)), consumerTombstone(consumerKey(consumerGroupKey, g.ID))}
	case g.Type != "":
		return []partlog.Record{{Key: groupKey(g.ID), Flags: partlog.NullValue}}
	}
	return nil
}

// leaveConsumerProtocol makes a group without members a classic one, which begins anew, when somebody joins it so.
func (s *State) leaveConsumerProtocol(b *Broker, x *CoordinatorShard, g *Group) Code {
	if !g.Consumer.On {
		return NONE
	}
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, groupTombstones(g)...), s.commitTimeout(), GroupStored{Group: g.ID}); code != NONE {
		return code
	}
	g.Consumer = ConsumerGroup{}
	g.Type, g.Protocol, g.Leader, g.Generation, g.State, g.Topics = "", "", "", 0, GroupEmpty, nil
	return NONE
}

// forgetGroup ends a group that was removed, or that changes its protocol: then its offsets stay.
func (x *CoordinatorShard) forgetGroup(id string) {
	g := x.group(id)
	if g == nil {
		return
	}
	if len(g.Txn) == 0 && !slices.ContainsFunc(g.Offsets, func(o GroupOffset) bool { return !o.Versions[len(o.Versions)-1].Gone }) {
		x.dropGroup(id)
		return
	}
	*g = Group{ID: id, BornAt: g.BornAt, Offsets: g.Offsets, Txn: g.Txn}
}
