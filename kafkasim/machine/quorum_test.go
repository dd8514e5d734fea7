package machine

import (
	"fmt"
	"testing"
)

// threeControllers is a quorum of three.
func threeControllers(w *World) { w.Controllers = 3 }

func controllers(n int32) func(*World) { return func(w *World) { w.Controllers = n } }

// active waits until a controller other than one acts.
func (b *bench) active(not NodeID) *Controller {
	b.t.Helper()
	b.runUntil(20_000*ms, fmt.Sprintf("an active controller other than %d", not), func() bool {
		c := b.ActiveController()
		return c != nil && c.ID != not
	})
	return b.ActiveController()
}

func (b *bench) state(id NodeID) string {
	q := &b.controller(id).Quorum
	return fmt.Sprintf("%s epoch %d leader %d voted %d", q.State, q.Epoch, q.Leader, q.Voted)
}

// R3.27: who is voted for, state by state, with pre-vote and without.
func TestVoteGranting(t *testing.T) {
	const me, other, third = FirstController, FirstController + 1, FirstController + 2
	log := []MetadataRecord{{Epoch: 1}, {Epoch: 2}, {Epoch: 2}}
	longer := VoteRequest{Candidate: other, LastEpoch: 2, End: 4}
	newer := VoteRequest{Candidate: other, LastEpoch: 3, End: 1}
	equal := VoteRequest{Candidate: other, LastEpoch: 2, End: 3}
	shorter := VoteRequest{Candidate: other, LastEpoch: 2, End: 2}
	older := VoteRequest{Candidate: other, LastEpoch: 1, End: 9}
	for _, c := range []struct {
		what string
		q    Quorum
		m    VoteRequest
		pre  bool
		vote bool
	}{
		{"unattached, longer log", Quorum{State: QuorumUnattached}, longer, true, true},
		{"unattached, newer epoch, shorter log", Quorum{State: QuorumUnattached}, newer, true, true},
		{"unattached, equal log", Quorum{State: QuorumUnattached}, equal, true, true},
		{"unattached, shorter log", Quorum{State: QuorumUnattached}, shorter, false, false},
		{"unattached, older epoch, longer log", Quorum{State: QuorumUnattached}, older, false, false},
		{"voted for it already", Quorum{State: QuorumUnattached, Voted: other}, equal, true, true},
		{"voted for another", Quorum{State: QuorumUnattached, Voted: third}, equal, true, false},
		{"unattached, knows the leader", Quorum{State: QuorumUnattached, Leader: third}, equal, true, false},
		{"prospective without leader", Quorum{State: QuorumProspective}, equal, true, true},
		{"prospective with leader", Quorum{State: QuorumProspective, Leader: third}, equal, true, false},
		{"prospective, shorter log", Quorum{State: QuorumProspective}, shorter, false, false},
		{"candidate", Quorum{State: QuorumCandidate, Voted: me}, equal, true, false},
		{"candidate, shorter log", Quorum{State: QuorumCandidate, Voted: me}, shorter, false, false},
		{"follower that has not fetched", Quorum{State: QuorumFollower, Leader: third}, equal, true, false},
		{"follower that has fetched", Quorum{State: QuorumFollower, Leader: third, Fetched: true}, longer, false, false},
		{"leader", Quorum{State: QuorumLeader, Leader: me}, longer, false, false},
		{"resigned", Quorum{State: QuorumResigned, Leader: me}, equal, true, false},
		{"resigned, shorter log", Quorum{State: QuorumResigned, Leader: me}, shorter, false, false},
	} {
		for _, pre := range []bool{true, false} {
			m := c.m
			m.PreVote = pre
			want := c.vote
			if pre {
				want = c.pre
			}
			if got := (&Controller{ID: me, Log: log, Quorum: c.q}).canGrant(&m); got != want {
				t.Errorf("%s, pre-vote %v: granted %v, want %v", c.what, pre, got, want)
			}
		}
	}
}

