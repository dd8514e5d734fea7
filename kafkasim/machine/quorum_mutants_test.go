package machine

import "testing"

// KIP-996: who follows a leader and hears it says no to a pre-vote, whatever the other's log.
func TestWhoHearsItsLeaderRefusesPreVotes(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	m := VoteRequest{Candidate: 3003, Epoch: 1, LastEpoch: 1, End: 1 << 20, PreVote: true}
	if p := b.call(3002, m).(VoteResponse); p.Granted || p.Error != NONE {
		t.Errorf("answered %+v", p)
	}
}

// R3.27: nobody votes for a log that ends before its own.
func TestShorterLogGetsNoVote(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	b.controller(3002).Quorum.State, b.controller(3002).Quorum.Leader = QuorumUnattached, NoNode
	m := VoteRequest{Candidate: 3003, Epoch: 2, LastEpoch: 1, End: int64(len(b.controller(3002).Log)) - 1}
	if p := b.call(3002, m).(VoteResponse); p.Granted || p.Epoch != 2 {
		t.Errorf("answered %+v", p)
	}
}

// R3.28: brokers hear of records when they are committed, not before.
func TestBrokersGetWhatIsCommitted(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	b.apply(CutLink{A: 3001, B: 3002})
	b.apply(CutLink{A: 3001, B: 3003})
	b.Apply(CreateTopic{Name: "orders", Partitions: 1, ReplicationFactor: 1, Props: topicDefaults()})
	b.run(500 * ms)
	if n := len(b.controller(3001).Log) - len(b.MetadataLog()); n == 0 {
		t.Fatal("nothing was appended")
	}
	if len(b.broker(1).Image.Topics) > 0 {
		t.Error("the broker knows a topic that no majority has")
	}
}

// R3.4: a heartbeat of a broker's life before is refused, and is no sign of life.
func TestHeartbeatOfAnotherBrokerEpoch(t *testing.T) {
	b := newBench(t, 1)
	b.run(300 * ms)
	contact := b.controller(3001).session(1).LastContact
	old := b.Metadata().broker(1).Epoch - 1
	p := b.call(3001, BrokerHeartbeatRequest{Broker: 1, BrokerEpoch: old, MetadataOffset: b.Metadata().Offset}).(BrokerHeartbeatResponse)
	if p.Error != STALE_BROKER_EPOCH || b.controller(3001).session(1).LastContact != contact {
		t.Errorf("answered %+v, last contact %d after %d", p, b.controller(3001).session(1).LastContact, contact)
	}
}

// R3.1, R3.18: a marker of a clean shutdown counts for the life that it ended. A broker that registers with it,
// and is killed before it has loaded its logs, still has it the next time, and that time is unclean.
func TestMarkerOfAnEarlierLife(t *testing.T) {
	b := newBench(t, 3, withELR)
	tp := b.topic("orders", 3, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(StopBroker{2})
	b.runUntil(30_000*ms, "the end of the process", func() bool { return !b.broker(2).alive() })
	b.expectELR(tp, 2)
	b.run(10_000 * ms)
	b.apply(StartBroker{2})
	epoch := b.Metadata().broker(2).Epoch
	b.runUntil(30_000*ms, "its registration", func() bool { return b.Metadata().broker(2).Epoch > epoch })
	b.expectELR(tp, 2) // this one was clean
	b.apply(CrashBroker{2})
	if b.broker(2).CleanEpoch != epoch {
		t.Fatalf("the marker says %d, want %d", b.broker(2).CleanEpoch, epoch)
	}
	epoch = b.Metadata().broker(2).Epoch
	b.apply(StartBroker{2})
	b.runUntil(30_000*ms, "its next registration", func() bool { return b.Metadata().broker(2).Epoch > epoch })
	b.expectELR(tp)
}

// expectELR compares the eligible leader replicas of a partition.
func (b *bench) expectELR(tp TopicPartition, want ...NodeID) {
	b.t.Helper()
	if got := b.registration(tp).ELR; len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
		b.t.Errorf("ELR %v, want %v", got, want)
	}
}
