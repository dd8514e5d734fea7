package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
)

// Golden traces, G1 to G9: short histories in which every number was worked out by hand from the rules.

// G1 (R1.12 to R1.17, R2.4, R2.5, R2.7): the fetch at n+1 commits the record at n, acknowledges the producer
// and shows it to consumers; the follower learns of it when its parked fetch expires.
func TestG1CommitByTheNextFetch(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(100 * ms) // the follower's fetch at 0 is parked
	b.expectLog(1, tp, 0, 0)
	if n := len(b.broker(1).Fetches); n != 1 {
		t.Fatalf("%d fetches are parked at the leader, want 1", n)
	}
	t0 := b.Now
	c := b.ask(1, b.produceRequest(tp, config.AcksAll, "r0"))
	b.runUntil(1*ms, "append", func() bool { return b.log(1, tp).End == 1 })
	b.expectLog(1, tp, 1, 0)
	b.runUntil(1*ms, "copy", func() bool { return b.log(2, tp).End == 1 })
	b.expectLog(2, tp, 1, 0)
	if b.answered(c) {
		t.Error("acknowledged before the follower's next fetch")
	}
	b.runUntil(1*ms, "HW", func() bool { return b.log(1, tp).HighWatermark == 1 })
	if b.Now != t0+3*ms {
		t.Errorf("HW moved after %d µs, want 3 hops", b.Now-t0)
	}
	b.runUntil(1*ms, "ack", func() bool { return b.answered(c) })
	if got := b.consume(1, tp, 0, 0); len(got.Batches) != 1 {
		t.Errorf("a consumer sees %d batches, want r0", len(got.Batches))
	}
	b.expectLog(2, tp, 1, 0)
	committed := t0 + 3*ms
	b.runUntil(600*ms, "the follower's HW", func() bool { return b.log(2, tp).HighWatermark == 1 })
	if b.Now != committed+500*ms+1*ms {
		t.Errorf("the follower learnt the HW %d µs after the commit, want replica.fetch.wait.max.ms and a hop", b.Now-committed)
	}
}

// G2 (R2.4 step 2): a fetch that finds a record is answered at once, with the high watermark from before it
// was credited.
func TestG2AnswerWithTheOldHighWatermark(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(100 * ms)
	b.record()
	b.ask(1, b.produceRequest(tp, config.AcksAll, "r0"))
	b.run(1 * ms) // r0 is appended at 1 ms, copied at 2 ms, fetch@1 arrives at 3 ms
	b.ask(1, b.produceRequest(tp, config.AcksAll, "r1"))
	b.run(2 * ms)
	b.expectLog(1, tp, 2, 1)
	b.run(1 * ms)
	b.expectLog(2, tp, 2, 0)
	b.run(1 * ms)
	b.expectLog(1, tp, 2, 2)
	b.run(501 * ms)
	b.expectLog(2, tp, 2, 2)
	var got []int64
	for _, a := range b.fetchAnswers(2, tp) {
		got = append(got, a.HighWatermark)
	}
	// fetch@0: {r0, HW 0}; fetch@1: {r1, HW 0}; fetch@2 parks with snapshot 1 and is re-read when it expires.
	if want := []int64{0, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("high watermarks in the answers: %v, want %v", got, want)
	}
}

// G3 (R1.14, R1.15, R1.16b, R1.21, R1.23, R2.15): one of three hangs. acks=all waits for it, times out, and never
// gets 20; the ISR shrinks at the first tick later than 30 s after it was last caught up; then the high
// watermark jumps, and a retry is answered with the offset of the first attempt.
func TestG3HungFollowerHoldsAcksAllBack(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(CutLink{3, 1})
	req := b.produceRequest(tp, config.AcksAll, "r0")
	req.Parts[0].Batch.ProducerID, req.Parts[0].Batch.ProducerEpoch, req.Parts[0].Batch.BaseSequence = 7, 0, 0
	sent := b.Now
	first := b.ask(1, req)
	b.runUntil(40_000*ms, "an answer", func() bool { return b.answered(first) })
	if code := b.answers[first].p.(ProduceResponse).Parts[0].Error; code != REQUEST_TIMED_OUT || b.Now != sent+30_002*ms {
		t.Errorf("answered %v after %d ms, want REQUEST_TIMED_OUT after 30 s and two hops", code, (b.Now-sent)/1000)
	}
	b.expectLog(1, tp, 1, 0)
	caughtUp := b.broker(1).replica(tp).Remotes[1].LastCaughtUp
	tick := (caughtUp/(15_000*ms) + 3) * 15_000 * ms // the first tick later than caughtUp + 30 s
	b.runUntil(60_000*ms, "a shrink", func() bool { return b.broker(1).replica(tp).Change.Kind == PendingShrink })
	if b.Now != tick {
		t.Errorf("the ISR shrinks at %d ms, want the tick at %d (caught up at %d)", b.Now/1000, tick/1000, caughtUp/1000)
	}
	b.expectLog(1, tp, 1, 0) // R1.21: a pending shrink does not help
	b.runUntil(10*ms, "HW", func() bool { return b.log(1, tp).HighWatermark == 1 })
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, nil)
	res := b.call(1, req).(ProduceResponse).Parts[0]
	if res.Error != NONE || res.BaseOffset != 0 || b.log(1, tp).End != 1 {
		t.Errorf("the retry got %+v, LEO %d; want offset 0 and nothing appended", res, b.log(1, tp).End)
	}
}

