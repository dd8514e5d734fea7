package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
)

// Single rules that no other test looks at by themselves.

// R1.3: a leader knows something of every other replica; who becomes a follower forgets it, and the new leader
// starts without it.
func TestOnlyALeaderKnowsItsFollowers(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.produce(1, tp, config.AcksAll, "v")
	b.run(1000 * ms)
	known := func(id NodeID) (list []NodeID) {
		for i := range b.broker(id).Sessions {
			b.broker(id).Sessions[i].settle(b.broker(id).replica(tp)) // what rests in a session is written down
		}
		for _, x := range b.broker(id).replica(tp).Remotes {
			if x.End != 1 || x.BrokerEpoch != b.epochOf(x.Broker) || b.Now-x.LastCaughtUp > 1000*ms {
				t.Errorf("broker %d believes %+v", id, x)
			}
			list = append(list, x.Broker)
		}
		return list
	}
	if got := known(1); !slices.Equal(got, []NodeID{2, 3}) {
		t.Errorf("the leader knows %v", got)
	}
	b.fence(1)
	b.unfence(1)
	b.run(3000 * ms)
	if r := b.broker(1).replica(tp); r.Role != Follower || len(r.Remotes) != 0 || len(r.ISR) != 0 {
		t.Errorf("the follower %d knows %v, ISR %v", 1, r.Remotes, r.ISR)
	}
	if got := known(2); !slices.Equal(got, []NodeID{1, 3}) {
		t.Errorf("the new leader knows %v", got)
	}
}

// R1.4: what the maximal ISR is while a change is on its way.
func TestMaximalISR(t *testing.T) {
	r := Replica{ISR: []NodeID{1, 2}}
	expect := func(want ...NodeID) {
		t.Helper()
		for id := NodeID(1); id <= 3; id++ {
			if got := r.inMaximalISR(id); got != slices.Contains(want, id) {
				t.Errorf("%+v: broker %d is in the maximal ISR: %v", r.Change, id, got)
			}
		}
	}
	expect(1, 2)
	r.Change = ISRChange{Kind: PendingExpand, ISR: []NodeID{1, 2, 3}}
	expect(1, 2, 3)
	r.Change = ISRChange{Kind: PendingShrink, ISR: []NodeID{1}}
	expect(1, 2)
}

// R2.2: in a new epoch a follower fetches from its log's end at once, above its high watermark, and names its
// last record's epoch; it neither truncates nor asks where the epoch ended.
func TestNewEpochStartsWithAFetch(t *testing.T) {
	b := newBench(t, 2)
	l := craft(epochRun{1, 4})
	l.SetHighWatermark(2)
	b.record()
	tp := b.crafted(7, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{1, 4}), l)
	b.run(1000 * ms)
	found := false
	for _, e := range b.seen {
		switch m := e.Payload.(type) {
		case OffsetsForLeaderEpochRequest:
			t.Errorf("%d asks where an epoch ended", e.From)
		case FetchRequest:
			if i := slices.IndexFunc(m.Parts, func(p FetchPart) bool { return p.TP == tp }); i >= 0 && !found {
				found = true
				if p := m.Parts[i]; p.FetchOffset != 4 || p.LeaderEpoch != 7 || p.LastFetchedEpoch != 1 {
					t.Errorf("the first fetch is %+v", p)
				}
			}
		}
	}
	if !found {
		t.Error("no fetch")
	}
	b.expectLog(2, tp, 4, 4)
}

