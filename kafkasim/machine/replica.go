package machine

import (
	"math"
	"slices"

	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// One broker's replica of a partition, and how it takes up its role.
//
// Kafka: Partition, Replica, ReplicaState, ReplicaManager.applyDelta.

// Role is what a broker believes its replica to be.
type Role uint8

// The roles.
const (
	Offline Role = iota // the process is down, or has not loaded its logs yet
	Leader
	Follower
)

// String names the role as view.Replica does.
func (r Role) String() string { return [...]string{"offline", "leader", "follower"}[r] }

// longAgo is a time before everything: Kafka's "0" means 1970 there, and must not mean the beginning of a
// virtual clock, or every replica outside the ISR would count as caught up for the first 30 s (R2.13).
const longAgo = math.MinInt64 / 2

// Replica is one broker's replica of a partition (R1.3).
type Replica struct {
	TP             TopicPartition
	Log            partlog.Log // on disk, as the page cache shows it
	Dir            int32       // which of the broker's log directories it is in
	FlushedAt      int64       // µs: when it was last flushed as a whole
	Checkpoint     int64       // high watermark in replication-offset-checkpoint, on disk (R4.1)
	Role           Role
	Leader         NodeID // NoNode for none
	LeaderEpoch    int32  // -1 while offline
	PartitionEpoch int32
	Replicas       []NodeID // the assignment

	// Of a leader.
	EpochStart int64     // leaderEpochStartOffset: the log's end when it took LeaderEpoch
	ISR        []NodeID  // the committed ISR
	Change     ISRChange // the change of it that is on its way to the controller
	Remotes    []Remote  // the other replicas, in assignment order
	Guards     []Guard   // transactions that may begin
	Stable     int64     // the last stable offset that was noted

	// Of a follower.
	DelayedUntil int64 // µs: not fetched before (R2.9)
	Failed       bool  // not fetched until a newer leader epoch (R2.9)
	Truncating   bool  // asks the leader for the end of its last epoch before it fetches (ByRequest)
	NoEpoch      bool  // has forgotten the epoch of its last record (EmptyFetchKeepsEpoch)
	Aligned      bool  // has had an answer of this epoch's leader without divergence
	CaughtUp     bool  // had all that the leader had committed, at its last answer
	Stuck        int32 // diverging answers in a row that have changed nothing
}

// Remote is what a leader knows of another replica (R1.3, ReplicaState).
type Remote struct {
	Broker             NodeID
	End                int64 // its log end offset: what it last asked for; -1 before its first fetch (R1.19)
	LogStart           int64
	LastFetchLeaderEnd int64
	LastFetch          int64 // µs
	LastCaughtUp       int64 // µs
	BrokerEpoch        int64 // of its last fetch, -1 for none
	SentHW             int64 // the high watermark that it was last told
	Session            int32 // the fetch session whose requests count as its fetches, 0 for none: it has everything
}

// replica finds a broker's replica of a partition; nil when it has none.
func (b *Broker) replica(tp TopicPartition) *Replica {
	if i, found := b.findReplica(tp); found {
		return &b.Replicas[i]
	}
	return nil
}

// replicaAfter is replica for whoever goes through partitions in their order: after is where the one before was
// found, and says then where this one was.
func (b *Broker) replicaAfter(tp TopicPartition, after *int) *Replica {
	const near = 4 // replicas of other leaders lie between those of one
	for i := *after + 1; i < len(b.Replicas) && i <= *after+near; i++ {
		if b.Replicas[i].TP == tp {
			*after = i
			return &b.Replicas[i]
		}
	}
	i, found := b.findReplica(tp)
	if !found {
		return nil
	}
	*after = i
	return &b.Replicas[i]
}

func (b *Broker) findReplica(tp TopicPartition) (int, bool) {
	lo, hi := 0, len(b.Replicas)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		at := b.Replicas[mid].TP
		if at.Topic < tp.Topic || at.Topic == tp.Topic && at.Partition < tp.Partition {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(b.Replicas) && b.Replicas[lo].TP == tp
}

// publish lets a broker's replicas follow its image, for the partitions that changed: leaders first, then
// followers, as ReplicaManager.applyDelta does.
func (s *State) publish(b *Broker, changed []TopicPartition) {
	for _, tp := range changed {
		if reg := b.Image.partition(tp); reg == nil || !slices.Contains(reg.Replicas, b.ID) {
			s.dropReplica(b, tp)
		}
	}
	for _, leaders := range [...]bool{true, false} {
		for _, tp := range changed {
			reg := b.Image.partition(tp)
			if reg == nil {
				continue
			}
			if (reg.Leader == b.ID) == leaders && slices.Contains(reg.Replicas, b.ID) {
				s.follow(b, tp, reg)
			}
		}
	}
	s.restartFetchers(b)
}

// follow brings one replica in line with its partition's registration, making the replica if need be.
func (s *State) follow(b *Broker, tp TopicPartition, reg *PartitionRegistration) {
	i, found := b.findReplica(tp)
	if !found {
		b.Replicas = slices.Insert(b.Replicas, i, Replica{TP: tp, Dir: b.chooseDir(reg), LeaderEpoch: -1, PartitionEpoch: -1})
	}
	r := &b.Replicas[i]
	if b.Dirs[r.Dir].Offline {
		if reg.Leader != b.ID {
			s.coordinatorResigned(b, tp)
		}
		return
	}
	s.tellDir(b, r, reg)
	if reg.PartitionEpoch < r.PartitionEpoch && !s.mutant(OldMetadataCounts) {
		return // older than what it knows from an AlterPartition response (R1.8, R2.24)
	}
	if reg.Leader == b.ID {
		s.becomeLeader(b, r, reg)
	} else {
		s.becomeFollower(b, r, reg)
	}
}

// dropReplica deletes a replica that this broker is not to have any more: its topic was deleted, or a
// reassignment has moved it away. Requests that wait for it get their errors (R1.16).
func (s *State) dropReplica(b *Broker, tp TopicPartition) {
	i, found := b.findReplica(tp)
	if !found {
		return
	}
	s.touch(b, &b.Replicas[i])
	b.refetch(tp)
	b.Replicas = slices.Delete(b.Replicas, i, i+1)
	s.coordinatorResigned(b, tp)
	s.completeProduces(b, tp)
	s.completeFetches(b, tp)
	s.completeDeletes(b)
}

// becomeLeader is R1.8. The ISR of the record is committed and cancels any change that was on its way. The
// high watermark is what this replica knew as a follower, maybe less than what the old leader showed (R4.6).
func (s *State) becomeLeader(b *Broker, r *Replica, reg *PartitionRegistration) {
	was, sameEpoch := r.Role, reg.LeaderEpoch == r.LeaderEpoch
	s.touch(b, r)
	b.refetch(r.TP)
	r.Role, r.Leader, r.Replicas = Leader, b.ID, reg.Replicas
	s.forgets(r, reg)
	r.ISR, r.Change = reg.ISR, ISRChange{}
	if reg.LeaderEpoch > r.LeaderEpoch {
		r.EpochStart = r.Log.End
		if s.World.Rules.On(EpochBeforeRecords) {
			if !s.mutant(NoEpochOnLeading) {
				r.Log.Epochs.Assign(reg.LeaderEpoch, r.Log.End) // before any record (R1.5)
			}
			if s.mutant(HighWatermarkAtOnce) {
				r.Log.SetHighWatermark(r.Log.End)
			}
		}
		s.resetRemotes(r, b.ID, was == Leader)
		r.LeaderEpoch = reg.LeaderEpoch
		s.lossyLeads(r.TP, b.ID)
		s.note(view.Change{Kind: view.BecameLeader, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: int64(r.LeaderEpoch), B: r.Log.End})
		s.judgeLosses(r.TP)
		s.coordinatorElected(b, r)
	} else {
		r.sameEpochRemotes(b.ID)
	}
	r.PartitionEpoch = reg.PartitionEpoch
	s.grantRead(r)
	if still := sameEpoch && s.World.Rules.Without(AlterMovesHighWatermark); !still && s.advanceHighWatermark(b, r) {
		s.highWatermarkMoved(b, r.TP)
	}
	if was == Follower {
		s.completeFetches(b, r.TP)
	}
}

// resetRemotes forgets what earlier epochs knew of the other replicas (R2.13).
func (s *State) resetRemotes(r *Replica, self NodeID, wasLeader bool) {
	old := r.Remotes
	r.Remotes = make([]Remote, 0, len(r.Replicas)-1)
	for _, id := range r.Replicas {
		if id == self {
			continue
		}
		x := Remote{Broker: id, End: -1, LogStart: -1, LastFetchLeaderEnd: -1, LastFetch: longAgo, LastCaughtUp: longAgo, BrokerEpoch: -1}
		inISR := slices.Contains(r.ISR, id)
		if inISR {
			x.LastCaughtUp = s.Now
		}
		if i := slices.IndexFunc(old, func(o Remote) bool { return o.Broker == id }); wasLeader && i >= 0 {
			x.End, x.LogStart, x.BrokerEpoch = old[i].End, old[i].LogStart, old[i].BrokerEpoch
			x.LastFetchLeaderEnd = r.Log.End
			if inISR {
				x.LastFetch = s.Now
			}
		}
		if s.mutant(RemembersRemotes) {
			x.End = r.Log.End
		}
		r.Remotes = append(r.Remotes, x)
	}
}

// sameEpochRemotes follows a changed assignment within one epoch (R1.8): what is known of the replicas that
// stay is kept, and nothing is known of those that come (R1.19).
func (r *Replica) sameEpochRemotes(self NodeID) {
	same := len(r.Remotes) == len(r.Replicas)-1
	for i := range r.Remotes {
		same = same && slices.Contains(r.Replicas, r.Remotes[i].Broker)
	}
	if same {
		return
	}
	old := r.Remotes
	r.Remotes = make([]Remote, 0, len(r.Replicas)-1)
	for _, id := range r.Replicas {
		if id == self {
			continue
		}
		x := Remote{Broker: id, End: -1, LogStart: -1, LastFetchLeaderEnd: -1, LastFetch: longAgo, LastCaughtUp: longAgo, BrokerEpoch: -1}
		if i := slices.IndexFunc(old, func(o Remote) bool { return o.Broker == id }); i >= 0 {
			x = old[i]
		}
		r.Remotes = append(r.Remotes, x)
	}
}

// becomeFollower makes a replica fetch from the leader of a new epoch (R2.2). A change within the epoch
// leaves the fetcher alone (R2.3).
func (s *State) becomeFollower(b *Broker, r *Replica, reg *PartitionRegistration) {
	was, before := r.Role, r.Leader
	s.touch(b, r)
	r.Role, r.Replicas, r.PartitionEpoch = Follower, reg.Replicas, reg.PartitionEpoch
	b.refetch(r.TP)
	if reg.LeaderEpoch <= r.LeaderEpoch && was == Follower {
		return
	}
	r.LeaderEpoch, r.Leader = reg.LeaderEpoch, reg.Leader
	r.ISR, r.Change, r.Remotes, r.EpochStart, r.Guards = nil, ISRChange{}, nil, 0, nil
	r.DelayedUntil, r.Failed, r.Truncating, r.NoEpoch, r.Aligned, r.CaughtUp = 0, false, false, false, false, false
	s.note(view.Change{Kind: view.BecameFollower, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: noteNode(r.Leader), B: int64(r.LeaderEpoch)})
	s.beginTruncation(b, r, was != Follower || before != r.Leader)
	if was == Leader {
		s.coordinatorResigned(b, r.TP)
		s.completeProduces(b, r.TP) // R1.16: the waiting requests fail
		s.completeDeletes(b)
	}
	s.completeFetches(b, r.TP)
}

// noteNode is a node id as view.Change wants it: -1 for none.
func noteNode(n NodeID) int64 {
	if n == NoNode {
		return -1
	}
	return int64(n)
}
