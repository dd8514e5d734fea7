package machine

import "slices"

// The invariants of groups that are about a change: a generation that was written does not come back as an older one
// (41), and a commit that was answered is not forgotten when the coordinator moves (42).

// groupsWatch is what a Watch knows of groups.
type groupsWatch struct {
	generations []groupGeneration // by group
	commits     []commitMark      // by group, topic and partition
	members     []memberMark      // by consumer
	work        []workMark        // by group and partition
}

// groupGeneration is the highest generation in which a group was stable.
type groupGeneration struct {
	group      string
	generation int32
	modern     bool  // it has the consumer protocol: a generation is a group epoch
	assigned   int32 // … and this the highest epoch of its target
	looked     int32 // the generation whose assignment was looked at
}

// commitMark is the newest commit of a partition that was answered.
type commitMark struct {
	group, topic string
	partition    int32
	at           int64 // offset of its record
}

func (g groupsWatch) clone() groupsWatch {
	c := groupsWatch{slices.Clone(g.generations), slices.Clone(g.commits), slices.Clone(g.members), slices.Clone(g.work)}
	for i := range c.work {
		c.work[i].runs = slices.Clone(c.work[i].runs)
	}
	return c
}

// CommitAnswer is a commit that a coordinator has answered, for whoever watches.
type CommitAnswer struct {
	Group, Topic string
	Partition    int32
	Forget       bool // the offset was deleted, or has expired
}

// groups looks at the groups of a broker that got an event.
func (w *Watch) groups(b *Broker) {
	for _, a := range w.s.Commits {
		w.answeredCommit(b, a)
	}
	w.s.Commits = w.s.Commits[:0]
	if w.event != nil && !concernsGroups(w.event.Payload) {
		return
	}
	for i := range b.Shards {
		x := &b.Shards[i]
		if x.Kind != GroupCoordinator || x.Loading || !w.s.clean(x.TP) || w.s.decided().partition(x.TP).Leader != b.ID {
			continue
		}
		l := &b.replica(x.TP).Log
		for j := range x.Groups {
			w.generation(&x.Groups[j], l.HighWatermark == l.End)
		}
		w.rememberedCommits(b, x)
	}
}

// concernsGroups tells whether an event can change a group at its coordinator.
func concernsGroups(p Payload) bool {
	switch p.(type) {
	case FetchRequest, FetchResponse, HeartbeatRequest, MetadataRequest, ProduceRequest, ListOffsetsRequest, HeartbeatTimer,
		BrokerHeartbeatResponse, PurgatoryTimer, CheckpointTimer, FetcherTimer, ISRTimer:
		return false
	}
	return true
}

// generation is invariant 41. What is not replicated does not count yet: a coordinator's successor may not know it.
func (w *Watch) generation(g *Group, replicated bool) {
	at, found := slices.BinarySearchFunc(w.grouped.generations, g.ID, func(x groupGeneration, id string) int { return compareText(x.group, id) })
	if !found {
		w.grouped.generations = slices.Insert(w.grouped.generations, at, groupGeneration{group: g.ID})
	}
	x := &w.grouped.generations[at]
	if x.modern != g.Consumer.On {
		x.generation, x.assigned, x.modern = 0, 0, g.Consumer.On // a group that changes its protocol begins anew
	}
	if g.Generation < x.generation || g.Consumer.AssignmentEpoch < x.assigned {
		w.broken(41, "group %s: generation %d after %d, target of %d after %d", g.ID, g.Generation, x.generation, g.Consumer.AssignmentEpoch, x.assigned)
	}
	if g.State == GroupStable && replicated {
		x.generation, x.assigned = max(x.generation, g.Generation), max(x.assigned, g.Consumer.AssignmentEpoch)
	}
	if g.Consumer.On {
		w.with(func(c *checker) { c.held(g) })
	} else if g.State != GroupStable {
		x.looked = -1
	} else if g.Generation != x.looked {
		x.looked = g.Generation
		w.with(func(c *checker) { c.assignment(g) })
	}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (w *Watch) mark(a *CommitAnswer) (int, bool) {
	return slices.BinarySearchFunc(w.grouped.commits, a, func(x commitMark, a *CommitAnswer) int {
		if d := compareText(x.group, a.Group); d != 0 {
			return d
		}
		if d := compareText(x.topic, a.Topic); d != 0 {
			return d
		}
		return int(x.partition - a.Partition)
	})
}

// answeredCommit remembers what a coordinator has promised.
func (w *Watch) answeredCommit(b *Broker, a CommitAnswer) {
	at, found := w.mark(&a)
	if a.Forget {
		if found {
			w.grouped.commits = slices.Delete(w.grouped.commits, at, at+1)
		}
		return
	}
	x, code := b.coordinator(GroupCoordinator, a.Group)
	if code != NONE {
		return
	}
	g := x.group(a.Group)
	if g == nil {
		return
	}
	i, has := g.offset(a.Topic, a.Partition)
	if !has {
		return
	}
	r := b.replica(x.TP)
	if b.Dirs[r.Dir].Offline {
		return // it was replicated when the high watermark passed it; the disk was lost before the answer went out
	}
	v := g.Offsets[i].stable(r.Log.HighWatermark)
	switch {
	case v == nil:
		w.broken(42, "group %s: the commit of %s-%d is answered and not replicated", a.Group, a.Topic, a.Partition)
	case found:
		w.grouped.commits[at].at = max(w.grouped.commits[at].at, v.At)
	default:
		w.grouped.commits = slices.Insert(w.grouped.commits, at, commitMark{a.Group, a.Topic, a.Partition, v.At})
	}
	if v != nil {
		w.committedWork(a, v.Offset)
	}
}

// rememberedCommits is invariant 42: the coordinator knows every commit that was answered, or a newer one.
func (w *Watch) rememberedCommits(b *Broker, x *CoordinatorShard) {
	n := int32(len(b.Image.Topics[x.TP.Topic].Partitions))
	for i := range w.grouped.commits {
		m := &w.grouped.commits[i]
		if CoordinatorPartition(m.group, n) != x.TP.Partition {
			continue
		}
		newest := int64(-1)
		if g := x.group(m.group); g != nil {
			if j, found := g.offset(m.topic, m.partition); found {
				newest = g.Offsets[j].Versions[len(g.Offsets[j].Versions)-1].At
			}
		}
		if newest < m.at {
			w.broken(42, "group %s: the commit of %s-%d, record %d, is not known to coordinator %d any more", m.group, m.topic, m.partition, m.at, b.ID)
			m.at = -1
		}
	}
}

// promiseCommit notes an answered commit, or one that is forgotten, for whoever watches.
func (s *State) promiseCommit(a CommitAnswer) {
	if s.Watching {
		s.Commits = append(s.Commits, a)
	}
}
