package machine

import "slices"

// What the applications of a group have processed, against what the group has committed: invariants 43 and 44. Check looks
// at everything that was ever processed, Watch at what has just been.

// workMode is how all of a group's applications commit by themselves; false when one commits otherwise (by
// enable.auto.commit, or by hand), when two do it differently, or when the group's commits may be lost.
func (s *State) workMode(group string) (WorkMode, bool) {
	mode, any := CommitNever, false
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if c.Config.Member.GroupID != group {
			continue
		}
		if c.Group.ByHand || c.Config.Member.EnableAutoCommit || c.App.How.PollTimeout == 0 || any && c.App.How.Mode != mode {
			return CommitNever, false
		}
		mode, any = c.App.How.Mode, true
	}
	return mode, any && s.cleanOffsets(group)
}

// cleanOffsets tells whether the group's partition of __consumer_offsets has lost nothing.
func (s *State) cleanOffsets(group string) bool {
	t := s.decided().topic(ConsumerOffsetsTopic)
	if t < 0 {
		return false
	}
	n := int32(len(s.decided().Topics[t].Partitions))
	return s.clean(TopicPartition{t, CoordinatorPartition(group, n)})
}

// applications looks at all that the members of a group have processed.
func (c *checker) applications(group string) {
	mode, ok := c.s.workMode(group)
	if !ok || mode == CommitNever {
		return
	}
	var done []Processed
	for i := range c.s.Consumers {
		if x := &c.s.Consumers[i]; x.Config.Member.GroupID == group {
			done = append(done, x.App.Done...)
		}
	}
	slices.SortFunc(done, func(a, b Processed) int {
		if a.TP != b.TP {
			return compareTP(a.TP, b.TP)
		}
		return int(a.From - b.From)
	})
	for i := 0; i < len(done); {
		n := i
		for n < len(done) && done[n].TP == done[i].TP {
			n++
		}
		if tp := done[i].TP; mode == CommitAfter {
			c.leftOut(group, tp, done[i:n])
		} else if c.s.clean(tp) {
			for k := i + 1; k < n; k++ {
				c.require(done[k-1].To <= done[k].From, 44, "group %s: %v offset %d was processed twice", group, tp, done[k].From)
			}
		}
		i = n
	}
}

// leftOut is invariant 43 for what was processed of one partition, by offset.
func (c *checker) leftOut(group string, tp TopicPartition, runs []Processed) {
	g, b := c.s.GroupAt(group)
	if g == nil {
		return
	}
	if v := c.s.Stable(b, g, c.s.topicName(tp.Topic), tp.Partition); v != nil {
		at, left := c.s.skipped(tp, runs, v.Offset)
		c.require(!left, 43, "group %s: %v is committed up to %d, and offset %d is not processed", group, tp, v.Offset, at)
	}
}

// skipped is the first record below a committed offset that is in none of the runs of a partition. What is before the first
// run was never to be processed: the group began behind it.
func (s *State) skipped(tp TopicPartition, runs []Processed, committed int64) (int64, bool) {
	next := runs[0].To
	for _, r := range runs[1:] {
		if r.From > next {
			if at, left := s.unread(tp, next, min(r.From, committed)); left {
				return at, true
			}
		}
		next = max(next, r.To)
	}
	return s.unread(tp, next, committed)
}

// unread is the first record between two offsets that an application should have been given: one that the partition's
// leader has, that is no marker, that may not have been aborted, and that no cleaner could remove.
func (s *State) unread(tp TopicPartition, from, to int64) (at int64, found bool) {
	reg := s.decided().partition(tp)
	if from >= to || reg == nil || reg.Leader == NoNode || !s.clean(tp) {
		return 0, false
	}
	r := s.broker(reg.Leader).replica(tp)
	if r == nil || r.Role != Leader {
		return 0, false
	}
	from = max(from, r.Log.LogStart, s.Truth.partition(s, tp).Cleaned)
	to = min(to, r.Log.End)
	for ; from < to && !found; from++ {
		if b := r.Log.BatchAt(from); b == nil || b.Control || b.Transactional {
			continue
		}
		at, found = from, true
	}
	return at, found
}
