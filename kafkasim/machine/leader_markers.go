package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// WriteTxnMarkers, on the leaders of partitions (T-40, T-43): a control batch is appended with acks=all, and the
// coordinator is answered when all are replicated.
//
// Kafka: KafkaApis.handleWriteTxnMarkersRequest, ProducerAppendInfo.appendEndTxnMarker.

// TxnMarkersWritten is what a broker that writes markers waits for: so many partitions of each marker.
type TxnMarkersWritten struct{ Counts []int32 }

func (TxnMarkersWritten) payload() {}

// onWriteTxnMarkers appends the markers that this broker may append.
func (s *State) onWriteTxnMarkers(b *Broker, e Event, m WriteTxnMarkersRequest) {
	d := DelayedProduce{From: e.From, Conn: e.Conn, Correlation: e.Correlation, Deadline: s.Now + peerTimeout}
	var counts []int32
	for i := range m.Markers {
		counts = append(counts, int32(len(m.Markers[i].Partitions)))
		for _, tp := range m.Markers[i].Partitions {
			d.Parts = append(d.Parts, s.appendMarker(b, &m.Markers[i], tp))
		}
	}
	d.Then = Later{TxnMarkersWritten{counts}}
	s.awaitCommit(b, d)
}

// appendMarker is one marker in one partition.
func (s *State) appendMarker(b *Broker, m *TxnMarker, tp TopicPartition) DelayedPart {
	marker := partlog.Marker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}
	if s.mutant(MarkersReversed) {
		marker.Commit = !m.Commit
	}
	batch := s.ownBatch(b, partlog.MarkerRecord(marker, 0))
	batch.ProducerID, batch.ProducerEpoch, batch.Transactional, batch.Control = m.ProducerID, m.ProducerEpoch, true, true
	p := ProducePart{TP: tp, Batch: batch}
	code := NONE
	if x := b.shard(tp); x != nil && x.Loading {
		return s.refusedPart(b, tp, NOT_LEADER_OR_FOLLOWER) // asked again when the coordinator has read its log
	}
	if r, _ := b.leaderReplica(tp); r != nil && !s.mutant(TakesAnyMarker) {
		s.expireProducers(r)
		switch r.Log.CheckMarker(&batch, marker, m.Version >= TransactionV2, s.World.Rules.On(MarkerRetry)) {
		case partlog.MarkerStaleEpoch:
			code = INVALID_PRODUCER_EPOCH
		case partlog.MarkerFencedCoordinator:
			code = TRANSACTION_COORDINATOR_FENCED
		}
	}
	if code != NONE {
		s.refused(b, tp, code)
		return s.refusedPart(b, tp, code)
	}
	part := s.append(b, -1, &p, nil)
	if part.Result.Error != NONE {
		s.refused(b, tp, part.Result.Error)
		return part
	}
	s.groupMarker(b, tp, m.ProducerID, marker.Commit, part.Result.BaseOffset)
	return part
}

// markersAnswer is the answer when all partitions are decided.
func markersAnswer(w *TxnMarkersWritten, parts []DelayedPart) WriteTxnMarkersResponse {
	var m WriteTxnMarkersResponse
	for _, n := range w.Counts {
		codes := make([]Code, n)
		for i := range codes {
			codes[i] = parts[i].Result.Error
		}
		parts = parts[n:]
		m.Results = append(m.Results, TransactionResult{codes})
	}
	return m
}

// Guard lets a producer's first batch of a transaction into a log: the coordinator was asked about it, and no marker
// has come since (KIP-890). It is in the leader's memory only.
type Guard struct {
	ProducerID int64
	Number     uint64
	Lowest     int32 // the lowest first sequence that was asked about: with transactions v2 no batch begins above it
}

// guard finds or makes the guard of a producer; guards count up through numbers.
func (r *Replica) guard(producerID int64, sequence int32, numbers *uint64) uint64 {
	i := slices.IndexFunc(r.Guards, func(g Guard) bool { return g.ProducerID == producerID })
	if i < 0 {
		*numbers++
		r.Guards = append(r.Guards, Guard{producerID, *numbers, sequence})
		return *numbers
	}
	r.Guards[i].Lowest = min(r.Guards[i].Lowest, sequence)
	return r.Guards[i].Number
}

// forgetGuard makes a producer's guard void: its transaction is in the log, or has ended.
func (r *Replica) forgetGuard(producerID int64) {
	r.Guards = slices.DeleteFunc(r.Guards, func(g Guard) bool { return g.ProducerID == producerID })
}

// AbortTransaction is what kafka-transactions.sh abort does: the leader of a partition writes an abort marker for a
// producer's open transaction, whatever any coordinator says (KIP-664).
type AbortTransaction struct {
	TP         TopicPartition
	ProducerID int64
}

func (AbortTransaction) command() {}

// abortTransaction writes the marker with the epochs that the log itself knows; without any marker yet the
// coordinator's is 0.
func (s *State) abortTransaction(c AbortTransaction) Result {
	res := Result{ID: -1, Error: NOT_LEADER_OR_FOLLOWER}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		r, code := b.leaderReplica(c.TP)
		if code != NONE || !b.serves() || b.Paused {
			continue
		}
		k, _ := r.Log.Producer(c.ProducerID)
		m := TxnMarker{ProducerID: c.ProducerID, ProducerEpoch: k.Epoch, CoordinatorEpoch: max(k.CoordinatorEpoch, 0), Partitions: []TopicPartition{c.TP}}
		part := s.appendMarker(b, &m, c.TP)
		if res.Error = part.Result.Error; res.Error == NONE {
			s.awaitCommit(b, DelayedProduce{From: NoNode, Deadline: s.Now + peerTimeout, Parts: []DelayedPart{part}, Then: Later{TxnMarkersWritten{[]int32{1}}}})
		}
		return res
	}
	return res
}
