package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Forgetting: offsets that nobody has used for offsets.retention.minutes, and what administrators delete.
//
// Kafka: OffsetExpirationConditionImpl, OffsetMetadataManager.cleanupExpiredOffsets (G-100);
// GroupMetadataManager.deleteGroups, OffsetMetadataManager.deleteOffsets.

// GroupAdministered answers an administrator when what he asked for is committed.
type GroupAdministered struct {
	To    Parked
	Parts []CommitResult // of an OffsetDelete; nil for a DeleteGroup
	Group bool
}

func (GroupAdministered) payload() {}

// watchOffsets sets the timer of a shard that has anything to forget one day.
func (s *State) watchOffsets(b *Broker, x *CoordinatorShard) {
	if len(x.Groups) == 0 || x.ExpiryAt != 0 {
		return
	}
	every := s.World.Broker.Groups.RetentionCheckMs * ms
	x.ExpiryAt = s.Now + every
	s.chore(x.ExpiryAt, b.ID, OffsetExpiryTimer{TP: x.TP, Epoch: x.Epoch})
}

// onOffsetExpiry forgets what is too old.
func (s *State) onOffsetExpiry(b *Broker, e Event, m OffsetExpiryTimer) {
	x := b.shard(m.TP)
	if x == nil || x.Epoch != m.Epoch || x.ExpiryAt != e.At {
		return
	}
	x.ExpiryAt = 0
	var records []partlog.Record
	for i := len(x.Groups) - 1; i >= 0; i-- {
		g := &x.Groups[i]
		for j := len(g.Offsets) - 1; j >= 0; j-- {
			if o := &g.Offsets[j]; s.offsetExpired(g, o) {
				records = append(records, offsetRecord(g.ID, o.Topic, o.Partition, &OffsetVersion{Gone: true}))
				s.forgetsOffset(b, g, o.Topic, o.Partition)
				g.Offsets = slices.Delete(g.Offsets, j, j+1)
			}
		}
		if g.State == GroupEmpty && len(g.Offsets) == 0 && len(g.Txn) == 0 && len(g.Pending) == 0 {
			records = append(records, groupTombstones(g)...)
			x.dropGroup(g.ID)
		}
	}
	if len(records) > 0 {
		s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), GroupStored{})
	}
	s.watchOffsets(b, x)
}

// offsetExpired is G-100: an empty group's offsets count from when it became empty, a stable one's only if nobody
// subscribes to the topic, a simple group's from the commit.
func (s *State) offsetExpired(g *Group, o *GroupOffset) bool {
	v := &o.Versions[len(o.Versions)-1]
	since := v.CommitMs
	switch {
	case slices.ContainsFunc(g.Txn, func(t TxnOffset) bool { return t.Topic == o.Topic && t.Partition == o.Partition }):
		return false
	case g.Type == "":
	case g.Consumer.On: // by the commit's age, if no member subscribes to the topic
		if slices.Contains(g.Topics, o.Topic) {
			return false
		}
	case g.State == GroupEmpty:
		since = g.ChangedMs
	case g.State == GroupStable && !slices.Contains(g.Topics, o.Topic):
	default:
		return false
	}
	if s.mutant(ExpiresSubscribed) {
		since = v.CommitMs
	}
	return s.Now/ms-since >= s.World.Broker.Groups.RetentionMinutes*60_000
}

// forgetsOffset notes that a group has no offset of a partition any more.
func (s *State) forgetsOffset(b *Broker, g *Group, topic string, partition int32) {
	s.noteCommitted(b, g, topic, partition, -1)
	s.promiseCommit(CommitAnswer{g.ID, topic, partition, true})
}

// onDeleteGroup removes a group that has no members.
func (s *State) onDeleteGroup(b *Broker, e Event, m DeleteGroupRequest) {
	p := parked(&e)
	x, code := s.groupShard(b, m.Group)
	var g *Group
	if code == NONE {
		if x.shareGroup(m.Group) != nil {
			s.onDeleteShareGroup(b, p, m.Group)
			return
		}
		if g = x.group(m.Group); g == nil {
			code = GROUP_ID_NOT_FOUND
		} else if g.State != GroupEmpty {
			code = NON_EMPTY_GROUP
		}
	}
	if code != NONE {
		s.answerParked(b, &p, DeleteGroupResponse{Error: code})
		return
	}
	var records []partlog.Record
	for i := range g.Offsets {
		records = append(records, offsetRecord(g.ID, g.Offsets[i].Topic, g.Offsets[i].Partition, &OffsetVersion{Gone: true}))
		s.forgetsOffset(b, g, g.Offsets[i].Topic, g.Offsets[i].Partition)
	}
	records = append(records, groupTombstones(g)...)
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), GroupAdministered{To: p, Group: true}); code != NONE {
		s.answerParked(b, &p, DeleteGroupResponse{Error: code})
		return
	}
	g.State = GroupDead
	s.noteGroup(b, g)
	x.dropGroup(m.Group)
}

// onOffsetDelete removes committed offsets of topics that no member subscribes to.
func (s *State) onOffsetDelete(b *Broker, e Event, m OffsetDeleteRequest) {
	p := parked(&e)
	x, code := s.groupShard(b, m.Group)
	var g *Group
	if code == NONE {
		if g = x.group(m.Group); g == nil {
			code = GROUP_ID_NOT_FOUND
		} else if g.State != GroupEmpty && g.Type != "consumer" {
			code = NON_EMPTY_GROUP
		}
	}
	if code != NONE {
		s.answerParked(b, &p, OffsetDeleteResponse{Error: code})
		return
	}
	var records []partlog.Record
	var results []CommitResult
	for _, t := range m.Parts {
		r := CommitResult{Topic: t.Topic, Partition: t.Partition}
		i, found := g.offset(t.Topic, t.Partition)
		switch {
		case g.State != GroupEmpty && slices.Contains(g.Topics, t.Topic):
			r.Error = GROUP_SUBSCRIBED_TO_TOPIC
		case found:
			records = append(records, offsetRecord(g.ID, t.Topic, t.Partition, &OffsetVersion{Gone: true}))
			s.forgetsOffset(b, g, t.Topic, t.Partition)
			g.Offsets = slices.Delete(g.Offsets, i, i+1)
		}
		results = append(results, r)
	}
	if len(records) == 0 {
		s.answerParked(b, &p, OffsetDeleteResponse{Parts: results})
		return
	}
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), GroupAdministered{To: p, Parts: results}); code != NONE {
		s.answerParked(b, &p, OffsetDeleteResponse{Error: code})
	}
}

func (s *State) groupAdministered(b *Broker, m GroupAdministered, code Code) {
	if m.Group {
		s.answerParked(b, &m.To, DeleteGroupResponse{Error: code})
		return
	}
	s.answerParked(b, &m.To, OffsetDeleteResponse{Error: code, Parts: m.Parts})
}
