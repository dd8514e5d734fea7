package machine

import "slices"

// What a transaction coordinator knows of one transactional id, and how that may change (T-2).
//
// Kafka: TransactionMetadata, TransactionState, TxnTransitMetadata.

// TransactionState is the state of a transactional id at its coordinator. The numbers are those in the log.
type TransactionState uint8

// The states (T-2).
const (
	TxnEmpty TransactionState = iota
	TxnOngoing
	TxnPrepareCommit
	TxnPrepareAbort
	TxnCompleteCommit
	TxnCompleteAbort
	TxnDead
	TxnPrepareEpochFence
)

var transactionStates = [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"}

// String is Kafka's name of the state.
func (t TransactionState) String() string { return transactionStates[t] }

// Prepared tells whether the outcome is decided and its markers are being written.
func (t TransactionState) Prepared() bool { return t == TxnPrepareCommit || t == TxnPrepareAbort }

// Complete tells whether the last transaction has ended and its markers are written.
func (t TransactionState) Complete() bool { return t == TxnCompleteCommit || t == TxnCompleteAbort }

// Versions of the transaction protocol, as a client speaks it (TransactionVersion, KIP-890).
const (
	TransactionV0 int8 = 0
	TransactionV1 int8 = 1 // the first protocol, and the client knows TRANSACTION_ABORTABLE
	TransactionV2 int8 = 2
)

// TransactionMetadata is one transactional id at its coordinator, as the last record that is committed has it.
type TransactionMetadata struct {
	ID                 string
	ProducerID         int64
	PreviousProducerID int64 // of the transaction before, -1 for none
	NextProducerID     int64 // for the next transaction, when this id's epochs are used up; -1
	ProducerEpoch      int16 // -1 before the first InitProducerId is written
	LastProducerEpoch  int16 // -1 for none; only in memory
	TimeoutMs          int64
	State              TransactionState
	Partitions         []TopicPartition // of the open transaction, sorted; immutable
	StartedMs          int64            // when the first partition was added, -1 for no transaction
	UpdatedMs          int64
	Version            int8 // of the client that ended the last transaction

	// What is being written to the log. Nothing else may change the state meanwhile.
	Pending   bool
	PendingTo TransactionState
	// A fencing epoch was raised in memory and could not be written: it is not raised again.
	FailedFence bool
}

// epochExhausted tells whether an epoch is the last that a client may get: one more is kept for fencing.
func epochExhausted(epoch int16) bool { return epoch >= maxProducerEpoch-1 }

// begins makes a transition the pending one, and returns the metadata as they will be: a copy to change.
func (t *TransactionMetadata) begins(to TransactionState) TransactionMetadata {
	if t.Pending {
		panic("machine: a transition of " + t.ID + " to " + to.String() + " while one to " + t.PendingTo.String() + " is pending")
	}
	t.Pending, t.PendingTo = true, to
	next := *t
	next.State, next.Pending, next.PendingTo = to, false, 0
	return next
}

// with is the sorted list of partitions with more in it; the old one stays as it is.
func withPartitions(list, more []TopicPartition) []TopicPartition {
	out := slices.Clone(list)
	for _, tp := range more {
		out = addChanged(out, tp)
	}
	return out
}

// subset tells whether every partition of one sorted list is in another.
func subset(of, list []TopicPartition) bool {
	for _, tp := range of {
		if !slices.Contains(list, tp) {
			return false
		}
	}
	return true
}

// transaction finds a transactional id in a shard; nil when it is unknown. The pointer is good until the list
// changes.
func (x *CoordinatorShard) transaction(id string) *TransactionMetadata {
	if i, found := x.findTransaction(id); found {
		return &x.Transactions[i]
	}
	return nil
}

func (x *CoordinatorShard) findTransaction(id string) (int, bool) {
	return slices.BinarySearchFunc(x.Transactions, id, func(t TransactionMetadata, id string) int {
		switch {
		case t.ID < id:
			return -1
		case t.ID > id:
			return 1
		}
		return 0
	})
}

// put enters metadata, in the place of what the shard had of the same id.
func (x *CoordinatorShard) put(t TransactionMetadata) {
	i, found := x.findTransaction(t.ID)
	if !found {
		x.Transactions = slices.Insert(x.Transactions, i, TransactionMetadata{})
	}
	x.Transactions[i] = t
}

// forget drops a transactional id.
func (x *CoordinatorShard) forget(id string) {
	if i, found := x.findTransaction(id); found {
		x.Transactions = slices.Delete(x.Transactions, i, i+1)
	}
}

// unshare gives a copied shard its own of everything that a step changes in place.
func (x *CoordinatorShard) unshare() {
	x.Share.unshare()
	x.Transactions = slices.Clone(x.Transactions)
	x.unshareGroups()
}
