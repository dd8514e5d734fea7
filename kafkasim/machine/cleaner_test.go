package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

func (b *bench) compacted3(tune func(*config.Topic)) TopicPartition {
	return b.stored(func(c *config.Topic) {
		c.CleanupPolicy, c.MinCleanableDirtyRatio = config.CleanupCompact, 10_000
		tune(c)
	})
}

// R7.9, R7.10, R7.12: each replica keeps each key's last record below its active segment; offsets stay, and a
// fetch at one that is gone gets the next.
func TestCompactionKeepsTheLastOfEachKey(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.compacted3(func(*config.Topic) {})
	b.rolled(tp, "a=1", "b=1", "a=2", "c=1", "a=3")
	b.run(1_000_000)
	for id := NodeID(1); id <= 3; id++ {
		if got := b.kept(id, tp); got != "1:b=1 2:a=2 3:c=1 4:a=3 " {
			t.Errorf("broker %d keeps %s", id, got)
		}
		l := b.log(id, tp)
		if l.LogStart != 0 || l.End != 5 || l.HighWatermark != 5 || l.Cleaned != 4 {
			t.Errorf("broker %d: %d..%d, HW %d, cleaned to %d", id, l.LogStart, l.End, l.HighWatermark, l.Cleaned)
		}
		if len(l.Sealed) != 1 {
			t.Errorf("broker %d: %d sealed segments", id, len(l.Sealed))
		}
	}
	if res := b.consume(1, tp, 0, 0); res.Error != NONE || len(res.Batches) == 0 || res.Batches[0].BaseOffset != 1 {
		t.Errorf("a fetch from 0: %+v", res)
	}
	b.apply(LoseDisk{Broker: 3})
	b.apply(StartBroker{Broker: 3})
	b.runUntil(60_000_000, "broker 3 has it all", func() bool {
		r := b.broker(3).replica(tp)
		return r != nil && r.Log.End == 5
	})
	if got := b.kept(3, tp); got != "1:b=1 2:a=2 3:c=1 4:a=3 " {
		t.Errorf("a new replica has %s", got)
	}
}

// R7.11: a tombstone goes by the first pass after its horizon that has new records to clean.
func TestTombstones(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.compacted3(func(c *config.Topic) { c.DeleteRetentionMs = 3000 })
	b.rolled(tp, "a=1", "a=", "b=1")
	b.run(1_000_000)
	if got := b.kept(1, tp); got != "1:a= 2:b=1 " {
		t.Fatalf("after one pass: %s", got)
	}
	if h := b.log(1, tp).BatchAt(1).DeleteHorizon; h == 0 {
		t.Fatal("no delete horizon")
	}
	b.rolled(tp, "c=1")
	b.run(1_000_000)
	if got := b.kept(1, tp); got != "1:a= 2:b=1 3:c=1 " {
		t.Fatalf("before the horizon: %s", got)
	}
	b.run(5_000_000)
	if got := b.kept(1, tp); got != "1:a= 2:b=1 3:c=1 " {
		t.Fatalf("without new dirt: %s", got)
	}
	b.rolled(tp, "d=1")
	b.run(1_000_000)
	if got := b.kept(1, tp); got != "2:b=1 3:c=1 4:d=1 " {
		t.Errorf("after the horizon: %s", got)
	}
}

// R7.13: a record without key has no place in a compacted topic.
func TestCompactedTopicsWantKeys(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.compacted3(func(*config.Topic) {})
	if res := b.keyed(tp, "x"); res.Error != INVALID_RECORD {
		t.Errorf("answered %v", res.Error)
	}
	if end := b.log(1, tp).End; end != 0 {
		t.Errorf("the log ends at %d", end)
	}
}

