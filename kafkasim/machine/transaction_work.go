package machine

import (
	"strconv"

	"kafkalab/kafkasim/partlog"
)

// TxnWork: an application that makes transactions, one after the other, as the loop of most applications does.
//
//	loop: beginTransaction; send each record; commitTransaction, or abortTransaction; wait for the next one's time
//
// Its calls block it and nobody else, so that many producers are at work at once. What it does about errors is what the
// documentation of KafkaProducer says: after a fatal one it ends, after any other it aborts and goes on.
//
// It is no part of Kafka.

// TxnWork starts or stops a producer's application.
type TxnWork struct {
	Producer   int32
	Stop       bool // after the present transaction
	Topics     []string
	Keys       []string // in turn; without any the records have none
	Records    int32    // of a transaction
	PerRecord  int64    // µs that the application takes for a record, before the next one or the end
	Every      int64    // µs from one beginning to the next at least
	AbortEvery int32    // it aborts each so many transactions; 0 for none
	Count      int64    // transactions; 0 for no end
}

func (TxnWork) command() {}

// TxnApp is an application.
type TxnApp struct {
	On      bool
	How     TxnWork
	Left    int32   // records that the present transaction still gets
	NextAt  int64   // µs: when the next record, or transaction, is due
	BeganAt int64   // µs: the present transaction
	Ends    TxnEnds // what is to become of it
	Begun   int64
	Sent    int64 // records
	TxnDone
	TxnCalls
}

// TxnEnds is what an application does with its present transaction.
type TxnEnds uint8

// The ends of a transaction: none while it is open, or there is none.
const (
	TxnOpen TxnEnds = iota
	TxnCommits
	TxnAborts
	TxnFails // it is aborted because of an error
)

// TxnDone is what an application's transactions came to.
type TxnDone struct {
	Committed, Aborted int64
	Failed             int64 // aborted because of an error, or left behind by a producer that was fenced
	Took, Longest      int64 // µs from beginTransaction() to the end of commitTransaction(): sum, and most
	LastError          Code  // why the last one failed
}

// workTransactions starts or stops an application.
func (s *State) workTransactions(p *Producer, w TxnWork) {
	if w.Stop {
		p.App.How.Stop = true
	} else {
		a := &p.App
		if w.Count > 0 {
			w.Count += a.Begun
		}
		a.On, a.How, a.NextAt, a.BeganAt, a.Ends = true, w, s.Now, -1, TxnOpen
	}
	s.goOnTransacting(p)
}

// goOnTransacting does what the application can do now.
func (s *State) goOnTransacting(p *Producer) {
	a, t := &p.App, &p.Txn
	for a.On && p.Status == ProducerRunning && !t.Waits() {
		if s.GaveUp(p.Index) {
			t.CalledAt = s.Now // it calls the same again, and finds it done (T-16)
		}
		switch t.State {
		case TxnUninitialized:
			s.initTransactions(p)
		case TxnReady:
			s.transactionWorked(p)
			if a.How.Stop || a.How.Count > 0 && a.Begun >= a.How.Count {
				a.On = false
			} else if s.wakesLater(p, a.NextAt) {
				return
			} else {
				s.beginWork(p)
			}
		case TxnInTransaction:
			if s.wakesLater(p, a.NextAt) {
				return
			}
			s.goOnWithTransaction(p)
		case TxnAbortableError:
			a.Ends, a.LastError = TxnFails, t.Error
			s.endTransaction(p, false)
		default: // fatal
			a.On, a.LastError = false, t.Error
			if a.BeganAt >= 0 {
				a.Failed++
			}
		}
	}
}

// wakesLater tells whether something is not due yet; then the application is woken when it is.
func (s *State) wakesLater(p *Producer, at int64) bool {
	if s.Now >= at {
		return false
	}
	s.wakeAt(&p.ClientIO, at)
	return true
}

// beginWork begins the application's next transaction.
func (s *State) beginWork(p *Producer) {
	a := &p.App
	a.Begun++
	a.BeganAt, a.NextAt, a.Left, a.Ends = s.Now, s.Now, a.How.Records, TxnOpen
	s.beginTransaction(p)
}

// goOnWithTransaction sends the next record, or ends the transaction behind the last.
func (s *State) goOnWithTransaction(p *Producer) {
	a := &p.App
	if a.Left == 0 {
		a.Ends = TxnCommits
		if a.How.AbortEvery > 0 && a.Begun%int64(a.How.AbortEvery) == 0 {
			a.Ends = TxnAborts
		}
		s.endTransaction(p, a.Ends == TxnCommits)
		return
	}
	a.Left--
	a.NextAt = s.Now + a.How.PerRecord
	a.Sent++
	r := partlog.Record{Value: "#" + strconv.FormatInt(a.Sent, 10), Timestamp: NoTimestamp, Flags: partlog.NullKey}
	if n := int64(len(a.How.Keys)); n > 0 {
		r.Key, r.Flags = a.How.Keys[(a.Sent-1)%n], 0
	}
	s.Send(p.Index, a.How.Topics[(a.Sent-1)%int64(len(a.How.Topics))], anyPartition, r, nil)
}

// transactionWorked counts a transaction that has ended.
func (s *State) transactionWorked(p *Producer) {
	a := &p.App
	switch a.Ends {
	case TxnOpen:
		return
	case TxnCommits:
		a.Committed++
		a.Took += s.Now - a.BeganAt
		a.Longest = max(a.Longest, s.Now-a.BeganAt)
	case TxnAborts:
		a.Aborted++
	case TxnFails:
		a.Failed++
	}
	a.NextAt, a.BeganAt, a.Ends = a.BeganAt+a.How.Every, -1, TxnOpen
}
