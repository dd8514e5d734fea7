package machine

import (
	"fmt"
	"slices"
	"testing"
)

// apart makes a topic whose partition 0 is led by the coordinator of tx-1 and partition 1 by another broker.
func (b *bench) apart() (near, far TopicPartition, coordinator, other NodeID) {
	b.t.Helper()
	coordinator = b.findCoordinator(TransactionCoordinator, "tx-1")
	other = coordinator%3 + 1
	third := other%3 + 1
	near = b.topic("orders", 1, []NodeID{coordinator, other, third}, []NodeID{other, third, coordinator})
	far = TopicPartition{near.Topic, 1}
	b.run(100 * ms)
	return
}

// T-31, T-13, T-22: a transaction is complete when every partition has its marker, and the next one waits for that.
func TestTransactionWaitsForEveryMarker(t *testing.T) {
	b := newBench(t, 3)
	near, far, _, other := b.apart()
	x := b.newTxn("tx-1")
	want(t, "send", x.send(near, "a"), NONE)
	want(t, "send", x.send(far, "b"), NONE)
	b.apply(HoldMessages{"WriteTxnMarkers " + b.PartitionName(far)})
	want(t, "commit", x.end(true), NONE)
	b.run(500 * ms)
	if m := x.metadata(); m.State != TxnPrepareCommit || !slices.Equal(m.Partitions, []TopicPartition{far}) {
		t.Errorf("with one marker of two: %v, partitions %v", m.State, m.Partitions)
	}
	if l := b.log(other, far); l.LastStable() != 0 || b.log(b.registration(near).Leader, near).LastStable() != 2 {
		t.Errorf("LSO %d where the marker is missing", l.LastStable())
	}
	asked := b.Now
	want(t, "the next transaction", x.send(near, "c"), CONCURRENT_TRANSACTIONS)
	if took := b.Now - asked; took < 80*ms || took > 120*ms {
		t.Errorf("it was told after %d ms, want what add.partitions.to.txn.retry.backoff.max.ms says", took/ms)
	}
	b.apply(ReleaseMessages{})
	x.settled(TxnCompleteCommit)
	b.run(10 * ms)
	if l := b.log(other, far); l.LastStable() != 2 || l.End != 2 {
		t.Errorf("at the end: LSO %d, log end %d", l.LastStable(), l.End)
	}
	want(t, "then", x.send(near, "c"), NONE)
}

// T-31: the coordinator dies between the decision and the markers; the next one writes them, in all partitions.
func TestCoordinatorDiesBeforeTheMarkers(t *testing.T) {
	for _, commit := range []bool{true, false} {
		b := newBench(t, 3)
		_, far, coordinator, other := b.apart()
		x := b.newTxn("tx-1")
		want(t, "send", x.send(far, "a"), NONE)
		b.apply(HoldMessages{"WriteTxnMarkers"})
		want(t, "end", x.end(commit), NONE)
		b.apply(CrashBroker{coordinator})
		b.apply(ReleaseMessages{})
		state := TxnCompleteAbort
		if commit {
			state = TxnCompleteCommit
		}
		x.settled(state)
		b.run(2_000 * ms)
		l := b.log(other, far)
		if l.LastStable() != l.End || l.End < 2 || len(l.Transactions.Aborted) != map[bool]int{true: 0, false: 1}[commit] {
			t.Errorf("commit %v: LSO %d, end %d, aborted %v", commit, l.LastStable(), l.End, l.Transactions.Aborted)
		}
	}
}

