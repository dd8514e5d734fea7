package partlog

import "sort"

// EpochStart is one entry of a leader-epoch cache: records from StartOffset on were written in Epoch.
type EpochStart struct {
	Epoch       int32
	StartOffset int64
}

// Epochs is a leader-epoch cache (R1.5, Kafka's LeaderEpochFileCache): entries in strictly increasing
// order of both epoch and start offset.
//
// Clones of a log share the array behind it. That is safe because entries are only ever appended, and
// whoever cuts the tail gives up the spare room behind it (see cut).
type Epochs []EpochStart

// Undefined is the epoch and the offset of an answer that says "I do not know" (R1.6).
const Undefined = -1

// Latest is the newest epoch, Undefined when the cache is empty.
func (c Epochs) Latest() int32 {
	if len(c) == 0 {
		return Undefined
	}
	return c[len(c)-1].Epoch
}

// Assign notes that epoch e starts at offset (R1.5). It is a no-op if e is the latest epoch and the offset
// is not before its start; otherwise every tail entry with an epoch ≥ e or a start ≥ offset goes first,
// because the new leader's word about an offset replaces what was believed.
func (c *Epochs) Assign(e int32, offset int64) {
	if n := len(*c); n > 0 && (*c)[n-1].Epoch == e && offset >= (*c)[n-1].StartOffset {
		return
	}
	n := len(*c)
	for n > 0 && ((*c)[n-1].Epoch >= e || (*c)[n-1].StartOffset >= offset) {
		n--
	}
	*c = append(cut(*c, n), EpochStart{e, offset})
}

// EndOffsetFor answers "where does epoch e end?" (R1.6). The answer's epoch is the largest known one ≤ e,
// its end the start of the next known one; logEnd is the end of the latest epoch. Both results are
// Undefined when e is above everything known, or nothing is known.
func (c Epochs) EndOffsetFor(e int32, logEnd int64) (epoch int32, end int64) {
	if len(c) == 0 || e < 0 {
		return Undefined, Undefined
	}
	if e == c.Latest() {
		return e, logEnd
	}
	higher := sort.Search(len(c), func(i int) bool { return c[i].Epoch > e })
	switch {
	case higher == len(c):
		return Undefined, Undefined
	case higher == 0:
		return e, c[0].StartOffset
	default:
		return c[higher-1].Epoch, c[higher].StartOffset
	}
}

// EpochAt is the epoch of the record at an offset, Undefined when no entry covers it.
func (c Epochs) EpochAt(offset int64) int32 {
	i := sort.Search(len(c), func(i int) bool { return c[i].StartOffset > offset })
	if i == 0 {
		return Undefined
	}
	return c[i-1].Epoch
}

// TruncateFromEnd forgets entries that start at or after offset (R1.7).
func (c *Epochs) TruncateFromEnd(offset int64) {
	n := len(*c)
	for n > 0 && (*c)[n-1].StartOffset >= offset {
		n--
	}
	*c = cut(*c, n)
}

// TruncateFromStart forgets entries that start at or before offset, except that the last of them is kept
// with its start moved to offset (R1.7).
func (c *Epochs) TruncateFromStart(offset int64) {
	i := sort.Search(len(*c), func(i int) bool { return (*c)[i].StartOffset > offset })
	if i == 0 {
		return
	}
	kept := append(Epochs{{(*c)[i-1].Epoch, offset}}, (*c)[i:]...)
	*c = kept
}

// cut shortens a slice that clones may share. The result has no spare room, so the next append moves to a
// new array instead of writing over what another clone still reads.
func cut[E any](s []E, n int) []E {
	if n == len(s) {
		return s
	}
	return s[:n:n]
}
