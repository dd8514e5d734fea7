package assign

import "slices"

// Sticky gives every member as many partitions as balance allows of those that it had, and spreads the rest.
//
// Kafka: StickyAssignor, AbstractStickyAssignor; KIP-54, KIP-341, KIP-881.
func Sticky(g *Group) Assignment {
	out, _ := sticky(g)
	return out.sort()
}

// CooperativeSticky is Sticky without what would go from one member to another: such a partition is nobody's in this round,
// so that its owner can give it up first.
//
// Kafka: CooperativeStickyAssignor; KIP-429.
func CooperativeSticky(g *Group) Assignment {
	out, moving := sticky(g)
	if moving == nil {
		moving = movingOwnership(g, out)
	}
	for m := range out {
		out[m] = slices.DeleteFunc(out[m], func(p Partition) bool { return moving[p] })
	}
	return out.sort()
}

// sticky returns the whole assignment and, if all members subscribe to the same topics, which partitions change hands.
func sticky(g *Group) (Assignment, map[Partition]bool) {
	if len(g.Members) == 0 {
		return Assignment{}, nil
	}
	order := memberOrder(g, compareIDs)
	owned := settleClaims(g, order)
	racks := newRackInfo(g)
	if sameSubscriptions(g) {
		c := newConstrained(g, order, owned, racks)
		return c.assign(), c.moving
	}
	return newGeneral(g, order, owned, racks).assign(), nil
}

// movingOwnership finds the partitions that somebody gets and somebody else must give up.
func movingOwnership(g *Group, out Assignment) map[Partition]bool {
	revoked := map[Partition]bool{}
	for m := range out {
		for _, p := range g.Members[m].Owned {
			if !slices.Contains(out[m], p) {
				revoked[p] = true
			}
		}
	}
	moving := map[Partition]bool{}
	for m := range out {
		for _, p := range out[m] {
			if revoked[p] && !slices.Contains(g.Members[m].Owned, p) {
				moving[p] = true
			}
		}
	}
	return moving
}

func sameSubscriptions(g *Group) bool {
	first := slices.Sorted(slices.Values(g.Members[0].Topics))
	for i := range g.Members[1:] {
		if !slices.Equal(first, slices.Sorted(slices.Values(g.Members[i+1].Topics))) {
			return false
		}
	}
	return true
}

// claims are the partitions that members had, after it is settled whose each is.
type claims struct {
	of [][]Partition // by member
	// disputed were claimed by two members of the same generation, so neither keeps them.
	disputed map[Partition]bool
}

// settleClaims decides who had a partition if several members say so: the one of the higher generation; with equal
// generations neither.
func settleClaims(g *Group, order []int) claims {
	c := claims{of: make([][]Partition, len(g.Members)), disputed: map[Partition]bool{}}
	owner := map[Partition]int{}
	for _, m := range order {
		member := &g.Members[m]
		for _, p := range member.Owned {
			if int(p.Topic) >= len(g.Topics) || int(p.Number) >= g.Topics[p.Topic].Partitions || g.Topics[p.Topic].Partitions == 0 {
				continue
			}
			other, claimed := owner[p]
			if !claimed || g.TrustClaims {
				c.of[m] = append(c.of[m], p)
				owner[p] = m
				continue
			}
			if member.Generation < g.Members[other].Generation {
				continue
			}
			c.of[other] = slices.DeleteFunc(c.of[other], func(q Partition) bool { return q == p })
			owner[p] = m
			if member.Generation == g.Members[other].Generation {
				c.disputed[p] = true
			} else {
				c.of[m] = append(c.of[m], p)
			}
		}
	}
	return c
}

// rackInfo says where members and replicas are. It is off (on == false) if that makes no difference.
type rackInfo struct {
	on     bool
	member []string
	places [][][]string // racks by topic and number
	near   map[string]int
}

func newRackInfo(g *Group) *rackInfo {
	r := &rackInfo{near: map[string]int{}}
	var known []string
	for i := range g.Members {
		rack := g.Members[i].Rack
		r.member = append(r.member, rack)
		if rack != "" {
			r.near[rack]++
			known = append(known, rack)
		}
	}
	if known == nil {
		return r
	}
	var all [][]string
	for t := range g.Topics {
		var places [][]string
		for n := range g.Topics[t].Partitions {
			places = append(places, g.Topics[t].racksOf(n))
		}
		r.places = append(r.places, places)
		all = append(all, places...)
	}
	r.on = racksMatter(known, all)
	return r
}

// holds says whether the member's rack is known and holds a replica of p.
func (r *rackInfo) holds(m int, p Partition) bool {
	return r.on && r.member[m] != "" && slices.Contains(r.places[p.Topic][p.Number], r.member[m])
}

// mismatch says whether the member's rack is known and holds no replica of p.
func (r *rackInfo) mismatch(m int, p Partition) bool {
	return r.on && r.member[m] != "" && !slices.Contains(r.places[p.Topic][p.Number], r.member[m])
}

// sortByNearMembers puts first the partitions with the fewest members in their racks: they have the least choice. Kafka
// does so whenever a member has a rack, even when racks do not matter.
func (r *rackInfo) sortByNearMembers(ps []Partition) {
	if r.places == nil {
		return
	}
	near := func(p Partition) int {
		n := 0
		for i, rack := range r.places[p.Topic][p.Number] {
			if !slices.Contains(r.places[p.Topic][p.Number][:i], rack) {
				n += r.near[rack]
			}
		}
		return n
	}
	slices.SortStableFunc(ps, func(a, b Partition) int { return near(a) - near(b) })
}
