package partlog

import "sort"

// Producer state: what a log remembers of each idempotent producer (P-83 to P-86, R1.23; Kafka's
// ProducerStateManager and ProducerStateEntry). It is derived from the batches in the log, so followers
// have it too, and truncation rebuilds it.

// remembered is how many batches of a producer a broker keeps to recognise a retry (P-83).
const remembered = 5

// SeenBatch is one batch of a producer that was appended.
type SeenBatch struct {
	FirstSequence, LastSequence int32
	BaseOffset, NextOffset      int64
}

// ProducerEntry is what a log knows of one producer: its epoch and its last batches, oldest first.
type ProducerEntry struct {
	ID               int64
	Last             int64 // ms: the timestamp of its last batch (P-86)
	CoordinatorEpoch int32 // of its last marker (T-43), -1 before any
	Epoch            int16
	Count            int8
	Batches          [remembered]SeenBatch
}

// Verdict says what to do with a batch of an idempotent producer.
type Verdict uint8

// The verdicts of CheckSequence.
const (
	Append             Verdict = iota // in sequence, or the producer is unknown
	Duplicate                         // appended before: answer with the first offsets
	OutOfOrder                        // OUT_OF_ORDER_SEQUENCE_NUMBER
	StaleEpoch                        // INVALID_PRODUCER_EPOCH
	OutsideTransaction                // INVALID_TXN_STATE: not transactional, while a transaction of the producer is open (T-42)
)

// CheckSequence decides about a batch by the rules P-84 to P-86. The second result is the earlier batch
// when the verdict is Duplicate.
func (l *Log) CheckSequence(b *Batch) (Verdict, SeenBatch) {
	i, found := l.producer(b.ProducerID)
	if !found {
		return Append, SeenBatch{} // P-86: no state, any first sequence will do
	}
	p := &l.Producers[i]
	first, last := b.BaseSequence, lastSequence(b)
	if first < 0 { // a coordinator's own: offsets of a transaction have no sequence
		if b.ProducerEpoch < p.Epoch {
			return StaleEpoch, SeenBatch{}
		}
		return Append, SeenBatch{}
	}
	if b.ProducerEpoch == p.Epoch {
		for _, seen := range p.Batches[:p.Count] {
			if seen.FirstSequence == first && seen.LastSequence == last {
				return Duplicate, seen // P-84
			}
		}
	}
	// P-85. A duplicate of a batch older than the last five is out of order too (P-87).
	switch {
	case b.ProducerEpoch < p.Epoch:
		return StaleEpoch, SeenBatch{}
	case b.ProducerEpoch > p.Epoch:
		if first != 0 {
			return OutOfOrder, SeenBatch{}
		}
	case p.Count > 0 && first != nextSequence(p.Batches[p.Count-1].LastSequence), p.Count == 0 && first != 0:
		return OutOfOrder, SeenBatch{} // a marker began the epoch: it has no batch yet
	}
	if !b.Transactional && l.OpenBy(b.ProducerID) >= 0 {
		return OutsideTransaction, SeenBatch{}
	}
	return Append, SeenBatch{}
}

// remember notes an appended batch.
func (l *Log) remember(b *Batch) {
	if b.ProducerID < 0 {
		return
	}
	i, found := l.producer(b.ProducerID)
	if !found {
		l.Producers = append(l.Producers, ProducerEntry{})
		copy(l.Producers[i+1:], l.Producers[i:])
		l.Producers[i] = ProducerEntry{ID: b.ProducerID, Epoch: b.ProducerEpoch, CoordinatorEpoch: -1}
	}
	p := &l.Producers[i]
	if b.ProducerEpoch != p.Epoch {
		*p = ProducerEntry{ID: b.ProducerID, CoordinatorEpoch: p.CoordinatorEpoch, Epoch: b.ProducerEpoch}
	}
	l.Transactions.follow(b, l.HighWatermark)
	if p.Last = b.MaxTimestamp; b.Control {
		if m, ok := b.Marker(); ok {
			p.CoordinatorEpoch = m.CoordinatorEpoch
		}
		return
	}
	if b.BaseSequence < 0 {
		return
	}
	if p.Count == remembered {
		copy(p.Batches[:], p.Batches[1:])
		p.Count--
	}
	p.Batches[p.Count] = SeenBatch{b.BaseSequence, lastSequence(b), b.BaseOffset, b.NextOffset()}
	p.Count++
}

// producer finds the entry of a producer id, or where it belongs.
func (l *Log) producer(id int64) (int, bool) {
	i := sort.Search(len(l.Producers), func(i int) bool { return l.Producers[i].ID >= id })
	return i, i < len(l.Producers) && l.Producers[i].ID == id
}

// rebuildProducers reads the producer state again, after a truncation or a restart: from the newest snapshot, and
// from the log what came after it.
func (l *Log) rebuildProducers() {
	if len(l.Producers) == 0 && len(l.Snapshots) == 0 && !l.idempotent() {
		return
	}
	known := l.loadSnapshot()
	for i := 0; i <= len(l.Sealed); i++ {
		for b := range l.segment(i).Batches.All() {
			if b.BaseOffset >= known {
				l.remember(b)
			}
		}
	}
}

// idempotent tells whether any batch of the log has a producer id.
func (l *Log) idempotent() bool {
	for i := 0; i <= len(l.Sealed); i++ {
		s := l.segment(i)
		for b := range s.Batches.All() {
			if b.ProducerID >= 0 {
				return true
			}
		}
	}
	return false
}

// lastSequence is the sequence of a batch's last record; sequences wrap from 2147483647 to 0 (P-82).
func lastSequence(b *Batch) int32 {
	return int32((int64(b.BaseSequence) + int64(b.Records.Count) - 1) & 0x7fffffff)
}

func nextSequence(last int32) int32 { return int32((int64(last) + 1) & 0x7fffffff) }
