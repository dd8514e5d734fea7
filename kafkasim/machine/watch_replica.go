package machine

import (
	"kafkalab/kafkasim/partlog"
)

// What a Watch looks at when a broker has done something: its replicas, each by itself and beside its peers.

// broker looks at the replicas of a broker that are not what they were; at all of them after a command.
func (w *Watch) broker(b *Broker, all bool) {
	w.align(b)
	w.parked(b)
	marks := w.marks[b.ID-1]
	for j := range b.Replicas {
		r, m := &b.Replicas[j], &marks[j]
		if all || m.changed(r) {
			w.replica(b, r, m)
			m.set(r)
		}
	}
}

// brought is what the event at hand brought, nil for a command.
func (w *Watch) brought() Payload {
	if w.event == nil {
		return nil
	}
	return w.event.Payload
}

// replica looks at one replica that has changed.
func (w *Watch) replica(b *Broker, r *Replica, m *replicaMark) {
	l := &r.Log
	if l.LogStart < m.logStart && l.End >= m.end && m.role != Offline {
		w.broken(24, "broker %d %s: log start %d after %d", b.ID, w.name(r.TP), l.LogStart, m.logStart)
	}
	if _, old := w.brought().(RetentionTimer); old && l.LogStart > m.logStart && l.LogStart > m.hw {
		w.broken(46, "broker %d %s: retention deletes up to %d, the HW was %d", b.ID, w.name(r.TP), l.LogStart, m.hw)
	}
	if r.Role != Offline {
		if l.LogStart > l.HighWatermark || l.HighWatermark > l.End {
			w.broken(5, "broker %d %s: log start %d, HW %d, LEO %d", b.ID, w.name(r.TP), l.LogStart, l.HighWatermark, l.End)
		}
		w.epochs(b, r, m)
		if m.role != Offline && r.PartitionEpoch < m.partitionEpoch {
			w.broken(3, "broker %d %s: partition epoch %d after %d", b.ID, w.name(r.TP), r.PartitionEpoch, m.partitionEpoch)
		}
	}
	if most := w.most(r.TP); r.Role == Follower && l.HighWatermark > most && w.s.clean(r.TP) {
		w.broken(9, "%s: follower %d has HW %d, no leader has had more than %d", w.name(r.TP), b.ID, l.HighWatermark, most)
	}
	from := min(m.end, l.End)
	if m.role == Offline && r.Role != Offline {
		from = max(l.LogStart, l.End-tail)
	}
	if l.End < m.end || m.role == Offline && r.Role != Offline || w.event == nil && (l.End != m.end || r.LeaderEpoch != m.epoch) {
		m.reread(l, from)
	}
	if from < l.End {
		w.appended(b, r, m, max(from, l.LogStart))
	}
	w.stable(b, r, m)
	if r.Role == Leader {
		w.leader(b, r, m)
	}
	if l.End < m.end || m.role == Offline && r.Role != Offline {
		w.member(b, r)
		w.remembered(b, r)
	}
	if r.Role != m.role || r.Role == Leader && l.End != m.end || l.End < m.end {
		w.part(r.TP).stirred = w.s.Now
	}
	if r.Role == Follower && m.aligned == r.LeaderEpoch {
		w.prefix(b, r)
	}
}

// remembered is invariant 23 for what a log knows of producers: none of it lies beyond its end, so that no
// batch that was cut off counts as a duplicate.
func (w *Watch) remembered(b *Broker, r *Replica) {
	for i := range r.Log.Producers {
		p := &r.Log.Producers[i]
		if p.Count > 0 && p.Batches[p.Count-1].NextOffset > r.Log.End && r.Role != Offline {
			w.broken(23, "broker %d %s: remembers a batch of producer %d up to offset %d, LEO %d", b.ID, w.name(r.TP), p.ID, p.Batches[p.Count-1].NextOffset-1, r.Log.End)
		}
	}
}

// epochs is invariant 6 for the epoch cache. Entries are appended or cut at the ends, so those in the middle
// are what they were.
func (w *Watch) epochs(b *Broker, r *Replica, m *replicaMark) {
	c := r.Log.Epochs
	from := 1
	if m.role != Offline && m.starts > 1 && m.starts <= len(c) {
		from = m.starts - 1
	}
	for i := from; i < len(c); i++ {
		if c[i].Epoch <= c[i-1].Epoch || c[i].StartOffset <= c[i-1].StartOffset {
			w.broken(6, "broker %d %s: epoch %d from offset %d on after epoch %d from %d on", b.ID, w.name(r.TP), c[i].Epoch, c[i].StartOffset, c[i-1].Epoch, c[i-1].StartOffset)
		}
	}
	if n := len(c); n > 0 && (c[n-1].StartOffset > r.Log.End || c[n-1].Epoch > r.LeaderEpoch) {
		w.broken(6, "broker %d %s: epoch %d from offset %d on, LEO %d in epoch %d", b.ID, w.name(r.TP), c[n-1].Epoch, c[n-1].StartOffset, r.Log.End, r.LeaderEpoch)
	}
}

