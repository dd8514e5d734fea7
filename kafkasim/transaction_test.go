package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// txnCluster is three brokers with a topic, and a consumer under each isolation level.
func txnCluster(w World) (c *Cluster, committed, all *Consumer) {
	w.Brokers, w.Seed = 3, 7
	c = New(w)
	c.CreateTopic("orders", 2, 3, Config{"min.insync.replicas": 2})
	committed = c.NewConsumer("committed", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("orders")
	all = c.NewConsumer("all", Config{"auto.offset.reset": "earliest"}).Assign("orders")
	return c, committed, all
}

// drain polls until nothing comes for a second, and returns the values.
func drain(k *Consumer) string {
	var out []string
	for range 20 {
		for _, r := range k.Poll(time.Second).Records {
			out = append(out, fmt.Sprint(r.Value))
		}
	}
	return strings.Join(out, " ")
}

func must(t *testing.T, o *TxnOutcome) {
	t.Helper()
	if o.Error != "" {
		t.Fatal(o)
	}
}

// Checks 9 and 10, T-26, T-30, T-36, T-45 to T-48: what each isolation level sees of a committed and an aborted
// transaction, under both protocols.
func TestProducerTransactions(t *testing.T) {
	for _, version := range []string{"4.3", "3.9", "2.8"} {
		t.Run(version, func(t *testing.T) {
			c, committed, all := txnCluster(World{Kafka: version})
			p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
			must(t, p.Begin())
			a, b := p.Send("orders", "user-1", "a"), p.Send("orders", "user-4", "b")
			must(t, p.Commit())
			if a.Status() != "acked" || b.Status() != "acked" {
				t.Error(a, b)
			}
			must(t, p.Begin())
			p.Send("orders", "user-1", "x")
			p.Flush()
			late := p.Send("orders", "user-1", "never sent")
			must(t, p.Abort())
			if late.Failure() != "TransactionAbortedException" {
				t.Error(late)
			}
			must(t, p.Begin())
			must(t, p.Commit()) // of nothing: nothing is sent
			must(t, p.Begin())
			p.Send("orders", "user-4", "d")
			must(t, p.Commit())
			if got := drain(committed); len(strings.Fields(got)) != 3 || strings.Contains(got, "x") {
				t.Errorf("read_committed: %s", got)
			}
			if got := drain(all); len(strings.Fields(got)) != 4 {
				t.Errorf("read_uncommitted: %s", got)
			}
			if epoch := c.Txn("tx-1").ProducerEpoch; epoch != map[string]int{"4.3": 3, "3.9": 0, "2.8": 0}[version] {
				t.Errorf("epoch %d after three transactions that sent something", epoch)
			}
			if s := c.Txn("tx-1"); s.State != "CompleteCommit" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// T-55: calls in the wrong state throw Kafka's errors.
func TestTransactionalCallsInTheWrongState(t *testing.T) {
	c, _, _ := txnCluster(World{})
	p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
	if d := p.Send("orders", "k", "v"); d.Failure() != "IllegalStateException" {
		t.Error(d)
	}
	if o := p.Commit(); o.Error != "IllegalStateException" || o.State != "UNINITIALIZED" {
		t.Error(o)
	}
	must(t, p.Begin())
	if o := p.Begin(); o.Error != "IllegalStateException" || o.State != "IN_TRANSACTION" {
		t.Error(o)
	}
	if o := p.InitTransactions(); o.Error != "IllegalStateException" {
		t.Error(o)
	}
	p.Send("orders", "k", "v")
	must(t, p.Commit())
	if o := p.Commit(); o.Error != "IllegalStateException" || o.State != "READY" {
		t.Error(o)
	}
	must(t, p.Begin())
	other := c.NewProducer("p2", Config{"transactional.id": "tx-1"})
	must(t, other.InitTransactions())
	d := p.Send("orders", "k", "zombie")
	if o := p.Commit(); o.Error != "INVALID_PRODUCER_EPOCH" || o.State != "ABORTABLE_ERROR" {
		t.Error(o)
	}
	if d.Failure() != "INVALID_PRODUCER_EPOCH" {
		t.Error(d)
	}
	if o := p.Abort(); o.Error != "PRODUCER_FENCED" || o.State != "FATAL_ERROR" { // j4
		t.Error(o)
	}
	for _, o := range []*TxnOutcome{p.Begin(), p.Abort(), p.Commit()} {
		if o.Error != "PRODUCER_FENCED" {
			t.Error(o)
		}
	}
	plain := c.NewProducer("plain", nil)
	if e := mistake(t, func() { plain.Begin() }); !strings.Contains(e, "transactional.id") {
		t.Error(e)
	}
}

// T-16: without a coordinator initTransactions gives up after max.block.ms, and works when it is called again.
func TestInitTransactionsTimesOut(t *testing.T) {
	c, _, _ := txnCluster(World{})
	c.Broker(1).Crash()
	c.Broker(2).Crash()
	p := c.NewProducer("p", Config{"transactional.id": "tx-1", "max.block.ms": 2000})
	from := c.Now()
	if o := p.InitTransactions(); o.Error != "TimeoutException" || c.Now()-from != 2*time.Second {
		t.Error(o, c.Now()-from)
	}
	c.Broker(1).Start()
	c.Broker(2).Start()
	c.RunFor(20 * time.Second)
	must(t, p.InitTransactions())
}

// T-51, S-16: a producer whose transaction timed out meets INVALID_PRODUCER_EPOCH, aborts, and goes on; one that commits at
// once is done for. With v1 both are.
func TestProducerAfterTimeout(t *testing.T) {
	for _, x := range []struct {
		kafka         string
		commit        bool
		first, second string
		state         string
	}{
		{"4.3", false, "INVALID_PRODUCER_EPOCH", "", "READY"},
		{"4.3", true, "INVALID_TXN_STATE", "INVALID_TXN_STATE", "FATAL_ERROR"},
		{"3.9", false, "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "FATAL_ERROR"},
		{"3.9", true, "PRODUCER_FENCED", "PRODUCER_FENCED", "FATAL_ERROR"},
	} {
		c, _, _ := txnCluster(World{Kafka: x.kafka})
		p := c.NewProducer("p", Config{"transactional.id": "tx-1", "transaction.timeout.ms": 5000})
		must(t, p.Begin())
		p.Send("orders", "user-1", "a")
		p.Flush()
		c.RunFor(20 * time.Second)
		if s := c.Txn("tx-1"); s.State != "CompleteAbort" {
			t.Errorf("%+v", s)
		}
		if !x.commit {
			p.Send("orders", "user-1", "b")
		}
		if o := p.Commit(); o.Error != x.first {
			t.Errorf("%s, commit at once %v: %v, want %s", x.kafka, x.commit, o, x.first)
		}
		if o := p.Abort(); o.Error != x.second || o.State != x.state {
			t.Errorf("%s, commit at once %v: then %v, want %q and %s", x.kafka, x.commit, o, x.second, x.state)
		}
	}
}

// A world with transactions can be saved, forked, replayed and written as a script.
func TestTransactionsAreHistory(t *testing.T) {
	c, _, _ := txnCluster(World{})
	p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
	must(t, p.Begin())
	p.Send("orders", "user-1", "a")
	p.Flush()
	c.RunFor(3 * time.Millisecond)
	f := c.Fork()
	must(t, p.Commit())
	must(t, f.Producer("p").Commit())
	if c.Hash() != f.Hash() {
		t.Error("the fork has gone another way")
	}
	if r := c.Replay(World{}); r.Hash() != c.Hash() {
		t.Error("the replay has gone another way")
	}
	file := t.TempDir() + "/world.json"
	c.Save(file)
	if l := Load(file); l.Hash() != c.Hash() {
		t.Error("the saved world is another one")
	}
	if s := c.Script(); !strings.Contains(fmt.Sprint(s), `c.Producer("p").Commit()`) {
		t.Error(s)
	}
	c.Broker(c.Txn("tx-1").Coordinator).Crash()
	must(t, p.Begin())
	p.Send("orders", "user-1", "b")
	must(t, p.Commit()) // through a failover of the coordinator
	data, err := c.s.Save()
	if err != nil || len(data) == 0 {
		t.Error(err)
	}
}

// T-60, T-61, T-63, S-14, S-15: read, process, write. The offsets count with the commit, and not when it is aborted; a member
// that was replaced may only abort (T-62).
func TestOffsetsInTransactions(t *testing.T) {
	for _, version := range []string{"4.3", "3.9"} {
		t.Run(version, func(t *testing.T) {
			c, _, _ := txnCluster(World{Kafka: version})
			c.CreateTopic("in", 1, 3, nil)
			in := c.NewProducer("in", nil)
			for i := range 6 {
				in.Send("in", "k", fmt.Sprint(i))
			}
			in.Close()
			k := c.NewConsumer("k", Config{"group.id": "g", "enable.auto.commit": false, "auto.offset.reset": "earliest", "max.poll.records": 3}).Subscribe("in")
			p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
			var polled int
			for polled == 0 {
				polled = len(k.Poll(time.Second).Records)
			}
			must(t, p.Begin())
			p.Send("orders", "k", "out")
			must(t, p.SendOffsets(k))
			must(t, p.Abort())
			c.RunFor(time.Second)
			if got := committedOffset(c, "g"); got != -1 {
				t.Errorf("an aborted transaction committed offset %d", got)
			}
			must(t, p.Begin())
			p.Send("orders", "k", "out")
			must(t, p.SendOffsets(k))
			if got := committedOffset(c, "g"); got != -1 {
				t.Errorf("before the commit: offset %d", got)
			}
			must(t, p.Commit())
			c.RunFor(time.Second)
			if got := committedOffset(c, "g"); got != int64(polled) {
				t.Errorf("committed offset %d, want %d", got, polled)
			}
			must(t, p.Begin())
			p.Send("orders", "k", "zombie")
			gone := machine.SendOffsets{Producer: p.i, Group: "g", Member: "somebody", Generation: 1, Offsets: k.state().Consumed()}
			if o := p.transactAs("", "SendOffsets", "sendOffsetsToTransaction", gone); o.Error != "UNKNOWN_MEMBER_ID" || o.State != "ABORTABLE_ERROR" {
				t.Error(o)
			}
			old := gone
			if old.Member, old.Generation = k.state().Group.ID, 99; p.transactAs("", "SendOffsets", "", old).Error != "UNKNOWN_MEMBER_ID" {
				t.Error("in an error state the call throws the state's error")
			}
			must(t, p.Abort())
		})
	}
}

// committedOffset is what a group has committed for in-0, -1 for nothing.
func committedOffset(c *Cluster, group string) int64 {
	for _, o := range c.Group(group).Offsets {
		if o.Topic == "in" {
			return o.Committed
		}
	}
	return -1
}
