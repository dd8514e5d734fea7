package partlog

import "sort"

// Segment is a run of batches in one file. Sealed segments never change, so clones of a log share them.
type Segment struct {
	BaseOffset     int64
	Size           int64 // bytes
	FirstTimestamp int64 // ms, of the first batch; meaningless in an empty segment
	MaxTimestamp   int64 // ms
	Batches        Batches
}

// Log is one partition's log on one broker. The zero value is an empty log that starts at offset 0.
//
// LogStart ≤ HighWatermark ≤ End always holds (R1.1). Without transactions the last stable offset is the
// high watermark (R1.2); with them LastStable tells it (T-44).
//
// Copying a Log by assignment shares its batches with the copy. Unshare says how that is made safe.
type Log struct {
	LogStart      int64
	HighWatermark int64
	End           int64 // log end offset: the offset of the next record
	Cleaned       int64 // the cleaner's checkpoint: what is below was compacted (R7.9)
	Flushed       int64 // recovery point: everything below is on the disk, not only in the page cache (R4.2)
	Sealed        []Segment
	Active        Segment
	Epochs        Epochs
	Producers     []ProducerEntry // by ID
	Transactions  Transactions
	Snapshots     []ProducerSnapshot // by Offset
	Expired       int64              // ms: producers that were silent since before it are forgotten
}

// Unshare makes a log that was copied by assignment live on independently of its original. Both go on sharing
// all batches.
//
// Batches, sealed segments and epochs are written once, behind the end of their slices. The copy gives up
// the spare room at the end of what it shares, so only one log ever writes into it; and cutting a tail
// gives it up too. Producer entries change in place and are copied.
func (l *Log) Unshare() {
	l.Sealed = l.Sealed[:len(l.Sealed):len(l.Sealed)]
	l.Active.Batches.clip()
	l.Epochs = l.Epochs[:len(l.Epochs):len(l.Epochs)]
	l.Snapshots = l.Snapshots[:len(l.Snapshots):len(l.Snapshots)]
	if l.Producers != nil {
		l.Producers = append(make([]ProducerEntry, 0, len(l.Producers)), l.Producers...)
	}
	l.Transactions.unshare()
}

// Size is the number of bytes in the log.
func (l *Log) Size() int64 {
	n := l.Active.Size
	for i := range l.Sealed {
		n += l.Sealed[i].Size
	}
	return n
}

// segment is the i-th segment; the active one is behind the sealed ones.
func (l *Log) segment(i int) *Segment {
	if i == len(l.Sealed) {
		return &l.Active
	}
	return &l.Sealed[i]
}

// Append adds a batch whose BaseOffset and LeaderEpoch are stamped, rolling the active segment first when
// the batch does not fit (R7.1). The batch must start at the log's end; a follower of a leader whose log
// has a hole may leave a hole too, so a later start is allowed.
func (l *Log) Append(b Batch, segmentBytes int64) {
	if b.BaseOffset < l.End {
		panic("partlog: a batch starts before the log's end")
	}
	if l.Active.Batches.Len() > 0 && l.Active.Size > segmentBytes-int64(b.Size) {
		l.Roll(b.BaseOffset)
	}
	if l.Active.Batches.Len() == 0 {
		l.Active.FirstTimestamp, l.Active.MaxTimestamp = b.MaxTimestamp, b.MaxTimestamp
	}
	l.Epochs.Assign(b.LeaderEpoch, b.BaseOffset) // R1.5
	l.Active.Batches.append(b)
	l.Active.Size += int64(b.Size)
	l.Active.MaxTimestamp = max(l.Active.MaxTimestamp, b.MaxTimestamp)
	l.End = b.NextOffset()
	l.remember(&b)
}

// Roll seals the active segment and starts a new one at base. Kafka flushes what it rolls (R4.2).
func (l *Log) Roll(base int64) {
	l.Sealed = append(l.Sealed, l.Active)
	l.Active = Segment{BaseOffset: base}
	l.Flushed = max(l.Flushed, base)
	l.TakeSnapshot()
}

// SetHighWatermark moves the high watermark, clamped into [LogStart, End] (R1.1), and tells whether it moved.
func (l *Log) SetHighWatermark(offset int64) bool {
	offset = min(max(offset, l.LogStart), l.End)
	moved := offset != l.HighWatermark
	l.HighWatermark = offset
	l.Transactions.decided(offset)
	return moved
}

// SetLogStart raises the log start offset and drags the high watermark along (R1.1, R7.8); it never
// lowers it. It tells whether it moved.
func (l *Log) SetLogStart(offset int64) bool {
	if offset <= l.LogStart {
		return false
	}
	l.LogStart = offset
	l.HighWatermark = max(l.HighWatermark, offset)
	l.Epochs.TruncateFromStart(offset)
	l.Transactions.decided(l.HighWatermark)
	l.Transactions.trim(offset)
	return true
}

