package kafkasim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
)

// TxnWork is how a simulated application uses a transactional producer: it begins a transaction, sends some records,
// commits, and begins the next one.
type TxnWork struct {
	// Topics are where the records go, one after the other.
	Topics []string
	// Keys are the records' keys, in turn; without any they have none.
	Keys []string
	// Records is how many a transaction has; 0 is 1.
	Records int
	// PerRecord is how long the application takes for a record before it sends the next one or ends the transaction.
	PerRecord time.Duration
	// Every is the time from one beginning to the next at least; 0 begins as soon as the one before has ended.
	Every time.Duration
	// AbortEvery lets the application abort each so many transactions; 0 for none.
	AbortEvery int
	// Transactions is how many it makes; 0 for no end.
	Transactions int
}

// code writes the fields that are set.
func (w TxnWork) code() string {
	parts := []string{fmt.Sprintf("Topics: %#v", w.Topics)}
	if len(w.Keys) > 0 {
		parts = append(parts, fmt.Sprintf("Keys: %#v", w.Keys))
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"Records", w.Records}, {"AbortEvery", w.AbortEvery}, {"Transactions", w.Transactions}} {
		if x.n != 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", x.name, x.n))
		}
	}
	if w.PerRecord != 0 {
		parts = append(parts, "PerRecord: "+goDuration(w.PerRecord.Microseconds()))
	}
	if w.Every != 0 {
		parts = append(parts, "Every: "+goDuration(w.Every.Microseconds()))
	}
	return "kafkasim.TxnWork{" + strings.Join(parts, ", ") + "}"
}

// Work starts an application that makes transactions by itself whenever time passes: begin, send, commit, one after the
// other. Its calls block it, and nobody else, so that many producers are a load. It calls initTransactions() first, if
// nobody has. After an error it aborts and goes on; when it is fenced it ends (T-55). What it has done is in Transactions.
func (p *Producer) Work(w TxnWork) *Producer {
	p.needsTransactions("Work")
	where := p.where("Work")
	switch state := p.state().Txn.State; {
	case p.state().App.On:
		misuse(where, "its application is at work already; StopWork first")
	case state != machine.TxnUninitialized && state != machine.TxnReady:
		misuse(where, "the producer is in the state %v; the application begins its own transactions, so end the present one first", state)
	case len(w.Topics) == 0:
		misuse(where, `Topics is empty; want where the records go, such as []string{"orders"}`)
	case w.Records < 0 || w.PerRecord < 0 || w.Every < 0 || w.AbortEvery < 0 || w.Transactions < 0:
		misuse(where, "Records %d, PerRecord %v, Every %v, AbortEvery %d, Transactions %d: want nothing below 0", w.Records, w.PerRecord, w.Every, w.AbortEvery, w.Transactions)
	case w.Records > 100_000 || w.AbortEvery > math.MaxInt32:
		misuse(where, "Records %d, AbortEvery %d: want a transaction of at most 100000 records", w.Records, w.AbortEvery)
	case p.partitioner() != nil:
		misuse(where, "this producer has a partitioner of its own, which the application does not ask; use Begin, Send and CommitAsync in a loop")
	}
	for _, t := range w.Topics {
		p.c.topicIndex(where, t)
	}
	p.c.apply(fmt.Sprintf("c.Producer(%q).Work(%s)", p.ID(), w.code()), machine.TxnWork{Producer: p.i, Topics: slices.Clone(w.Topics), Keys: slices.Clone(w.Keys),
		Records: int32(max(w.Records, 1)), PerRecord: w.PerRecord.Microseconds(), Every: w.Every.Microseconds(), AbortEvery: int32(w.AbortEvery), Count: int64(w.Transactions)})
	return p
}

// StopWork lets the application end the transaction that it has begun, and begin no other.
func (p *Producer) StopWork() *Producer {
	p.needsTransactions("StopWork")
	p.c.apply(fmt.Sprintf("c.Producer(%q).StopWork()", p.ID()), machine.TxnWork{Producer: p.i, Stop: true})
	return p
}

// Transactions is what the producer's application (Work) has done so far.
func (p *Producer) Transactions() *TransactionCounts {
	p.hasTransactionalID("Transactions")
	a := &p.state().App
	n := &TransactionCounts{Producer: p.ID(), Begun: a.Begun, Records: a.Sent, Committed: a.Committed, Aborted: a.Aborted, Failed: a.Failed,
		Longest: duration(a.Longest), Working: a.On}
	if a.LastError != machine.NONE {
		n.LastError = a.LastError.String()
	}
	if a.Committed > 0 {
		n.Average = duration(a.Took / a.Committed)
	}
	return n
}

// TransactionCounts is what an application's transactions came to.
type TransactionCounts struct {
	Producer         string
	Begun, Records   int64
	Committed        int64
	Aborted          int64         // because the application wanted it
	Failed           int64         // because of an error
	Average, Longest time.Duration // from beginTransaction() until commitTransaction() returned
	LastError        string        // Kafka's name of the last error; "" for none
	Working          bool          // it goes on
}

// String is a sentence.
func (n *TransactionCounts) String() string {
	s := fmt.Sprintf("%s: %s begun with %s; %d committed, %d aborted, %d failed", n.Producer, plural(n.Begun, "transaction"), plural(n.Records, "record"), n.Committed, n.Aborted, n.Failed)
	if n.Committed > 0 {
		s += fmt.Sprintf("; a commit took %s from its beginning on average, %s at most", inMs(n.Average.Microseconds()), inMs(n.Longest.Microseconds()))
	}
	if n.LastError != "" {
		s += "; last error " + n.LastError
	}
	if n.Begun > 0 && !n.Working {
		s += "; it has ended"
	}
	return s
}
