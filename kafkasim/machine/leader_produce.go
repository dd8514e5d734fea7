package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Produce, on the leader.
//
// acks=0 is appended and never answered; acks=1 is answered after the append to the page cache; acks=all
// waits in the purgatory until the high watermark has passed the last record (R1.13 to R1.15, P-74 to P-76), and gets
// nothing while the ISR is too small (P-77). Produce
// carries no leader epoch, so a leader that does not know it was deposed cannot tell a client that does not
// know either (R1.11).
//
// Kafka: KafkaApis.handleProduceRequest, ReplicaManager.appendRecords, Partition.appendRecordsToLeader,
// DelayedProduce, UnifiedLog.analyzeAndValidateProducerState. KIP-951 (leader hints).

// DelayedProduce is an acks=all request that waits in the purgatory.
type DelayedProduce struct {
	From              NodeID
	Conn, Correlation uint32
	Deadline          int64 // µs
	Parts             []DelayedPart
	Bytes             int64 // of the request on the wire
	Then              Later // of a batch of a coordinator's own: what comes instead of an answer
}

// DelayedPart is one partition of it: decided, or waiting for the high watermark to reach Required.
type DelayedPart struct {
	Result   ProduceResult
	Required int64
	Waiting  bool
}

// onProduce is one ProduceRequest. One that begins a transaction in some log waits for the coordinator first.
func (s *State) onProduce(b *Broker, e Event, m ProduceRequest) {
	if ask := s.unverified(b, &m); len(ask) > 0 {
		s.verify(b, e, m, ask)
		return
	}
	s.produce(b, e, m, nil)
}

// produce appends what may be appended, and answers or lets the request wait. said is what the coordinator of a
// transaction said, if it was asked.
func (s *State) produce(b *Broker, e Event, m ProduceRequest, said *asked) {
	parts := make([]DelayedPart, len(m.Parts))
	failed, moved := 0, false
	for i := range m.Parts {
		if code, guard := said.refuses(m.Parts[i].TP); code != NONE {
			parts[i] = s.refusedPart(b, m.Parts[i].TP, code)
		} else {
			parts[i] = s.append(b, m.Acks, &m.Parts[i], &beginning{&m, guard})
		}
		if r := &parts[i].Result; r.Error != NONE {
			failed++
			s.refused(b, r.TP, r.Error)
		} else if s.advanceHighWatermark(b, b.replica(r.TP)) { // R1.17: evaluated at each append
			moved = true
		}
	}
	switch {
	case m.Acks == 0 && failed > 0: // R1.13: no answer could say so
		s.closeConn(b, e.From, e.Conn)
	case m.Acks == 0:
		if wait := s.throttleProduce(b, e.From, s.produceSize(e.From, &m)); wait > 0 {
			s.muteFor(b, e.From, e.Conn, wait)
		} else {
			s.replyNothing(b, e)
		}
	case m.Acks == -1 && failed < len(parts):
		// R1.16b: it waits as long as the producer said, from now on.
		d := DelayedProduce{From: e.From, Conn: e.Conn, Correlation: e.Correlation, Deadline: s.Now + m.TimeoutMs*1000, Parts: parts,
			Bytes: s.produceSize(e.From, &m)}
		if !s.tryProduce(b, &d) {
			b.Produces = append(b.Produces, d)
			s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
		}
	default:
		s.answerProduce(b, e.From, e.Conn, e.Correlation, parts, s.produceSize(e.From, &m))
	}
	s.appendedParts(b, parts, moved)
}

// appendedParts lets go who waited for what was appended; moved tells that a high watermark moved by it.
func (s *State) appendedParts(b *Broker, parts []DelayedPart, moved bool) {
	for i := range parts {
		if parts[i].Result.Error == NONE {
			s.completeFetches(b, parts[i].Result.TP)
			if moved {
				s.completeProduces(b, parts[i].Result.TP)
			}
		}
	}
}

