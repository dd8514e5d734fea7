package kafkasim

import (
	"kafkalab/kafkasim/machine"
)

// sendRun is a run of sends by one producer to one topic at one place of the history. The records
// themselves are where the producer put them; the run only knows their numbers.
type sendRun struct {
	producer  int32
	topic     string
	partition int32
	flags     uint32
	first     int64 // number of the first at its producer
	count     int64
}

func (r *sendRun) fork() *sendRun {
	f := *r
	return &f
}

// sent reads what the producers of a world were given, one after the other.
type sent struct {
	s         *machine.State
	producers map[int32]*machine.Sent
}

func newSent(s *machine.State) *sent { return &sent{s: s, producers: map[int32]*machine.Sent{}} }

// commands goes through the sends of a run.
func (x *sent) commands(r *sendRun) func(yield func(machine.Send) bool) {
	from := x.producers[r.producer]
	if from == nil {
		from = x.s.Sent(r.producer)
		x.producers[r.producer] = from
	}
	return func(yield func(machine.Send) bool) {
		cmd := machine.Send{Producer: r.producer, Topic: r.topic, Partition: r.partition}
		for i := range r.count {
			cmd.Record = from.Record(r.first + i)
			cmd.Record.Timestamp = machine.NoTimestamp
			if !yield(cmd) {
				return
			}
		}
	}
}

// carryOut repeats a run on another state.
func (x *sent) carryOut(r *sendRun, s *machine.State) {
	for cmd := range x.commands(r) {
		s.Send(cmd.Producer, cmd.Topic, cmd.Partition, cmd.Record, nil)
	}
}

// send hands a record to a producer and remembers it: plain ones join the run before them, those with
// headers or a time of their own are remembered as commands.
func (c *Cluster) send(cmd *machine.Send, plain bool, code func() string) *Delivery {
	words := c.refusedSend(cmd)
	if plain && c.history.continues(c.s.Now, cmd, c.s.Producers[cmd.Producer].Sends) {
		return c.delivery(cmd.Producer, c.s.Send(cmd.Producer, cmd.Topic, cmd.Partition, cmd.Record, nil), words)
	}
	t := c.traced()
	n := c.s.Send(cmd.Producer, cmd.Topic, cmd.Partition, cmd.Record, cmd.Headers)
	t.floor = t.len()
	if plain {
		c.history.sent(c.s.Now, t.len(), cmd, n)
	} else {
		c.history.command(c.s.Now, t.len(), *cmd)
		c.history.line(code(), c.s.Now)
	}
	return c.delivery(cmd.Producer, n, words)
}

// delivery makes a handle. There is one for each record that a cell sends, so they are made in rows.
func (c *Cluster) delivery(producer int32, number int64, words *string) *Delivery {
	if len(c.slab) == 0 {
		c.slab = make([]Delivery, 64)
	}
	d := &c.slab[0]
	c.slab = c.slab[1:]
	d.c, d.producer, d.number, d.words = c, producer, number, words
	return d
}

// continues adds the send that gets a number to the last run, if it follows it.
func (h *history) continues(at int64, cmd *machine.Send, number int64) bool {
	if len(h.entries) == 0 {
		return false
	}
	e := &h.entries[len(h.entries)-1]
	r := e.sends
	if r == nil || e.steps != h.steps || e.at != at || r.producer != cmd.Producer || r.topic != cmd.Topic ||
		r.partition != cmd.Partition || r.flags != cmd.Record.Flags || r.first+r.count != number {
		return false
	}
	r.count++
	return true
}

// sent begins a run with the send that got a number.
func (h *history) sent(at int64, notes int, cmd *machine.Send, number int64) {
	run := &sendRun{producer: cmd.Producer, topic: cmd.Topic, partition: cmd.Partition, flags: cmd.Record.Flags, first: number, count: 1}
	h.entries = append(h.entries, entry{steps: h.steps, at: at, notes: notes, sends: run})
	h.script.add(line{sends: run, at: at})
}
