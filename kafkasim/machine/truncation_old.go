package machine

import (
	"slices"
)

// Truncation as it was: to the high watermark (before 0.11), and by asking the leader first (0.11 to 2.6).
// It is behind the switches of generation.go.
//
// Kafka: ReplicaManager.makeFollowers, AbstractFetcherThread.maybeTruncate, fetchOffsetAndTruncate. KIP-101,
// KIP-279, KIP-320. R2.2, R2.10.

// beginTruncation is what a replica does with its log when it begins to follow a leader. In today's way that
// is nothing: the leader's answer to the first fetch tells where the logs part. leaderChanged tells whether
// it followed somebody else before.
func (s *State) beginTruncation(b *Broker, r *Replica, leaderChanged bool) {
	way := s.World.Rules.Truncation()
	switch {
	case s.mutant(TruncatesToHighWatermark):
		s.truncate(b, r, r.Log.HighWatermark)
	case way == ToHighWatermark:
		if leaderChanged && r.Leader != NoNode {
			s.truncate(b, r, r.Log.HighWatermark)
		}
	case len(r.Log.Epochs) == 0:
		s.truncate(b, r, r.Log.HighWatermark) // state Truncating of R2.2: no epoch to compare by
	case way == ByRequest:
		r.Truncating = r.Leader != NoNode && (leaderChanged || s.World.Rules.On(FetchFencing))
	}
}

// lastFetchedEpoch is the epoch of a replica's last record as its fetch tells it, -1 when it does not.
func (s *State) lastFetchedEpoch(r *Replica) int32 {
	if r.NoEpoch || s.World.Rules.Truncation() != OnFetch {
		return -1
	}
	if s.mutant(WrongLastEpoch) {
		return r.LeaderEpoch
	}
	return r.Log.Epochs.Latest()
}

// expectedEpoch is the leader epoch that a request names: -1, which nobody checks, before KIP-320.
func (s *State) expectedEpoch(e int32) int32 {
	if s.World.Rules.Without(FetchFencing) {
		return -1
	}
	return e
}

// fenced gives the parts of a fetch the leader epoch that they are to be checked by.
func (s *State) fenced(parts []FetchPart) []FetchPart {
	if s.World.Rules.On(FetchFencing) {
		return parts
	}
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].LeaderEpoch = -1
	}
	return parts
}

// fetchBrokerEpoch is the broker epoch in a fetch: -1 before KIP-903.
func (s *State) fetchBrokerEpoch(b *Broker) int64 {
	if s.World.Rules.Without(BrokerEpochs) {
		return -1
	}
	return b.Lifecycle.Epoch
}

// otherEpoch tells whether an answer is to a fetch of an earlier epoch, and is to be dropped for that.
func (s *State) otherEpoch(r *Replica, sent *FetchPart) bool {
	return r.LeaderEpoch != sent.LeaderEpoch && s.World.Rules.On(FetchAnswerEpoch) && !s.mutant(TakesStaleAnswers)
}

// askEpochs asks the leader where the last epochs of some replicas ended.
func (s *State) askEpochs(b *Broker, f *Fetcher, parts []FetchPart) {
	req := OffsetsForLeaderEpochRequest{Parts: make([]EpochQuery, len(parts))}
	for i := range parts {
		p := &parts[i]
		p.LastFetchedEpoch = b.replica(p.TP).Log.Epochs.Latest()
		req.Parts[i] = EpochQuery{TP: p.TP, CurrentEpoch: s.expectedEpoch(p.LeaderEpoch), Epoch: p.LastFetchedEpoch}
	}
	f.Parts, f.Asking = parts, ForEpochs
	s.request(b.ID, f.Leader, &f.Channel, s.World.Broker.ReplicaSocketTimeoutMs*1000, req)
	s.wake(&f.WakeAt, f.Channel.Deadline, b.ID, FetcherTimer{Leader: f.Leader})
}

