package assign

import (
	"cmp"
	"slices"
)

// constrained is the sticky assignment for members that all subscribe to the same topics.
//
// Kafka: AbstractStickyAssignor.ConstrainedAssignmentBuilder.
type constrained struct {
	g      *Group
	order  []int
	owned  claims
	racks  *rackInfo
	out    Assignment
	moving map[Partition]bool // what goes from one member to another

	least, most int // partitions of a member
	overLeast   int // how many members are to have more than least
	nowOver     int

	// Who may still get partitions: those below least, and those with exactly least that may become one of the nowOver.
	below, at []int
	former    map[Partition]int // the member that had what is free now
}

func newConstrained(g *Group, order []int, owned claims, racks *rackInfo) *constrained {
	total := 0
	for _, t := range g.Members[0].Topics {
		total += g.Topics[t].Partitions
	}
	n := len(g.Members)
	return &constrained{g: g, order: order, owned: owned, racks: racks, out: make(Assignment, n),
		moving: map[Partition]bool{}, former: map[Partition]int{},
		least: total / n, most: (total + n - 1) / n, overLeast: total % n}
}

func (c *constrained) assign() Assignment {
	kept := c.keepOwned()
	free := c.free(kept)
	byID := func(a, b int) int { return compareIDs(&c.g.Members[a], &c.g.Members[b]) }
	slices.SortStableFunc(c.below, byID)
	slices.SortStableFunc(c.at, byID)
	c.racks.sortByNearMembers(free)
	if c.racks.on {
		free = c.dealByRack(free)
	}
	c.deal(free)
	return c.out
}

// keepOwned lets each member keep what balance allows of what it had, and returns all that is kept.
func (c *constrained) keepOwned() map[Partition]bool {
	kept := map[Partition]bool{}
	for _, m := range c.order {
		had := c.hadInItsRack(m)
		keep := c.least
		switch {
		case len(had) < c.least:
			keep = len(had)
			c.below = append(c.below, m)
		case len(had) >= c.most && c.nowOver < c.overLeast:
			keep = c.most
			c.nowOver++
			if c.nowOver == c.overLeast {
				c.at = c.at[:0]
			}
		case c.nowOver < c.overLeast:
			c.at = append(c.at, m)
		}
		for i, p := range had {
			if i < keep {
				c.out[m] = append(c.out[m], p)
				kept[p] = true
			} else {
				c.former[p] = m
			}
		}
	}
	return kept
}

func (c *constrained) hadInItsRack(m int) []Partition {
	var had []Partition
	for _, p := range c.owned.of[m] {
		switch {
		case c.racks.mismatch(m, p):
			c.former[p] = m
		case !c.owned.disputed[p] && slices.Contains(c.g.Members[m].Topics, p.Topic):
			had = append(had, p)
		}
	}
	slices.SortFunc(had, func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Topic, b.Topic))
	})
	return had
}

func (c *constrained) free(kept map[Partition]bool) []Partition {
	var free []Partition
	for _, t := range slices.Sorted(slices.Values(c.g.Members[0].Topics)) {
		for n := range c.g.Topics[t].Partitions {
			if p := (Partition{t, int32(n)}); !kept[p] {
				free = append(free, p)
			}
		}
	}
	return free
}

// dealByRack gives partitions to members in their racks as far as the numbers allow, and returns those left.
func (c *constrained) dealByRack(free []Partition) []Partition {
	next := 0
	var left []Partition
	for _, p := range free {
		if i := c.nextInRack(p, c.below, next); i >= 0 {
			m := c.below[i]
			if size := len(c.out[m]) + 1; size >= c.least {
				c.below = slices.Delete(c.below, i, i+1)
				if size < c.most && c.nowOver < c.overLeast {
					c.at = append(c.at, m)
				}
			} else {
				i++
			}
			next = 0
			if len(c.below) > 0 {
				next = i % len(c.below)
			}
			c.give(m, p)
		} else if i := c.nextInRack(p, c.at, 0); i >= 0 {
			m := c.at[i]
			c.at = slices.Delete(c.at, i, i+1)
			if c.nowOver++; c.nowOver == c.overLeast {
				c.at = nil
			}
			c.give(m, p)
		} else {
			left = append(left, p)
		}
	}
	return left
}

// nextInRack returns the place of the first member from place first on, in a circle, in a rack of p; -1 for none.
func (c *constrained) nextInRack(p Partition, members []int, first int) int {
	for i := range members {
		if at := (first + i) % len(members); c.racks.holds(members[at], p) {
			return at
		}
	}
	return -1
}

// deal gives the free partitions one at a time in a circle over the members below least; when there are none any more,
// one each to those that have exactly least.
func (c *constrained) deal(free []Partition) {
	next := 0
	for _, p := range free {
		if len(c.below) == 0 {
			if len(c.at) == 0 {
				return // only if claims were trusted that cannot all be true
			}
			c.give(c.at[0], p)
			c.at = c.at[1:]
			continue
		}
		if next >= len(c.below) {
			next = 0
		}
		m := c.below[next]
		c.give(m, p)
		if len(c.out[m]) == c.least {
			c.below = slices.Delete(c.below, next, next+1)
			c.at = append(c.at, m)
		} else {
			next++
		}
	}
}

func (c *constrained) give(m int, p Partition) {
	c.out[m] = append(c.out[m], p)
	if former, had := c.former[p]; had && former != m || c.owned.disputed[p] {
		c.moving[p] = true
	}
}
