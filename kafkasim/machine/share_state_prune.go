package machine

import "kafkalab/kafkasim/partlog"

// The log of share states is not compacted. Two jobs keep it short: a state that is not written to gets a snapshot after some
// minutes, and what lies before the oldest of the newest snapshots is deleted, as by DeleteRecords.
//
// Kafka: ShareCoordinatorService.setupRecordPruning, setupSnapshotColdPartitions; ShareCoordinatorOffsetsManager,
// ShareCoordinatorShard.snapshotColdPartitions.

// ShareStateTimer: a share coordinator looks after its log; Cold says for which of the two jobs.
type ShareStateTimer struct {
	TP    TopicPartition
	Epoch int32
	Cold  bool
}

func (ShareStateTimer) payload() {}

// nextSnapshot makes a state's next snapshot, which will lie at the log's end.
func (s *State) nextSnapshot(b *Broker, x *CoordinatorShard, y *ShareState) partlog.Record {
	y.Snapshot, y.Updates, y.At = y.Snapshot+1, 0, b.replica(x.TP).Log.End
	y.CreatedMs, y.WrittenMs = s.Now/ms, s.Now/ms
	return shareSnapshot(y)
}

// watchShareStates sets the timers of a share coordinator that has states.
func (s *State) watchShareStates(b *Broker, x *CoordinatorShard) {
	if len(x.Share.States) == 0 {
		return
	}
	if g := &s.World.Broker.Share; x.Share.PruneAt == 0 {
		s.choreAt(b, &x.Share.PruneAt, s.Now+g.PruneIntervalMs*ms, ShareStateTimer{TP: x.TP, Epoch: x.Epoch})
	}
	if g := &s.World.Broker.Share; x.Share.ColdAt == 0 {
		s.choreAt(b, &x.Share.ColdAt, s.Now+g.ColdIntervalMs*ms, ShareStateTimer{TP: x.TP, Epoch: x.Epoch, Cold: true})
	}
}

// onShareStateTimer does one of the jobs.
func (s *State) onShareStateTimer(b *Broker, m ShareStateTimer) {
	x := b.shard(m.TP)
	if x == nil || x.Epoch != m.Epoch || x.Loading {
		return
	}
	if m.Cold {
		x.Share.ColdAt = 0
		s.snapshotColdShares(b, x)
	} else {
		x.Share.PruneAt = 0
		s.pruneShareStates(b, x)
	}
	if x = b.shard(m.TP); x != nil {
		s.watchShareStates(b, x)
	}
}

// snapshotColdShares writes states again that have not been written for long, unless all of them are such snapshots already.
func (s *State) snapshotColdShares(b *Broker, x *CoordinatorShard) {
	fresh := 0
	for i := range x.Share.States {
		if y := &x.Share.States[i]; y.CreatedMs == y.WrittenMs {
			fresh++
		}
	}
	var records []partlog.Record
	end := b.replica(x.TP).Log.End
	for i := range x.Share.States {
		y := &x.Share.States[i]
		if fresh == 0 || s.Now/ms-y.WrittenMs < s.World.Broker.Share.ColdIntervalMs {
			continue
		}
		y.Snapshot, y.Updates, y.WrittenMs, y.At = y.Snapshot+1, 0, s.Now/ms, end+int64(len(records))
		records = append(records, shareSnapshot(y))
	}
	if len(records) > 0 {
		s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.World.Broker.Share.WriteTimeoutMs*ms, ShareStateStored{})
	}
}

// pruneShareStates deletes what lies before the oldest of the newest snapshots.
func (s *State) pruneShareStates(b *Broker, x *CoordinatorShard) {
	r := b.replica(x.TP)
	before := r.Log.HighWatermark
	for i := range x.Share.States {
		if !s.mutant(PrunesTooMuch) {
			before = min(before, x.Share.States[i].At)
		}
	}
	if before > r.Log.LogStart {
		s.raiseLogStart(b, r, before)
	}
}
