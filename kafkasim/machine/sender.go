// Sender: the producer's own thread.
//
// One pass finds the brokers for which something is ready (P-34), takes at most one batch of each of a
// broker's partitions (P-37, P-51), sends them as one request (P-52), and gives up what is too old
// (P-63). A pass runs when an answer arrives, when a batch is full, and at the next deadline.
//
// Kafka: Sender, RecordAccumulator.ready and drain, NetworkClient (KIP-91). Simplified: requests are
// written to the socket at once.
package machine

import "slices"

// producerEvent handles what arrives at a producer.
func (s *State) producerEvent(i int32, e Event) {
	p := &s.Producers[i]
	if p.Status == ProducerCrashed || p.Status == ProducerClosed {
		return
	}
	switch m := e.Payload.(type) {
	case ClientTimer:
		p.woke(s.Now)
	case SendTick:
		s.tick(p, m.Traffic)
		return
	case Disconnected:
		if c := p.conn(e.From); c != nil && c.ID != 0 && c.ID == e.Conn {
			s.loseRequests(p, s.disconnect(&p.ClientIO, c))
		}
	default:
		r, ok := p.answered(e)
		if !ok {
			return
		}
		s.producerAnswer(p, e.From, r, e.Payload)
	}
	s.runSender(p)
	s.goOnTransacting(p)
}

func (s *State) producerAnswer(p *Producer, from NodeID, r Request, answer Payload) {
	switch a := answer.(type) {
	case MetadataResponse:
		p.Meta.update(&a, s.Now)
		p.grow()
	case ProduceResponse:
		p.Stats.answered(s.Now-r.SentAt, a.ThrottleMs, s.Now)
		p.conn(from).throttle(s.Now, a.ThrottleMs)
		for i, slot := range r.Batches {
			s.produced(p, slot, &a.Parts[i])
		}
	case InitProducerIDResponse:
		if !s.txnAnswered(p, r.Payload, a) {
			s.identified(p, &a)
		}
	default:
		if s.txnAnswered(p, r.Payload, a) {
			return
		}
		unexpected(Event{At: s.Now, To: p.Node, Payload: answer})
	}
}

// loseRequests fails everything that was in flight on a connection that is gone (P-65).
func (s *State) loseRequests(p *Producer, lost []Request) {
	for i := range lost {
		s.lost(p, &lost[i])
	}
}

// lost fails one request that will not be answered (P-64).
func (s *State) lost(p *Producer, r *Request) {
	why := p.lostError(r, s.Now)
	switch m := r.Payload.(type) {
	case ProduceRequest:
		for i, slot := range r.Batches {
			s.produced(p, slot, &ProduceResult{TP: m.Parts[i].TP, Error: why, BaseOffset: -1})
		}
	case MetadataRequest:
	case InitProducerIDRequest:
		if p.transactional() {
			s.txnLost(p, m)
		} else {
			s.identified(p, &InitProducerIDResponse{Error: why})
		}
	default:
		s.txnLost(p, m)
	}
}

// runSender lets the sender do all that it can do now, and sets its next deadline.
func (s *State) runSender(p *Producer) {
	for s.senderPass(p) {
	}
	if p.Status == ProducerClosing && p.Undecided() == 0 && !p.Txn.Ending {
		p.Status = ProducerClosed
		p.Meta.Topics, p.Topics = nil, nil // nothing is asked or kept any more
	}
	if p.Status != ProducerClosed {
		s.wakeAt(&p.ClientIO, s.senderDeadline(p))
	}
}

// senderPass is Sender.runOnce (P-50). It tells whether another pass may find more to do.
func (s *State) senderPass(p *Producer) bool {
	for i := range p.Conns {
		if s.Now >= p.overdueAt(&p.Conns[i]) {
			s.loseRequests(p, s.hangUpClient(&p.ClientIO, &p.Conns[i])) // P-64: one overdue request closes it all
		}
	}
	s.unblock(p)
	ready := true
	switch {
	case p.transactional():
		ready = s.runTransactions(p)
	case p.Config.EnableIdempotence:
		ready = s.identify(p)
	}
	if !ready {
		// Without a producer id nothing is sent, and nothing expires (P-63); nor while a request about the
		// transaction is in flight.
		s.refreshMetadata(&p.ClientIO, p.Config.MaxInFlight)
		return false
	}
	memory := p.Memory
	for s.sendReady(p) {
	}
	s.expire(p)
	s.refreshMetadata(&p.ClientIO, p.Config.MaxInFlight)
	return p.Blocked.Count > 0 && p.Memory < memory
}

