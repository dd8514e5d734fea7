package kafkasim

import (
	"fmt"
	"time"

	"kafkalab/kafkasim/machine"
)

// TxnCall is what becomes of an initTransactions(), commitTransaction() or abortTransaction() that nobody waits for, as a
// Delivery is of a record. It always tells the present.
type TxnCall struct {
	c        *Cluster
	producer int32
	n        int32             // -1 for one that was refused at once
	refused  machine.TxnReturn // … as it was
	words    string            // … and what it threw
}

// CommitAsync is Commit as another thread of the application would call it: it returns at once, and virtual time does not
// run. So a cell can let many producers commit at the same time. Kafka's producer has no such method; its next call
// throws IllegalStateException until this one has returned.
func (p *Producer) CommitAsync() *TxnCall {
	return p.callAsync("CommitAsync", machine.CallCommit, machine.EndTransaction{Producer: p.i, Commit: true, Async: true})
}

// AbortAsync is Abort without waiting, as CommitAsync is.
func (p *Producer) AbortAsync() *TxnCall {
	return p.callAsync("AbortAsync", machine.CallAbort, machine.EndTransaction{Producer: p.i, Async: true})
}

// InitTransactionsAsync is InitTransactions without waiting, as CommitAsync is.
func (p *Producer) InitTransactionsAsync() *TxnCall {
	return p.callAsync("InitTransactionsAsync", machine.CallInit, machine.InitTransactions{Producer: p.i, Async: true})
}

func (p *Producer) callAsync(verb string, call machine.TxnCall, cmd machine.Command) *TxnCall {
	p.needsTransactions(verb)
	p.needsIdle(verb)
	words := p.refusal(call.String())
	r := p.c.apply(fmt.Sprintf("c.Producer(%q).%s()", p.ID(), verb), cmd)
	x := &TxnCall{c: p.c, producer: p.i, n: r.ID}
	if r.Error != machine.NONE {
		x.refused = machine.TxnReturn{Call: call, CalledAt: p.c.s.Now, At: p.c.s.Now, Failed: r.Error, State: p.state().Txn.State}
		x.words = words
	}
	return x
}

func (x *TxnCall) state() (machine.TxnReturn, bool) {
	if x.n < 0 {
		return x.refused, true
	}
	return x.c.s.TxnCall(x.producer, x.n)
}

// In is the same call in another cluster that began with the same commands: a fork, the past, a replay.
func (x *TxnCall) In(c *Cluster) *TxnCall {
	if int(x.producer) >= len(c.s.Producers) || !c.s.Producers[x.producer].App.Has(x.n) {
		misuse("In", "that cluster was never given this call")
	}
	return &TxnCall{c: c, producer: x.producer, n: x.n, refused: x.refused, words: x.words}
}

// Status is "pending", "returned", or "threw".
func (x *TxnCall) Status() string {
	switch r, done := x.state(); {
	case !done:
		return "pending"
	case r.Failed != machine.NONE:
		return "threw"
	}
	return "returned"
}

// Failure is Kafka's name of the error that the call threw; "" if it did not, or has not.
func (x *TxnCall) Failure() string {
	if r, _ := x.state(); r.Failed != machine.NONE {
		return r.Failed.String()
	}
	return ""
}

// Message is the Java client's exception for it, as TxnOutcome.Message is: its class and its words, and after "<-" those
// of its cause; "" if the call threw nothing, or has not.
func (x *TxnCall) Message() string {
	switch r, _ := x.state(); {
	case r.Failed == machine.NONE:
		return ""
	case x.n < 0:
		return x.words
	default:
		return (&Producer{x.c, x.producer}).answered(r.Call.String(), r.Failed)
	}
}

// CalledAt is when the call was made.
func (x *TxnCall) CalledAt() time.Duration {
	r, _ := x.state()
	return duration(r.CalledAt)
}

// ReturnedAt is when it returned, or threw; -1 while it is pending.
func (x *TxnCall) ReturnedAt() time.Duration {
	if r, done := x.state(); done {
		return duration(r.At)
	}
	return -1
}

// Wait lets virtual time run until the call has returned or thrown, max.block.ms after it was made at the latest.
func (x *TxnCall) Wait() *Run {
	t, done := x.state()
	if done {
		r := x.c.begin()
		r.end(nil)
		return r.run
	}
	left := t.CalledAt + x.c.s.Producers[x.producer].Config.MaxBlockMs*1000 - x.c.s.Now
	return x.c.RunUntil(func(*Cluster) bool {
		_, done := x.state()
		return done
	}, duration(left))
}

// String tells it in a line.
func (x *TxnCall) String() string {
	r, done := x.state()
	s := fmt.Sprintf("%s  %s: %s()", clock(r.CalledAt), x.c.producerName(x.producer), r.Call)
	switch {
	case !done:
		return s + " has not returned; the producer is in the state " + r.State.String()
	case r.Failed != machine.NONE:
		s += " threw " + because(r.Failed.String(), x.Message())
	default:
		s += " returned"
	}
	return s + " after " + inMs(r.At-r.CalledAt) + "; the producer was then in the state " + r.State.String()
}