// T-43: which markers a log takes.
func TestMarkersOfOldEpochs(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "send", x.send(tp, "a"), NONE)
	mark := func(epoch int16, coordinatorEpoch int32) Code {
		m := TxnMarker{ProducerID: x.pid, ProducerEpoch: epoch, Commit: true, CoordinatorEpoch: coordinatorEpoch, Version: TransactionV2, Partitions: []TopicPartition{tp}}
		return b.call(1, WriteTxnMarkersRequest{[]TxnMarker{m}}).(WriteTxnMarkersResponse).Results[0].Errors[0]
	}
	want(t, "with the epoch of the transaction", mark(0, 5), INVALID_PRODUCER_EPOCH)
	want(t, "with the next", mark(1, 5), NONE)
	want(t, "again", mark(1, 5), NONE) // KAFKA-19999
	want(t, "of a coordinator that was replaced", mark(1, 4), TRANSACTION_COORDINATOR_FENCED)
	want(t, "with an older epoch", mark(0, 6), INVALID_PRODUCER_EPOCH)
	old := newBench(t, 3, func(w *World) { w.Turn(MarkerRetry, false) })
	tp = old.topic("orders", 1, []NodeID{1, 2, 3})
	old.run(100 * ms)
	b, x = old, old.newTxn("tx-1")
	want(t, "send", x.send(tp, "a"), NONE)
	want(t, "old rule", mark(1, 5), NONE)
	want(t, "old rule, again", mark(1, 5), INVALID_PRODUCER_EPOCH)
}

// T-25, KIP-890: the coordinator said that the transaction has the partition, and before the batch is appended the
// marker comes: the batch must not begin another transaction.
func TestMarkerBetweenAnswerAndAppend(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.Turn(TransactionsV2, false) })
	_, far, _, other := b.apart()
	x := b.newTxn("tx-1")
	want(t, "add", x.add(far), NONE)
	b.apply(HoldMessages{fmt.Sprintf("AddPartitionsToTxnResponse * -> broker %d", other)})
	late := b.ask(other, x.request(far, "late"))
	b.runUntil(1000*ms, "the coordinator's answer is on the wire", func() bool { return len(b.Held) > 0 })
	want(t, "abort", x.end(false), NONE)
	x.settled(TxnCompleteAbort)
	b.apply(ReleaseMessages{})
	b.runUntil(1000*ms, "an answer", func() bool { return b.answered(late) })
	want(t, "the late batch", b.answers[late].p.(ProduceResponse).Parts[0].Error, INVALID_TXN_STATE)
	if l := b.log(other, far); len(l.Transactions.Open) != 0 || l.LastStable() != l.HighWatermark {
		t.Errorf("a transaction hangs: %+v", l.Transactions)
	}
}

// T-70: without verification (before 3.6) it hangs, and nobody will ever end it.
func TestHangingTransactionWithoutVerification(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.Turn(TransactionsV2, false); w.Turn(VerifyTransactions, false) })
	_, far, _, other := b.apart()
	x := b.newTxn("tx-1")
	want(t, "add", x.add(far), NONE)
	want(t, "abort", x.end(false), NONE)
	x.settled(TxnCompleteAbort)
	b.run(10 * ms)
	want(t, "the late batch", x.send(far, "late"), NONE)
	b.run(100_000 * ms)
	if l := b.log(other, far); len(l.Transactions.Open) != 1 || l.LastStable() != 1 {
		t.Errorf("it does not hang: %+v, LSO %d", l.Transactions, l.LastStable())
	}
}

// T-34: v1 ends a transaction with exactly its epoch, which stays the same.
func TestTransactionV1(t *testing.T) {
	b := newBench(t, 3, func(w *World) { w.Turn(TransactionsV2, false) })
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "a batch before AddPartitionsToTxn", x.send(tp, "a"), TRANSACTION_ABORTABLE) // T-25
	want(t, "commit of nothing", x.end(true), INVALID_TXN_STATE)
	want(t, "add", x.add(tp), NONE)
	want(t, "send", x.send(tp, "a"), NONE)
	want(t, "commit", x.end(true), NONE)
	x.settled(TxnCompleteCommit)
	want(t, "commit again", x.end(true), NONE)
	want(t, "abort after it", x.end(false), INVALID_TXN_STATE)
	want(t, "add", x.add(tp), NONE)
	want(t, "send", x.send(tp, "b"), NONE)
	want(t, "commit", x.end(true), NONE)
	x.settled(TxnCompleteCommit)
	if l := b.log(1, tp); l.End != 4 || l.BatchAt(3).ProducerEpoch != 0 {
		t.Errorf("log end %d, the marker's epoch %d", l.End, l.BatchAt(3).ProducerEpoch)
	}
	x.epoch++
	want(t, "another epoch", x.end(true), PRODUCER_FENCED)
}

