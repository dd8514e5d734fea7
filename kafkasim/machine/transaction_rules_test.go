package machine

import "testing"

// T-23, T-24: what a coordinator says of partitions that are to be added, and how the partition's leader tells the producer.
func TestCoordinatorChecksWhatIsAdded(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.Turn(TransactionsV2, false) })
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	for _, c := range []struct {
		what   string
		change func(*txn)
		added  Code // the coordinator's answer
		sent   Code // the leader's, which has asked the coordinator
	}{
		{"another producer id", func(o *txn) { o.pid += 7 }, INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_ID_MAPPING},
		{"an unknown transactional id", func(o *txn) { o.id = "nobody" }, INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_ID_MAPPING},
		{"another epoch", func(o *txn) { o.epoch++ }, PRODUCER_FENCED, INVALID_PRODUCER_EPOCH},
	} {
		o := *x
		c.change(&o)
		want(t, c.what+", added", o.add(tp), c.added)
		want(t, c.what+", sent", o.send(tp, "a"), c.sent)
	}
	want(t, "the producer itself", x.add(tp), NONE)
	want(t, "its batch", x.send(tp, "a"), NONE)
	node := b.findCoordinator(TransactionCoordinator, x.id)
	s, _ := b.broker(node).coordinator(TransactionCoordinator, x.id)
	s.transaction(x.id).Pending = true
	want(t, "while a change is written", x.add(tp), CONCURRENT_TRANSACTIONS)
}

// T-42: while a transaction is open in a log, its producer's batches are part of it.
func TestBatchesOutsideTheTransactionT42(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	plain := func(seq int32) Code {
		req := x.request(tp, "plain")
		req.TransactionalID = ""
		req.Parts[0].Batch.Transactional, req.Parts[0].Batch.BaseSequence = false, seq
		return b.call(1, req).(ProduceResponse).Parts[0].Error
	}
	want(t, "in the transaction", x.send(tp, "a"), NONE)
	want(t, "outside it, while it is open", plain(1), INVALID_TXN_STATE)
	want(t, "commit", x.end(true), NONE)
	x.settled(TxnCompleteCommit)
	want(t, "outside any", plain(0), NONE)
}
