package assign

import "slices"

// SimpleName is the share groups' only assignor.
const SimpleName = "simple"

// SharePartition is a partition of a topic that is numbered.
type SharePartition struct{ Topic, Partition int32 }

// ShareMember is a member of a share group: the topics that it subscribes to, and what it has.
type ShareMember struct {
	Topics []int32
	Owned  []SharePartition
}

// Simple is the share groups' assignor (H-17; KIP-932): a partition may have several members. Each is shared by
// ceil(members / partitions) of them, members have about the same number of partitions, and keep what they have as
// far as that allows. Partitions and members are taken in their order; Kafka takes them by hashes, so that on a
// real cluster only the sizes are known. With different subscriptions each topic counts its own members.
func Simple(members []ShareMember, partitions []SharePartition) [][]SharePartition {
	out := make([][]SharePartition, len(members))
	if len(members) == 0 || len(partitions) == 0 {
		return out
	}
	sharing, most := shareCounts(members, partitions)
	sharers := make([]int, len(partitions))
	for m := range members { // what stays
		for _, p := range members[m].Owned {
			i := slices.Index(partitions, p)
			if i >= 0 && slices.Contains(members[m].Topics, p.Topic) && len(out[m]) < most[m] && sharers[i] < sharing[i] {
				out[m] = append(out[m], p)
				sharers[i]++
			}
		}
	}
	next := 0
	for i, p := range partitions {
		for tried := 0; sharers[i] < sharing[i] && tried < len(members); tried++ {
			m := next % len(members)
			next++
			if slices.Contains(members[m].Topics, p.Topic) && len(out[m]) < most[m] && !slices.Contains(out[m], p) {
				out[m] = append(out[m], p)
				sharers[i]++
				tried = -1
			}
		}
	}
	for m := range out {
		slices.SortFunc(out[m], func(a, b SharePartition) int {
			if a.Topic != b.Topic {
				return int(a.Topic - b.Topic)
			}
			return int(a.Partition - b.Partition)
		})
	}
	return out
}

// shareCounts are how many members each partition is to have, and how many partitions each member may have.
func shareCounts(members []ShareMember, partitions []SharePartition) (sharing, most []int) {
	same := !slices.ContainsFunc(members, func(m ShareMember) bool { return !slices.Equal(m.Topics, members[0].Topics) })
	sharing, most = make([]int, len(partitions)), make([]int, len(members))
	total := 0
	for i, p := range partitions {
		subscribers, mine := 0, 0
		for m := range members {
			if slices.Contains(members[m].Topics, p.Topic) {
				subscribers++
			}
		}
		for _, q := range partitions {
			if same || q.Topic == p.Topic {
				mine++
			}
		}
		sharing[i] = (subscribers + mine - 1) / mine
		total += sharing[i]
	}
	for m := range members {
		if same { // Kafka's desiredAssignmentCount
			most[m] = ceilDiv(total*(m+1), len(members)) - ceilDiv(total*m, len(members))
		} else {
			most[m] = len(partitions)
		}
	}
	return sharing, most
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
