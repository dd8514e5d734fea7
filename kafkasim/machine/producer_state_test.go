package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// numbered sends the leader a batch of producer 7 with a sequence number.
func (b *bench) numbered(tp TopicPartition, epoch int16, seq int32, values ...string) ProduceResult {
	b.t.Helper()
	req := b.produceRequest(tp, config.AcksAll, values...)
	x := &req.Parts[0].Batch
	x.ProducerID, x.ProducerEpoch, x.BaseSequence, x.MaxTimestamp = 7, epoch, seq, b.Now/ms
	return b.call(b.registration(tp).Leader, req).(ProduceResponse).Parts[0]
}

func (b *bench) expectProduced(what string, got ProduceResult, code Code, base int64) {
	b.t.Helper()
	if got.Error != code || code == NONE && got.BaseOffset != base {
		b.t.Errorf("%s: %v at offset %d, want %v at %d", what, got.Error, got.BaseOffset, code, base)
	}
}

// idempotent is a topic with six batches of producer 7: offsets and sequences 0 to 5.
func idempotent(t *testing.T, tune ...func(*World)) (*bench, TopicPartition) {
	b := newBench(t, 1, tune...)
	tp := b.topic("orders", 1, []NodeID{1})
	b.run(100 * ms)
	for i := range int32(6) {
		b.expectProduced("a first batch", b.numbered(tp, 0, i, "v"), NONE, int64(i))
	}
	return b, tp
}

// Check 6 (P-83, P-84, P-87, P-92): a retry of one of the last five batches is answered with its first offset, one of
// an older batch is out of order; no broker answers DUPLICATE_SEQUENCE_NUMBER.
func TestFiveBatchesAreRemembered(t *testing.T) {
	b, tp := idempotent(t)
	for i := int32(5); i > 0; i-- {
		b.expectProduced("a retry", b.numbered(tp, 0, i, "v"), NONE, int64(i))
	}
	b.expectProduced("a retry of the sixth last", b.numbered(tp, 0, 0, "v"), OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
	b.expectProduced("a gap", b.numbered(tp, 0, 7, "v"), OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
	b.expectProduced("a new epoch not from 0", b.numbered(tp, 1, 6, "v"), OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
	b.expectProduced("a new epoch", b.numbered(tp, 1, 0, "v"), NONE, 6)
	b.expectProduced("the old epoch", b.numbered(tp, 0, 6, "v"), INVALID_PRODUCER_EPOCH, 0)
	b.expectLog(1, tp, 7, 7)
}

// comeBack starts broker 1 and waits until it leads.
func (b *bench) comeBack(tp TopicPartition) {
	b.t.Helper()
	b.apply(StartBroker{1})
	b.runUntil(30_000*ms, "a leader", func() bool {
		r := b.broker(1).replica(tp)
		return b.broker(1).Process == Running && r != nil && r.Role == Leader
	})
	b.conn++
}

// P-83, P-86 (Q25): a crash does not forget sequence numbers: they are read from the log again. A clean stop leaves a
// snapshot, and of each producer only the last batch is in it.
func TestSequencesOutliveRestarts(t *testing.T) {
	b, tp := idempotent(t)
	b.fence(1)
	b.comeBack(tp)
	b.expectProduced("after a crash, the last", b.numbered(tp, 0, 5, "v"), NONE, 5)
	b.expectProduced("after a crash, the fifth last", b.numbered(tp, 0, 1, "v"), NONE, 1)
	b.apply(StopBroker{1})
	b.runUntil(60_000*ms, "the stop", func() bool { return !b.broker(1).alive() })
	b.comeBack(tp)
	b.expectProduced("after a clean stop, the last", b.numbered(tp, 0, 5, "v"), NONE, 5)
	b.expectProduced("after a clean stop, the second last", b.numbered(tp, 0, 4, "v"), OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
	b.expectProduced("the next", b.numbered(tp, 0, 6, "v"), NONE, 6)
}

// P-86: a producer that was silent for producer.id.expiration.ms is forgotten, at the next look every ten minutes;
// then any sequence will do.
func TestSilentProducerIsForgottenP86(t *testing.T) {
	b, tp := idempotent(t, func(w *World) { w.Broker.ProducerIDExpirationMs = 900_000 })
	b.run(1_100_000 * ms)
	b.expectProduced("before the look", b.numbered(tp, 0, 50, "v"), OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
	b.run(100_000 * ms)
	b.expectProduced("after it", b.numbered(tp, 0, 50, "v"), NONE, 6)
	b.expectProduced("and on", b.numbered(tp, 0, 51, "v"), NONE, 7)
}

// R7.2, P-86, KAFKA-7190: a producer is known for longer than its records are there. Before 2.4 it was not, and before
// 2.5 the log then wanted sequence 0 (P-89).
func TestStateOutlastsRecords(t *testing.T) {
	for _, c := range []struct {
		off  []Switch
		code Code
	}{
		{nil, OUT_OF_ORDER_SEQUENCE_NUMBER},
		{[]Switch{StateOutlastsRecords}, NONE},
		{[]Switch{StateOutlastsRecords, AnyFirstSequence}, UNKNOWN_PRODUCER_ID},
	} {
		b, tp := idempotent(t, func(w *World) {
			for _, x := range c.off {
				w.Rules |= 1 << x
			}
		})
		b.log(1, tp).SetLogStart(6) // what DeleteRecords does
		got := b.numbered(tp, 0, 9, "v")
		b.expectProduced("a gap after all records are gone", got, c.code, 6)
		if c.code == UNKNOWN_PRODUCER_ID && got.LogStartOffset != 6 {
			t.Errorf("the answer has log start %d, want 6", got.LogStartOffset)
		}
	}
}

// P-89: an idempotent producer always tries again. If everything acknowledged is gone from the log it numbers from 0
// in the same epoch, else in the next one.
func TestClientOnUnknownProducerIDP89(t *testing.T) {
	for _, c := range []struct {
		logStart int64
		epoch    int16
		seq      int32
	}{{5, 0, 0}, {0, 1, 0}, {-1, 0, 1}} {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.EnableIdempotence, props.LingerMs = true, 0
		p := f.producer(props)
		f.warm(p)
		refuse := true
		var last partlog.Batch
		f.produce = func(_ *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) {
			last = r.Parts[0].Batch
			if refuse {
				refuse = false
				return ProduceResponse{Parts: []ProduceResult{{TP: r.Parts[0].TP, Error: UNKNOWN_PRODUCER_ID, BaseOffset: -1, LogStartOffset: c.logStart}}}, true
			}
			return ProduceResponse{Parts: []ProduceResult{{TP: r.Parts[0].TP, BaseOffset: 9}}}, true
		}
		n := f.send(p, 0, "v")
		f.at(f.s.Now/ms + 500)
		if d := f.s.Delivery(p, n); d.Status != DeliveryAcked || last.ProducerEpoch != c.epoch || last.BaseSequence != c.seq {
			t.Errorf("log start %d: %v with epoch %d and sequence %d, want epoch %d, sequence %d", c.logStart, d, last.ProducerEpoch, last.BaseSequence, c.epoch, c.seq)
		}
	}
}
