package machine

import "slices"

// Delaying and hurrying single messages by hand.
//
// A connection is a stream, so both keep its order, as a hold does: what follows a delayed message on its
// connection waits behind it, and what is before a message that is delivered now arrives now too. Other
// connections between the same nodes go on. Nothing of this is Kafka's.

// Backlogged is a connection whose stream waits behind a delayed message, in the direction from From to To.
type Backlogged struct {
	From, To NodeID
	Conn     uint32
	Until    int64 // µs: when that message arrives
}

// stream tells whether two messages travel the same way on one connection.
func stream(a, b *Event) bool {
	return a.Conn != 0 && a.Conn == b.Conn && a.From == b.From && a.To == b.To
}

// delay lets a message arrive later, and what is behind it on its connection not before it.
func (s *State) delay(seq uint64, by int64) {
	e := s.remove(s.inFlight(seq))
	behind := s.takeStream(func(x *Event) bool { return stream(x, &e) && e.before(x) })
	e.At += by
	s.push(e)
	for _, x := range behind {
		x.At = max(x.At, e.At)
		s.push(x)
	}
	if e.Conn == 0 {
		return
	}
	s.Delays = slices.DeleteFunc(slices.Clone(s.Delays), func(d Backlogged) bool { return d.Until < s.Now || d.names(&e) && d.Until <= e.At })
	s.Delays = append(s.Delays, Backlogged{e.From, e.To, e.Conn, e.At})
}

func (d *Backlogged) names(e *Event) bool {
	return d.Conn == e.Conn && d.From == e.From && d.To == e.To
}

// behindDelayed is when a message that is sent now and would arrive at a time arrives, behind what was delayed on
// its connection.
func (s *State) behindDelayed(e *Event) int64 {
	at := e.At
	for i := range s.Delays {
		if d := &s.Delays[i]; d.names(e) {
			at = max(at, d.Until)
		}
	}
	return at
}

// deliver lets a message arrive now, and before it what is before it on its connection.
func (s *State) deliver(seq uint64) {
	e := s.Queue[s.inFlight(seq)]
	first := s.takeStream(func(x *Event) bool { return x.Seq == seq || stream(x, &e) && x.before(&e) })
	for _, x := range first {
		x.At = s.Now
		s.push(x)
	}
}

// takeStream takes messages off the wire, in the order of their arrival.
func (s *State) takeStream(wanted func(*Event) bool) []Event {
	var out []Event
	for i := 0; i < len(s.Queue); {
		if e := &s.Queue[i]; e.From != NoNode && wanted(e) {
			out = append(out, s.remove(i))
			i = 0 // a heap: what was moved here may be one of them
		} else {
			i++
		}
	}
	slices.SortFunc(out, func(a, b Event) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	return out
}
