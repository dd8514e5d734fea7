package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// BenchmarkEvents measures how many events a second the machine steps: three brokers, one partition with
// three replicas, a probe that always has an acks=all request in flight. The budget is a million.
func BenchmarkEvents(b *testing.B) {
	x := newBench(b, 3)
	tp := x.topic("orders", 2, []NodeID{1, 2, 3})
	x.run(1000 * ms)
	x.Quiet = true
	props := x.produceRequest(tp, config.AcksAll, "v")
	send := func() { x.Probe(0, 1, 1, 1, props) }
	send()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		e, _ := x.Step()
		if e.To >= FirstProbe {
			send()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkIdleEvents measures the events of a cluster that only keeps itself going.
func BenchmarkIdleEvents(b *testing.B) {
	x := newBench(b, 3)
	x.topic("orders", 2, []NodeID{1, 2, 3}, []NodeID{2, 3, 1}, []NodeID{3, 1, 2})
	x.run(1000 * ms)
	x.Quiet = true
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		x.Step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// lesson is the 3-broker cluster of a lesson, with traffic.
func lesson(b testing.TB) *State {
	x := newBench(b, 3)
	tp := x.topic("orders", 2, []NodeID{1, 2, 3}, []NodeID{2, 3, 1}, []NodeID{3, 1, 2})
	for range 50 {
		x.produce(1, tp, config.AcksAll, "v")
	}
	return x.State
}

// BenchmarkCloneLesson copies a lesson's world; the budget is 10 µs.
func BenchmarkCloneLesson(b *testing.B) {
	s := lesson(b)
	b.ReportAllocs()
	for b.Loop() {
		s.Clone()
	}
}

// BenchmarkCloneThousandPartitions copies a larger world; the budget is 1 ms.
func BenchmarkCloneThousandPartitions(b *testing.B) {
	x := newBench(b, 3)
	var assignment [][]NodeID
	for i := range 1000 {
		n := NodeID(i % 3)
		assignment = append(assignment, []NodeID{1 + n, 1 + (n+1)%3, 1 + (n+2)%3})
	}
	x.topic("big", 2, assignment...)
	for range 20_000 {
		x.Step()
	}
	b.ReportAllocs()
	for b.Loop() {
		x.Clone()
	}
}
