package machine

// A broker's way to the active controller.
//
// Heartbeats, proposed ISRs, producer ids and what clients ask of the controller travel on a connection each.
// A connection goes to whoever led the quorum when it was made, as far as the broker had heard, and stays
// there until it breaks, a request on it takes too long, or the controller says that it is not the active one;
// then the next request goes to whom the broker knows as leader by then. So a leader that is stopped, not
// dead, holds brokers that have long heard of the next one (R3.28).
//
// Kafka: NodeToControllerChannelManager, RaftControllerNodeProvider.

// ControllerChannel is one such connection. What is queued behind it goes one request at a time (mayAsk, ask,
// askAgain and channelDue; the queue has a timer of its own kind).
type ControllerChannel struct {
	Channel Channel
	Peer    NodeID // whom it is to; NoNode until it is needed again
	RetryAt int64  // µs: the queue sends nothing before
	WakeAt  int64  // µs: when the queue's timer is due, 0 for none
}

// controllerRetry is how long a broker waits, µs, before it looks again for the active controller
// (NodeToControllerChannelManager's reconnect.backoff.ms).
const controllerRetry = 50_000

// askController sends a request to the controller that the channel is to; false when nobody is known to lead.
func (s *State) askController(b *Broker, ch *ControllerChannel, timeout int64, p Payload) bool {
	if ch.Peer == NoNode {
		ch.Peer = b.Pull.Leader
	}
	if ch.Peer == NoNode {
		return false
	}
	s.request(b.ID, ch.Peer, &ch.Channel, timeout, p)
	return true
}

// mayAsk tells whether a queue may send its next request: none is in flight, and it need not wait any longer
// before it tries again. If it must, its timer comes then: the one that is set may have been for something
// earlier.
func (s *State) mayAsk(b *Broker, ch *ControllerChannel, timer Payload) bool {
	if ch.Channel.InFlight {
		return false
	}
	if s.Now < ch.RetryAt {
		s.wake(&ch.WakeAt, ch.RetryAt, b.ID, timer)
		return false
	}
	return true
}

// ask sends a queue's request. The timer comes when its time is over, or when it is time to look again for
// somebody who leads.
func (s *State) ask(b *Broker, ch *ControllerChannel, timeout int64, timer, p Payload) {
	if !s.askController(b, ch, timeout, p) {
		s.askAgain(b, ch, timer)
		return
	}
	s.wake(&ch.WakeAt, ch.Channel.Deadline, b.ID, timer)
}

// askAgain lets a queue try again a little later.
func (s *State) askAgain(b *Broker, ch *ControllerChannel, timer Payload) {
	ch.RetryAt = s.Now + controllerRetry
	s.wake(&ch.WakeAt, ch.RetryAt, b.ID, timer)
}

// channelDue takes a queue's timer, and gives up the request in flight when its time is over. It tells whether
// the queue is to see what it can send.
func (s *State) channelDue(b *Broker, e Event, ch *ControllerChannel) bool {
	if e.At != ch.WakeAt {
		return false
	}
	ch.WakeAt = 0
	if ch.Channel.InFlight {
		if s.Now < ch.Channel.Deadline {
			s.wake(&ch.WakeAt, ch.Channel.Deadline, b.ID, e.Payload)
			return false
		}
		s.leaveController(b, ch)
	}
	return true
}

// leaveController closes a channel; the next request looks for the leader anew.
func (s *State) leaveController(b *Broker, ch *ControllerChannel) {
	if ch.Peer != NoNode {
		s.hangUp(b.ID, ch.Peer, &ch.Channel)
	}
	ch.Peer = NoNode
}

// controllerChannels are the channels of a broker's process.
func (b *Broker) controllerChannels() [5]*ControllerChannel {
	return [...]*ControllerChannel{&b.Lifecycle.Channel, &b.Alter.Channel, &b.IDs.Channel, &b.Forward.Channel, &b.Assign.Channel}
}

// controllerClosed handles the end of a connection that the broker opened to a controller.
func (s *State) controllerClosed(b *Broker, e Event) {
	l := &b.Pull.Links[e.From-FirstController]
	if l.Channel.Conn == e.Conn {
		s.broken(l)
		s.pullMetadata(b)
		return
	}
	for i, ch := range b.controllerChannels() {
		if ch.Peer != e.From || ch.Channel.Conn != e.Conn {
			continue
		}
		waits := ch.Channel.InFlight
		ch.Channel, ch.Peer = Channel{Correlation: ch.Channel.Correlation}, NoNode
		if waits {
			s.lookElsewhere(b, i)
		}
	}
}

// lookElsewhere arranges that what was under way on a channel is sent again.
func (s *State) lookElsewhere(b *Broker, channel int) {
	switch channel {
	case 0:
		s.talkAt(b, s.Now+controllerRetry)
	case 1:
		s.askAgain(b, &b.Alter.Channel, AlterPartitionTimer{})
	case 2:
		s.noProducerIDs(b)
	case 3:
		s.askAgain(b, &b.Forward.Channel, ForwardTimer{})
	case 4:
		s.askAgain(b, &b.Assign.Channel, AssignTimer{})
	}
}

