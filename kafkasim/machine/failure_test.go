package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/view"
)

// lost counts acknowledged batches that are lost, and the notes that say so.
func (b *bench) lost() (batches, notes int) {
	for _, a := range b.Truth.Acked {
		if a.Lost {
			batches++
		}
	}
	for _, n := range b.Notes {
		if n.Kind == view.Lost {
			notes++
		}
	}
	return batches, notes
}

// R4.10, C12: the last replica standing loses power, and with it committed records. Without ELR it is the
// only one that may lead when it comes back, and the others truncate to its log; with ELR a member that has
// everything is elected at once.
func TestLastReplicaStanding(t *testing.T) {
	for _, elr := range []bool{false, true} {
		b := newBench(t, 3, func(w *World) { w.ELR = elr })
		tp := b.topic("orders", 2, []NodeID{3, 1, 2})
		b.run(1000 * ms)
		if got := b.produce(3, tp, config.AcksAll, "precious"); got.Error != NONE {
			t.Fatal(got.Error)
		}
		b.run(1000 * ms)
		b.fence(1)
		b.apply(StopBroker{2}) // cleanly, so that it may stay eligible
		b.runUntil(20_000*ms, "ISR {3}", func() bool { return len(b.registration(tp).ISR) == 1 })
		b.runUntil(20_000*ms, "the stop", func() bool { return !b.broker(2).alive() })
		b.apply(PowerLoss{3})
		b.runUntil(20_000*ms, "the loss of the leader", func() bool { return b.registration(tp).Leader == NoNode })
		b.unfence(2)
		b.unfence(1)
		b.run(1000 * ms)
		if leader := b.registration(tp).Leader; elr && leader != 2 || !elr && leader != NoNode {
			t.Errorf("ELR %v: leader %d before 3 is back", elr, leader)
		}
		b.unfence(3)
		b.run(30_000 * ms)
		batches, notes := b.lost()
		if elr && batches+notes != 0 || !elr && (batches != 1 || notes != 1) {
			t.Errorf("ELR %v: %d batches lost, %d notes", elr, batches, notes)
		}
		for id := NodeID(1); id <= 3; id++ {
			if end := b.log(id, tp).End; elr && end != 1 || !elr && end != 0 {
				t.Errorf("ELR %v: broker %d ends at %d", elr, id, end)
			}
		}
	}
}

// R3.8: cut off from the controller, a broker is fenced and loses its leadership; when it is heard of again it
// is unfenced at once, in the same broker epoch, without a new registration.
func TestFencedAliveBrokerComesBack(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	epoch := b.epochOf(1)
	b.apply(CutLink{1, FirstController})
	b.runUntil(12_000*ms, "the fencing", func() bool { return b.Metadata().broker(1).Fenced })
	// R4.5: the zombie goes on as if nothing had happened, for whoever knows no better.
	if got := b.produce(1, tp, config.AcksLeader, "to a zombie"); got.Error != NONE {
		t.Errorf("acks=1 at a zombie: %v", got.Error)
	}
	c := b.ask(1, b.produceRequest(tp, config.AcksAll, "to a zombie"))
	b.runUntil(40_000*ms, "an answer", func() bool { return b.answered(c) })
	if got := b.answers[c].p.(ProduceResponse).Parts[0].Error; got != REQUEST_TIMED_OUT {
		t.Errorf("acks=all at a zombie: %v, want REQUEST_TIMED_OUT", got)
	}
	b.apply(HealLink{1, FirstController})
	b.runUntil(3_000*ms, "the unfencing", func() bool { return !b.Metadata().broker(1).Fenced })
	b.run(10_000 * ms)
	if b.epochOf(1) != epoch || b.broker(1).Incarnation != 1 {
		t.Errorf("broker epoch %d after %d: it registered again", b.epochOf(1), epoch)
	}
	b.expectPartition(tp, 2, 1, 2, []NodeID{1, 2, 3}, nil)
	b.expectLog(1, tp, 0, 0)
	if batches, notes := b.lost(); batches != 1 || notes != 1 {
		t.Errorf("%d batches lost, %d notes; want the zombie's acks=1", batches, notes)
	}
}

