package partlog

import "slices"

// Snapshots of producer state (Kafka's .snapshot files).
//
// When a segment is rolled and when a broker stops cleanly, what the log knows of its producers is written to a file.
// After a restart or a truncation the newest one is read, and the batches behind it. So a producer is known for longer
// than its records are there; and since a file has each producer's last batch only, a retry of an earlier
// one is recognised no more (P-83, P-84, P-86).
//
// Kafka: ProducerStateManager.takeSnapshot, truncateAndReload, loadFromSnapshot, removeExpiredProducers.

// ProducerSnapshot is what a log knew of its producers when its end was at Offset. It is never written to.
type ProducerSnapshot struct {
	Offset    int64
	Producers []ProducerEntry // each with its last batch
	Open      []OpenTransaction
}

// TakeSnapshot writes a snapshot at the log's end, unless there is one, or nothing to write.
func (l *Log) TakeSnapshot() {
	n := len(l.Snapshots)
	if n == 0 && len(l.Producers) == 0 || n > 0 && l.Snapshots[n-1].Offset >= l.End {
		return
	}
	s := ProducerSnapshot{Offset: l.End, Producers: slices.Clone(l.Producers), Open: slices.Clone(l.Transactions.Open)}
	for i := range s.Producers {
		if p := &s.Producers[i]; p.Count > 1 {
			p.Batches = [remembered]SeenBatch{p.Batches[p.Count-1]}
			p.Count = 1
		}
	}
	l.Snapshots = append(l.Snapshots, s)
}

// dropSnapshots keeps those above one offset and not above another.
func (l *Log) dropSnapshots(above, to int64) {
	l.Snapshots = slices.DeleteFunc(slices.Clone(l.Snapshots), func(s ProducerSnapshot) bool { return s.Offset <= above || s.Offset > to })
	if len(l.Snapshots) == 0 {
		l.Snapshots = nil
	}
}

// loadSnapshot takes the producers from the newest snapshot within the log, and returns the offset up to which it knows
// the log: 0 without any.
func (l *Log) loadSnapshot() int64 {
	l.dropSnapshots(l.LogStart, l.End)
	l.Producers = nil
	n := len(l.Snapshots)
	if n == 0 {
		l.Transactions = Transactions{}
		return 0
	}
	s := &l.Snapshots[n-1]
	l.Producers = slices.Clone(s.Producers)
	l.Transactions = l.Transactions.before(s.Offset, s.Open)
	return s.Offset
}

// ExpireProducers forgets producers whose last batch is not younger than before, ms (P-86), and that have no
// transaction open.
func (l *Log) ExpireProducers(before int64) {
	if before <= l.Expired {
		return
	}
	l.Expired = before
	l.Producers = slices.DeleteFunc(l.Producers, func(p ProducerEntry) bool { return p.Last <= before && l.OpenBy(p.ID) < 0 })
}

// ExpireWithoutMarkers is ExpireProducers as it was before 2.4.1 (KAFKA-9144), at a look at a time, ms: only records have
// timestamps that count. A marker with a raised epoch clears what is remembered of them, so its producer seems to be older
// than anything.
func (l *Log) ExpireWithoutMarkers(look, expiration int64) {
	l.Producers = slices.DeleteFunc(l.Producers, func(p ProducerEntry) bool {
		switch {
		case l.OpenBy(p.ID) >= 0:
			return false
		case p.Count == 0:
			return p.Last <= look
		}
		last := p.Last
		if b := l.BatchAt(p.Batches[p.Count-1].BaseOffset); b != nil {
			last = b.MaxTimestamp
		}
		return last <= look-expiration
	})
}

// ForgetRemoved forgets producers of which no record is left, as Kafka did before 2.4 (KAFKA-7190).
func (l *Log) ForgetRemoved() {
	l.Producers = slices.DeleteFunc(l.Producers, func(p ProducerEntry) bool {
		return p.Count > 0 && p.Batches[p.Count-1].NextOffset <= l.LogStart
	})
}

// Knows tells whether the log has state of a producer.
func (l *Log) Knows(id int64) bool {
	_, found := l.producer(id)
	return found
}
