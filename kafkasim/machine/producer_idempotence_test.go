package machine

import (
	"fmt"
	"slices"
	"testing"
)

// idempotent answers as a broker that checks sequence numbers: the last five batches of a producer are
// known again, a gap is OUT_OF_ORDER_SEQUENCE_NUMBER, a new epoch begins at 0 (P-83 to P-86).
func (f *fake) idempotent(r ProduceRequest) ProduceResponse {
	a := f.dedupe(r)
	for i := range a.Parts {
		if a.Parts[i].Error == NONE && a.Parts[i].BaseOffset < 0 {
			a.Parts[i] = f.append(ProduceRequest{Parts: r.Parts[i : i+1]}).Parts[0]
		}
	}
	return a
}

func (f *fake) dedupe(r ProduceRequest) ProduceResponse {
	var a ProduceResponse
	for _, p := range r.Parts {
		res := ProduceResult{TP: p.TP, BaseOffset: -1}
		log := f.log[p.TP.Partition]
		next, epoch := int32(-1), int16(-1)
		for i, b := range log {
			epoch, next = b.ProducerEpoch, b.BaseSequence+b.Records.Count
			if i >= len(log)-5 && b.ProducerEpoch == p.Batch.ProducerEpoch && b.BaseSequence == p.Batch.BaseSequence && b.Records.Count == p.Batch.Records.Count {
				res.BaseOffset = b.BaseOffset
			}
		}
		if p.Batch.ProducerEpoch > epoch && epoch >= 0 {
			next = 0
		}
		if res.BaseOffset < 0 && next >= 0 && p.Batch.BaseSequence != next {
			res.Error = OUT_OF_ORDER_SEQUENCE_NUMBER
		}
		a.Parts = append(a.Parts, res)
	}
	return a
}

func idempotentProducer(f *fake) int32 {
	props := producerProps()
	props.EnableIdempotence, props.BatchRecords, props.LingerMs = true, 1, 0
	f.produce = func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) { return f.idempotent(r), true }
	return f.producer(props)
}

// sequences lists epoch/base sequence of every batch that was sent, in order.
func (f *fake) sequences() []string {
	var seqs []string
	for _, r := range f.produces() {
		for _, p := range r.what.(ProduceRequest).Parts {
			seqs = append(seqs, fmt.Sprintf("%d/%d", p.Batch.ProducerEpoch, p.Batch.BaseSequence))
		}
	}
	return seqs
}

// P-81, P-82: the id is asked for when the producer begins; sequences count records, per partition.
func TestSequencesP82(t *testing.T) {
	f := newFake(t, 1, 2)
	p := idempotentProducer(f)
	f.at(10)
	if id := f.s.Producers[p].Identity; id.ProducerID != 7 || id.ProducerEpoch != 0 {
		t.Fatalf("identity %+v before the first send", id)
	}
	f.s.Producers[p].Config.BatchRecords = 3
	for range 6 {
		f.send(p, 0, "x")
	}
	f.at(100)
	f.send(p, 1, "y")
	f.send(p, 0, "z")
	f.at(200)
	if got, want := f.sequences(), []string{"0/0", "0/3", "0/6", "0/0"}; !slices.Equal(got, want) {
		t.Errorf("sequences %v, want %v", got, want)
	}
	if got := nextSequence(1<<31-2, 4); got != 2 {
		t.Errorf("sequences wrap to %d, want 2", got)
	}
}

// P-63: without a producer id nothing is sent and nothing expires.
func TestNoIDNothingExpiresP63(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.s.Producers[p].Config.DeliveryTimeoutMs = 5000
	f.noID = true
	n := f.send(p, 0, "a")
	f.at(15000)
	f.want(p, n, DeliveryPending, -1, -1)
	if len(f.produces()) != 0 {
		t.Error("a batch was sent without a producer id")
	}
	f.noID = false
	f.at(60000)
	// The id comes after the request timeout of 30 s; by then the batch is long overdue.
	if d := f.want(p, n, DeliveryFailed, -1, -1); d.Error != "TimeoutException" {
		t.Errorf("%+v", d)
	}
}