// R3.26: what a majority has is committed only with a record of the leader's own epoch.
func TestMetadataHighWatermark(t *testing.T) {
	for _, c := range []struct {
		ends  []int64 // the leader's first
		start int64
		want  int64
	}{
		{[]int64{10, 10, 10}, 4, 10},
		{[]int64{10, 8, 3}, 4, 8},
		{[]int64{10, 4, 4}, 4, 0},   // nothing of the epoch is on a majority
		{[]int64{10, 5, -1}, 4, 5},  // the first record of the epoch is
		{[]int64{10, -1, -1}, 4, 0}, // nobody has fetched
		{[]int64{10, 9, 8, 2, 1}, 4, 8},
		{[]int64{10, 9, 3, 2, 1}, 4, 0},
	} {
		n := int32(len(c.ends))
		b := newBench(t, 1, controllers(n))
		leader := &b.Controllers[0]
		leader.Log = make([]MetadataRecord, c.ends[0])
		leader.Quorum.EpochStart, leader.Quorum.HighWatermark = c.start, 0
		for i := range c.ends {
			leader.Quorum.Voters[i].End = c.ends[i]
		}
		b.Committed.Log = leader.Log
		b.advanceMetadataHighWatermark(leader)
		if got := leader.Quorum.HighWatermark; got != c.want {
			t.Errorf("ends %v, epoch from %d: high watermark %d, want %d", c.ends, c.start, got, c.want)
		}
	}
}

// A quorum in peace: nothing but fetches, epoch 1 for ever; the brokers learn a topic three hops after the
// leader wrote it: out to the followers, back, and out to the brokers (R3.28).
func TestQuorumInPeace(t *testing.T) {
	b := newBench(t, 3, controllers(5))
	b.run(30_000 * ms)
	if got := b.state(3001); got != "Leader epoch 1 leader 3001 voted 0" {
		t.Errorf("3001: %s", got)
	}
	if got := b.state(3005); got != "Follower epoch 1 leader 3001 voted 3001" {
		t.Errorf("3005: %s", got)
	}
	res := b.Apply(CreateTopic{Name: "orders", Partitions: 1, ReplicationFactor: 3, Props: topicDefaults()})
	start := b.Now
	b.runUntil(1000*ms, "a commit", func() bool { return len(b.Metadata().Topics) == 1 })
	if took := b.Now - start; took != 3*ms { // to the controller, to the followers, back
		t.Errorf("committed after %d µs", took)
	}
	b.runUntil(1000*ms, "an answer", func() bool { return b.Admin[res.Pending-1].Done })
	b.runUntil(1000*ms, "news", func() bool { return len(b.broker(3).Image.Topics) == 1 })
	if took := b.Now - start; took != 4*ms {
		t.Errorf("brokers know after %d µs", took)
	}
}

// R3.27, R3.29 (aa1): the leader is killed; the next one leads within 1.5 to 3.6 s, one or two epochs later;
// partitions' epochs are untouched, nobody is fenced, producing goes on meanwhile. The old one comes back as a
// follower, and is the leader again when the new one dies.
func TestQuorumLeaderKilled(t *testing.T) {
	jumps := map[int32]int{}
	for seed := range uint64(30) {
		b := newBench(t, 3, threeControllers, func(w *World) {
			w.Seed = seed
			w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 3000, 300
		})
		b.run(1000 * ms)
		tp := b.topic("orders", 2, []NodeID{1, 2, 3}) // both followers fetch together from here on
		b.run(2000*ms + int64(seed)*37*ms)
		b.apply(CrashController{3001})
		died := b.Now
		if r := b.produce(1, tp, -1, "while-no-leader"); r.Error != NONE {
			t.Fatalf("seed %d: %v", seed, r.Error)
		}
		next := b.active(3001)
		if took := b.Now - died; took < 1400*ms || took > 5600*ms {
			t.Errorf("seed %d: a new active controller after %d ms", seed, took/ms)
		}
		jumps[next.Quorum.Epoch-1]++
		b.run(1200 * ms)
		b.apply(StartController{3001})
		b.run(6000 * ms)
		if got, want := b.state(3001), fmt.Sprintf("Follower epoch %d leader %d voted 0", next.Quorum.Epoch, next.ID); got != want {
			t.Errorf("seed %d: 3001 came back as %s, want %s", seed, got, want)
		}
		for i := range b.Controllers {
			if c := &b.Controllers[i]; len(c.Log) != len(next.Log) || c.Quorum.HighWatermark != int64(len(c.Log)) {
				t.Errorf("seed %d: controller %d ends at %d, HW %d, the leader at %d", seed, c.ID, len(c.Log), c.Quorum.HighWatermark, len(next.Log))
			}
		}
		b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2, 3}, nil)
		b.topic("more", 1, []NodeID{2, 3})
	}
	if jumps[1] < jumps[2] || jumps[2] == 0 { // 9 and 4 of 13 on real controllers
		t.Errorf("epochs went up by %v: want +1 most often, +2 sometimes", jumps)
	}
}

