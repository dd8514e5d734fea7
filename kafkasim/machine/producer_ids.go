package machine

// Producer ids (P-81): a broker hands them out from a block of 1000 that the controller gave it, and asks
// for another when it has none.
//
// Kafka: RPCProducerIdManager, ProducerIdControlManager. Simplified: the next block is asked for when the
// last one is used up, not at 90% of it, and who asks meanwhile waits, and is not refused at once.

// ProducerIDs is a broker's block.
type ProducerIDs struct {
	Channel   ControllerChannel
	Next, End int64
	Waiting   []WaitingForID
}

// WaitingForID is an InitProducerId request that waits for a block.
type WaitingForID struct {
	From              NodeID
	Conn, Correlation uint32
	Request           InitProducerIDRequest
}

// take takes the next id of the block; false when it is used up.
func (p *ProducerIDs) take() (int64, bool) {
	if p.Next == p.End {
		return -1, false
	}
	p.Next++
	return p.Next - 1, true
}

// producerIDTimeout is how long a broker waits for a block, µs.
const producerIDTimeout = 30_000_000

// onInitProducerID hands out an id, with epoch 0; one with a transactional id is the transaction coordinator's.
func (s *State) onInitProducerID(b *Broker, e Event, m InitProducerIDRequest) {
	if m.TransactionalID != "" {
		s.initTransactional(b, e, m)
		return
	}
	id, ok := b.IDs.take()
	if !ok {
		s.awaitProducerID(b, e, m)
		return
	}
	s.reply(b, e.From, e.Conn, e.Correlation, InitProducerIDResponse{ProducerID: id})
}

// awaitProducerID lets a request wait for a block, and asks for one.
func (s *State) awaitProducerID(b *Broker, e Event, m InitProducerIDRequest) {
	b.IDs.Waiting = append(b.IDs.Waiting, WaitingForID{e.From, e.Conn, e.Correlation, m})
	s.askProducerIDs(b)
}

// askProducerIDs asks the controller for a block, unless it was asked already.
func (s *State) askProducerIDs(b *Broker) {
	p := &b.IDs
	if ch := &p.Channel.Channel; ch.InFlight && s.Now >= ch.Deadline {
		s.leaveController(b, &p.Channel)
	}
	if !p.Channel.Channel.InFlight && !s.askController(b, &p.Channel, producerIDTimeout, AllocateProducerIDsRequest{}) {
		s.noProducerIDs(b)
	}
}

// onProducerIDs takes a block and serves who waited for it.
func (s *State) onProducerIDs(b *Broker, e Event, m AllocateProducerIDsResponse) {
	p := &b.IDs
	if !p.Channel.Channel.answers(&e) {
		return
	}
	if m.Error != NONE {
		s.leaveController(b, &p.Channel)
		s.noProducerIDs(b)
		return
	}
	p.Next, p.End = m.First, m.First+m.Count
	waiting := p.Waiting
	p.Waiting = nil
	for _, w := range waiting {
		s.onInitProducerID(b, Event{From: w.From, Conn: w.Conn, Correlation: w.Correlation}, w.Request)
	}
}

// noProducerIDs refuses who waits: no controller can be asked (RPCProducerIdManager, R3.30).
func (s *State) noProducerIDs(b *Broker) {
	waiting := b.IDs.Waiting
	b.IDs.Waiting = nil
	for _, w := range waiting {
		s.reply(b, w.From, w.Conn, w.Correlation, InitProducerIDResponse{Error: COORDINATOR_LOAD_IN_PROGRESS, ProducerID: -1, ProducerEpoch: -1})
	}
}
