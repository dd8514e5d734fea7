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
	// Lossy are the brokers whose replica lost records and has not fetched them again.
	Lossy []NodeID
	// Proposed are brokers whose replica lost records while a leader had proposed to let it into the ISR.
	Proposed []NodeID
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

// recordsLost notes that a broker's disk has lost records of a partition. It matters if the replica had
// answered for them: one that is neither in sync nor eligible has to fetch before it counts again, whoever
// says otherwise (KIP-903).
func (s *State) recordsLost(tp TopicPartition, id NodeID) {
	reg := s.decided().partition(tp)
	t := s.Truth.partition(s, tp)
	if reg != nil && !slices.Contains(reg.ISR, id) && !slices.Contains(reg.ELR, id) && !slices.Contains(reg.LastKnownELR, id) {
		if s.proposed(tp, id) && !slices.Contains(t.Proposed, id) {
			t.Proposed = append(slices.Clone(t.Proposed), id)
		}
		return
	}
	if !slices.Contains(t.Lossy, id) {
		t.Lossy = append(slices.Clone(t.Lossy), id)
	}
}

// proposed tells whether a leader has proposed to let a replica in. While the controllers have no majority the
// proposal waits, and it is granted if they have not heard by then that the broker has begun a new life.
func (s *State) proposed(tp TopicPartition, id NodeID) bool {
	for i := range s.Brokers {
		if r := s.Brokers[i].replica(tp); r != nil && r.Role == Leader && r.inMaximalISR(id) {
			return true
		}
	}
	return false
}

// letIn notes that a replica is in the ISR from now on: one that lost records while this was proposed had
// answered for them in the life that the controllers knew.
func (s *State) letIn(tp TopicPartition, isr []NodeID) {
	t := s.Truth.partition(s, tp)
	for _, id := range t.Proposed {
		if slices.Contains(isr, id) {
			t.Proposed = without(t.Proposed, id)
			s.recordsLost(tp, id)
		}
	}
}

// registeredAnew notes that the controllers know of a broker's new life: what was proposed for the one before
// must not be granted any more.
func (s *State) registeredAnew(id NodeID) {
	for i := range s.Truth.Partitions {
		if t := &s.Truth.Partitions[i]; len(t.Proposed) > 0 {
			t.Proposed = without(t.Proposed, id)
		}
	}
}

// recordsFetched notes that a replica has everything again that its leader has committed.
func (s *State) recordsFetched(tp TopicPartition, id NodeID) {
	if t := s.Truth.partition(s, tp); len(t.Lossy) > 0 {
		t.Lossy = without(t.Lossy, id)
	}
	if t := s.Truth.partition(s, tp); len(t.Proposed) > 0 {
		t.Proposed = without(t.Proposed, id)
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
