package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// txnChaos is a random world with transactional producers: brokers that crash (the coordinators' too), messages that are
// held back, requests that arrive twice, instances that fence each other.
type txnChaos struct {
	*bench
	seed, draws uint64
	topic       TopicPartition
	sent        []chaosTxn
	open        []int // of each producer: index into sent, -1 for none
	down        NodeID
}

// chaosTxn is one transaction and what its producer knows of it.
type chaosTxn struct {
	producer int32
	values   []string
	fate     string // "committed", "aborted" or "unknown"
}

func (c *txnChaos) draw(n int) int {
	c.draws++
	return prng.Below(prng.Draw(c.seed, 0x74786e, c.draws), n)
}

func (c *txnChaos) newProducer(id string) {
	props, problem := config.ParseProducer(map[string]any{"transactional.id": id, "transaction.timeout.ms": 8000, "linger.ms": 0, "request.timeout.ms": 3000, "delivery.timeout.ms": 10000})
	if problem != nil {
		c.t.Fatal(problem.Text)
	}
	res := c.Apply(NewProducer{Name: fmt.Sprint("p", len(c.Producers)), Props: props})
	c.apply(InitTransactions{Producer: res.ID})
	c.open = append(c.open, -1)
}

// act lets one producer do its next thing, if it can.
func (c *txnChaos) act(i int32) {
	p := &c.Producers[i]
	if p.Txn.Waits() {
		return
	}
	c.learn(i)
	switch p.Txn.State {
	case TxnReady:
		c.apply(BeginTransaction{i})
		c.sent = append(c.sent, chaosTxn{producer: i, fate: "unknown"})
		c.open[i] = len(c.sent) - 1
	case TxnInTransaction:
		if x := &c.sent[c.open[i]]; len(x.values) < 1+c.draw(4) {
			v := fmt.Sprintf("t%d.%d", c.open[i], len(x.values))
			x.values = append(x.values, v)
			c.apply(Send{Producer: i, Topic: "orders", Partition: int32(c.draw(2)), Record: partlog.Record{Value: v, Flags: partlog.NullKey, Timestamp: NoTimestamp}})
			return
		}
		c.apply(EndTransaction{Producer: i, Commit: c.draw(4) > 0})
	case TxnAbortableError:
		c.apply(EndTransaction{Producer: i})
	}
}

// learn notes what became of a producer's last transaction.
func (c *txnChaos) learn(i int32) {
	t := &c.Producers[i].Txn
	if c.open[i] < 0 || t.State != TxnReady || t.Waits() {
		return
	}
	x := &c.sent[c.open[i]]
	if x.fate = "aborted"; t.Commit {
		x.fate = "committed"
	}
	c.open[i] = -1
}

// disturb does something to the cluster.
func (c *txnChaos) disturb() {
	switch c.draw(8) {
	case 0:
		if c.down == NoNode {
			c.down = NodeID(1 + c.draw(3))
			c.apply(CrashBroker{c.down})
		}
	case 1:
		if c.down != NoNode {
			c.apply(StartBroker{c.down})
			c.down = NoNode
		}
	case 2:
		c.apply(HoldMessages{[]string{"EndTxn", "WriteTxnMarkers", "AddPartitionsToTxn", "AddPartitionsToTxnResponse", "EndTxnResponse", "WriteTxnMarkersResponse"}[c.draw(6)]})
	case 3, 4:
		c.apply(ReleaseMessages{})
	case 5:
		c.twice()
	case 6:
		if len(c.Producers) < 5 {
			c.newProducer(fmt.Sprint("tx-", c.draw(2))) // maybe another instance of one that lives
		}
	}
}

// twice lets a request of a transaction that is on the wire arrive once more, later and on a connection of its own.
func (c *txnChaos) twice() {
	for _, e := range c.Queue {
		switch e.Payload.(type) {
		case EndTxnRequest, AddPartitionsToTxnRequest, WriteTxnMarkersRequest:
			if e.To.IsBroker() {
				c.run(int64(c.draw(30)) * ms)
				c.ask(e.To, e.Payload)
				return
			}
		}
	}
}

// seen are the values that read_committed gets of a partition.
func (c *txnChaos) seen() []string {
	var out []string
	for p := range int32(2) {
		tp := TopicPartition{c.topic.Topic, p}
		log := c.log(c.registration(tp).Leader, tp)
		log.Batches(0, func(b *partlog.Batch) bool {
			if aborted := log.AbortedIn(b.BaseOffset, b.NextOffset()); b.Control || slices.ContainsFunc(aborted, func(a partlog.AbortedTransaction) bool { return a.ProducerID == b.ProducerID }) {
				return true
			}
			for _, r := range b.Records.All() {
				out = append(out, r.Value)
			}
			return true
		})
	}
	return out
}

// Invariants 28 to 31, and in the end: every transaction has ended, what was committed is there whole and once, what was
// aborted is not, and what nobody knows of is one or the other. Coordinators crash, requests come late and twice.
func TestRandomTransactions(t *testing.T) {
	n := *txnSchedules / 25
	if testing.Short() {
		n = 10
	}
	for seed := range n {
		c := &txnChaos{seed: uint64(seed), bench: newBench(t, 3, func(w *World) {
			w.Broker.Transactions.Log.Partitions = 2
			w.Broker.BrokerSessionTimeoutMs = 3000
			w.Broker.Transactions.AbortIntervalMs = 2000
		})}
		c.topic = c.bench.topic("orders", 2, []NodeID{1, 2, 3}, []NodeID{2, 3, 1})
		c.run(100 * ms)
		c.newProducer("tx-0")
		c.newProducer("tx-1")
		for range 120 {
			c.act(int32(c.draw(len(c.Producers))))
			if c.draw(12) == 0 {
				c.disturb()
			}
			c.run(int64(c.draw(60)) * ms)
		}
		c.apply(ReleaseMessages{})
		if c.down != NoNode {
			c.apply(StartBroker{c.down})
		}
		c.run(60_000 * ms)
		for i := range c.Producers {
			c.learn(int32(i))
		}
		c.judge(seed)
	}
}

func (c *txnChaos) judge(seed int) {
	c.t.Helper()
	for p := range int32(2) {
		tp := TopicPartition{c.topic.Topic, p}
		if l := c.log(c.registration(tp).Leader, tp); len(l.Transactions.Open) > 0 || l.LastStable() != l.End {
			c.t.Errorf("seed %d: %v has open transactions %v, LSO %d of %d", seed, tp, l.Transactions.Open, l.LastStable(), l.End)
		}
	}
	all := c.seen()
	for n, x := range c.sent {
		there := 0
		for _, v := range x.values {
			there += len(slices.DeleteFunc(slices.Clone(all), func(o string) bool { return o != v }))
		}
		bad := x.fate == "committed" && there != len(x.values) || x.fate == "aborted" && there > 0
		if x.fate == "unknown" && there > 0 { // sent records may have failed before the end, but none is there twice
			bad = there > len(x.values)
		}
		if bad {
			c.t.Errorf("seed %d: transaction %d of producer %d is %s, and readers see %d of %s", seed, n, x.producer, x.fate, there, strings.Join(x.values, " "))
		}
	}
}
