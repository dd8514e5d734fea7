package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// Retention: a broker deletes old segments of its logs.
//
// Each broker looks at its own logs, leaders and followers alike (R7.6), log.initial.task.delay.ms after it
// has loaded them and then every log.retention.check.interval.ms. A log start that moves on the leader
// reaches the followers with their next fetch answers, and consumers that are behind get OFFSET_OUT_OF_RANGE.
//
// Kafka: LogManager.cleanupLogs, UnifiedLog.deleteOldSegments. Simplified: files go at once
// (file.delete.delay.ms).

// Both this task and the cleaner come only when they may find something, at the times at which they
// would come anyway: a task that has nothing to do is no event.

// RetentionTimer: a broker looks for segments that are to be deleted.
type RetentionTimer struct{}

func (RetentionTimer) payload() {}

// Chores are the tasks of a broker's process for its logs.
type Chores struct {
	Since       int64 // µs: when the logs were loaded
	RetentionAt int64 // µs: when RetentionTimer is due, 0 for none
	CleanerAt   int64 // µs: when CleanerTimer is due, 0 for none
}

// startChores lets the tasks begin for logs that have been loaded.
func (s *State) startChores(b *Broker) {
	b.Chores = Chores{Since: s.Now}
	for i := range b.Replicas {
		s.storeChanged(b, &b.Replicas[i])
	}
}

// storeChanged sets the tasks' timers by what has become of a log: by appends, a new log start, other
// properties.
func (s *State) storeChanged(b *Broker, r *Replica) {
	if at := s.expiresAt(b, r); b.topicProps(r.TP.Topic).CleanupPolicy.Compacts() {
		s.wakeCleaner(b, min(at, s.dirtyAt(b, r)))
	} else {
		s.wakeRetention(b, at)
	}
}

// propsChanged lets the tasks know of a topic's new properties.
func (s *State) propsChanged(b *Broker, topic int32) {
	for i := range b.Replicas {
		if r := &b.Replicas[i]; r.TP.Topic == topic && b.serves() {
			s.storeChanged(b, r)
			s.raiseRead(r.TP)
		}
	}
}

// expiresAt is from when on a log may have a segment to delete, µs; never without one.
func (s *State) expiresAt(b *Broker, r *Replica) int64 {
	l, props := &r.Log, b.topicProps(r.TP.Topic)
	first := l.First()
	switch {
	case first.Batches.Len() == 0 && len(l.Sealed) == 0:
		return never
	case l.FirstEnd() <= l.LogStart:
		return s.Now
	case !props.CleanupPolicy.Deletes():
		return never
	case props.RetentionBytes >= 0 && l.Size() >= props.RetentionBytes+first.Size:
		return s.Now
	case props.RetentionMs < 0 || props.RetentionMs > never/ms-first.MaxTimestamp-1:
		return never
	}
	return max(s.Now, (first.MaxTimestamp+props.RetentionMs+1)*ms)
}

// wakeRetention lets the retention task come at its first time at or after at.
func (s *State) wakeRetention(b *Broker, at int64) {
	every := s.World.Broker.LogRetentionCheckIntervalMs
	if at == never || every <= 0 || every > never/ms || s.World.Broker.LogInitialTaskDelayMs > never/ms/2 {
		return
	}
	s.choreAt(b, &b.Chores.RetentionAt, tick(b.Chores.Since+s.World.Broker.LogInitialTaskDelayMs*ms, every*ms, at), RetentionTimer{})
}

// tick is the first of the times from, from+every, … that is not before at.
func tick(from, every, at int64) int64 {
	if at <= from {
		return from
	}
	return from + (at-from+every-1)/every*every
}

// choreAt sets a task's timer, unless it comes as early already.
func (s *State) choreAt(b *Broker, due *int64, at int64, p Payload) {
	if *due == 0 || at < *due {
		*due = at
		s.chore(at, b.ID, p)
	}
}

