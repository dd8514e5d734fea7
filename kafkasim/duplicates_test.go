package kafkasim

import (
	"testing"

	"kafkalab/kafkasim/machine"
)

// Requests that arrive twice and late. TCP does not do that, but a retry looks like it, and a proxy or a former self of
// a client can: copies of what producers have sent are put on the wire again, at any later time.

// copies are produce requests of idempotent producers that were seen on the wire.
type copies struct {
	*running
	pick chooser
	kept []machine.ProduceRequest
	sent uint32
}

// look keeps what is on the wire now.
func (x *copies) look() {
	for i := range x.s.Queue {
		if p, ok := x.s.Queue[i].Payload.(machine.ProduceRequest); ok && p.Parts[0].Batch.ProducerID >= 0 && x.s.Queue[i].From.IsClient() {
			x.kept = append(x.kept, p)
		}
	}
	if n := len(x.kept); n > 12 {
		x.kept = x.kept[n-12:]
	}
}

// again sends one of them again, to whoever leads now or to another broker, on a connection of its own.
func (x *copies) again() {
	if len(x.kept) == 0 {
		return
	}
	p := x.kept[x.pick(len(x.kept))]
	to := machine.NodeID(1 + x.pick(len(x.s.Brokers)))
	if leader := x.first().Leader; leader > 0 && x.pick(3) > 0 {
		to = leader
	}
	x.sent++
	x.s.Probe(0, to, x.sent, x.sent, p)
}

// duplicated runs a schedule with requests that arrive again.
func duplicated(seed uint64, m machine.Mutant) (f *failure, again uint32) {
	s := drawSchedule(draws(seed))
	s.world.producers = []int{[]int{0, 1, 5}[seed%3]} // the idempotent ones
	s.world.cleanup, s.world.kafka, s.world.without = 0, "", ""
	r := s.start(m)
	r.setUp(&s)
	x := &copies{running: r, pick: draws(seed ^ 99)}
	for _, o := range s.ops {
		r.act(o)
		r.act(op{kind: opSend, n: o.n})
		for range 8 {
			r.Steps(1 + x.pick(4))
			if x.look(); x.pick(3) == 0 {
				x.again()
			}
		}
		if f := r.broken(); f != nil {
			return f, x.sent
		}
	}
	return nil, x.sent
}

// Invariant 23: no duplicate and no gap per producer id and partition (P-82 to P-87), with requests that are delayed and
// arrive twice while brokers crash and leaders change.
func TestDuplicatedRequestsLeaveNoDuplicates(t *testing.T) {
	schedules := uint64(1500)
	if testing.Short() {
		schedules = 150
	}
	all := uint32(0)
	for seed := range schedules {
		f, again := duplicated(seed, machine.NoMutant)
		if f != nil {
			t.Fatalf("schedule %d: %s", seed, f.text)
		}
		all += again
	}
	t.Logf("%d requests arrived again in %d schedules", all, schedules)
	for _, m := range []machine.Mutant{machine.AppendsDuplicates, machine.TakesOldEpochs, machine.IgnoresSequence} {
		caught := false
		for seed := uint64(0); seed < 400 && !caught; seed++ {
			f, _ := duplicated(seed, m)
			caught = f != nil && f.number == 23
		}
		if !caught {
			t.Errorf("mutant %d lives", m)
		}
	}
}
