package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Coordinator runtime: what the transaction coordinator and the group coordinator share.
//
// A coordinator's memory is a log: each partition of its internal topic is one shard, and the broker that leads
// the partition has the shard. On becoming leader it reads the whole log, and until that is done it answers
// COORDINATOR_LOAD_IN_PROGRESS; on ceasing to lead it forgets the shard and answers NOT_COORDINATOR. Every
// change is a record that is appended with acks=all, as a producer's batch would be, and what follows from it
// waits until the high watermark has passed it (T-3, G-89, G-110).
//
// How a kind of coordinator uses it:
//
//	shard, code := b.coordinator(kind, key)       // the shard of an id, or why this broker cannot serve it
//	code := s.coordinatorAppend(b, shard, batch, timeout, then)
//
// coordinatorAppend answers NONE when the batch is in the log; the payload then comes back later to
// onCoordinatorWritten, with the final error and the shard (nil when it has gone), and its type says whose it is.
// Any other code is the final answer, and nothing was appended. loadShard hands every batch of a log to its kind's
// replay. A shard that the broker loses is dropped as it is, and what had waited for a commit ends with
// NOT_COORDINATOR.
//
// Kafka: CoordinatorRuntime, CoordinatorLoaderImpl, PartitionWriter; TransactionStateManager
// (loadTransactionsForTxnTopicPartition, appendTransactionToLog). Simplified: a record is appended at once,
// without group.coordinator.append.linger.ms; reading takes a fixed time for each record.

// CoordinatorShard is one partition of an internal topic, at the broker that leads it.
type CoordinatorShard struct {
	TP      TopicPartition
	Kind    CoordinatorKind
	Epoch   int32 // the coordinator epoch: the partition's leader epoch
	Loading bool

	Transactions []TransactionMetadata // of a transaction coordinator, by transactional id
	Groups       []Group               // of a group coordinator, by id
	ExpiryAt     int64                 // µs: when it looks for old offsets next; 0 for never
	Share        ShareShard
}

// CoordinatorLoadTimer: a broker has read the log of a shard in this epoch.
type CoordinatorLoadTimer struct {
	TP    TopicPartition
	Epoch int32
}

// CoordinatorWritten tells a broker that a coordinator's batch is committed, or will not be: Then is what
// coordinatorAppend was given.
type CoordinatorWritten struct {
	Kind  CoordinatorKind
	TP    TopicPartition
	Epoch int32 // of the shard when it was appended
	Error Code
	Then  Later
}

func (CoordinatorLoadTimer) payload() {}
func (CoordinatorWritten) payload()   {}

// Reading a log takes coordinatorLoad µs and 1 µs for each record; an empty log takes no time.
const coordinatorLoad = 1_000

// ownSender and below are the senders of batches that brokers make themselves: no producer's number.
const ownSender int32 = -1000

// coordinatorFailed is how a coordinator's clients hear of an append that failed (T-3, G-114).
func coordinatorFailed(code Code) Code {
	switch code {
	case UNKNOWN_TOPIC_OR_PARTITION, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER, REQUEST_TIMED_OUT:
		return COORDINATOR_NOT_AVAILABLE
	case NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR:
		return NOT_COORDINATOR
	case MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE:
		return UNKNOWN_SERVER_ERROR
	}
	return code
}

// shard finds a broker's shard; nil when it has none.
func (b *Broker) shard(tp TopicPartition) *CoordinatorShard {
	if i, found := b.findShard(tp); found {
		return &b.Shards[i]
	}
	return nil
}

func (b *Broker) findShard(tp TopicPartition) (int, bool) {
	return slices.BinarySearchFunc(b.Shards, tp, func(x CoordinatorShard, tp TopicPartition) int {
		if x.TP.Topic != tp.Topic {
			return int(x.TP.Topic - tp.Topic)
		}
		return int(x.TP.Partition - tp.Partition)
	})
}

// coordinator is the shard that an id belongs to, if this broker has it: NOT_COORDINATOR when it does not
// lead the partition, COORDINATOR_LOAD_IN_PROGRESS while it reads the log (G-110). The pointer is good until
// the broker's shards change.
func (b *Broker) coordinator(kind CoordinatorKind, key string) (*CoordinatorShard, Code) {
	t := b.Image.topic(kind.Topic())
	if t < 0 {
		return nil, NOT_COORDINATOR
	}
	n := int32(len(b.Image.Topics[t].Partitions))
	x := b.shard(TopicPartition{t, CoordinatorPartition(key, n)})
	switch {
	case x == nil:
		return nil, NOT_COORDINATOR
	case x.Loading:
		return nil, COORDINATOR_LOAD_IN_PROGRESS
	}
	return x, NONE
}

// coordinatorKind is the kind of coordinator that keeps its state in a topic; false for other topics.
func (b *Broker) coordinatorKind(topic int32) (CoordinatorKind, bool) {
	switch b.Image.Topics[topic].Name {
	case TransactionStateTopic:
		return TransactionCoordinator, true
	case ConsumerOffsetsTopic:
		return GroupCoordinator, true
	case ShareGroupStateTopic:
		return ShareCoordinator, true
	}
	return 0, false
}

