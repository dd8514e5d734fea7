package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// The high watermark, on the leader: how far the log is committed.
//
// Kafka: Partition.maybeIncrementLeaderHW, Replica.updateFetchStateOrThrow, ReplicaState. KIP-966 (strict
// min ISR), KIP-903 (broker epochs).

// advanceHighWatermark is R1.17. It is evaluated at each credited fetch, each append, each committed change
// of the ISR and each change of the metadata, and never by the clock. It tells whether it moved. With an ISR
// of one it follows the append (R1.20), and with a minimum of 1 an acks=all record is then in one page cache
// only (R4.9). What lies below it is on every member of the maximal ISR: safe while one of those that may be
// elected keeps it (R4.8).
func (s *State) advanceHighWatermark(b *Broker, r *Replica) bool {
	if s.World.Rules.On(StrictMinISR) && len(r.ISR) < b.Image.effectiveMinISR(r.TP) && !s.mutant(HighWatermarkUnderMin) {
		return false // the committed ISR counts, even if a pending growth would be enough (R1.22)
	}
	candidate := r.Log.End
	for i := range r.Remotes {
		x := &r.Remotes[i]
		if x.End >= candidate {
			continue
		}
		// R1.18: who caught up lately and may join the ISR holds it back already.
		if s.counts(r, x.Broker) || s.caughtUp(b, r, x) && (s.isrEligible(b, x) || s.World.Rules.Without(HighWatermarkSkipsIneligible)) {
			candidate = x.End
		}
	}
	if s.mutant(HighWatermarkByMajority) {
		candidate = r.majority()
	}
	if candidate <= r.Log.HighWatermark && !s.mutant(HighWatermarkGoesBack) {
		return false
	}
	truth := s.Truth.partition(s, r.TP)
	truth.Exposed = max(truth.Exposed, candidate)
	if len(r.ISR) < b.Image.effectiveMinISR(r.TP) {
		truth.Thin = candidate
	}
	return s.setHighWatermark(b, r, candidate)
}

// counts tells whether a replica holds the high watermark back as a member of the ISR (R1.21).
func (s *State) counts(r *Replica, id NodeID) bool {
	if s.mutant(HighWatermarkByProposed) && r.Change.Kind == PendingShrink {
		return slices.Contains(r.Change.ISR, id)
	}
	if s.World.Rules.Without(MaximalISR) || s.mutant(HighWatermarkByCommitted) {
		return slices.Contains(r.ISR, id)
	}
	return r.inMaximalISR(id)
}

// setHighWatermark moves a replica's high watermark and says so.
func (s *State) setHighWatermark(b *Broker, r *Replica, to int64) bool {
	old, t := r.Log.HighWatermark, &r.Log.Transactions
	had := len(t.Open)+len(t.Ended) > 0 // one that the high watermark passes now is forgotten
	if !r.Log.SetHighWatermark(to) {
		return false
	}
	s.touch(b, r)
	s.note(view.Change{Kind: view.HighWatermark, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: r.Log.HighWatermark, B: old})
	s.noteStable(b, r, had)
	return true
}

// noteStable notes that a leader's last stable offset has moved, once its log has had a transaction (T-44).
func (s *State) noteStable(b *Broker, r *Replica, had bool) {
	if r.Role != Leader || r.Stable == 0 && !had {
		return
	}
	if stable := r.Log.LastStable(); stable != r.Stable {
		s.note(view.Change{Kind: view.LastStable, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: stable, B: r.Stable})
		r.Stable = stable
	}
}

// caughtUp is R2.14.
func (s *State) caughtUp(b *Broker, r *Replica, x *Remote) bool {
	return x.End == r.Log.End || s.Now-x.LastCaughtUp <= s.World.Broker.ReplicaLagTimeMaxMs*1000
}

// creditFetch takes a follower's fetch as its acknowledgement of everything below the fetch offset (R2.12),
// and does what follows from it: the ISR may grow (R2.17), the high watermark may move (R1.17). The follower
// learns of that with a later answer: this one has the high watermark of before (R2.7).
func (s *State) creditFetch(b *Broker, r *Replica, m *FetchRequest, p *FetchPart) Code {
	i := slices.IndexFunc(r.Remotes, func(x Remote) bool { return x.Broker == m.Replica })
	x := &r.Remotes[i]
	if reg := b.Image.broker(x.Broker); m.BrokerEpoch >= 0 && !reg.Fenced && reg.Epoch > m.BrokerEpoch && !s.mutant(CreditsFormerLife) {
		return NOT_LEADER_OR_FOLLOWER // a fetch of the follower's former life
	}
	end, before := r.Log.End, x.End
	switch {
	case p.FetchOffset >= end:
		x.LastCaughtUp = max(x.LastCaughtUp, s.Now)
	case p.FetchOffset >= x.LastFetchLeaderEnd:
		x.LastCaughtUp = max(x.LastCaughtUp, x.LastFetch)
	}
	raised := p.LogStartOffset > x.LogStart
	x.End, x.LogStart = p.FetchOffset, p.LogStartOffset
	x.LastFetchLeaderEnd = max(x.LastFetchLeaderEnd, end)
	x.LastFetch, x.BrokerEpoch, x.Session = s.Now, m.BrokerEpoch, 0
	s.maybeExpandISR(b, r, x)
	if raised {
		s.completeDeletes(b)
	}
	if x.End != before && s.advanceHighWatermark(b, r) {
		s.highWatermarkMoved(b, r.TP)
	}
	return NONE
}
