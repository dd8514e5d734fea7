package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/machine"
)

// TxnOutcome is what a transactional call brought: the producer's state after it, and Kafka's error if it threw one.
type TxnOutcome struct {
	Call  string // "commitTransaction", …
	State string // Kafka's name of the producer's state after it
	Error string // Kafka's name of the error that the call threw; "" if it did not
	// Message is the Java client's exception for it: its class and its words, and after "<-" those of its cause.
	Message string
	Run     *Run // the time that it took
	id      string
}

// String tells it in a line.
func (o *TxnOutcome) String() string {
	s := fmt.Sprintf("%s  %s: %s()", clock(o.Run.To.Microseconds()), o.id, o.Call)
	if o.Error != "" {
		return s + " threw " + because(o.Error, o.Message) + "; the producer is in the state " + o.State
	}
	return s + " returned after " + inMs((o.Run.To - o.Run.From).Microseconds()) + "; the producer is in the state " + o.State
}

// InitTransactions is initTransactions(): the producer gets its producer id and epoch, and whoever had its
// transactional.id before is fenced (T-10 to T-16). Virtual time runs until that is done, max.block.ms at most; after
// a TimeoutException it can be called again. Begin calls it when nobody has.
func (p *Producer) InitTransactions() *TxnOutcome {
	return p.transact("InitTransactions", "initTransactions", machine.InitTransactions{Producer: p.i})
}

// Begin is beginTransaction(): from now on records belong to a transaction. Nothing is sent (T-26). A producer that
// has not called InitTransactions does so first.
func (p *Producer) Begin() *TxnOutcome {
	p.needsTransactions("Begin")
	p.needsIdle("Begin")
	if p.state().Txn.State == machine.TxnUninitialized {
		if o := p.InitTransactions(); o.Error != "" {
			return o
		}
	}
	return p.transact("Begin", "beginTransaction", machine.BeginTransaction{Producer: p.i})
}

// Commit is commitTransaction(): it sends what waits, and ends the transaction when all of it is acknowledged (T-30).
// Virtual time runs until the coordinator has answered, max.block.ms at most. Consumers under read_committed see the
// records when the markers are written, a little later (T-31).
func (p *Producer) Commit() *TxnOutcome {
	return p.transact("Commit", "commitTransaction", machine.EndTransaction{Producer: p.i, Commit: true})
}

// Abort is abortTransaction(): what was not sent fails, and what was is not seen under read_committed (T-36).
func (p *Producer) Abort() *TxnOutcome {
	return p.transact("Abort", "abortTransaction", machine.EndTransaction{Producer: p.i})
}

// SendOffsets is sendOffsetsToTransaction(): the positions of all partitions of a consumer, with its group and generation,
// become part of the transaction (T-60, T-63). They count when it is committed, and whoever fetches the group's offsets before
// waits (T-61). The consumer should not commit by itself. Virtual time runs until the group's coordinator has them.
func (p *Producer) SendOffsets(k *Consumer) *TxnOutcome {
	p.needsTransactions("SendOffsets")
	if k == nil || k.c != p.c {
		misuse(p.where("SendOffsets"), "want a consumer of this cluster")
	}
	m := k.state()
	if m.Config.Member.GroupID == "" {
		misuse(p.where("SendOffsets"), "consumer %q has no group; give it kafkasim.Config{\"group.id\": \"…\"}", k.ID())
	}
	who := m.GroupMetadata()
	return p.transactAs(fmt.Sprintf("c.Producer(%q).SendOffsets(c.Consumer(%q))", p.ID(), k.ID()), "SendOffsets", "sendOffsetsToTransaction", machine.SendOffsets{
		Producer: p.i, Group: m.Config.Member.GroupID, Member: who.Member, Instance: m.Config.Member.InstanceID, Generation: who.Generation, Offsets: m.Consumed(),
	})
}

// needsTransactions refuses a producer without a transactional id, and one that has ended.
func (p *Producer) needsTransactions(verb string) {
	p.needsRunning(verb)
	p.hasTransactionalID(verb)
}

func (p *Producer) hasTransactionalID(verb string) {
	if p.state().Config.TransactionalID == "" {
		misuse(p.where(verb), "this producer has no transactions; give it kafkasim.Config{\"transactional.id\": \"…\"}; Kafka's IllegalStateException says: Transactional method invoked on a non-transactional producer.")
	}
}

// needsIdle refuses what an application at work does itself.
func (p *Producer) needsIdle(verb string) {
	if p.state().App.On {
		misuse(p.where(verb), "its application is at work and makes its own transactions; StopWork first, and let time pass until it has ended the present one")
	}
}

// transact carries out a call and waits for its end.
func (p *Producer) transact(verb, call string, cmd machine.Command) *TxnOutcome {
	p.needsTransactions(verb)
	return p.transactAs(fmt.Sprintf("c.Producer(%q).%s()", p.ID(), verb), verb, call, cmd)
}

// transactAs is transact for a call that a script writes like this.
func (p *Producer) transactAs(code, verb, call string, cmd machine.Command) *TxnOutcome {
	p.needsIdle(verb)
	o := &TxnOutcome{Call: call, id: p.ID()}
	r := p.c.begin()
	until := p.c.s.Now + p.state().Config.MaxBlockMs*1000
	refusal := p.refusal(call)
	res := p.c.apply(code, cmd)
	if res.Error != machine.NONE {
		o.Error, o.Message = res.Error.String(), refusal
	} else {
		p.c.stepUntil(p.c.passing(verb+", ms", until-p.c.s.Now), func() bool {
			e, ok := p.c.s.Peek()
			return !p.state().Txn.Waits() || !ok || e.At > until
		})
		switch t := &p.state().Txn; {
		case t.Waits():
			p.c.s.Now = until
			o.Error, o.Message = machine.TIMEOUT_EXCEPTION.String(), p.answered(call, machine.TIMEOUT_EXCEPTION)
		case t.Failed != machine.NONE:
			o.Error, o.Message = t.Failed.String(), p.answered(call, t.Failed)
		}
	}
	r.end(nil)
	o.State, o.Run = p.state().Txn.State.String(), r.run
	return o
}
