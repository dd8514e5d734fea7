package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/view"
)

// zombieController is a world with ZooKeeper whose controller was paused for longer than its session, while broker 3 died
// and came back.
func zombieController(t *testing.T, version string) (*bench, TopicPartition) {
	b := newBench(t, 3, generation(version))
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(PauseController{FirstController})
	b.apply(CrashBroker{3})
	b.run(30_000 * ms)
	if n := len(b.registration(tp).ISR); n != 3 {
		t.Fatalf("%s: while the controller is paused nobody changes the ISR, and it has %d members", version, n)
	}
	b.apply(ResumeController{FirstController})
	b.run(1000 * ms)
	b.expectISR(tp, 1, 2)
	b.apply(StartBroker{3})
	b.run(60_000 * ms)
	return b, tp
}

func (b *bench) expectISR(tp TopicPartition, want ...NodeID) {
	b.t.Helper()
	if isr := b.registration(tp).ISR; len(isr) != len(want) {
		b.t.Errorf("the ISR is %v, want %v", isr, want)
	}
}

// KAFKA-2729, KAFKA-6082: before 2.1 a controller that has lost its session writes to ZooKeeper all the same. The leader's
// version is stale for ever, and a follower that is back is not let in; restarting the leader ends it. From 2.1 on such a
// write is refused.
func TestStaleZkVersion(t *testing.T) {
	b, tp := zombieController(t, "2.1")
	b.expectISR(tp, 1, 2, 3)
	if got, want := b.broker(1).replica(tp).PartitionEpoch, b.registration(tp).PartitionEpoch; got != want {
		t.Errorf("2.1: the leader has version %d, ZooKeeper %d", got, want)
	}

	b, tp = zombieController(t, "2.0")
	b.expectISR(tp, 1, 2)
	leader, there := b.broker(1).replica(tp), b.registration(tp)
	if leader.PartitionEpoch+1 != there.PartitionEpoch || leader.LeaderEpoch+1 != there.LeaderEpoch {
		t.Errorf("the leader has version %d, epoch %d, ZooKeeper has %d and %d; want both one behind", leader.PartitionEpoch, leader.LeaderEpoch, there.PartitionEpoch, there.LeaderEpoch)
	}
	b.produce(1, tp, config.AcksAll, "r0")
	b.run(1000 * ms)
	for id, epoch := range map[NodeID]int32{2: leader.LeaderEpoch, 3: there.LeaderEpoch} { // who starts is told everything
		if r := b.broker(id).replica(tp); r.Log.End != 1 || r.LeaderEpoch != epoch {
			t.Errorf("broker %d follows in epoch %d and ends at %d; want epoch %d, and as far as its leader", id, r.LeaderEpoch, r.Log.End, epoch)
		}
	}
	skipped := 0
	for _, n := range b.Notes {
		if n.Kind == view.StaleZkVersion && n.A+1 == n.B {
			skipped++
		}
	}
	if skipped < 5 {
		t.Errorf("the leader has noted %d times that it skips updating the ISR, want again and again", skipped)
	}
	// With the ISR of two a second death makes every acks=all wait until the controller takes broker 2 out, and that
	// write heals the leader: it has heard of it.
	b.apply(CrashBroker{1})
	b.run(30_000 * ms)
	b.apply(StartBroker{1})
	b.run(30_000 * ms)
	b.expectISR(tp, 1, 2, 3)
	if r := b.produce(2, tp, config.AcksAll, "x"); r.Error != NONE {
		t.Errorf("after the restart: %v", r.Error)
	}
}

// KIP-500's reasons: a new controller reads ZooKeeper before it elects anybody, for longer the more partitions there are,
// and twice as long before 1.1; leaders change their ISRs without a controller, and acks=all goes on.
func TestFailoverOfAZooKeeperController(t *testing.T) {
	const partitions = 500
	for version, want := range map[string]int64{"1.0": 280 * partitions, "1.1": 140 * partitions, "4.3": 0} {
		b := newBench(t, 3, generation(version), func(w *World) { w.Broker.ReplicaLagTimeMaxMs = 2000 })
		tp := b.topic("orders", 1, []NodeID{1, 2, 3})
		b.Apply(CreateTopic{Name: "many", Partitions: partitions - 1, ReplicationFactor: 3, Props: topicDefaults()})
		b.run(1000 * ms)
		b.apply(CrashController{FirstController})
		b.apply(CrashBroker{3})
		if r := b.produce(1, tp, config.AcksAll, "r0"); r.Error != NONE && version != "4.3" {
			t.Errorf("%s: acks=all without a controller: %v", version, r.Error)
		}
		b.run(30_000 * ms) // the sessions of both are over
		isr := len(b.registration(tp).ISR)
		if kraft := version == "4.3"; kraft != (isr == 3) {
			t.Errorf("%s: without a controller the ISR has %d members", version, isr)
		}
		b.apply(CrashBroker{1})
		b.run(20_000 * ms)
		start := b.Now
		b.apply(StartController{FirstController})
		if version == "4.3" {
			continue // it has read everything, and gives each broker a whole session
		}
		b.runUntil(60_000*ms, "another leader", func() bool { return b.registration(tp).Leader == 2 })
		if took := b.Now - start; took < want || took > want+3000*ms {
			t.Errorf("%s: with %d partitions another leader came after %d ms, want %d ms and a look at the sessions", version, partitions, took/ms, want/ms)
		}
	}
}

// A controller that is started again at once waits until its session of before is over.
func TestQuickRestartOfAZooKeeperController(t *testing.T) {
	b := newBench(t, 2, generation("2.0"))
	b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(CrashController{FirstController})
	b.run(1000 * ms)
	b.apply(StartController{FirstController})
	start := b.Now
	b.runUntil(60_000*ms, "an active controller", func() bool { return b.ActiveController() != nil })
	if want := b.sessionTimeout() - 1000*ms; b.Now-start < want || b.Now-start > want+10*ms {
		t.Errorf("it acts after %d ms, want %d", (b.Now-start)/ms, want/ms)
	}
}

// A short pause is none for ZooKeeper, and with KRaft there is no such write at all.
func TestShortPauseIsNoZombie(t *testing.T) {
	for version, pause := range map[string]int64{"2.0": 3000, "4.3": 30_000} {
		b := newBench(t, 3, generation(version))
		tp := b.topic("orders", 1, []NodeID{1, 2, 3})
		b.run(1000 * ms)
		b.apply(PauseController{FirstController})
		b.apply(CrashBroker{3})
		b.run(pause * ms)
		b.apply(ResumeController{FirstController})
		b.run(30_000 * ms)
		b.apply(StartBroker{3})
		b.run(60_000 * ms)
		b.expectISR(tp, 1, 2, 3)
	}
}

// ZooKeeper hears the brokers while the controller is paused: none of those that live is taken for dead.
func TestPausedControllerUnderZooKeeper(t *testing.T) {
	b := newBench(t, 3, generation("2.0"))
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	before := b.registration(tp).PartitionEpoch
	b.apply(PauseController{FirstController})
	b.run(60_000 * ms)
	b.apply(ResumeController{FirstController})
	b.run(30_000 * ms)
	b.expectISR(tp, 1, 2, 3)
	if now := b.registration(tp).PartitionEpoch; now != before {
		t.Errorf("nobody died, and the partition's version went from %d to %d", before, now)
	}
}
