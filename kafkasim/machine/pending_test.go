package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// growing is a leader whose proposal to let its follower join waits at the controller's door.
func growing(t *testing.T, minISR int32) (*bench, TopicPartition) {
	b := newBench(t, 2)
	tp := b.topic("orders", minISR, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(CutLink{1, 2})
	b.produce(1, tp, config.AcksLeader, "behind")
	b.runUntil(60_000*ms, "the follower leaves", func() bool { return len(b.broker(1).replica(tp).ISR) == 1 })
	b.apply(HoldMessages{"AlterPartition "})
	b.apply(HealLink{1, 2})
	b.runUntil(60_000*ms, "the follower is to come back", func() bool { return b.broker(1).replica(tp).Change.Kind == PendingExpand })
	return b, tp
}

// R1.12a: the minimum is compared with the committed ISR, whatever is on its way.
func TestMinimumCountsTheCommittedISR(t *testing.T) {
	b, tp := growing(t, 2)
	if r := b.produce(1, tp, config.AcksAll, "too early"); r.Error != NOT_ENOUGH_REPLICAS {
		t.Errorf("answered %v with ISR 1 and a pending growth to 1,2", r.Error)
	}
	b.apply(ReleaseMessages{})
	b.runUntil(60_000*ms, "the follower is back", func() bool { return len(b.broker(1).replica(tp).ISR) == 2 })
	if r := b.produce(1, tp, config.AcksAll, "now"); r.Error != NONE {
		t.Errorf("answered %v", r.Error)
	}
}

// R1.4, R1.21: a follower that is to join counts for the high watermark at once, caught up or not.
func TestPendingGrowthHoldsTheHighWatermark(t *testing.T) {
	b, tp := growing(t, 1)
	hw := b.log(1, tp).HighWatermark
	b.apply(CutLink{1, 2})
	b.run(40_000 * ms) // so long that it has not caught up for replica.lag.time.max.ms
	b.produce(1, tp, config.AcksLeader, "not for 2")
	if l := b.log(1, tp); l.HighWatermark != hw || l.End != hw+1 {
		t.Errorf("LEO %d, HW %d after %d, while broker 2 is to join the ISR", l.End, l.HighWatermark, hw)
	}
}

// R1.8, R2.24: the answer to an AlterPartition may be faster than the metadata log; what the log then brings of the
// time before changes nothing.
func TestOlderMetadataChangesNothing(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	r := b.broker(1).replica(tp)
	before := *b.registration(tp)
	r.ISR, r.PartitionEpoch = []NodeID{1}, before.PartitionEpoch+1 // as the answer said
	b.follow(b.broker(1), tp, &before)
	if len(r.ISR) != 1 || r.PartitionEpoch != before.PartitionEpoch+1 {
		t.Errorf("ISR %v in partition epoch %d after metadata of partition epoch %d", r.ISR, r.PartitionEpoch, before.PartitionEpoch)
	}
}

// R1.8, R2.24: metadata of the partition epoch that a leader knows from an AlterPartition response cancels what it has
// proposed since, and that may still be granted. Until the metadata brings it, a member of the ISR does not hold
// the high watermark back: what Kafka's rules allow, and the Truth remembers.
func TestCancelledProposalIsGranted(t *testing.T) {
	b, tp := growing(t, 1)
	r := b.broker(1).replica(tp)
	reg := *b.registration(tp)
	b.follow(b.broker(1), tp, &reg) // as late metadata does
	if r.Change.Kind != NoChange || r.inMaximalISR(2) {
		t.Fatalf("the proposal stands: %+v", r.Change)
	}
	b.apply(ReleaseMessages{})
	b.runUntil(1000*ms, "the proposal is granted", func() bool { return len(b.registration(tp).ISR) == 2 })
	if !b.Truth.Partitions[0].Granted || r.inMaximalISR(2) {
		t.Errorf("truth %+v, maximal ISR of the leader %v", b.Truth.Partitions[0], r.ISR)
	}
	b.runUntil(1000*ms, "the leader learns of it", func() bool { return r.inMaximalISR(2) })
}
