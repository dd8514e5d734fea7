package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// txn is a transactional producer made of raw requests.
type txn struct {
	b       *bench
	id      string
	pid     int64
	epoch   int16
	seq     map[TopicPartition]int32
	version int8
}

// newTxn is initTransactions().
func (b *bench) newTxn(id string) *txn {
	b.t.Helper()
	r := b.initTransactions(initRequest(id))
	if r.Error != NONE {
		b.t.Fatalf("InitProducerId of %s: %v", id, r.Error)
	}
	x := &txn{b: b, id: id, pid: r.ProducerID, epoch: r.ProducerEpoch, seq: map[TopicPartition]int32{}, version: TransactionV2}
	if b.World.Rules.Without(TransactionsV2) {
		x.version = TransactionV1
	}
	return x
}

func (x *txn) request(tp TopicPartition, values ...string) ProduceRequest {
	batch := x.b.batch(values...)
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence, batch.Transactional = x.pid, x.epoch, x.seq[tp], true
	return ProduceRequest{Acks: config.AcksAll, TimeoutMs: 30000, TransactionalID: x.id, Version: x.version, Parts: []ProducePart{{TP: tp, Batch: batch}}}
}

// send is one attempt to send records.
func (x *txn) send(tp TopicPartition, values ...string) Code {
	x.b.t.Helper()
	r := x.b.call(x.b.registration(tp).Leader, x.request(tp, values...)).(ProduceResponse).Parts[0]
	if r.Error == NONE {
		x.seq[tp] += int32(len(values))
	}
	return r.Error
}

// add is a client's AddPartitionsToTxn (v1).
func (x *txn) add(parts ...TopicPartition) Code {
	x.b.t.Helper()
	node := x.b.findCoordinator(TransactionCoordinator, x.id)
	m := AddPartitionsToTxnRequest{[]TransactionPart{{ID: x.id, ProducerID: x.pid, ProducerEpoch: x.epoch, Partitions: parts}}}
	return x.b.call(node, m).(AddPartitionsToTxnResponse).Results[0].Errors[0]
}

// end is one attempt to end the transaction; with success the next one begins.
func (x *txn) end(commit bool) Code {
	x.b.t.Helper()
	node := x.b.findCoordinator(TransactionCoordinator, x.id)
	r := x.b.call(node, EndTxnRequest{ID: x.id, ProducerID: x.pid, ProducerEpoch: x.epoch, Commit: commit, Version: x.version}).(EndTxnResponse)
	if r.Error == NONE && x.version >= TransactionV2 {
		x.pid, x.epoch, x.seq = r.ProducerID, r.ProducerEpoch, map[TopicPartition]int32{}
	}
	return r.Error
}

// metadata is what the coordinator knows.
func (x *txn) metadata() TransactionMetadata {
	x.b.t.Helper()
	node := x.b.findCoordinator(TransactionCoordinator, x.id)
	s, code := x.b.broker(node).coordinator(TransactionCoordinator, x.id)
	if code != NONE {
		x.b.t.Fatalf("coordinator: %v", code)
	}
	return *s.transaction(x.id)
}

// settled waits until a transactional id is in a state and nothing is pending.
func (x *txn) settled(state TransactionState) {
	x.b.t.Helper()
	x.b.runUntil(30_000*ms, x.id+" is "+state.String(), func() bool {
		for i := range x.b.Brokers {
			for j := range x.b.Brokers[i].Shards {
				if t := x.b.Brokers[i].Shards[j].transaction(x.id); t != nil && t.State == state && !t.Pending {
					return true
				}
			}
		}
		return false
	})
}

func want(t *testing.T, what string, got, want Code) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// fetchCommitted is a raw fetch under an isolation level.
func (b *bench) fetchCommitted(tp TopicPartition, offset int64, committed bool) FetchResult {
	b.t.Helper()
	return b.call(b.registration(tp).Leader, FetchRequest{MaxBytes: 1 << 20, MinBytes: 1, BrokerEpoch: -1, Committed: committed, Parts: []FetchPart{
		{TP: tp, FetchOffset: offset, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20},
	}}).(FetchResponse).Parts[0]
}

