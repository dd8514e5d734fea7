package partlog

import "kafkalab/kafkasim/partlog/codec"

// Compaction: what a pass of the cleaner does to one log (R7.10, R7.11).
//
// Kafka: Cleaner.buildOffsetMap, cleanSegments, cleanInto; MemoryRecords.filterTo.

// Pass is one pass over a log, from its first dirty offset to before Bound.
type Pass struct {
	Dirty, Bound      int64
	Now               int64 // ms
	DeleteRetentionMs int64
	SegmentBytes      int64 // small segments are merged up to it
	DropsLast         bool  // a broken cleaner: a key's last record goes too; for tests

	last    map[string]int64 // each key's last offset in the dirty part
	end     int64            // after the last batch of the dirty part
	aborted bool             // the batch at hand is of an aborted transaction
	open    map[int64]bool   // producers of whose transaction at hand the log had a batch
}

// Compact rewrites the log from its start to p.Bound: of each key that the dirty part has, earlier records
// go, and tombstones whose time is over. Offsets never change. What is above, and the active segment, stays
// as it is. It tells how many records went.
func (l *Log) Compact(p Pass) (gone int) {
	p.last, p.end, p.open = map[string]int64{}, p.Dirty, map[int64]bool{}
	l.Batches(p.Dirty, func(b *Batch) bool {
		if b.BaseOffset >= p.Bound {
			return false
		}
		for c := b.Records.From(0); !b.Control && !l.aborted(b) && c.Next(); {
			if c.Flags&NullKey == 0 {
				p.last[c.Key] = b.BaseOffset + int64(c.Place())
				if p.DropsLast {
					p.last[c.Key]++
				}
			}
		}
		p.end = b.NextOffset()
		return true
	})
	if p.end == p.Dirty {
		p.end = max(p.Dirty, p.Bound) // no batch lies between: the offsets there are a gap, and nothing is left to clean
	}
	var sealed []Segment
	i := 0
	for i < len(l.Sealed) && l.Sealed[i].BaseOffset < p.end {
		group, size := Segment{BaseOffset: l.Sealed[i].BaseOffset}, int64(0)
		for ; i < len(l.Sealed) && l.Sealed[i].BaseOffset < p.end && (size == 0 || size+l.Sealed[i].Size <= p.SegmentBytes); i++ {
			size += l.Sealed[i].Size
			for old := range l.Sealed[i].Batches.All() {
				b, n, keep := l.cleaned(old, &p)
				gone += n
				if keep {
					group.Batches.append(b)
				}
			}
		}
		group.Batches.clip()
		group.measure()
		sealed = append(sealed, group)
	}
	l.Sealed = append(sealed, l.Sealed[i:]...)
	l.Cleaned = p.end
	return gone
}

// cleaned is what a pass leaves of a batch, and how many of its records go. A batch without records is
// kept, empty, when it is the last of the pass or its producer's last, by which retries are known.
func (l *Log) cleaned(b *Batch, p *Pass) (out Batch, gone int, keep bool) {
	if b.Control {
		return l.cleanedMarker(b, p)
	}
	if b.Transactional {
		p.open[b.ProducerID] = true
	}
	tombstones := false
	p.aborted = b.BaseOffset < p.end && l.aborted(b)
	for c := b.Records.From(0); c.Next(); {
		if !p.retains(b, &c) {
			gone++
		} else if c.Flags&NullValue != 0 && b.BaseOffset < p.end {
			tombstones = true
		}
	}
	stamp := tombstones && b.DeleteHorizon == 0
	if left := b.Records.Live() - gone; left == 0 {
		keep = b.NextOffset() == p.end || l.lastOfProducer(b)
	} else {
		keep = true
	}
	if !keep || gone == 0 && !stamp {
		return *b, gone, keep
	}
	out = *b
	if stamp {
		out.DeleteHorizon = p.Now + p.DeleteRetentionMs
	}
	l.rewrite(&out, b, p)
	return out, gone, true
}

