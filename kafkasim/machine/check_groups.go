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
	if g.State != GroupStable {
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
// member; the earlier has not heard yet that it is fenced (G-74). A group whose records were lost counts its generations
// from the beginning.
func (c *checker) owners(group string) {
	if !c.s.cleanOffsets(group) {
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
