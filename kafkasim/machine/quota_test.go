package machine

import (
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// A quota gives a burst at the beginning all windows but one, and then asks for the time in which silence brings the
// rate down to it: 1000·(bytes/quota - W), W = 10 s and the age of the window (dc1).
func TestThrottleTime(t *testing.T) {
	w := windows{11, 1000}
	var r Rate
	for i, c := range []struct{ at, bytes, want int64 }{
		{0, 100_000, 0},     // 10 s of the quota
		{0, 1, 0},           // less than half a ms above
		{10, 10_000, 990},   // W is 10,010 ms
		{5000, 0, 1000},     // five windows have passed, and five count as if they had
		{12_000, 60_000, 0}, // all of that is forgotten
	} {
		r.record(w, c.at, c.bytes)
		got := int64(0)
		if r.exceeds(w, c.at, 10_000, false) {
			got = r.throttleMs(w, c.at, 10_000)
		}
		if got != c.want {
			t.Errorf("%d: after %d bytes at %d ms: throttled %d ms, want %d", i, c.bytes, c.at, got, c.want)
		}
	}
}

// Replication has no patience: what was counted in the first second is the rate of it.
func TestReplicationRate(t *testing.T) {
	w := windows{11, 1000}
	var r Rate
	r.record(w, 0, 5000)
	if !r.exceeds(w, 0, 4999, true) || r.exceeds(w, 0, 5000, true) || r.exceeds(w, 5000, 1000, true) || !r.exceeds(w, 5000, 999, true) {
		t.Error("5000 bytes are a rate of 5000 in the first second, and of 1000 after five")
	}
}

// The most specific quota counts (KIP-55), and those of one entity count together.
func TestQuotaPrecedence(t *testing.T) {
	var im Image
	set := func(user, client string, rate int64) {
		im.setQuota(Quota{Entity: QuotaEntity{User: user, ClientID: client}, Producer: rate})
	}
	expect := func(want int64, who QuotaEntity) {
		t.Helper()
		if rate, e := im.clientQuota("a", producerRate); rate != want || e != who {
			t.Errorf("rate %d of %v, want %d of %v", rate, e, want, who)
		}
	}
	expect(0, QuotaEntity{})
	set("", QuotaDefault, 1)
	expect(1, QuotaEntity{ClientID: "a"})
	set("", "a", 2)
	expect(2, QuotaEntity{ClientID: "a"})
	set(QuotaDefault, "", 3)
	expect(3, QuotaEntity{User: AnonymousUser})
	set(QuotaDefault, QuotaDefault, 4)
	expect(4, QuotaEntity{User: AnonymousUser, ClientID: "a"})
	set(QuotaDefault, "a", 5)
	expect(5, QuotaEntity{User: AnonymousUser, ClientID: "a"})
	set(AnonymousUser, "", 6)
	expect(6, QuotaEntity{User: AnonymousUser})
	set(AnonymousUser, QuotaDefault, 7)
	expect(7, QuotaEntity{User: AnonymousUser, ClientID: "a"})
	set(AnonymousUser, "a", 8)
	expect(8, QuotaEntity{User: AnonymousUser, ClientID: "a"})
	set(AnonymousUser, "a", 0) // taken back
	expect(7, QuotaEntity{User: AnonymousUser, ClientID: "a"})
}

// quotaBatch is one record of so many bytes.
func quotaBatch(bytes int) partlog.Batch {
	b := partlog.Batch{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Sender: -1}
	b.Records.Append(&partlog.Record{Value: strings.Repeat("x", bytes), Flags: partlog.NullKey}, nil)
	b.Size = partlog.BatchSize(&b.Records)
	return b
}

// A client over its quota is answered at once, and its connection is not read until its time is over (KIP-219).
func TestThrottledConnectionIsMuted(t *testing.T) {
	b := newBench(t, 1)
	tp := b.topic("orders", 1, []NodeID{1})
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{ClientID: ProbeClientID}, Producer: 1000}})
	b.run(1000 * ms)
	for c := uint32(1); c <= 2; c++ {
		b.Probe(0, 1, 7, c, ProduceRequest{Acks: config.AcksLeader, TimeoutMs: 1000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(12_000)}}})
	}
	b.runUntil(60_000*ms, "the second answer", func() bool { return b.answers[2].p != nil })
	first, ok := b.answers[1].p.(ProduceResponse)
	if !ok || first.ThrottleMs < 2000 || first.ThrottleMs > 2300 {
		t.Fatalf("12,000 bytes and some at 1000 bytes/s are %+v, want a throttle of 2 s and a little", b.answers[1].p)
	}
	if apart := b.answers[2].at - b.answers[1].at; apart < first.ThrottleMs*ms {
		t.Errorf("the second request was answered %d ms after the first, which was throttled %d ms", apart/ms, first.ThrottleMs)
	}
}

