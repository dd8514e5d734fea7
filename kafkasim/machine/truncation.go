package machine

import (
	"kafkalab/kafkasim/view"
)

// Truncation: how a follower cuts off what its leader does not have.
//
// The leader finds by the follower's last epoch where the logs part and answers with a diverging epoch; the
// follower cuts, and asks again. When the leader answers for an epoch that the follower does not know
// either, one cut is not enough and another round follows (KIP-279).
//
// Kafka: AbstractFetcherThread.getOffsetTruncationState, truncateOnFetchResponse, fetchOffsetAndTruncate.
// KIP-101, KIP-279, KIP-595.

// truncateOnDivergence is R2.10. Whether the cut completes the truncation makes no difference to what is
// done next: the next fetch tells.
func (s *State) truncateOnDivergence(b *Broker, r *Replica, leader EpochEnd) {
	end, epoch := r.Log.End, r.Log.Epochs.Latest()
	to, _ := divergenceOffset(r, leader)
	if s.mutant(NeverTruncates) {
		to = end
	}
	s.truncate(b, r, to)
	if r.Stuck++; r.Log.End != end || r.Log.Epochs.Latest() != epoch {
		r.Stuck = 0
	}
}

// divergenceOffset is where R2.10 cuts a replica's log, given the leader's answer, and whether that is the
// last round.
func divergenceOffset(r *Replica, leader EpochEnd) (to int64, complete bool) {
	l := &r.Log
	if leader.Offset < 0 {
		return l.End, true
	}
	epoch, end := l.Epochs.EndOffsetFor(leader.Epoch, l.End)
	switch {
	case epoch < 0: // everything it knows is older
		return min(leader.Offset, l.End), true
	case epoch != leader.Epoch: // it does not know that epoch: cut to what both may know, and ask again
		return min(end, l.End), false
	}
	return min(end, leader.Offset, l.End), true
}

// truncate cuts a replica's log and says what was lost by it (R2.11).
func (s *State) truncate(b *Broker, r *Replica, to int64) {
	end, hw := r.Log.End, r.Log.HighWatermark
	if to >= end && s.World.Rules.Without(EpochCacheCut) {
		return
	}
	r.Aligned = false
	epochs, producers := r.Log.Epochs, r.Log.Producers
	cut := r.Log.TruncateTo(to)
	s.touch(b, r)
	if s.mutant(KeepsEpochCache) {
		r.Log.Epochs = epochs
	}
	if s.mutant(ForgetsProducers) {
		r.Log.Producers = producers
	}
	if !cut {
		return
	}
	s.noteTruncated(b, r, end, hw)
}

// truncateFully empties a replica's log and lets it start at an offset (R2.11).
func (s *State) truncateFully(b *Broker, r *Replica, start int64) {
	end, hw, old := r.Log.End, r.Log.HighWatermark, r.Log.LogStart
	r.Log.TruncateFullyAndStartAt(start)
	s.touch(b, r)
	s.noteTruncated(b, r, end, hw)
	s.note(view.Change{Kind: view.LogStart, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: start, B: old})
}

// raiseLogStart raises a replica's log start and says so (R7.8).
func (s *State) raiseLogStart(b *Broker, r *Replica, to int64) {
	if old := r.Log.LogStart; r.Log.SetLogStart(to) {
		s.touch(b, r)
		s.note(view.Change{Kind: view.LogStart, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: r.Log.LogStart, B: old})
		s.storeChanged(b, r)
	}
}

// noteTruncated says that a log lost its tail.
func (s *State) noteTruncated(b *Broker, r *Replica, end, hw int64) {
	s.note(view.Change{Kind: view.Truncated, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: r.Log.End, B: end})
	if r.Log.HighWatermark != hw {
		s.note(view.Change{Kind: view.HighWatermark, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: r.Log.HighWatermark, B: hw})
	}
	s.judgeLosses(r.TP)
}

// askLeaderOffsets is the first half of R2.11b: the leader has nothing at the follower's offset, so the
// follower asks where the leader's log begins and ends.
func (s *State) askLeaderOffsets(b *Broker, f *Fetcher, part FetchPart) {
	f.Parts, f.Asking = []FetchPart{part}, ForOffsets
	s.request(b.ID, f.Leader, &f.Channel, s.World.Broker.ReplicaSocketTimeoutMs*1000, ListOffsetsRequest{
		Replica: b.ID,
		Parts: []ListOffsetsPart{
			{TP: part.TP, Timestamp: LatestTimestamp, LeaderEpoch: s.expectedEpoch(part.LeaderEpoch)},
			{TP: part.TP, Timestamp: EarliestTimestamp, LeaderEpoch: s.expectedEpoch(part.LeaderEpoch)},
		},
	})
	s.wake(&f.WakeAt, f.Channel.Deadline, b.ID, FetcherTimer{Leader: f.Leader})
}

// onLeaderOffsets is the second half of R2.11b. A leader whose log ends before the follower's was elected
// uncleanly: cut to its end. Otherwise the follower was away longer than the leader keeps records: start
// over where the leader's log begins.
func (s *State) onLeaderOffsets(b *Broker, e Event, m ListOffsetsResponse) {
	i, found := b.fetcher(e.From)
	if !found || b.Fetchers[i].Asking != ForOffsets || !b.Fetchers[i].Channel.answers(&e) {
		return
	}
	f := &b.Fetchers[i]
	sent := f.Parts[0]
	f.Parts, f.Asking = nil, ForRecords
	r := b.replica(sent.TP)
	if r != nil && r.follows(f.Leader) && r.LeaderEpoch == sent.LeaderEpoch {
		switch end, start := &m.Parts[0], &m.Parts[1]; {
		case end.Error != NONE:
			s.fetchError(b, r, sent.LeaderEpoch, end.Error)
		case start.Error != NONE:
			s.fetchError(b, r, sent.LeaderEpoch, start.Error)
		case end.Offset < r.Log.End && s.truncationIsFatal(b, r):
			s.crash(b)
			return
		case end.Offset < r.Log.End:
			s.truncate(b, r, end.Offset)
		case start.Offset > r.Log.End:
			s.truncateFully(b, r, start.Offset)
		default:
			s.backOff(b, r) // nothing to cut: the next fetch must find an answer by itself
		}
	}
	s.fetch(b, f)
}