// R1.2, T-21, T-31, T-32, T-40 to T-47, checks 9 and 10: one transaction committed, one aborted.
func TestTransactionV2(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "send", x.send(tp, "a", "b", "c"), NONE)
	l := b.log(1, tp)
	if m := x.metadata(); m.State != TxnOngoing || !slices.Equal(m.Partitions, []TopicPartition{tp}) || m.StartedMs < 0 {
		t.Errorf("after the first batch: %+v", m)
	}
	if l.HighWatermark != 3 || l.LastStable() != 0 {
		t.Errorf("open: HW %d LSO %d, want 3 and 0", l.HighWatermark, l.LastStable())
	}
	if r := b.fetchCommitted(tp, 0, true); len(r.Batches) != 0 || r.LastStable != 0 {
		t.Errorf("read_committed sees %d batches of an open transaction", len(r.Batches))
	}
	if r := b.fetchCommitted(tp, 0, false); len(r.Batches) != 1 {
		t.Errorf("read_uncommitted sees %d batches", len(r.Batches))
	}
	want(t, "commit", x.end(true), NONE)
	if x.epoch != 1 {
		t.Errorf("epoch %d after a transaction, want 1 (T-32)", x.epoch)
	}
	x.settled(TxnCompleteCommit)
	b.run(10 * ms)
	if l.End != 4 || l.LastStable() != 4 {
		t.Errorf("committed: end %d LSO %d, want 4 and 4 (T-40)", l.End, l.LastStable())
	}
	marker := l.BatchAt(3)
	if m, ok := marker.Marker(); !ok || !m.Commit || marker.Size != 78 || marker.ProducerEpoch != 1 {
		t.Errorf("the marker: %+v %v, %d bytes, epoch %d", m, ok, marker.Size, marker.ProducerEpoch)
	}
	want(t, "send", x.send(tp, "d"), NONE)
	want(t, "abort", x.end(false), NONE)
	x.settled(TxnCompleteAbort)
	b.run(10 * ms)
	r := b.fetchCommitted(tp, 0, true)
	if len(r.Batches) != 4 || !slices.Equal(r.Aborted, []partlog.AbortedTransaction{{ProducerID: x.pid, First: 4, Last: 5}}) {
		t.Errorf("read_committed: %d batches, aborted %+v", len(r.Batches), r.Aborted)
	}
	if x.epoch != 2 || l.End != 6 {
		t.Errorf("epoch %d, log end %d, want 2 and 6", x.epoch, l.End)
	}
	for _, id := range []NodeID{2, 3} { // followers know it too
		b.run(600 * ms)
		if f := b.log(id, tp); f.LastStable() != 6 || len(f.Transactions.Aborted) != 1 {
			t.Errorf("broker %d: LSO %d, %d aborted", id, f.LastStable(), len(f.Transactions.Aborted))
		}
	}
}

// T-45, check 11: an open transaction holds everybody's records back, also non-transactional ones.
func TestOpenTransactionHoldsReadersBack(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "send", x.send(tp, "a"), NONE)
	b.produce(1, tp, config.AcksAll, "plain")
	if r := b.fetchCommitted(tp, 0, true); len(r.Batches) != 0 {
		t.Errorf("read_committed sees %d batches", len(r.Batches))
	}
	want(t, "commit", x.end(true), NONE)
	x.settled(TxnCompleteCommit)
	b.run(5 * ms)
	if r := b.fetchCommitted(tp, 0, true); len(r.Batches) != 3 {
		t.Errorf("read_committed sees %d batches, want all three", len(r.Batches))
	}
}

// T-12, T-15, T-52, check 12: a second instance ends the first one's transaction, and the first is a zombie.
func TestZombie(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	first := b.newTxn("tx-1")
	want(t, "send", first.send(tp, "a"), NONE)
	second := b.newTxn("tx-1")
	if second.pid != first.pid || second.epoch != first.epoch+2 {
		t.Errorf("the second instance has %d/%d, want %d/%d (T-12)", second.pid, second.epoch, first.pid, first.epoch+2)
	}
	want(t, "the zombie sends", first.send(tp, "b"), INVALID_PRODUCER_EPOCH)
	want(t, "the zombie commits", first.end(true), PRODUCER_FENCED)
	want(t, "the second sends", second.send(tp, "c"), NONE)
	want(t, "the second commits", second.end(true), NONE)
	second.settled(TxnCompleteCommit)
	if l := b.log(1, tp); l.End != 4 {
		t.Errorf("log end %d, want a, ABORT, c, COMMIT", l.End)
	}
	// KIP-360: who goes on with an id and epoch that somebody else has replaced is fenced.
	r := b.initTransactions(InitProducerIDRequest{TransactionalID: "tx-1", TimeoutMs: 60000, ProducerID: first.pid, ProducerEpoch: first.epoch})
	want(t, "the zombie asks for the next epoch", r.Error, PRODUCER_FENCED)
}

