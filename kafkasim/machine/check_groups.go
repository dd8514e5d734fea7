package machine

import "slices"

// The invariants of groups that can be read off one state: who owns what, and what applications have processed.

// groups are invariants 40, 43 and 44.
func (c *checker) groups() {
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		for j := range b.Shards {
			for k := range b.Shards[j].Groups {
				c.assignment(&b.Shards[j].Groups[k])
			}
		}
	}
	for i := range c.s.Consumers {
		x := &c.s.Consumers[i]
		if id := x.Config.Member.GroupID; id != "" && c.firstOf(id) == i {
			c.owners(id)
			c.applications(id)
		}
	}
}

// firstOf is the first consumer of a group.
func (c *checker) firstOf(group string) int {
	return slices.IndexFunc(c.s.Consumers, func(x Consumer) bool { return x.Config.Member.GroupID == group })
}

// assignment: what the coordinator hands out in a generation has one owner each.
func (c *checker) assignment(g *Group) {
	if g.State != GroupStable || !c.s.World.Rules.On(OwnedGeneration) {
		return
	}
	var all []NamedPartition
	for i := range g.Members {
		for _, p := range each(g.Members[i].Assignment) {
			c.require(!slices.Contains(all, p), 40, "group %s, generation %d: %s-%d is given to two members", g.ID, g.Generation, p.Topic, p.Partition)
			all = append(all, p)
		}
	}
}

// owners: of the members that are in one generation only one has a partition. Two processes with one instance id are one
// member; the earlier has not heard yet that it is fenced (G-74).
func (c *checker) owners(group string) {
	if !c.s.World.Rules.On(OwnedGeneration) {
		return
	}
	type owner struct {
		p          NamedPartition
		generation int32
		instance   string
	}
	var all []owner
	for i := range c.s.Consumers {
		x := &c.s.Consumers[i]
		if x.Config.Member.GroupID != group || x.Closed || x.Group.State != MemberStable || x.Group.Fatal != NONE {
			continue
		}
		for _, p := range x.assigned() {
			o := owner{p, x.Group.Generation, x.Config.Member.InstanceID}
			other := slices.IndexFunc(all, func(a owner) bool { return a.p == o.p && a.generation == o.generation })
			c.require(other < 0 || o.instance != "" && all[other].instance == o.instance, 40, "group %s, generation %d: %s-%d has two owners", group, o.generation, p.Topic, p.Partition)
			all = append(all, o)
		}
	}
}

// applications: when all of a group's applications commit what they have processed, nothing below the committed offset
// is left out (43); when all commit before they process, nothing is processed twice (44). A commit by hand, and an
// election that loses commits, end that.
func (c *checker) applications(group string) {
	var done []Processed
	modes := [3]int{}
	for i := range c.s.Consumers {
		x := &c.s.Consumers[i]
		if x.Config.Member.GroupID != group {
			continue
		}
		if x.Group.ByHand || x.Config.Member.EnableAutoCommit || x.App.How.PollTimeout == 0 {
			return
		}
		modes[x.App.How.Mode]++
		done = append(done, x.App.Done...)
	}
	if !c.cleanOffsets(group) {
		return
	}
	slices.SortFunc(done, func(a, b Processed) int {
		if a.TP != b.TP {
			return comparePart(ConsumerPart{TP: a.TP}, ConsumerPart{TP: b.TP})
		}
		return int(a.From - b.From)
	})
	switch {
	case modes[CommitAfter] > 0 && modes[CommitBefore]+modes[CommitNever] == 0:
		c.leftOut(group, done)
	case modes[CommitBefore] > 0 && modes[CommitAfter]+modes[CommitNever] == 0:
		for i := 1; i < len(done); i++ {
			a, b := &done[i-1], &done[i]
			c.require(a.TP != b.TP || a.To <= b.From, 44, "group %s: %v offset %d was processed twice", group, a.TP, b.From)
		}
	}
}

// cleanOffsets tells whether the group's partition of __consumer_offsets has lost nothing.
func (c *checker) cleanOffsets(group string) bool {
	t := c.s.decided().topic(ConsumerOffsetsTopic)
	if t < 0 {
		return false
	}
	n := int32(len(c.s.decided().Topics[t].Partitions))
	return c.s.clean(TopicPartition{t, CoordinatorPartition(group, n)})
}

// leftOut is invariant 43, for runs sorted by partition and offset.
func (c *checker) leftOut(group string, done []Processed) {
	g, b := c.s.GroupAt(group)
	if g == nil {
		return
	}
	for i := 0; i < len(done); {
		tp, from, to := done[i].TP, done[i].From, done[i].To
		for i++; i < len(done) && done[i].TP == tp && done[i].From <= to; i++ {
			to = max(to, done[i].To)
		}
		topic := c.s.topicName(tp.Topic)
		v := c.s.Stable(b, g, topic, tp.Partition)
		if next := i < len(done) && done[i].TP == tp; v == nil || !next || !c.s.clean(tp) {
			if v != nil && c.s.clean(tp) && !next {
				c.require(v.Offset <= to, 43, "group %s: %v is committed up to %d, processed from %d to %d", group, tp, v.Offset, from, to)
			}
			continue
		}
		c.require(v.Offset <= to, 43, "group %s: %v is committed up to %d, and offsets %d to %d are not processed", group, tp, v.Offset, to, done[i].From-1)
	}
}
