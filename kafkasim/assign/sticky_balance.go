package assign

import (
	"maps"
	"slices"
)

// balance moves partitions until no move makes the sizes more even. If that did not make the whole more even, all stays as
// it was before (unless nobody had anything).
func (s *general) balance(free []Partition, initializing bool) {
	movable := func(p Partition) bool { return len(s.subs[p.Topic]) >= 2 }
	free = slices.DeleteFunc(free, func(p Partition) bool { return !movable(p) })
	all := slices.DeleteFunc(slices.Clone(s.all), func(p Partition) bool { return !movable(p) })
	s.fixMembers()

	owner, size := maps.Clone(s.owner), slices.Clone(s.size)
	if !s.revoked {
		s.reassign(free)
	}
	if moved := s.reassign(all); moved && !initializing && s.unevenness(s.size) >= s.unevenness(size) {
		s.owner, s.size = owner, size
	}
}

// fixMembers finds the members that have all they can get and nothing that another could have.
func (s *general) fixMembers() {
	may := make([]int, len(s.g.Members))
	open := make([]bool, len(s.g.Members))
	for m := range s.g.Members {
		for _, t := range s.g.Members[m].Topics {
			may[m] += s.g.Topics[t].Partitions
		}
		open[m] = s.size[m] < may[m]
	}
	for p, m := range s.owner {
		if len(s.subs[p.Topic]) >= 2 {
			open[m] = true
		}
	}
	for m := range open {
		s.fixed[m] = !open[m]
	}
}

// reassign goes over the partitions until a whole pass moves nothing, and says whether any moved.
func (s *general) reassign(ps []Partition) bool {
	any := false
	for modified := true; modified; {
		modified = false
		balanced, known := false, false
		for _, p := range ps {
			if !known {
				balanced, known = s.balanced(), true
			}
			if balanced {
				break
			}
			if s.improve(p) {
				modified, any, known = true, true, false
			}
		}
	}
	return any
}

// improve moves p, or a partition of its topic that goes the other way, if somebody has at least two fewer than its owner:
// back to the member that had it before, else to the subscriber with the fewest.
func (s *general) improve(p Partition) bool {
	m := s.owner[p]
	if before, has := s.prev[p]; has && s.size[m] > s.size[before.member]+1 {
		s.move(p, before.member)
		return true
	}
	for _, o := range s.subs[p.Topic] {
		if s.size[m] > s.size[o]+1 {
			s.move(p, s.fewest(p, false))
			return true
		}
	}
	return false
}

func (s *general) move(p Partition, to int) {
	p = s.moves.actual(p, s.owner[p], to)
	from := s.owner[p]
	s.moves.record(p, from, to)
	s.owner[p] = to
	s.size[from]--
	s.size[to]++
}

// balanced says whether nobody could have a partition of somebody who has at least two more.
func (s *general) balanced() bool {
	least, most := -1, -1
	for m, n := range s.size {
		if s.fixed[m] {
			continue
		}
		if least < 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	if least >= most-1 {
		return true
	}
	largest := make([]int, len(s.g.Topics))
	for p, m := range s.owner {
		largest[p.Topic] = max(largest[p.Topic], s.size[m])
	}
	for t, subs := range s.subs {
		for _, m := range subs {
			if !s.fixed[m] && s.size[m]+1 < largest[t] {
				return false
			}
		}
	}
	return true
}

// unevenness is the sum over all pairs of members of the difference of their sizes.
func (s *general) unevenness(size []int) int {
	var open []int
	for m, n := range size {
		if !s.fixed[m] {
			open = append(open, n)
		}
	}
	slices.Sort(open)
	score := 0
	for i, n := range open {
		score += n * (2*i - len(open) + 1)
	}
	return score
}

// movements remembers who gave what to whom, so that of two partitions of a topic that go opposite ways neither moves.
//
// Kafka: AbstractStickyAssignor.PartitionMovements.
type movements struct {
	of      map[Partition]pair
	byTopic map[topicPair][]Partition // in ascending order
}

type pair struct{ from, to int }

type topicPair struct {
	topic int32
	pair  pair
}

func newMovements() movements {
	return movements{of: map[Partition]pair{}, byTopic: map[topicPair][]Partition{}}
}

// actual returns the partition to move instead of p: one of the same topic that moved the opposite way, if there is one.
func (m *movements) actual(p Partition, from, to int) Partition {
	if before, moved := m.of[p]; moved {
		from = before.from
	}
	if back := m.byTopic[topicPair{p.Topic, pair{to, from}}]; len(back) > 0 {
		return back[0]
	}
	return p
}

func (m *movements) record(p Partition, from, to int) {
	if before, moved := m.of[p]; moved {
		m.drop(p, before)
		if before.from == to {
			return
		}
		from = before.from
	}
	m.of[p] = pair{from, to}
	key := topicPair{p.Topic, pair{from, to}}
	at, _ := slices.BinarySearchFunc(m.byTopic[key], p, ComparePartitions)
	m.byTopic[key] = slices.Insert(m.byTopic[key], at, p)
}

func (m *movements) drop(p Partition, was pair) {
	delete(m.of, p)
	key := topicPair{p.Topic, was}
	m.byTopic[key] = slices.DeleteFunc(m.byTopic[key], func(q Partition) bool { return q == p })
}