// hazard lets A fail and B, sent after it on the same connection, be written (P-69).
func hazard(t *testing.T, idempotence bool, inFlight int32) []string {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	props := &f.s.Producers[p].Config
	props.EnableIdempotence, props.MaxInFlight = idempotence, inFlight
	f.send(p, 0, "warm")
	f.at(100)
	failed := false
	f.produce = func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) {
		if r.Parts[0].Batch.Records.At(0).Value == "A" && !failed {
			failed = true
			return refuse(r, NOT_ENOUGH_REPLICAS), true
		}
		if idempotence {
			return f.idempotent(r), true
		}
		return f.append(r), true
	}
	f.send(p, 0, "A")
	f.send(p, 0, "B")
	f.send(p, 0, "C")
	f.at(5000)
	if f.s.Producers[p].AckedRecords != 4 {
		t.Fatalf("%d acked, want 4", f.s.Producers[p].AckedRecords)
	}
	return f.values(0)[1:]
}

// P-69, S-7: with several requests in flight and no idempotence a retry overtakes; with one in flight, or with
// idempotence (P-56, P-68), it cannot.
func TestReorderingHazardP69(t *testing.T) {
	for _, c := range []struct {
		idempotence bool
		inFlight    int32
		want        []string
	}{
		{false, 5, []string{"B", "C", "A"}}, {false, 1, []string{"A", "B", "C"}}, {true, 5, []string{"A", "B", "C"}},
	} {
		if got := hazard(t, c.idempotence, c.inFlight); !slices.Equal(got, c.want) {
			t.Errorf("idempotence %v, %d in flight: log %v, want %v", c.idempotence, c.inFlight, got, c.want)
		}
	}
}

// P-70, S-4, S-5: an acknowledgement is lost. Without idempotence the record is there twice, with it once,
// and the retry is told the first offset (P-84).
func TestLostAcknowledgementP70(t *testing.T) {
	for _, idempotence := range []bool{false, true} {
		f := newFake(t, 1, 1)
		p := idempotentProducer(f)
		f.s.Producers[p].Config.EnableIdempotence = idempotence
		f.send(p, 0, "warm")
		f.at(100)
		lost := false
		f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
			write := f.append
			if idempotence {
				write = f.idempotent
			}
			a := write(r)
			if !lost {
				lost = true
				f.s.send(e.To, e.From, e.Conn, 0, Disconnected{})
				return a, false
			}
			return a, true
		}
		n := f.send(p, 0, "a")
		f.at(5000)
		want, offset := []string{"warm", "a", "a"}, int64(2)
		if idempotence {
			want, offset = []string{"warm", "a"}, 1
		}
		if got := f.values(0); !slices.Equal(got, want) {
			t.Errorf("idempotence %v: log %v, want %v", idempotence, got, want)
		}
		f.want(p, n, DeliveryAcked, offset, -1)
	}
}

// P-56: while the first batch is tried again, those behind it wait for it, in the order of their numbers.
func TestRetriesInOrderP56(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.send(p, 0, "warm")
	f.at(100)
	f.requests = nil
	refusals := 0
	f.produce = func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) {
		if r.Parts[0].Batch.BaseSequence == 1 && refusals < 2 {
			refusals++
			return refuse(r, NOT_ENOUGH_REPLICAS), true
		}
		return f.idempotent(r), true
	}
	for _, v := range []string{"A", "B", "C"} {
		f.send(p, 0, v)
	}
	f.at(2000)
	// All three are out; A is refused, B and C are out of order. A goes alone until it is through.
	if got, want := f.sequences(), []string{"0/1", "0/2", "0/3", "0/1", "0/1", "0/2", "0/3"}; !slices.Equal(got, want) {
		t.Errorf("sequences %v, want %v", got, want)
	}
	if got := f.values(0); !slices.Equal(got, []string{"warm", "A", "B", "C"}) {
		t.Errorf("log %v", got)
	}
}