// G4 (R1.12a, R1.17 step 1, R1.22, R2.17): under the minimum acks=all is refused without a trace, acks=1 is
// taken and invisible; a pending growth of the ISR does not move the high watermark, the committed one does.
func TestG4UnderMinISR(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(CrashBroker{2})
	b.apply(CrashBroker{3})
	b.runUntil(12_000*ms, "ISR {1}", func() bool { return len(b.broker(1).replica(tp).ISR) == 1 })
	if got := b.produce(1, tp, config.AcksAll, "no"); got.Error != NOT_ENOUGH_REPLICAS {
		t.Errorf("acks=all got %v", got.Error)
	}
	b.expectLog(1, tp, 0, 0)
	if got := b.produce(1, tp, config.AcksLeader, "yes"); got.Error != NONE || got.BaseOffset != 0 {
		t.Errorf("acks=1 got %+v", got)
	}
	b.expectLog(1, tp, 1, 0)
	if got := b.consume(1, tp, 0, 0); got.Error != NONE || len(got.Batches) != 0 {
		t.Errorf("a consumer got %+v, want nothing", got)
	}
	b.apply(StartBroker{2})
	b.runUntil(20_000*ms, "a pending growth", func() bool { return b.broker(1).replica(tp).Change.Kind == PendingExpand })
	b.expectLog(1, tp, 1, 0)
	b.runUntil(100*ms, "ISR {1,2}", func() bool { return len(b.broker(1).replica(tp).ISR) == 2 })
	x := b.broker(1).replica(tp).Remotes[0].End
	b.expectLog(1, tp, 1, min(1, x))
	b.run(1000 * ms)
	b.expectLog(1, tp, 1, 1)
	b.expectLog(2, tp, 1, 1)
}

// fenceAll crashes a broker and waits until the controller has fenced it.
func (b *bench) fence(id NodeID) {
	b.t.Helper()
	b.apply(CrashBroker{id})
	b.runUntil(12_000*ms, "the fencing", func() bool { return b.Metadata().broker(id).Fenced })
}

// unfence starts a broker and waits until it is unfenced.
func (b *bench) unfence(id NodeID) {
	b.t.Helper()
	b.apply(StartBroker{id})
	b.runUntil(20_000*ms, "the unfencing", func() bool { return !b.Metadata().broker(id).Fenced })
}

// G5 (R3.11 to R3.19, KIP-966): the eligible leader replicas as brokers go one by one, and who may come
// back: 2 cleanly, or uncleanly and then 1 as the last known leader.
func TestG5EligibleLeaderReplicas(t *testing.T) {
	gone := func(t *testing.T, clean bool) (*bench, TopicPartition) {
		b := newBench(t, 3, withELR)
		tp := b.topic("orders", 2, []NodeID{1, 2, 3})
		b.run(1000 * ms)
		b.fence(3)
		b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, nil)
		if clean {
			b.apply(StopBroker{2})
			b.runUntil(20_000*ms, "the stop", func() bool { return !b.broker(2).alive() })
		} else {
			b.fence(2)
		}
		b.expectPartition(tp, 1, 0, 2, []NodeID{1}, []NodeID{2})
		b.fence(1)
		b.expectPartition(tp, NoNode, 1, 3, nil, []NodeID{1, 2})
		if known := b.registration(tp).LastKnownELR; !sameSet(known, []NodeID{1}) {
			t.Errorf("last known leader %v, want 1", known)
		}
		b.unfence(3) // not eligible: nothing happens
		b.expectPartition(tp, NoNode, 1, 3, nil, []NodeID{1, 2})
		return b, tp
	}
	t.Run("2 returns clean", func(t *testing.T) {
		b, tp := gone(t, true)
		b.unfence(2)
		p := b.registration(tp)
		if p.Leader != 2 || p.LeaderEpoch != 2 || !sameSet(p.ELR, []NodeID{1}) || len(p.LastKnownELR) != 0 || p.Recovering {
			t.Errorf("%+v, want leader 2 from the ELR, ELR {1}", *p)
		}
	})
	t.Run("2 and then 1 return unclean", func(t *testing.T) {
		b, tp := gone(t, false)
		b.unfence(2)
		b.expectPartition(tp, NoNode, 1, 4, nil, []NodeID{1})
		b.apply(StartBroker{1})
		b.runUntil(20_000*ms, "the registration", func() bool { return len(b.registration(tp).ELR) == 0 })
		b.expectPartition(tp, NoNode, 1, 5, nil, nil)
		b.runUntil(20_000*ms, "the election", func() bool { return b.registration(tp).Leader != NoNode })
		b.expectPartition(tp, 1, 2, 6, []NodeID{1}, nil)
		if p := b.registration(tp); !p.Recovering {
			t.Error("the election of a last known leader is unclean: RECOVERING")
		}
	})
}

