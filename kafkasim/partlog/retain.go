package partlog

// Segments that go: what retention deletes (R7.2 to R7.5).

// First is the oldest segment.
func (l *Log) First() *Segment { return l.segment(0) }

// FirstEnd is the offset after the oldest segment.
func (l *Log) FirstEnd() int64 { return l.next(0) }

// SegmentOf is the place of the segment that an offset lies in, counted from the oldest; the active one is
// the last.
func (l *Log) SegmentOf(offset int64) int {
	n := len(l.Sealed)
	for n > 0 && l.segment(n).BaseOffset > offset {
		n--
	}
	return n
}

// next is the offset after segment i: the base of the next one, or the log's end.
func (l *Log) next(i int) int64 {
	if i < len(l.Sealed) {
		return l.segment(i + 1).BaseOffset
	}
	return l.End
}

// DeleteOld deletes the segments that have expired, oldest first, up to the first that has not (R7.2). A
// segment goes only when the high watermark has passed all of it, and an empty last segment stays. When
// nothing is left a new segment begins at the log's end (R7.5). It tells where the log would start by this,
// and whether a segment went; the log start is for the caller to raise.
//
// Kafka: UnifiedLog.deletableSegments, deleteSegments.
func (l *Log) DeleteOld(expired func(s *Segment, next int64) bool) (start int64, deleted bool) {
	n := 0
	for ; n <= len(l.Sealed); n++ {
		s, next := l.segment(n), l.next(n)
		last := n == len(l.Sealed)
		if last && s.Batches.Len() == 0 || l.HighWatermark < next || !expired(s, next) {
			break
		}
	}
	if n == 0 {
		return l.LogStart, false
	}
	if n > len(l.Sealed) {
		l.Roll(l.End)
	}
	l.Sealed = append([]Segment(nil), l.Sealed[n:]...) // moved, so that what is deleted is not kept in memory
	l.dropSnapshots(l.segment(0).BaseOffset-1, l.End)
	return l.segment(0).BaseOffset, true
}

// TooOld tells whether a batch begins a new segment because the active one's first batch is more than ms
// older (R7.1). Without a limit ms is 0.
func (l *Log) TooOld(b *Batch, ms int64) bool {
	return ms > 0 && l.Active.Batches.Len() > 0 && b.MaxTimestamp-l.Active.FirstTimestamp > ms
}
