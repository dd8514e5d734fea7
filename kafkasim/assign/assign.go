// Package assign holds Kafka's client-side assignors: who of a group gets which partition.
//
// An assignor runs in the consumer that leads the group: it sees the members' subscriptions and its own
// metadata, and nothing else. Here it is a function of exactly that, with no clock and no chance in it.
//
// Kafka: ConsumerPartitionAssignor and its four implementations, AbstractStickyAssignor; KIP-54, KIP-341, KIP-429,
// KIP-881. Simplified: where Kafka walks a hash map (former owners with equal claims, A-34), we walk in the members'
// order; any order is right there.
package assign

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// The names of Kafka's assignors, as partition.assignment.strategy has them in the group protocol.
const (
	RangeName             = "range"
	RoundRobinName        = "roundrobin"
	StickyName            = "sticky"
	CooperativeStickyName = "cooperative-sticky"
)

// Names returns the names of all assignors, in the order of Kafka's documentation.
func Names() []string {
	return []string{RangeName, RoundRobinName, StickyName, CooperativeStickyName}
}

// NoGeneration is the generation of a member that has not been in the group before (-1 on the wire).
const NoGeneration = -1

// A Partition is a partition of one of the topics of a Group.
type Partition struct {
	// Topic is an index into Group.Topics, Number the partition's number in the topic.
	Topic, Number int32
}

// A Topic is what the group's leader knows of a topic from its metadata.
type Topic struct {
	Name       string
	Partitions int
	// Racks holds for each partition the racks of its replicas, in or out of sync; nil if they are not known.
	Racks [][]string
}

// A Member is what a member says of itself in its JoinGroup request.
type Member struct {
	ID string
	// Instance is group.instance.id, empty for a dynamic member; Rack is client.rack, empty for none.
	Instance, Rack string
	// Topics are the topics that the member subscribes to, as indexes into Group.Topics.
	Topics []int32
	// Owned are the partitions that it says it had in the given Generation (NoGeneration for none). Only the sticky
	// assignors look at them.
	Owned      []Partition
	Generation int
}

// A Group is all that an assignor looks at. Topics must be ordered by name.
type Group struct {
	Topics  []Topic
	Members []Member
	// TrustClaims lets two members that claim the same partition both keep it, as cooperative-sticky did before a
	// member's claim carried its generation (KAFKA-12984). It is wrong, and here to show what the generations prevent.
	TrustClaims bool
	// ExtrasFirst gives the first members in order what is more than the least share, whoever has it, as uniform did before
	// KAFKA-18688.
	ExtrasFirst bool
}

// An Assignment has the partitions of each member, in the order of Group.Members; each list is ordered by topic and number.
type Assignment [][]Partition

// Do runs the assignor of the given name, one of Names, and says whether there is one.
func Do(name string, g *Group) (Assignment, bool) {
	switch name {
	case RangeName:
		return Range(g), true
	case RoundRobinName:
		return RoundRobin(g), true
	case StickyName:
		return Sticky(g), true
	case CooperativeStickyName:
		return CooperativeSticky(g), true
	}
	return nil, false
}

// ComparePartitions orders partitions by topic, then number.
func ComparePartitions(a, b Partition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
}

// CompareMembers orders members as range and round robin do: those with an instance id first, by instance id;
// the others by member id. Strings are compared by UTF-16 code units, as Java does.
func CompareMembers(a, b *Member) int {
	switch {
	case a.Instance != "" && b.Instance != "":
		return compareJava(a.Instance, b.Instance)
	case a.Instance != "":
		return -1
	case b.Instance != "":
		return 1
	}
	return compareJava(a.ID, b.ID)
}

// compareJava is String.compareTo: it differs from comparing bytes only where surrogates stand.
func compareJava(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return cmp.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// memberOrder returns the places of g's members in the order of less.
func memberOrder(g *Group, compare func(a, b *Member) int) []int {
	order := make([]int, len(g.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(&g.Members[i], &g.Members[j]) })
	return order
}

func compareIDs(a, b *Member) int { return compareJava(a.ID, b.ID) }

// subscribers returns for each topic the places of its subscribers, in the given order of members.
func subscribers(g *Group, order []int) [][]int {
	subs := make([][]int, len(g.Topics))
	for _, m := range order {
		for _, t := range g.Members[m].Topics {
			subs[t] = append(subs[t], m)
		}
	}
	return subs
}

func (a Assignment) sort() Assignment {
	for _, list := range a {
		slices.SortFunc(list, ComparePartitions)
	}
	return a
}
