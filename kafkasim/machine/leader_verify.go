package machine

import "slices"

// Produce with transactions, on the leader (T-21 to T-25).
//
// The first batch of a transaction in a partition is not appended before the coordinator has been asked: with
// transactions v2 to add the partition, with an older client whether it was added (KIP-890). While the coordinator
// is still ending the transaction before, the broker asks again for a little while. A marker that comes meanwhile
// makes the answer void.
//
// Kafka: ReplicaManager.handleProduceAppend, AddPartitionsToTxnManager, VerificationGuard, VerificationStateEntry.

// Verification is a produce request that waits for a coordinator.
type Verification struct {
	Number            uint32
	From              NodeID
	Conn, Correlation uint32
	Request           Later
	Version           int8 // of the client's protocol
	Ask               TransactionPart
	Guards            []uint64 // of Ask.Partitions
	Until             int64    // µs: CONCURRENT_TRANSACTIONS is asked again until then
	RetryAt           int64    // µs: not asked before
}

// VerifyTimer: a broker asks coordinators again.
type VerifyTimer struct{}

func (VerifyTimer) payload() {}

// unverified are the partitions of a request whose batches begin a transaction in their logs, sorted; none when
// nothing is to be asked.
func (s *State) unverified(b *Broker, m *ProduceRequest) []TopicPartition {
	v2 := m.Version >= TransactionV2
	if m.TransactionalID == "" || !v2 && s.takesUnasked() || s.mutant(AppendsUnasked) {
		return nil
	}
	var ask []TopicPartition
	for i := range m.Parts {
		p := &m.Parts[i]
		if r, code := b.leaderReplica(p.TP); code == NONE && p.Batch.Transactional && !ongoing(r, p.Batch.ProducerID, p.Batch.ProducerEpoch) {
			ask = addChanged(ask, p.TP)
		}
	}
	return ask
}

// ongoing tells whether a producer has a transaction open in a log with this epoch.
func ongoing(r *Replica, producerID int64, epoch int16) bool {
	return r.Log.OpenBy(producerID) >= 0 && r.Log.EpochOf(producerID) == epoch
}

// verify parks a request and asks its coordinator.
func (s *State) verify(b *Broker, e Event, m ProduceRequest, ask []TopicPartition) {
	b.LastAdd++
	first := &m.Parts[0].Batch
	v := Verification{Number: b.LastAdd, From: e.From, Conn: e.Conn, Correlation: e.Correlation, Request: Later{m}, Version: m.Version,
		Ask:   TransactionPart{ID: m.TransactionalID, ProducerID: first.ProducerID, ProducerEpoch: first.ProducerEpoch, VerifyOnly: m.Version < TransactionV2, Partitions: ask},
		Until: s.Now + s.World.Broker.Transactions.AddBackoffMaxMs*ms}
	for _, tp := range ask {
		i := slices.IndexFunc(m.Parts, func(p ProducePart) bool { return p.TP == tp })
		v.Guards = append(v.Guards, b.replica(tp).guard(first.ProducerID, m.Parts[i].Batch.BaseSequence, &b.LastGuard))
	}
	if m.Version >= TransactionV2 {
		v.Ask.Version = TransactionV2
	}
	b.Verifying = append(b.Verifying, v)
	s.askCoordinators(b)
}

// askCoordinators sends what waits: to each coordinator one request for all its transactions.
func (s *State) askCoordinators(b *Broker) {
	at := never
	for i := 0; i < len(b.Verifying); i++ {
		v := &b.Verifying[i]
		if v.RetryAt == never {
			continue // in flight
		}
		if v.RetryAt > s.Now {
			at = min(at, v.RetryAt)
			continue
		}
		node := b.coordinatorOf(TransactionCoordinator, v.Ask.ID)
		if node == NoNode {
			s.verified(b, v.Number, allOf(len(v.Ask.Partitions), COORDINATOR_NOT_AVAILABLE))
			i--
			continue
		}
		if p := b.peer(node, AddPeer); !p.Channel.InFlight {
			p.Adds = append(p.Adds, v.Number)
			v.RetryAt = never
		}
	}
	for i := range b.Peers {
		p := &b.Peers[i]
		if p.Purpose != AddPeer || p.Channel.InFlight || len(p.Adds) == 0 {
			continue
		}
		var m AddPartitionsToTxnRequest
		for _, n := range p.Adds {
			m.Transactions = append(m.Transactions, b.verification(n).Ask)
		}
		s.askPeer(b, p, m)
	}
	if at != never {
		s.wake(&b.VerifyAt, at, b.ID, VerifyTimer{})
	}
}

// verification finds who waits by his number.
func (b *Broker) verification(n uint32) *Verification {
	i := slices.IndexFunc(b.Verifying, func(v Verification) bool { return v.Number == n })
	return &b.Verifying[i]
}

