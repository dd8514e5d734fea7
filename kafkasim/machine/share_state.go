package machine

import (
	"cmp"
	"slices"
	"sort"

	"kafkalab/kafkasim/partlog"
)

// Share coordinator: it keeps, for each partition of each share group, the start offset and the states of the records in
// flight, in __share_group_state (H-19).
//
// A leader reads them when it begins, and that writes its leader epoch; from then on what an older leader writes is refused
// (FENCED_LEADER_EPOCH). What is Acquired is not written, so after a failover it is Available again. Who initializes a state
// anew raises its state epoch, and that fences who has read the state before (FENCED_STATE_EPOCH). Topics that are deleted
// take their states along.
//
// Kafka: ShareCoordinatorShard, ShareCoordinatorService, PersisterStateBatchCombiner (KIP-932). The records are in
// share_state_log.go, what keeps the log short in share_state_prune.go.

// ShareStateStored answers a request to the share coordinator when its record is committed.
type ShareStateStored struct {
	Who    Parked
	Answer ShareStateResponse
}

func (ShareStateStored) payload() {}

func (x *CoordinatorShard) findShareState(group string, tp TopicPartition) (int, bool) {
	return sort.Find(len(x.Share.States), func(i int) int {
		y := &x.Share.States[i]
		return cmp.Or(cmp.Compare(tp.Topic, y.TP.Topic), cmp.Compare(tp.Partition, y.TP.Partition), cmp.Compare(group, y.Group))
	})
}

// onShareState is one request to the share coordinator (APIs 83 to 86).
func (s *State) onShareState(b *Broker, e Event, m ShareStateRequest) {
	p := parked(&e)
	a := ShareStateResponse{Op: m.Op, Start: -1}
	x, code := b.coordinator(ShareCoordinator, shareKey(m.Group, m.TP))
	if code == NONE {
		code = s.shareStateRequest(b, x, &m, &a, p)
	}
	if code != NONE {
		a.Error = code
		s.answerParked(b, &p, a)
	}
}

// shareStateRequest carries a request out; one that changes something is answered when that is committed.
func (s *State) shareStateRequest(b *Broker, x *CoordinatorShard, m *ShareStateRequest, a *ShareStateResponse, p Parked) Code {
	i, found := x.findShareState(m.Group, m.TP)
	y := ShareState{Group: m.Group, TP: m.TP, LeaderEpoch: -1, Start: m.Start}
	if found {
		y = x.Share.States[i]
	}
	if code := s.shareStateError(b, m, &y, found); code != NONE {
		return code
	}
	then := ShareStateStored{Who: p, Answer: *a}
	switch m.Op {
	case ReadShareState:
		then.Answer.StateEpoch, then.Answer.Start, then.Answer.Batches = y.StateEpoch, y.Start, y.Batches
		if y.LeaderEpoch == m.LeaderEpoch || s.mutant(ReadsWithoutFence) {
			s.shareStateWritten(m)
			s.answerParked(b, &p, then.Answer)
			return NONE
		}
		m = &ShareStateRequest{Op: ReadShareState, Group: m.Group, TP: m.TP, LeaderEpoch: m.LeaderEpoch, Start: y.Start, Complete: y.Complete}
	case DeleteShareState:
		if !found {
			s.answerParked(b, &p, then.Answer)
			return NONE
		}
		return s.storeShareState(b, x, m, y, shareTombstone(&y), then)
	case InitializeShareState:
		y.StateEpoch, y.Start, y.Batches, y.Complete = m.StateEpoch, m.Start, nil, 0
		if !found {
			y.Snapshot = -1
		}
		then.Answer.Start = y.Start
		record := s.nextSnapshot(b, x, &y)
		return s.storeShareState(b, x, m, y, record, then)
	}
	then.Answer.Start = m.Start
	if y.Updates < s.World.Broker.Share.UpdatesPerSnapshot {
		return s.storeShareState(b, x, m, y.with(m), shareUpdate(&y, m), then)
	}
	y = y.with(m)
	record := s.nextSnapshot(b, x, &y)
	return s.storeShareState(b, x, m, y, record, then)
}

