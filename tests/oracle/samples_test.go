package oracle

import (
	"encoding/json"
	"fmt"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Recordings about clocks are samples (`random: true`): a step measured something several times. We measure it
// as often, and each figure must lie in the range of what was recorded (R2.15, R2.16, R3.5, R2.6).

func init() {
	operations["measureShrinkSteadyWrites"] = (*replay).measureShrinkSteadyWrites
	operations["measureShrinkOneWriteAfterIdleStall"] = (*replay).measureShrinkOneWrite
	operations["measureExpand"] = (*replay).measureExpand
	operations["measureFence"] = (*replay).measureFence
	operations["measureFenceTwoAtOnce"] = (*replay).measureFenceTwoAtOnce
	operations["measureFollowerHw"] = (*replay).measureFollowerHW
}

// The recorder's own allowances for what it measured, in ms, and the steps in which it looked.
const (
	early, late = 20, 60
	looked      = 50
)

// samples are the figures of one name in every run, and the range that Kafka's rule gives where the phase of a
// clock is chance, so that few samples do not fill it.
type samples struct {
	low, high int64
	phase     bool
}

func (s *samples) add(ms ...int64) {
	for _, x := range ms {
		if s.high == 0 && s.low == 0 {
			s.low, s.high = x, x
		}
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
}

// recorded reads the samples of a name from the runs of a step.
func recorded(saw json.RawMessage, name string, phase bool) (samples, error) {
	var runs []map[string]json.RawMessage
	s := samples{phase: phase}
	if err := json.Unmarshal(saw, &runs); err != nil {
		return s, err
	}
	for _, run := range runs {
		var plain []int64
		var full struct {
			SamplesMs, RuleSays []int64
		}
		switch {
		case run[name] == nil:
			return s, fmt.Errorf("a run has no %s", name)
		case json.Unmarshal(run[name], &plain) == nil:
			s.add(plain...)
		case json.Unmarshal(run[name], &full) == nil:
			s.add(full.SamplesMs...)
			if phase {
				s.add(full.RuleSays...)
			}
		}
	}
	return s, nil
}

// within compares one of our figures, in µs, with what was recorded.
func (s samples) within(name string, took int64) error {
	ms := took / millis
	if ms < s.low-early || ms > s.high+late {
		return fmt.Errorf("%s took %d ms, recorded were %d to %d", name, ms, s.low, s.high)
	}
	return nil
}

// measure repeats a measurement as often as the step did. Between two, time passes that is no multiple of any
// interval, so that their phases differ.
func (r *replay) measure(op Operation, once func(i int) error) error {
	for i := range int(op.num("samples", 1)) {
		r.run(int64(1000+137*i) * millis)
		if err := once(i); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	return nil
}

// write sends a record that is not waited for.
func (r *replay) write(acks int8) (correlation uint32) {
	tp := r.tp(nil)
	r.correlation++
	r.Probe(0, r.registration(tp).Leader, r.correlation, r.correlation, machine.ProduceRequest{Acks: acks, TimeoutMs: 30_000,
		Parts: []machine.ProducePart{{TP: tp, Batch: r.batch([]string{"x"})}}})
	return r.correlation
}

func (r *replay) isrBecomes(n int) error {
	if tp := r.tp(nil); !r.await(patience, func() bool { return len(r.registration(tp).ISR) == n }) {
		return fmt.Errorf("the ISR stays %v", r.registration(tp).ISR)
	}
	return nil
}

func (r *replay) measureShrinkSteadyWrites(op Operation, saw json.RawMessage) error {
	want, err := recorded(saw, "decision", true)
	if err != nil {
		return err
	}
	tp := r.tp(nil)
	return r.measure(op, func(int) error {
		_ = r.stallReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		start := r.Now
		for len(r.registration(tp).ISR) > 1 && r.Now < start+patience {
			r.write(config.AcksLeader)
			r.run(op.num("writeEveryMs", 20) * millis)
		}
		took := r.Now - start
		_ = r.resumeReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		if err := r.isrBecomes(2); err != nil {
			return err
		}
		return want.within("the shrink", took)
	})
}

// measureShrinkOneWrite is R2.15's other half: who has everything does not lag, however silent the link.
func (r *replay) measureShrinkOneWrite(op Operation, saw json.RawMessage) error {
	want, err := recorded(saw, "decision", true)
	if err != nil {
		return err
	}
	return r.measure(op, func(i int) error {
		_ = r.stallReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		r.run(op.num("idleStallMs", 0) * millis)
		if n := len(r.registration(r.tp(nil)).ISR); n != 2 {
			return fmt.Errorf("the ISR has %d members after the idle stall, want 2", n)
		}
		start := r.Now
		r.write(config.AcksLeader)
		if err := r.isrBecomes(1); err != nil {
			return err
		}
		took := r.Now - start
		_ = r.resumeReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		if err := r.isrBecomes(2); err != nil {
			return err
		}
		return want.within("the shrink", took)
	})
}

// measureExpand looks as the recorder did, every 50 ms.
func (r *replay) measureExpand(op Operation, saw json.RawMessage) error {
	want, err := recorded(saw, "expand", false)
	if err != nil {
		return err
	}
	want.low -= looked
	return r.measure(op, func(int) error {
		_ = r.stallReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		r.write(config.AcksLeader)
		if err := r.isrBecomes(1); err != nil {
			return err
		}
		_ = r.resumeReplication(Operation{"leaderBroker": json.RawMessage("1")}, nil)
		start := r.Now
		if err := r.isrBecomes(2); err != nil {
			return err
		}
		return want.within("the expansion", r.Now-start)
	})
}

// fenceState waits until a broker is fenced, or no longer is.
func (r *replay) fenceState(id machine.NodeID, fenced bool) (took int64, err error) {
	start := r.Now
	if !r.await(patience, func() bool { return r.Metadata().Brokers[id-1].Fenced == fenced }) {
		return 0, fmt.Errorf("broker %d: fenced does not become %v", id, fenced)
	}
	return r.Now - start, nil
}

func (r *replay) measureFence(op Operation, saw json.RawMessage) error {
	if how := op.str("how"); how != "sigstop" {
		return fmt.Errorf("%w: measureFence by %q", errInexpressible, how)
	}
	fenced, err := recorded(saw, "fenced", true)
	if err != nil {
		return err
	}
	back, err := recorded(saw, "unfencedAfterCont", false)
	if err != nil {
		return err
	}
	back.low = 0 // the recorder's processes needed some time to go on at all, ours do not
	return r.measure(op, func(i int) error {
		id := machine.NodeID(i%len(r.Brokers) + 1)
		r.Apply(machine.PauseBroker{Broker: id})
		took, err := r.fenceState(id, true)
		if err != nil {
			return err
		}
		r.Apply(machine.ResumeBroker{Broker: id})
		again, err := r.fenceState(id, false)
		if err != nil {
			return err
		}
		if err := fenced.within("the fencing", took); err != nil {
			return err
		}
		return back.within("the unfencing", again)
	})
}

// measureFenceTwoAtOnce stops two brokers: a run of the check fences one, and the next run comes at once (R3.5).
func (r *replay) measureFenceTwoAtOnce(op Operation, saw json.RawMessage) error {
	want, err := recorded(saw, "gapMs", false)
	if err != nil {
		return err
	}
	return r.measure(op, func(int) error {
		r.Apply(machine.PauseBroker{Broker: 2})
		r.Apply(machine.PauseBroker{Broker: 3})
		at := [2]int64{}
		fenced := func(id int) bool { return r.Metadata().Brokers[id-1].Fenced }
		done := r.await(patience, func() bool {
			for i := range at {
				if fenced(i+2) && at[i] == 0 {
					at[i] = r.Now
				}
			}
			return at[0] != 0 && at[1] != 0
		})
		r.Apply(machine.ResumeBroker{Broker: 2})
		r.Apply(machine.ResumeBroker{Broker: 3})
		if !done || !r.await(patience, func() bool { return !fenced(2) && !fenced(3) }) {
			return fmt.Errorf("not both are fenced, or not both come back")
		}
		return want.within("the second fencing", max(at[0], at[1])-min(at[0], at[1]))
	})
}

// measureFollowerHW measures when a follower's high watermark passes a record: with the fetch after the one that
// took it, so after replica.fetch.wait.max.ms on an idle partition (R2.6).
func (r *replay) measureFollowerHW(op Operation, saw json.RawMessage) error {
	twice := op.str("after") == "second record 100 ms after the first: when the follower knows the first"
	if !twice && op.str("after") != "idle 1.5 s, one record" {
		return fmt.Errorf("%w: measureFollowerHw after %q", errInexpressible, op.str("after"))
	}
	names := []string{"ackMs", "followerHwMs"}
	if twice {
		names = []string{"firstKnownMs", "secondKnownMs"}
	}
	var want [2]samples
	for i, name := range names {
		var err error
		if want[i], err = recorded(saw, name, false); err != nil {
			return err
		}
	}
	return r.measure(op, func(int) error {
		r.run(1500 * millis)
		start, end := r.Now, r.replica(1, r.tp(nil)).Log.End
		took := [2]int64{}
		c := r.write(config.AcksAll)
		known := func(offset int64) int64 {
			r.await(patience, func() bool { return r.replica(2, r.tp(nil)).Log.HighWatermark >= offset })
			return r.Now - start
		}
		if twice {
			r.run(100 * millis)
			r.write(config.AcksAll)
			took[0], took[1] = known(end+1), known(end+2)
		} else {
			r.await(patience, func() bool { return r.answers[c] != nil })
			took[0] = r.Now - start
			took[1] = known(end + 1)
		}
		for i := range took {
			if err := want[i].within(names[i], took[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
