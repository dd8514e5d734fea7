package machine

import "slices"

// Holding back messages by hand.
//
// A hold is a pattern (message_pattern.go): every message that it names is taken off the wire and waits until
// the holds are released. What follows a held message on its connection waits behind it, since a
// connection is a stream. Nothing of this is Kafka's; it is how a learner reorders the world.

// HoldMessages holds back every message that Pattern names, on the wire now or sent later.
type HoldMessages struct{ Pattern string }

// ReleaseMessages ends all holds; what was held travels from now on, in order.
type ReleaseMessages struct{}

func (HoldMessages) command()    {}
func (ReleaseMessages) command() {}

// holds tells whether a message is to be held back.
func (s *State) holds(e *Event) bool {
	if len(s.Holds) == 0 {
		return false
	}
	if e.Conn != 0 && slices.ContainsFunc(s.Held, func(h Event) bool { return h.From == e.From && h.To == e.To && h.Conn == e.Conn }) {
		return true
	}
	return slices.ContainsFunc(s.Holds, func(text string) bool {
		p, ok := ParsePattern(text)
		return ok && p.Matches(s, e)
	})
}

// holdBack begins a hold: what is on the wire and matches is taken off it, in the order of arrival.
func (s *State) holdBack(pattern string) {
	s.Holds = append(slices.Clone(s.Holds), pattern)
	wire := slices.Clone(s.Queue)
	slices.SortFunc(wire, func(a, b Event) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	for i := range wire {
		if e := wire[i]; e.From != NoNode && s.holds(&e) {
			s.remove(s.inFlight(e.Seq))
			s.Held = append(s.Held, e)
		}
	}
}

// release lets go of everything that is held.
func (s *State) release() {
	held := s.Held
	s.Holds, s.Held = nil, nil
	for _, e := range held {
		if l := s.link(e.From, e.To); l.Cut {
			l.Held = append(l.Held, e)
		} else {
			s.launch(l, e)
		}
	}
}