// find returns the segment and the index in it of the first batch that ends after offset; ok is false when
// there is none.
func (l *Log) find(offset int64) (seg, batch int, ok bool) {
	sealed := len(l.Sealed)
	seg = sealed
	if offset < l.Active.BaseOffset {
		seg = sort.Search(sealed, func(i int) bool { return l.segment(i+1).BaseOffset > offset })
	}
	for ; seg <= sealed; seg++ {
		bs := &l.segment(seg).Batches
		n := bs.Len()
		if n == 0 || bs.At(n-1).NextOffset() <= offset {
			continue
		}
		if bs.At(n-1).BaseOffset <= offset {
			return seg, n - 1, true // most reads are at the end
		}
		return seg, sort.Search(n, func(i int) bool { return bs.At(i).NextOffset() > offset }), true
	}
	return 0, 0, false
}

// Read returns whole batches from the one that holds offset up to bound (exclusive), at most maxBytes of
// them, but at least one when minOne is set (C-21). It reads from one segment only, as Kafka does. The
// caller has checked that LogStart ≤ offset ≤ End. The result shares the log's memory and must not be
// written to.
func (l *Log) Read(offset, bound, maxBytes int64, minOne bool) (batches []Batch, bytes int64) {
	if offset >= bound {
		return nil, 0
	}
	seg, from, ok := l.find(offset)
	if !ok {
		return nil, 0
	}
	bs := &l.segment(seg).Batches
	to := from
	for n := bs.Len(); to < n && bs.At(to).NextOffset() <= bound; {
		size := int64(bs.At(to).Size)
		if bytes+size > maxBytes && (to > from || !minOne) {
			break
		}
		bytes += size
		to++
	}
	if to == from {
		return nil, 0
	}
	return bs.slice(from, to), bytes
}

// Available says whether a parked fetch at offset may go (R1.32, C-23): the bytes between offset and
// bound, counted up to enough; and whether offset lies in an older segment than bound, which completes a
// fetch whatever its minimum.
func (l *Log) Available(offset, bound, enough int64) (bytes int64, olderSegment bool) {
	if offset >= bound {
		return 0, false
	}
	seg, from, ok := l.find(offset)
	if !ok {
		return 0, false
	}
	if seg < len(l.Sealed) && l.segment(seg+1).BaseOffset < bound {
		return 0, true
	}
	bs := &l.segment(seg).Batches
	for i, n := from, bs.Len(); i < n && bs.At(i).NextOffset() <= bound && bytes < enough; i++ {
		bytes += int64(bs.At(i).Size)
	}
	return bytes, false
}

// Last is the last n batches of the active segment, which must have so many.
func (l *Log) Last(n int) []Batch {
	have := l.Active.Batches.Len()
	return l.Active.Batches.slice(have-n, have)
}

// BatchAt is the batch that holds the record at offset, nil when the log has none.
func (l *Log) BatchAt(offset int64) *Batch {
	seg, i, ok := l.find(offset)
	if !ok {
		return nil
	}
	b := l.segment(seg).Batches.At(i)
	if b.BaseOffset > offset {
		return nil
	}
	return b
}

// Batches calls visit for every batch that ends after from, in order, until visit returns false.
func (l *Log) Batches(from int64, visit func(*Batch) bool) {
	seg, i, ok := l.find(from)
	if !ok {
		return
	}
	for ; seg <= len(l.Sealed); seg++ {
		bs := &l.segment(seg).Batches
		for n := bs.Len(); i < n; i++ {
			if !visit(bs.At(i)) {
				return
			}
		}
		i = 0
	}
}

// TimestampFrom is the timestamp of the first record at or after an offset and below bound, ms; false when there is none.
func (l *Log) TimestampFrom(offset, bound int64) (at int64, ok bool) {
	l.Batches(offset, func(b *Batch) bool {
		if b.BaseOffset >= bound {
			return false
		}
		for c := b.Records.From(int(max(offset-b.BaseOffset, 0))); c.Next(); {
			if o := b.BaseOffset + int64(c.Place()); o < bound {
				at, ok = c.Timestamp, true
			}
			return false
		}
		return true
	})
	return at, ok
}

// MaxTimestamp is the largest timestamp of the log's records, ms; 0 without any.
func (l *Log) MaxTimestamp() int64 {
	latest := int64(0)
	for i := 0; i <= len(l.Sealed); i++ {
		if s := l.segment(i); s.Batches.Len() > 0 {
			latest = max(latest, s.MaxTimestamp)
		}
	}
	return latest
}

// OffsetByTime is the first record at or after LogStart and below bound whose timestamp is at least ts ms:
// its offset, its timestamp and its leader epoch. ok is false when there is none.
func (l *Log) OffsetByTime(ts, bound int64) (offset, at int64, epoch int32, ok bool) {
	for i := 0; i <= len(l.Sealed); i++ {
		s := l.segment(i)
		if s.Batches.Len() == 0 || s.MaxTimestamp < ts {
			continue
		}
		for b := range s.Batches.All() {
			if b.MaxTimestamp < ts {
				continue
			}
			for c := b.Records.From(0); c.Next(); {
				o := b.BaseOffset + int64(c.Place())
				if c.Timestamp >= ts && o >= l.LogStart && o < bound {
					return o, c.Timestamp, b.LeaderEpoch, true
				}
			}
		}
	}
	return 0, 0, 0, false
}
