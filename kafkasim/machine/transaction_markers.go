package machine

import "slices"

// Markers, at the coordinator (T-31): every partition of a decided transaction gets one, and its leader is asked
// until it has written it, however long that takes and whoever leads by then. After a failover the new coordinator
// begins anew with all partitions, so one may have two (T-31, ea1).
//
// Kafka: TransactionMarkerChannelManager, TransactionMarkerRequestCompletionHandler. Simplified: what failed is
// sent again after 20 ms, where Kafka does it at once.

// PendingMarker is a marker that is to be written to a partition. With the topic -1 it stands for the record that
// all are written, which could not be.
type PendingMarker struct {
	Shard   TopicPartition
	Epoch   int32 // of the shard
	ID      string
	TP      TopicPartition
	RetryAt int64 // µs: not sent before
}

// MarkerTimer: a coordinator looks after markers that are to be sent again.
type MarkerTimer struct{}

func (MarkerTimer) payload() {}

// markerRetry is the wait before a marker is sent again, µs.
const markerRetry = 20_000

// sendTxnMarkers lets the markers of a decided transaction go. Without partitions it is complete at once.
func (s *State) sendTxnMarkers(b *Broker, x *CoordinatorShard, t *TransactionMetadata) {
	if len(t.Partitions) == 0 || s.mutant(NoMarkers) {
		s.completeEnd(b, x, t)
		return
	}
	for i, tp := range t.Partitions {
		if i == len(t.Partitions)-1 && i > 0 && s.mutant(ForgetsAPartition) {
			break
		}
		b.Markers = append(b.Markers, PendingMarker{Shard: x.TP, Epoch: x.Epoch, ID: t.ID, TP: tp})
	}
	s.pumpMarkers(b)
}

// pending finds the transaction that a marker is of; nil when it is not this coordinator's any more, or is not
// being ended.
func (b *Broker) pending(p *PendingMarker) (*CoordinatorShard, *TransactionMetadata) {
	x := b.shard(p.Shard)
	if x == nil || x.Epoch != p.Epoch || x.Loading {
		return nil, nil
	}
	if t := x.transaction(p.ID); t != nil && t.State.Prepared() {
		return x, t
	}
	return nil, nil
}

// pumpMarkers sends what can be sent: to each leader one request with all that it is to write.
func (s *State) pumpMarkers(b *Broker) {
	queue := b.Markers
	b.Markers = nil
	var late []PendingMarker
	at := never
	for i := range queue {
		p := &queue[i]
		x, t := b.pending(p)
		switch {
		case t == nil: // cancelled
		case p.RetryAt > s.Now:
			late = append(late, *p)
			at = min(at, p.RetryAt)
		case p.TP.Topic < 0:
			if !t.Pending {
				s.completeEnd(b, x, t)
			}
		default:
			if leader, gone := b.markerLeader(p.TP); gone {
				s.markerDone(b, p)
			} else if leader == NoNode {
				p.RetryAt = s.Now + markerRetry
				late = append(late, *p)
				at = min(at, p.RetryAt)
			} else if ch := b.peer(leader, MarkerPeer); ch.Channel.InFlight {
				late = append(late, *p)
			} else {
				ch.Markers = append(ch.Markers, *p)
			}
		}
	}
	b.Markers = append(late, b.Markers...)
	for i := range b.Peers {
		if ch := &b.Peers[i]; ch.Purpose == MarkerPeer && !ch.Channel.InFlight && len(ch.Markers) > 0 {
			s.askPeer(b, ch, b.markersRequest(ch.Markers))
		}
	}
	if at != never {
		s.wake(&b.MarkersAt, at, b.ID, MarkerTimer{})
	}
}

// markerLeader is who leads a partition; gone when there is no such partition any more.
func (b *Broker) markerLeader(tp TopicPartition) (leader NodeID, gone bool) {
	reg := b.Image.partition(tp)
	if reg == nil {
		return NoNode, true
	}
	if reg.Leader == NoNode || b.Image.broker(reg.Leader).Fenced {
		return NoNode, false
	}
	return reg.Leader, false
}

