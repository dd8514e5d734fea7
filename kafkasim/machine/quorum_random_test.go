package machine

import (
	"fmt"
	"testing"
)

// The random worlds of random_test.go with three or five controllers, which crash, are stopped, and are cut
// off from each other and from brokers, one way or both. Invariant 27 and all others hold after every event
// (C23: the properties of Kafka's RaftEventSimulationTest), and in the end the quorum is one again.

// actController does one random thing to a controller or its links.
func (c *chaos) actController() {
	n := len(c.Controllers)
	id, other := FirstController+NodeID(c.below(n)), FirstController+NodeID(c.below(n))
	if c.below(3) == 0 {
		other = NodeID(1 + c.below(len(c.Brokers)))
	}
	switch n := c.below(16); {
	case n < 2:
		c.do(CrashController{id})
	case n < 6:
		c.do(StartController{id})
	case n == 6:
		c.do(PauseController{id})
	case n < 10:
		c.do(ResumeController{id})
	case n < 12 && id != other:
		c.do(CutLink{A: id, B: other})
	case n < 15 && id != other:
		c.do(HealLink{A: id, B: other})
	case id != other:
		c.do(SetLatency{id, other, int64(1+c.below(200)) * ms})
	}
}

// healControllers mends every link of the controllers and lets all of them run.
func (c *chaos) healControllers() {
	for i := range c.Controllers {
		id := FirstController + NodeID(i)
		c.do(ResumeController{id})
		for j := range c.Brokers {
			c.do(HealLink{A: NodeID(j + 1), B: id})
		}
		for j := range i {
			c.do(HealLink{A: FirstController + NodeID(j), B: id})
		}
	}
	for i := range c.Controllers {
		c.do(StartController{FirstController + NodeID(i)})
	}
}

// one fails unless the quorum is one: a leader, and everybody with its log, committed.
func (c *chaos) one() {
	c.t.Helper()
	active := c.ActiveController()
	if active == nil {
		c.t.Fatal("no active controller after everything was healed")
	}
	for i := range c.Controllers {
		x := &c.Controllers[i]
		if len(x.Log) != len(active.Log) || int(x.Quorum.HighWatermark) != len(x.Log) || x.Quorum.Leader != active.ID || x.Quorum.Epoch != active.Quorum.Epoch {
			c.t.Fatalf("controller %d: %s, log end %d, HW %d; the leader is %d in epoch %d with log end %d", x.ID, c.state(x.ID),
				len(x.Log), x.Quorum.HighWatermark, active.ID, active.Quorum.Epoch, len(active.Log))
		}
	}
	for i := range c.Brokers {
		if b := &c.Brokers[i]; b.Image.Offset != int64(len(active.Log)) {
			c.t.Fatalf("broker %d has read the metadata up to %d of %d", b.ID, b.Image.Offset, len(active.Log))
		}
	}
}

func TestRandomQuorums(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runChaos(t, seed, 60, 3+2*int32(seed&1)) })
	}
}

// A world with three controllers in the middle of an election goes on the same from a copy, from a file, and when
// it is run again.
func TestQuorumIsDeterministic(t *testing.T) {
	run := func() *bench {
		b := newBench(t, 3, threeControllers, func(w *World) { w.Seed = 11 })
		b.run(1000 * ms)
		b.topic("orders", 2, []NodeID{1, 2, 3})
		b.Apply(PauseController{3001})
		b.run(1900 * ms)
		b.Apply(CutLink{A: 3002, B: 3003})
		b.Apply(CreateTopic{Name: "pending", Partitions: 1, ReplicationFactor: 1, Props: topicDefaults()})
		return b
	}
	b := run()
	again, loaded, clone := run().State, reload(t, b.State), b.State.Clone()
	for i := range 8000 {
		switch i {
		case 3000:
			for _, s := range []*State{b.State, again, loaded, clone} {
				s.Apply(HealLink{A: 3002, B: 3003})
				s.Apply(ResumeController{3001})
				s.Apply(CrashController{3003})
			}
		case 6000:
			for _, s := range []*State{b.State, again, loaded, clone} {
				s.Apply(StartController{3003})
			}
		}
		for _, s := range []*State{b.State, again, loaded, clone} {
			s.Step()
		}
		if h := b.Hash(); i%500 == 0 && (again.Hash() != h || loaded.Hash() != h || clone.Hash() != h) {
			t.Fatalf("after %d steps the hashes differ: %x %x %x %x", i+1, h, again.Hash(), loaded.Hash(), clone.Hash())
		}
	}
	if b.controller(3002).Quorum.Epoch < 2 {
		t.Error("there was no election")
	}
}
