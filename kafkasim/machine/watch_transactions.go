package machine

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Invariants 28 to 33, as they are seen while events happen: of every log what was appended to it, and of every
// coordinator each change that has been committed.

// Transition is a change of a transactional id that was committed, for whoever watches; or what a new coordinator has
// read of it, with Before as After.
type Transition struct {
	Loaded        bool
	Shard         TopicPartition
	Epoch         int32 // of the shard
	Before, After TransactionMetadata
}

// transitioned notes one.
func (s *State) transitioned(x *CoordinatorShard, before, after *TransactionMetadata) {
	if s.Watching {
		s.Transitions = append(s.Transitions, Transition{before == after, x.TP, x.Epoch, *before, *after})
	}
}

// transactionsWatch is what a Watch knows of transactions.
type transactionsWatch struct {
	ids  []transactionMark // by producer id
	ends []txnEnd          // transactions v2: the outcome of each producer id's newest epoch, by producer id
}

// transactionMark is what the last committed change has made of the transactional id that has a producer id.
type transactionMark struct {
	producerID int64
	id         string
	shard      int32 // epoch of its coordinator
	state      TransactionState
	epoch      int16
	committed  int16            // … the highest one that was committed: what a coordinator reads may not be
	settled    int16            // the epoch when no transaction was open or being ended: whoever has a lower one is fenced
	partitions []TopicPartition // of the open transaction, or of the last
	clean      bool             // the coordinator's log has lost nothing
}

// producerMark is what a Watch has read of a producer in one log.
type producerMark struct {
	id    int64
	epoch int16
	open  int64 // first offset of its open transaction, -1 for none
}

func (t *transactionsWatch) clone() transactionsWatch {
	return transactionsWatch{slices.Clone(t.ids), slices.Clone(t.ends)}
}

// mark finds a producer id's mark; nil when no change of it was seen.
func (t *transactionsWatch) mark(producerID int64) *transactionMark {
	if i, found := slices.BinarySearchFunc(t.ids, producerID, compareMark); found {
		return &t.ids[i]
	}
	return nil
}

func compareMark(m transactionMark, id int64) int { return cmp.Compare(m.producerID, id) }

// mayFollow is the table of T-2: from which state a state can be reached.
func (t TransactionState) mayFollow(before TransactionState, version int8) bool {
	settled := before == TxnEmpty || before.Complete()
	switch t {
	case TxnEmpty, TxnDead:
		return settled
	case TxnOngoing:
		return settled || before == TxnOngoing
	case TxnPrepareCommit:
		return before == TxnOngoing
	case TxnPrepareAbort:
		return before == TxnOngoing || before == TxnPrepareEpochFence || version >= TransactionV2 && settled
	case TxnCompleteCommit:
		return before == TxnPrepareCommit
	case TxnCompleteAbort:
		return before == TxnPrepareAbort
	}
	return before == TxnOngoing
}

// transitions looks at what coordinators have committed: 29, and 30 and 33 as far as they answer for them.
func (w *Watch) transitions() {
	for i := range w.s.Transitions {
		w.transition(&w.s.Transitions[i])
	}
	w.s.Transitions = w.s.Transitions[:0]
}

func (w *Watch) transition(x *Transition) {
	n, t := &x.After, &w.txns
	if !x.Loaded && !n.State.mayFollow(x.Before.State, n.Version) {
		w.broken(29, "transactional id %s: %v after %v", n.ID, n.State, x.Before.State)
	}
	if n.State == TxnOngoing && (len(n.Partitions) == 0 || n.StartedMs < 0) {
		w.broken(29, "transactional id %s is %v without partitions", n.ID, n.State)
	}
	i, found := slices.BinarySearchFunc(t.ids, n.ProducerID, compareMark)
	if !found {
		t.ids = slices.Insert(t.ids, i, transactionMark{producerID: n.ProducerID, id: n.ID, epoch: -1, committed: -1, settled: -1})
	}
	m := &t.ids[i]
	if x.Epoch < m.shard {
		return // a coordinator that was replaced hears that its record is committed, too
	}
	m.shard, m.clean = x.Epoch, w.s.clean(x.Shard)
	if m.clean {
		if m.id != n.ID {
			w.broken(29, "transactional ids %s and %s have the same producer id %d", m.id, n.ID, n.ProducerID)
		}
		if n.ProducerEpoch < m.committed {
			w.broken(30, "transactional id %s: epoch %d of producer %d after epoch %d", n.ID, n.ProducerEpoch, n.ProducerID, m.committed)
		}
		if n.State.Complete() && !x.Loaded {
			w.ended(m)
		}
	}
	if m.id, m.state, m.epoch = n.ID, n.State, n.ProducerEpoch; !x.Loaded {
		m.committed = n.ProducerEpoch
	}
	if n.State == TxnEmpty || n.State.Complete() {
		m.settled = n.ProducerEpoch
	} else {
		m.partitions = n.Partitions
	}
}

// ended is invariant 33 for a transaction that is complete: its partitions know.
func (w *Watch) ended(m *transactionMark) {
	for _, tp := range m.partitions {
		reg := w.image.partition(tp)
		if reg == nil || reg.Leader == NoNode || !w.s.clean(tp) {
			continue
		}
		b := w.s.broker(reg.Leader)
		if r := b.replica(tp); r != nil && r.Role == Leader && r.Log.OpenBy(m.producerID) >= 0 {
			w.broken(33, "%s: producer %d has a transaction open at offset %d; its coordinator has ended it", w.name(tp), m.producerID, r.Log.OpenBy(m.producerID))
		}
	}
}

