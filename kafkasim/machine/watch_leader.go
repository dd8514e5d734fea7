package machine

import (
	"slices"
	"sort"

	"kafkalab/kafkasim/partlog"
)

// What a Watch looks at on leaders: their epochs, their high watermarks, and that what is committed is where
// it must be.

// leader looks at a replica that leads and has changed.
func (w *Watch) leader(b *Broker, r *Replica, m *replicaMark) {
	p := w.part(r.TP)
	began := m.role != Leader || m.epoch != r.LeaderEpoch
	if began {
		w.elected(b, r, p)
	}
	if e := r.Log.Epochs.Latest(); e != r.LeaderEpoch && w.s.World.Rules.On(EpochBeforeRecords) {
		w.broken(6, "%s: leader %d of epoch %d, its epoch cache ends with epoch %d", w.name(r.TP), b.ID, r.LeaderEpoch, e)
	}
	w.maximalISR(b, r)
	hw := r.Log.HighWatermark
	from := m.hw
	if !began {
		if hw < m.hw {
			w.broken(14, "broker %d %s: HW %d after %d in epoch %d", b.ID, w.name(r.TP), hw, m.hw, r.LeaderEpoch)
		}
		if need := b.Image.effectiveMinISR(r.TP); hw != m.hw && len(r.ISR) < need && m.isr < need && w.s.World.Rules.On(StrictMinISR) {
			w.broken(15, "broker %d %s: HW moved from %d to %d with ISR %v, the minimum is %d", b.ID, w.name(r.TP), m.hw, hw, r.ISR, need)
		}
	} else {
		from = max(r.Log.LogStart, hw-tail)
	}
	if !w.s.clean(r.TP) {
		p.exposed, p.high = nil, 0
		return
	}
	if hw > from {
		w.strong(b, r, from)
		w.expose(b, r, from)
	}
	p.high = max(p.high, hw)
}

// elected is what must hold when a replica begins to lead an epoch: nobody else has led it (invariant 4), and
// a leader of the newest epoch has every record that any leader has exposed (11).
func (w *Watch) elected(b *Broker, r *Replica, p *partitionWatch) {
	i := sort.Search(len(p.leaders), func(i int) bool { return p.leaders[i].epoch >= r.LeaderEpoch })
	switch {
	case i == len(p.leaders) || p.leaders[i].epoch != r.LeaderEpoch:
		p.leaders = slices.Insert(p.leaders[:len(p.leaders):len(p.leaders)], i, epochLeader{r.LeaderEpoch, b.ID})
	case p.leaders[i].broker != b.ID:
		w.broken(4, "%s: brokers %d and %d both lead epoch %d", w.name(r.TP), p.leaders[i].broker, b.ID, r.LeaderEpoch)
	}
	reg := w.image.partition(r.TP)
	if reg == nil || reg.LeaderEpoch != r.LeaderEpoch || !w.s.clean(r.TP) {
		return
	}
	if r.Log.End < p.high {
		w.broken(11, "%s: leader %d of epoch %d ends at %d, HW %d was exposed", w.name(r.TP), b.ID, r.LeaderEpoch, r.Log.End, p.high)
	}
	for k := range p.exposed {
		x := &p.exposed[k]
		if !w.has(r, x) {
			w.broken(11, "%s: leader %d of epoch %d does not have the batch at offset %d of epoch %d that was exposed", w.name(r.TP), b.ID, r.LeaderEpoch, x.base, x.epoch)
			return
		}
	}
}

// maximalISR is invariant 16.
func (w *Watch) maximalISR(b *Broker, r *Replica) {
	reg := w.image.partition(r.TP)
	if reg == nil || !r.upToDate(reg) {
		return
	}
	for _, id := range reg.ISR {
		if !r.inMaximalISR(id) {
			w.broken(16, "%s: %d is in the controller's ISR %v and not in the maximal ISR of leader %d, %v", w.name(r.TP), id, reg.ISR, b.ID, r.ISR)
		}
	}
}

// strong is invariants 9 and 10 for what a leader has committed from an offset on: it is on every member of
// the controller's ISR, and of its eligible leaders.
func (w *Watch) strong(b *Broker, r *Replica, from int64) {
	reg := w.image.partition(r.TP)
	if reg == nil {
		return
	}
	for _, id := range reg.ISR {
		w.holds(b, r, id, from, 9)
	}
	if w.s.eligibleHold(r.TP) {
		for _, id := range reg.eligible() {
			w.holds(b, r, id, from, 10)
		}
	}
}

