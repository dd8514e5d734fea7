package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// TransactionManager: the transactional side of a producer client.
//
// The application's calls change the state; the sender then sends what follows from it, one request at a time, and
// nothing else while one is in flight: find the coordinator, get a producer id, add partitions (v1) and offsets, end
// the transaction (T-56). An error makes the transaction fit for abortion only, or ends the producer (T-55).
//
// Kafka: TransactionManager, Sender.maybeSendAndPollTransactionalRequest (KIP-98, KIP-360, KIP-588, KIP-890).
// Simplified: a client speaks the cluster's newest protocol from the start (T-27). Absent: two-phase commit (KIP-939).

// TxnClientState is the state of a transactional producer (T-55).
type TxnClientState uint8

// The states of a transactional producer.
const (
	TxnUninitialized TxnClientState = iota
	TxnInitializing
	TxnReady
	TxnInTransaction
	TxnCommitting
	TxnAborting
	TxnAbortableError
	TxnFatalError
)

// String is Kafka's name of the state.
func (x TxnClientState) String() string {
	return [...]string{"UNINITIALIZED", "INITIALIZING", "READY", "IN_TRANSACTION", "COMMITTING_TRANSACTION", "ABORTING_TRANSACTION", "ABORTABLE_ERROR", "FATAL_ERROR"}[x]
}

// TransactionManager is a producer's transactional state.
type TransactionManager struct {
	State       TxnClientState
	Error       Code   // of an error state
	Coordinator NodeID // NoNode while none is known
	Busy        bool   // a request is in flight
	RetryAt     int64  // µs: the next one is not sent before
	Init        bool   // InitProducerId is to be sent
	Bump        bool   // … with the present id, for the next epoch, before another transaction (KIP-360)
	Ending      bool   // EndTxn is to be sent
	Commit      bool
	Started     bool             // the coordinator may know of the transaction
	New, Added  []TopicPartition // v1: partitions that are to be added, and that are (T-20)
	Failed      Code             // what the last commit or abort failed with
	Ended       int64            // transactions that this producer has ended
	Call        TxnCall          // the last call that waits, or has waited, for an answer
	CalledAt    int64            // µs
	ReturnedAt  int64            // µs: when its end was reached
	OffsetQueue
}

// TxnCall is a call of the application that blocks.
type TxnCall uint8

// The calls that block.
const (
	NoCall TxnCall = iota
	CallInit
	CallCommit
	CallAbort
	CallOffsets
)

// gaveUp tells whether the last call that blocks has thrown TimeoutException, after max.block.ms. However it ends, it must
// be repeated before another one (T-16).
func (s *State) gaveUp(p *Producer) bool {
	t := &p.Txn
	end := t.ReturnedAt
	if t.Waits() {
		end = s.Now
	}
	return t.Call != NoCall && end-t.CalledAt >= p.Config.MaxBlockMs*ms
}

// String is Kafka's name of the call.
func (c TxnCall) String() string {
	return [...]string{"", "initTransactions", "commitTransaction", "abortTransaction", "sendOffsetsToTransaction"}[c]
}

// repeats tells whether a call repeats one that has given up: it goes on waiting for the same end, or finds it reached.
func (s *State) repeats(p *Producer, call TxnCall) bool {
	if p.Txn.Call != call || !s.gaveUp(p) {
		return false
	}
	p.Txn.CalledAt = s.Now
	return true
}

// GaveUp tells whether a producer's last call that blocks has thrown TimeoutException and must be repeated.
func (s *State) GaveUp(producer int32) bool {
	p := &s.Producers[producer]
	return p.Txn.Call != CallOffsets && s.gaveUp(p)
}

// called notes a call that blocks.
func (t *TransactionManager) called(call TxnCall, now int64) { t.Call, t.CalledAt = call, now }

// transactional tells whether a producer has a transactional id.
func (p *Producer) transactional() bool { return p.Config.TransactionalID != "" }

// transactionsV1 tells whether clients speak the first protocol.
func (s *State) transactionsV1() bool { return s.World.Rules.Without(TransactionsV2) }

// clientTxnVersion is the protocol of transactions that a producer speaks.
func (s *State) clientTxnVersion(p *Producer) int8 {
	switch {
	case !p.transactional():
		return TransactionV0
	case s.transactionsV1():
		return TransactionV1
	}
	return TransactionV2
}

// setTxnState moves a producer to a state and says so.
func (s *State) setTxnState(p *Producer, to TxnClientState, why Code) {
	t := &p.Txn
	if t.State, t.Error = to, why; !t.Waits() {
		s.callReturns(p)
	}
	text := to.String()
	if why != NONE {
		text += " " + why.String()
	}
	s.note(view.Change{Kind: view.ProducerState, Broker: -1, Partition: -1, Client: p.Name, A: p.ProducerID, B: int64(p.ProducerEpoch), Text: text})
}