// reread makes a mark say what a log has of producers before an offset: it was cut, or loaded.
func (m *replicaMark) reread(l *partlog.Log, bound int64) {
	m.known, m.open = nil, nil
	if len(l.Producers) == 0 {
		return
	}
	l.Batches(l.LogStart, func(b *partlog.Batch) bool {
		if b.BaseOffset >= bound {
			return false
		}
		if b.Transactional || b.Control {
			m.follow(b)
		}
		return true
	})
}

// producer is what a mark says of a producer.
func (m *replicaMark) producer(id int64) *producerMark {
	i, found := slices.BinarySearchFunc(m.known, id, func(p producerMark, id int64) int { return cmp.Compare(p.id, id) })
	if !found {
		m.known = slices.Insert(m.known, i, producerMark{id, -1, -1})
	}
	return &m.known[i]
}

// follow takes a batch of a transaction, or a marker, into a mark.
func (m *replicaMark) follow(b *partlog.Batch) *producerMark {
	p := m.producer(b.ProducerID)
	p.epoch = b.ProducerEpoch
	switch _, marker := b.Marker(); {
	case marker && p.open >= 0:
		m.open = slices.DeleteFunc(m.open, func(at int64) bool { return at == p.open })
		p.open = -1
	case b.Transactional && !b.Control && p.open < 0:
		p.open = b.BaseOffset
		m.open = append(m.open, p.open)
	}
	return p
}

// transactional looks at a batch of a transaction, or a marker, that was appended to a log: 30 to 33.
func (w *Watch) transactional(b *Broker, r *Replica, m *replicaMark, x *partlog.Batch) {
	p := m.producer(x.ProducerID)
	if x.ProducerEpoch < p.epoch {
		w.broken(30, "broker %d %s: producer %d wrote with epoch %d at offset %d, after epoch %d", b.ID, w.name(r.TP), x.ProducerID, x.ProducerEpoch, x.BaseOffset, p.epoch)
	}
	begins := p.open < 0
	m.follow(x)
	marker, ends := x.Marker()
	if ends && w.s.World.Rules.On(TransactionsV2) && w.s.clean(r.TP) && w.s.decisionsKept() {
		w.outcome(txnEnd{x.ProducerID, x.ProducerEpoch, marker.Commit, r.TP})
	}
	id, reg := w.txns.mark(x.ProducerID), w.image.partition(r.TP)
	own := r.Role == Leader && m.role == Leader && m.epoch == r.LeaderEpoch && w.event != nil && reg != nil && reg.Leader == b.ID && reg.LeaderEpoch == r.LeaderEpoch
	if !own || id == nil || !id.clean || !w.s.clean(r.TP) {
		return
	}
	switch {
	case ends && x.ProducerEpoch == id.epoch && (id.state.Prepared() || id.state.Complete()):
		if decided := id.state == TxnPrepareCommit || id.state == TxnCompleteCommit; marker.Commit != decided {
			w.broken(31, "%s: producer %d epoch %d: %s at offset %d, and its coordinator has decided to %s", w.name(r.TP), x.ProducerID, x.ProducerEpoch, outcome(marker.Commit), x.BaseOffset, outcome(decided))
		}
	case x.Control || w.s.mayHang():
	case x.ProducerEpoch < id.settled:
		w.broken(32, "%s: producer %d wrote with epoch %d at offset %d, and was fenced with epoch %d", w.name(r.TP), x.ProducerID, x.ProducerEpoch, x.BaseOffset, id.settled)
	case begins && (id.state == TxnEmpty || id.state.Complete() || !slices.Contains(id.partitions, r.TP)):
		w.broken(33, "%s: producer %d begins a transaction at offset %d, and its coordinator does not know of it (%v)", w.name(r.TP), x.ProducerID, x.BaseOffset, id.state)
	}
}

// outcome is invariant 31: with transactions v2 all markers of one epoch say the same.
func (w *Watch) outcome(e txnEnd) {
	i, found := slices.BinarySearchFunc(w.txns.ends, e.id, func(o txnEnd, id int64) int { return cmp.Compare(o.id, id) })
	if !found {
		w.txns.ends = slices.Insert(w.txns.ends, i, e)
		return
	}
	o := &w.txns.ends[i]
	if o.epoch == e.epoch && o.commit != e.commit {
		w.broken(31, "producer %d epoch %d: %s in %s, %s in %s", e.id, e.epoch, outcome(o.commit), w.name(o.tp), outcome(e.commit), w.name(e.tp))
	}
	if e.epoch > o.epoch {
		*o = e
	}
}

// stable is invariant 28: a log is stable up to its high watermark at most, and not beyond an open transaction.
func (w *Watch) stable(b *Broker, r *Replica, m *replicaMark) {
	if len(m.known) == 0 || r.Role == Offline {
		return
	}
	stable := r.Log.LastStable()
	if stable > r.Log.HighWatermark {
		w.broken(28, "broker %d %s: last stable offset %d is above the high watermark %d", b.ID, w.name(r.TP), stable, r.Log.HighWatermark)
	}
	if len(m.open) > 0 && stable > max(m.open[0], r.Log.LogStart) {
		w.broken(28, "broker %d %s: last stable offset %d is beyond offset %d, where a transaction is open", b.ID, w.name(r.TP), stable, m.open[0])
	}
}
