package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
)

// Single rules of the leader's side. Broker 2 is cut off and a probe fetches in its name, so that every fetch
// offset and time is chosen by the test.

// asFollower sends a fetch in the name of a broker that is cut off, without waiting at the leader.
func (b *bench) asFollower(id NodeID, tp TopicPartition, offset int64, brokerEpoch int64) FetchResult {
	b.t.Helper()
	r := b.broker(1).replica(tp)
	res := b.call(1, FetchRequest{Replica: id, BrokerEpoch: brokerEpoch, MinBytes: 1, MaxBytes: 1 << 20, SessionEpoch: FinalFetchEpoch, Parts: []FetchPart{
		{TP: tp, FetchOffset: offset, LeaderEpoch: r.LeaderEpoch, LastFetchedEpoch: -1, LogStartOffset: 0, MaxBytes: 1 << 20},
	}})
	return res.(FetchResponse).Parts[0]
}

// epochOf is the registered broker epoch.
func (b *bench) epochOf(id NodeID) int64 { return b.Metadata().broker(id).Epoch }

// R2.17, C09: a follower that has reached a stale high watermark but not the start of the leader's epoch
// must not join: were it elected next, the records between would be gone.
func TestExpandNeedsTheStartOfTheEpoch(t *testing.T) {
	b := newBench(t, 2)
	l := craft(epochRun{1, 4})
	l.SetHighWatermark(2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1}, l, craft(epochRun{1, 4}))
	b.run(100 * ms)
	r := b.broker(1).replica(tp)
	r.Log.HighWatermark = 2 // alone in the ISR it would have moved to 4
	b.watch = NewWatch(b.State)
	b.asFollower(2, tp, 3, b.epochOf(2))
	if r.Change.Kind != NoChange {
		t.Fatalf("a follower at 3 is proposed; the epoch starts at %d", r.EpochStart)
	}
	b.asFollower(2, tp, 4, b.epochOf(2))
	b.run(10 * ms)
	if len(r.ISR) != 2 {
		t.Errorf("ISR %v: a follower at 4 is in sync", r.ISR)
	}
}

// R2.19: a replica of another life, a fenced one, or one that is shutting down is not proposed.
func TestExpandNeedsAnEligibleReplica(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1}, craft(), craft())
	b.run(100 * ms)
	r := b.broker(1).replica(tp)
	reg := b.broker(1).Image.broker(2)
	for _, spoil := range []func(){func() { reg.Fenced = true }, func() { reg.InControlledShutdown = true }, func() { reg.Epoch -= 1 }} {
		good := *reg
		spoil()
		if b.asFollower(2, tp, 0, good.Epoch); r.Change.Kind != NoChange {
			t.Errorf("proposed although the leader's metadata says %+v", *reg)
		}
		*reg = good
	}
}

// R2.12: a fetch of the follower's former life is refused.
func TestFetchOfAFormerLife(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{1, 4}), craft(epochRun{1, 4}))
	b.run(100 * ms)
	if got := b.asFollower(2, tp, 4, b.epochOf(2)-1); got.Error != NOT_LEADER_OR_FOLLOWER {
		t.Errorf("%+v, want NOT_LEADER_OR_FOLLOWER", got)
	}
	if end := b.broker(1).replica(tp).Remotes[0].End; end != -1 {
		t.Errorf("it was credited: %d", end)
	}
}

// R2.12, R1.19: a follower's log end is its fetch offset, lower ones too; unheard of, it is -1 and holds the
// high watermark.
func TestFollowersEndMayGoDown(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{1, 4}), craft(epochRun{1, 4}))
	b.run(100 * ms)
	b.expectLog(1, tp, 4, 0)
	b.asFollower(2, tp, 3, b.epochOf(2))
	b.expectLog(1, tp, 4, 3)
	b.asFollower(2, tp, 1, b.epochOf(2))
	if end := b.broker(1).replica(tp).Remotes[0].End; end != 1 {
		t.Errorf("the leader believes in %d, want 1", end)
	}
	b.expectLog(1, tp, 4, 3) // the high watermark does not go down with it
	b.asFollower(2, tp, 4, b.epochOf(2))
	b.expectLog(1, tp, 4, 4)
}

