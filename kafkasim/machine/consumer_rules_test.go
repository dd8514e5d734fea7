package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
)

// Single rules of the consumer that no other test looks at by themselves.

// C-1, C-2, C-41: the states of a position, which is always the next offset to hand out.
func TestStatesOfAPosition(t *testing.T) {
	c := newClients(t, 3, quick)
	c.topic("orders", 1, []NodeID{1, 2, 3})
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "a", "b", "c")
	c.settle(p)
	c.run(1000 * ms)
	id := c.consumer("orders")
	c.apply(Assign{Consumer: id, Topic: "orders", Partitions: []int32{0}})
	part := func() *ConsumerPart { return &c.Consumers[id].Parts[0] }
	seen := []PositionState{part().State}
	c.apply(StartPoll{Consumer: id, Timeout: 1000 * ms})
	c.runUntil(1000*ms+1, "the poll ends", func() bool {
		if seen[len(seen)-1] != part().State {
			seen = append(seen, part().State)
		}
		return !c.Consumers[id].Poll.Running
	})
	if want := []PositionState{PositionInitializing, PositionAwaitReset, PositionFetching}; !slices.Equal(seen, want) {
		t.Errorf("states %v, want %v", seen, want)
	}
	if part().Position != 3 {
		t.Errorf("position %d after three records", part().Position)
	}
	c.apply(CrashBroker{1})
	validated := false
	for range 8 {
		c.apply(StartPoll{Consumer: id, Timeout: 1000 * ms})
		c.runUntil(1000*ms+1, "the poll ends", func() bool {
			validated = validated || part().State == PositionAwaitValidation
			return !c.Consumers[id].Poll.Running
		})
	}
	if !validated || part().State != PositionFetching || part().Position != 3 || part().Leader == 1 {
		t.Errorf("with another leader: validated %v, then %+v", validated, *part())
	}
}

// C-8: when a poll returns records the next fetch is on its way, from the position behind them; with records left in the
// buffer there is none (C-5).
func TestNextFetchBeforePollReturnsC8(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	c.run(100 * ms)
	p := c.producer()
	c.sendAll(p, "orders", 0, "a", "b", "c")
	c.settle(p)
	id := c.consumer("orders", maxPoll(2))
	for _, want := range []struct {
		records int
		fetches []int64
	}{{2, nil}, {1, []int64{3}}} {
		if got := c.poll(id, 1000); len(got) != want.records {
			t.Fatalf("polled %v", got)
		}
		var fetches []int64
		for _, e := range c.Queue {
			if m, ok := e.Payload.(FetchRequest); ok && m.Replica == NoNode && len(m.Parts) > 0 {
				fetches = append(fetches, m.Parts[0].FetchOffset)
			}
		}
		if !slices.Equal(fetches, want.fetches) {
			t.Errorf("after %d records: fetches on the wire from %v, want %v", want.records, fetches, want.fetches)
		}
	}
}

// C-24: below the log start and above the log end is out of range; from the high watermark to the log end there is
// nothing, and no error.
func TestRangeOfAFetchC24(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	for range 4 {
		b.produce(1, tp, -1, "v")
	}
	b.apply(DeleteRecords{TP: tp, Before: 2})
	b.run(1000 * ms)
	b.apply(CutLink{1, 2})
	b.produce(1, tp, 1, "w")
	b.expectLog(1, tp, 5, 4)
	for _, x := range []struct {
		offset  int64
		code    Code
		records int
	}{{1, OFFSET_OUT_OF_RANGE, 0}, {2, NONE, 2}, {4, NONE, 0}, {5, NONE, 0}, {6, OFFSET_OUT_OF_RANGE, 0}} {
		if got := b.consume(1, tp, x.offset, -1); got.Error != x.code || recordsIn(got.Batches) != x.records {
			t.Errorf("from %d: %v, %d records, want %v, %d", x.offset, got.Error, recordsIn(got.Batches), x.code, x.records)
		}
	}
}

// C-31: the policy counts for a position that there is not, or that is out of range, and for no other.
func TestPolicyIsForMissingPositionsC31(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	c.run(100 * ms)
	p := c.producer()
	c.sendAll(p, "orders", 0, "a", "b", "c")
	c.settle(p)
	id := c.consumer("orders", reset(config.ResetLatest))
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 1})
	if got, want := c.poll(id, 500), []string{"0:1:b", "0:2:c"}; !slices.Equal(got, want) {
		t.Errorf("latest, and a position in range: polled %v, want %v", got, want)
	}
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 99})
	if got := c.poll(id, 1500); len(got) > 0 || c.Consumers[id].Parts[0].Position != 3 {
		t.Errorf("out of range: polled %v, position %d, want the end, 3", got, c.Consumers[id].Parts[0].Position)
	}
}

// C-35: a leader whose high watermark has not reached its epoch's start does not say what is latest; the consumer asks
// again.
func TestOffsetNotAvailableIsAskedAgainC35(t *testing.T) {
	c := newClients(t, 1)
	tp := c.topic("orders", 1, []NodeID{1})
	c.run(100 * ms)
	p := c.producer()
	c.sendAll(p, "orders", 0, "a")
	c.settle(p)
	r := c.broker(1).replica(tp)
	start := r.EpochStart
	r.EpochStart = r.Log.HighWatermark + 1
	id := c.consumer("orders", reset(config.ResetLatest))
	c.poll(id, 400)
	if n := c.asked(ListOffsetsRequest{}); n < 2 || c.Consumers[id].Parts[0].Position != -1 {
		t.Errorf("asked %d times, position %d", n, c.Consumers[id].Parts[0].Position)
	}
	r.EpochStart = start
	c.poll(id, 400)
	if got := c.Consumers[id].Parts[0].Position; got != 1 {
		t.Errorf("position %d when the leader knows, want 1", got)
	}
}

// C-42: an epoch ends at the log's end if it is the latest, else where the next one that the leader knows begins.
func TestEndOfAnEpochC42(t *testing.T) {
	b := newBench(t, 1)
	tp := b.crafted(7, []NodeID{1}, []NodeID{1}, craft(epochRun{1, 2}, epochRun{4, 3}))
	b.run(100 * ms)
	current := b.broker(1).replica(tp).LeaderEpoch
	for asked, want := range map[int32]EpochEnd{1: {1, 2}, 2: {1, 2}, 4: {4, 5}, current: {current, 5}, 0: {0, 0}, 99: {-1, -1}} {
		res := b.call(1, OffsetsForLeaderEpochRequest{Parts: []EpochQuery{{TP: tp, CurrentEpoch: current, Epoch: asked}}})
		if got := res.(OffsetsForLeaderEpochResponse).Parts[0]; got.Error != NONE || got.End != want {
			t.Errorf("epoch %d: %v %v, want %v", asked, got.Error, got.End, want)
		}
	}
}