// R2.3, R2.9: a partition that failed, or waits, goes on only in a new leader epoch, not when the ISR changes.
func TestFetchersRestartInANewEpoch(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	r := b.broker(2).replica(tp)
	b.fetchError(b.broker(2), r, r.LeaderEpoch-1, FENCED_LEADER_EPOCH)
	if r.Failed || r.DelayedUntil != b.Now+1000*ms {
		t.Errorf("fenced in an older epoch: failed %v, delayed by %d µs", r.Failed, r.DelayedUntil-b.Now)
	}
	for _, code := range []Code{UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION} {
		r.DelayedUntil = 0
		if b.fetchError(b.broker(2), r, r.LeaderEpoch, code); r.Failed || r.DelayedUntil != b.Now+1000*ms {
			t.Errorf("%v: failed %v, delayed by %d µs", code, r.Failed, r.DelayedUntil-b.Now)
		}
	}
	b.fetchError(b.broker(2), r, r.LeaderEpoch, FENCED_LEADER_EPOCH)
	if !r.Failed {
		t.Error("fenced in its own epoch it goes on")
	}
	partitionEpoch := r.PartitionEpoch
	b.fence(3)
	b.run(100 * ms)
	if r.PartitionEpoch == partitionEpoch || !r.Failed {
		t.Errorf("after a change of the ISR: partition epoch %d after %d, failed %v", r.PartitionEpoch, partitionEpoch, r.Failed)
	}
	reg := *b.registration(tp) // the same record again, in a new leader epoch
	reg.LeaderEpoch++
	reg.PartitionEpoch++
	b.follow(b.broker(2), tp, &reg)
	if r.Failed || r.DelayedUntil != 0 {
		t.Errorf("in a new epoch: failed %v, delayed until %d", r.Failed, r.DelayedUntil)
	}
}

// R2.14: caught up is who has the leader's end, however long ago, or had it replica.lag.time.max.ms ago.
func TestCaughtUp(t *testing.T) {
	b := newBench(t, 2)
	b.run(100_000 * ms)
	r := Replica{Log: craft(epochRun{1, 4})}
	for _, c := range []struct {
		end, ago int64
		want     bool
	}{{4, 90_000, true}, {3, 30_000, true}, {3, 30_001, false}, {-1, 30_000, true}} {
		if got := b.caughtUp(b.broker(1), &r, &Remote{End: c.end, LastCaughtUp: b.Now - c.ago*ms}); got != c.want {
			t.Errorf("log end %d of 4, caught up %d ms ago: %v", c.end, c.ago, got)
		}
	}
}

// R2.22: a granted change is a new partition epoch and no new leader epoch; one that completes a reassignment
// which takes the leader away is carried out, and the leader is told NEW_LEADER_ELECTED.
func TestGrantedChanges(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(CutLink{1, 2})
	b.produce(1, tp, config.AcksLeader, "v")
	b.runUntil(60_000*ms, "a shrink", func() bool { return len(b.registration(tp).ISR) == 1 })
	b.expectPartition(tp, 1, 0, 1, []NodeID{1}, nil)
	b.apply(HealLink{1, 2})
	b.runUntil(60_000*ms, "a growth", func() bool { return len(b.registration(tp).ISR) == 2 })
	b.expectPartition(tp, 1, 0, 2, []NodeID{1, 2}, nil)
	b.run(100 * ms)
	b.record()
	b.apply(Reassign{TP: tp, Replicas: []NodeID{3, 2}})
	b.run(5000 * ms)
	if reg := b.registration(tp); reg.Leader != 3 || !slices.Equal(reg.Replicas, []NodeID{3, 2}) {
		t.Errorf("reassigned: %+v", *reg)
	}
	var codes []Code
	for _, e := range b.seen {
		if m, ok := e.Payload.(AlterPartitionResponse); ok && e.To == 1 {
			for _, p := range m.Parts {
				codes = append(codes, p.Error)
			}
		}
	}
	if !slices.Equal(codes, []Code{NEW_LEADER_ELECTED}) {
		t.Errorf("the old leader was answered %v", codes)
	}
}

// R3.3: a new process of a broker whose session is over, but which is not fenced yet, is registered; it leaves
// the ISR and its leaderships first, and is fenced.
func TestRegistrationIsAShutdownFirst(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	c := b.ActiveController()
	old := *b.Metadata().broker(1)
	c.session(1).LastContact = b.Now - 9_001*ms
	b.onBrokerRegistration(c, Event{From: 1, To: c.ID, Conn: 99, Correlation: 7},
		BrokerRegistrationRequest{Broker: 1, Incarnation: old.Incarnation + 1, PreviousBrokerEpoch: -1, Dirs: old.Dirs})
	b.expectPartition(tp, 2, 1, 1, []NodeID{2}, nil)
	if now := b.Metadata().broker(1); !now.Fenced || now.Epoch <= old.Epoch+1 {
		t.Errorf("registered as %+v after %+v; the change of the partition comes before it in the log", *now, old)
	}
}

