// Sender, results: what becomes of a batch when its answer comes, or does not.
//
// Kafka: Sender.completeBatch, canRetry, failBatch (KIP-91, KIP-580, KIP-951).
package machine

import "kafkalab/kafkasim/view"

// produced handles a partition's answer to a batch.
func (s *State) produced(p *Producer, slot int32, r *ProduceResult) {
	b := &p.Live[slot]
	part := &p.Topics[b.Ref.Topic].Parts[b.Ref.Partition]
	part.Muted = false
	if r.Error == NONE {
		p.sequenceAcked(part, slot, r.BaseOffset)
		if b.Status == batchInFlight {
			s.acked(p, b, r.BaseOffset)
		}
		p.forget(slot)
		return
	}
	if r.Error == NOT_LEADER_OR_FOLLOWER && !s.mutant(IgnoresHints) {
		p.Meta.hint(r.TP, r.Leader, r.LeaderEpoch)
	}
	if r.Error.asksMetadata() {
		p.Meta.Requested = true // P-66
	}
	if b.Status == batchDone {
		p.forget(slot)
		return
	}
	p.Outcomes.tried(b.Batch.Serial, r.Error, s.Now)
	if r.Error == MESSAGE_TOO_LARGE && b.Batch.Records.Count > 1 {
		s.split(p, slot)
		p.forget(slot)
		return
	}
	if s.canRetry(p, part, b, r) {
		s.retry(p, slot, r.Error)
		return
	}
	s.fail(p, slot, r.Error, b.Attempts < p.Config.Retries)
	p.forget(slot)
}

// canRetry tells whether a failed batch is tried again (P-60).
func (s *State) canRetry(p *Producer, part *AccPart, b *LiveBatch, r *ProduceResult) bool {
	if s.Now-b.Created >= p.Config.DeliveryTimeoutMs*ms || b.Attempts >= p.Config.Retries {
		return false
	}
	switch {
	case !p.Config.EnableIdempotence:
	case r.Error == OUT_OF_ORDER_SEQUENCE_NUMBER && p.transactional():
		// A gap ends the transaction; what only overtook a batch that is tried again goes after it (P-88).
		return b.Batch.BaseSequence != part.LastAcked+1
	case r.Error == UNKNOWN_PRODUCER_ID && p.transactional():
		return false
	case r.Error == OUT_OF_ORDER_SEQUENCE_NUMBER:
		p.outOfOrder(part, b)
		return true
	case r.Error == UNKNOWN_PRODUCER_ID:
		p.unknown(part, b, r.LogStartOffset)
		return true
	}
	return r.Error.retriable()
}

// retry puts a batch back for another attempt.
func (s *State) retry(p *Producer, slot int32, why Code) {
	b := &p.Live[slot]
	b.Attempts++
	p.Stats.Retried += int64(b.Batch.Records.Count)
	b.LastAttempt = s.Now
	b.Retry = true
	if s.mutant(RetriesRenumbered) && b.Batch.BaseSequence >= 0 {
		p.Topics[b.Ref.Topic].Parts[b.Ref.Partition].unnumber(slot)
		b.Batch.BaseSequence = -1
	}
	p.reenqueue(slot)
	if s.mutant(ReenqueuesAtEnd) {
		part := &p.Topics[b.Ref.Topic].Parts[b.Ref.Partition]
		part.Queue = append(part.Queue, part.popFront())
	}
	s.note(view.Change{Kind: view.Retried, Broker: -1, Partition: s.ordinal(p.tp(b.Ref)), Client: p.Name,
		A: int64(b.Batch.Records.Count), Text: why.String()})
}

// acked tells the application that a batch is written. Answers come in the order of the requests, so a partition's
// batches are acknowledged as they were sent (P-72).
func (s *State) acked(p *Producer, b *LiveBatch, base int64) {
	count := b.Batch.Records.Count
	o := p.Outcomes.at(b.Batch.Serial)
	o.BaseOffset, o.Decided, o.Count = base, s.Now, count
	p.decide(b, DeliveryAcked)
	p.AckedRecords += int64(count)
	s.Truth.Acked = append(s.Truth.Acked, AckedBatch{TP: o.TP, BaseOffset: base, Count: count,
		Sender: p.Index, Serial: b.Batch.Serial, Acks: p.Config.Acks, At: s.Now})
	s.note(view.Change{Kind: view.Acked, Broker: -1, Partition: s.ordinal(o.TP), Client: p.Name,
		A: base, B: int64(count), C: s.Now - b.Created})
}

// fail tells the application that a batch is lost, all its records alike (P-71). Where the broker refused
// it for good its sequence numbers are free again, so the rest is renumbered (P-91).
func (s *State) fail(p *Producer, slot int32, why Code, refused bool) {
	b := &p.Live[slot]
	part := &p.Topics[b.Ref.Topic].Parts[b.Ref.Partition]
	p.sequenceFailed(part, slot, why, refused)
	count := b.Batch.Records.Count
	o := p.Outcomes.at(b.Batch.Serial)
	o.Decided, o.Count, o.Error = s.Now, count, why
	p.decide(b, DeliveryFailed)
	p.FailedRecords += int64(count)
	s.noteFailed(p, o.TP, int64(count), why)
	if p.transactional() && why != TRANSACTION_ABORTED {
		s.txnFailed(p, why)
	}
}

// expireBatch fails a batch that ran into delivery.timeout.ms. One in flight keeps its slot and memory
// until its request ends (P-41); one that was sent before leaves its sequence unresolved (P-90).
func (s *State) expireBatch(p *Producer, slot int32) {
	b := &p.Live[slot]
	part := &p.Topics[b.Ref.Topic].Parts[b.Ref.Partition]
	flying := b.Status == batchInFlight
	s.fail(p, slot, TIMEOUT_EXCEPTION, false)
	if b.Retry && b.Batch.BaseSequence >= 0 {
		p.Doubt = true
		part.Unresolved = max(part.Unresolved, b.Batch.BaseSequence+b.Batch.Records.Count)
	}
	if !flying {
		p.forget(slot)
	}
}

// decide settles a batch's outcome.
func (p *Producer) decide(b *LiveBatch, status DeliveryStatus) {
	p.Outcomes.at(b.Batch.Serial).Records = b.Batch.Records
	p.Outcomes.decide(b.Batch.Serial, status)
	b.Status = batchDone
	if b.FirstSend < p.FlushBelow {
		p.FlushLeft--
	}
}

// forget frees a decided batch and its memory.
func (p *Producer) forget(slot int32) {
	p.Memory -= int64(p.Live[slot].Memory)
	p.release(slot)
}

// tp is the cluster's name of a partition.
func (p *Producer) tp(r PartRef) TopicPartition {
	return TopicPartition{p.Meta.Topics[r.Topic].Topic, r.Partition}
}

func (s *State) noteFailed(p *Producer, tp TopicPartition, count int64, why Code) {
	s.note(view.Change{Kind: view.Failed, Broker: -1, Partition: s.ordinal(tp), Client: p.Name, A: count, Text: why.String()})
}
