package machine

import "slices"

// Offsets in transactions (T-60 to T-62): sendOffsetsToTransaction(), and what the group's coordinator does before it
// writes them.
//
// The client sends them to the group's coordinator. With v1 it has asked the transaction's coordinator before to add the
// group's partition of __consumer_offsets; with v2 the group's coordinator asks (KIP-890), as the leader of any other
// partition does. They count when the commit marker reaches that partition.
//
// Kafka: TransactionManager.TxnOffsetCommitHandler, AddOffsetsToTxnHandler; GroupCoordinatorService.commitTransactionalOffsets.

// OffsetQueue is what sendOffsetsToTransaction() was given and the group's coordinator does not have yet.
type OffsetQueue struct {
	GroupNode     NodeID // the group's coordinator, NoNode while none is known
	Group, Member string
	Instance      string
	Generation    int32
	Offsets       []CommitPart // none when nothing is to be sent
	GroupAdded    bool         // v1: the transaction's coordinator has the group's partition
}

// SendOffsets is sendOffsetsToTransaction(): positions, and who says so, of a member of a group.
type SendOffsets struct {
	Producer                int32
	Group, Member, Instance string
	Generation              int32
	Offsets                 []CommitPart
}

func (SendOffsets) command() {}

// sendOffsets takes positions into the transaction.
func (s *State) sendOffsets(p *Producer, c SendOffsets) Code {
	t := &p.Txn
	if t.State != TxnInTransaction {
		return t.refusal()
	}
	if t.Failed = NONE; len(c.Offsets) == 0 {
		return NONE
	}
	if c.Group != t.Group {
		t.GroupNode, t.GroupAdded = NoNode, false
	}
	t.Group, t.Member, t.Instance, t.Generation, t.Offsets = c.Group, c.Member, c.Instance, c.Generation, c.Offsets
	t.called(CallOffsets, s.Now)
	s.wakeAt(&p.ClientIO, s.Now)
	return NONE
}

func (t *TransactionManager) forgetOffsets() { t.Offsets = nil }

func (t *TransactionManager) hasOffsets() bool { return len(t.Offsets) > 0 }

// sendTxnOffsets sends what comes next for offsets.
func (s *State) sendTxnOffsets(p *Producer) {
	t := &p.Txn
	id := p.Config.TransactionalID
	switch {
	case s.transactionsV1() && !t.GroupAdded:
		s.askTxnCoordinator(p, t.Coordinator, AddOffsetsToTxnRequest{ID: id, ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, Group: t.Group})
	case t.GroupNode == NoNode:
		s.askAnybody(p, FindCoordinatorRequest{Kind: GroupCoordinator, Key: t.Group})
	default:
		t.Started = true
		s.askTxnCoordinator(p, t.GroupNode, TxnOffsetCommitRequest{TransactionalID: id, Group: t.Group, Member: t.Member, Instance: t.Instance,
			Generation: t.Generation, ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, Parts: t.Offsets})
	}
}

// offsetsAnswered takes an answer about offsets; false for any other.
func (s *State) offsetsAnswered(p *Producer, answer Payload) bool {
	t := &p.Txn
	switch a := answer.(type) {
	case AddOffsetsToTxnResponse:
		if t.Busy = false; a.Error == NONE {
			t.GroupAdded, t.Started = true, true
		} else {
			s.offsetsRefused(p, a.Error)
		}
	case OffsetCommitResponse:
		t.Busy = false
		for i := range a.Parts {
			switch code := a.Parts[i].Error; code {
			case NONE:
				continue
			case NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, REQUEST_TIMED_OUT:
				t.GroupNode, t.RetryAt = NoNode, s.Now+p.Times.RetryBackoff
			default:
				s.offsetsRefused(p, code)
			}
			return true
		}
		t.Offsets = nil
		s.offsetsReturn(p)
	default:
		return false
	}
	return true
}