// refusal is what a call throws in the present state: the error of an error state, else IllegalStateException.
func (t *TransactionManager) refusal() Code {
	if t.State >= TxnAbortableError {
		return t.Error
	}
	return ILLEGAL_STATE
}

// InitTransactions is initTransactions(). It ends when the state is READY; a call that was given up can be repeated.
type InitTransactions struct {
	Producer int32
	Async    bool // as EndTransaction's
}

// BeginTransaction is beginTransaction(): nothing is sent (T-26).
type BeginTransaction struct{ Producer int32 }

// EndTransaction is commitTransaction() or abortTransaction(). It ends when the state is READY, or an error state.
type EndTransaction struct {
	Producer int32
	Commit   bool
	Async    bool // nobody waits for it; the result's ID is the call's number
}

func (InitTransactions) command() {}
func (BeginTransaction) command() {}
func (EndTransaction) command()   {}

// Waits tells whether a call has not returned yet.
func (t *TransactionManager) Waits() bool {
	return t.hasOffsets() || t.State == TxnInitializing || t.State == TxnCommitting || t.State == TxnAborting
}

// initTransactions begins to get a producer id (T-10, T-16).
func (s *State) initTransactions(p *Producer) Code {
	t := &p.Txn
	switch s.overdueCall(p); {
	case t.State == TxnUninitialized:
		t.called(CallInit, s.Now)
		s.setTxnState(p, TxnInitializing, NONE)
		t.Init = true
	case s.repeats(p, CallInit):
	default:
		return t.refusal()
	}
	s.wakeAt(&p.ClientIO, s.Now)
	return NONE
}

// beginTransaction lets records be sent.
func (s *State) beginTransaction(p *Producer) Code {
	t := &p.Txn
	if t.State != TxnReady || t.Call != CallOffsets && s.gaveUp(p) {
		return t.refusal()
	}
	t.Started, t.New, t.Added, t.Failed, t.Call, t.GroupAdded = false, nil, nil, NONE, NoCall, false
	s.setTxnState(p, TxnInTransaction, NONE)
	return NONE
}

// endTransaction begins to commit, after a flush (T-30), or to abort, without what was not sent (T-36).
func (s *State) endTransaction(p *Producer, commit bool) Code {
	t, call := &p.Txn, endingCall(commit)
	switch s.overdueCall(p); {
	case t.State == TxnInTransaction, t.State == TxnAbortableError && !commit:
		t.called(call, s.Now)
	case s.repeats(p, call):
		return NONE
	default:
		return t.refusal()
	}
	t.Ending, t.Commit, t.Failed = true, commit, NONE
	if commit {
		s.setTxnState(p, TxnCommitting, NONE)
		s.flush(p)
	} else {
		s.setTxnState(p, TxnAborting, NONE)
		t.forgetOffsets()
		for ; p.Blocked.Count > 0; p.Blocked.pop() { // send() that never came to a batch
			b := p.Blocked.first()
			s.failSend(p, b.Number, b.At, TRANSACTION_ABORTED, &b.Record)
		}
	}
	s.wakeAt(&p.ClientIO, s.Now)
	return NONE
}

// endingCall is the call that ends a transaction so.
func endingCall(commit bool) TxnCall {
	if commit {
		return CallCommit
	}
	return CallAbort
}

// mayTransact is why send() is refused; NONE for "it is not" (T-55).
func (p *Producer) mayTransact() Code {
	if !p.transactional() || p.Txn.State == TxnInTransaction {
		return NONE
	}
	return p.Txn.refusal()
}

// joins takes a partition into the transaction with its first batch.
func (s *State) joins(p *Producer, tp TopicPartition) {
	t := &p.Txn
	if !s.transactionsV1() {
		t.Started = true
	} else if !slices.Contains(t.Added, tp) {
		t.New = addChanged(slices.Clone(t.New), tp)
	}
}

// mayDrain tells whether a partition's batches may go: in v1 only when the coordinator has it (T-20).
func (s *State) mayDrain(p *Producer, tp TopicPartition) bool {
	return !p.transactional() || !s.transactionsV1() || slices.Contains(p.Txn.Added, tp)
}

// txnFailed makes an error the state's: fatal ones end the producer, others the transaction (T-55).
func (s *State) txnFailed(p *Producer, why Code) {
	t := &p.Txn
	switch {
	case t.State == TxnFatalError:
	case why == PRODUCER_FENCED || why == INVALID_PRODUCER_ID_MAPPING || t.State < TxnReady:
		s.txnFatal(p, why)
	case t.State == TxnAborting || t.State == TxnReady:
	default:
		if t.Ending {
			t.Ending, t.Failed = false, why
		}
		t.Bump = t.Bump || s.transactionsV1() && why != TRANSACTION_ABORTABLE
		s.setTxnState(p, TxnAbortableError, why)
	}
}