// R3.4: a heartbeat every broker.heartbeat.interval.ms, refused in any other broker epoch; while it starts a
// broker sends the next one 10 ms after an answer.
func TestHeartbeats(t *testing.T) {
	b := newBench(t, 2)
	b.run(5000 * ms)
	b.record()
	b.run(20_000 * ms)
	var at []int64
	for _, e := range b.seen {
		if m, ok := e.Payload.(BrokerHeartbeatRequest); ok && m.Broker == 1 {
			at = append(at, e.At)
			if m.BrokerEpoch != b.epochOf(1) || m.WantFence || m.WantShutdown {
				t.Errorf("%+v", m)
			}
		}
	}
	if len(at) < 9 {
		t.Fatalf("%d heartbeats in 20 s", len(at))
	}
	for i := range at[1:] {
		if d := at[i+1] - at[i]; d < 2000*ms || d > 2002*ms {
			t.Errorf("%d µs between two heartbeats", d)
		}
	}
	before := b.ActiveController().session(1).LastContact
	got := b.call(FirstController, BrokerHeartbeatRequest{Broker: 1, BrokerEpoch: b.epochOf(1) - 1})
	if m := got.(BrokerHeartbeatResponse); m.Error != STALE_BROKER_EPOCH || b.ActiveController().session(1).LastContact != before {
		t.Errorf("a heartbeat of a former life: %+v", m)
	}
}

// R3.7: the states that a broker's process goes through; a fenced broker replicates already.
func TestBrokerStates(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.fence(2)
	b.produce(1, tp, config.AcksLeader, "v")
	b.apply(StartBroker{2})
	states := []Process{b.broker(2).Process}
	until := func(what string, cond func() bool) {
		b.runUntil(20_000*ms, what, func() bool {
			if p := b.broker(2).Process; p != states[len(states)-1] {
				states = append(states, p)
			}
			return cond()
		})
	}
	until("RECOVERY", func() bool { return b.broker(2).Process == Recovery })
	b.apply(HoldMessages{"BrokerHeartbeat 2->"}) // nobody unfences it
	until("the copy", func() bool { return b.broker(2).replica(tp) != nil && b.log(2, tp).End == 1 })
	b.run(2000 * ms)
	if !b.Metadata().broker(2).Fenced || len(b.registration(tp).ISR) != 1 {
		t.Errorf("%+v, ISR %v", *b.Metadata().broker(2), b.registration(tp).ISR)
	}
	b.apply(ReleaseMessages{})
	until("the ISR", func() bool { return len(b.registration(tp).ISR) == 2 })
	b.apply(StopBroker{2})
	until("the end", func() bool { return b.broker(2).Process == NotRunning })
	if want := []Process{Starting, Recovery, Running, PendingControlledShutdown, NotRunning}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
}

// R3.9: clients are not told of fenced brokers, and a partition without a live leader has an error.
func TestClientsDoNotSeeFencedBrokers(t *testing.T) {
	b := newBench(t, 3)
	b.topic("orders", 1, []NodeID{1}, []NodeID{2})
	b.run(1000 * ms)
	b.fence(1)
	b.run(100 * ms)
	m := b.call(3, MetadataRequest{Topics: []string{"orders"}}).(MetadataResponse)
	if !slices.Equal(m.Brokers, []NodeID{2, 3}) {
		t.Errorf("brokers %v", m.Brokers)
	}
	if p := m.Topics[0].Partitions; p[0].Error != LEADER_NOT_AVAILABLE || p[0].Leader != NoNode || p[1].Error != NONE || p[1].Leader != 2 {
		t.Errorf("partitions %+v", p)
	}
}