// R1.28: the epoch is checked before everything else, by fetches, ListOffsets and epoch queries (R2.11c)
// alike.
func TestEpochsFence(t *testing.T) {
	b := newBench(t, 2)
	tp := b.crafted(5, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{4, 2}), craft(epochRun{4, 2}))
	b.run(1000 * ms)
	for _, c := range []struct {
		broker NodeID
		epoch  int32
		fetch  Code
		ask    Code
	}{
		{1, 4, FENCED_LEADER_EPOCH, FENCED_LEADER_EPOCH}, {1, 5, NONE, NONE}, {1, 6, UNKNOWN_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH},
		{2, 4, FENCED_LEADER_EPOCH, FENCED_LEADER_EPOCH}, {2, 6, UNKNOWN_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH},
		{2, 5, NONE, NOT_LEADER_OR_FOLLOWER}, // R1.29: a consumer may fetch at a follower, and ask only the leader
	} {
		if got := b.consume(c.broker, tp, 0, c.epoch); got.Error != c.fetch {
			t.Errorf("fetch at %d in epoch %d: %v, want %v", c.broker, c.epoch, got.Error, c.fetch)
		}
		lo := b.call(c.broker, ListOffsetsRequest{Parts: []ListOffsetsPart{{TP: tp, Timestamp: LatestTimestamp, LeaderEpoch: c.epoch}}})
		if got := lo.(ListOffsetsResponse).Parts[0].Error; got != c.ask {
			t.Errorf("ListOffsets at %d in epoch %d: %v, want %v", c.broker, c.epoch, got, c.ask)
		}
		eq := b.call(c.broker, OffsetsForLeaderEpochRequest{Parts: []EpochQuery{{TP: tp, CurrentEpoch: c.epoch, Epoch: 4}}})
		if got := eq.(OffsetsForLeaderEpochResponse).Parts[0].Error; got != c.ask {
			t.Errorf("epoch query at %d in epoch %d: %v, want %v", c.broker, c.epoch, got, c.ask)
		}
	}
}

// R2.13: at the beginning of time, too, a replica outside the ISR has never been caught up, and does not
// hold the high watermark back.
func TestReplicaOutsideTheISRHoldsNothingBack(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1}, craft(epochRun{1, 4}), craft())
	b.run(10 * ms)
	b.expectLog(1, tp, 4, 4)
}

// R1.18: but one that caught up less than replica.lag.time.max.ms ago, and may join, does.
func TestReplicaThatMayJoinHoldsBack(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1}, craft(epochRun{1, 4}), craft())
	b.run(10 * ms)
	b.apply(CutLink{1, FirstController}) // the ISR cannot grow
	b.asFollower(2, tp, 4, b.epochOf(2))
	r := b.broker(1).replica(tp)
	r.Change = ISRChange{} // refused, say
	b.produce(1, tp, config.AcksLeader, "v")
	b.expectLog(1, tp, 5, 4)
	b.broker(1).Image.broker(2).Fenced = true // a fenced one does not (R1.18)
	b.produce(1, tp, config.AcksLeader, "w")
	b.expectLog(1, tp, 6, 6)
}

// R1.31, KIP-207, C07: a new leader does not say "latest" before its high watermark has reached the start of
// its epoch.
func TestLatestAfterAFailover(t *testing.T) {
	b := newBench(t, 2)
	b.apply(CutLink{1, 2})
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{1, 4}), craft(epochRun{1, 4}))
	b.run(100 * ms)
	latest := func(replica NodeID) ListOffsetsResult {
		return b.call(1, ListOffsetsRequest{Replica: replica, Parts: []ListOffsetsPart{{TP: tp, Timestamp: LatestTimestamp, LeaderEpoch: 2}}}).(ListOffsetsResponse).Parts[0]
	}
	if got := latest(NoNode); got.Error != OFFSET_NOT_AVAILABLE {
		t.Errorf("%+v, want OFFSET_NOT_AVAILABLE", got)
	}
	if got := latest(2); got.Offset != 4 {
		t.Errorf("a follower is told %+v, want the log's end", got)
	}
	b.asFollower(2, tp, 4, b.epochOf(2))
	if got := latest(NoNode); got.Error != NONE || got.Offset != 4 {
		t.Errorf("%+v, want 4", got)
	}
}