// onRetentionTimer deletes what is old in the logs that are not compacted; the others are the cleaner's
// (R7.14).
func (s *State) onRetentionTimer(b *Broker, e Event) {
	if e.At != b.Chores.RetentionAt {
		return
	}
	b.Chores.RetentionAt = 0
	for i := range b.Replicas {
		if r := &b.Replicas[i]; !b.topicProps(r.TP.Topic).CleanupPolicy.Compacts() {
			s.deleteOldSegments(b, r)
		}
	}
	for i := range b.Replicas {
		if r := &b.Replicas[i]; !b.topicProps(r.TP.Topic).CleanupPolicy.Compacts() {
			if at := s.expiresAt(b, r); at < never {
				s.wakeRetention(b, max(at, s.Now+1))
			}
		}
	}
}

// deleteOldSegments is the three passes over one log (R7.2): what lies below the log start, which goes
// whatever the policy; what is above the size (R7.3); what is too old (R7.4).
func (s *State) deleteOldSegments(b *Broker, r *Replica) {
	if r.Role == Offline || b.Dirs[r.Dir].Offline {
		return
	}
	l, props := &r.Log, b.topicProps(r.TP.Topic)
	s.deleteSegments(b, r, func(_ *partlog.Segment, next int64) bool { return next <= l.LogStart })
	if !props.CleanupPolicy.Deletes() {
		return
	}
	if excess := l.Size() - props.RetentionBytes; props.RetentionBytes >= 0 && excess >= 0 {
		s.deleteSegments(b, r, func(x *partlog.Segment, _ int64) bool {
			excess -= x.Size
			return excess >= 0
		})
	}
	if props.RetentionMs >= 0 {
		s.deleteSegments(b, r, func(x *partlog.Segment, _ int64) bool {
			return s.Now/ms-x.MaxTimestamp > props.RetentionMs
		})
	}
}

// deleteSegments is one pass: the log starts at the first segment that stays (R7.5).
func (s *State) deleteSegments(b *Broker, r *Replica, expired func(x *partlog.Segment, next int64) bool) {
	hw := r.Log.HighWatermark
	if s.mutant(DeletesUncommitted) {
		r.Log.HighWatermark = r.Log.End
	}
	start, deleted := r.Log.DeleteOld(expired)
	r.Log.HighWatermark = hw
	if !deleted {
		return
	}
	s.raiseLogStart(b, r, start)
	s.completeFetches(b, r.TP) // whoever waits below it is told
}

// drawJitter is the purpose of the draws for segment.jitter.ms.
const drawJitter uint32 = 0x0e01

// jitter is how much earlier a replica's active segment rolls. It is drawn for each segment.
func (s *State) jitter(b *Broker, r *Replica, props *config.Topic) int64 {
	most := min(props.Index.JitterMs, props.SegmentMs)
	if most <= 0 {
		return 0
	}
	draw := prng.Draw(s.World.Seed, drawJitter, uint64(b.ID), uint64(r.TP.Topic), uint64(r.TP.Partition), uint64(r.Log.Active.BaseOffset))
	return int64(prng.Below(draw, int(min(most, 1<<31))))
}

// appendBatch appends a batch to a replica's log, in a new segment if the active one is full, its index is, or it is too
// old (R7.1). A compacted log's segments are no older than its records may stay uncompacted.
func (s *State) appendBatch(b *Broker, r *Replica, batch partlog.Batch) {
	props := b.topicProps(r.TP.Topic)
	age := props.SegmentMs
	if lag := props.MaxCompactionLagMs; props.CleanupPolicy.Compacts() && lag > 0 {
		age = min(age, lag)
	}
	if age > 0 {
		age = max(age-s.jitter(b, r, props), 1)
	}
	if r.Log.TooOld(&batch, age) || props.Index.Bytes > 0 && r.Log.IndexFull(partlog.Indexes{IntervalBytes: props.Index.IntervalBytes, Bytes: props.Index.Bytes}) {
		r.Log.Roll(batch.BaseOffset)
	}
	segments := len(r.Log.Sealed)
	r.Log.Append(batch, props.SegmentBytes)
	if s.mutant(StableTooFar) {
		r.Log.Transactions.Open = nil
	}
	b.Costs.appended(&batch, len(r.Log.Sealed) > segments)
	s.touch(b, r)
	s.storeChanged(b, r)
}
