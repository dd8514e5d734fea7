package kafkasim

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/machine"
)

// txnRun is what a schedule with transactions keeps.
type txnRun struct {
	ids     []txnClient
	zombies []txnClient // instances that were replaced and go on
	done    []*txnTold
	mover   *Consumer // whose positions become part of transactions
	kept    []machine.Event
	probes  uint32
}

// txnClient is a transactional producer, and its present transaction; nil for none.
type txnClient struct {
	*Producer
	id   string
	open *txnTold
}

// txnTold is a transaction and what its producer was told of it.
type txnTold struct {
	sent    []*Delivery
	values  []string
	offsets map[int]int64 // of the mover's group, by partition
	call    *TxnCall
	commit  bool
	fate    string // "committed", "aborted", or "unknown"
}

// setUpTransactions makes the transactional producers of a schedule.
func (r *running) setUpTransactions(s *schedule) {
	if s.world.txns == 0 {
		return
	}
	r.mover = r.NewConsumer("mover", Config{"group.id": "g", "enable.auto.commit": false, "auto.offset.reset": "earliest", "isolation.level": "read_committed"}).Assign("t")
	for i := range s.world.txns {
		r.ids = append(r.ids, r.instance(fmt.Sprint("tx-", i)))
	}
	if s.world.seed%4 > 0 {
		r.RunFor(ms(250))
	}
}

// instance makes another producer with a transactional id.
func (r *running) instance(id string) txnClient {
	p := r.NewProducer(fmt.Sprintf("%s.%d", id, len(r.s.Producers)), Config{"transactional.id": id, "transaction.timeout.ms": 700, "linger.ms": 0,
		"request.timeout.ms": 150, "delivery.timeout.ms": 500, "max.block.ms": 400, "retry.backoff.ms": 20})
	p.InitTransactionsAsync()
	return txnClient{Producer: p, id: id}
}

// actOnTransactions does one thing that is about transactions.
func (r *running) actOnTransactions(o op) {
	if len(r.ids) == 0 {
		return
	}
	i := o.a % len(r.ids)
	switch o.kind {
	case opTxn:
		x := &r.ids[i]
		if n := len(r.zombies); n > 0 && o.n%6 == 0 {
			x = &r.zombies[o.b%n]
		}
		if r.transact(x, o.n/6); o.b > 0 {
			r.RunFor(ms([]int{1, 2, 4, 8, 16}[o.n%5]))
		}
	case opTxnOther:
		r.zombies = append(r.zombies, r.ids[i])
		r.ids[i] = r.instance(r.ids[i].id)
	case opTxnCrash:
		r.ids[i].Crash()
		r.ids[i] = r.instance(r.ids[i].id)
	case opTxnTwice:
		r.twice(o)
	case opTxnHold:
		if len(r.s.Holds) == 0 {
			r.Hold([]string{"EndTxn", "EndTxnResponse", "WriteTxnMarkers", "WriteTxnMarkersResponse", "AddPartitionsToTxn", "AddPartitionsToTxnResponse",
				"InitProducerId", "TxnOffsetCommit", "Produce", "ProduceResponse"}[o.n%10])
		}
	case opTxnWait:
		r.RunFor(ms(700 + o.n))
	case opTxnDecider:
		r.coordinatorDies(i, o)
	}
}

// coordinatorDies ends the coordinator of a transactional id, if it lives, and lets it come back now and then.
func (r *running) coordinatorDies(i int, o op) {
	t := r.findTxn(r.ids[i].id)
	if t == nil || t.Coordinator <= 0 {
		return
	}
	b := r.Broker(t.Coordinator)
	switch {
	case !b.alive():
		b.Start()
		return
	case b.state().Paused:
		b.Resume()
		return
	}
	switch o.n % 5 {
	case 0:
		b.PowerLoss()
	case 1:
		b.Pause()
		if r.RunFor(ms(220)); b.state().Paused {
			b.Resume()
		}
	default:
		b.Crash()
	}
	if o.n%3 == 0 {
		r.RunFor(ms(230))
		if !b.alive() {
			b.Start()
		}
	}
}