// sendReady sends one request to each broker that has something ready and can take it (P-50, P-53). It
// tells whether any was sent.
func (s *State) sendReady(p *Producer) bool {
	if !s.markReady(p) {
		return false
	}
	sent := false
	for i := range p.Conns {
		c := &p.Conns[i]
		if !c.Ready {
			continue
		}
		c.Ready = false
		free := c.usable(s.Now) && int32(len(c.InFlight)) < p.Config.MaxInFlight
		if c.ReadySince = s.Now; free || c.DrainedAt == 0 {
			c.DrainedAt = s.Now
		}
		if free {
			if slots := s.drain(p, c); len(slots) > 0 {
				s.sendProduce(p, c, slots)
				sent = true
			}
		}
	}
	p.rest()
	return sent
}

// markReady finds the brokers for which a partition has something to send (P-34). A partition without a
// leader asks for metadata instead (P-38).
func (s *State) markReady(p *Producer) bool {
	any := false
	p.forgetLoads()
	for _, ref := range p.Active {
		meta := &p.Meta.Topics[ref.Topic].Parts[ref.Partition]
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		b := &p.Live[part.Queue[0]]
		b.see(meta.LeaderEpoch)
		c := p.conn(meta.Leader)
		p.noteLoad(ref, c)
		switch {
		case c == nil:
			p.Meta.Requested = true
		case !c.Ready && !part.Muted && s.readyAt(p, part, b) <= s.Now:
			c.Ready = true
			any = true
		}
	}
	return any
}

// see notes the newest leader epoch of the batch's partition (P-62).
func (b *LiveBatch) see(epoch int32) {
	if epoch > b.LeaderEpoch {
		b.LeaderEpoch, b.LeaderMoved = epoch, b.Attempts
	}
}

// backsOffUntil is when a batch that failed may be tried again: retry.backoff.ms, doubled each time, after
// it was put back; at once when a newer leader is known by now (P-61, P-62).
func (s *State) backsOffUntil(p *Producer, b *LiveBatch) int64 {
	if b.Attempts == 0 || b.LeaderMoved == b.Attempts {
		return b.LastAttempt
	}
	return b.LastAttempt + s.retryBackoff(&p.ClientIO, b.Attempts-1, uint64(b.Batch.Serial), uint64(b.Attempts))
}

// readyAt is when the first batch of a queue is to be sent (P-34): at once when it is full, retried, not
// alone, or when memory is exhausted, a flush or the end is waiting; else when it has lingered (P-35).
func (s *State) readyAt(p *Producer, part *AccPart, b *LiveBatch) int64 {
	if b.Attempts > 0 {
		return s.backsOffUntil(p, b)
	}
	if len(part.Queue) > 1 || p.Blocked.For == WaitMemory || p.Status == ProducerClosing || p.Flushing() || b.full(p) {
		return b.Created
	}
	return b.LastAttempt + p.Config.LingerMs*ms
}

// drain takes batches for one broker: the first of each partition that it leads, in turn from where the
// last drain ended, as long as they fit max.request.size (P-37, P-51).
func (s *State) drain(p *Producer, c *Connection) []int32 {
	var slots []int32
	size := int64(0)
	n := len(p.Active)
	start, _ := slices.BinarySearchFunc(p.Active, c.DrainFrom, PartRef.compare)
	for i := range n {
		ref := p.Active[(start+i)%n]
		meta := &p.Meta.Topics[ref.Topic].Parts[ref.Partition]
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		if meta.Leader != c.Broker {
			continue
		}
		c.DrainFrom = ref
		if part.Muted || len(part.Queue) == 0 || !s.mayDrain(p, p.tp(ref)) {
			continue
		}
		b := &p.Live[part.Queue[0]]
		if b.see(meta.LeaderEpoch); b.Attempts > 0 && s.backsOffUntil(p, b) > s.Now {
			continue
		}
		if s.mutant(DrainsReadyOnly) && s.readyAt(p, part, b) > s.Now {
			continue
		}
		if size+int64(b.estimate()) > p.Config.MaxRequestSize && len(slots) > 0 {
			break
		}
		if p.Config.EnableIdempotence && p.mustWait(part, b) && !s.mutant(RetriesOutOfOrder) {
			break // P-56; Kafka too leaves the broker's other partitions to the next drain
		}
		slot := part.popFront()
		p.drained(part, slot)
		s.mutate(p, part, slot)
		size += int64(b.Batch.Size)
		slots = append(slots, slot)
	}
	return slots
}