// onEpochAnswers cuts by the leader's answers, and asks or fetches on.
func (s *State) onEpochAnswers(b *Broker, e Event, m OffsetsForLeaderEpochResponse) {
	i, found := b.fetcher(e.From)
	if !found || b.Fetchers[i].Asking != ForEpochs || !b.Fetchers[i].Channel.answers(&e) {
		return
	}
	f := &b.Fetchers[i]
	sent := f.Parts
	f.Parts, f.Asking = nil, ForRecords
	for j := range m.Parts {
		r := b.replica(sent[j].TP)
		// Before KIP-320 nothing tied the answer to the epoch in which it was asked for, but the question.
		if r == nil || !r.follows(f.Leader) || !r.Truncating || r.Log.Epochs.Latest() != sent[j].LastFetchedEpoch ||
			r.LeaderEpoch != sent[j].LeaderEpoch && s.World.Rules.On(FetchFencing) {
			continue
		}
		if a := &m.Parts[j]; a.Error != NONE {
			s.fetchError(b, r, sent[j].LeaderEpoch, a.Error)
		} else {
			s.truncateByAnswer(b, r, a.End)
		}
	}
	s.fetch(b, f)
}

// truncateByAnswer is one round of R2.10 by request. A leader that does not know the epoch sends the
// follower back to its high watermark. KIP-101 knew one round only.
func (s *State) truncateByAnswer(b *Broker, r *Replica, leader EpochEnd) {
	to, complete := min(leader.Offset, r.Log.End), true
	switch {
	case leader.Offset < 0:
		to = r.Log.HighWatermark
	case s.World.Rules.On(EpochInAnswer):
		to, complete = divergenceOffset(r, leader)
	}
	s.truncate(b, r, to)
	r.Truncating = !complete && len(r.Log.Epochs) > 0
	b.refetch(r.TP)
}

// truncationIsFatal tells whether a follower whose log is longer than its leader's gives up (KAFKA-7414): it
// takes it for data loss that nobody has allowed, and ends its process.
func (s *State) truncationIsFatal(b *Broker, r *Replica) bool {
	return s.World.Rules.Without(OutOfRangeNotFatal) && !b.Image.Topics[r.TP.Topic].Props.UncleanLeaderElectionEnable
}

// writeISR is how a leader changed the ISR before KIP-497: it wrote it to ZooKeeper itself, and waited. Here
// ZooKeeper is where the controller is, whether that lives or not, and answers in no time. Without a way there, or when its partition
// epoch (ZooKeeper's version) is old, nothing is written, and it is tried again at the next occasion.
func (s *State) writeISR(b *Broker, r *Replica, change ISRChange) {
	ctl := s.zooKeeper()
	if ctl == nil || s.link(b.ID, ctl.ID).Cut {
		return
	}
	reg := ctl.Image.partition(r.TP)
	if reg.PartitionEpoch != r.PartitionEpoch || reg.LeaderEpoch != r.LeaderEpoch {
		s.staleZkVersion(b, r, reg.PartitionEpoch)
		return
	}
	c := s.change(ctl, r.TP)
	c.isr, c.recovered, c.byLeader = change.ISR, true, true
	next, changed := c.build()
	if !changed {
		return
	}
	s.commit(ctl, []MetadataRecord{{Kind: PartitionChangeRecord, TP: r.TP, Partition: next}})
	s.touch(b, r)
	r.ISR, r.PartitionEpoch = next.ISR, next.PartitionEpoch
	if s.advanceHighWatermark(b, r) {
		s.highWatermarkMoved(b, r.TP)
	} else {
		s.completeProduces(b, r.TP)
	}
}

// wantsHighWatermark tells whether a follower's parked fetch ends because there is a high watermark that it has
// not been told of, as it did in 2.4 and 2.5 (R2.5, KAFKA-9952).
func (s *State) wantsHighWatermark(r *Replica, follower NodeID) bool {
	if follower == NoNode || s.World.Rules.On(HighWatermarkWaits) {
		return false
	}
	return slices.ContainsFunc(r.Remotes, func(x Remote) bool { return x.Broker == follower && x.SentHW < r.Log.HighWatermark })
}

// toldHighWatermark keeps what a follower is told.
func (s *State) toldHighWatermark(b *Broker, follower NodeID, results []FetchResult) {
	if follower == NoNode || s.World.Rules.On(HighWatermarkWaits) {
		return
	}
	for i := range results {
		r := b.replica(results[i].TP)
		if r == nil || r.Role != Leader {
			continue
		}
		for j := range r.Remotes {
			if x := &r.Remotes[j]; x.Broker == follower {
				x.SentHW = max(x.SentHW, results[i].HighWatermark)
			}
		}
	}
}
