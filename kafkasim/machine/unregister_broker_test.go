package machine

import "testing"

// R3.22, R3.18: an eligible leader replica that is unregistered stays one, because its log is still there. Its
// next process is taken for one after an unclean stop, even after a clean one, and so loses the place.
func TestUnregisterKeepsEligibleLeaderReplica(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.ELR = true })
	tp := b.topic("orders", 3, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(StopBroker{3})
	b.runUntil(10_000*ms, "the exit", func() bool { return !b.broker(3).alive() })
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, []NodeID{3})
	if r := b.Apply(UnregisterBroker{3}); r.Error != NONE {
		t.Fatalf("refused: %v", r.Error)
	}
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, []NodeID{3})
	if reg := b.Metadata().broker(3); reg.Epoch != -1 || reg.active() {
		t.Errorf("the registration is still there: %+v", reg)
	}
	if r := b.Apply(UnregisterBroker{3}); r.Error != BROKER_ID_NOT_REGISTERED {
		t.Errorf("forgotten twice: %v", r.Error)
	}
	b.apply(StartBroker{3})
	b.runUntil(10_000*ms, "the registration", func() bool { return b.Metadata().broker(3).Epoch >= 0 })
	b.expectPartition(tp, 1, 0, 2, []NodeID{1, 2}, nil)
}
