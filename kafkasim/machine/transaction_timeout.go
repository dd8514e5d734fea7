package machine

// What a transaction coordinator does by the clock (T-50, T-54): it aborts transactions that are open for longer
// than their transaction.timeout.ms, and forgets transactional ids that nobody has used for
// transactional.id.expiration.ms.
//
// Kafka: TransactionCoordinator.abortTimedOutTransactions, TransactionStateManager.timedOutTransactions,
// enableTransactionalIdExpiration. Both tasks run at fixed distances from the start of the process; here they are
// events only while there is something to look at.

// TransactionTimer: a coordinator looks for transactions that are open for too long.
type TransactionTimer struct{}

// ExpireTransactionsTimer: a coordinator looks for transactional ids that nobody uses.
type ExpireTransactionsTimer struct{}

func (TransactionTimer) payload()        {}
func (ExpireTransactionsTimer) payload() {}

// watchTransactions makes sure that the task looks at a transactional id.
func (s *State) watchTransactions(b *Broker, t *TransactionMetadata) {
	w := &s.World.Broker.Transactions
	if t.State == TxnOngoing {
		s.wake(&b.AbortAt, s.nextRound(b, w.AbortIntervalMs*ms), b.ID, TransactionTimer{})
	} else if !t.State.Prepared() {
		s.wake(&b.ExpireAt, s.nextRound(b, w.ExpireIntervalMs*ms), b.ID, ExpireTransactionsTimer{})
	}
}

// nextRound is when a task that runs every so many µs since the start of the process runs next.
func (s *State) nextRound(b *Broker, every int64) int64 {
	return s.Now + every - (s.Now-b.Lifecycle.StartedAt)%every
}

// onTransactionTimer aborts what is open for too long: the epoch is raised, and the producer is fenced (T-50).
func (s *State) onTransactionTimer(b *Broker, e Event) {
	if e.At != b.AbortAt {
		return
	}
	b.AbortAt = 0
	for i := range b.Shards {
		x := &b.Shards[i]
		for j := range x.Transactions {
			t := &x.Transactions[j]
			if t.State != TxnOngoing {
				continue
			}
			s.watchTransactions(b, t)
			if late := t.StartedMs+t.TimeoutMs < s.Now/ms; late && !t.Pending && !s.mutant(NeverTimesOut) {
				s.fence(b, x, t, txnRequest{}, TxnFence)
			}
		}
	}
}

// onExpireTransactions forgets ids that are in a final state and were not used for long: a tombstone each (T-54).
func (s *State) onExpireTransactions(b *Broker, e Event) {
	if e.At != b.ExpireAt {
		return
	}
	b.ExpireAt = 0
	before := s.Now/ms - s.World.Broker.Transactions.IDExpirationMs
	for i := range b.Shards {
		x := &b.Shards[i]
		for j := range x.Transactions {
			t := &x.Transactions[j]
			s.watchTransactions(b, t)
			if (t.State == TxnEmpty || t.State.Complete()) && t.UpdatedMs <= before && !t.Pending {
				n := t.begins(TxnDead)
				n.Partitions = nil
				s.writeTransaction(b, x, TransactionWrite{Purpose: TxnExpire, Next: n})
			}
		}
	}
}