func (s *State) onVerifyTimer(b *Broker, e Event) {
	if e.At == b.VerifyAt {
		b.VerifyAt = 0
		s.askCoordinators(b)
	}
}

// onPartitionsAdded takes a coordinator's answer.
func (s *State) onPartitionsAdded(b *Broker, e Event, m AddPartitionsToTxnResponse) {
	p := b.answeredPeer(&e, AddPeer)
	if p == nil {
		return
	}
	adds := p.Adds
	p.Adds = nil
	for i, n := range adds {
		s.verified(b, n, m.Results[i].Errors)
	}
	s.askCoordinators(b)
}

// addsLost tells those who wait that the coordinator did not answer.
func (s *State) addsLost(b *Broker, node NodeID) {
	p := b.peer(node, AddPeer)
	adds := p.Adds
	p.Adds = nil
	for _, n := range adds {
		s.verified(b, n, allOf(len(b.verification(n).Ask.Partitions), NETWORK_EXCEPTION))
	}
	s.askCoordinators(b)
}

// verified lets a request go on, or ask again (T-22).
func (s *State) verified(b *Broker, number uint32, codes []Code) {
	i := slices.IndexFunc(b.Verifying, func(v Verification) bool { return v.Number == number })
	v := &b.Verifying[i]
	if backoff := s.World.Broker.Transactions.AddBackoffMs * ms; !v.Ask.VerifyOnly && slices.Contains(codes, CONCURRENT_TRANSACTIONS) && s.Now+backoff <= v.Until {
		v.RetryAt = s.Now + backoff
		s.wake(&b.VerifyAt, v.RetryAt, b.ID, VerifyTimer{})
		return
	}
	done := *v
	codes = slices.Clone(codes)
	b.Verifying = slices.Delete(b.Verifying, i, i+1)
	for i := range codes {
		codes[i] = producerCode(codes[i], done.Version)
	}
	e := Event{From: done.From, Conn: done.Conn, Correlation: done.Correlation}
	switch m := done.Request.Payload.(type) {
	case ProduceRequest:
		s.produce(b, e, m, &asked{done.Ask.Partitions, codes, done.Guards})
	case TxnOffsetCommitRequest:
		s.txnOffsetsVerified(b, e, m, &asked{done.Ask.Partitions, codes, done.Guards})
	}
}

// producerCode is how a producer hears of a coordinator's refusal (T-24, T-25): a zombie of its old epoch (T-52).
func producerCode(code Code, version int8) Code {
	switch code {
	case PRODUCER_FENCED:
		return INVALID_PRODUCER_EPOCH
	case NETWORK_EXCEPTION, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR:
		return NOT_ENOUGH_REPLICAS
	case CONCURRENT_TRANSACTIONS:
		if version < TransactionV2 {
			return NOT_ENOUGH_REPLICAS
		}
	case TRANSACTION_ABORTABLE:
		if version < TransactionV1 {
			return INVALID_TXN_STATE
		}
	}
	return code
}

// asked is what a coordinator said about the partitions of a request.
type asked struct {
	parts  []TopicPartition
	codes  []Code
	guards []uint64
}

// refuses is why a batch may not be appended by what the coordinator said; NONE for "it may".
func (a *asked) refuses(tp TopicPartition) (code Code, guard uint64) {
	if a == nil {
		return NONE, 0
	}
	if i := slices.Index(a.parts, tp); i >= 0 {
		return a.codes[i], a.guards[i]
	}
	return NONE, 0
}

// beginning is what a batch comes with that may be a transaction's first in its log: its request, and the guard with
// which the coordinator was asked.
type beginning struct {
	request *ProduceRequest
	guard   uint64
}

// mayBegin decides about a transactional batch that is about to be appended: it goes on with what is open, or the
// guard with which the coordinator was asked is still good. With transactions v2 a log without this epoch takes only
// what was asked about first (P-86).
func (s *State) mayBegin(r *Replica, tx *beginning, p *ProducePart) Code {
	b := &p.Batch
	if tx == nil || !b.Transactional || ongoing(r, b.ProducerID, b.ProducerEpoch) {
		return NONE
	}
	v2 := tx.request.Version >= TransactionV2
	switch {
	case !v2 && s.takesUnasked(), s.mutant(AppendsUnasked):
		return NONE
	case s.mutant(GuardsForever):
		return NONE
	}
	i := slices.IndexFunc(r.Guards, func(g Guard) bool { return g.ProducerID == b.ProducerID && g.Number == tx.guard })
	switch {
	case i < 0:
		return INVALID_TXN_STATE
	case b.BaseSequence > r.Guards[i].Lowest, v2 && b.BaseSequence != 0 && r.Log.EpochOf(b.ProducerID) != b.ProducerEpoch:
		return OUT_OF_ORDER_SEQUENCE_NUMBER
	}
	return NONE
}