// holds tells whether a member has what a leader has committed from an offset on. One that is down and has
// lost records by it is not asked: it will not be what it was.
func (w *Watch) holds(b *Broker, r *Replica, id NodeID, from int64, invariant int) {
	if id == b.ID || w.s.lossy(r.TP, id) {
		return
	}
	hw := r.Log.HighWatermark
	m := w.s.broker(id).replica(r.TP)
	if m == nil {
		if hw > 0 {
			w.broken(invariant, "%s: member %d has no log, HW of leader %d is %d", w.name(r.TP), id, b.ID, hw)
		}
		return
	}
	if m.Log.End < hw {
		w.broken(invariant, "%s: member %d ends at %d, HW of leader %d is %d", w.name(r.TP), id, m.Log.End, b.ID, hw)
		return
	}
	r.Log.Batches(max(from, r.Log.LogStart, m.Log.LogStart), func(x *partlog.Batch) bool {
		if x.BaseOffset >= hw {
			return false
		}
		y := m.Log.BatchAt(x.BaseOffset)
		if y == nil && !w.s.compacted(r.TP, x.BaseOffset) || y != nil && !sameBatch(x, y) {
			w.broken(invariant, "%s: member %d does not have the batch at offset %d of epoch %d, below HW %d of leader %d", w.name(r.TP), id, x.BaseOffset, x.LeaderEpoch, hw, b.ID)
			return false
		}
		return true
	})
}

// member is invariants 9 and 10 seen from a member whose log has become shorter or was loaded: it still has
// what every broker that believes to lead has committed.
func (w *Watch) member(b *Broker, r *Replica) {
	if reg := w.image.partition(r.TP); reg != nil && w.s.clean(r.TP) {
		if slices.Contains(reg.ISR, b.ID) {
			w.memberOf(r.TP, b.ID, 9)
		} else if slices.Contains(reg.eligible(), b.ID) && w.s.eligibleHold(r.TP) {
			w.memberOf(r.TP, b.ID, 10)
		}
	}
}

// memberOf compares one member with every broker that believes to lead.
func (w *Watch) memberOf(tp TopicPartition, id NodeID, invariant int) {
	for i := range w.s.Brokers {
		b := &w.s.Brokers[i]
		if r := b.replica(tp); r != nil && r.Role == Leader {
			w.holds(b, r, id, r.Log.HighWatermark-tail, invariant)
		}
	}
	w.candidate(tp, id, invariant)
}

// candidate tells whether a member has everything that any leader ever exposed, dead ones included: it may be
// elected at any time.
func (w *Watch) candidate(tp TopicPartition, id NodeID, invariant int) {
	p, m := w.part(tp), w.s.broker(id).replica(tp)
	if m == nil || w.s.lossy(tp, id) {
		return
	}
	if m.Log.End < p.high {
		w.broken(invariant, "%s: member %d ends at %d, HW %d was exposed", w.name(tp), id, m.Log.End, p.high)
		return
	}
	for k := range p.exposed {
		x := &p.exposed[k]
		if !w.has(m, x) {
			w.broken(invariant, "%s: member %d does not have the batch at offset %d of epoch %d that was exposed", w.name(tp), id, x.base, x.epoch)
			return
		}
	}
}

// has tells whether a replica has a batch that was exposed, or need not have it any more.
func (w *Watch) has(r *Replica, x *batchMark) bool {
	y := r.Log.BatchAt(x.base)
	return y != nil && markOf(y) == *x || y == nil && w.s.compacted(r.TP, x.base) || w.deleted(r.TP, x.base)
}

// deleted tells whether an offset is below the log start of any replica: a follower may still have there what
// it had before.
func (w *Watch) deleted(tp TopicPartition, offset int64) bool {
	for i := range w.s.Brokers {
		if r := w.s.Brokers[i].replica(tp); r != nil && offset < r.Log.LogStart {
			return true
		}
	}
	return false
}

// expose remembers what came below a leader's high watermark from an offset on. What was exposed before is
// the same (invariant 13).
func (w *Watch) expose(b *Broker, r *Replica, from int64) {
	p := w.part(r.TP)
	r.Log.Batches(max(from, r.Log.LogStart), func(x *partlog.Batch) bool {
		if x.NextOffset() > r.Log.HighWatermark {
			return false
		}
		known, found := p.at(x.BaseOffset)
		switch {
		case !found && (len(p.exposed) == 0 || p.exposed[len(p.exposed)-1].base < x.BaseOffset):
			p.exposed = append(p.exposed, markOf(x))
		case found && known != markOf(x):
			w.broken(13, "%s: offset %d below HW %d of leader %d is of epoch %d; one of epoch %d was exposed there", w.name(r.TP), x.BaseOffset, r.Log.HighWatermark, b.ID, x.LeaderEpoch, known.epoch)
			return false
		}
		return true
	})
	if n := len(p.exposed); n > 2*exposedKept {
		p.exposed = slices.Clone(p.exposed[n-exposedKept:])
	}
}

// at finds the exposed batch that begins at an offset.
func (p *partitionWatch) at(base int64) (batchMark, bool) {
	i := sort.Search(len(p.exposed), func(i int) bool { return p.exposed[i].base >= base })
	if i == len(p.exposed) || p.exposed[i].base != base {
		return batchMark{}, false
	}
	return p.exposed[i], true
}