// R4.2: a process that is killed keeps its page cache; a machine that loses power keeps what was flushed.
func TestCrashKeepsThePageCache(t *testing.T) {
	for _, power := range []bool{false, true} {
		b := newBench(t, 2)
		tp := b.topic("orders", 1, []NodeID{1, 2})
		b.run(1000 * ms)
		b.produce(1, tp, config.AcksAll, "r0")
		b.run(6_000 * ms) // the high watermark is checkpointed every 5 s (R4.1)
		b.produce(1, tp, config.AcksAll, "r1")
		if power {
			b.apply(PowerLoss{2})
		} else {
			b.apply(CrashBroker{2})
		}
		b.apply(CutLink{1, 2})
		b.runUntil(20_000*ms, "the fencing", func() bool { return b.Metadata().broker(2).Fenced })
		b.unfence(2)
		l := b.log(2, tp)
		if power && (l.End != 0 || l.HighWatermark != 0) || !power && (l.End != 2 || l.HighWatermark != 1) {
			t.Errorf("power loss %v: LEO %d HW %d", power, l.End, l.HighWatermark)
		}
	}
}

// A client's view of the ways to end: a killed process resets connections, a machine without power is silent,
// a paused process answers later.
func TestWhatAPeerHears(t *testing.T) {
	b := newBench(t, 4)
	tp := b.topic("orders", 1, []NodeID{1}, []NodeID{2}, []NodeID{3}, []NodeID{4})
	b.run(1000 * ms)
	ask := func(id NodeID) uint32 {
		return b.ask(id, MetadataRequest{Topics: []string{"orders"}})
	}
	b.apply(CrashBroker{1})
	b.apply(PowerLoss{2})
	b.apply(PauseBroker{3})
	reset, silent, late, cut := ask(1), ask(2), ask(3), uint32(0)
	b.apply(CutLink{FirstProbe, 4})
	cut = ask(4)
	b.run(60_000 * ms)
	if _, ok := b.answers[reset].p.(Disconnected); !ok {
		t.Errorf("a dead process on a live machine: %T", b.answers[reset].p)
	}
	for what, c := range map[string]uint32{"a machine without power": silent, "a paused process": late, "a cut link": cut} {
		if b.answered(c) {
			t.Errorf("%s answers: %T", what, b.answers[c].p)
		}
	}
	b.apply(ResumeBroker{3})
	b.apply(HealLink{FirstProbe, 4})
	b.run(10 * ms)
	for _, c := range []uint32{late, cut} {
		if _, ok := b.answers[c].p.(MetadataResponse); !ok {
			t.Errorf("after resuming and healing: %T", b.answers[c].p)
		}
	}
	// What is parked at a broker that dies is answered by the reset of its connection.
	parked := b.ask(4, FetchRequest{MaxWaitMs: 30000, MinBytes: 1, MaxBytes: 100, BrokerEpoch: -1, SessionEpoch: FinalFetchEpoch, Parts: []FetchPart{
		{TP: TopicPartition{tp.Topic, 3}, LeaderEpoch: -1, LastFetchedEpoch: -1, MaxBytes: 100}}})
	b.run(10 * ms)
	conn := b.conn
	b.apply(CrashBroker{4})
	b.record()
	b.run(10 * ms)
	found := false
	for _, e := range b.seen {
		if _, ok := e.Payload.(Disconnected); ok && e.To == FirstProbe && e.Conn == conn {
			found = true
		}
	}
	if !found || b.answered(parked) {
		t.Error("the crash does not reset the connection of a parked request")
	}
}

// P-54: one request of a connection is handled at a time, in order; another connection does not wait.
func TestOneRequestAtATime(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(CutLink{1, 2}) // acks=all will wait
	for i := range uint32(3) {
		b.Probe(0, 1, 777, 100+i, b.produceRequest(tp, config.AcksAll, "v"))
	}
	b.run(100 * ms)
	if end := b.log(1, tp).End; end != 1 {
		t.Errorf("LEO %d: the second request of the connection is handled while the first waits", end)
	}
	if got := b.produce(1, tp, config.AcksLeader, "other"); got.BaseOffset != 1 {
		t.Errorf("another connection got offset %d", got.BaseOffset)
	}
	b.apply(HealLink{1, 2})
	b.run(60_000 * ms)
	for i := range uint32(3) {
		if a := b.answers[100+i]; a.p == nil || i > 0 && a.at < b.answers[99+i].at {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
}
