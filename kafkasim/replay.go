package kafkasim

import (
	"maps"

	"kafkalab/kafkasim/machine"
)

// Replay is another cluster that has lived through the same commands under other rules: each at its time, on
// brokers whose version of Kafka, switches and properties are those of w. What w leaves open is as in this
// cluster, and its Config and Switches come over this cluster's own. The clients are the same too, with the
// properties that they have here.
//
// Both can be compared side by side; this one is not touched:
//
//	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 7})
//	…                                                      // topics, records, crashes
//	old := c.Replay(kafkasim.World{Kafka: "0.10"})
//	fmt.Println(c.Check())
//	fmt.Println(old.Check())                               // which promise breaks under the old rules
//
// The new cluster's own future is free: it has a history, and can be replayed in its turn. A command about one
// message on the wire (Deliver, Drop, Delay) finds the same message of the same two nodes; if there is none at
// that time, that is a UsageError. Use Hold, which goes by patterns, where it matters.
func (c *Cluster) Replay(w World) *Cluster {
	w = c.world.under(w)
	n := &Cluster{world: w, defaults: c.defaults, s: machine.New(w.machine())}
	n.traced()
	n.history.begin(c.history.script.base, n.s)

	was := past{s: c.history.marks[0].state.Clone()} // this cluster, step by step
	was.s.Quiet = true
	var now moments
	present, again := newSent(c.s), map[sendPlace]int64{}
	for i := range c.history.entries {
		e := &c.history.entries[i]
		was.to(e.steps, e.at)
		n.reach(&was, &now)
		if e.sends != nil {
			again[e.sends.place()] = n.sendAgain(present, e.sends)
			e.carryOut(was.s, present)
			continue
		}
		there := n.apply("", n.translated(e.cmd, was.s))
		if here := was.s.Apply(e.cmd); here.ID != there.ID {
			misuse("Replay", "at t=%s %T has the answer %s here and %s under the other rules; what comes after it has no meaning there",
				inMs(e.at), e.cmd, here.Error, there.Error)
		}
	}
	was.to(c.history.steps, c.s.Now)
	n.reach(&was, &now)
	n.history.script = c.history.script.again(again)
	n.history.script.add(line{text: "c = c.Replay(" + w.literal() + ")", at: n.s.Now})
	return n
}

// under is a world with another's fields over its own.
func (w World) under(o World) World {
	const where = "Replay"
	if o.Brokers != 0 && o.Brokers != w.Brokers || o.Controllers != 0 && o.Controllers != w.Controllers {
		misuse(where, "the same commands need the same brokers and controllers: leave them out")
	}
	if o.Kafka == "" {
		o.Kafka = w.Kafka
	}
	if o.Seed == 0 {
		o.Seed = w.Seed
	}
	if o.Racks == nil {
		o.Racks = w.Racks
	}
	if o.LogDirs == 0 {
		o.LogDirs = w.LogDirs
	}
	if o.Tick == 0 {
		o.Tick = w.Tick
	}
	if o.Latency == 0 {
		o.Latency = w.Latency
	}
	o.Brokers, o.Controllers = w.Brokers, w.Controllers
	o.Config = merged(w.Config, o.Config)
	o.Switches = merged(w.Switches, o.Switches)
	return o.filled()
}

// merged is a map with another's entries over its own; nil when there are none.
func merged[M ~map[string]V, V any](base, over M) M {
	if len(base)+len(over) == 0 {
		return nil
	}
	m := maps.Clone(base)
	if m == nil {
		m = M{}
	}
	maps.Copy(m, over)
	return m
}

// moments counts the events of the present microsecond.
type moments struct{ at, events int64 }

func (m *moments) event(at int64) {
	m.events = m.until(at) + 1
	m.at = at
}

// until is how many events there have been at a time.
func (m *moments) until(at int64) int64 {
	if at != m.at {
		return 0
	}
	return m.events
}

// past is a cluster's state as its history is gone through.
type past struct {
	moments
	s     *machine.State
	steps int64
}

// to goes to a place of the history: after so many events, at a time.
func (p *past) to(steps, at int64) {
	for ; p.steps < steps; p.steps++ {
		interruptible(p.steps)
		e, _ := p.s.Step()
		p.event(e.At)
	}
	p.s.Now = at
}

// reach lets everything happen up to the time of another cluster's past. Where that one stands in the middle of
// a moment, with more to happen at the same microsecond, this one takes as many events of the moment.
func (c *Cluster) reach(p *past, now *moments) {
	at := p.s.Now
	next, ok := p.s.Peek()
	middle := ok && next.At == at
	way := c.passing("Replay, ms", at-c.s.Now)
	for n := int64(0); ; n++ {
		interruptible(n)
		e, ok := c.s.Peek()
		if !ok || e.At > at || middle && e.At == at && now.until(at) >= p.until(at) {
			break
		}
		c.step()
		now.event(e.At)
		way.at(n)
	}
	way.end()
	c.s.Now = at
}

// sendPlace names a run of sends: its producer and its first number.
type sendPlace struct {
	producer int32
	first    int64
}

func (r *sendRun) place() sendPlace { return sendPlace{r.producer, r.first} }

// sendAgain hands a run of sends of another cluster to the same producer here, and returns its first number, which
// may be another: steady traffic of the producer counts too.
func (c *Cluster) sendAgain(there *sent, run *sendRun) int64 {
	first := c.s.Producers[run.producer].Sends
	for cmd := range there.commands(run) {
		c.send(&cmd, true, nil)
	}
	return first
}

// again is the script of a cluster that did the same, where runs of sends have other numbers.
func (s *script) again(first map[sendPlace]int64) script {
	f := s.fork()
	for i := range f.lines {
		if l := &f.lines[i]; l.sends != nil {
			l.sends = l.sends.fork()
			l.sends.first = first[l.sends.place()]
		}
	}
	return f
}

// translated is a command of another cluster's history, meant for this one; was is that cluster at this place.
func (c *Cluster) translated(cmd machine.Command, was *machine.State) machine.Command {
	switch m := cmd.(type) {
	case machine.DeliverMessage:
		m.Seq = c.sameMessage(was, m.Seq, "delivers")
		return m
	case machine.DropMessage:
		m.Seq = c.sameMessage(was, m.Seq, "drops")
		return m
	case machine.DelayMessage:
		m.Seq = c.sameMessage(was, m.Seq, "delays")
		return m
	}
	return cmd
}

// sameMessage finds the message that a command of another cluster's history means: of the same nodes, with the
// same words, or else the first of its kind.
func (c *Cluster) sameMessage(was *machine.State, seq uint64, verb string) uint64 {
	var meant machine.Event
	for i := range was.Queue {
		if was.Queue[i].Seq == seq {
			meant = was.Queue[i]
		}
	}
	words := was.Describe(meant)
	best, exact := uint64(0), false
	for _, e := range c.s.Queue {
		if e.From == machine.NoNode || e.From != meant.From || e.To != meant.To || machine.KindOf(e.Payload) != machine.KindOf(meant.Payload) {
			continue
		}
		same := c.s.Describe(e) == words
		if best == 0 || same && !exact || same == exact && e.Seq < best {
			best, exact = e.Seq, same
		}
	}
	if best == 0 {
		misuse("Replay", "at t=%s the history %s %q, and under the other rules no such message is on the wire then", inMs(c.s.Now), verb, words)
	}
	return best
}
