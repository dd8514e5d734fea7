package machine

// EndTxn, at the coordinator (T-31 to T-35).
//
// The decision is written to the log, then the client is answered, then the markers go out, and when all are written
// the transaction is complete. With transactions v2 the decision raises the epoch, so that no message of this
// transaction can count for the next one.
//
// Kafka: TransactionCoordinator.endTransaction, endTransactionWithTV1; TransactionMetadata.prepareAbortOrCommit,
// prepareComplete (KIP-98, KIP-588, KIP-890).

// ending is a request to end a transaction, a client's or the coordinator's own.
type ending struct {
	commit  bool
	version int8 // of the client's protocol; the cluster's for the coordinator's own
	fence   bool // the coordinator's own: who has the present epoch is fenced
	// A repeat of a request that was carried out: its epoch is one below the present, or the last of an id that was
	// replaced (T-33).
	retry bool
}

// onEndTxn is one EndTxn request.
func (s *State) onEndTxn(b *Broker, e Event, m EndTxnRequest) {
	who := requester(&e)
	x, code := b.coordinator(TransactionCoordinator, m.ID)
	if code != NONE {
		s.refuseEnd(b, who, code)
		return
	}
	t := x.transaction(m.ID)
	if t == nil {
		s.refuseEnd(b, who, INVALID_PRODUCER_ID_MAPPING)
		return
	}
	how := ending{commit: m.Commit, version: m.Version}
	code, goes := s.mayEnd(t, &m, &how)
	switch {
	case goes:
		s.prepareEnd(b, x, t, how, who, TxnEnd)
	case code != NONE:
		s.refuseEnd(b, who, code)
	default: // a repeat of what is done
		s.answerTransaction(b, who, EndTxnResponse{ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch})
	}
}

// mayEnd decides about a client's request: goes tells that it is to be carried out.
func (s *State) mayEnd(t *TransactionMetadata, m *EndTxnRequest, how *ending) (code Code, goes bool) {
	overflow := how.version >= TransactionV2 && m.ProducerID == t.PreviousProducerID && m.ProducerEpoch == maxProducerEpoch-1 && t.ProducerEpoch == 0
	switch {
	case t.Pending:
		return CONCURRENT_TRANSACTIONS, false // T-35
	case t.ProducerID != m.ProducerID && !overflow:
		return INVALID_PRODUCER_ID_MAPPING, false
	}
	if how.version < TransactionV2 {
		return s.mayEndV1(t, m)
	}
	how.retry = overflow || t.ProducerEpoch == m.ProducerEpoch+1
	if !s.validEpochV2(t, m.ProducerEpoch, how.retry) {
		return PRODUCER_FENCED, false
	}
	return endTable(t.State, how)
}

// validEpochV2 is the part of T-33 that is about epochs.
func (s *State) validEpochV2(t *TransactionMetadata, epoch int16, retry bool) bool {
	current := epoch == t.ProducerEpoch || s.mutant(EndsForAnyEpoch)
	switch {
	case t.State.Prepared():
		return retry
	case t.State.Complete():
		return retry || current
	}
	return current
}

// endTable is T-33 for an epoch that is valid: what is answered, or that the transaction is ended.
func endTable(state TransactionState, how *ending) (code Code, goes bool) {
	switch state {
	case TxnOngoing:
		return NONE, true
	case TxnEmpty:
		if how.commit {
			return INVALID_TXN_STATE, false
		}
		return NONE, true
	case TxnPrepareCommit, TxnPrepareAbort:
		if how.commit != (state == TxnPrepareCommit) {
			return INVALID_TXN_STATE, false
		}
		return CONCURRENT_TRANSACTIONS, false
	}
	switch same := how.commit == (state == TxnCompleteCommit); {
	case how.retry && same:
		return NONE, false
	case how.retry || how.commit:
		return INVALID_TXN_STATE, false
	}
	return NONE, true // an abort of nothing: it raises the epoch (T-34)
}

// mayEndV1 is T-34: the epoch matches exactly.
func (s *State) mayEndV1(t *TransactionMetadata, m *EndTxnRequest) (code Code, goes bool) {
	if m.ProducerEpoch != t.ProducerEpoch && !s.mutant(EndsForAnyEpoch) {
		return PRODUCER_FENCED, false
	}
	switch t.State {
	case TxnOngoing:
		return NONE, true
	case TxnEmpty:
		return INVALID_TXN_STATE, false
	case TxnPrepareCommit, TxnPrepareAbort:
		if m.Commit != (t.State == TxnPrepareCommit) {
			return INVALID_TXN_STATE, false
		}
		return CONCURRENT_TRANSACTIONS, false
	}
	if m.Commit != (t.State == TxnCompleteCommit) {
		return INVALID_TXN_STATE, false
	}
	return NONE, false
}

