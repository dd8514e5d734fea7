package machine

import (
	"math/bits"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// The log cleaner: compacted logs keep the last value of each key.
//
// A broker has one cleaner thread (log.cleaner.threads is 1). It takes the dirtiest log that is dirty enough,
// cleans it up to its last sealed segment below the high watermark, and looks again; when none is left it
// sleeps log.cleaner.backoff.ms. Replicas are cleaned each on its own (R7.12): what obsolete records they still
// hold may differ, offsets never do. Readers step over what is gone: they get the next record that there is.
//
// Kafka: LogCleaner, LogCleanerManager, Cleaner. Simplified: a pass takes no time and has room for every key.

// CleanerTimer: a broker's cleaner looks for a log to clean.
type CleanerTimer struct{}

func (CleanerTimer) payload() {}

// dirtyAt is from when on a log may have something to clean, µs.
func (s *State) dirtyAt(b *Broker, r *Replica) int64 {
	if s.firstDirty(&r.Log) < r.Log.Active.BaseOffset {
		return s.Now
	}
	return never
}

// wakeCleaner lets the cleaner come when it next wakes from its sleep.
func (s *State) wakeCleaner(b *Broker, at int64) {
	if at == never || s.World.Broker.LogCleanerBackoffMs > never/ms {
		return
	}
	every := max(s.World.Broker.LogCleanerBackoffMs, 1) * ms
	s.choreAt(b, &b.Chores.CleanerAt, tick(b.Chores.Since, every, at), CleanerTimer{})
}

// onCleanerTimer cleans what is dirty enough, the dirtiest first, and deletes what is old in compacted logs
// (R7.14).
func (s *State) onCleanerTimer(b *Broker, e Event) {
	if e.At != b.Chores.CleanerAt {
		return
	}
	b.Chores.CleanerAt = 0
	for r := s.filthiest(b); r != nil; r = s.filthiest(b) {
		s.compact(b, r)
	}
	for i := range b.Replicas {
		r := &b.Replicas[i]
		if b.topicProps(r.TP.Topic).CleanupPolicy.Compacts() {
			s.deleteOldSegments(b, r)
			if at := min(s.expiresAt(b, r), s.dirtyAt(b, r)); at < never {
				s.wakeCleaner(b, max(at, s.Now+1))
			}
		}
	}
}

// firstDirty is where the part of a log begins that no pass has seen (R7.9).
func (s *State) firstDirty(l *partlog.Log) int64 {
	if l.Cleaned < l.LogStart || l.Cleaned > l.End {
		return l.LogStart
	}
	return l.Cleaned
}

// dirt is how much of a log there is to clean (R7.9).
type dirt struct {
	dirty, bound     int64 // the offsets of the dirty part that may be cleaned
	clean, cleanable int64 // bytes, of whole segments
	overdue          bool  // max.compaction.lag.ms has passed
}

// dirtOf measures a log. What may be cleaned ends at the last stable offset, the active segment, and the first
// segment that is younger than min.compaction.lag.ms.
func (s *State) dirtOf(l *partlog.Log, props *config.Topic) dirt {
	d := dirt{dirty: s.firstDirty(l)}
	d.bound = min(l.LastStable(), l.Active.BaseOffset)
	now := s.Now / ms
	from := l.SegmentOf(d.dirty)
	for i := from; i < len(l.Sealed); i++ {
		x := &l.Sealed[i]
		if props.MinCompactionLagMs > 0 && x.MaxTimestamp > now-props.MinCompactionLagMs {
			d.bound = min(d.bound, x.BaseOffset)
			break
		}
	}
	for i := from; i < len(l.Sealed); i++ {
		if x := &l.Sealed[i]; props.MaxCompactionLagMs > 0 && x.Batches.Len() > 0 && x.FirstTimestamp < now-props.MaxCompactionLagMs {
			d.overdue = true
		}
	}
	to := l.SegmentOf(d.bound)
	for i := range l.Sealed {
		x := &l.Sealed[i]
		if x.BaseOffset < d.dirty {
			d.clean += x.Size
		}
		if i >= from && i < to {
			d.cleanable += x.Size
		}
	}
	return d
}

// due tells whether a log is dirty enough: strictly above the ratio, or overdue.
func (d *dirt) due(least config.Ratio) bool {
	hi, lo := bits.Mul64(uint64(d.cleanable), uint64(config.Million))
	hi2, lo2 := bits.Mul64(uint64(d.clean+d.cleanable), uint64(least))
	return d.cleanable > 0 && (d.overdue || hi > hi2 || hi == hi2 && lo > lo2)
}

// dirtier compares two logs by the part of them that is to be cleaned.
func (d *dirt) dirtier(o *dirt) bool {
	hi, lo := bits.Mul64(uint64(d.cleanable), uint64(o.clean+o.cleanable))
	hi2, lo2 := bits.Mul64(uint64(o.cleanable), uint64(d.clean+d.cleanable))
	return hi > hi2 || hi == hi2 && lo > lo2
}

// filthiest is the compacted log that needs the cleaner most; nil when none does.
func (s *State) filthiest(b *Broker) *Replica {
	var found *Replica
	var most dirt
	for i := range b.Replicas {
		r := &b.Replicas[i]
		props := b.topicProps(r.TP.Topic)
		if r.Role == Offline || b.Dirs[r.Dir].Offline || !props.CleanupPolicy.Compacts() {
			continue
		}
		if d := s.dirtOf(&r.Log, props); d.due(props.MinCleanableDirtyRatio) && (found == nil || d.dirtier(&most)) {
			found, most = r, d
		}
	}
	return found
}

// compact is one pass over one log (R7.10, R7.11).
func (s *State) compact(b *Broker, r *Replica) {
	props := b.topicProps(r.TP.Topic)
	d := s.dirtOf(&r.Log, props)
	r.Log.Compact(partlog.Pass{Dirty: d.dirty, Bound: d.bound, Now: s.Now / ms, DropsLast: s.mutant(CleanerDropsLast),
		DeleteRetentionMs: props.DeleteRetentionMs, SegmentBytes: props.SegmentBytes})
	t := s.Truth.partition(s, r.TP)
	t.Cleaned = max(t.Cleaned, r.Log.Cleaned)
}

// compacted tells whether a record at an offset may be missing because some cleaner has been there.
func (s *State) compacted(tp TopicPartition, offset int64) bool {
	return offset < s.Truth.partition(s, tp).Cleaned
}