// twice keeps a request about transactions that is on the wire, or lets one that was kept arrive again.
func (r *running) twice(o op) {
	for _, e := range r.s.Queue {
		switch e.Payload.(type) {
		case machine.EndTxnRequest, machine.AddPartitionsToTxnRequest, machine.WriteTxnMarkersRequest, machine.ProduceRequest, machine.TxnOffsetCommitRequest:
			if e.To.IsBroker() {
				r.kept = append(r.kept, e)
			}
		}
	}
	if n := len(r.kept); n > 8 {
		r.kept = r.kept[n-8:]
	}
	if len(r.kept) > 0 {
		e := r.kept[o.n%len(r.kept)]
		r.probes++
		r.s.Probe(0, e.To, r.probes, r.probes, e.Payload)
	}
}

// transact lets a producer do its next thing.
func (r *running) transact(x *txnClient, n int) {
	if x.state().Status != machine.ProducerRunning || x.open != nil && x.open.call != nil && x.open.call.Status() == "pending" {
		return
	}
	x.learn()
	switch x.state().Txn.State {
	case machine.TxnUninitialized, machine.TxnInitializing:
		x.InitTransactionsAsync()
	case machine.TxnReady:
		switch {
		case x.open != nil && r.s.GaveUp(x.i): // it has ended since the call threw TimeoutException: the same again
			x.end(x.open.commit)
			return
		case r.s.GaveUp(x.i):
			x.InitTransactionsAsync()
			return
		}
		x.open = &txnTold{fate: "unknown", offsets: map[int]int64{}}
		r.done = append(r.done, x.open)
		if o := x.Begin(); o.Error != "" {
			panic(o.String())
		}
		r.fill(x, n)
	case machine.TxnInTransaction:
		switch {
		case n%3 > 0 && len(x.open.values) < 6:
			r.fill(x, n)
		default:
			x.end(n%5 > 0)
		}
	case machine.TxnCommitting, machine.TxnAborting: // it has thrown TimeoutException: the same again
		x.end(x.open.commit)
	case machine.TxnAbortableError:
		x.end(false)
	case machine.TxnFatalError:
		x.open = nil
		for i := range r.ids {
			if r.ids[i].Producer == x.Producer {
				r.ids[i] = r.instance(x.id)
			}
		}
	}
}

// fill sends a record or two, or the mover's positions.
func (r *running) fill(x *txnClient, n int) {
	t := x.open
	if n%7 == 3 {
		r.mover.Poll(ms(1))
		t.offsets = map[int]int64{}
		for p := range len(r.Topic("t").Partitions) {
			if tp := r.mover.part("t", p); tp != nil {
				t.offsets[p] = r.mover.Position("t", p)
			}
		}
		x.SendOffsets(r.mover)
		return
	}
	for range 1 + n%2 {
		r.sent++
		value := fmt.Sprint("v", r.sent)
		t.values = append(t.values, value)
		t.sent = append(t.sent, x.Send("t", fmt.Sprint("k", (r.sent+n)%5), value))
	}
}

// end commits or aborts without waiting.
func (x *txnClient) end(commit bool) {
	x.open.commit = commit
	if commit {
		x.open.call = x.CommitAsync()
	} else {
		x.open.call = x.AbortAsync()
	}
}

// learn takes what the last call of a producer told of its transaction.
func (x *txnClient) learn() {
	if x.open == nil || x.open.call == nil || x.open.call.Status() != "returned" {
		return
	}
	if x.open.fate = "aborted"; x.open.commit {
		x.open.fate = "committed"
	}
	x.open = nil
}

// all are the transactional producers, those that were replaced, too.
func (r *running) allTransactional() []*txnClient {
	var list []*txnClient
	for i := range r.ids {
		list = append(list, &r.ids[i])
	}
	for i := range r.zombies {
		list = append(list, &r.zombies[i])
	}
	return slices.DeleteFunc(list, func(x *txnClient) bool { return x.state().Status != machine.ProducerRunning })
}