// markersRequest groups markers by their transactions.
func (b *Broker) markersRequest(list []PendingMarker) WriteTxnMarkersRequest {
	var m WriteTxnMarkersRequest
	for i := range list {
		p := &list[i]
		_, t := b.pending(p)
		if i > 0 && list[i-1].ID == p.ID && list[i-1].Shard == p.Shard {
			last := &m.Markers[len(m.Markers)-1]
			last.Partitions = append(last.Partitions, p.TP)
			continue
		}
		m.Markers = append(m.Markers, TxnMarker{ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch, Commit: t.State == TxnPrepareCommit,
			CoordinatorEpoch: p.Epoch, Version: t.Version, Partitions: []TopicPartition{p.TP}})
	}
	return m
}

// onMarkersWritten takes a leader's answer: what is written is done, what may be is sent again, and a refused epoch
// ends it: somebody else decides about this transaction, or nobody (KAFKA-19999).
func (s *State) onMarkersWritten(b *Broker, e Event, m WriteTxnMarkersResponse) {
	ch := b.answeredPeer(&e, MarkerPeer)
	if ch == nil {
		return
	}
	sent := ch.Markers
	ch.Markers = nil
	n := 0
	for _, r := range m.Results {
		for _, code := range r.Errors {
			p := &sent[n]
			n++
			switch code {
			case NONE:
				s.markerDone(b, p)
			case INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED:
				b.cancelMarkers(p)
			default:
				p.RetryAt = s.Now + markerRetry
				b.Markers = append(b.Markers, *p)
			}
		}
	}
	s.pumpMarkers(b)
}

// markerDone takes a partition off a transaction; after the last one it is complete.
func (s *State) markerDone(b *Broker, p *PendingMarker) {
	x, t := b.pending(p)
	if t == nil {
		return
	}
	left := make([]TopicPartition, 0, len(t.Partitions))
	for _, tp := range t.Partitions {
		if tp != p.TP {
			left = append(left, tp)
		}
	}
	t.Partitions = left
	if len(left) == 0 && !t.Pending || s.mutant(CompletesEarly) && !t.Pending {
		s.completeEnd(b, x, t)
	}
}

// cancelMarkers forgets the markers of a transaction.
func (b *Broker) cancelMarkers(p *PendingMarker) {
	b.Markers = slices.DeleteFunc(b.Markers, func(o PendingMarker) bool { return o.Shard == p.Shard && o.ID == p.ID })
}

// markersLost queues the markers of a request again that was not answered.
func (s *State) markersLost(b *Broker, node NodeID) {
	ch := b.peer(node, MarkerPeer)
	for i := range ch.Markers {
		ch.Markers[i].RetryAt = s.Now + markerRetry
	}
	b.Markers = append(b.Markers, ch.Markers...)
	ch.Markers = nil
	s.pumpMarkers(b)
}

func (s *State) onMarkerTimer(b *Broker, e Event) {
	if e.At == b.MarkersAt {
		b.MarkersAt = 0
		s.pumpMarkers(b)
	}
}

// completeWritten goes on when the end of a transaction could not be written: it is tried again.
func (s *State) completeWritten(b *Broker, x *CoordinatorShard, w *TransactionWrite, code Code) {
	if code == COORDINATOR_NOT_AVAILABLE && x != nil {
		b.Markers = append(b.Markers, PendingMarker{Shard: x.TP, Epoch: x.Epoch, ID: w.Next.ID, TP: TopicPartition{-1, -1}, RetryAt: s.Now + markerRetry})
		s.pumpMarkers(b)
	}
}

// transactionsLoaded goes on with what the coordinator before had decided (T-31), and looks after the rest.
func (s *State) transactionsLoaded(b *Broker, x *CoordinatorShard) {
	for i := range x.Transactions {
		t := &x.Transactions[i]
		if s.transitioned(x, t, t); t.State.Prepared() {
			s.sendTxnMarkers(b, x, t)
		} else {
			s.watchTransactions(b, t)
		}
	}
}
