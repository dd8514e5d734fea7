package assign

// RoundRobin deals all partitions, by topic name and number, in a circle over the members in the order of
// CompareMembers; a member that does not subscribe to the topic is passed over.
//
// Kafka: RoundRobinAssignor.
func RoundRobin(g *Group) Assignment {
	out := make(Assignment, len(g.Members))
	order := memberOrder(g, CompareMembers)
	wants := subscriptionTable(g)
	next := 0
	for t := range g.Topics {
		if !anyone(wants, t) {
			continue
		}
		for n := range g.Topics[t].Partitions {
			for !wants[order[next]][t] {
				next = (next + 1) % len(order)
			}
			m := order[next]
			out[m] = append(out[m], Partition{int32(t), int32(n)})
			next = (next + 1) % len(order)
		}
	}
	return out
}

// subscriptionTable says for each member and topic whether the one subscribes to the other.
func subscriptionTable(g *Group) [][]bool {
	table := make([][]bool, len(g.Members))
	for m := range table {
		table[m] = make([]bool, len(g.Topics))
		for _, t := range g.Members[m].Topics {
			table[m][t] = true
		}
	}
	return table
}

func anyone(wants [][]bool, topic int) bool {
	for _, row := range wants {
		if row[topic] {
			return true
		}
	}
	return false
}