// offsetsRefused is an error: who is no member of the generation any more may only abort, and an old epoch ends the
// producer (T-51, T-62).
func (s *State) offsetsRefused(p *Producer, code Code) {
	t := &p.Txn
	if code.again() {
		s.txnRetry(p, code, 0)
		return
	}
	t.Offsets, t.Failed = nil, fencedAs(code)
	s.offsetsReturn(p)
	if code = fencedAs(code); code == PRODUCER_FENCED || code == INVALID_TXN_STATE {
		s.txnFatal(p, code)
	} else {
		s.txnFailed(p, code)
	}
}

// offsetsReturn ends the call, unless it has thrown TimeoutException and the application has called something else.
func (s *State) offsetsReturn(p *Producer) {
	if p.Txn.Call == CallOffsets {
		s.callReturns(p)
	}
}

// offsetsLost goes on after a request about offsets that will not be answered.
func (s *State) offsetsLost(p *Producer, asked Payload) {
	if _, ok := asked.(TxnOffsetCommitRequest); ok {
		p.Txn.Busy, p.Txn.GroupNode, p.Txn.RetryAt = false, NoNode, s.Now+p.Times.RetryBackoff
	}
}

// onTxnOffsetCommitAsked lets the group's coordinator ask the transaction's first (T-21, T-25).
func (s *State) onTxnOffsetCommitAsked(b *Broker, e Event, m TxnOffsetCommitRequest) {
	x, code := s.groupShard(b, m.Group)
	unasked := s.mutant(AppendsUnasked) || s.mayHang()
	if code != NONE || unasked || ongoing(b.replica(x.TP), m.ProducerID, m.ProducerEpoch) {
		s.onTxnOffsetCommit(b, e, m) // which refuses it, or takes it
		return
	}
	version := TransactionV2
	if s.transactionsV1() {
		version = TransactionV1
	}
	b.LastAdd++
	b.Verifying = append(b.Verifying, Verification{Number: b.LastAdd, From: e.From, Conn: e.Conn, Correlation: e.Correlation, Request: Later{m}, Version: version,
		Ask: TransactionPart{ID: m.TransactionalID, ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, VerifyOnly: version < TransactionV2, Version: version &^ TransactionV1,
			Partitions: []TopicPartition{x.TP}},
		Guards: []uint64{b.replica(x.TP).guard(m.ProducerID, 0, &b.LastGuard)},
		Until:  s.Now + s.World.Broker.Transactions.AddBackoffMaxMs*ms})
	s.askCoordinators(b)
}

// txnOffsetsVerified goes on when the transaction's coordinator has answered.
func (s *State) txnOffsetsVerified(b *Broker, e Event, m TxnOffsetCommitRequest, a *asked) {
	code := a.codes[0]
	if code == NOT_ENOUGH_REPLICAS {
		code = COORDINATOR_NOT_AVAILABLE // how a group's client hears of a coordinator that did not answer
	}
	r := b.replica(a.parts[0])
	if code == NONE && (r == nil || !slices.ContainsFunc(r.Guards, func(g Guard) bool { return g.ProducerID == m.ProducerID && g.Number == a.guards[0] })) {
		code = INVALID_TXN_STATE // a marker came meanwhile
	}
	if code == NONE {
		s.onTxnOffsetCommit(b, e, m)
		return
	}
	var res OffsetCommitResponse
	for i := range m.Parts {
		res.Parts = append(res.Parts, CommitResult{m.Parts[i].Topic, m.Parts[i].Partition, code})
	}
	p := parked(&e)
	s.answerParked(b, &p, res)
}

// Consumed are the positions of a consumer's partitions, for sendOffsetsToTransaction().
func (c *Consumer) Consumed() []CommitPart { return c.consumed() }

// GroupMetadata is groupMetadata(): who a consumer is in its group, or was when it was last part of it; no member and -1
// for one that never was.
func (c *Consumer) GroupMetadata() LastJoined {
	if c.Group.Last.Member == "" {
		return LastJoined{"", -1}
	}
	return c.Group.Last
}