// R3.24: a leaderless partition whose topic comes to allow unclean elections has a leader when the controller
// looks next, once in unclean.leader.election.interval.ms.
func TestUncleanElectionByTheClock(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.fence(2)
	b.apply(CutLink{1, 2})
	b.unfence(2)
	b.fence(1)
	b.expectPartition(tp, NoNode, 1, 2, []NodeID{1}, nil)
	b.Metadata().Topics[tp.Topic].Props.UncleanLeaderElectionEnable = true // as after an alteration
	b.watch = NewWatch(b.State)
	b.run(200_000 * ms)
	b.expectPartition(tp, NoNode, 1, 2, []NodeID{1}, nil)
	b.runUntil(300_000*ms, "an election", func() bool { return b.registration(tp).Leader == 2 })
	if now := b.Now / 1000; now < 300_000 || now > 301_000 {
		t.Errorf("elected at %d ms", now)
	}
}

// R4.11: with a minimum ISR of 1 the only member that lost its data leads again, eligible leader replicas or not.
func TestMinimumOfOneIsNotHelpedByELR(t *testing.T) {
	b := newBench(t, 2, withELR)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.fence(2)
	b.expectPartition(tp, 1, 0, 1, []NodeID{1}, nil)
	b.produce(1, tp, config.AcksAll, "in one page cache")
	b.apply(CutLink{1, 2})
	b.unfence(2)
	b.apply(PowerLoss{1})
	b.runUntil(20_000*ms, "the loss of the leader", func() bool { return b.registration(tp).Leader == NoNode })
	b.expectPartition(tp, NoNode, 1, 2, nil, []NodeID{1})
	b.run(10_000 * ms) // 2 lives, and is not elected
	b.expectPartition(tp, NoNode, 1, 2, nil, []NodeID{1})
	b.unfence(1)
	if reg := b.registration(tp); reg.Leader != 1 || !slices.Equal(reg.ISR, []NodeID{1}) || len(reg.ELR) != 0 {
		t.Errorf("after its return: %+v", *reg)
	}
	b.run(1000 * ms)
	if batches, notes := b.lost(); batches != 1 || notes != 1 {
		t.Errorf("%d batches lost, %d notes", batches, notes)
	}
}

// R7.8: the log start only grows, and not above the high watermark.
func TestLogStartStaysBelowTheHighWatermark(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.produce(1, tp, config.AcksAll, "a", "b", "c")
	b.apply(PauseBroker{2})
	b.produce(1, tp, config.AcksLeader, "d")
	b.expectLog(1, tp, 4, 3)
	for _, c := range []struct {
		before, start int64
		want          Code
	}{{4, 0, OFFSET_OUT_OF_RANGE}, {2, 2, NONE}, {1, 2, NONE}, {5, 2, OFFSET_OUT_OF_RANGE}, {-1, 3, NONE}} {
		if got := b.deleteBefore(b.broker(1), &DeletePart{TP: tp, Before: c.before}); got.Result.Error != c.want || b.log(1, tp).LogStart != c.start {
			t.Errorf("records before %d: %v, log start %d; want %v, %d", c.before, got.Result.Error, b.log(1, tp).LogStart, c.want, c.start)
		}
	}
}

// P-85, R1.24: a batch whose sequence does not go on where its producer's last one ended is refused, and not
// appended.
func TestGapInSequenceIsRefused(t *testing.T) {
	b := newBench(t, 1)
	tp := b.topic("orders", 1, []NodeID{1})
	b.run(10 * ms)
	for i, want := range []Code{NONE, OUT_OF_ORDER_SEQUENCE_NUMBER, NONE} {
		req := b.produceRequest(tp, 1, "r")
		x := &req.Parts[0].Batch
		x.ProducerID, x.ProducerEpoch, x.BaseSequence = 7, 0, []int32{0, 2, 1}[i]
		p := b.call(1, req).(ProduceResponse).Parts[0]
		if end := b.broker(1).replica(tp).Log.End; p.Error != want || end != int64((i+2)/2) {
			t.Errorf("sequence %d: %v, log end %d", x.BaseSequence, p.Error, end)
		}
	}
}