// appended looks at the batches from an offset on: invariants 6, 7, 18, 23 and 30 to 33.
func (w *Watch) appended(b *Broker, r *Replica, m *replicaMark, from int64) {
	l := &r.Log
	last := int32(-1)
	if before := l.BatchAt(from - 1); before != nil {
		last = before.LeaderEpoch
	}
	l.Batches(from, func(x *partlog.Batch) bool {
		if x.LeaderEpoch < last || x.LeaderEpoch > r.LeaderEpoch && r.Role != Offline {
			w.broken(6, "broker %d %s: epoch %d at offset %d after epoch %d, in epoch %d", b.ID, w.name(r.TP), x.LeaderEpoch, x.BaseOffset, last, r.LeaderEpoch)
		}
		if at := l.Epochs.EpochAt(x.BaseOffset); at != x.LeaderEpoch && r.Role != Offline && x.BaseOffset >= l.LogStart {
			w.broken(6, "broker %d %s: offset %d has epoch %d, the epoch cache says %d", b.ID, w.name(r.TP), x.BaseOffset, x.LeaderEpoch, at)
		}
		last = x.LeaderEpoch
		w.matching(b, r, x)
		w.sequence(b, r, x)
		if x.Transactional || x.Control {
			w.transactional(b, r, m, x)
		}
		return true
	})
	if w.event != nil {
		if _, several := w.event.Payload.(AddPartitionsToTxnResponse); several {
			return // one request goes on, and another is told so for its coordinator (T-24)
		}
	}
	for i := range w.s.Answers {
		if a := &w.s.Answers[i]; a.Broker == b.ID && a.TP == r.TP && a.Error == NOT_ENOUGH_REPLICAS && r.Role == Leader && w.event != nil {
			w.broken(18, "%s: leader %d refused a batch for too few replicas and appended it, LEO %d", w.name(r.TP), b.ID, l.End)
		}
	}
}

// matching is invariant 7 for one batch: no other replica has other records at its offset in its epoch.
func (w *Watch) matching(b *Broker, r *Replica, x *partlog.Batch) {
	for i := range w.s.Brokers {
		o := &w.s.Brokers[i]
		if o.ID == b.ID {
			continue
		}
		if or := o.replica(r.TP); or != nil && x.BaseOffset >= or.Log.LogStart {
			if y := or.Log.BatchAt(x.BaseOffset); y != nil && y.LeaderEpoch == x.LeaderEpoch && !sameBatch(x, y) {
				w.broken(7, "%s: brokers %d and %d differ at offset %d in epoch %d", w.name(r.TP), b.ID, o.ID, x.BaseOffset, x.LeaderEpoch)
			}
		}
	}
}

// sequenceWindow is how many offsets back invariant 23 looks for a producer's batch before.
const sequenceWindow = 256

// sequence is invariant 23 for one batch: it goes on where its producer's last one in this log ended.
func (w *Watch) sequence(b *Broker, r *Replica, x *partlog.Batch) {
	if x.ProducerID < 0 || x.Control || x.BaseSequence < 0 {
		return
	}
	for at := x.BaseOffset - 1; at >= max(r.Log.LogStart, x.BaseOffset-sequenceWindow); {
		y := r.Log.BatchAt(at)
		if y == nil {
			return
		}
		at = y.BaseOffset - 1
		if y.ProducerID != x.ProducerID || y.Control {
			continue
		}
		if x.Sender == y.Sender && x.Serial == y.Serial && x.Sender >= 0 && x.ProducerEpoch == y.ProducerEpoch {
			w.broken(23, "broker %d %s: producer %d's batch at offset %d is at offset %d already", b.ID, w.name(r.TP), x.ProducerID, x.BaseOffset, y.BaseOffset)
			return
		}
		if x.MaxTimestamp-y.MaxTimestamp >= w.s.World.Broker.ProducerIDExpirationMs {
			return // the leader may have forgotten the producer in between (P-86)
		}
		next := int32((int64(y.BaseSequence) + int64(y.Records.Len())) & 0x7fffffff)
		if y.ProducerEpoch != x.ProducerEpoch {
			next = 0
		}
		if x.BaseSequence != next || x.ProducerEpoch < y.ProducerEpoch {
			w.broken(23, "broker %d %s: producer %d, sequence %d at offset %d after the batch with sequence %d and %d records at offset %d",
				b.ID, w.name(r.TP), x.ProducerID, x.BaseSequence, x.BaseOffset, y.BaseSequence, y.Records.Len(), y.BaseOffset)
		}
		return
	}
}

// prefix is invariant 8: the log of a follower that has had an undiverged answer in this epoch is the
// beginning of its leader's. By invariant 7 the last batch speaks for all before it.
func (w *Watch) prefix(b *Broker, r *Replica) {
	if r.Leader == NoNode {
		return
	}
	lr := w.s.broker(r.Leader).replica(r.TP)
	if lr == nil || lr.Role != Leader || lr.LeaderEpoch != r.LeaderEpoch || r.Log.End <= lr.Log.LogStart {
		return
	}
	if r.Log.End > lr.Log.End {
		w.broken(8, "%s: follower %d ends at %d, leader %d at %d, in epoch %d", w.name(r.TP), b.ID, r.Log.End, r.Leader, lr.Log.End, r.LeaderEpoch)
		return
	}
	x := r.Log.BatchAt(r.Log.End - 1)
	if y := lr.Log.BatchAt(r.Log.End - 1); x != nil && (y == nil && !w.s.compacted(r.TP, x.BaseOffset) || y != nil && !sameBatch(x, y)) {
		w.broken(8, "%s: follower %d and leader %d differ at offset %d in epoch %d", w.name(r.TP), b.ID, r.Leader, r.Log.End-1, r.LeaderEpoch)
	}
}

// most is the highest high watermark that any leader has had. A process that goes on after a pause does much
// at once; what it exposed meanwhile only the Truth has seen.
func (w *Watch) most(tp TopicPartition) int64 {
	p := w.part(tp)
	return max(p.high, p.told, w.s.Truth.partition(w.s, tp).Exposed)
}

func (w *Watch) name(tp TopicPartition) string { return w.s.PartitionName(tp) }

func (w *Watch) part(tp TopicPartition) *partitionWatch { return &w.parts[w.s.ordinal(tp)] }
