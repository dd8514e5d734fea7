package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// Golden traces of kafka-replication.md §9, exactly as written.

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
