package machine

import (
	"strings"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// T-1, G-1, G-2: the partition of an id (vectors of Kafka's own classes).
func TestCoordinatorPartition(t *testing.T) {
	for _, c := range []struct {
		id        string
		hash      int32
		partition int32
	}{
		{"", 0, 0}, {"a", 97, 47}, {"_", 95, 45}, {"test", 3556498, 48}, {"my-group", -1906497762, 12}, {"group-1", 293427299, 49},
		{"group-10", 506311725, 25}, {"booking-service", 1626753345, 45}, {"payments", 1382682413, 13}, {"order-processor", -1129616173, 23},
		{"connect-cluster", 1440343063, 13}, {"über", 7604755, 5}, {"polygenelubricants", -1 << 31, 0},
		{"tx-1", 3572520, 20}, {"my-txn", -1061187895, 45}, {"payments-tx", -1539523292, 42}, {"order-processor-1", 1065585079, 29},
		{"txn-producer", 326412181, 31}, {"eos-app-0", -1620808256, 6},
	} {
		if h, p := javaHash(c.id), CoordinatorPartition(c.id, 50); h != c.hash || p != c.partition {
			t.Errorf("%q: hash %d partition %d, want %d and %d", c.id, h, p, c.hash, c.partition)
		}
	}
	if h := javaHash("\U0001F600"); h != 31*0xd83d+0xde00 {
		t.Errorf("a character outside the BMP counts as two units, not %d", h)
	}
}

// findCoordinator asks until somebody is named.
func (b *bench) findCoordinator(kind CoordinatorKind, key string) NodeID {
	b.t.Helper()
	for range 100 {
		if m := b.call(1, FindCoordinatorRequest{Kind: kind, Key: key}).(FindCoordinatorResponse); m.Error == NONE {
			return m.Node
		} else if m.Error != COORDINATOR_NOT_AVAILABLE {
			b.t.Fatalf("FindCoordinator: %v", m.Error)
		}
		b.run(20 * ms)
	}
	b.t.Fatal("no coordinator")
	return NoNode
}

// G-115: the first FindCoordinator makes the topic, as Kafka makes it, and until then nobody coordinates.
func TestFirstFindCoordinatorMakesTheTopic(t *testing.T) {
	b := newBench(t, 3)
	for range 3 { // asked thrice, made once
		b.ask(1, FindCoordinatorRequest{Kind: TransactionCoordinator, Key: "tx-1"})
	}
	if m := b.call(2, FindCoordinatorRequest{Kind: TransactionCoordinator, Key: "tx-1"}).(FindCoordinatorResponse); m.Error != COORDINATOR_NOT_AVAILABLE {
		t.Errorf("before the topic exists: %v", m)
	}
	node := b.findCoordinator(TransactionCoordinator, "tx-1")
	im := b.Metadata()
	if len(im.Topics) != 1 {
		t.Fatalf("%d topics, want one", len(im.Topics))
	}
	topic := &im.Topics[0]
	if topic.Name != TransactionStateTopic || len(topic.Partitions) != 50 || len(topic.Partitions[0].Replicas) != 3 ||
		topic.Props.MinInSyncReplicas != 2 || !topic.Props.CleanupPolicy.Compacts() || topic.Props.SegmentBytes != 104857600 {
		t.Errorf("the topic is %s with %d partitions: %+v", topic.Name, len(topic.Partitions), topic.Props)
	}
	if want := topic.Partitions[20].Leader; node != want {
		t.Errorf("the coordinator of tx-1 is %d, want the leader of partition 20, %d", node, want)
	}
}

// G-115: with fewer brokers than replicas the topic can never be made.
func TestInternalTopicNeedsItsReplicas(t *testing.T) {
	b := newBench(t, 2)
	for range 5 {
		if m := b.call(1, FindCoordinatorRequest{Kind: GroupCoordinator, Key: "g"}).(FindCoordinatorResponse); m.Error != COORDINATOR_NOT_AVAILABLE {
			t.Fatalf("%v", m)
		}
		b.run(1000 * ms)
	}
	if n := len(b.Metadata().Topics); n != 0 {
		t.Errorf("%d topics", n)
	}
}

func initRequest(id string) InitProducerIDRequest {
	return InitProducerIDRequest{TransactionalID: id, TimeoutMs: 60000, ProducerID: -1, ProducerEpoch: -1}
}

// initTransactions asks until there is an answer that lasts.
func (b *bench) initTransactions(m InitProducerIDRequest) InitProducerIDResponse {
	b.t.Helper()
	for range 200 {
		node := b.findCoordinator(TransactionCoordinator, m.TransactionalID)
		r, ok := b.call(node, m).(InitProducerIDResponse)
		switch {
		case !ok, r.Error == CONCURRENT_TRANSACTIONS, r.Error == COORDINATOR_LOAD_IN_PROGRESS, r.Error == NOT_COORDINATOR, r.Error == COORDINATOR_NOT_AVAILABLE:
			b.run(20 * ms)
		default:
			return r
		}
	}
	b.t.Fatal("InitProducerId has no end")
	return InitProducerIDResponse{}
}

// T-3, T-10, T-11, G-110: what a coordinator knows is in its log. It answers when that is replicated; its
// successor reads the log first and says so, and goes on with the next epoch. Others are not the coordinator.
func TestCoordinatorFailover(t *testing.T) {
	b := newBench(t, 3)
	first := b.initTransactions(initRequest("tx-1"))
	if first.Error != NONE || first.ProducerEpoch != 0 {
		t.Fatalf("the first: %+v", first)
	}
	node := b.findCoordinator(TransactionCoordinator, "tx-1")
	tp := TopicPartition{0, 20}
	if l := b.log(node, tp); l.HighWatermark != 1 {
		t.Errorf("answered with the high watermark at %d", l.HighWatermark)
	}
	for id := NodeID(1); id <= 3; id++ {
		if m := b.call(id, initRequest("tx-1")).(InitProducerIDResponse); id != node && m.Error != NOT_COORDINATOR {
			t.Errorf("broker %d: %v", id, m.Error)
		}
	}
	b.apply(CrashBroker{node})
	next := NoNode
	b.runUntil(20_000*ms, "another leader", func() bool { next = b.registration(tp).Leader; return next != NoNode && next != node })
	b.runUntil(1_000*ms, "it knows", func() bool { return b.broker(next).shard(tp) != nil })
	if m := b.call(next, initRequest("tx-1")).(InitProducerIDResponse); m.Error != COORDINATOR_LOAD_IN_PROGRESS {
		t.Errorf("while it reads the log: %+v", m)
	}
	b.run(100 * ms)
	m := b.call(next, initRequest("tx-1")).(InitProducerIDResponse)
	if m.Error != NONE || m.ProducerID != first.ProducerID || m.ProducerEpoch != 2 {
		t.Errorf("after the failover: %+v, want producer %d with epoch 2", m, first.ProducerID)
	}
}

// G-114: an append that fails is the coordinator's failure, and nothing has changed.
func TestCoordinatorAppendFails(t *testing.T) {
	b := newBench(t, 3)
	b.initTransactions(initRequest("tx-1"))
	node := b.findCoordinator(TransactionCoordinator, "tx-1")
	for id := NodeID(1); id <= 3; id++ {
		if id != node {
			b.apply(CrashBroker{id})
		}
	}
	b.runUntil(60_000*ms, "an ISR of one", func() bool { return len(b.broker(node).replica(TopicPartition{0, 20}).ISR) == 1 })
	if m := b.call(node, initRequest("tx-1")).(InitProducerIDResponse); m.Error != COORDINATOR_NOT_AVAILABLE {
		t.Errorf("without min.insync.replicas: %v", m.Error)
	}
	if x := b.broker(node).shard(TopicPartition{0, 20}).transaction("tx-1"); x.Pending || x.ProducerEpoch != 0 {
		t.Errorf("it has changed: %+v", x)
	}
}

// The bytes of a record of __transaction_state, worked out by hand from the schema, and back again.
func TestTransactionRecord(t *testing.T) {
	b := newBench(t, 1)
	b.topic("ab", 1, []NodeID{1}, []NodeID{1})
	b.run(100 * ms)
	x := TransactionMetadata{ID: "t1", ProducerID: 1000, PreviousProducerID: 1000, NextProducerID: -1, ProducerEpoch: 3, LastProducerEpoch: -1, TimeoutMs: 60000,
		State: TxnPrepareCommit, Partitions: []TopicPartition{{0, 0}, {0, 1}}, StartedMs: 7, UpdatedMs: 9, Version: 2}
	r := b.transactionRecord(b.broker(1), &x)
	key := "\x00\x00" + "\x00\x02t1"
	value := "\x00\x01" + "\x00\x00\x00\x00\x00\x00\x03\xe8" + "\x00\x03" + "\x00\x00\xea\x60" + "\x02" +
		"\x02" + "\x03ab" + "\x03" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x09" + "\x00\x00\x00\x00\x00\x00\x00\x07" +
		"\x02" + "\x00\x08" + "\x00\x00\x00\x00\x00\x00\x03\xe8" + "\x02\x02" + "\x00\x02"
	if r.Key != key || r.Value != value {
		t.Errorf("key %q value %q\nwant %q %q", r.Key, r.Value, key, value)
	}
	back, ok := readTransaction(b.Metadata(), &r)
	if !ok || back.ID != x.ID || back.ProducerID != 1000 || back.ProducerEpoch != 3 || back.State != x.State || len(back.Partitions) != 2 ||
		back.StartedMs != 7 || back.UpdatedMs != 9 || back.Version != 2 || back.PreviousProducerID != 1000 || back.NextProducerID != -1 {
		t.Errorf("read back: %+v", back)
	}
	k, v, _ := b.TransactionRecordWords(&r)
	if k != "transaction_metadata::transactionalId=t1" || !strings.Contains(v, "state=PrepareCommit,partitions=[ab-0,ab-1]") {
		t.Errorf("in words: %s %s", k, v)
	}
	for n := range len(r.Value) { // cut anywhere it is refused, and never panics
		if _, ok := readTransaction(b.Metadata(), &partlog.Record{Key: r.Key, Value: r.Value[:n]}); ok && n < len(r.Value)-1 {
			t.Errorf("a record of %d bytes is taken", n)
		}
	}
}
