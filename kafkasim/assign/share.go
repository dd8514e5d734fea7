package assign

import (
	"cmp"
	"math"
	"slices"
)

// SimpleName is the share groups' only assignor.
const SimpleName = "simple"

// SharePartition is a partition of a topic that is numbered. The number stands for the hash of the topic's id, too.
type SharePartition struct{ Topic, Partition int32 }

// ShareMember is a member of a share group: the topics that it subscribes to, and what it has.
type ShareMember struct {
	Topics []int32
	Owned  []SharePartition
}

// Simple is the share groups' assignor (H-17; KIP-932, SimpleAssignor): a partition may have several members. Each is
// shared by ceil(members / partitions) of them, members have about the same number of partitions, and keep what they have
// as far as that allows. With different subscriptions each topic is dealt with by itself.
//
// Who gives up and who gets what follows from the order of Java's hash tables, which is kept here (hashed.go): members are
// taken in the order in which they are given, partitions by their hashes. The result is sorted.
func Simple(members []ShareMember, partitions []SharePartition) [][]SharePartition {
	out := make([][]SharePartition, len(members))
	if len(members) == 0 {
		return out
	}
	has := make([]map[SharePartition]bool, len(members))
	for m := range members {
		has[m] = map[SharePartition]bool{}
	}
	if SameTopics(members) {
		s := newSharing(members, has, partitions, nil)
		s.assign()
	} else {
		topics := shareTopics(members)
		for m := range members { // as Kafka's class does: what nobody subscribes to any more stays where it is
			for _, p := range members[m].Owned {
				has[m][p] = !slices.Contains(topics, p.Topic)
			}
		}
		for _, topic := range topics {
			s := newSharing(members, has, slices.DeleteFunc(slices.Clone(partitions), func(p SharePartition) bool { return p.Topic != topic }), &topic)
			s.assign()
		}
	}
	for m := range has {
		for p, yes := range has[m] { // sorted below
			if yes {
				out[m] = append(out[m], p)
			}
		}
		slices.SortFunc(out[m], compareShare)
	}
	return out
}

func compareShare(a, b SharePartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// SameTopics tells whether all members subscribe to the same topics.
func SameTopics(members []ShareMember) bool {
	first := slices.Sorted(slices.Values(members[0].Topics))
	return !slices.ContainsFunc(members, func(m ShareMember) bool {
		return !slices.Equal(slices.Sorted(slices.Values(m.Topics)), first)
	})
}

func shareTopics(members []ShareMember) []int32 {
	var out []int32
	for _, m := range members {
		out = append(out, m.Topics...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sharing is one assignment on its way: of all partitions, or of one topic's.
type sharing struct {
	members  []ShareMember
	targets  []SharePartition
	topic    *int32
	mine     []int // the members that take part
	desired  int   // members of a partition
	counts   []int // partitions of a member
	has      []map[SharePartition]bool
	parts    *hashed[SharePartition]
	sharers  map[SharePartition]*hashed[int]
	of       *hashed[int]              // members that have something
	owned    []*hashed[SharePartition] // … by member
	unfilled *hashed[int]
}

func newSharing(members []ShareMember, has []map[SharePartition]bool, targets []SharePartition, topic *int32) *sharing {
	s := &sharing{members: members, targets: targets, topic: topic, has: has, counts: make([]int, len(members)), owned: make([]*hashed[SharePartition], len(members))}
	for m := range members {
		if topic == nil || slices.Contains(members[m].Topics, *topic) {
			s.mine = append(s.mine, m)
		}
	}
	if len(targets) > 0 {
		s.desired = (len(s.mine) + len(targets) - 1) / len(targets)
	}
	each := float64(s.desired*len(targets)) / float64(len(s.mine)) // Kafka's rounding, too
	for i, m := range s.mine {
		s.counts[m] = int(math.Ceil(each*float64(i+1))) - int(math.Ceil(each*float64(i)))
	}
	s.parts = newHashed(len(targets), true, s.hash)
	s.sharers = map[SharePartition]*hashed[int]{}
	s.of = newHashed(len(s.mine), true, hashInt)
	s.unfilled = newHashed(len(members), false, hashInt)
	return s
}

func hashInt(i int) int32 { return int32(i) }

// hash is that of a TopicIdPartition; with one topic the keys are plain partition numbers.
func (s *sharing) hash(p SharePartition) int32 {
	if s.topic != nil {
		return p.Partition
	}
	return 31*p.Topic + p.Partition
}

func (s *sharing) assign() {
	s.keep()
	s.revokeOverfilled()
	s.revokeOvershared()
	for _, p := range s.targets {
		if s.sharers[p] == nil {
			s.parts.add(p)
			n := 0
			if s.topic != nil {
				n = len(s.mine)
			}
			s.sharers[p] = newHashed(n, false, hashInt)
		}
	}
	s.fill()
}

// keep takes over what the members have of the topics.
func (s *sharing) keep() {
	for m := range s.members {
		for _, p := range s.members[m].Owned {
			if s.topic == nil && !slices.Contains(s.members[m].Topics, p.Topic) || s.topic != nil && p.Topic != *s.topic {
				continue
			}
			s.parts.add(p)
			if s.sharers[p] == nil {
				s.sharers[p] = newHashed(0, false, hashInt)
			}
			s.sharers[p].add(m)
			s.give(m, p)
		}
		if s.topic == nil && s.held(m) < s.counts[m] {
			s.unfilled.add(m)
		}
	}
}

func (s *sharing) give(m int, p SharePartition) {
	s.of.add(m)
	if s.owned[m] == nil {
		s.owned[m] = newHashed(0, false, s.hash)
	}
	s.owned[m].add(p)
	s.has[m][p] = true
}

func (s *sharing) held(m int) int {
	if s.owned[m] == nil {
		return 0
	}
	return s.owned[m].size()
}

func (s *sharing) take(m int, p SharePartition) {
	s.owned[m].remove(p)
	s.sharers[p].remove(m)
	delete(s.has[m], p)
}

// revokeOverfilled takes from members that have more than they are to have.
func (s *sharing) revokeOverfilled() {
	for _, m := range s.of.all() {
		for _, p := range s.owned[m].all() {
			if s.held(m) <= s.counts[m] {
				break
			}
			s.take(m, p)
		}
	}
}

// revokeOvershared takes partitions from members, of which more have it than are to.
func (s *sharing) revokeOvershared() {
	for _, p := range s.parts.all() {
		for _, m := range s.sharers[p].all() {
			if s.sharers[p].size() <= s.desired {
				break
			}
			s.take(m, p)
			if s.topic == nil {
				s.unfilled.add(m)
			}
		}
	}
}

// fill gives partitions that have too few members to members that have too few partitions, in turn.
func (s *sharing) fill() {
	if s.topic != nil {
		for _, m := range s.mine {
			if s.held(m) < s.counts[m] {
				s.unfilled.add(m)
			}
		}
	}
	turn, next, some := s.unfilled.all(), 0, false
	for _, p := range s.parts.all() {
		for missing := s.desired - s.sharers[p].size(); missing > 0; {
			if next == len(turn) {
				if !some {
					break
				}
				turn, next, some = s.unfilled.all(), 0, false
				if len(turn) == 0 {
					return
				}
			}
			m := turn[next]
			next++
			if s.sharers[p].has[m] {
				continue
			}
			s.give(m, p) // … and not noted among its sharers: missing counts
			missing--
			some = true
			if s.held(m) >= s.counts[m] {
				s.unfilled.remove(m)
			}
		}
		if s.unfilled.size() == 0 {
			return
		}
	}
}
