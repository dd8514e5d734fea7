package machine

import "kafkalab/kafkasim/view"

// The transaction coordinator: who may use a transactional id, and what becomes of its transactions.
//
// Every transactional id belongs to one coordinator, which knows the producer id and epoch that may use it and
// the partitions of the open transaction (transaction_state.go). A change is written to the log first and holds
// when it is committed there; until then the id is busy, and whoever asks is told CONCURRENT_TRANSACTIONS.
//
//	transaction_init.go        InitProducerId: a new instance gets the next epoch, and the old one is fenced
//	transaction_partitions.go  AddPartitionsToTxn, AddOffsetsToTxn: what belongs to the open transaction
//	transaction_end.go         EndTxn: the decision
//	transaction_markers.go     WriteTxnMarkers, to the leaders of all partitions; then the transaction is complete
//	transaction_timeout.go     transactions that are open for too long, ids that nobody uses
//
// Kafka: TransactionCoordinator, TransactionStateManager (KIP-98, KIP-360, KIP-588, KIP-890). Absent: two-phase
// commit (KIP-939).

// TransactionPurpose is why a coordinator writes a record.
type TransactionPurpose uint8

// The purposes.
const (
	TxnInit       TransactionPurpose = iota // InitProducerId
	TxnAdd                                  // AddPartitionsToTxn
	TxnAddOffsets                           // AddOffsetsToTxn
	TxnEnd                                  // EndTxn: the decision
	TxnFence                                // the coordinator's own decision
	TxnComplete                             // all markers are written
	TxnExpire                               // the id is forgotten
)

// TransactionWrite is what follows when a record of a transactional id is committed: Next holds from then on,
// and whoever asked is answered.
type TransactionWrite struct {
	Purpose           TransactionPurpose
	Next              TransactionMetadata
	Fence             bool   // the decision raises the epoch to fence somebody
	From              NodeID // NoNode when nobody waits
	Conn, Correlation uint32
	// Of TxnAdd: the request, the transaction's place in it, and for how many partitions.
	Add          uint32
	Index, Asked int32
}

func (TransactionWrite) payload() {}

// txnRequest is who asks a coordinator for something.
type txnRequest struct {
	from              NodeID
	conn, correlation uint32
}

func requester(e *Event) txnRequest { return txnRequest{e.From, e.Conn, e.Correlation} }

func (w *TransactionWrite) who() txnRequest { return txnRequest{w.From, w.Conn, w.Correlation} }

// writeTransaction writes the metadata that begins() returned.
func (s *State) writeTransaction(b *Broker, x *CoordinatorShard, w TransactionWrite) {
	batch := s.ownBatch(b, s.transactionRecord(b, &w.Next))
	if s.mutant(AnswersBeforeTheLog) {
		s.transactionWritten(b, x, w, NONE)
	} else if code := s.coordinatorAppend(b, x, batch, w.Next.TimeoutMs*ms, w); code != NONE {
		s.transactionWritten(b, x, w, code)
	}
}

// transactionWritten goes on when a record is committed, or not. Without the shard only who asked is told.
func (s *State) transactionWritten(b *Broker, x *CoordinatorShard, w TransactionWrite, code Code) {
	if x != nil {
		t := x.transaction(w.Next.ID)
		switch {
		case t == nil:
			code = NOT_COORDINATOR
		case code == NONE && w.Purpose == TxnExpire:
			s.transitioned(x, t, &w.Next)
			x.forget(w.Next.ID)
			s.noteTransaction(b, &w.Next)
		case code == NONE:
			s.transitioned(x, t, &w.Next)
			*t = w.Next
			s.noteTransaction(b, t)
			s.watchTransactions(b, t)
		default:
			t.Pending, t.PendingTo = false, 0
		}
	}
	switch w.Purpose {
	case TxnInit:
		s.initWritten(b, &w, code)
	case TxnAdd:
		s.addAnswered(b, w.Add, int(w.Index), allOf(int(w.Asked), code))
	case TxnAddOffsets:
		s.answerTransaction(b, w.who(), AddOffsetsToTxnResponse{code})
	case TxnEnd:
		s.endWritten(b, x, &w, code)
	case TxnFence:
		s.fenceWritten(b, x, &w, code)
	case TxnComplete:
		s.completeWritten(b, x, &w, code)
	case TxnExpire:
	}
}

// handleTransactions carries out a request about transactions.
func (s *State) handleTransactions(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case AddPartitionsToTxnRequest:
		s.onAddPartitionsToTxn(b, e, p)
	case AddOffsetsToTxnRequest:
		s.onAddOffsetsToTxn(b, e, p)
	case EndTxnRequest:
		s.onEndTxn(b, e, p)
	case WriteTxnMarkersRequest:
		s.onWriteTxnMarkers(b, e, p)
	default:
		s.handleGroup(b, e)
	}
}

// transactionTimer handles a timer of transactions.
func (s *State) transactionTimer(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case PeerTimer:
		s.onPeerTimer(b, e, p)
	case MarkerTimer:
		s.onMarkerTimer(b, e)
	case VerifyTimer:
		s.onVerifyTimer(b, e)
	case TransactionTimer:
		s.onTransactionTimer(b, e)
	case ExpireTransactionsTimer:
		s.onExpireTransactions(b, e)
	default:
		unexpected(e)
	}
}

// answerTransaction answers who asked, if anybody waits.
func (s *State) answerTransaction(b *Broker, who txnRequest, p Payload) {
	if who.from != NoNode {
		s.reply(b, who.from, who.conn, who.correlation, p)
	}
}

// noteTransaction notes a transactional id's new state.
func (s *State) noteTransaction(b *Broker, t *TransactionMetadata) {
	if s.Quiet {
		return
	}
	var parts []int
	for _, tp := range t.Partitions {
		parts = append(parts, s.ordinal(tp))
	}
	s.note(view.Change{Kind: view.TransactionState, Broker: int(b.ID), Partition: -1, Client: t.ID, A: t.ProducerID, B: int64(t.ProducerEpoch),
		C: t.StartedMs, List: parts, Text: t.State.String()})
}