// R2.23: what the controller's answers do to a pending change.
func TestAnswersToAProposal(t *testing.T) {
	for _, c := range []struct {
		code    Code
		pending bool // the change stays pending until metadata arrives
		again   bool // it is asked again
	}{
		{INELIGIBLE_REPLICA, false, false}, {OPERATION_NOT_ATTEMPTED, false, false},
		{UNKNOWN_TOPIC_ID, true, false}, {UNKNOWN_TOPIC_OR_PARTITION, true, false}, {FENCED_LEADER_EPOCH, true, false},
		{INVALID_UPDATE_VERSION, true, false}, {INVALID_REQUEST, true, false}, {NEW_LEADER_ELECTED, true, false},
		{NOT_CONTROLLER, true, true},
	} {
		b := newBench(t, 2)
		tp := b.topic("orders", 1, []NodeID{1, 2})
		b.run(100 * ms)
		broker := b.broker(1)
		r := broker.replica(tp)
		r.Change = ISRChange{Kind: PendingShrink, ISR: []NodeID{1}}
		sent := AlterPart{TP: tp, LeaderEpoch: r.LeaderEpoch, PartitionEpoch: r.PartitionEpoch}
		b.onISRAnswer(broker, &sent, &AlterResult{TP: tp, Error: c.code})
		if pending := r.Change.Kind != NoChange; pending != c.pending || (len(broker.Alter.Items) > 0) != c.again {
			t.Errorf("%v: pending %v, with the manager %v", c.code, pending, broker.Alter.Items)
		}
	}
}

// R1.10, R1.11: which error a broker gives that cannot serve, and for acks that do not exist.
func TestLookupErrors(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	for _, c := range []struct {
		to   NodeID
		tp   TopicPartition
		acks int8
		want Code
	}{
		{1, TopicPartition{9, 0}, 1, UNKNOWN_TOPIC_OR_PARTITION}, {1, TopicPartition{tp.Topic, 3}, 1, UNKNOWN_TOPIC_OR_PARTITION},
		{2, tp, 1, NOT_LEADER_OR_FOLLOWER}, {3, tp, 1, NOT_LEADER_OR_FOLLOWER}, {1, tp, 2, INVALID_REQUIRED_ACKS}, {1, tp, 1, NONE},
	} {
		got := b.produce(c.to, c.tp, c.acks, "v")
		if got.Error != c.want {
			t.Errorf("%+v: %v", c, got.Error)
		}
		if c.want == NOT_LEADER_OR_FOLLOWER && (got.Leader != 1 || got.LeaderEpoch != 0) {
			t.Errorf("%+v: hint %d in epoch %d, want 1 in 0 (KIP-951)", c, got.Leader, got.LeaderEpoch)
		}
	}
}

// R2.6: an answer to an earlier epoch's fetch is dropped, whatever it says.
func TestAnswerOfAnEarlierEpochIsDropped(t *testing.T) {
	b := newBench(t, 2)
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{1, 4}), craft(epochRun{1, 2}))
	b.runUntil(100*ms, "an answer on the wire", func() bool {
		return slices.ContainsFunc(b.Queue, func(e Event) bool { _, ok := e.Payload.(FetchResponse); return ok && e.To == 2 })
	})
	b.broker(2).replica(tp).LeaderEpoch = 3 // it has just heard of another epoch
	b.recording = true
	b.runUntil(100*ms, "the answer", func() bool { return len(b.fetchAnswers(2, tp)) == 1 })
	if end := b.log(2, tp).End; end != 2 {
		t.Errorf("it was appended: LEO %d", end)
	}
}