// R3.30, R3.27 (ac1): two of three controllers die. The leader resigns after 1.5 fetch timeouts and goes to the
// next epoch without a leader; nothing is fenced, no ISR changes, no topic is made; with the majority back,
// everything is caught up with, two epochs later, and the topic that nobody answered for is there.
func TestMajorityLostAndBack(t *testing.T) {
	b := newBench(t, 3, threeControllers, func(w *World) {
		w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs, w.Broker.ReplicaLagTimeMaxMs = 3000, 300, 4000
	})
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(2000 * ms)
	b.apply(CrashController{3002})
	b.apply(CrashController{3003})
	b.run(6000 * ms)
	if got := b.controller(3001).Quorum; got.Epoch != 2 || got.Leader != NoNode || got.Voted != NoNode || b.ActiveController() != nil {
		t.Errorf("3001: %s", b.state(3001))
	}
	if r := b.produce(1, tp, -1, "r1"); r.Error != NONE {
		t.Error(r.Error)
	}
	made := b.Apply(CreateTopic{Name: "late", Partitions: 1, ReplicationFactor: 1, Props: topicDefaults()})
	b.apply(CrashBroker{3})
	b.run(20_000 * ms)
	b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2, 3}, nil)
	if b.Admin[made.Pending-1].Done || b.Metadata().broker(3).Fenced {
		t.Error("something was decided without a majority")
	}
	if p := b.call(1, InitProducerIDRequest{}).(InitProducerIDResponse); p.Error != COORDINATOR_LOAD_IN_PROGRESS {
		t.Errorf("InitProducerId: %v", p.Error)
	}
	b.apply(StartController{3002})
	c := b.active(NoNode)
	if c.Quorum.Epoch != 3 {
		t.Errorf("epoch %d, want two more than before the loss", c.Quorum.Epoch)
	}
	b.runUntil(60_000*ms, "the topic that was asked for", func() bool { return b.Metadata().topic("late") >= 0 })
	b.runUntil(60_000*ms, "the dead broker's fencing", func() bool { return b.Metadata().broker(3).Fenced })
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, nil)
}

// R3.28 (ad1): a leader that is stopped, not dead, holds brokers on their open connections, although another
// controller is active; when it goes on it follows, and nothing that it had appended survives.
func TestQuorumLeaderStopped(t *testing.T) {
	b := newBench(t, 3, threeControllers)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(2000 * ms)
	b.apply(PauseController{3001})
	made := b.Apply(CreateTopic{Name: "stuck", Partitions: 1, ReplicationFactor: 1, Props: topicDefaults()})
	next := b.active(3001)
	b.run(4000 * ms)
	if b.Admin[made.Pending-1].Done {
		t.Error("the request to the stopped controller was answered")
	}
	if r := b.produce(1, tp, -1, "r0"); r.Error != NONE {
		t.Error(r.Error)
	}
	b.run(3000 * ms)
	b.apply(ResumeController{3001})
	b.run(2000 * ms)
	if got := b.controller(3001).Quorum; got.State != QuorumFollower || got.Leader != next.ID || got.Epoch != next.Quorum.Epoch {
		t.Errorf("3001: %s", b.state(3001))
	}
	for i := range b.Brokers {
		if b.Metadata().Brokers[i].Fenced {
			t.Errorf("broker %d was fenced", i+1)
		}
	}
	b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2, 3}, nil)
	b.topic("later", 1, []NodeID{1})
}