// cleanedMarker is what a pass leaves of a transaction's marker. When the log has nothing of the transaction any more the
// marker is as a tombstone is: a first pass stamps it, a later one removes it (R7.11).
//
// Kafka: CleanedTransactionMetadata.onControlBatchRead, Cleaner.shouldDiscardBatch.
func (l *Log) cleanedMarker(b *Batch, p *Pass) (out Batch, gone int, keep bool) {
	needed := p.open[b.ProducerID] || b.BaseOffset >= p.end
	delete(p.open, b.ProducerID)
	last := b.NextOffset() == p.end || l.lastOfProducer(b) // such a batch stays, empty if need be
	switch {
	case needed || b.DeleteHorizon != 0 && p.Now < b.DeleteHorizon || b.Records.Live() == 0 && last:
		return *b, 0, true
	case b.DeleteHorizon != 0 && !last:
		return Batch{}, b.Records.Live(), false
	}
	c := b.Records.From(0)
	c.Next()
	out = *b
	if out.DeleteHorizon == 0 {
		out.DeleteHorizon = p.Now + p.DeleteRetentionMs
		out.Records = Records{Base: out.DeleteHorizon}
		out.Records.add(&c.Record, c.Headers())
	} else {
		out.Records, gone = Records{Base: b.Records.Base}, 1
		out.Records.Remove()
	}
	out.Records.Trim()
	out.Compress(b.Codec, codec.DefaultLevel)
	return out, gone, true
}

// retains tells whether a record stays (R7.10): it is above what the pass knows of, or it is its key's last
// and has a value, or it is a tombstone whose time is not over. Records without key are from before the topic
// was compacted, and go.
func (p *Pass) retains(b *Batch, c *Cursor) bool {
	offset := b.BaseOffset + int64(c.Place())
	if offset >= p.end {
		return true
	}
	if p.aborted {
		return false
	}
	last, mapped := p.last[c.Key]
	if c.Flags&NullKey != 0 || mapped && offset < last {
		return false
	}
	return c.Flags&NullValue == 0 || b.DeleteHorizon == 0 || p.Now < b.DeleteHorizon
}

// rewrite makes out's records those of b that stay. A delete horizon takes the place of the first timestamp,
// so that the records' distances from it, and the batch's size, may grow.
func (l *Log) rewrite(out, b *Batch, p *Pass) {
	out.Records = Records{Base: out.DeleteHorizon}
	place, first := 0, out.DeleteHorizon == 0
	out.MaxTimestamp = -1
	for c := b.Records.From(0); c.Next(); {
		if !p.retains(b, &c) {
			continue
		}
		if first {
			out.Records.Base, first = c.Timestamp, false
		}
		for ; place < c.Place(); place++ {
			out.Records.Remove()
		}
		out.Records.add(&c.Record, c.Headers())
		out.MaxTimestamp = max(out.MaxTimestamp, c.Timestamp)
		place++
	}
	for ; place < b.Records.Len(); place++ {
		out.Records.Remove()
	}
	if out.Records.Live() == 0 {
		out.MaxTimestamp = b.MaxTimestamp
	}
	out.Records.Trim()
	out.Compress(b.Codec, codec.DefaultLevel)
}

// aborted tells whether a batch is of a transaction that was aborted.
func (l *Log) aborted(b *Batch) bool {
	if !b.Transactional {
		return false
	}
	for _, a := range l.AbortedIn(b.BaseOffset, b.NextOffset()) {
		if a.ProducerID == b.ProducerID {
			return true
		}
	}
	return false
}

// lastOfProducer tells whether a batch is the last that the log remembers of its producer.
func (l *Log) lastOfProducer(b *Batch) bool {
	i, found := l.producer(b.ProducerID)
	if b.ProducerID < 0 || !found {
		return false
	}
	e := &l.Producers[i]
	if e.Count == 0 {
		return b.Control && e.Epoch == b.ProducerEpoch
	}
	return e.Epoch == b.ProducerEpoch && e.Batches[e.Count-1].NextOffset == b.NextOffset()
}