// append is one partition's batch, by the order of R1.10 to R1.12: the check of the minimum ISR comes first
// and looks at the committed ISR; then the batch itself is judged; then it is stamped and appended.
// tx is nil for what brokers append themselves.
func (s *State) append(b *Broker, acks int8, p *ProducePart, tx *beginning) DelayedPart {
	fail := func(code Code) DelayedPart { return s.refusedPart(b, p.TP, code) }
	if acks < -1 || acks > 1 {
		return fail(INVALID_REQUIRED_ACKS) // R1.10
	}
	r, code := b.leaderReplica(p.TP)
	if code != NONE {
		return fail(code)
	}
	size := len(r.ISR)
	if s.mutant(MinISRByMaximal) {
		size = r.maximalISRSize()
	}
	if acks == -1 && size < b.Image.effectiveMinISR(p.TP) {
		if s.mutant(RefusesAfterAppend) {
			s.stamp(b, r, p.Batch)
		}
		return fail(NOT_ENOUGH_REPLICAS) // R1.12a
	}
	props := &b.Image.Topics[p.TP.Topic].Props
	batch, code := judge(props, p.Batch)
	if s.mutant(IgnoresTopicCodec) {
		batch = p.Batch
	}
	if code != NONE {
		return fail(code)
	}
	if batch.Codec != p.Batch.Codec {
		b.Costs.Recompressed++
	}
	ok := DelayedPart{Result: ProduceResult{TP: p.TP, LogStartOffset: r.Log.LogStart, Leader: NoNode, LeaderEpoch: -1}, Waiting: true}
	if p.Batch.ProducerID >= 0 && !p.Batch.Control {
		if s.expireProducers(r); s.unknownProducer(r, &p.Batch) {
			x := fail(UNKNOWN_PRODUCER_ID)
			x.Result.LogStartOffset = r.Log.LogStart
			return x
		}
		verdict, seen := s.verdict(r, &p.Batch)
		if verdict == partlog.Duplicate { // R1.23: success, with the offsets of the first time
			ok.Result.BaseOffset, ok.Required = seen.BaseOffset, seen.NextOffset
			return ok
		}
		if code := s.mayBegin(r, tx, p); code != NONE {
			return fail(code)
		}
		switch verdict {
		case partlog.OutsideTransaction:
			return fail(INVALID_TXN_STATE)
		case partlog.OutOfOrder:
			return fail(OUT_OF_ORDER_SEQUENCE_NUMBER)
		case partlog.StaleEpoch:
			return fail(INVALID_PRODUCER_EPOCH)
		}
	}
	ok.Result.BaseOffset, ok.Required = s.stamp(b, r, batch)
	if p.Batch.Transactional {
		r.forgetGuard(p.Batch.ProducerID)
	}
	return ok
}

// refusedPart is the answer for a partition that takes nothing.
func (s *State) refusedPart(b *Broker, tp TopicPartition, code Code) DelayedPart {
	res := ProduceResult{TP: tp, Error: code, BaseOffset: -1, LogStartOffset: -1, Leader: NoNode, LeaderEpoch: -1}
	if code == NOT_LEADER_OR_FOLLOWER {
		res.Leader, res.LeaderEpoch = s.leaderHint(b, tp)
	}
	return DelayedPart{Result: res}
}

// judge is a batch as the topic stores it, or what is wrong with it (R1.24, P-108). Its size counts as it came, and
// again if it was compressed anew.
func judge(topic *config.Topic, b partlog.Batch) (partlog.Batch, Code) {
	switch {
	case int64(b.Size) > topic.MaxMessageBytes:
		return b, MESSAGE_TOO_LARGE
	case topic.CleanupPolicy.Compacts() && b.Records.Keyless():
		return b, INVALID_RECORD // R7.13
	}
	b = recompress(topic, b)
	switch {
	case int64(b.Size) > topic.MaxMessageBytes:
		return b, MESSAGE_TOO_LARGE
	case int64(b.Size) > topic.SegmentBytes:
		return b, RECORD_LIST_TOO_LARGE
	}
	return b, NONE
}

// stamp appends a batch with the leader's offset and epoch in it, and returns where it begins and ends.
func (s *State) stamp(b *Broker, r *Replica, batch partlog.Batch) (base, next int64) {
	batch.BaseOffset, batch.LeaderEpoch = r.Log.End, r.LeaderEpoch
	s.appendBatch(b, r, batch)
	s.appended(b, r)
	s.noteAppended(b.ID, r.TP, r.Log.End, r.Log.Last(1))
	return batch.BaseOffset, batch.NextOffset()
}

