package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// Truth is what nobody inside Kafka knows and the checks need: which records a client was told are safe,
// and what has happened that may cost some.
type Truth struct {
	Acked      []AckedBatch     // in the order in which clients learnt of them
	Partitions []PartitionTruth // by the number that State.TopicBase gives
}

// AckedBatch is one batch that a producer was told is written.
type AckedBatch struct {
	TP         TopicPartition
	BaseOffset int64 // -1 with acks=0
	Count      int32
	Sender     int32
	Serial     int32
	Acks       int8
	At         int64 // µs
	Lost       bool  // no leader's log holds it any more
}

// PartitionTruth is what has happened to a partition that breaks Kafka's promises without breaking its
// rules.
type PartitionTruth struct {
	Unclean   bool  // a leader was elected that was neither in sync nor eligible
	Asked     bool  // … because an administrator asked for it
	DiskLoss  bool  // a replica that had lost records it had answered for became leader, and no rule could tell
	Exposed   int64 // the highest high watermark that any leader has had
	TakenBack int64 // a latest offset that a consumer was told after a higher one was exposed, plus 1
	Cleaned   int64 // below it, some replica's cleaner has removed records
	Thin      int64 // how far a high watermark moved while the ISR was below its minimum
	Raised    bool  // its minimum ISR was raised, and a leader may not have known that yet
	Raced     bool  // … and somebody was elected who was eligible by the new one
	Forgotten int32 // the partition epoch that a proposed growth of the ISR would make, which its leader forgot
	Granted   bool  // … and it was granted
	// Lossy are the brokers whose replica lost records and has not fetched them again.
	Lossy []NodeID
}

// lossy tells whether a broker's replica has lost records and not fetched them again.
func (s *State) lossy(tp TopicPartition, id NodeID) bool {
	return slices.Contains(s.Truth.partition(s, tp).Lossy, id)
}

// strangers tells whether nobody in an ISR was in sync or eligible before: an unclean election, whether it is
// marked as one or not (the way back from a reassignment is not).
func strangers(old, now *PartitionRegistration) bool {
	return len(now.ISR) > 0 && !slices.ContainsFunc(now.ISR, func(id NodeID) bool {
		return slices.Contains(old.ISR, id) || slices.Contains(old.ELR, id)
	})
}

// minISRRaised notes that a topic's minimum ISR is raised. The controller goes by the new one at once: whoever
// leaves an ISR below it is eligible (PartitionChangeBuilder.maybePopulateTargetElr takes the minimum from
// ConfigurationControlManager). A leader commits by the old one until it has read the metadata
// (Partition.effectiveMinIsr asks its own log's config), without those who have left. Invariant 10 waits until
// no leader goes by the old one and nobody is eligible who left meanwhile.
func (s *State) minISRRaised(topic int32) {
	for p := range s.decided().Topics[topic].Partitions {
		s.Truth.partition(s, TopicPartition{topic, int32(p)}).Raised = true
	}
}

// raiseRead ends that wait when it is over.
func (s *State) raiseRead(tp TopicPartition) {
	t, im := s.Truth.partition(s, tp), s.decided()
	if !t.Raised || len(im.partition(tp).ELR) > 0 {
		return
	}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if r := b.replica(tp); r != nil && r.Role == Leader && b.Image.Topics[tp.Topic].Props.MinInSyncReplicas != im.Topics[tp.Topic].Props.MinInSyncReplicas {
			return
		}
	}
	t.Raised = false
}

// eligibleHold tells whether the eligible leaders of a partition must have what is committed (invariant 10).
func (s *State) eligibleHold(tp TopicPartition) bool {
	return s.World.Rules.On(StrictMinISR) && !s.Truth.partition(s, tp).Raised
}

// recordsLost notes that a broker's disk has lost records of a partition. Nobody knows that yet, and what was on
// its way from the life before may even let the replica into the ISR.
func (s *State) recordsLost(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); !slices.Contains(t.Lossy, id) {
		t.Lossy = append(slices.Clone(t.Lossy), id)
	}
}

// lossKnown notes that a broker has registered anew. Where it is neither in sync nor eligible any more it has to
// fetch before it counts again, whatever its disk has lost.
func (s *State) lossKnown(im *Image, id NodeID) {
	for _, tp := range im.all() {
		if reg := im.partition(tp); s.lossy(tp, id) && !slices.Contains(reg.ISR, id) && !slices.Contains(reg.ELR, id) && !slices.Contains(reg.LastKnownELR, id) {
			s.recordsFetched(tp, id)
		}
	}
}

