package machine

// Event is one thing that will happen: a message that arrives or a timer that fires.
type Event struct {
	At   int64 // µs
	Seq  uint64
	To   NodeID
	From NodeID // NoNode for a timer
	// Incarnation is that of the target when the event was made; a node that was restarted since
	// does not get the old one's timers, and messages for the old process meet a closed port.
	Incarnation uint32
	// Conn and Correlation name the connection and the request on it; zero for timers.
	Conn        uint32
	Correlation uint32
	Payload     Payload
}

// Payload is what an event says. The set is closed: payload.go lists it.
//
//sumtype:decl
type Payload interface{ payload() }

// before orders events by (At, Seq): never by heap luck.
func (e *Event) before(o *Event) bool {
	return e.At < o.At || e.At == o.At && e.Seq < o.Seq
}

// push puts an event into the queue, a binary heap in State.
func (s *State) push(e Event) {
	q := append(s.Queue, e)
	i := len(q) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q[i].before(&q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
	s.Queue = q
}

// pop takes the earliest event out of the queue, which must not be empty.
func (s *State) pop() Event { return s.remove(0) }

// remove takes the event at heap position i out of the queue.
func (s *State) remove(i int) Event {
	q := s.Queue
	e := q[i]
	last := len(q) - 1
	q[i] = q[last]
	q[last] = Event{}
	s.Queue = q[:last]
	if i < last {
		s.sink(i)
		s.rise(i)
	}
	return e
}

func (s *State) sink(i int) {
	q := s.Queue
	for {
		down := 2*i + 1
		if down >= len(q) {
			return
		}
		if down+1 < len(q) && q[down+1].before(&q[down]) {
			down++
		}
		if !q[down].before(&q[i]) {
			return
		}
		q[i], q[down] = q[down], q[i]
		i = down
	}
}

func (s *State) rise(i int) {
	q := s.Queue
	for i > 0 {
		up := (i - 1) / 2
		if !q[i].before(&q[up]) {
			return
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// choresFrom is where the numbers of chores begin, behind all others: at one moment they come last, and those
// of messages do not depend on them.
const choresFrom = 1 << 62

// chore sets a timer for a task of a node, in its present incarnation.
func (s *State) chore(at int64, node NodeID, p Payload) {
	s.Chores++
	s.push(Event{At: max(at, s.Now), Seq: choresFrom + s.Chores, To: node, Incarnation: s.incarnation(node), Payload: p})
}

// after sets a timer for a node: it fires delay µs from now, in the node's present incarnation.
func (s *State) after(delay int64, node NodeID, p Payload) {
	s.Seq++
	s.push(Event{At: s.Now + max(delay, 0), Seq: s.Seq, To: node, Incarnation: s.incarnation(node), Payload: p})
}
