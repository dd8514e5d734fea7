package kafkasim

import (
	"slices"
	"time"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// Cluster is a simulated Kafka cluster with its clients, at one moment of virtual time. Its verbs act on
// it or let time pass; its views are snapshots that do not change any more.
//
// A Cluster is for one goroutine.
type Cluster struct {
	world    World
	defaults clientDefaults
	s        *machine.State
	history  history
	trace    traceLog
	acked    ackIndex
	slab     []Delivery // of the next sends
	watch    *watched   // nil when nobody watches
	own      []ownPartitioner
	// listeners are called after the event or command that they are about.
	listeners []*listener
	planned   []planned         // by Meanwhile
	callbacks []*commitCallback // of CommitAsync
}

// clientDefaults are a preset's own properties of clients, under what NewProducer and NewConsumer are given.
type clientDefaults struct{ producer, consumer Config }

// newCluster starts a world. code is how a script makes it again.
func newCluster(w World, code string, producer, consumer Config) *Cluster {
	c := &Cluster{world: w, defaults: clientDefaults{producer, consumer}, s: machine.New(w.machine())}
	c.traced()
	c.history.begin(code, c.s)
	return c
}

// setup makes a preset's own topics and clients, and lets the news spread for ten ticks. A script has
// none of it: the preset's name says it all.
func (c *Cluster) setup(f func()) {
	f()
	c.RunFor(10 * c.world.Tick)
	c.history.setupDone()
}

// Now is the virtual time since the world began.
func (c *Cluster) Now() time.Duration { return duration(c.s.Now) }

// Hash is a number over everything that the cluster is: two clusters with one hash are in the same state.
func (c *Cluster) Hash() uint64 { return c.s.Hash() }

// String says in one line where the cluster stands.
func (c *Cluster) String() string {
	return clock(c.s.Now) + "  " + plural(len(c.s.Brokers), "broker") + ", " + plural(c.topicCount(), "topic") + ", " +
		plural(len(c.s.Clients), "client") + ", " + plural(c.history.steps, "event") + " so far"
}

// apply carries out a command now and remembers it. code is the Go statement that a script repeats it
// with; "" for a part of another verb.
func (c *Cluster) apply(code string, cmd machine.Command) machine.Result {
	t := c.traced()
	t.floor = t.len()
	words := c.interventionWords(cmd) // before: what it names may be gone after it
	r := c.s.Apply(cmd)
	c.history.command(c.s.Now, t.len(), cmd)
	if words != "" {
		t.add([]machine.Note{{Change: view.Change{At: c.s.Now, Kind: view.Command, Broker: -1, Partition: -1, Text: words}}})
	}
	c.history.line(code, c.s.Now)
	if c.watch != nil {
		c.watch.add(c.watch.w.Command(c.s, commandWords(code, cmd)))
	}
	c.traced()
	c.callFunctions()
	return r
}

// traced is the trace with everything that has happened. What sends have done waits in the state until somebody
// looks or something else happens, so that a row of them is one change from the start.
func (c *Cluster) traced() *traceLog {
	if notes := c.s.TakeNotes(); len(notes) > 0 {
		c.trace.add(notes)
	}
	return &c.trace
}

// step lets one event happen. Everything is in order before and after it, so that whoever interrupts a
// loop between two steps leaves a whole cluster behind.
func (c *Cluster) step() (machine.Event, bool) {
	t := c.traced()
	e, ok := c.s.Step()
	if !ok {
		return e, false
	}
	t.floor = t.len()
	if c.watch != nil {
		c.watch.events++
		c.watch.add(c.watch.w.After(c.s, e))
	}
	c.traced()
	c.history.stepped(c.s)
	c.callFunctions()
	return e, true
}

// producerIndex finds a producer by its id, -1 for none.
func (c *Cluster) clientIndex(name string, kind machine.ClientKind) int32 {
	i := slices.IndexFunc(c.s.Clients, func(m machine.Client) bool { return m.Name == name && m.Kind == kind })
	if i < 0 {
		return -1
	}
	return c.s.Clients[i].Index
}

// clientNames are the ids of all producers, or of all consumers.
func (c *Cluster) clientNames(kind machine.ClientKind) []string {
	var names []string
	for _, m := range c.s.Clients {
		if m.Kind == kind {
			names = append(names, m.Name)
		}
	}
	return names
}