// txnFatal ends a producer: nothing but close() is left.
func (s *State) txnFatal(p *Producer, why Code) {
	p.Txn.Ending, p.Txn.Init, p.Txn.Failed = false, false, why
	p.Txn.forgetOffsets()
	s.setTxnState(p, TxnFatalError, why)
}

// incomplete tells whether any batch is not decided.
func (p *Producer) incomplete() bool {
	return p.Blocked.Count > 0 || slices.ContainsFunc(p.Live, func(b LiveBatch) bool { return b.Status == batchQueued || b.Status == batchInFlight })
}

// runTransactions does what the transactional side can do now, and tells whether batches may be sent.
func (s *State) runTransactions(p *Producer) bool {
	t := &p.Txn
	p.resolve()
	if p.Bump { // sequence numbers cannot be saved (P-88, P-90)
		p.Bump = false
		s.txnFailed(p, OUT_OF_ORDER_SEQUENCE_NUMBER)
	}
	switch {
	case t.State == TxnFatalError:
		s.dropQueued(p, t.Error, true)
		return false
	case t.Ending && !t.Commit:
		s.dropQueued(p, TRANSACTION_ABORTED, false)
	}
	if !t.Busy && s.Now >= t.RetryAt {
		s.nextTxnRequest(p)
	}
	return p.mayBatch()
}

// mayBatch tells whether batches may be sent, and expire: not while a request about the transaction is in flight.
func (p *Producer) mayBatch() bool {
	t := &p.Txn
	return p.ProducerID >= 0 && !t.Busy && !t.Init && t.State != TxnFatalError
}

// dropQueued fails the batches that wait: those that were never sent, or all.
func (s *State) dropQueued(p *Producer, why Code, all bool) {
	for _, ref := range p.Active {
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		kept := part.Queue[:0:0]
		for _, slot := range part.Queue {
			if !all && p.Live[slot].Batch.BaseSequence >= 0 {
				kept = append(kept, slot)
				continue
			}
			s.fail(p, slot, why, false)
			p.forget(slot)
		}
		part.Queue = kept
	}
	p.rest()
}

// nextTxnRequest sends what comes next (T-56).
func (s *State) nextTxnRequest(p *Producer) {
	t := &p.Txn
	waits := t.Ending && p.incomplete()
	switch {
	case !t.Init && len(t.New) == 0 && !t.hasOffsets() && (!t.Ending || waits):
		return
	case t.Coordinator == NoNode:
		s.askAnybody(p, FindCoordinatorRequest{Kind: TransactionCoordinator, Key: p.Config.TransactionalID})
	case t.Init && p.Config.TransactionTimeoutMs <= 0:
		// InitProducerIdRequest.Builder refuses to build such a request, again and again: nothing is sent, and the call
		// waits for nothing until max.block.ms.
	case t.Init:
		m := InitProducerIDRequest{TransactionalID: p.Config.TransactionalID, TimeoutMs: p.Config.TransactionTimeoutMs, ProducerID: -1, ProducerEpoch: -1}
		if p.ProducerID >= 0 {
			m.ProducerID, m.ProducerEpoch = p.ProducerID, p.ProducerEpoch
		}
		s.askTxnCoordinator(p, t.Coordinator, m)
	case len(t.New) > 0:
		s.askTxnCoordinator(p, t.Coordinator, AddPartitionsToTxnRequest{[]TransactionPart{{
			ID: p.Config.TransactionalID, ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, Partitions: t.New}}})
	case t.hasOffsets():
		s.sendTxnOffsets(p)
	case !t.Started && !t.Bump: // nothing happened: no request (T-30)
		s.txnEnded(p)
	default:
		s.askTxnCoordinator(p, t.Coordinator, EndTxnRequest{ID: p.Config.TransactionalID, ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch,
			Commit: t.Commit, Version: s.clientTxnVersion(p)})
	}
}

// askAnybody sends a request that any broker can answer.
func (s *State) askAnybody(p *Producer, m Payload) {
	if c := s.leastLoaded(&p.ClientIO, p.Config.MaxInFlight); c != nil {
		p.Txn.Busy = true
		s.clientRequest(&p.ClientIO, c, Request{Payload: m}, true)
	} else {
		p.Txn.RetryAt = p.orReconnect(s.Now, s.Now)
	}
}

// askTxnCoordinator sends a request to a coordinator, if it can be connected to.
func (s *State) askTxnCoordinator(p *Producer, node NodeID, m Payload) {
	c := p.conn(node)
	if !c.usable(s.Now) {
		p.Txn.RetryAt = c.RetryAt
		return
	}
	p.Txn.Busy = true
	s.clientRequest(&p.ClientIO, c, Request{Payload: m}, true)
}

// txnDeadline is when the transactional side has something to do by itself.
func (p *Producer) txnDeadline(now int64) int64 {
	if p.Txn.RetryAt > now && !p.Txn.Busy {
		return p.Txn.RetryAt
	}
	return never
}
