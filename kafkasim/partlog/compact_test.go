package partlog

import (
	"fmt"
	"strings"
	"testing"
)

// keyed is a batch of records "k=v", "k=" being a tombstone, of a producer, or of nobody with -1.
func keyed(offset, producer int64, transactional bool, records ...string) Batch {
	b := Batch{BaseOffset: offset, ProducerID: producer, ProducerEpoch: -1, BaseSequence: -1, Transactional: transactional, MaxTimestamp: 1}
	if producer >= 0 {
		b.ProducerEpoch, b.BaseSequence = 0, int32(offset)
	}
	for _, text := range records {
		k, v, _ := strings.Cut(text, "=")
		r := Record{Key: k, Value: v, Timestamp: 1}
		if v == "" {
			r.Flags = NullValue
		}
		b.Records.Append(&r, nil)
	}
	b.Size = BatchSize(&b.Records)
	return b
}

// marker ends a producer's transaction.
func marker(offset, producer int64, commit bool) Batch {
	b := Batch{BaseOffset: offset, ProducerID: producer, BaseSequence: -1, Transactional: true, Control: true, MaxTimestamp: 1}
	r := MarkerRecord(Marker{Commit: commit}, 1)
	b.Records.Append(&r, nil)
	b.Size = BatchSize(&b.Records)
	return b
}

// held is what a log holds, a batch after the other: C and A are markers, and a batch without records is empty.
func held(l *Log) string {
	var out []string
	l.Batches(0, func(b *Batch) bool {
		text := fmt.Sprintf("%d:", b.BaseOffset)
		if m, is := b.Marker(); is {
			text += map[bool]string{true: "C", false: "A"}[m.Commit]
		}
		for c := b.Records.From(0); !b.Control && c.Next(); {
			text += c.Key + "=" + c.Value
		}
		out = append(out, text)
		return true
	})
	return strings.Join(out, " ")
}

// R7.11: a marker goes as a tombstone does, when nothing of its transaction is left: a first pass stamps it, which makes it a
// byte longer, and a pass after the horizon removes it. What a transaction that was aborted wrote goes at once.
func TestMarkersGoLikeTombstonesR711(t *testing.T) {
	var l Log
	for _, b := range []Batch{
		keyed(0, 5, true, "a=1"), marker(1, 5, true),
		keyed(2, 5, true, "b=1"), marker(3, 5, false),
		keyed(4, 5, true, "c=1"), marker(5, 5, true), // 5's last batch
	} {
		l.Append(b, 1<<20)
	}
	next := int64(6)
	pass := func(now int64, want string) {
		t.Helper()
		l.Append(keyed(next, -1, false, fmt.Sprintf("x%d=1", next)), 1<<20) // new dirt
		next++
		l.Roll(next)
		l.SetHighWatermark(next)
		l.Compact(Pass{Dirty: l.Cleaned, Bound: next, Now: now, DeleteRetentionMs: 1000, SegmentBytes: 1 << 20})
		if got := held(&l); got != want {
			t.Errorf("at %d: %s\nwant %s", now, got, want)
		}
	}
	before := l.BatchAt(3).Size
	pass(100, "0:a=1 1:C 3:A 4:c=1 5:C 6:x6=1")
	if l.BatchAt(3).DeleteHorizon != 0 {
		t.Error("the marker was stamped by the pass that met the transaction's records")
	}
	pass(200, "0:a=1 1:C 3:A 4:c=1 5:C 6:x6=1 7:x7=1")
	if b := l.BatchAt(3); b.DeleteHorizon != 1200 || b.Size != before+1 {
		t.Errorf("the marker's horizon is %d and its size %d; want 1200 and %d", b.DeleteHorizon, b.Size, before+1)
	}
	if b := l.BatchAt(1); b.DeleteHorizon != 0 {
		t.Error("a marker whose records are there was stamped")
	}
	pass(1199, "0:a=1 1:C 3:A 4:c=1 5:C 6:x6=1 7:x7=1 8:x8=1")
	pass(1200, "0:a=1 1:C 4:c=1 5:C 6:x6=1 7:x7=1 8:x8=1 9:x9=1")
	// A newer value of a: the committed transaction is gone, and its marker follows.
	l.Append(keyed(next, -1, false, "a=2"), 1<<20)
	next++
	pass(2000, "1:C 4:c=1 5:C 6:x6=1 7:x7=1 8:x8=1 9:x9=1 10:a=2 11:x11=1")
	pass(4000, "1:C 4:c=1 5:C 6:x6=1 7:x7=1 8:x8=1 9:x9=1 10:a=2 11:x11=1 12:x12=1") // … which is stamped now
	pass(5000, "4:c=1 5:C 6:x6=1 7:x7=1 8:x8=1 9:x9=1 10:a=2 11:x11=1 12:x12=1 13:x13=1")
}

// The last batch of a producer stays, without records, so that its retries are known.
func TestLastBatchOfAProducerStaysR710(t *testing.T) {
	var l Log
	for _, b := range []Batch{keyed(0, 5, false, "a=1"), keyed(1, -1, false, "a=2"), keyed(2, -1, false, "b=1")} {
		l.Append(b, 1<<20)
	}
	l.Roll(3)
	l.SetHighWatermark(3)
	if l.Compact(Pass{Bound: 3, Now: 1, SegmentBytes: 1 << 20}); held(&l) != "0: 1:a=2 2:b=1" {
		t.Error(held(&l))
	}
}

// BenchmarkCompact compacts logs of 10⁵ and 10⁶ records with 10,000 keys: a record takes about as long in either.
func BenchmarkCompact(b *testing.B) {
	for _, records := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			var full Log
			for o := 0; o < records; o += 100 {
				batch := Batch{BaseOffset: int64(o), ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}
				for i := range 100 {
					batch.Records.Append(&Record{Key: fmt.Sprint((o + i) * 7919 % 10_000), Value: "0123456789", Timestamp: int64(o)}, nil)
				}
				batch.Size = BatchSize(&batch.Records)
				full.Append(batch, 1<<20)
			}
			full.Roll(full.End)
			full.SetHighWatermark(full.End)
			b.ResetTimer()
			for range b.N {
				l := full
				l.Unshare()
				l.Compact(Pass{Bound: l.End, SegmentBytes: 1 << 20})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
		})
	}
}