// T-32, C20: after the last epoch comes another producer id.
func TestEpochsRunOut(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	node := b.findCoordinator(TransactionCoordinator, "tx-1")
	s, _ := b.broker(node).coordinator(TransactionCoordinator, "tx-1")
	s.transaction("tx-1").ProducerEpoch, x.epoch = maxProducerEpoch-1, maxProducerEpoch-1
	pid := x.pid
	want(t, "send", x.send(tp, "a"), NONE)
	want(t, "commit", x.end(true), NONE)
	if x.pid == pid || x.epoch != 0 {
		t.Errorf("after the last epoch: %d/%d", x.pid, x.epoch)
	}
	x.settled(TxnCompleteCommit)
	if m, ok := b.log(1, tp).BatchAt(1).Marker(); !ok || !m.Commit || b.log(1, tp).BatchAt(1).ProducerEpoch != maxProducerEpoch {
		t.Errorf("the marker has epoch %d", b.log(1, tp).BatchAt(1).ProducerEpoch)
	}
	want(t, "the next transaction", x.send(tp, "b"), NONE)
	want(t, "commits", x.end(true), NONE)
}

// C20 (KAFKA-20090): a transaction times out in the last epoch. Its producer aborts late, as a repeat, and goes on:
// with another id, or by the old rule with the epoch that is for fencing only.
func TestTimeoutInTheLastEpoch(t *testing.T) {
	for _, old := range []bool{false, true} {
		b := newBench(t, 3, func(w *World) { w.Turn(FenceTakesNewID, !old) })
		tp := b.topic("orders", 1, []NodeID{1, 2, 3})
		b.run(100 * ms)
		x := b.newTxn("tx-1")
		node := b.findCoordinator(TransactionCoordinator, "tx-1")
		s, _ := b.broker(node).coordinator(TransactionCoordinator, "tx-1")
		s.transaction("tx-1").ProducerEpoch, x.epoch = maxProducerEpoch-1, maxProducerEpoch-1
		want(t, "send", x.send(tp, "a"), NONE)
		x.settled(TxnOngoing)
		b.run(60_000 * ms)
		x.settled(TxnCompleteAbort)
		pid := x.pid
		want(t, "abort after it", x.end(false), NONE)
		if old != (x.pid == pid && x.epoch == maxProducerEpoch) {
			t.Errorf("old rule %v: goes on with %d/%d (before: %d)", old, x.pid, x.epoch, pid)
		}
	}
}

// C20 (KAFKA-9666): while the coordinator's log takes nothing, every InitProducerId tries to fence the producer; by
// the old rule each raises the epoch.
func TestFencingWithoutTheLog(t *testing.T) {
	for _, old := range []bool{false, true} {
		b := newBench(t, 3, func(w *World) { w.Turn(TransactionsV2, false); w.Turn(FenceOnce, !old) })
		near, _, coordinator, _ := b.apart()
		x := b.newTxn("tx-1")
		want(t, "add", x.add(near), NONE)
		want(t, "send", x.send(near, "a"), NONE)
		for id := NodeID(1); id <= 3; id++ {
			if id != coordinator {
				b.apply(CrashBroker{id})
			}
		}
		tp := TopicPartition{0, 20}
		b.runUntil(60_000*ms, "an ISR of one", func() bool { return len(b.broker(coordinator).replica(tp).ISR) == 1 })
		before := b.broker(coordinator).shard(tp).transaction("tx-1").ProducerEpoch
		for range 3 {
			b.call(coordinator, initRequest("tx-1"))
		}
		raised := b.broker(coordinator).shard(tp).transaction("tx-1").ProducerEpoch - before
		if want := map[bool]int16{false: 1, true: 3}[old]; raised != want {
			t.Errorf("old rule %v: three attempts raise the epoch by %d, want %d", old, raised, want)
		}
	}
}
