package machine

import (
	"slices"
)

// The in-sync replicas, on the leader: who is thrown out for lagging, who is let in again, and what counts
// while the controller has not answered.
//
// Kafka: Partition.maybeShrinkIsr, maybeExpandIsr, PartitionState (CommittedPartitionState, PendingExpandIsr,
// PendingShrinkIsr). KIP-497 (AlterPartition, maximal ISR), KIP-841, KIP-903.

// ISRChange is a change of the ISR that the leader has proposed; the zero value is none (R1.4).
type ISRChange struct {
	Kind ISRChangeKind
	ISR  []NodeID // the proposed ISR
}

// ISRChangeKind says which way the ISR changes.
type ISRChangeKind uint8

// The kinds of change.
const (
	NoChange ISRChangeKind = iota
	PendingExpand
	PendingShrink
)

// inMaximalISR tells whether a broker counts as in the ISR: a member that is to leave counts until the
// controller has agreed, one that is to join counts at once (R1.21).
func (r *Replica) inMaximalISR(id NodeID) bool {
	return slices.Contains(r.ISR, id) || r.Change.Kind == PendingExpand && slices.Contains(r.Change.ISR, id)
}

func (r *Replica) maximalISRSize() int {
	if r.Change.Kind == PendingExpand {
		return len(r.Change.ISR)
	}
	return len(r.ISR)
}

// isrEligible is R2.19: the leader's metadata shows the broker unfenced, not shutting down, and in the same
// life as in its last fetch. Before KIP-841 the leader did not ask.
func (s *State) isrEligible(b *Broker, x *Remote) bool {
	reg := b.Image.broker(x.Broker)
	return (reg.active() || s.World.Rules.Without(FencedStayOut)) && (x.BrokerEpoch == reg.Epoch || x.BrokerEpoch == -1)
}

// maybeExpandISR is R2.17, at each credited fetch. The follower need not have the leader's end: the high
// watermark and the start of the epoch are enough. Without the second condition a follower that has only
// reached a stale high watermark could join, and win an election without the new leader's records. While the
// high watermark stands still below the minimum ISR, a follower far behind joins early, and may be thrown out
// again (R2.18). This is the last step of every return to the ISR (R4.4).
func (s *State) maybeExpandISR(b *Broker, r *Replica, x *Remote) {
	if r.Change.Kind != NoChange || slices.Contains(r.ISR, x.Broker) || !s.isrEligible(b, x) ||
		x.End < r.Log.HighWatermark && !s.mutant(ExpandsBelowHighWatermark) ||
		s.World.Rules.On(ExpandFromEpochStart) && x.End < r.EpochStart && !s.mutant(ExpandsBelowEpochStart) {
		return
	}
	isr := append(slices.Clone(r.ISR), x.Broker)
	slices.Sort(isr) // as Kafka's set of ints comes out; the order means nothing (R3.13)
	s.proposeISR(b, r, ISRChange{Kind: PendingExpand, ISR: isr})
}

// onISRTimer is R2.15, every half of replica.lag.time.max.ms.
func (s *State) onISRTimer(b *Broker) {
	for i := range b.Replicas {
		if r := &b.Replicas[i]; r.Role == Leader {
			s.maybeShrinkISR(b, r)
		}
	}
	s.after(s.World.Broker.ReplicaLagTimeMaxMs*1000/2, b.ID, ISRTimer{})
}

// maybeShrinkISR proposes to drop every member that has not caught up for too long. One whose last fetch
// reached the leader's end stays, dead or not, as long as nothing is written (R2.16).
func (s *State) maybeShrinkISR(b *Broker, r *Replica) {
	if r.Change.Kind != NoChange {
		return
	}
	isr := make([]NodeID, 0, len(r.ISR))
	for _, id := range r.ISR {
		i := slices.IndexFunc(r.Remotes, func(x Remote) bool { return x.Broker == id })
		if i < 0 || s.caughtUp(b, r, &r.Remotes[i]) && (!s.mutant(ShrinksWithoutLag) || r.Remotes[i].End == r.Log.End) {
			isr = append(isr, id)
		}
	}
	if len(isr) < len(r.ISR) {
		slices.Sort(isr)
		s.proposeISR(b, r, ISRChange{Kind: PendingShrink, ISR: isr})
	}
}

// proposeISR makes a change pending and hands it to the AlterPartition manager, which refuses a second one
// for a partition while one is with it (R2.20, R2.23: back to the committed ISR).
func (s *State) proposeISR(b *Broker, r *Replica, change ISRChange) {
	if s.World.Rules.Without(AlterISR) {
		s.writeISR(b, r, change)
		return
	}
	item := AlterPart{TP: r.TP, LeaderEpoch: r.LeaderEpoch, PartitionEpoch: r.PartitionEpoch}
	for _, id := range change.ISR {
		epoch := b.Lifecycle.Epoch
		if i := slices.IndexFunc(r.Remotes, func(x Remote) bool { return x.Broker == id }); i >= 0 {
			epoch = r.Remotes[i].BrokerEpoch
		}
		if s.World.Rules.Without(BrokerEpochs) {
			epoch = -1
		}
		item.ISR = append(item.ISR, BrokerEpoch{ID: id, Epoch: epoch})
	}
	if s.submitAlter(b, item) {
		s.touch(b, r)
		r.Change = change
		if s.mutant(ISRByProposal) {
			r.ISR = change.ISR
		}
	}
}

// onISRAnswer is the controller's answer about one partition (R2.23).
func (s *State) onISRAnswer(b *Broker, sent *AlterPart, res *AlterResult) {
	r := b.replica(sent.TP)
	if r == nil || r.Role != Leader || r.LeaderEpoch != sent.LeaderEpoch || r.PartitionEpoch != sent.PartitionEpoch ||
		r.Change.Kind == NoChange {
		return // metadata was faster, or the leadership has moved
	}
	s.touch(b, r)
	switch res.Error {
	case NONE:
		if res.LeaderEpoch != r.LeaderEpoch || res.PartitionEpoch < r.PartitionEpoch {
			return
		}
		r.ISR, r.PartitionEpoch, r.Change = res.ISR, res.PartitionEpoch, ISRChange{}
		if s.World.Rules.On(AlterMovesHighWatermark) && s.advanceHighWatermark(b, r) {
			s.highWatermarkMoved(b, r.TP)
		} else {
			s.completeProduces(b, r.TP)
		}
	case INELIGIBLE_REPLICA, OPERATION_NOT_ATTEMPTED:
		r.Change = ISRChange{} // the next fetch or tick proposes again
	case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, FENCED_LEADER_EPOCH, INVALID_UPDATE_VERSION, INVALID_REQUEST,
		NEW_LEADER_ELECTED:
		// The metadata that is on its way will say what holds; until then the change stays pending.
	default:
		s.submitAlter(b, *sent) // not the controller's word on the change: ask again
	}
}
