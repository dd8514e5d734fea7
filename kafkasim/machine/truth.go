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

// minISRRaised notes that a topic's minimum ISR is raised. Until a leader has read that it commits by the old
// one, and who is eligible by the new one may lack that: invariant 10 is about a minimum that stays.
func (s *State) minISRRaised(topic int32) {
	for p := range s.decided().Topics[topic].Partitions {
		s.Truth.partition(s, TopicPartition{topic, int32(p)}).Raised = true
	}
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

// electedEligible notes that an eligible leader is elected in a partition whose minimum ISR was raised: it may
// lack what the leader before it has committed under the old one, and that is lost.
func (s *State) electedEligible(old *PartitionRegistration, r *MetadataRecord) {
	if now := &r.Partition; now.Leader != old.Leader && now.Leader != NoNode && !slices.Contains(old.ISR, now.Leader) {
		t := s.Truth.partition(s, r.TP)
		t.Raced = t.Raced || t.Raised
	}
}

// forgets notes that metadata of the partition epoch that a leader knows already cancels its proposal to let a
// replica in (R2.24). The proposal is on its way all the same. If it is granted, the leader's high watermark does
// not wait for a replica that may be elected: Kafka's own gap in invariants 9 to 13, until the metadata comes.
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

// recordsFetched notes that a replica has everything again that its leader has committed.
func (s *State) recordsFetched(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); len(t.Lossy) > 0 {
		t.Lossy = without(t.Lossy, id)
	}
}

// lossyLeads notes that a replica becomes leader. When it has lost records, that is no surprise without
// eligible leader replicas: the last member of an ISR is elected whatever has become of its disk.
func (s *State) lossyLeads(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); s.lossy(tp, id) && (!s.World.ELR || t.Unclean) {
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