// drained closes a batch that is on its way and gives it its sequence number (P-82).
func (p *Producer) drained(part *AccPart, slot int32) {
	b := &p.Live[slot]
	b.Closed = true
	b.Status = batchInFlight
	part.Hint = int32(len(b.Batch.Records.Data))
	b.Batch.Records.Trim()
	p.press(b)
	if p.Config.EnableIdempotence && b.Batch.BaseSequence < 0 {
		p.sequence(part, slot)
	}
	part.Muted = p.Config.MaxInFlight == 1 // P-55
}

// sendProduce puts batches on the wire as one request (P-52). With acks=0 that is all (P-73).
func (s *State) sendProduce(p *Producer, c *Connection, slots []int32) {
	parts, records := make([]ProducePart, len(slots)), int64(0)
	for i, slot := range slots {
		b := &p.Live[slot]
		records += int64(b.Batch.Records.Count)
		o := p.Outcomes.at(b.Batch.Serial)
		o.Attempts++
		if o.Sent < 0 {
			o.Sent = s.Now
		}
		o.LastSent = s.Now
		p.Stats.sent(b, s.Now)
		parts[i] = ProducePart{TP: o.TP, Batch: b.Batch}
	}
	p.Stats.PerRequest.record(records, s.Now)
	r := Request{Payload: ProduceRequest{Acks: p.Config.Acks, TimeoutMs: p.Config.RequestTimeoutMs, Parts: parts,
		TransactionalID: p.Config.TransactionalID, Version: s.clientTxnVersion(p)}, Batches: slots}
	s.clientRequest(&p.ClientIO, c, r, p.Config.Acks != 0)
	if p.Config.Acks == 0 {
		for i, slot := range slots {
			s.produced(p, slot, &ProduceResult{TP: parts[i].TP, BaseOffset: -1})
		}
	}
}

// expire fails what has waited for delivery.timeout.ms since it was created, queued or in flight (P-63).
func (s *State) expire(p *Producer) {
	before := s.Now - p.Config.DeliveryTimeoutMs*ms
	for _, ref := range p.Active {
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		for len(part.Queue) > 0 && s.deliverySince(&p.Live[part.Queue[0]]) <= before {
			s.expireBatch(p, part.popFront())
		}
	}
	p.rest()
	for i := range p.Conns {
		for _, r := range p.Conns[i].InFlight {
			for _, slot := range r.Batches {
				if b := &p.Live[slot]; b.Status == batchInFlight && s.deliverySince(b) <= before {
					s.expireBatch(p, slot)
				}
			}
		}
	}
}

// senderDeadline is when the sender has something to do by itself.
func (s *State) senderDeadline(p *Producer) int64 {
	at := min(p.orReconnect(s.metadataAt(&p.ClientIO), s.Now), p.blockedUntil())
	identified := !p.Config.EnableIdempotence || p.ProducerID >= 0
	if p.transactional() {
		at, identified = min(at, p.txnDeadline(s.Now)), p.mayBatch()
	} else if !identified && !p.Asked {
		at = min(at, p.orReconnect(p.AskAt, s.Now))
	}
	expiry := p.Config.DeliveryTimeoutMs * ms
	for i := range p.Conns {
		c := &p.Conns[i]
		if at = min(at, p.overdueAt(c)); p.transactional() && !identified {
			continue // nothing expires meanwhile
		}
		for _, r := range c.InFlight {
			for _, slot := range r.Batches {
				if b := &p.Live[slot]; b.Status == batchInFlight {
					at = min(at, s.deliverySince(b)+expiry)
				}
			}
		}
	}
	if !identified {
		return at
	}
	for _, ref := range p.Active {
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		b := &p.Live[part.Queue[0]]
		at = min(at, s.deliverySince(b)+expiry)
		if c := p.conn(p.Meta.Topics[ref.Topic].Parts[ref.Partition].Leader); c != nil && !part.Muted {
			if ready := max(s.readyAt(p, part, b), c.retryAt()); ready > s.Now {
				at = min(at, ready)
			}
		}
	}
	return at
}

// retryAt is when the connection may be used.
func (c *Connection) retryAt() int64 {
	if c.ID != 0 {
		return c.ThrottledUntil
	}
	return c.RetryAt
}
