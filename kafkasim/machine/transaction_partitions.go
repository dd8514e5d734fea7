package machine

import "slices"

// Partitions of a transaction, at its coordinator (T-20 to T-25).
//
// A partition must be in the coordinator's log before it has records of the transaction, or nobody would write its
// marker. With the first one the transaction begins.
//
// Kafka: TransactionCoordinator.handleAddPartitionsToTransaction, handleVerifyPartitionsInTransaction,
// KafkaApis.handleAddPartitionsToTxnRequest.

// PendingAdd is an AddPartitionsToTxn request that waits for the log: the results so far, and how many are missing.
type PendingAdd struct {
	Number            uint32
	From              NodeID
	Conn, Correlation uint32
	Results           []TransactionResult
	Missing           int32
}

// onAddPartitionsToTxn adds or verifies, each transaction by itself, and answers when all are decided.
func (s *State) onAddPartitionsToTxn(b *Broker, e Event, m AddPartitionsToTxnRequest) {
	b.LastAdd++
	n := b.LastAdd
	b.Adds = append(b.Adds, PendingAdd{Number: n, From: e.From, Conn: e.Conn, Correlation: e.Correlation,
		Results: make([]TransactionResult, len(m.Transactions)), Missing: int32(len(m.Transactions))})
	for i := range m.Transactions {
		p := &m.Transactions[i]
		if p.VerifyOnly {
			s.addAnswered(b, n, i, s.verifyPartitions(b, p))
			continue
		}
		w := TransactionWrite{Purpose: TxnAdd, Add: n, Index: int32(i), Asked: int32(len(p.Partitions))}
		if code, waits := s.beginAdd(b, p, w); !waits {
			s.addAnswered(b, n, i, allOf(len(p.Partitions), code))
		}
	}
}

// beginAdd checks a transaction (T-23) and writes it with more partitions; waits tells that the answer comes with
// the commit.
func (s *State) beginAdd(b *Broker, p *TransactionPart, w TransactionWrite) (code Code, waits bool) {
	x, code := b.coordinator(TransactionCoordinator, p.ID)
	if code != NONE {
		return code, false
	}
	t := x.transaction(p.ID)
	switch {
	case t == nil:
		return INVALID_PRODUCER_ID_MAPPING, false
	case t.Pending || t.State.Prepared() && !s.mutant(AddsWhileEnding): // first: the next transaction may have another id (KAFKA-18660)
		return CONCURRENT_TRANSACTIONS, false
	case t.ProducerID != p.ProducerID:
		return INVALID_PRODUCER_ID_MAPPING, false
	case t.ProducerEpoch != p.ProducerEpoch && !s.mutant(AddsForAnyEpoch):
		return PRODUCER_FENCED, false
	case t.State == TxnOngoing && subset(p.Partitions, t.Partitions):
		return NONE, false
	}
	next := t.begins(TxnOngoing)
	next.Version = p.Version
	next.Partitions = withPartitions(t.Partitions, p.Partitions)
	if next.UpdatedMs = s.Now / ms; t.State != TxnOngoing {
		next.StartedMs = next.UpdatedMs
	}
	w.Next = next
	s.writeTransaction(b, x, w)
	return NONE, true
}

// verifyPartitions tells of each partition whether the open transaction has it (T-25).
func (s *State) verifyPartitions(b *Broker, p *TransactionPart) []Code {
	n := len(p.Partitions)
	x, code := b.coordinator(TransactionCoordinator, p.ID)
	if code != NONE {
		return allOf(n, code)
	}
	t := x.transaction(p.ID)
	switch {
	case t == nil || t.ProducerID != p.ProducerID:
		return allOf(n, INVALID_PRODUCER_ID_MAPPING)
	case t.ProducerEpoch != p.ProducerEpoch:
		return allOf(n, PRODUCER_FENCED)
	case t.State.Prepared():
		return allOf(n, CONCURRENT_TRANSACTIONS)
	}
	codes := allOf(n, NONE)
	for i, tp := range p.Partitions {
		if !slices.Contains(t.Partitions, tp) {
			codes[i] = TRANSACTION_ABORTABLE
		}
	}
	return codes
}

// allOf is the same code n times.
func allOf(n int, code Code) []Code {
	codes := make([]Code, n)
	for i := range codes {
		codes[i] = code
	}
	return codes
}

// addAnswered takes one transaction's result into a request's answer, and sends that when it is whole.
func (s *State) addAnswered(b *Broker, number uint32, index int, codes []Code) {
	i := slices.IndexFunc(b.Adds, func(a PendingAdd) bool { return a.Number == number })
	a := &b.Adds[i]
	a.Results[index] = TransactionResult{codes}
	if a.Missing--; a.Missing > 0 {
		return
	}
	s.reply(b, a.From, a.Conn, a.Correlation, AddPartitionsToTxnResponse{Results: a.Results})
	b.Adds = slices.Delete(b.Adds, i, i+1)
}

// onAddOffsetsToTxn adds the partition of __consumer_offsets that a group belongs to.
func (s *State) onAddOffsetsToTxn(b *Broker, e Event, m AddOffsetsToTxnRequest) {
	t := b.Image.topic(ConsumerOffsetsTopic)
	if t < 0 {
		s.makeInternalTopic(b, ConsumerOffsetsTopic)
		s.reply(b, e.From, e.Conn, e.Correlation, AddOffsetsToTxnResponse{COORDINATOR_NOT_AVAILABLE})
		return
	}
	tp := TopicPartition{t, CoordinatorPartition(m.Group, int32(len(b.Image.Topics[t].Partitions)))}
	p := TransactionPart{ID: m.ID, ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, Partitions: []TopicPartition{tp}}
	w := TransactionWrite{Purpose: TxnAddOffsets, From: e.From, Conn: e.Conn, Correlation: e.Correlation}
	if code, waits := s.beginAdd(b, &p, w); !waits {
		s.reply(b, e.From, e.Conn, e.Correlation, AddOffsetsToTxnResponse{code})
	}
}
