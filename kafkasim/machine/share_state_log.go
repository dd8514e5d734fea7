package machine

import "kafkalab/kafkasim/partlog"

// The records of __share_group_state, to the byte, and what is read back from them.
//
// A partition's state is a snapshot and the updates since; an update has only what has changed. After
// share.coordinator.snapshot.update.records.per.snapshot updates comes a new snapshot, and what was before it is redundant.
//
// Kafka: ShareCoordinatorRecordHelpers; ShareSnapshotKey and -Value, ShareUpdateKey and -Value (coordinator-key and
// coordinator-value messages). A topic has a number here where Kafka has an id.

// The keys' numbers.
const (
	shareSnapshotKey = 0
	shareUpdateKey   = 1
)

func shareStateKey(kind int16, y *ShareState) string {
	k := recordWriter{}
	k.int16(kind)
	k.text(y.Group)
	k.int64(0)
	k.int64(int64(y.TP.Topic))
	k.int32(y.TP.Partition)
	return string(k.bytes)
}

// shareSnapshot is the whole state.
func shareSnapshot(y *ShareState) partlog.Record {
	w := recordWriter{flexible: true}
	w.int16(0)
	w.int32(y.Snapshot)
	w.int32(y.StateEpoch)
	w.int32(y.LeaderEpoch)
	w.int64(y.Start)
	w.int64(y.CreatedMs)
	w.int64(y.WrittenMs)
	w.shareBatches(y.Batches)
	w.shareComplete(y.Complete)
	return partlog.Record{Key: shareStateKey(shareSnapshotKey, y), Value: string(w.bytes)}
}

// shareUpdate is what a request changes in a state.
func shareUpdate(y *ShareState, m *ShareStateRequest) partlog.Record {
	after := y.with(m)
	w := recordWriter{flexible: true}
	w.int16(0)
	w.int32(y.Snapshot)
	w.int32(after.LeaderEpoch)
	w.int64(m.Start)
	w.shareBatches(mergeShareBatches(nil, m.Batches, m.Start))
	w.shareComplete(m.Complete)
	return partlog.Record{Key: shareStateKey(shareUpdateKey, y), Value: string(w.bytes)}
}

// shareTombstone deletes a state.
func shareTombstone(y *ShareState) partlog.Record {
	return partlog.Record{Key: shareStateKey(shareSnapshotKey, y), Flags: partlog.NullValue}
}

func (w *recordWriter) shareBatches(list []ShareStateBatch) {
	w.length(len(list))
	for _, o := range list {
		w.int64(o.First)
		w.int64(o.Last)
		w.int8(int8(o.State))
		w.int16(o.Count)
		w.noTags()
	}
}

func (r *recordReader) shareBatches() (out []ShareStateBatch) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		out = append(out, ShareStateBatch{First: r.int64(), Last: r.int64(), State: ShareRecordState(r.int8()), Count: r.int16()})
		r.tags(nil)
	}
	return out
}

// shareComplete ends a value with its one tagged field, DeliveryCompleteCount (KIP-1226).
func (w *recordWriter) shareComplete(n int64) {
	w.uvarint(1)
	w.uvarint(0)
	w.uvarint(4)
	w.int32(int32(n))
}

// replayShareStates takes a batch of the log over into a shard that is being loaded.
func (x *CoordinatorShard) replayShareStates(batch *partlog.Batch) {
	for place, rec := range batch.Records.All() {
		k, r := recordReader{rest: rec.Key}, recordReader{rest: rec.Value, flexible: true}
		kind := k.int16()
		y := ShareState{Group: k.text()}
		k.int64()
		y.TP = TopicPartition{int32(k.int64()), k.int32()}
		i, found := x.findShareState(y.Group, y.TP)
		if kind == shareUpdateKey && found {
			y = x.Share.States[i]
		}
		complete := func(tag uint64, field *recordReader) {
			if tag == 0 {
				y.Complete = int64(field.int32())
			}
		}
		r.int16()
		y.Snapshot = r.int32()
		if kind == shareUpdateKey {
			y.LeaderEpoch = r.int32()
			m := ShareStateRequest{Start: r.int64(), Batches: r.shareBatches()}
			r.tags(complete)
			m.Complete = y.Complete
			y = y.with(&m)
		} else {
			y.StateEpoch, y.LeaderEpoch, y.Start = r.int32(), r.int32(), r.int64()
			y.CreatedMs, y.WrittenMs, y.At = r.int64(), r.int64(), batch.BaseOffset+int64(place)
			y.Batches = r.shareBatches()
			r.tags(complete)
		}
		x.keepShareState(y, rec.Flags&partlog.NullValue != 0)
	}
}
