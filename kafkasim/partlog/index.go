package partlog

// The index files of a segment: where to look for an offset or a time (R7.1).
//
// A batch that comes after more than index.interval.bytes since the last entry makes one: 8 bytes in the offset index, and,
// when the largest timestamp has grown, 12 bytes in the time index. When a segment is sealed the time index gets its
// largest timestamp. A segment whose indexes are full (segment.index.bytes) takes no more batches. The entries follow
// from the batches, so a log keeps none here. The transaction index has 34 bytes for each aborted transaction.
//
// Kafka: LogSegment.append, onBecomeInactiveSegment, OffsetIndex, TimeIndex, TransactionIndex.

// Bytes of an entry of the indexes.
const (
	OffsetIndexEntry      = 8
	TimeIndexEntry        = 12
	TransactionIndexEntry = 34
)

// Indexes says how large a segment's indexes become.
type Indexes struct {
	IntervalBytes int64 // index.interval.bytes
	Bytes         int64 // segment.index.bytes
}

// Entries are how many entries the offset index and the time index of a segment have.
func (s *Segment) Entries(interval int64, sealed bool) (offsets, times int64) {
	since, largest, indexed := int64(0), int64(-1), int64(-1)
	for b := range s.Batches.All() {
		largest = max(largest, b.MaxTimestamp)
		if since > interval {
			offsets++
			if largest > indexed {
				times++
				indexed = largest
			}
			since = 0
		}
		since += int64(b.Size)
	}
	if sealed && largest > indexed {
		times++
	}
	return offsets, times
}

// IndexFull tells whether an index of the active segment is full. They are counted only when there are batches and bytes
// enough for so many entries.
func (l *Log) IndexFull(x Indexes) bool {
	offsets, times := x.Bytes/OffsetIndexEntry, x.Bytes/TimeIndexEntry-1 // one is left for the last timestamp
	least := min(offsets, max(times, 0))
	s := &l.Active
	if int64(s.Batches.Len()) <= least || s.Size/(x.IntervalBytes+1) < least || s.Batches.Len() == 0 {
		return false
	}
	o, t := s.Entries(x.IntervalBytes, false)
	return o >= offsets || t >= times
}

// AbortedInSegment is how many aborted transactions the transaction index of the i-th segment has.
func (l *Log) AbortedInSegment(i int) (n int) {
	from, to := l.segment(i).BaseOffset, l.next(i)
	for _, a := range l.Transactions.Aborted {
		if a.Last >= from && a.Last < to {
			n++
		}
	}
	return n
}