// What clients ask of the controller goes through a broker, which keeps it until it is answered, for a minute
// at most: a client that has given up after its own time does not know whether it will still be done (R3.30).
//
// Kafka: ForwardingManager (KIP-590). Simplified: the way from the administrator's client to the broker and
// back takes no time.

// Forwarder is the queue of such requests.
type Forwarder struct {
	Channel ControllerChannel
	Queue   []Forwarded
}

// Forwarded is one request.
type Forwarded struct {
	Number int32 // in State.Admin, or nobodysRequest
	Until  int64 // µs: when the broker gives up
	Event  Event // what is asked
}

// ForwardTimer: a broker looks at the requests that it forwards.
type ForwardTimer struct{}

// AdminResponse is the controller's answer to what an administrator asked; ID is the index of what was made.
type AdminResponse struct {
	Error    Code
	ID       int32
	Throttle ThrottleTime
}

// RequestTimer: the administrator has waited long enough for the answer to a request.
type RequestTimer struct{ Request int32 }

func (ForwardTimer) payload()  {}
func (RequestTimer) payload()  {}
func (AdminResponse) payload() {}

// AdminRequest is a request of an administrator that was not answered at once.
type AdminRequest struct {
	At      int64 // µs
	Done    bool
	GivenUp bool // the administrator does not wait any more
	Result  Result
}

const (
	forwardTimeout = 60_000_000 // µs that a broker keeps a request (NodeToControllerChannelManager of the forwarding manager)
	forwardRequest = 30_000_000 // µs (controller.socket.timeout.ms)
)

// admin carries out what an administrator asks. With one controller, while it can be reached, that is done at
// once; else a broker forwards it, and the Result's Pending tells where State.Admin will have the answer.
func (s *State) admin(p Payload) Result {
	if c := s.ActiveController(); c != nil && s.soleController() {
		return s.administer(c, p)
	}
	n := int32(len(s.Admin))
	s.Admin = append(s.Admin, AdminRequest{At: s.Now})
	s.after(adminPatience, AdminNode, RequestTimer{Request: n})
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.serves() && !b.Paused {
			b.Forward.Queue = append(b.Forward.Queue, Forwarded{n, s.Now + forwardTimeout, Event{Payload: p}})
			s.forward(b)
			break
		}
	}
	return Result{ID: -1, Pending: n + 1}
}

// administer carries out a request on the active controller.
func (s *State) administer(c *Controller, p Payload) Result {
	switch p := p.(type) {
	case CreateTopic:
		return s.createTopic(c, p)
	case ElectLeaders:
		return s.electLeader(c, p)
	case AddPartitions:
		more := func(t int32) int { return int(p.Total) - len(c.Image.Topics[t].Partitions) }
		return s.topicNamed(c, p.Topic, more, func(t int32) Code { return s.addPartitions(c, t, p.Total) })
	case AlterTopic:
		none := func(int32) int { return 0 }
		return s.topicNamed(c, p.Topic, none, func(t int32) Code { return s.alterTopic(c, t, &p) })
	case DeleteTopic:
		all := func(t int32) int { return len(c.Image.Topics[t].Partitions) }
		return s.topicNamed(c, p.Topic, all, func(t int32) Code {
			s.commit(c, []MetadataRecord{{Kind: RemoveTopicRecord, TP: TopicPartition{t, -1}}})
			return NONE
		})
	case Reassign:
		return Result{Error: s.reassign(c, &p), ID: -1}
	case AlterQuota:
		return Result{Error: s.alterQuota(c, p.Quota), ID: -1}
	case UnregisterBroker:
		return Result{Error: s.unregisterBroker(c, p.Broker), ID: -1}
	}
	panic("machine: not a request to the controller")
}

// onAdmin answers a forwarded request.
func (s *State) onAdmin(c *Controller, e Event) {
	r := s.administer(c, e.Payload)
	s.replyAsController(c, e, AdminResponse{Error: r.Error, ID: r.ID, Throttle: r.Throttle})
}

// forward sends the first request of the queue, unless one is in flight.
func (s *State) forward(b *Broker) {
	f := &b.Forward
	for len(f.Queue) > 0 && s.Now >= f.Queue[0].Until {
		f.Queue = f.Queue[1:]
	}
	if len(f.Queue) > 0 && s.mayAsk(b, &f.Channel, ForwardTimer{}) {
		s.ask(b, &f.Channel, forwardRequest, ForwardTimer{}, f.Queue[0].Event.Payload)
	}
}

func (s *State) onForwardTimer(b *Broker, e Event) {
	if s.channelDue(b, e, &b.Forward.Channel) {
		s.forward(b)
	}
}

// onForwarded hands the controller's answer on.
func (s *State) onForwarded(b *Broker, e Event, m AdminResponse) {
	f := &b.Forward
	if !f.Channel.Channel.answers(&e) {
		return
	}
	if m.Error == NOT_CONTROLLER {
		s.leaveController(b, &f.Channel)
		s.askAgain(b, &f.Channel, ForwardTimer{})
		return
	}
	if n := f.Queue[0].Number; n != nobodysRequest {
		s.Admin[n].Done, s.Admin[n].Result = true, Result{Error: m.Error, ID: m.ID, Throttle: m.Throttle}
	}
	f.Queue = f.Queue[1:]
	s.forward(b)
}
