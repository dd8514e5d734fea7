package assign

import (
	"slices"
)

// Range divides each topic on its own: partitions in the order of their numbers, members in the order of CompareMembers,
// contiguous pieces of P div N, the first P mod N members one more. So the first member gets the extra partition of
// every topic, and topics of equal size with the same subscribers are divided alike.
//
// With racks: first, and within these numbers, partitions go to members whose rack holds a replica; topics with
// equal subscribers and partition counts are matched together only. The rest is divided as if there were no racks.
//
// Kafka: RangeAssignor; KIP-881.
func Range(g *Group) Assignment {
	out := make(Assignment, len(g.Members))
	subs := subscribers(g, memberOrder(g, CompareMembers))
	topics := make([]*topicRange, 0, len(g.Topics))
	for t := range g.Topics {
		if len(subs[t]) > 0 && g.Topics[t].Partitions > 0 {
			topics = append(topics, newTopicRange(g, t, subs[t]))
		}
	}
	if slices.ContainsFunc(topics, func(t *topicRange) bool { return t.rackAware }) {
		matchRacks(topics, out)
	}
	for _, t := range topics {
		t.fill(out, false)
	}
	return out.sort()
}

// topicRange is a topic while it is being divided.
type topicRange struct {
	topic   int
	members []int // in the assignor's order
	racks   []string
	places  [][]string // the racks of each partition; nil if no member has a rack

	free      []int // numbers of partitions that nobody has yet
	given     []int // for each of members
	quota     int
	extras    int // how many members may still have one more than quota
	rackAware bool
}

func newTopicRange(g *Group, t int, members []int) *topicRange {
	topic := &g.Topics[t]
	r := &topicRange{topic: t, members: members, given: make([]int, len(members)),
		quota: topic.Partitions / len(members), extras: topic.Partitions % len(members)}
	var known []string
	for _, m := range members {
		r.racks = append(r.racks, g.Members[m].Rack)
		if g.Members[m].Rack != "" {
			known = append(known, g.Members[m].Rack)
		}
	}
	for n := range topic.Partitions {
		r.free = append(r.free, n)
		if known != nil {
			r.places = append(r.places, topic.racksOf(n))
		}
	}
	r.rackAware = known != nil && racksMatter(known, r.places)
	return r
}

// room is how many more partitions the i-th member may get.
func (r *topicRange) room(i int) int {
	room := r.quota - r.given[i]
	if r.extras > 0 {
		room++
	}
	return max(0, room)
}

// matches says whether the i-th member may have the partition in a phase that looks at racks: a member without a rack
// may have any.
func (r *topicRange) matches(i, number int) bool {
	return r.racks[i] == "" || number < len(r.places) && slices.Contains(r.places[number], r.racks[i])
}

func (r *topicRange) give(out Assignment, i int, numbers []int) {
	m := r.members[i]
	for _, n := range numbers {
		out[m] = append(out[m], Partition{int32(r.topic), int32(n)})
	}
	r.given[i] += len(numbers)
	if r.given[i] > r.quota {
		r.extras--
	}
}

// fill walks the members once; each takes as many free partitions as it may, in the order of their numbers.
func (r *topicRange) fill(out Assignment, byRack bool) {
	for i := range r.members {
		room := r.room(i)
		if room == 0 || len(r.free) == 0 {
			continue
		}
		var take, rest []int
		for k, n := range r.free {
			if len(take) == room {
				rest = append(rest, r.free[k:]...)
				break
			}
			if byRack && !r.matches(i, n) {
				rest = append(rest, n)
			} else {
				take = append(take, n)
			}
		}
		if len(take) > 0 {
			r.free = rest
			r.give(out, i, take)
		}
	}
}

// matchRacks is the phase that looks at racks. Topics with the same members and the same number of partitions are taken
// together, all the others one by one.
func matchRacks(topics []*topicRange, out Assignment) {
	done := make([]bool, len(topics))
	for i, t := range topics {
		if done[i] {
			continue
		}
		same := []*topicRange{t}
		for j := i + 1; j < len(topics); j++ {
			if o := topics[j]; !done[j] && slices.Equal(o.members, t.members) && len(o.places) == len(t.places) {
				same, done[j] = append(same, o), true
			}
		}
		switch {
		case len(same) > 1:
			matchTogether(same, out)
		case t.rackAware:
			t.fill(out, true)
		}
	}
}

// matchTogether gives partition n of all topics to the first member that has room in each and whose rack holds a replica
// of each.
func matchTogether(topics []*topicRange, out Assignment) {
	first := topics[0]
	for n := range len(first.places) {
		for i := range first.members {
			if slices.ContainsFunc(topics, func(t *topicRange) bool { return t.room(i) == 0 || !t.matches(i, n) }) {
				continue
			}
			for _, t := range topics {
				t.free = slices.DeleteFunc(t.free, func(f int) bool { return f == n })
				t.give(out, i, []int{n})
			}
			break
		}
	}
}