// coordinatorElected makes the broker that leads a partition of an internal topic, in a new epoch, the
// coordinator of what belongs to it, once it has read the log.
func (s *State) coordinatorElected(b *Broker, r *Replica) {
	kind, internal := b.coordinatorKind(r.TP.Topic)
	if !internal {
		return
	}
	s.coordinatorResigned(b, r.TP)
	i, _ := b.findShard(r.TP)
	b.Shards = slices.Insert(b.Shards, i, CoordinatorShard{TP: r.TP, Kind: kind, Epoch: r.LeaderEpoch, Loading: true})
	if r.Log.End == r.Log.LogStart {
		s.loadShard(b, &b.Shards[i])
		return
	}
	s.after(coordinatorLoad+(r.Log.End-r.Log.LogStart), b.ID, CoordinatorLoadTimer{TP: r.TP, Epoch: r.LeaderEpoch})
}

// onCoordinatorLoad ends the reading of a log.
func (s *State) onCoordinatorLoad(b *Broker, m CoordinatorLoadTimer) {
	if x := b.shard(m.TP); x != nil && x.Epoch == m.Epoch && x.Loading {
		s.loadShard(b, x)
	}
}

// loadShard builds a shard's state from the log, up to its end: also from what is not committed yet.
func (s *State) loadShard(b *Broker, x *CoordinatorShard) {
	l := &b.replica(x.TP).Log
	l.Batches(l.LogStart, func(batch *partlog.Batch) bool {
		switch x.Kind {
		case TransactionCoordinator:
			x.replayTransactions(&b.Image, batch)
		case GroupCoordinator:
			x.replayGroups(&b.Image, batch, l.HighWatermark, s.mutant(ForgetsCommits) || s.World.Rules.Without(CommitsOutlive))
		case ShareCoordinator:
			x.replayShareStates(batch)
		}
		return true
	})
	x.Loading = false
	switch x.Kind {
	case TransactionCoordinator:
		s.transactionsLoaded(b, x)
	case GroupCoordinator:
		s.groupsLoaded(b, x)
		s.shareGroupsLoaded(b, x)
	case ShareCoordinator:
		s.watchShareStates(b, x)
	}
}

// coordinatorResigned drops a shard that the broker does not lead any more.
func (s *State) coordinatorResigned(b *Broker, tp TopicPartition) {
	i, found := b.findShard(tp)
	if !found {
		return
	}
	if b.Shards[i].Kind == GroupCoordinator {
		s.groupsResigned(b, &b.Shards[i])
	}
	b.Shards = slices.Delete(b.Shards, i, i+1)
}

// ownBatch is a batch that a broker makes itself, of records with keys.
func (s *State) ownBatch(b *Broker, records ...partlog.Record) partlog.Batch {
	b.Serial++
	batch := partlog.Batch{BaseOffset: -1, LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1,
		MaxTimestamp: s.Now / ms, Sender: ownSender - int32(b.ID), Serial: b.Serial}
	for i := range records {
		records[i].Timestamp = s.Now / ms
		batch.Records.Append(&records[i], nil)
	}
	batch.Records.Trim()
	batch.Size = partlog.BatchSize(&batch.Records)
	return batch
}

// coordinatorAppend appends a batch to a shard's log with acks=all and waits timeout µs at most for its
// replication. NONE: then will come to onCoordinatorWritten. Any other code is the end of it.
func (s *State) coordinatorAppend(b *Broker, x *CoordinatorShard, batch partlog.Batch, timeout int64, then Payload) Code {
	acks := int8(-1)
	if x.Kind != TransactionCoordinator {
		acks = 1 // R1.25: groups' records are not refused below the minimum ISR; they wait for the high watermark
	}
	p := ProducePart{TP: x.TP, Batch: batch}
	part := s.append(b, acks, &p, nil)
	if code := part.Result.Error; code != NONE {
		s.refused(b, x.TP, code)
		return coordinatorFailed(code)
	}
	s.awaitCommit(b, DelayedProduce{
		Deadline: s.Now + timeout, Parts: []DelayedPart{part},
		Then: Later{CoordinatorWritten{Kind: x.Kind, TP: x.TP, Epoch: x.Epoch, Then: Later{then}}},
	})
	return NONE
}

// awaitCommit lets a request whose batches were appended wait for their commit, and does what follows from the
// append.
func (s *State) awaitCommit(b *Broker, d DelayedProduce) {
	moved := false
	for i := range d.Parts {
		if r := &d.Parts[i].Result; r.Error == NONE && s.advanceHighWatermark(b, b.replica(r.TP)) {
			moved = true
		}
	}
	parts := slices.Clone(d.Parts)
	s.awaitEarlier(b, d)
	s.appendedParts(b, parts, moved)
}

// awaitEarlier lets a request wait for the commit of what is in the logs already.
func (s *State) awaitEarlier(b *Broker, d DelayedProduce) {
	if !s.tryProduce(b, &d) {
		b.Produces = append(b.Produces, d)
		s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
	}
}

// onCoordinatorWritten lets a coordinator go on after an append. Its shard may be gone.
func (s *State) onCoordinatorWritten(b *Broker, m CoordinatorWritten) {
	x, code := b.shard(m.TP), coordinatorFailed(m.Error)
	if x == nil || x.Epoch != m.Epoch || x.Loading {
		x = nil
		if code == NONE {
			code = NOT_COORDINATOR
		}
	}
	switch then := m.Then.Payload.(type) {
	case TransactionWrite:
		s.transactionWritten(b, x, then, code)
	case ShareStateStored:
		s.shareStateStored(b, then, code)
	case ShareGroupStored:
		s.shareGroupStored(b, then, code)
	case ShareGroupChanged:
		s.shareGroupChanged(b, then, code)
	default:
		s.groupWritten(b, x, then, code)
	}
}
