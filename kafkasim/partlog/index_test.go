package partlog

import "testing"

// R7.1: an entry comes with the first batch after more than index.interval.bytes; the time index has one only when the
// largest timestamp has grown, and one more at the end of a sealed segment.
func TestIndexEntries(t *testing.T) {
	for _, c := range []struct {
		what           string
		sizes, times   []int
		sealed         bool
		offsets, stamp int64
	}{
		{"nothing", nil, nil, false, 0, 0},
		{"the first batch has none, however large", []int{9000}, []int{1}, false, 0, 0},
		{"… but its time when it is sealed", []int{9000}, []int{1}, true, 0, 1},
		{"4096 bytes are not more than 4096", []int{4096, 10, 10}, []int{1, 2, 3}, false, 1, 1},
		{"each after 4097", []int{4097, 4097, 4097}, []int{1, 2, 3}, false, 2, 2},
		{"times that stand still", []int{4097, 4097, 4097}, []int{5, 5, 5}, true, 2, 1},
		{"times that go back", []int{4097, 4097, 4097}, []int{1, 9, 2}, true, 2, 1},
		{"small ones", []int{2000, 2000, 2000, 2000, 2000, 2000}, []int{1, 2, 3, 4, 5, 6}, true, 1, 2},
	} {
		var l Log
		for i, size := range c.sizes {
			b := batch(int64(i), 0, 1)
			b.Size, b.MaxTimestamp = int32(size), int64(c.times[i])
			l.Append(b, 1<<30)
		}
		if o, ts := l.Active.Entries(4096, c.sealed); o != c.offsets || ts != c.stamp {
			t.Errorf("%s: %d and %d entries, want %d and %d", c.what, o, ts, c.offsets, c.stamp)
		}
	}
}

// R7.1: a segment with a full index takes no more: the offset index with all of its entries, the time index with all but
// one.
func TestIndexFull(t *testing.T) {
	for _, c := range []struct {
		bytes   int64
		growing bool
		batches int // that fit
	}{
		{40, false, 6}, // five entries, and the first batch has none
		{40, true, 3},  // three entries of time, one of them kept for the end
		{47, false, 6}, // sizes are rounded down
		{10 << 20, true, 1000},
		{4, false, 1}, // no entry at all fits: each batch in a segment of its own
	} {
		var l Log
		n := 0
		for ; n < 1000 && !l.IndexFull(Indexes{4096, c.bytes}); n++ {
			b := batch(int64(n), 0, 1)
			b.Size = 4097
			if c.growing {
				b.MaxTimestamp = int64(n)
			}
			l.Append(b, 1<<30)
		}
		if n != c.batches {
			t.Errorf("segment.index.bytes=%d, times grow %v: %d batches fit, want %d", c.bytes, c.growing, n, c.batches)
		}
	}
}
