package kafkasim

import (
	"cmp"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// maxFlights is how many messages a Wire tells: more than any picture shows.
const maxFlights = 20_000

// Flights tells what was on the wire between two moments (µs of virtual time), each message from its
// sending to its end. It repeats the history from the last checkpoint before, so it costs as much as
// running that stretch again.
func (c *Cluster) Flights(from, to int64) *view.Wire {
	from, to = max(from, 0), min(to, c.s.Now)
	w := &wireLog{wire: &view.Wire{From: from, To: to}, known: map[uint64]int{}}
	if to < from {
		return w.wire
	}
	w.repeat(&c.history, newSent(c.s))
	return w.finish()
}

// wireLog follows messages while a stretch of history is repeated.
type wireLog struct {
	wire  *view.Wire
	known map[uint64]int // number: its place in wire.Flights, of those that have not ended
	last  uint64         // numbers up to here were seen
}

// repeat runs the history over the stretch.
func (w *wireLog) repeat(h *history, present *sent) {
	m := len(h.marks) - 1
	for m > 0 && h.marks[m].state.Now >= w.wire.From {
		m--
	}
	s, steps, n := h.marks[m].state.Clone(), h.marks[m].steps, h.marks[m].entries
	s.Quiet = true
	w.look(s, -1)
	for {
		limit := h.steps
		if n < len(h.entries) {
			limit = h.entries[n].steps
		}
		for ; steps < limit; steps++ {
			e, ok := s.Peek()
			if !ok || e.At > w.wire.To {
				w.still(s)
				return
			}
			w.arrives(s, &e)
			s.Step()
			w.look(s, s.Now)
			interruptible(steps)
		}
		if n == len(h.entries) || h.entries[n].at > w.wire.To {
			w.still(s)
			return
		}
		if drop, ok := h.entries[n].cmd.(machine.DropMessage); ok {
			w.end(drop.Seq, h.entries[n].at, view.FateDropped)
		}
		h.entries[n].carryOut(s, present)
		w.look(s, s.Now)
		n++
	}
}

// look takes up the messages that were sent since it last looked.
func (w *wireLog) look(s *machine.State, at int64) {
	if s.Seq == w.last {
		return
	}
	seen := w.last
	take := func(list []machine.Event) {
		for i := range list {
			if e := &list[i]; e.From != machine.NoNode && e.Seq > seen && e.Seq <= s.Seq {
				w.sent(s, e, at)
			}
		}
	}
	take(s.Queue)
	take(s.Held)
	for i := range s.Links {
		take(s.Links[i].Held)
	}
	w.last = s.Seq
}

func (w *wireLog) sent(s *machine.State, e *machine.Event, at int64) {
	if len(w.wire.Flights) >= 2*maxFlights {
		w.drop(len(w.wire.Flights) - maxFlights)
	}
	text := s.DescribePayload(e.Payload)
	api, _, _ := strings.Cut(text, " ")
	w.known[e.Seq] = len(w.wire.Flights)
	w.wire.Flights = append(w.wire.Flights, view.Flight{Number: int(e.Seq), Sent: at, Ended: e.At, From: s.NodeName(e.From), To: s.NodeName(e.To),
		API: api, Text: text, Housekeeping: housekeeping(e.Payload)})
}

// drop forgets the oldest n flights.
func (w *wireLog) drop(n int) {
	w.wire.Omitted += n
	w.wire.Flights = append([]view.Flight{}, w.wire.Flights[n:]...)
	for seq, i := range w.known {
		if w.known[seq] = i - n; i < n {
			delete(w.known, seq)
		}
	}
}

// arrives ends the flight of the message that the next step delivers.
func (w *wireLog) arrives(s *machine.State, e *machine.Event) {
	if e.From == machine.NoNode {
		return
	}
	fate := view.FateDelivered
	if !s.Reaches(e) {
		fate = view.FateDead
	}
	w.end(e.Seq, e.At, fate)
}

func (w *wireLog) end(number uint64, at int64, fate view.Fate) {
	i, ok := w.known[number]
	if !ok {
		return
	}
	w.wire.Flights[i].Ended, w.wire.Flights[i].Fate = at, fate
	delete(w.known, number)
}

// still says of what is left when it will arrive, or that it is held.
func (w *wireLog) still(s *machine.State) {
	for i := range s.Queue {
		if at, ok := w.known[s.Queue[i].Seq]; ok {
			w.wire.Flights[at].Ended = s.Queue[i].At
		}
	}
	held := slices.Clone(s.Held)
	for i := range s.Links {
		held = append(held, s.Links[i].Held...)
	}
	for i := range held {
		if at, ok := w.known[held[i].Seq]; ok {
			w.wire.Flights[at].Ended, w.wire.Flights[at].Fate = -1, view.FateHeld
		}
	}
}

// finish keeps what was on the wire in the stretch, by the time of its sending.
func (w *wireLog) finish() *view.Wire {
	w.wire.Flights = slices.DeleteFunc(w.wire.Flights, func(f view.Flight) bool {
		return f.Ended >= 0 && f.Ended < w.wire.From || f.Sent > w.wire.To
	})
	slices.SortStableFunc(w.wire.Flights, func(a, b view.Flight) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Number, b.Number))
	})
	return w.wire
}
