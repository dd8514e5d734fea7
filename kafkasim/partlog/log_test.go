package partlog

import (
	"fmt"
	"testing"
)

// batch makes a batch of n records at offset in epoch, of 10 bytes a record.
func batch(offset int64, epoch int32, n int) Batch {
	return Batch{BaseOffset: offset, LeaderEpoch: epoch, ProducerID: -1, Size: int32(10 * n), Records: PackRecords(make([]Record, n)...)}
}

// filled is a log of one-record batches in one epoch, with three to a segment.
func filled(n int) *Log {
	var l Log
	for i := range n {
		l.Append(batch(int64(i), 0, 1), 30)
	}
	return &l
}

// R1.5: assign.
func TestAssignEpoch(t *testing.T) {
	for _, c := range []struct {
		have   Epochs
		epoch  int32
		offset int64
		want   string
	}{
		{nil, 3, 0, "[{3 0}]"},
		{Epochs{{1, 0}}, 1, 5, "[{1 0}]"},                       // the latest epoch, not before its start
		{Epochs{{1, 0}}, 2, 5, "[{1 0} {2 5}]"},                 // a newer one
		{Epochs{{1, 0}, {2, 5}}, 3, 5, "[{1 0} {3 5}]"},         // 2 had no records
		{Epochs{{1, 0}, {2, 5}}, 2, 3, "[{1 0} {2 3}]"},         // the latest epoch, before its start
		{Epochs{{1, 0}, {4, 5}}, 2, 3, "[{1 0} {2 3}]"},         // an older epoch takes over
		{Epochs{{1, 0}, {2, 5}, {3, 9}}, 4, 4, "[{1 0} {4 4}]"}, // several go
		{Epochs{{1, 4}, {2, 5}}, 3, 0, "[{3 0}]"},               // all go
		{Epochs{{1, 0}, {2, 5}}, 1, 7, "[{1 7}]"},               // entries ≥ 1 go, whatever their start
	} {
		got := c.have
		got.Assign(c.epoch, c.offset)
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v assign (%d, %d): %v, want %s", c.have, c.epoch, c.offset, got, c.want)
		}
	}
}

// R1.6: where an epoch ends.
func TestEndOffsetFor(t *testing.T) {
	cache := Epochs{{2, 4}, {4, 7}, {7, 9}}
	for _, c := range []struct {
		ask   int32
		epoch int32
		end   int64
	}{
		{7, 7, 12},  // the latest: the log's end
		{8, -1, -1}, // above everything
		{4, 4, 9}, {5, 4, 9}, {6, 4, 9},
		{2, 2, 7}, {3, 2, 7},
		{1, 1, 4}, // no floor: the asked epoch, and where the first known one starts
		{-1, -1, -1},
	} {
		if e, end := cache.EndOffsetFor(c.ask, 12); e != c.epoch || end != c.end {
			t.Errorf("epoch %d: (%d, %d), want (%d, %d)", c.ask, e, end, c.epoch, c.end)
		}
	}
	if e, end := (Epochs)(nil).EndOffsetFor(0, 0); e != -1 || end != -1 {
		t.Errorf("an empty cache answers (%d, %d)", e, end)
	}
}

// R1.7: the cache follows the log's ends.
func TestTruncateEpochs(t *testing.T) {
	for _, c := range []struct {
		start bool
		at    int64
		want  string
	}{
		{false, 9, "[{2 4} {4 7}]"}, {false, 10, "[{2 4} {4 7} {7 9}]"}, {false, 7, "[{2 4}]"}, {false, 4, "[]"},
		{true, 3, "[{2 4} {4 7} {7 9}]"}, {true, 4, "[{2 4} {4 7} {7 9}]"}, {true, 5, "[{2 5} {4 7} {7 9}]"},
		{true, 7, "[{4 7} {7 9}]"}, {true, 8, "[{4 8} {7 9}]"}, {true, 20, "[{7 20}]"},
	} {
		e := Epochs{{2, 4}, {4, 7}, {7, 9}}
		if c.start {
			e.TruncateFromStart(c.at)
		} else {
			e.TruncateFromEnd(c.at)
		}
		if fmt.Sprint(e) != c.want {
			t.Errorf("from start %v at %d: %v, want %s", c.start, c.at, e, c.want)
		}
	}
}

// R7.1, R4.2: segments roll at append, by size, and what is rolled is flushed.
func TestRoll(t *testing.T) {
	l := filled(7)
	if len(l.Sealed) != 2 || l.Active.BaseOffset != 6 || l.Flushed != 6 || l.End != 7 || l.Size() != 70 {
		t.Errorf("%d sealed, active from %d, flushed %d, end %d, %d bytes", len(l.Sealed), l.Active.BaseOffset, l.Flushed, l.End, l.Size())
	}
}