// throttledMove moves a partition with 100 batches of 10,000 bytes to brokers of its own under throttles, and says how
// many ms the new replica took to be in sync.
func throttledMove(t *testing.T, leader, follower int64) int64 {
	b := newBench(t, 3, func(w *World) { w.Broker.ReplicaFetchMaxBytes = 50_000 }) // or all comes in one answer
	props := topicDefaults()
	props.LeaderThrottled, props.FollowerThrottled = "0:1", "0:3"
	tp := b.topicWith("orders", props, []NodeID{1, 2})
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{Broker: 1}, Leader: leader}})
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{Broker: 3}, Follower: follower}})
	b.run(1000 * ms)
	for c := uint32(1); c <= 100; c++ {
		b.Probe(0, 1, c, c, ProduceRequest{Acks: config.AcksAll, TimeoutMs: 30_000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(10_000)}}})
		b.runUntil(60_000*ms, "an answer", func() bool { return b.answers[c].p != nil })
	}
	b.run(12_000 * ms) // what broker 2 copied in sync has counted, and is forgotten
	start := b.Now
	b.apply(Reassign{TP: tp, Replicas: []NodeID{1, 2, 3}})
	b.runUntil(300_000*ms, "broker 3 in the ISR", func() bool { return len(b.Metadata().partition(tp).ISR) == 3 })
	took := (b.Now - start) / ms
	// Who is in sync is not held back, however far over the rate the brokers are: acks=all comes at once.
	start = b.Now
	b.Probe(0, 1, 200, 200, ProduceRequest{Acks: config.AcksAll, TimeoutMs: 30_000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(500_000)}}})
	b.Probe(0, 1, 201, 201, ProduceRequest{Acks: config.AcksAll, TimeoutMs: 30_000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(10)}}})
	b.runUntil(60_000*ms, "an answer", func() bool { return b.answers[201].p != nil })
	if wait := (b.Now - start) / ms; wait > 100 {
		t.Errorf("acks=all took %d ms with everybody in sync", wait)
	}
	return took
}

// R3.35, KIP-73: a move goes at the throttled rate, on either side, and no replica that is in sync is held back.
func TestThrottledReassignmentR335(t *testing.T) {
	free := throttledMove(t, 0, 0)
	if free > 1000 {
		t.Errorf("without a throttle the move took %d ms", free)
	}
	// 1 MB at 100 kB/s; the rate counts from the first window on, and one answer more than allowed may be under way.
	for _, rates := range [][2]int64{{100_000, 0}, {0, 100_000}} {
		if took := throttledMove(t, rates[0], rates[1]); took < 8000 || took > 13_000 {
			t.Errorf("throttled by %v the move took %d ms, want about 10 s", rates, took)
		}
	}
}

// The list of throttled replicas is by partition and broker.
func TestThrottledReplicasR335(t *testing.T) {
	for _, c := range []struct {
		list      string
		partition int32
		broker    NodeID
		want      bool
	}{{"*", 3, 1, true}, {"0:1,1:2", 1, 2, true}, {"0:1,1:2", 1, 1, false}, {"0:11", 0, 1, false}, {"", 0, 1, false}} {
		if got := lists(c.list, c.partition, c.broker); got != c.want {
			t.Errorf("%q has partition %d on broker %d: %v", c.list, c.partition, c.broker, got)
		}
	}
}