// electedEligible notes that an eligible leader is elected in a partition whose minimum ISR was raised, and that
// it lacks what the leader before it has committed under the old one: that is lost, by Kafka's rules.
func (s *State) electedEligible(old *PartitionRegistration, r *MetadataRecord) {
	t, now := s.Truth.partition(s, r.TP), &r.Partition
	if !t.Raised || now.Leader == old.Leader || now.Leader == NoNode || slices.Contains(old.ISR, now.Leader) {
		return
	}
	x := s.broker(now.Leader).replica(r.TP)
	t.Raced = t.Raced || x == nil || x.Log.End < t.Exposed
}

// forgets notes that metadata of the partition epoch that a leader knows already cancels its proposal to let a
// replica in (R2.24). Partition.makeLeader takes a record of an equal partition epoch, because the leader may have
// learnt that epoch from the answer to an AlterPartition, and makes its ISR the committed one, whatever is
// pending. The proposal is on its way all the same, and the controller grants it: its partition epoch is right.
// Until the leader hears of that, its high watermark does not wait for a replica that may be elected: a gap in
// invariants 9 to 13 that is Kafka's own.
func (s *State) forgets(r *Replica, reg *PartitionRegistration) {
	if r.Change.Kind == PendingExpand && reg.PartitionEpoch == r.PartitionEpoch {
		s.Truth.partition(s, r.TP).Forgotten = reg.PartitionEpoch + 1
	}
}

// grants notes that a forgotten proposal was granted.
func (s *State) grants(old *PartitionRegistration, r *MetadataRecord) {
	if t := s.Truth.partition(s, r.TP); t.Forgotten == r.Partition.PartitionEpoch && len(r.Partition.ISR) > len(old.ISR) {
		t.Granted = true
	}
}

// grantRead closes the gap when a leader has heard of the replica that was let in, if nothing fell through it:
// everybody in the ISR has all that was ever exposed.
func (s *State) grantRead(r *Replica) {
	t := s.Truth.partition(s, r.TP)
	if !t.Granted || r.PartitionEpoch < t.Forgotten {
		return
	}
	for _, id := range r.ISR {
		if x := s.broker(id).replica(r.TP); x == nil || x.Log.End < t.Exposed || s.lossy(r.TP, id) {
			return
		}
	}
	t.Granted = false
}

// recordsFetched notes that a replica has everything again that its leader has committed.
func (s *State) recordsFetched(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); len(t.Lossy) > 0 {
		t.Lossy = without(t.Lossy, id)
	}
}

// lossyLeads notes that a replica becomes leader. When it has lost records, that is no surprise without
// eligible leader replicas: the last member of an ISR is elected whatever has become of its disk. With them it is one
// whose broker had stopped in order, and lost records afterwards: its marker says that it has everything (R3.18).
func (s *State) lossyLeads(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); s.lossy(tp, id) && (!s.World.ELR || t.Unclean || s.broker(id).Lifecycle.PreviousEpoch >= 0) {
		t.DiskLoss = true
	}
}

// partition is the truth about a partition.
func (t *Truth) partition(s *State, tp TopicPartition) *PartitionTruth {
	return &t.Partitions[s.ordinal(tp)]
}

// judgeLosses looks at every acknowledged batch of a partition again, after a new leader began or a log was
// cut: it is lost while the log of the leader that the controller names does not hold it. What an
// acknowledged record's loss means to a learner is exactly this, whoever is to blame.
func (s *State) judgeLosses(tp TopicPartition) {
	reg := s.Metadata().partition(tp)
	if reg == nil || reg.Leader == NoNode {
		return // a deleted topic's records are not lost, they were deleted
	}
	r := s.broker(reg.Leader).replica(tp)
	if r == nil || r.Role != Leader {
		return
	}
	own := false // clones share the list, so that what it says of the past stays
	for i := range s.Truth.Acked {
		a := &s.Truth.Acked[i]
		if a.TP != tp || a.BaseOffset < 0 || a.BaseOffset < r.Log.LogStart {
			continue
		}
		b := r.Log.BatchAt(a.BaseOffset)
		lost := b == nil && !s.compacted(tp, a.BaseOffset) || b != nil && (b.Sender != a.Sender || b.Serial != a.Serial)
		if lost && !a.Lost {
			if s.Watching {
				s.Losses = append(s.Losses, int32(i))
			}
			s.note(view.Change{Kind: view.Lost, Broker: -1, Partition: s.ordinal(tp), A: a.BaseOffset, B: int64(a.Count)})
		}
		if lost == a.Lost {
			continue
		}
		if !own {
			s.Truth.Acked, own = slices.Clone(s.Truth.Acked), true
			a = &s.Truth.Acked[i]
		}
		a.Lost = lost
	}
}
