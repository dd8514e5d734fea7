package machine

import "fmt"

// New returns a world in which every broker has registered and is unfenced, with no topics and no clients.
func New(w World) *State {
	s := &State{World: w}
	s.startCluster()
	return s
}

// Apply lets a user act on the world, now.
func (s *State) Apply(c Command) Result {
	switch c := c.(type) {
	case NewProducer, Send, SendEvery, FlushProducer, CloseProducer, CrashProducer, InitTransactions, SendOffsets, BeginTransaction, EndTransaction, TxnWork:
		return s.applyProducer(c)
	case NewConsumer, Assign, StartPoll, Seek, PauseConsumer, ResumeConsumer, CloseConsumer, CrashConsumer, Subscribe, Commit, Work:
		return s.applyConsumer(c)
	case NewShareConsumer, ShareSubscribe, StartSharePoll, ShareAcknowledge, ShareCommit, CloseShareConsumer, CrashShareConsumer, ShareWork, AlterShareGroup:
		return s.applyShare(c)
	case CutLink, HealLink, CutOneWay, SetLatency, DeliverMessage, DropMessage, DelayMessage, HoldMessages, ReleaseMessages:
		return s.applyNetwork(c)
	default:
		return s.applyCluster(c)
	}
}

// Peek returns the next event without taking it; false when nothing will ever happen again.
func (s *State) Peek() (Event, bool) {
	if len(s.Queue) == 0 {
		return Event{}, false
	}
	return s.Queue[0], true
}

// Step takes the next event and lets its target handle it.
func (s *State) Step() (Event, bool) {
	if len(s.Queue) == 0 {
		return Event{}, false
	}
	e := s.pop()
	s.Now = e.At
	s.dispatch(e)
	return e, true
}

func (s *State) dispatch(e Event) {
	switch {
	case e.To.IsBroker():
		s.brokerEvent(e)
	case e.To.IsController():
		s.controllerEvent(e)
	case e.To == AdminNode:
		s.adminEvent(e)
	case int(e.To-FirstClient) >= len(s.Clients):
		// A probe: a node that only sends requests (Probe) and whose answers Step returns.
	case s.client(e.To).Kind == ShareConsumerClient:
		s.shareEvent(s.client(e.To).Index, e)
	case s.client(e.To).Kind == ConsumerClient:
		s.consumerEvent(s.client(e.To).Index, e)
	default:
		s.producerEvent(s.client(e.To).Index, e)
	}
}

// Probe sends a raw request from a node that is no client of this world, so that whoever steps sees the
// exact answer of each attempt. n numbers probes from 0; conn and correlation come back with the answer.
func (s *State) Probe(n int32, to NodeID, conn, correlation uint32, p Payload) {
	s.send(FirstProbe+NodeID(n), to, conn, correlation, p)
}

// incarnation is the number of starts of a node's process; messages and timers of an earlier one are void.
func (s *State) incarnation(n NodeID) uint32 {
	if b := s.broker(n); b != nil {
		return b.Incarnation
	}
	if n.IsController() {
		return s.controller(n).Incarnation
	}
	return 0
}

// unexpected stops the simulation at an event its target cannot get: a bug of ours, never of a user.
func unexpected(e Event) {
	panic(fmt.Sprintf("machine: node %d cannot handle %T from node %d at t=%dµs", e.To, e.Payload, e.From, e.At))
}
