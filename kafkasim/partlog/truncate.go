package partlog

import "sort"

// Truncation and what survives a restart.

// TruncateTo removes the records from offset on (R2.11). At or above the end no record goes, but epoch
// entries that start there do: that cleans an epoch which this replica led without writing. It returns
// whether records were removed.
//
// A batch that only partly lies below offset is removed whole and leaves a hole, as in Kafka; epochs and
// batch boundaries see to it that this does not happen in clean histories.
func (l *Log) TruncateTo(offset int64) bool {
	if offset >= l.End {
		l.Epochs.TruncateFromEnd(l.End)
		return false
	}
	if offset < l.segment(0).BaseOffset {
		l.TruncateFullyAndStartAt(offset)
		return true
	}
	l.dropFrom(offset)
	l.End = offset
	l.Flushed, l.Cleaned = min(l.Flushed, offset), min(l.Cleaned, offset) // R7.14
	l.Epochs.TruncateFromEnd(offset)
	l.LogStart = min(offset, l.LogStart)
	if l.HighWatermark >= offset {
		l.HighWatermark = offset
	}
	l.rebuildProducers()
	return true
}

// dropFrom removes every batch that ends after offset, and makes the segment of the cut the active one.
func (l *Log) dropFrom(offset int64) {
	n := len(l.Sealed)
	for n > 0 && l.segment(n).BaseOffset >= offset && l.segment(n).BaseOffset > l.segment(0).BaseOffset {
		n--
	}
	seg := *l.segment(n)
	l.Sealed = cut(l.Sealed, n)
	keep := sort.Search(seg.Batches.Len(), func(i int) bool { return seg.Batches.At(i).NextOffset() > offset })
	// A segment that was sealed is shared for good; without spare room the next append copies it.
	seg.Batches.clip()
	seg.Batches.cut(keep)
	seg.measure()
	l.Active = seg
}

// measure computes a segment's size and times from its batches.
func (s *Segment) measure() {
	s.Size, s.FirstTimestamp, s.MaxTimestamp = 0, 0, 0
	if s.Batches.Len() > 0 {
		s.FirstTimestamp = s.Batches.At(0).MaxTimestamp
		s.MaxTimestamp = s.FirstTimestamp
	}
	for b := range s.Batches.All() {
		s.Size += int64(b.Size)
		s.MaxTimestamp = max(s.MaxTimestamp, b.MaxTimestamp)
	}
}

// TruncateFullyAndStartAt empties the log and lets it begin at offset (R2.11).
func (l *Log) TruncateFullyAndStartAt(offset int64) {
	*l = Log{LogStart: offset, HighWatermark: offset, End: offset, Flushed: offset, Active: Segment{BaseOffset: offset}}
}

// Flush makes everything in the page cache safe (R4.2).
func (l *Log) Flush() { l.Flushed = l.End }

// LosePageCache is what a power loss does: everything above the recovery point is gone (R4.2). It returns
// whether records were lost. Load must follow before the log is used.
func (l *Log) LosePageCache() bool {
	if l.Flushed >= l.End {
		return false
	}
	l.dropFrom(l.Flushed)
	l.End = l.Flushed
	return true
}

// Load is what a broker does with a log when it starts (R4.3): the epoch cache is cut to the log's end,
// the high watermark is the checkpointed one clamped into the log, and the producer state is read anew.
// Since 0.11 the log is not truncated to the high watermark.
func (l *Log) Load(checkpoint int64) {
	l.Epochs.TruncateFromEnd(l.End)
	l.LogStart = min(l.LogStart, l.End)
	l.HighWatermark = l.LogStart
	l.SetHighWatermark(checkpoint)
	l.rebuildProducers()
}

// LoseTail drops everything behind the first keep batches, as a disk does that never got the rest. It returns
// whether records were lost. Load must follow before the log is used.
func (l *Log) LoseTail(keep int) bool {
	to, n := l.End, 0
	l.Batches(l.LogStart, func(b *Batch) bool {
		if n == keep {
			to = b.BaseOffset
			return false
		}
		n++
		return true
	})
	if to >= l.End {
		return false
	}
	l.dropFrom(to)
	l.End = to
	l.Flushed = min(l.Flushed, to)
	return true
}