// G6 (R3.16): RF 4, min ISR 3: the first victim is never in the ELR.
func TestG6FirstVictimIsNotEligible(t *testing.T) {
	b := newBench(t, 4, withELR)
	tp := b.topic("orders", 3, []NodeID{1, 2, 3, 4})
	b.run(1000 * ms)
	for i, want := range [][]NodeID{nil, {2}, {2, 3}, {2, 3, 4}} {
		b.fence(NodeID(i + 1))
		if got := b.registration(tp).ELR; !sameSet(got, want) {
			t.Errorf("after %d fenced: ELR %v, want %v", i+1, got, want)
		}
	}
}

// G7 (R3.12, R3.19): without ELR the last member stays in the ISR and nobody else is elected.
func TestG7LastMemberStays(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.fence(2)
	b.expectPartition(tp, 1, 0, 1, []NodeID{1}, nil)
	b.apply(CutLink{1, 2}) // so that 2 comes back and stays stale
	b.unfence(2)
	b.fence(1)
	b.expectPartition(tp, NoNode, 1, 2, []NodeID{1}, nil)
	b.run(60_000 * ms)
	b.expectPartition(tp, NoNode, 1, 2, []NodeID{1}, nil)
	b.unfence(1)
	b.expectPartition(tp, 1, 2, 3, []NodeID{1}, nil)
}

// G10 (R2.16, R3.5): a dead follower that had the leader's end stays as long as nothing is written; the
// controller's fencing takes it out after 7 to 10.2 s.
func TestG10DeadIdleFollower(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(3000 * ms)
	t0 := b.Now
	b.apply(CrashBroker{2})
	b.runUntil(11_000*ms, "the fencing", func() bool { return b.Metadata().broker(2).Fenced })
	if d := b.Now - t0; d < 7_000*ms || d > 10_200*ms {
		t.Errorf("fenced after %d ms, want 7000 to 10200", d/1000)
	}
	b.expectPartition(tp, 1, 0, 1, []NodeID{1}, nil)
}

// R2.16: cut off from the leader only, and idle, a follower is in the ISR for ever.
func TestIdleFollowerIsNeverThrownOut(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(CutLink{1, 2})
	b.run(300_000 * ms)
	b.expectPartition(tp, 1, 0, 0, []NodeID{1, 2}, nil)
}

// G11 (R3.2): a process that comes back within a second is refused until its old session has expired, tried
// every 2 s; until then the dead leader leads.
func TestG11FastRestart(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(4000 * ms)
	contact := b.Controllers[0].session(1).LastContact
	b.apply(CrashBroker{1})
	crashed := b.Now
	b.run(1000 * ms)
	b.record()
	b.apply(StartBroker{1})
	b.runUntil(20_000*ms, "the registration", func() bool { return b.broker(1).Lifecycle.Epoch > 0 })
	var refused, tried []int64
	for _, e := range b.seen {
		switch m := e.Payload.(type) {
		case BrokerRegistrationResponse:
			if m.Error == DUPLICATE_BROKER_REGISTRATION {
				refused = append(refused, e.At)
			}
		case BrokerRegistrationRequest:
			tried = append(tried, e.At)
		}
	}
	if last := tried[len(tried)-1]; last <= contact+9_000*ms || len(refused) != len(tried)-1 {
		t.Errorf("tried at %v, refused at %v, last contact at %d", tried, refused, contact)
	}
	for i := 1; i < len(tried); i++ {
		if tried[i]-tried[i-1] != 2_000*ms {
			t.Errorf("tried at %v, want every 2 s", tried)
		}
	}
	b.run(20_000 * ms)
	p := b.registration(tp)
	if p.Leader != 2 || p.LeaderEpoch != 1 || len(p.ISR) != 3 {
		t.Errorf("%+v, want leader 2 in epoch 1 and everybody back in the ISR (crashed at %d)", *p, crashed)
	}
}
