package machine

// InitProducerId with a transactional id: initTransactions() (T-10 to T-16).
//
// A new instance gets the id's producer id with the next epoch, and whoever had the one before is fenced. An open
// transaction is aborted first. A client that knows its id and epoch and asks to go on (KIP-360) is fenced when
// somebody else has asked meanwhile. Another transactional id fences nobody (T-53).
//
// Another transactional id is another producer id, and fences nobody (T-53).
//
// Kafka: TransactionCoordinator.handleInitProducerId, prepareInitProducerIdTransit;
// TransactionMetadata.prepareIncrementProducerEpoch, prepareProducerIdRotation (KIP-98, KIP-360).

// initTransactional is one InitProducerId request with a transactional id.
func (s *State) initTransactional(b *Broker, e Event, m InitProducerIDRequest) {
	who := requester(&e)
	if m.TimeoutMs > s.World.Broker.Transactions.MaxTimeoutMs || m.TimeoutMs <= 0 {
		s.refuseInit(b, who, INVALID_TRANSACTION_TIMEOUT) // T-14
		return
	}
	x, code := b.coordinator(TransactionCoordinator, m.TransactionalID)
	if code != NONE {
		s.refuseInit(b, who, code)
		return
	}
	t := x.transaction(m.TransactionalID)
	if t == nil { // T-10
		id, ok := b.IDs.take()
		if !ok {
			s.awaitProducerID(b, e, m)
			return
		}
		x.put(TransactionMetadata{ID: m.TransactionalID, ProducerID: id, PreviousProducerID: -1, NextProducerID: -1,
			ProducerEpoch: -1, LastProducerEpoch: -1, TimeoutMs: m.TimeoutMs, StartedMs: -1, UpdatedMs: s.Now / ms})
		t = x.transaction(m.TransactionalID)
	}
	if code := t.mayInit(&m); code != NONE {
		s.refuseInit(b, who, code)
		return
	}
	if t.State == TxnOngoing { // T-12
		s.fence(b, x, t, who, TxnFence)
		return
	}
	s.nextEpoch(b, x, t, e, m)
}

// mayInit tells whether a client may go on: not while the last transaction is being ended (T-13), and not with an
// id that is not the present one (T-15), unless that was used up and the answer was lost.
func (t *TransactionMetadata) mayInit(m *InitProducerIDRequest) Code {
	known := m.ProducerID >= 0
	switch {
	case t.Pending:
		return CONCURRENT_TRANSACTIONS
	case known && t.ProducerEpoch != -1 && m.ProducerID != t.ProducerID &&
		!(m.ProducerID == t.PreviousProducerID && epochExhausted(m.ProducerEpoch)):
		return PRODUCER_FENCED
	case t.State.Prepared():
		return CONCURRENT_TRANSACTIONS
	}
	return NONE
}

// nextEpoch writes the next epoch, or a new id when the last one's are used up (T-11).
func (s *State) nextEpoch(b *Broker, x *CoordinatorShard, t *TransactionMetadata, e Event, m InitProducerIDRequest) {
	known := m.ProducerID >= 0
	next := *t
	switch {
	case epochExhausted(t.ProducerEpoch) && (!known || m.ProducerEpoch == t.ProducerEpoch):
		id, ok := b.IDs.take()
		if !ok {
			s.awaitProducerID(b, e, m)
			return
		}
		next.PreviousProducerID, next.ProducerID, next.ProducerEpoch, next.LastProducerEpoch = t.ProducerID, id, 0, -1
		if known {
			next.LastProducerEpoch = t.ProducerEpoch
		}
	case !known:
		next.ProducerEpoch, next.LastProducerEpoch = t.ProducerEpoch+1, -1
	case t.ProducerEpoch == -1 || m.ProducerEpoch == t.ProducerEpoch:
		next.ProducerEpoch, next.LastProducerEpoch = t.ProducerEpoch+1, t.ProducerEpoch
	case m.ProducerEpoch == t.LastProducerEpoch: // a repeat: nobody else has asked, or there would be no last epoch
	default:
		s.refuseInit(b, requester(&e), PRODUCER_FENCED)
		return
	}
	if next.ProducerID == t.ProducerID {
		next.PreviousProducerID = t.ProducerID
	}
	t.begins(TxnEmpty)
	next.State, next.Partitions, next.StartedMs, next.NextProducerID = TxnEmpty, nil, -1, -1
	next.UpdatedMs, next.TimeoutMs = s.Now/ms, m.TimeoutMs
	s.writeTransaction(b, x, TransactionWrite{Purpose: TxnInit, Next: next, From: e.From, Conn: e.Conn, Correlation: e.Correlation})
}

// initWritten answers an InitProducerId.
func (s *State) initWritten(b *Broker, w *TransactionWrite, code Code) {
	who := w.who()
	if code != NONE {
		s.refuseInit(b, who, code)
		return
	}
	s.answerTransaction(b, who, InitProducerIDResponse{ProducerID: w.Next.ProducerID, ProducerEpoch: w.Next.ProducerEpoch})
}

func (s *State) refuseInit(b *Broker, who txnRequest, code Code) {
	s.answerTransaction(b, who, InitProducerIDResponse{Error: code, ProducerID: -1, ProducerEpoch: -1})
}
