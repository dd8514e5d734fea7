package machine

import "slices"

// TransactionManager, answers: what a transactional producer makes of what it is told (T-35, T-51).
//
// Kafka: TransactionManager.TxnRequestHandler and its subclasses.

// addPartitionsBackoff is the wait after CONCURRENT_TRANSACTIONS for the first partition of a transaction, µs (T-20).
const addPartitionsBackoff = 20_000

// txnAnswered takes an answer to a transactional request; false for any other.
func (s *State) txnAnswered(p *Producer, asked, answer Payload) bool {
	if !p.transactional() {
		return false
	}
	switch a := answer.(type) {
	case FindCoordinatorResponse:
		s.coordinatorFound(p, asked.(FindCoordinatorRequest), &a)
	case InitProducerIDResponse:
		s.txnIdentified(p, &a)
	case AddPartitionsToTxnResponse:
		s.partitionsJoined(p, asked.(AddPartitionsToTxnRequest).Transactions[0].Partitions, a.Results[0].Errors)
	case EndTxnResponse:
		s.endAnswered(p, &a)
	default:
		return s.offsetsAnswered(p, answer)
	}
	return true
}

// txnLost goes on after a transactional request that will not be answered: the coordinator may be another one.
func (s *State) txnLost(p *Producer, asked Payload) {
	switch asked.(type) {
	case InitProducerIDRequest, AddPartitionsToTxnRequest, EndTxnRequest, AddOffsetsToTxnRequest:
		s.txnRetry(p, NOT_COORDINATOR, 0)
	case FindCoordinatorRequest:
		s.txnRetry(p, REQUEST_TIMED_OUT, 0)
	default:
		s.offsetsLost(p, asked)
	}
}

// txnRetry lets the request be sent again after a while, and looks for the coordinator if it is not there any more.
func (s *State) txnRetry(p *Producer, why Code, backoff int64) {
	t := &p.Txn
	if backoff == 0 {
		backoff = p.Times.RetryBackoff
	}
	t.Busy, t.RetryAt = false, s.Now+backoff
	if why == NOT_COORDINATOR || why == COORDINATOR_NOT_AVAILABLE {
		t.Coordinator = NoNode
	}
}

// again tells whether an error is one after which a transactional request is simply sent again.
func (c Code) again() bool {
	switch c {
	case NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, CONCURRENT_TRANSACTIONS, REQUEST_TIMED_OUT, UNKNOWN_TOPIC_OR_PARTITION:
		return true
	}
	return false
}

func (s *State) coordinatorFound(p *Producer, asked FindCoordinatorRequest, a *FindCoordinatorResponse) {
	t := &p.Txn
	if t.Busy = false; a.Error != NONE {
		t.RetryAt = s.Now + p.Times.RetryBackoff
		return
	}
	if asked.Kind == TransactionCoordinator {
		t.Coordinator = a.Node
	} else {
		t.GroupNode = a.Node
	}
}

// fencedAs is how a transactional request's error counts: an old epoch is a fenced producer there.
func fencedAs(code Code) Code {
	if code == INVALID_PRODUCER_EPOCH {
		return PRODUCER_FENCED
	}
	return code
}

func (s *State) txnIdentified(p *Producer, a *InitProducerIDResponse) {
	t := &p.Txn
	t.Busy = false
	switch {
	case a.Error == NONE:
		p.ProducerID, p.ProducerEpoch = a.ProducerID, a.ProducerEpoch
		t.Init, t.Bump = false, false
		s.setTxnState(p, TxnReady, NONE)
	case a.Error.again():
		s.txnRetry(p, a.Error, 0)
	default:
		s.txnFatal(p, fencedAs(a.Error))
	}
}

// partitionsJoined takes the coordinator's answer for partitions that were added (v1).
func (s *State) partitionsJoined(p *Producer, asked []TopicPartition, codes []Code) {
	t := &p.Txn
	t.Busy = false
	for _, code := range codes {
		switch {
		case code == NONE:
		case code == CONCURRENT_TRANSACTIONS && len(t.Added) == 0:
			s.txnRetry(p, code, addPartitionsBackoff)
			return
		case code.again():
			s.txnRetry(p, code, 0)
			return
		default:
			t.New = nil
			if code = fencedAs(code); code == INVALID_TXN_STATE {
				s.txnFatal(p, code)
			} else {
				s.txnFailed(p, code)
			}
			return
		}
	}
	t.Started = true
	t.Added = withPartitions(t.Added, asked)
	t.New = slices.DeleteFunc(slices.Clone(t.New), func(tp TopicPartition) bool { return slices.Contains(t.Added, tp) })
}

// endAnswered takes the coordinator's answer to EndTxn (T-35).
func (s *State) endAnswered(p *Producer, a *EndTxnResponse) {
	t := &p.Txn
	t.Busy = false
	switch {
	case a.Error == NONE:
		if !s.transactionsV1() { // T-32
			p.ProducerID, p.ProducerEpoch = a.ProducerID, a.ProducerEpoch
		}
		s.txnEnded(p)
	case a.Error.again():
		s.txnRetry(p, a.Error, 0)
	case a.Error == TRANSACTION_ABORTABLE && t.Commit:
		s.txnFailed(p, a.Error)
	default:
		s.txnFatal(p, fencedAs(a.Error))
	}
}

// txnEnded lets the next transaction begin; where sequence numbers were lost, with the next epoch (KIP-360).
func (s *State) txnEnded(p *Producer) {
	t := &p.Txn
	t.Ending, t.Started, t.New, t.Added = false, false, nil, nil
	t.Ended++
	if t.Bump && s.transactionsV1() {
		t.Init = true
		s.setTxnState(p, TxnInitializing, NONE)
		s.wakeAt(&p.ClientIO, s.Now)
		return
	}
	t.Bump = false
	s.setTxnState(p, TxnReady, NONE)
}