// R7.9: the ratio is strict, a young segment waits for min.compaction.lag.ms, an old one does not wait for the
// ratio beyond max.compaction.lag.ms.
func TestWhatIsCleanedAndWhen(t *testing.T) {
	for _, c := range []struct {
		name string
		tune func(*config.Topic)
		want string
	}{
		{"the whole log is not above a ratio of 1", func(c *config.Topic) { c.MinCleanableDirtyRatio = config.Million }, "0:a=1 1:a=2 2:a=3 "},
		{"too young", func(c *config.Topic) { c.MinCompactionLagMs = 10_000 }, "0:a=1 1:a=2 2:a=3 "},
		{"overdue", func(c *config.Topic) { c.MinCleanableDirtyRatio, c.MaxCompactionLagMs = config.Million, 1000 }, "1:a=2 2:a=3 "},
	} {
		b := newBench(t, 3, quickStore)
		tp := b.compacted3(c.tune)
		b.rolled(tp, "a=1", "a=2", "a=3")
		b.run(2_000_000)
		if got := b.kept(1, tp); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// R7.14: a compacted topic that deletes too loses its old segments, by the cleaner; and DeleteRecords is
// refused only without delete (R7.7).
func TestCompactAndDelete(t *testing.T) {
	for _, policy := range []config.Cleanup{config.CleanupCompact, config.CleanupCompact | config.CleanupDelete} {
		b := newBench(t, 3, quickStore)
		tp := b.compacted3(func(c *config.Topic) { c.CleanupPolicy, c.RetentionMs = policy, 3000 })
		b.rolled(tp, "a=1", "b=1", "a=2")
		want := POLICY_VIOLATION
		if policy.Deletes() {
			want = NONE
		}
		if res := b.call(1, DeleteRecordsRequest{TimeoutMs: 1000, Parts: []DeletePart{{TP: tp, Before: 1}}}).(DeleteRecordsResponse); res.Parts[0].Error != want {
			t.Errorf("%v: DeleteRecords answers %v", policy, res.Parts[0].Error)
		}
		b.run(6_000_000)
		if start := b.log(2, tp).LogStart; (start == 3) != policy.Deletes() {
			t.Errorf("%v: the log starts at %d", policy, start)
		}
	}
}

// R7.14: what is cut from a log is dirty again.
func TestTruncationPullsTheCleanerBack(t *testing.T) {
	l := partlog.Log{}
	for i := range int64(4) {
		l.Append(partlog.Batch{BaseOffset: i, ProducerID: -1, Size: 70, Records: partlog.PackRecords(partlog.Record{Key: "k", Value: "v"})}, 70)
	}
	l.HighWatermark = 4
	l.Compact(partlog.Pass{Dirty: 0, Bound: 3, SegmentBytes: 1000})
	if l.Cleaned != 3 {
		t.Fatalf("cleaned to %d", l.Cleaned)
	}
	if l.TruncateTo(2); l.Cleaned != 2 {
		t.Errorf("cleaned to %d after a truncation to 2", l.Cleaned)
	}
}

// Invariant 25 notices a replica that has lost a key's newest record.
func TestCheckSeesALostKey(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.compacted3(func(*config.Topic) {})
	b.rolled(tp, "a=1", "b=1", "a=2", "c=1")
	b.run(1_000_000)
	if found := b.Check(); len(found) > 0 {
		t.Fatal(found)
	}
	b.log(2, tp).Sealed = nil
	for _, v := range b.Check() {
		if v.Invariant == 25 {
			return
		}
	}
	t.Error("nothing noticed")
}

// A compacted world survives being saved and cloned.
func TestCompactedWorldsAreSaved(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.compacted3(func(c *config.Topic) { c.DeleteRetentionMs = 60_000 })
	b.rolled(tp, "a=1", "b=1", "a=", "c=1")
	b.run(1_000_000)
	if got := b.kept(1, tp); got != "1:b=1 2:a= 3:c=1 " {
		t.Fatal(got)
	}
	for id := NodeID(1); id <= 3; id++ {
		b.log(id, tp).Batches(0, func(x *partlog.Batch) bool {
			text, err := x.Records.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var y partlog.Records
			if err := y.UnmarshalJSON(text); err != nil || string(y.Data) != string(x.Records.Data) || y.Base != x.Records.Base || y.Removed != x.Records.Removed {
				t.Errorf("%s: %+v, want %+v (%v)", text, y, x.Records, err)
			}
			return true
		})
	}
	c := b.Clone()
	before := c.Hash()
	b.rolled(tp, "b=2", "d=1")
	b.run(1_000_000)
	if c.Hash() != before {
		t.Error("a clone changed with its original")
	}
}