// KIP-996 (ae1): a follower that was stopped for 10 s changes nothing when it goes on; without pre-vote it ends
// the epoch of a quorum that works.
func TestPreVoteContrast(t *testing.T) {
	for _, pre := range []bool{true, false} {
		b := newBench(t, 3, threeControllers, func(w *World) { w.Rules.Turn(PreVote, pre) })
		b.run(2000 * ms)
		b.apply(PauseController{3003})
		b.run(1000 * ms)
		b.topic("meanwhile", 1, []NodeID{1, 2, 3})
		b.run(9000 * ms)
		b.apply(ResumeController{3003})
		b.run(10_000 * ms)
		c := b.active(NoNode)
		if pre && (c.ID != 3001 || c.Quorum.Epoch != 1 || b.state(3003) != "Follower epoch 1 leader 3001 voted 3001") {
			t.Errorf("with pre-vote: %d leads epoch %d; 3003: %s", c.ID, c.Quorum.Epoch, b.state(3003))
		}
		if !pre && c.Quorum.Epoch == 1 {
			t.Error("without pre-vote the follower did not disturb")
		}
		b.topic("after", 1, []NodeID{1})
	}
}

// A leader on the smaller side of a split goes on appending, and commits nothing: fencing, too. The other side
// elects, and what the old leader had appended is cut off when the split ends.
func TestSplitQuorumDiverges(t *testing.T) {
	b := newBench(t, 3, threeControllers, func(w *World) {
		w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 2000, 300
	})
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(2000 * ms)
	for _, id := range []NodeID{3002, 3003, 3, 2} {
		b.apply(CutLink{3001, id})
	}
	b.runUntil(3000*ms, "an append that cannot be committed", func() bool {
		return len(b.controller(3001).Log) > len(b.MetadataLog())
	})
	b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2, 3}, nil)
	lost := len(b.controller(3001).Log)
	next := b.active(3001)
	b.run(5000 * ms)
	for _, id := range []NodeID{3002, 3003, 3, 2} {
		b.apply(HealLink{3001, id})
	}
	cut := false
	b.runUntil(20_000*ms, "the same log everywhere", func() bool {
		cut = cut || len(b.controller(3001).Log) < lost
		return len(b.controller(3001).Log) == len(next.Log) && b.controller(3001).Quorum.State == QuorumFollower
	})
	if !cut {
		t.Error("the old leader's log was not cut")
	}
}

// A sole controller that dies takes nothing with it: it leads again at once when it starts, in the next epoch,
// and brokers get a whole session (y1, R3.29).
func TestSoleControllerRestarts(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 3000, 300 })
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(2000 * ms)
	b.apply(CrashController{3001})
	b.run(1000 * ms)
	b.apply(CrashBroker{3})
	b.run(10_000 * ms)
	b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2, 3}, nil)
	b.apply(StartController{3001})
	started := b.Now
	if c := b.ActiveController(); c == nil || c.Quorum.Epoch != 2 {
		t.Fatalf("3001: %s", b.state(3001))
	}
	b.runUntil(60_000*ms, "the dead broker's fencing", func() bool { return b.Metadata().broker(3).Fenced })
	if took := b.Now - started; took < 3000*ms {
		t.Errorf("fenced %d ms after the start: less than a session", took/ms)
	}
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, nil)
	b.apply(StartBroker{3})
	b.runUntil(60_000*ms, "everybody in sync", func() bool { return len(b.registration(tp).ISR) == 3 })
}
