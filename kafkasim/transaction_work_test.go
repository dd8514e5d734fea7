package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Fifty producers at once make a thousand transactions a second of virtual time, and read_committed sees each whole.
func TestTransactionLoad(t *testing.T) {
	c, ps := txnLoad(50)
	c.RunFor(time.Second)
	from := committed(ps)
	c.RunFor(time.Second)
	if n := committed(ps) - from; n < 1000 {
		t.Errorf("%d transactions in a second of virtual time, want a thousand", n)
	}
	for _, p := range ps {
		p.StopWork()
	}
	c.Settle()
	var begun int64
	for _, p := range ps {
		n := p.Transactions()
		if begun += n.Begun; n.Working || n.Committed != n.Begun || n.Records != 2*n.Begun || n.Failed != 0 {
			t.Error(n)
		}
	}
	k := c.NewConsumer("k", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("orders")
	got := 0
	for range 40 {
		got += len(k.Poll(200 * time.Millisecond).Records)
	}
	if int64(got) != 2*begun {
		t.Errorf("read_committed got %d records of %d transactions with two each", got, begun)
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
}

// What an application does: its aborts, the time between its records, how many transactions, and what it does when it
// is fenced (T-52, T-55).
func TestTransactionWork(t *testing.T) {
	c, _, _ := txnCluster(World{})
	p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
	p.Work(TxnWork{Topics: []string{"orders"}, Records: 3, PerRecord: 100 * time.Millisecond, AbortEvery: 3, Transactions: 6})
	c.Settle()
	n := p.Transactions()
	if n.Begun != 6 || n.Committed != 4 || n.Aborted != 2 || n.Records != 18 || n.Working || n.Average < 300*time.Millisecond {
		t.Error(n)
	}
	p.Work(TxnWork{Topics: []string{"orders"}, Every: 50 * time.Millisecond})
	c.RunFor(time.Second)
	if n := p.Transactions(); n.Committed < 20 || n.Committed > 25 || !n.Working {
		t.Error(n)
	}
	other := c.NewProducer("p2", Config{"transactional.id": "tx-1"})
	must(t, other.InitTransactions())
	c.RunFor(time.Second)
	if n := p.Transactions(); n.Working || n.LastError == "" || n.Failed != 1 || !strings.HasSuffix(fmt.Sprint(n), "; it has ended") {
		t.Error(n)
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
	other.Work(TxnWork{Topics: []string{"orders"}})
	for _, x := range []struct {
		want string
		f    func()
	}{
		{"StopWork first", func() { other.Begin() }},
		{"StopWork first", func() { other.CommitAsync() }},
		{"at work already", func() { other.Work(TxnWork{Topics: []string{"orders"}}) }},
		{`such as []string{"orders"}`, func() { c.NewProducer("p3", Config{"transactional.id": "x"}).Work(TxnWork{}) }},
		{"Records -1", func() { c.Producer("p3").Work(TxnWork{Topics: []string{"orders"}, Records: -1}) }},
		{"state FATAL_ERROR", func() { p.Work(TxnWork{Topics: []string{"orders"}}) }},
		{"transactional.id", func() { c.NewProducer("plain", nil).Work(TxnWork{Topics: []string{"orders"}}) }},
		{`"orders"`, func() { c.Producer("p3").Work(TxnWork{Topics: []string{"order"}}) }},
	} {
		if e := mistake(t, x.f); !strings.Contains(e, x.want) {
			t.Error(e)
		}
	}
}

// Two producers commit at the same time, and each call tells what became of it: here, in a fork, and in the past.
func TestCommitAsync(t *testing.T) {
	c, _, _ := txnCluster(World{})
	a, b := c.NewProducer("a", Config{"transactional.id": "tx-a"}), c.NewProducer("b", Config{"transactional.id": "tx-b"})
	i, j := a.InitTransactionsAsync(), b.InitTransactionsAsync()
	i.Wait()
	j.Wait()
	if i.Status() != "returned" || j.Status() != "returned" || i.String() == j.String() {
		t.Error(i, j)
	}
	for _, p := range []*Producer{a, b} {
		must(t, p.Begin())
		p.Send("orders", p.ID(), "v")
		p.Flush()
	}
	at := c.Now()
	x, y := a.CommitAsync(), b.AbortAsync()
	if c.Now() != at || x.Status() != "pending" || y.Status() != "pending" || x.CalledAt() != at || x.ReturnedAt() != -1 {
		t.Error(x, y)
	}
	if o := a.Begin(); o.Error != "IllegalStateException" || o.State != "COMMITTING_TRANSACTION" {
		t.Error(o)
	}
	if z := a.CommitAsync(); z.Status() != "threw" || z.Failure() != "IllegalStateException" || x.Status() != "pending" && x.Status() != "returned" {
		t.Error(z, x)
	}
	if z := a.AbortAsync(); z.Message() != "IllegalStateException: Cannot attempt operation `abortTransaction` because the previous call to `commitTransaction` timed out and must be retried" || !strings.Contains(z.String(), z.Message()) || z.In(c.Fork()).Message() != z.Message() {
		t.Error(z)
	}
	f := c.Fork()
	x.Wait()
	y.Wait()
	if x.Status() != "returned" || y.Status() != "returned" || x.ReturnedAt() <= at || x.Failure() != "" {
		t.Error(x, y)
	}
	if r := x.In(f); r.Status() != "pending" {
		t.Error(r)
	}
	f.Settle()
	if r := x.In(f); r.ReturnedAt() != x.ReturnedAt() || r.String() != x.String() {
		t.Error(r, x)
	}
	c.Settle()
	if s := c.Txn("tx-a").State + " " + c.Txn("tx-b").State; s != "CompleteCommit CompleteAbort" {
		t.Error(s)
	}
	if r := c.Replay(World{}); r.Hash() != c.Hash() {
		t.Error("the replay has gone another way")
	}
	file := t.TempDir() + "/world.json"
	c.Save(file)
	if l := Load(file); l.Hash() != c.Hash() || x.In(l).String() != x.String() {
		t.Error("the saved world is another one")
	}
}

// T-16, T-30: without a coordinator a call throws TimeoutException after max.block.ms; the same call again goes on with
// what it began.
func TestCommitAsyncTimesOut(t *testing.T) {
	c, _, _ := txnCluster(World{})
	p := c.NewProducer("p", Config{"transactional.id": "tx-1", "max.block.ms": 3000})
	must(t, p.Begin())
	p.Send("orders", "k", "v")
	p.Flush()
	c.Hold("EndTxn")
	x := p.CommitAsync()
	c.RunFor(time.Second)
	if x.Status() != "pending" {
		t.Error(x)
	}
	x.Wait()
	if x.Failure() != "TimeoutException" || x.ReturnedAt()-x.CalledAt() != 3*time.Second {
		t.Error(x)
	}
	if s := "TimeoutException: Timeout expired after 3000ms while awaiting EndTxn(true). CommitTransaction timed out - did not complete EndTxn with the transaction coordinator within max.block.ms"; x.Message() != s {
		t.Error(x.Message())
	}
	c.RunFor(time.Second)
	y := p.CommitAsync()
	c.Release()
	y.Wait()
	if y.Message() != "" {
		t.Error(y)
	}
	if x.Failure() != "TimeoutException" || y.Status() != "returned" {
		t.Error(x, y)
	}
}

// T-16: an application whose call took longer than max.block.ms calls the same again, and goes on.
func TestTransactionWorkWaitsLong(t *testing.T) {
	c, _, _ := txnCluster(World{})
	p := c.NewProducer("p", Config{"transactional.id": "tx-1", "max.block.ms": 500})
	p.Work(TxnWork{Topics: []string{"orders"}, Every: 100 * time.Millisecond})
	c.RunFor(time.Second)
	c.Hold("EndTxn")
	c.RunFor(2 * time.Second)
	before := p.Transactions().Committed
	c.Release()
	c.RunFor(time.Second)
	if n := p.Transactions(); n.Committed < before+5 || !n.Working {
		t.Error(n)
	}
}
