package machine

import "kafkalab/kafkasim/partlog"

// compaction is invariant 25: whatever each replica's cleaner has removed, all of them still hold the newest
// record of each key below the high watermark, unless that is a tombstone, whose time may be over. Followers
// know an older high watermark than the leader may have cleaned up to, so newer records count too.
func (c *checker) compaction(tp TopicPartition) {
	s := c.s
	if s.Truth.partition(s, tp).Cleaned == 0 || !s.clean(tp) {
		return
	}
	var alive []*Replica
	low, high, seen := int64(0), never, int64(0)
	for _, id := range s.decided().partition(tp).Replicas {
		if r := s.broker(id).replica(tp); r != nil && r.Role != Offline && !s.lossy(tp, id) {
			alive = append(alive, r)
			low, high = max(low, r.Log.LogStart), min(high, r.Log.HighWatermark)
			seen = max(seen, r.Log.HighWatermark, r.Log.Cleaned)
		}
	}
	newest := map[string]int64{}
	for _, r := range alive {
		eachRecord(&r.Log, low, seen, func(offset int64, x *partlog.Record) {
			if last, known := newest[x.Key]; !known || offset > last {
				newest[x.Key] = offset
			}
		})
	}
	for _, r := range alive {
		eachRecord(&r.Log, low, high, func(offset int64, x *partlog.Record) {
			if newest[x.Key] != offset || x.Flags&(partlog.NullKey|partlog.NullValue) != 0 {
				return
			}
			for _, o := range alive {
				c.require(holdsRecord(&o.Log, offset), 25, "%v: a replica that leads or follows %d lacks offset %d, the newest of key %q", tp, o.Leader, offset, x.Key)
			}
		})
	}
}

// eachRecord visits the records of a log from one offset to before another.
func eachRecord(l *partlog.Log, from, to int64, visit func(offset int64, x *partlog.Record)) {
	l.Batches(from, func(b *partlog.Batch) bool {
		for i, x := range b.Records.All() {
			if offset := b.BaseOffset + int64(i); offset >= from && offset < to {
				visit(offset, x)
			}
		}
		return b.NextOffset() < to
	})
}

// holdsRecord tells whether a log has a record at an offset.
func holdsRecord(l *partlog.Log, offset int64) bool {
	b := l.BatchAt(offset)
	if b == nil {
		return false
	}
	c := b.Records.From(int(offset - b.BaseOffset))
	return c.Next() && int64(c.Place()) == offset-b.BaseOffset
}