// P-56: a partition that must wait ends the drain of its broker, as in Kafka: the partitions behind it go
// with the next one.
func TestWaitingPartitionEndsTheDrainP56(t *testing.T) {
	f := newFake(t, 1, 2)
	p := idempotentProducer(f)
	f.send(p, 0, "warm")
	f.send(p, 1, "warm")
	f.at(100)
	pr := &f.s.Producers[p]
	f.send(p, 0, "a")
	f.send(p, 1, "b")
	pr.Topics[0].Parts[0].Unresolved = 5
	pr.Topics[0].Parts[0].InFlight = []int32{0} // of an older attempt
	pr.Conns[0].DrainFrom = PartRef{}
	if slots := f.s.drain(pr, &pr.Conns[0]); len(slots) != 0 {
		t.Errorf("%d batches drained, want none behind the one that waits", len(slots))
	}
	pr.Conns[0].DrainFrom = PartRef{0, 1}
	if slots := f.s.drain(pr, &pr.Conns[0]); len(slots) != 1 {
		t.Errorf("%d batches drained, want the one before it", len(slots))
	}
}

// P-88: a real gap, the batch that is expected next is out of order: the epoch goes up and the batches in
// flight are numbered from 0.
func TestEpochBumpP88(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.send(p, 0, "one")
	f.at(100)
	f.send(p, 0, "two")
	f.at(200)
	f.log[0] = f.log[0][:1] // the broker has lost a batch that it acknowledged
	f.requests = nil
	a, b := f.send(p, 0, "three"), f.send(p, 0, "four")
	f.at(5000)
	if got, want := f.sequences(), []string{"0/2", "0/3", "1/0", "1/1"}; !slices.Equal(got, want) {
		t.Errorf("sequences %v, want %v", got, want)
	}
	f.want(p, a, DeliveryAcked, 1, -1)
	f.want(p, b, DeliveryAcked, 2, -1)
	if id := f.s.Producers[p].Identity; id.ProducerID != 7 || id.ProducerEpoch != 1 {
		t.Errorf("identity %+v", id)
	}
}

// P-88: after epoch 32767 a new producer id is asked for.
func TestEpochExhaustionP88(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.at(10)
	pr := &f.s.Producers[p]
	pr.ProducerEpoch, pr.Bump = maxProducerEpoch, true
	f.send(p, 0, "a")
	f.at(100)
	if pr := &f.s.Producers[p]; pr.ProducerEpoch != 0 || pr.AckedRecords != 1 {
		t.Errorf("epoch %d, %d acked; want epoch 0 of a new id and the record acked", pr.ProducerEpoch, pr.AckedRecords)
	}
}

// P-90: a batch that was retried expires while its fate is unknown: nothing new is sent until what is in
// flight is decided, and then the epoch goes up, since the numbers have a hole.
func TestUnresolvedSequenceP90(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.send(p, 0, "warm")
	f.at(100)
	f.s.Producers[p].Config.DeliveryTimeoutMs = 300
	f.requests = nil
	f.produce = failFirst(1000, NOT_ENOUGH_REPLICAS)
	a := f.send(p, 0, "a")
	f.at(450)
	f.want(p, a, DeliveryFailed, -1, 400)
	f.produce = func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) { return f.idempotent(r), true }
	b := f.send(p, 0, "b")
	f.at(1000)
	f.want(p, b, DeliveryAcked, 1, -1)
	seqs := f.sequences()
	if last := seqs[len(seqs)-1]; last != "1/0" {
		t.Errorf("sequences %v, want the last to begin epoch 1", seqs)
	}
}

// P-91: a batch that is refused for good leaves its numbers to nobody: the next epoch begins at 0.
func TestRefusedBatchRenumbersP91(t *testing.T) {
	f := newFake(t, 1, 1)
	p := idempotentProducer(f)
	f.send(p, 0, "warm")
	f.at(100)
	f.produce = func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) {
		if r.Parts[0].Batch.Records.At(0).Value == "huge" {
			return refuse(r, MESSAGE_TOO_LARGE), true
		}
		return f.idempotent(r), true
	}
	huge := f.send(p, 0, "huge")
	b := f.send(p, 0, "b")
	f.at(2000)
	f.want(p, huge, DeliveryFailed, -1, -1)
	f.want(p, b, DeliveryAcked, 1, -1)
	if got := f.values(0); !slices.Equal(got, []string{"warm", "b"}) {
		t.Errorf("log %v", got)
	}
}