// C-21: whole batches, limits, and one batch at least; one segment at a time.
func TestRead(t *testing.T) {
	l := filled(7)
	for _, c := range []struct {
		offset, bound, max int64
		one                bool
		from, n            int64
	}{
		{0, 7, 1000, false, 0, 3},
		{1, 7, 1000, false, 1, 2},
		{0, 2, 1000, false, 0, 2},
		{0, 7, 25, false, 0, 2},
		{0, 7, 5, true, 0, 1},
		{0, 7, 5, false, 0, 0},
		{3, 7, 1000, false, 3, 3},
		{6, 7, 1000, false, 6, 1},
		{7, 7, 1000, true, 0, 0},
		{5, 3, 1000, true, 0, 0},
	} {
		got, bytes := l.Read(c.offset, c.bound, c.max, c.one)
		if int64(len(got)) != c.n || bytes != 10*c.n || c.n > 0 && got[0].BaseOffset != c.from {
			t.Errorf("%+v: %d batches, %d bytes", c, len(got), bytes)
		}
	}
	big := Log{}
	big.Append(batch(0, 0, 5), 1000)
	if got, _ := big.Read(3, 5, 1000, true); len(got) != 1 || got[0].BaseOffset != 0 {
		t.Error("a read inside a batch returns the whole batch")
	}
	if got, _ := big.Read(0, 4, 1000, true); len(got) != 0 {
		t.Error("a batch above the bound is not returned")
	}
}

// R1.32, C-23: what completes a parked fetch.
func TestAvailable(t *testing.T) {
	l := filled(7)
	for _, c := range []struct {
		offset, bound, enough, bytes int64
		older                        bool
	}{
		{6, 7, 1, 10, false}, {7, 7, 1, 0, false}, {0, 7, 1, 0, true}, {3, 6, 100, 30, false}, {0, 3, 15, 20, false}, {5, 7, 1, 0, true},
	} {
		if bytes, older := l.Available(c.offset, c.bound, c.enough); bytes != c.bytes || older != c.older {
			t.Errorf("%+v: %d bytes, older %v", c, bytes, older)
		}
	}
}

// R2.11: truncation, at every offset.
func TestTruncateTo(t *testing.T) {
	for to := range int64(9) {
		l := filled(7)
		l.SetHighWatermark(5)
		cut := l.TruncateTo(to)
		want := min(to, 7)
		if cut != (to < 7) || l.End != want || l.HighWatermark != min(5, want) || l.Size() != 10*want || l.Flushed != min(6, want) {
			t.Errorf("to %d: cut %v, end %d, HW %d, %d bytes, flushed %d", to, cut, l.End, l.HighWatermark, l.Size(), l.Flushed)
		}
		n := int64(0)
		l.Batches(0, func(b *Batch) bool { n++; return true })
		if n != want {
			t.Errorf("to %d: %d batches", to, n)
		}
		l.Append(batch(l.End, 1, 1), 30)
		if b := l.BatchAt(want); b == nil || b.LeaderEpoch != 1 {
			t.Errorf("to %d: cannot go on", to)
		}
	}
}

// R2.11: truncation below the log start lowers it, and below the first segment starts over.
func TestTruncateBelowTheStart(t *testing.T) {
	var l Log
	l.TruncateFullyAndStartAt(10)
	for i := range int64(6) {
		l.Append(batch(10+i, 0, 1), 30)
	}
	l.SetHighWatermark(16)
	l.SetLogStart(14)
	l.TruncateTo(12)
	if l.LogStart != 12 || l.End != 12 || l.HighWatermark != 12 {
		t.Errorf("start %d, end %d, HW %d; want all 12", l.LogStart, l.End, l.HighWatermark)
	}
	l.TruncateTo(3)
	if l.LogStart != 3 || l.End != 3 || len(l.Epochs) != 0 || l.Size() != 0 {
		t.Errorf("start %d, end %d, epochs %v", l.LogStart, l.End, l.Epochs)
	}
}

// R1.1: the setters clamp.
func TestClamps(t *testing.T) {
	l := filled(5)
	l.SetHighWatermark(9)
	if l.HighWatermark != 5 {
		t.Errorf("HW %d above the end", l.HighWatermark)
	}
	l.SetLogStart(3)
	l.SetHighWatermark(1)
	if l.HighWatermark != 3 {
		t.Errorf("HW %d below the start", l.HighWatermark)
	}
	l.SetLogStart(4)
	if l.HighWatermark != 4 || l.SetLogStart(2) || l.LogStart != 4 {
		t.Errorf("HW %d, start %d; want both 4", l.HighWatermark, l.LogStart)
	}
}

// R4.2, R4.3: a power loss takes what was not flushed, a restart clamps the checkpointed high watermark and
// cuts the epochs to the log's end.
func TestPowerLossAndLoad(t *testing.T) {
	l := filled(5) // flushed up to 3
	l.Epochs.Assign(2, 5)
	l.SetHighWatermark(5)
	if !l.LosePageCache() || l.End != 3 || l.Size() != 30 {
		t.Errorf("end %d, %d bytes", l.End, l.Size())
	}
	l.Load(4)
	if l.HighWatermark != 3 || fmt.Sprint(l.Epochs) != "[{0 0}]" {
		t.Errorf("HW %d, epochs %v", l.HighWatermark, l.Epochs)
	}
	l.Load(1)
	if l.HighWatermark != 1 || l.End != 3 {
		t.Errorf("HW %d, end %d: the log is not cut to the high watermark", l.HighWatermark, l.End)
	}
	l.Flush()
	if l.LosePageCache() {
		t.Error("a flushed log loses nothing")
	}
}