// leaderReplica finds the replica that this broker leads, or says why it does not (R1.11).
func (b *Broker) leaderReplica(tp TopicPartition) (*Replica, Code) {
	if b.Image.partition(tp) == nil {
		return nil, UNKNOWN_TOPIC_OR_PARTITION
	}
	r := b.replica(tp)
	switch {
	case r != nil && b.Dirs[r.Dir].Offline:
		return nil, KAFKA_STORAGE_ERROR
	case r == nil || r.Role != Leader:
		return nil, NOT_LEADER_OR_FOLLOWER
	}
	return r, NONE
}

// leaderHint is whom this broker believes to lead a partition (KIP-951).
func (s *State) leaderHint(b *Broker, tp TopicPartition) (NodeID, int32) {
	reg := b.Image.partition(tp)
	if reg == nil || reg.Leader == NoNode || reg.Leader == b.ID || s.World.Rules.Without(LeaderHints) {
		return NoNode, -1
	}
	return reg.Leader, reg.LeaderEpoch
}

// tryProduce decides what can be decided of a parked request, and answers it when nothing waits any more.
func (s *State) tryProduce(b *Broker, d *DelayedProduce) bool {
	waiting := false
	for i := range d.Parts {
		p := &d.Parts[i]
		if !p.Waiting {
			continue
		}
		code, done := b.produceDone(p)
		done = done || s.mutant(AcksAllAtAppend)
		if !done {
			waiting = true
			continue
		}
		p.Waiting, p.Result.Error = false, code
		if code != NONE {
			p.Result.BaseOffset, p.Result.LogStartOffset = -1, -1
			s.refused(b, p.Result.TP, p.Result.Error)
		}
		if code == NOT_LEADER_OR_FOLLOWER {
			p.Result.Leader, p.Result.LeaderEpoch = s.leaderHint(b, p.Result.TP)
		}
	}
	if waiting {
		return false
	}
	s.finishProduce(b, d)
	return true
}

// finishProduce ends a request that waited. Whoever appended here himself is told by an event of its own, so that
// he never acts in the middle of something else.
func (s *State) finishProduce(b *Broker, d *DelayedProduce) {
	switch w := d.Then.Payload.(type) {
	case CoordinatorWritten:
		w.Error = d.Parts[0].Result.Error
		s.after(0, b.ID, w)
	case TxnMarkersWritten:
		s.reply(b, d.From, d.Conn, d.Correlation, markersAnswer(&w, d.Parts))
	default:
		s.answerProduce(b, d.From, d.Conn, d.Correlation, d.Parts, d.Bytes)
	}
}

// produceDone is R1.14 for one partition. The condition of an acknowledgement is the high watermark, and
// nothing else about individual replicas (R1.15); 20 is for the race in which the ISR shrank after the high
// watermark had passed.
func (b *Broker) produceDone(p *DelayedPart) (code Code, done bool) {
	r, code := b.leaderReplica(p.Result.TP)
	switch {
	case code != NONE:
		return code, true
	case r.Log.HighWatermark < p.Required:
		return NONE, false
	case r.maximalISRSize() < b.Image.effectiveMinISR(p.Result.TP):
		return NOT_ENOUGH_REPLICAS_AFTER, true
	}
	return NONE, true
}

// answerProduce sends the answer of a request whose partitions are all decided; bytes is its size.
func (s *State) answerProduce(b *Broker, to NodeID, conn, correlation uint32, parts []DelayedPart, bytes int64) {
	s.promised(b, parts)
	results := make([]ProduceResult, len(parts))
	for i := range parts {
		results[i] = parts[i].Result
	}
	wait := max(s.throttleProduce(b, to, bytes), s.throttleWork(b, to, requestNs+bytes*appendNsPerKB/1024))
	s.replyThrottled(b, to, conn, correlation, ProduceResponse{Parts: results, ThrottleMs: wait}, wait)
}
