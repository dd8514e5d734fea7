package assign

import (
	"cmp"
	"slices"
)

// general is the sticky assignment for members with different subscriptions: first the free partitions go to whoever has
// the fewest, then partitions move as long as that makes it more even.
//
// Kafka: AbstractStickyAssignor.GeneralAssignmentBuilder. What Kafka finds by searching all partitions again after each
// move (isBalanced) is kept by topic here; the answers are the same.
type general struct {
	g     *Group
	order []int
	owned claims
	racks *rackInfo

	wants [][]bool
	subs  [][]int // by topic
	owner map[Partition]int
	size  []int // partitions of each member
	rank  []int // place of each member by id
	prev  map[Partition]priorClaim
	fixed []bool // members whose partitions cannot change

	all     []Partition // by number of subscribers, topic, number
	revoked bool        // somebody must give something up anyway
	moves   movements
}

// priorClaim is the newest claim of an older generation.
type priorClaim struct{ member, generation int }

func newGeneral(g *Group, order []int, owned claims, racks *rackInfo) *general {
	s := &general{g: g, order: order, owned: owned, racks: racks,
		wants: subscriptionTable(g), subs: subscribers(g, order),
		owner: map[Partition]int{}, size: make([]int, len(g.Members)), rank: make([]int, len(g.Members)),
		fixed: make([]bool, len(g.Members)), moves: newMovements()}
	for i, m := range order {
		s.rank[m] = i
	}
	topics := make([]int, len(g.Topics))
	for t := range topics {
		topics[t] = t
	}
	slices.SortStableFunc(topics, func(a, b int) int { return cmp.Compare(len(s.subs[a]), len(s.subs[b])) })
	for _, t := range topics {
		if len(s.subs[t]) == 0 {
			continue
		}
		for n := range g.Topics[t].Partitions {
			s.all = append(s.all, Partition{int32(t), int32(n)})
		}
	}
	return s
}

func (s *general) assign() Assignment {
	s.prev = priorClaims(s.g, s.order)
	s.keepOwned()
	initializing := !slices.ContainsFunc(s.size, func(n int) bool { return n > 0 })
	var free []Partition
	for _, p := range s.all {
		if _, has := s.owner[p]; !has {
			free = append(free, p)
		}
	}
	s.dealFree(free)
	s.balance(free, initializing)

	out := make(Assignment, len(s.g.Members))
	for _, p := range s.all {
		m := s.owner[p]
		out[m] = append(out[m], p)
	}
	return out
}

// priorClaims collects for each partition the newest claim among the generations before the newest.
func priorClaims(g *Group, order []int) map[Partition]priorClaim {
	newest := NoGeneration
	for i := range g.Members {
		newest = max(newest, g.Members[i].Generation)
	}
	prev := map[Partition]priorClaim{}
	for _, m := range order {
		member := &g.Members[m]
		if member.Generation >= newest {
			continue
		}
		for _, p := range member.Owned {
			if !slices.Contains(member.Topics, p.Topic) {
				continue // it does not want it back; Kafka does not ask
			}
			if before, has := prev[p]; !has || member.Generation > before.generation {
				prev[p] = priorClaim{m, member.Generation}
			}
		}
	}
	return prev
}

func (s *general) keepOwned() {
	for _, m := range s.order {
		for _, p := range s.owned.of[m] {
			if !s.wants[m][p.Topic] || s.racks.mismatch(m, p) {
				s.revoked = true
				continue
			}
			if _, has := s.owner[p]; !has {
				s.take(p, m)
			}
		}
	}
}

// dealFree gives each free partition to the subscriber with the fewest, first by rack if racks matter.
func (s *general) dealFree(free []Partition) {
	if s.racks.on {
		for _, p := range free {
			if m := s.fewest(p, true); m >= 0 {
				s.take(p, m)
			}
		}
	}
	for _, p := range free {
		if _, has := s.owner[p]; !has {
			s.take(p, s.fewest(p, false))
		}
	}
}

func (s *general) take(p Partition, m int) {
	s.owner[p] = m
	s.size[m]++
}

// fewest returns the subscriber with the fewest partitions, the first by id among equals; -1 for none.
func (s *general) fewest(p Partition, inRack bool) int {
	best := -1
	for _, m := range s.subs[p.Topic] {
		if s.fixed[m] || inRack && s.racks.mismatch(m, p) {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(s.size[m], s.size[best]), cmp.Compare(s.rank[m], s.rank[best])) < 0 {
			best = m
		}
	}
	return best
}
