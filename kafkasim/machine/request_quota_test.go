package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// KIP-124: request_percentage is the time of one thread. A client that costs more is muted until the rate is down
// again, for no longer than one window; an answer with records says so.
func TestRequestPercentage(t *testing.T) {
	b := newBench(t, 1)
	tp := b.topic("orders", 1, []NodeID{1})
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{ClientID: ProbeClientID}, Work: WorkQuota{Requests: 1000}}}) // 1 %: 10 ms/s
	b.run(1000 * ms)
	// In the first moments ten windows' worth is free: 100 ms, less what the windows hold already.
	ask := func(c uint32) int64 {
		b.Probe(0, 1, 7, c, ProduceRequest{Acks: config.AcksLeader, TimeoutMs: 1000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(100_000)}}})
		b.runUntil(60_000*ms, "an answer", func() bool { return b.answers[c].p != nil })
		return b.answers[c].p.(ProduceResponse).ThrottleMs
	}
	n, first := uint32(1), int64(0)
	for ; n < 200; n++ {
		if first = ask(n); first > 0 {
			break
		}
	}
	// Each request is 0.2 ms and 98 KiB, so about 1.18 ms: the 85th is above 100 ms.
	if n < 80 || n > 90 || first < 1 || first > 1000 {
		t.Fatalf("request %d was the first to be throttled, by %d ms; want about the 85th, by no more than a window", n, first)
	}
	for range 20 {
		n++
		if wait := ask(n); wait > 1000 {
			t.Fatalf("throttled %d ms, want no more than a window of 1 s", wait)
		}
	}
	// Far above it the throttle is one window exactly.
	for c := n + 1; c <= n+600; c++ {
		b.Probe(0, 1, c, c, ProduceRequest{Acks: config.AcksLeader, TimeoutMs: 1000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(100_000)}}})
	}
	last := n + 600
	b.runUntil(60_000*ms, "the last answer", func() bool { return b.answers[last].p != nil })
	if wait := b.answers[last].p.(ProduceResponse).ThrottleMs; wait != 1000 {
		t.Errorf("far above the quota the throttle is %d ms, want 1000", wait)
	}
}

// What is exempt: produce requests without an answer, and what brokers ask each other.
func TestRequestPercentageExempts(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{User: QuotaDefault}, Work: WorkQuota{Requests: 1}}})
	b.run(1000 * ms)
	for c := uint32(1); c <= 50; c++ {
		b.Probe(0, 1, c, c, ProduceRequest{Acks: 0, TimeoutMs: 1000, Parts: []ProducePart{{TP: tp, Batch: quotaBatch(10_000)}}})
	}
	b.run(5000 * ms)
	for _, x := range []NodeID{1, 2} {
		if n := len(b.broker(x).Quotas.Clients); n != 0 {
			t.Errorf("broker %d counts the time of %d clients, want none", x, n)
		}
		if end := b.broker(x).replica(tp).Log.End; end != 50 {
			t.Errorf("broker %d has %d records, want 50", x, end)
		}
	}
	// A fetch above the quota is answered empty, with the time, and its bytes do not count.
	fetch := FetchRequest{Replica: NoNode, BrokerEpoch: -1, SessionEpoch: FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20,
		Parts: []FetchPart{{TP: tp, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20}}}
	b.Probe(0, 1, 98, 98, fetch)
	b.runUntil(60_000*ms, "the answer to the fetch", func() bool { return b.answers[98].p != nil })
	if a := b.answers[98].p.(FetchResponse); a.ThrottleMs != 1000 || len(a.Parts) > 0 {
		t.Errorf("a fetch was told %d ms and got %d partitions, want 1000 ms and none", a.ThrottleMs, len(a.Parts))
	}
	// Metadata is a request like others: the second is read when the first one's time is over.
	b.Probe(0, 1, 99, 99, MetadataRequest{})
	b.Probe(0, 1, 99, 100, MetadataRequest{})
	b.runUntil(60_000*ms, "both", func() bool { return b.answers[100].p != nil })
	if apart := (b.answers[100].at - b.answers[99].at) / ms; apart < 900 {
		t.Errorf("the second answer came %d ms after the first", apart)
	}
}

// KIP-599: a bucket holds eleven seconds' worth. It may go below zero, and nothing is made until it is back.
func TestControllerMutationRate(t *testing.T) {
	b := newBench(t, 1, func(w *World) { w.Broker.ControllerQuota = config.DefaultControllerQuota })
	b.apply(AlterQuota{Quota{Entity: QuotaEntity{User: AnonymousUser}, Work: WorkQuota{Mutations: 2000}}}) // 2/s
	make := func(name string, partitions int32) Result {
		return b.Apply(CreateTopic{Name: name, Partitions: partitions, ReplicationFactor: 1, Props: topicDefaults()})
	}
	refused := func(r Result, wait int64) {
		t.Helper()
		if r.Error != THROTTLING_QUOTA_EXCEEDED || r.Throttle.Ms != wait {
			t.Errorf("answered %v, throttle %d ms; want THROTTLING_QUOTA_EXCEEDED, %d ms", r.Error, r.Throttle.Ms, wait)
		}
	}
	done := func(r Result) {
		t.Helper()
		if r.Error != NONE {
			t.Errorf("answered %v", r.Error)
		}
	}
	done(make("a", 20)) // 22 less 20
	done(make("b", 10)) // 2 less 10: the bucket may go below
	refused(make("c", 1), 4000)
	refused(b.Apply(AddPartitions{Topic: "a", Total: 21}), 4000)
	refused(b.Apply(DeleteTopic{Topic: "b"}), 4000)
	done(b.Apply(AlterTopic{Topic: "a", Props: topicDefaults()})) // makes no partition
	if r := make("a", 1); r.Error != TOPIC_ALREADY_EXISTS {
		t.Errorf("a topic that is there: %v, want its own error first", r.Error)
	}
	b.run(3999 * ms)
	refused(make("c", 1), 1)
	b.run(1 * ms)
	done(make("c", 1))
	b.run(500 * ms)
	done(b.Apply(DeleteTopic{Topic: "b"}))
	refused(make("d", 1), 5000)
	b.run(60_000 * ms) // no more than eleven seconds' worth comes together
	done(make("d", 22))
	done(make("e", 1))
	refused(make("f", 1), 500)
}