// prepareEnd writes the decision.
func (s *State) prepareEnd(b *Broker, x *CoordinatorShard, t *TransactionMetadata, how ending, who txnRequest, why TransactionPurpose) {
	v2 := how.version >= TransactionV2
	next := int64(-1)
	if v2 && epochExhausted(t.ProducerEpoch) && (!how.fence || s.World.Rules.On(FenceTakesNewID)) {
		id, ok := b.IDs.take()
		if !ok {
			s.askProducerIDs(b)
			if how.fence {
				s.answerFence(b, who, COORDINATOR_LOAD_IN_PROGRESS)
			} else {
				s.refuseEnd(b, who, COORDINATOR_LOAD_IN_PROGRESS)
			}
			return
		}
		next = id
	}
	to := TxnPrepareAbort
	if how.commit {
		to = TxnPrepareCommit
	}
	if how.fence && !v2 {
		// The old rule raises the epoch in memory, before it is written, and once only.
		if !t.FailedFence || s.World.Rules.Without(FenceOnce) {
			t.ProducerEpoch, t.LastProducerEpoch = t.ProducerEpoch+1, -1
		}
	}
	open := t.State == TxnOngoing
	n := t.begins(to)
	n.UpdatedMs, n.Version, n.NextProducerID = s.Now/ms, how.version, next
	if !open {
		n.StartedMs, n.Partitions = n.UpdatedMs, nil
	}
	if v2 && !s.mutant(SameEpochAtEnd) {
		n.ProducerEpoch, n.LastProducerEpoch = t.ProducerEpoch+1, t.ProducerEpoch
	}
	s.writeTransaction(b, x, TransactionWrite{Purpose: why, Next: n, Fence: how.fence, From: who.from, Conn: who.conn, Correlation: who.correlation})
}

// endWritten answers an EndTxn and lets the markers go (T-31).
func (s *State) endWritten(b *Broker, x *CoordinatorShard, w *TransactionWrite, code Code) {
	who := w.who()
	if code != NONE {
		s.endFailed(x, w)
		s.refuseEnd(b, who, code)
		return
	}
	res := EndTxnResponse{ProducerID: w.Next.ProducerID, ProducerEpoch: w.Next.ProducerEpoch}
	if w.Next.NextProducerID >= 0 {
		res.ProducerID, res.ProducerEpoch = w.Next.NextProducerID, 0 // T-32
	}
	s.answerTransaction(b, who, res)
	s.sendTxnMarkers(b, x, x.transaction(w.Next.ID))
}

// endFailed remembers an epoch that was raised and not written.
func (s *State) endFailed(x *CoordinatorShard, w *TransactionWrite) {
	if x == nil || !w.Fence || w.Next.Version >= TransactionV2 {
		return
	}
	if t := x.transaction(w.Next.ID); t != nil {
		t.FailedFence = true
	}
}

// fence ends an open transaction for the coordinator's own reasons: whoever has the present epoch is fenced by it.
func (s *State) fence(b *Broker, x *CoordinatorShard, t *TransactionMetadata, who txnRequest, why TransactionPurpose) {
	if t.ProducerEpoch == maxProducerEpoch {
		s.answerFence(b, who, UNKNOWN_SERVER_ERROR) // there is no higher epoch
		return
	}
	s.prepareEnd(b, x, t, ending{version: s.transactionVersion(), fence: true}, who, why)
}

// transactionVersion is the protocol of the cluster: transaction.version.
func (s *State) transactionVersion() int8 {
	if s.World.Rules.On(TransactionsV2) {
		return TransactionV2
	}
	return TransactionV0
}

// fenceWritten tells whoever caused it to try again when the transaction has ended (T-12).
func (s *State) fenceWritten(b *Broker, x *CoordinatorShard, w *TransactionWrite, code Code) {
	if code != NONE {
		s.endFailed(x, w)
	} else {
		s.sendTxnMarkers(b, x, x.transaction(w.Next.ID))
		code = CONCURRENT_TRANSACTIONS
	}
	s.answerFence(b, w.who(), code)
}

func (s *State) answerFence(b *Broker, who txnRequest, code Code) {
	if who.from != NoNode {
		s.refuseInit(b, who, code)
	}
}

// completeEnd writes that all markers are written.
func (s *State) completeEnd(b *Broker, x *CoordinatorShard, t *TransactionMetadata) {
	to := TxnCompleteAbort
	if t.State == TxnPrepareCommit {
		to = TxnCompleteCommit
	}
	n := t.begins(to)
	n.Partitions, n.UpdatedMs, n.FailedFence = nil, s.Now/ms, false
	if t.Version >= TransactionV2 {
		n.PreviousProducerID = t.ProducerID
		if t.NextProducerID >= 0 {
			n.ProducerID, n.ProducerEpoch, n.LastProducerEpoch, n.NextProducerID = t.NextProducerID, 0, t.ProducerEpoch, -1
		}
	}
	s.writeTransaction(b, x, TransactionWrite{Purpose: TxnComplete, Next: n})
}

func (s *State) refuseEnd(b *Broker, who txnRequest, code Code) {
	s.answerTransaction(b, who, EndTxnResponse{Error: code, ProducerID: -1, ProducerEpoch: -1})
}
