package machine

import "testing"

// R3.10, KIP-858: with two log directories each replica's directory is a change of its own; a failed directory
// costs the leadership of what is in it (R3.21), a failed first one the process; the marker of a clean stop
// counts only if it is in every directory (R3.1).
func TestLogDirs(t *testing.T) {
	b := newBench(t, 3, withELR, func(w *World) { w.LogDirs = 2 })
	one := b.topic("one", 2, []NodeID{1, 2, 3})
	two := b.topic("two", 2, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.expectPartition(one, 1, 0, 3, []NodeID{1, 2, 3}, nil)
	b.expectPartition(two, 1, 0, 3, []NodeID{1, 2, 3}, nil)
	if d, e := b.broker(1).replica(one).Dir, b.broker(1).replica(two).Dir; d == e {
		t.Fatalf("both replicas are in directory %d", d)
	}
	b.produce(1, two, -1, "a")
	b.apply(LoseDisk{1, []int32{2}})
	if got := b.produce(1, two, -1, "b").Error; got != KAFKA_STORAGE_ERROR {
		t.Errorf("a produce to the lost directory is answered %v", got)
	}
	if got := b.produce(1, one, -1, "b").Error; got != NONE {
		t.Errorf("a produce to the other directory is answered %v", got)
	}
	b.run(1000 * ms)
	b.expectPartition(one, 1, 0, 3, []NodeID{1, 2, 3}, nil)
	b.expectPartition(two, 2, 1, 4, []NodeID{2, 3}, nil)
	b.apply(StopBroker{1})
	b.run(20_000 * ms)
	if b.broker(1).CleanEpoch != -1 {
		t.Error("a clean stop without one of the directories leaves a marker")
	}
	b.apply(StartBroker{1})
	b.runUntil(30_000*ms, "broker 1 is back", func() bool { return len(b.registration(two).ISR) == 3 && len(b.registration(one).ISR) == 3 })
	b.run(1000 * ms)
	b.expectLog(1, two, 1, 1)
	b.apply(LoseDisk{Broker: 2, Dirs: []int32{1}})
	if b.broker(2).alive() {
		t.Error("the process lives on without its metadata log")
	}
}
