package machine

import "slices"

// consumerGroups is invariant 45, for groups with the consumer protocol: at their coordinator no partition is held by two
// members, whatever is under way; a member has nothing that its coordinator does not know it to have; and the three
// epochs follow each other.
func (c *checker) consumerGroups() {
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		if !b.alive() {
			continue
		}
		for j := range b.Shards {
			if x := &b.Shards[j]; x.Kind == GroupCoordinator && !x.Loading && c.s.clean(x.TP) && c.s.decided().partition(x.TP).Leader == b.ID {
				for k := range x.Groups {
					if g := &x.Groups[k]; g.Consumer.On {
						c.consumerGroup(b, g)
					}
				}
			}
		}
	}
}

func (c *checker) consumerGroup(b *Broker, g *Group) {
	c.held(g)
	for i := range c.s.Consumers {
		y := &c.s.Consumers[i]
		p := g.Consumer.member(y.Group.ID)
		if p == nil || y.Closed || y.Config.Member.GroupID != g.ID || !y.Group.beatsProtocol() || y.Group.Generation != p.Epoch {
			continue
		}
		for _, part := range y.Parts {
			has := part.TP.Topic < 0 || b.Image.partition(part.TP) == nil || p.holds(part.TP)
			c.require(has, 45, "group %s: %s has %v, and its coordinator does not know it", g.ID, y.Name, part.TP)
		}
	}
}

// held: no partition is held by two members, and no member is ahead of the target, nor that of the group.
func (c *checker) held(g *Group) {
	target := g.Consumer.AssignmentEpoch
	c.require(target <= g.Consumer.Epoch, 45, "group %s: a target of epoch %d in epoch %d", g.ID, target, g.Consumer.Epoch)
	for i := range g.Consumer.Members {
		m := &g.Consumer.Members[i]
		c.require(m.Epoch <= target, 45, "group %s: %s is in epoch %d, the target in %d", g.ID, m.ID, m.Epoch, target)
	}
	type holder struct {
		tp TopicPartition
		by int
	}
	var all []holder
	for i := range g.Consumer.Members {
		for _, tp := range g.Consumer.Members[i].Holds() {
			all = append(all, holder{tp, i})
		}
	}
	slices.SortFunc(all, func(a, b holder) int { return compareTP(a.tp, b.tp) })
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		c.require(a.tp != b.tp || a.by == b.by, 45, "group %s: %v is held by %s and %s", g.ID, a.tp, g.Consumer.Members[a.by].ID, g.Consumer.Members[b.by].ID)
	}
}
