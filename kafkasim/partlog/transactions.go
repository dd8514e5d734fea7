package partlog

import (
	"encoding/binary"
	"slices"
)

// Transactions in a log (T-40 to T-46): which are open, how far the log is decided, and which were aborted.
//
// It is derived from the batches, as producer state is: followers have it too, and truncation rebuilds it.
//
// Kafka: ProducerStateManager (ongoingTxns, unreplicatedTxns, firstUnstableOffset), ProducerAppendInfo,
// TransactionIndex, EndTransactionMarker.

// OpenTransaction is a transaction that a log has records of and no marker.
type OpenTransaction struct {
	ProducerID int64
	First      int64 // offset of its first record
}

// EndedTransaction is one whose marker is in the log and not below the high watermark yet.
type EndedTransaction struct{ First, Last int64 }

// AbortedTransaction is an aborted transaction, as the transaction index has it.
type AbortedTransaction struct {
	ProducerID  int64
	First, Last int64 // of its first record and of its marker
}

// Transactions are a log's transactions.
type Transactions struct {
	Open    []OpenTransaction    // by First
	Ended   []EndedTransaction   // by First
	Aborted []AbortedTransaction // by Last; only grows
}

// Marker is what a control batch says.
type Marker struct {
	Commit           bool
	CoordinatorEpoch int32
}

// MarkerRecord is the record of a marker: 78 bytes as a batch, and an offset of the log (T-40, T-41).
func MarkerRecord(m Marker, timestamp int64) Record {
	key, value := make([]byte, 4), make([]byte, 6)
	if m.Commit {
		key[3] = 1
	}
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	return Record{Key: string(key), Value: string(value), Timestamp: timestamp}
}

// Marker reads a control batch; false for one whose record was compacted away.
func (b *Batch) Marker() (Marker, bool) {
	c := b.Records.From(0)
	if !b.Control || !c.Next() || len(c.Key) < 4 || len(c.Value) < 6 {
		return Marker{}, false
	}
	return Marker{Commit: c.Key[3] == 1, CoordinatorEpoch: int32(binary.BigEndian.Uint32([]byte(c.Value[2:6])))}, true
}

// LastStable is the last stable offset (T-44): the first record of the earliest transaction that is open, or
// whose marker the high watermark has not passed; without one, the high watermark.
func (l *Log) LastStable() int64 {
	stable := l.HighWatermark
	if t := &l.Transactions; len(t.Open) > 0 {
		stable = min(stable, t.Open[0].First)
	}
	if t := &l.Transactions; len(t.Ended) > 0 {
		stable = min(stable, t.Ended[0].First)
	}
	return max(stable, l.LogStart)
}

// AbortedIn are the aborted transactions that overlap offsets from from to before bound (T-46), by their first
// offsets.
func (l *Log) AbortedIn(from, bound int64) []AbortedTransaction {
	all := l.Transactions.Aborted
	i, _ := slices.BinarySearchFunc(all, from, func(a AbortedTransaction, from int64) int {
		if a.Last < from {
			return -1
		}
		return 1
	})
	var out []AbortedTransaction
	for _, a := range all[i:] {
		if a.First < bound {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b AbortedTransaction) int {
		switch {
		case a.First < b.First:
			return -1
		case a.First > b.First:
			return 1
		}
		return 0
	})
	return out
}

// OpenBy is the first offset of a producer's open transaction, -1 for none.
func (l *Log) OpenBy(producerID int64) int64 {
	for i := range l.Transactions.Open {
		if o := &l.Transactions.Open[i]; o.ProducerID == producerID {
			return o.First
		}
	}
	return -1
}

// EpochOf is the epoch that a log knows of a producer, -1 for an unknown producer.
func (l *Log) EpochOf(producerID int64) int16 {
	if i, found := l.producer(producerID); found {
		return l.Producers[i].Epoch
	}
	return -1
}

