package assign

import (
	"cmp"
	"slices"
)

// The coordinator's own assignors (KIP-848): uniform, and range without racks. They see the target before, as
// Member.Owned, and not what members have.

// UniformName is the name of the coordinator's default assignor, as group.remote.assignor has it.
const UniformName = "uniform"

// ServerNames returns the names of the coordinator's assignors.
func ServerNames() []string { return []string{UniformName, RangeName} }

// DoServer runs the coordinator's assignor of the given name, one of ServerNames, and says whether there is one. Order
// ranks the topics, by index, as the coordinator happens to walk them: by the hash of their random ids.
func DoServer(name string, g *Group, order []int32) (Assignment, bool) {
	switch name {
	case UniformName:
		return Uniform(g, order), true
	case RangeName:
		h := *g
		h.Members = slices.Clone(g.Members)
		for i := range h.Members {
			h.Members[i].Rack = "" // KAFKA-19387: the server's assignors do not look at racks
		}
		return Range(&h), true
	}
	return nil, false
}

// Uniform shares all partitions evenly and moves as few as it can.
//
// Kafka: UniformAssignor, UniformHomogeneousAssignmentBuilder. Simplified: with unequal subscriptions partitions stay
// where they are as far as the balance allows, which of equally good ones moves may differ from Kafka's choice.
func Uniform(g *Group, order []int32) Assignment {
	out := make(Assignment, len(g.Members))
	if len(g.Members) == 0 {
		return out
	}
	for i := range g.Members {
		if !slices.Equal(sorted(g.Members[i].Topics), sorted(g.Members[0].Topics)) {
			return uniformUnequal(g, order, out)
		}
	}
	members := memberOrder(g, CompareMembers)
	total := 0
	for _, t := range g.Members[0].Topics {
		total += g.Topics[t].Partitions
	}
	quota, extras := total/len(members), total%len(members)
	free := unowned(g, order)
	rooms := make([]int, len(members))
	for i, m := range members {
		room := quota
		extra := extras > 0
		if extra {
			room++
			extras--
		}
		owned := inRank(subscribed(g, m), order)
		kept := min(len(owned), room)
		out[m] = slices.Clone(owned[:kept])
		free = append(free, owned[kept:]...) // the surplus goes behind
		if extra && !g.ExtrasFirst && room > kept && len(members)-i > extras+1 {
			room-- // who does not fill its extra gives it back: it goes to the last members
			extras++
		}
		rooms[i] = room - kept
	}
	for i, m := range members {
		n := min(rooms[i], len(free))
		out[m] = append(out[m], free[:n]...)
		free = free[n:]
	}
	return out.sort()
}

// subscribed are the partitions that a member has and still subscribes to, those that exist, in order.
func subscribed(g *Group, m int) []Partition {
	owned := slices.DeleteFunc(slices.Clone(g.Members[m].Owned), func(p Partition) bool {
		return int(p.Topic) >= len(g.Topics) || int(p.Number) >= g.Topics[p.Topic].Partitions || !slices.Contains(g.Members[m].Topics, p.Topic)
	})
	slices.SortFunc(owned, ComparePartitions)
	return owned
}

// inRank puts partitions in the order of their topics' ranks, then numbers.
func inRank(list []Partition, order []int32) []Partition {
	slices.SortStableFunc(list, func(a, b Partition) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Topic), slices.Index(order, b.Topic)), cmp.Compare(a.Number, b.Number))
	})
	return list
}

// unowned are the partitions that nobody has, topics in the given order.
func unowned(g *Group, order []int32) []Partition {
	taken := map[Partition]bool{}
	wanted := make([]bool, len(g.Topics))
	for m := range g.Members {
		for _, p := range subscribed(g, m) {
			taken[p] = true
		}
		for _, t := range g.Members[m].Topics {
			wanted[t] = true
		}
	}
	var out []Partition
	for _, t := range order {
		for n := 0; wanted[t] && n < g.Topics[t].Partitions; n++ {
			if p := (Partition{t, int32(n)}); !taken[p] {
				out = append(out, p)
			}
		}
	}
	return out
}

// uniformUnequal gives free partitions to whoever has least, and moves partitions until nobody has two more than somebody
// who could take one of them.
func uniformUnequal(g *Group, order []int32, out Assignment) Assignment {
	members := memberOrder(g, CompareMembers)
	subs := subscribers(g, members)
	for m := range g.Members {
		out[m] = subscribed(g, m)
	}
	least := func(t int32) int {
		return slices.MinFunc(subs[t], func(a, b int) int { return cmp.Compare(len(out[a]), len(out[b])) })
	}
	free := unowned(g, order)
	slices.SortStableFunc(free, func(a, b Partition) int { return cmp.Compare(len(subs[a.Topic]), len(subs[b.Topic])) })
	for _, p := range free {
		m := least(p.Topic)
		out[m] = append(out[m], p)
	}
	for moved := true; moved; {
		moved = false
		for _, m := range members {
			for i := len(out[m]) - 1; i >= 0; i-- {
				p := out[m][i]
				if to := least(p.Topic); len(out[m]) > len(out[to])+1 {
					out[m] = slices.Delete(out[m], i, i+1)
					out[to] = append(out[to], p)
					moved = true
				}
			}
			slices.SortFunc(out[m], ComparePartitions)
		}
	}
	return out.sort()
}

func sorted(topics []int32) []int32 {
	out := slices.Clone(topics)
	slices.Sort(out)
	return out
}