// A copy that is unshared and its original go their own ways, whoever appends or cuts first.
func TestUnshare(t *testing.T) {
	for cut := range int64(7) {
		a := filled(7)
		b := *a
		b.Unshare()
		a.TruncateTo(cut)
		a.Append(batch(a.End, 5, 1), 30)
		b.Append(batch(7, 6, 1), 30)
		a.Append(batch(a.End, 5, 1), 30)
		for i := range int64(7) {
			if x := b.BatchAt(i); x == nil || x.LeaderEpoch != 0 {
				t.Fatalf("cut at %d: the copy's record %d is %+v", cut, i, x)
			}
		}
		if x := b.BatchAt(7); x == nil || x.LeaderEpoch != 6 {
			t.Fatalf("cut at %d: the copy's own record is %+v", cut, x)
		}
		if x := a.BatchAt(cut); x == nil || x.LeaderEpoch != 5 {
			t.Fatalf("cut at %d: the original's own record is %+v", cut, x)
		}
	}
}

// P-83 to P-86, R1.23: the last five batches of a producer.
func TestCheckSequence(t *testing.T) {
	var l Log
	add := func(id int64, epoch int16, seq int32, n int) {
		b := batch(l.End, 0, n)
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, epoch, seq
		l.Append(b, 1<<20)
	}
	for i := range int32(6) {
		add(7, 0, 2*i, 2)
	}
	ask := func(id int64, epoch int16, seq int32, n int) (Verdict, int64) {
		b := batch(0, 0, n)
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, epoch, seq
		v, seen := l.CheckSequence(&b)
		return v, seen.BaseOffset
	}
	for _, c := range []struct {
		id    int64
		epoch int16
		seq   int32
		n     int
		want  Verdict
		base  int64
	}{
		{7, 0, 12, 1, Append, 0},
		{7, 0, 10, 2, Duplicate, 10},
		{7, 0, 2, 2, Duplicate, 2},
		{7, 0, 0, 2, OutOfOrder, 0},  // older than the last five
		{7, 0, 10, 1, OutOfOrder, 0}, // first equal, last not
		{7, 0, 13, 1, OutOfOrder, 0}, // a gap
		{7, 1, 0, 1, Append, 0},      // a new epoch begins at 0
		{7, 1, 5, 1, OutOfOrder, 0},
		{9, 0, 77, 1, Append, 0}, // unknown producer
	} {
		if v, base := ask(c.id, c.epoch, c.seq, c.n); v != c.want || base != c.base {
			t.Errorf("%+v: verdict %d, base %d", c, v, base)
		}
	}
	add(7, 1, 0, 1)
	if v, _ := ask(7, 0, 12, 1); v != StaleEpoch {
		t.Errorf("an old epoch: verdict %d", v)
	}
	l.TruncateTo(10) // the batches at 10 and 12 are forgotten
	if v, _ := ask(7, 0, 10, 2); v != Append {
		t.Errorf("after truncation: verdict %d, want the sequence to go on at 10", v)
	}
	l.TruncateTo(0)
	if len(l.Producers) != 0 {
		t.Errorf("an empty log remembers %+v", l.Producers)
	}
}

// P-82: sequences wrap.
func TestSequenceWraps(t *testing.T) {
	var l Log
	b := batch(0, 0, 3)
	b.ProducerID, b.BaseSequence = 7, 1<<31-2
	l.Append(b, 1<<20)
	next := batch(3, 0, 1)
	next.ProducerID, next.BaseSequence = 7, 1
	if v, _ := l.CheckSequence(&next); v != Append {
		t.Errorf("verdict %d, want 1 to follow 2147483646, 2147483647, 0", v)
	}
}

// ListOffsets by time.
func TestOffsetByTime(t *testing.T) {
	var l Log
	for i := range int64(6) {
		b := batch(2*i, 0, 2)
		b.Records, b.MaxTimestamp = PackRecords(Record{Timestamp: 10 * i}, Record{Timestamp: 10*i + 5}), 10*i+5
		l.Append(b, 50)
	}
	for _, c := range []struct{ ts, bound, want int64 }{{0, 12, 0}, {5, 12, 1}, {6, 12, 2}, {41, 12, 9}, {41, 9, -1}, {56, 12, -1}} {
		got, _, _, ok := l.OffsetByTime(c.ts, c.bound)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A log of a million records is cloned as fast as one of a hundred.
func BenchmarkUnshare(b *testing.B) {
	var l Log
	for i := range int64(10_000) {
		l.Append(batch(100*i, 0, 100), 1<<20)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := l
		c.Unshare()
	}
}

func BenchmarkAppend(b *testing.B) {
	var l Log
	x := batch(0, 0, 100)
	for b.Loop() {
		l.Append(x, 1<<20)
		x.BaseOffset = l.End
	}
}