// shareStateError is why a request is refused (ShareCoordinatorShard.maybeGetWriteStateError and the like).
func (s *State) shareStateError(b *Broker, m *ShareStateRequest, y *ShareState, found bool) Code {
	leads := m.Op == ReadShareState || m.Op == WriteShareState
	switch {
	case leads && !found:
		return INVALID_REQUEST
	case leads && m.LeaderEpoch < y.LeaderEpoch && !s.mutant(AnyShareLeader):
		return FENCED_LEADER_EPOCH
	case (m.Op == WriteShareState || m.Op == InitializeShareState) && found && m.StateEpoch < y.StateEpoch && !s.mutant(AnyStateEpoch):
		return FENCED_STATE_EPOCH
	case b.Image.partition(m.TP) == nil:
		return UNKNOWN_TOPIC_OR_PARTITION
	}
	return NONE
}

// with is a state after an update.
func (y ShareState) with(m *ShareStateRequest) ShareState {
	if m.Start >= 0 {
		y.Start = m.Start
	}
	if m.Op == ReadShareState && m.LeaderEpoch >= 0 {
		y.LeaderEpoch = m.LeaderEpoch
	}
	y.Batches = mergeShareBatches(y.Batches, m.Batches, y.Start)
	y.Complete = m.Complete
	y.Updates++
	return y
}

// storeShareState writes a record, and then has the state in memory.
func (s *State) storeShareState(b *Broker, x *CoordinatorShard, m *ShareStateRequest, y ShareState, record partlog.Record, then ShareStateStored) Code {
	tp := x.TP
	code := s.coordinatorAppend(b, x, s.ownBatch(b, record), s.World.Broker.Share.WriteTimeoutMs*ms, then)
	if x = b.shard(tp); code == NONE && x != nil {
		s.shareStateWritten(m)
		defer s.watchShareStates(b, x)
		x.keepShareState(y, record.Flags&partlog.NullValue != 0)
	}
	return code
}

func (x *CoordinatorShard) keepShareState(y ShareState, gone bool) {
	i, found := x.findShareState(y.Group, y.TP)
	switch {
	case found && gone:
		x.Share.States = slices.Delete(x.Share.States, i, i+1)
	case found:
		x.Share.States[i] = y
	case !gone:
		x.Share.States = slices.Insert(x.Share.States, i, y)
	}
}

// shareTopicGone deletes the states of a topic that was deleted (ShareCoordinatorShard.maybeCleanupShareState), and lets
// groups forget that it has any (GroupMetadataManager.maybeCleanupShareGroupState).
func (s *State) shareTopicGone(b *Broker, topic int32) {
	if s.mutant(KeepsTopicsState) {
		return
	}
	for i := range b.Shards {
		var records []partlog.Record
		for _, y := range slices.Clone(b.Shards[i].Share.States) {
			if y.TP.Topic == topic {
				records = append(records, shareTombstone(&y))
				b.Shards[i].keepShareState(y, true)
			}
		}
		if len(records) > 0 {
			s.coordinatorAppend(b, &b.Shards[i], s.ownBatch(b, records...), s.commitTimeout(), ShareStateStored{})
		}
	}
	s.shareGroupsForget(b, topic)
}

// mergeShareBatches puts changes over what was; where two speak of the same records the higher delivery count holds, then
// the later state. What is before start is forgotten.
func mergeShareBatches(old, changes []ShareStateBatch, start int64) []ShareStateBatch {
	all := slices.Concat(old, changes)
	var edges []int64
	for _, o := range all {
		edges = append(edges, max(o.First, start), max(o.Last+1, start))
	}
	slices.Sort(edges)
	var kept []ShareStateBatch
	for i := 0; i+1 < len(edges); i++ {
		from, to := edges[i], edges[i+1]-1
		best := -1
		for j, o := range all {
			if o.First <= from && to <= o.Last && (best < 0 || cmp.Or(cmp.Compare(o.Count, all[best].Count), cmp.Compare(o.State, all[best].State)) >= 0) {
				best = j
			}
		}
		if from > to || best < 0 {
			continue
		}
		o := all[best]
		if n := len(kept); n > 0 && kept[n-1].Last+1 == from && kept[n-1].State == o.State && kept[n-1].Count == o.Count {
			kept[n-1].Last = to
		} else {
			kept = append(kept, ShareStateBatch{from, to, o.State, o.Count})
		}
	}
	return kept
}

// shareStateStored answers who waits for a state's record.
func (s *State) shareStateStored(b *Broker, m ShareStateStored, code Code) {
	m.Answer.Error = code
	s.answerParked(b, &m.Who, m.Answer)
}