// Producer is what a log knows of a producer; false for nothing.
func (l *Log) Producer(id int64) (ProducerEntry, bool) {
	if i, found := l.producer(id); found {
		return l.Producers[i], true
	}
	return ProducerEntry{}, false
}

// MarkerVerdict says what to do with a marker.
type MarkerVerdict uint8

// The verdicts of CheckMarker.
const (
	MarkerAppends           MarkerVerdict = iota
	MarkerStaleEpoch                      // INVALID_PRODUCER_EPOCH
	MarkerFencedCoordinator               // TRANSACTION_COORDINATOR_FENCED
)

// CheckMarker decides about a marker (T-43). bumps tells that the epoch was raised for it (transactions v2): an
// equal one is then that of the next transaction, unless none is open. retried tells whether that exception
// holds (KAFKA-19999).
func (l *Log) CheckMarker(b *Batch, m Marker, bumps, retried bool) MarkerVerdict {
	i, found := l.producer(b.ProducerID)
	if !found {
		return MarkerAppends
	}
	p := &l.Producers[i]
	switch {
	case b.ProducerEpoch < p.Epoch, bumps && b.ProducerEpoch == p.Epoch && !(retried && l.OpenBy(p.ID) < 0):
		return MarkerStaleEpoch
	case m.CoordinatorEpoch < p.CoordinatorEpoch:
		return MarkerFencedCoordinator
	}
	return MarkerAppends
}

// follow takes an appended batch of a producer into the log's transactions.
func (t *Transactions) follow(b *Batch, highWatermark int64) {
	switch m, is := b.Marker(); {
	case is:
		t.end(b, m.Commit, highWatermark)
	case b.Transactional && !b.Control:
		if i := t.open(b.ProducerID); i < 0 {
			t.Open = append(t.Open, OpenTransaction{b.ProducerID, b.BaseOffset})
		}
	}
}

func (t *Transactions) open(producerID int64) int {
	return slices.IndexFunc(t.Open, func(o OpenTransaction) bool { return o.ProducerID == producerID })
}

// end closes a transaction by its marker. One without records here leaves no trace.
func (t *Transactions) end(b *Batch, commit bool, highWatermark int64) {
	i := t.open(b.ProducerID)
	if i < 0 {
		return
	}
	first, last := t.Open[i].First, b.BaseOffset
	t.Open = slices.Delete(t.Open, i, i+1)
	if last >= highWatermark {
		at, _ := slices.BinarySearchFunc(t.Ended, first, func(e EndedTransaction, first int64) int {
			if e.First < first {
				return -1
			}
			return 1
		})
		t.Ended = slices.Insert(t.Ended, at, EndedTransaction{first, last})
	}
	if !commit {
		t.Aborted = append(t.Aborted, AbortedTransaction{b.ProducerID, first, last})
	}
}

// decided forgets ended transactions whose marker the high watermark has passed.
func (t *Transactions) decided(highWatermark int64) {
	if len(t.Ended) > 0 {
		t.Ended = slices.DeleteFunc(t.Ended, func(e EndedTransaction) bool { return e.Last < highWatermark })
	}
}

// before is what is known of the log's transactions up to an offset, where these were open: the transaction index
// is on disk, as the log is.
func (t *Transactions) before(offset int64, open []OpenTransaction) Transactions {
	n := Transactions{Open: slices.Clone(open)}
	for _, a := range t.Aborted {
		if a.Last < offset {
			n.Aborted = append(n.Aborted, a)
		}
	}
	return n
}

// trim forgets aborted transactions that lie below a new log start.
func (t *Transactions) trim(logStart int64) {
	n := 0
	for n < len(t.Aborted) && t.Aborted[n].Last < logStart {
		n++
	}
	t.Aborted = t.Aborted[n:]
}

// unshare gives a copied log its own of what changes in place.
func (t *Transactions) unshare() {
	t.Open, t.Ended, t.Aborted = slices.Clone(t.Open), slices.Clone(t.Ended), slices.Clip(t.Aborted)
}