// T-15 (0.4): who goes on with his own id while his transaction is open gets e+1, and a repeat gets the same.
func TestInitWithOwnEpoch(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "send", x.send(tp, "a"), NONE)
	own := InitProducerIDRequest{TransactionalID: "tx-1", TimeoutMs: 60000, ProducerID: x.pid, ProducerEpoch: x.epoch}
	for range 2 {
		if r := b.initTransactions(own); r.Error != NONE || r.ProducerEpoch != x.epoch+1 {
			t.Errorf("with id and epoch %d: %+v, want epoch %d", x.epoch, r, x.epoch+1)
		}
	}
}

// T-50, T-51: the coordinator ends a transaction at its first look after the timeout; the producer may abort and go
// on.
func TestTransactionTimesOut(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	want(t, "send", x.send(tp, "a"), NONE)
	b.run(59_000*ms - b.Now%1000)
	if m := x.metadata(); m.State != TxnOngoing {
		t.Errorf("before the timeout: %v", m.State)
	}
	x.settled(TxnCompleteAbort)
	if b.Now < 70_000*ms || b.Now > 70_100*ms {
		t.Errorf("aborted at %d ms, want at the look at 70 s", b.Now/ms)
	}
	want(t, "send after it", x.send(tp, "b"), INVALID_PRODUCER_EPOCH)
	want(t, "commit after it", x.end(true), INVALID_TXN_STATE)
	want(t, "abort after it", x.end(false), NONE)
	if x.epoch != 1 {
		t.Errorf("epoch %d, want 1", x.epoch)
	}
	want(t, "the next transaction", x.send(tp, "c"), NONE)
	want(t, "commits", x.end(true), NONE)
}

// T-54: an id that nobody uses is forgotten.
func TestTransactionalIDExpires(t *testing.T) {
	b := newBench(t, 3, func(w *World) {
		w.Broker.Transactions.IDExpirationMs = 10_000
		w.Broker.Transactions.ExpireIntervalMs = 5_000
	})
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	x := b.newTxn("tx-1")
	b.run(20_000 * ms)
	want(t, "end", x.end(false), INVALID_PRODUCER_ID_MAPPING)
	want(t, "send", x.send(tp, "a"), INVALID_PRODUCER_ID_MAPPING)
}

// T-33: the whole table of answers in transactions v2.
func TestEndTxnTable(t *testing.T) {
	states := []TransactionState{TxnOngoing, TxnEmpty, TxnPrepareAbort, TxnPrepareCommit, TxnCompleteAbort, TxnCompleteCommit}
	const goes = Code(-2) // the transaction is ended
	table := [][4]Code{   // abort retry, abort current, commit retry, commit current
		{PRODUCER_FENCED, goes, PRODUCER_FENCED, goes},
		{PRODUCER_FENCED, goes, PRODUCER_FENCED, INVALID_TXN_STATE},
		{CONCURRENT_TRANSACTIONS, PRODUCER_FENCED, INVALID_TXN_STATE, PRODUCER_FENCED},
		{INVALID_TXN_STATE, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, PRODUCER_FENCED},
		{NONE, goes, INVALID_TXN_STATE, INVALID_TXN_STATE},
		{INVALID_TXN_STATE, goes, NONE, INVALID_TXN_STATE},
	}
	s := &State{}
	s.World.Mutant = underTest
	for i, state := range states {
		for j, w := range table[i] {
			m := &TransactionMetadata{ID: "x", ProducerID: 7, PreviousProducerID: 7, NextProducerID: -1, ProducerEpoch: 5, State: state}
			q := EndTxnRequest{ID: "x", ProducerID: 7, ProducerEpoch: 5, Commit: j >= 2, Version: TransactionV2}
			if j%2 == 0 {
				q.ProducerEpoch = 4
			}
			code, go_ := s.mayEnd(m, &q, &ending{commit: q.Commit, version: q.Version})
			if go_ {
				code = goes
			}
			if code != w {
				t.Errorf("%v, commit %v, epoch %d of 5: %v, want %v", state, q.Commit, q.ProducerEpoch, code, w)
			}
		}
	}
}
