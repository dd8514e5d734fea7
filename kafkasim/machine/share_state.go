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
// A leader reads them when it begins, and writes each change; what is Acquired is not written, so after a failover it is
// Available again. A write of an older leader epoch is refused: two leaders cannot both decide (FENCED_LEADER_EPOCH).
//
// Kafka: ShareCoordinatorShard, ShareCoordinatorService (KIP-932). Simplified: each record is a whole snapshot
// (ShareSnapshot); Kafka writes updates between snapshots.

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
	if code != NONE || m.Op == ReadShareState {
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
	switch m.Op {
	case ReadShareState:
		if !found {
			return UNKNOWN_TOPIC_OR_PARTITION
		}
		if m.LeaderEpoch < y.LeaderEpoch {
			return FENCED_LEADER_EPOCH
		}
		a.StateEpoch, a.Start, a.Batches = y.StateEpoch, y.Start, y.Batches
		x.Share.States[i].LeaderEpoch = max(y.LeaderEpoch, m.LeaderEpoch)
		return NONE
	case WriteShareState:
		switch {
		case !found:
			return UNKNOWN_TOPIC_OR_PARTITION
		case m.StateEpoch != y.StateEpoch:
			return FENCED_STATE_EPOCH
		case m.LeaderEpoch < y.LeaderEpoch:
			return FENCED_LEADER_EPOCH
		}
		y.LeaderEpoch = m.LeaderEpoch
		y.Start = max(y.Start, m.Start)
		y.Batches = mergeShareBatches(y.Batches, m.Batches, y.Start)
	case DeleteShareState:
		if !found {
			return NONE
		}
	case InitializeShareState:
		y.StateEpoch++
		y.Start, y.Batches = m.Start, nil
	}
	a.Start = y.Start
	return s.storeShareState(b, x, y, m.Op == DeleteShareState, ShareStateStored{Who: p, Answer: *a})
}

// storeShareState writes a partition's state, and then has it in memory.
func (s *State) storeShareState(b *Broker, x *CoordinatorShard, y ShareState, gone bool, then ShareStateStored) Code {
	code := s.coordinatorAppend(b, x, s.ownBatch(b, shareStateRecord(&y, gone)), s.commitTimeout(), then)
	if code == NONE {
		x = b.shard(x.TP)
		x.keepShareState(y, gone)
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

// mergeShareBatches puts new states over old ones; what is before start is forgotten.
func mergeShareBatches(old, changes []ShareStateBatch, start int64) []ShareStateBatch {
	out := slices.Clone(old)
	for _, n := range changes {
		var next []ShareStateBatch
		for _, o := range out {
			if o.Last < n.First || o.First > n.Last {
				next = append(next, o)
				continue
			}
			if o.First < n.First {
				next = append(next, ShareStateBatch{o.First, n.First - 1, o.State, o.Count})
			}
			if o.Last > n.Last {
				next = append(next, ShareStateBatch{n.Last + 1, o.Last, o.State, o.Count})
			}
		}
		out = append(next, n)
	}
	slices.SortFunc(out, func(a, b ShareStateBatch) int { return cmp.Compare(a.First, b.First) })
	var kept []ShareStateBatch
	for _, o := range out {
		o.First = max(o.First, start)
		n := len(kept)
		switch {
		case o.Last < start:
		case n > 0 && kept[n-1].Last+1 == o.First && kept[n-1].State == o.State && kept[n-1].Count == o.Count:
			kept[n-1].Last = o.Last
		default:
			kept = append(kept, o)
		}
	}
	return kept
}

// shareStateRecord is a ShareSnapshot, or its tombstone.
func shareStateRecord(y *ShareState, gone bool) partlog.Record {
	k, w := recordWriter{flexible: true}, recordWriter{flexible: true}
	k.int16(0)
	k.text(y.Group)
	k.int64(0) // the topic's id: a number here
	k.int64(int64(y.TP.Topic))
	k.int32(y.TP.Partition)
	if gone {
		return partlog.Record{Key: string(k.bytes), Flags: partlog.NullValue}
	}
	w.int16(0)
	w.int32(0) // snapshot epoch
	w.int32(y.StateEpoch)
	w.int32(y.LeaderEpoch)
	w.int64(y.Start)
	w.length(len(y.Batches))
	for _, o := range y.Batches {
		w.int64(o.First)
		w.int64(o.Last)
		w.int8(int8(o.State))
		w.int16(o.Count)
		w.noTags()
	}
	w.noTags()
	return partlog.Record{Key: string(k.bytes), Value: string(w.bytes)}
}

// replayShareStates takes a batch of the log over into a shard that is being loaded.
func (x *CoordinatorShard) replayShareStates(batch *partlog.Batch) {
	for _, rec := range batch.Records.All() {
		k, r := recordReader{rest: rec.Key, flexible: true}, recordReader{rest: rec.Value, flexible: true}
		k.int16()
		y := ShareState{Group: k.text()}
		k.int64()
		y.TP = TopicPartition{int32(k.int64()), k.int32()}
		r.int16()
		r.int32()
		y.StateEpoch, y.LeaderEpoch, y.Start = r.int32(), r.int32(), r.int64()
		for n := r.length(); n > 0 && !r.bad; n-- {
			o := ShareStateBatch{First: r.int64(), Last: r.int64(), State: ShareRecordState(r.int8()), Count: r.int16()}
			r.tags(nil)
			y.Batches = append(y.Batches, o)
		}
		x.keepShareState(y, rec.Flags&partlog.NullValue != 0)
	}
}

// shareStateStored answers who waits for a state's record.
func (s *State) shareStateStored(b *Broker, m ShareStateStored, code Code) {
	m.Answer.Error = code
	s.answerParked(b, &m.Who, m.Answer)
}
