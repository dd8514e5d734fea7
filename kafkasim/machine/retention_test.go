package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// quickStore lets the tasks for logs come often.
func quickStore(w *World) {
	w.Broker.LogInitialTaskDelayMs, w.Broker.LogRetentionCheckIntervalMs, w.Broker.LogCleanerBackoffMs = 500, 400, 300
}

// stored is a topic on brokers 1 to 3 with small segments of time.
func (b *bench) stored(tune func(*config.Topic)) TopicPartition {
	props := topicDefaults()
	props.RetentionMs, props.RetentionBytes, props.MaxCompactionLagMs = -1, -1, never
	props.CleanupPolicy, props.SegmentMs = config.CleanupDelete, 150
	tune(&props)
	tp := b.topicWith("t", props, []NodeID{1, 2, 3})
	b.run(100_000)
	return tp
}

// rolled appends batches 200 ms apart, so that each begins a segment.
func (b *bench) rolled(tp TopicPartition, values ...string) {
	b.t.Helper()
	for _, v := range values {
		b.run(200_000)
		if res := b.keyed(tp, v); res.Error != NONE {
			b.t.Fatal(res.Error)
		}
	}
}

// keyed produces one record; "k=v" has a key, "k=" is a tombstone, "v" has no key.
func (b *bench) keyed(tp TopicPartition, text string) ProduceResult {
	r := partlog.Record{Value: text, Flags: partlog.NullKey, Timestamp: b.Now / ms}
	if len(text) > 1 && text[1] == '=' {
		r = partlog.Record{Key: text[:1], Value: text[2:], Timestamp: b.Now / ms}
		if r.Value == "" {
			r.Flags = partlog.NullValue
		}
	}
	req := b.produceRequest(tp, -1, text)
	x := &req.Parts[0].Batch
	x.Records = partlog.PackRecords(r)
	x.MaxTimestamp, x.Size = r.Timestamp, partlog.BatchSize(&x.Records)
	return b.call(b.registration(tp).Leader, req).(ProduceResponse).Parts[0]
}

// kept are the records of a broker's log, with their offsets.
func (b *bench) kept(id NodeID, tp TopicPartition) string {
	text := ""
	b.log(id, tp).Batches(0, func(x *partlog.Batch) bool {
		for i, r := range x.Records.All() {
			text += string(rune('0'+x.BaseOffset+int64(i))) + ":" + r.Key + "=" + r.Value + " "
		}
		return true
	})
	return text
}

// R7.1 to R7.3, R7.6: each broker keeps at least retention.bytes of whole segments.
func TestRetentionBySize(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.stored(func(c *config.Topic) { c.RetentionBytes = 210 })
	b.rolled(tp, "aa", "bb", "cc", "dd", "ee")
	size := b.log(1, tp).Size()
	each := size / 5
	if n := len(b.log(1, tp).Sealed); b.log(1, tp).LogStart == 0 && n != 4 {
		t.Fatalf("%d sealed segments, %d bytes", n, size)
	}
	b.run(1_000_000)
	for id := NodeID(1); id <= 3; id++ {
		l := b.log(id, tp)
		if l.Size() < 210 || l.Size()-l.First().Size >= 210 || l.LogStart != l.First().BaseOffset {
			t.Errorf("broker %d: %d bytes of %d each, starts at %d", id, l.Size(), each, l.LogStart)
		}
	}
}

// R7.4, R7.5: the active segment goes too when it is old enough; the log ends where it ended.
func TestRetentionByTimeTakesTheActiveSegment(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.stored(func(c *config.Topic) { c.RetentionMs = 2500 })
	b.rolled(tp, "a", "b", "c", "d")
	if s := b.log(1, tp).LogStart; s != 0 {
		t.Fatalf("starts at %d too early", s)
	}
	b.run(6_000_000)
	for id := NodeID(1); id <= 3; id++ {
		l := b.log(id, tp)
		if l.LogStart != 4 || l.End != 4 || l.HighWatermark != 4 || l.Active.BaseOffset != 4 || len(l.Sealed) != 0 {
			t.Errorf("broker %d: %d..%d, HW %d", id, l.LogStart, l.End, l.HighWatermark)
		}
		b.expectLog(id, tp, 4, 4, partlog.EpochStart{Epoch: 0, StartOffset: 4})
	}
	if res := b.keyed(tp, "e"); res.BaseOffset != 4 {
		t.Errorf("the next record has offset %d", res.BaseOffset)
	}
}

// R7.2: nothing above the high watermark is deleted, however old.
func TestRetentionStopsAtTheHighWatermark(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.stored(func(c *config.Topic) { c.RetentionMs = 1000 })
	b.apply(CutLink{A: 1, B: 2})
	b.apply(CutLink{A: 1, B: 3})
	b.produce(1, tp, 1, "x")
	b.run(5_000_000)
	if l := b.log(1, tp); l.LogStart != 0 || l.End != 1 || l.HighWatermark != 0 {
		t.Errorf("%d..%d, HW %d", l.LogStart, l.End, l.HighWatermark)
	}
}

// R2.11b: a follower that was down longer than the records were kept starts over at the leader's log start.
func TestFollowerDownLongerThanRetention(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.stored(func(c *config.Topic) { c.RetentionMs = 2500 })
	b.rolled(tp, "a", "b")
	b.apply(CrashBroker{Broker: 3})
	b.run(12_000_000)
	b.rolled(tp, "c", "d", "e")
	b.run(4_000_000)
	b.rolled(tp, "f")
	b.apply(StartBroker{Broker: 3})
	b.runUntil(30_000_000, "broker 3 is back", func() bool { return len(b.registration(tp).ISR) == 3 })
	if l := b.log(3, tp); l.LogStart < 5 || l.End != 6 {
		t.Errorf("%d..%d", l.LogStart, l.End)
	}
}

// A world whose records are kept for long has no tasks in its queue before that.
func TestNoRetentionWithoutNeed(t *testing.T) {
	b := newBench(t, 3, quickStore)
	tp := b.stored(func(c *config.Topic) { c.RetentionMs = 604_800_000 })
	b.rolled(tp, "a", "b")
	if at := b.broker(1).Chores.RetentionAt; at < 604_800_000*ms {
		t.Errorf("the task comes at %d µs", at)
	}
	if at := b.broker(1).Chores.CleanerAt; at != 0 {
		t.Errorf("the cleaner comes at %d µs", at)
	}
}
