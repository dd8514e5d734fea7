package machine

import "slices"

// What a Watch looks at when a member of a group has got an event: who owns what (40), and what its application has
// processed (43, 44).

// memberMark is a member as it was when it was last looked at.
type memberMark struct {
	calls      int // of its rebalance listener
	generation int32
	done       int   // runs that its application has processed
	to         int64 // … and where the last of them ended
}

// workMark is what the applications of a group have processed of a partition: runs by offset, none touching the next.
type workMark struct {
	group string
	tp    TopicPartition
	runs  []Processed
}

// with runs a check on what has just changed.
func (w *Watch) with(check func(c *checker)) {
	c := checker{s: w.s}
	check(&c)
	w.found = append(w.found, c.list...)
}

// groupMember looks at one consumer.
func (w *Watch) groupMember(i int32) {
	x := &w.s.Consumers[i]
	if x.Config.Member.GroupID == "" {
		return
	}
	for len(w.grouped.members) < len(w.s.Consumers) {
		w.grouped.members = append(w.grouped.members, memberMark{})
	}
	m := &w.grouped.members[i]
	if m.calls != len(x.Group.Calls) || m.generation != x.Group.Generation {
		m.calls, m.generation = len(x.Group.Calls), x.Group.Generation
		w.with(func(c *checker) { c.owners(x.Config.Member.GroupID) })
	}
	for n := len(x.App.Done); n > 0 && (m.done < n || m.to < x.App.Done[n-1].To); {
		first := max(m.done-1, 0)
		for j := first; j < n; j++ {
			run := x.App.Done[j]
			if j == m.done-1 {
				run.From = m.to // it has got longer
			}
			w.processed(x, run)
		}
		m.done, m.to = n, x.App.Done[n-1].To
	}
}

func (w *Watch) workOf(group string, tp TopicPartition) (int, bool) {
	return slices.BinarySearchFunc(w.grouped.work, tp, func(x workMark, tp TopicPartition) int {
		if d := compareText(x.group, group); d != 0 {
			return d
		}
		return compareTP(x.tp, tp)
	})
}

// processed adds a run to what a group has processed, and is invariant 44: with commits before that, nothing is processed
// again.
func (w *Watch) processed(x *Consumer, run Processed) {
	if run.From >= run.To {
		return
	}
	group := x.Config.Member.GroupID
	i, known := w.workOf(group, run.TP)
	if !known {
		w.grouped.work = slices.Insert(w.grouped.work, i, workMark{group: group, tp: run.TP})
	}
	k := &w.grouped.work[i]
	at := 0
	for at < len(k.runs) && k.runs[at].To < run.From {
		at++
	}
	end := at
	for ; end < len(k.runs) && k.runs[end].From <= run.To; end++ {
		if old := k.runs[end]; old.To > run.From && old.From < run.To {
			if mode, ok := w.s.workMode(group); ok && mode == CommitBefore && w.s.clean(run.TP) {
				w.broken(44, "group %s: %s offset %d was processed twice", group, w.name(run.TP), max(old.From, run.From))
			}
		}
		run.From, run.To = min(run.From, k.runs[end].From), max(run.To, k.runs[end].To)
	}
	k.runs = slices.Replace(k.runs, at, end, run)
}

// committedWork is invariant 43 for a commit that has been answered: what is below it is processed.
func (w *Watch) committedWork(a CommitAnswer, committed int64) {
	mode, ok := w.s.workMode(a.Group)
	t := w.s.decided().topic(a.Topic)
	if !ok || mode != CommitAfter || t < 0 {
		return
	}
	tp := TopicPartition{t, a.Partition}
	if i, known := w.workOf(a.Group, tp); known {
		if at, left := w.s.skipped(tp, w.grouped.work[i].runs, committed); left {
			w.broken(43, "group %s: %s is committed up to %d, and offset %d is not processed", a.Group, w.name(tp), committed, at)
		}
	}
}
