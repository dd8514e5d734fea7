package machine

// The transaction coordinator: who may use a transactional id, and what becomes of its transactions.
//
// Every transactional id belongs to one coordinator, which knows the producer id and epoch that may use it and
// the partitions of the open transaction (transaction_state.go). A change is written to the log first and holds
// when it is committed there; until then the id is busy, and whoever asks is told CONCURRENT_TRANSACTIONS.
//
//	transaction_init.go       InitProducerId: a new instance gets the next epoch, and the old one is fenced
//
// Kafka: TransactionCoordinator, TransactionStateManager (KIP-98, KIP-360, KIP-588, KIP-890).

// TransactionPurpose is why a coordinator writes a record.
type TransactionPurpose uint8

// The purposes.
const (
	TxnInit TransactionPurpose = iota // InitProducerId
)

// TransactionWrite is what follows when a record of a transactional id is committed: Next holds from then on,
// and whoever asked is answered.
type TransactionWrite struct {
	Purpose           TransactionPurpose
	Next              TransactionMetadata
	From              NodeID // NoNode when nobody waits
	Conn, Correlation uint32
}

func (TransactionWrite) payload() {}

// txnRequest is who asks a coordinator for something.
type txnRequest struct {
	from              NodeID
	conn, correlation uint32
}

func requester(e *Event) txnRequest { return txnRequest{e.From, e.Conn, e.Correlation} }

// writeTransaction writes the metadata that begins() returned, and returns what it failed with at once.
func (s *State) writeTransaction(b *Broker, x *CoordinatorShard, next TransactionMetadata, why TransactionPurpose, who txnRequest) {
	w := TransactionWrite{Purpose: why, Next: next, From: who.from, Conn: who.conn, Correlation: who.correlation}
	batch := s.ownBatch(b, s.transactionRecord(b, &next))
	if code := s.coordinatorAppend(b, x, batch, next.TimeoutMs*ms, w); code != NONE {
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
		case code == NONE:
			*t = w.Next
		default:
			t.Pending, t.PendingTo = false, 0
		}
	}
	switch w.Purpose {
	case TxnInit:
		s.initWritten(b, &w, code)
	}
}

// answerTransaction answers who asked, if anybody waits.
func (s *State) answerTransaction(b *Broker, who txnRequest, p Payload) {
	if who.from != NoNode {
		s.reply(b, who.from, who.conn, who.correlation, p)
	}
}
