package machine

import (
	"cmp"
	"slices"
)

// Groups with the consumer protocol (KIP-848), as their coordinator has them.
//
// There is no barrier and no leader. Three numbers follow each other: the group epoch goes up with every change of members,
// subscriptions or topics; the assignment epoch is the group epoch for which the target was computed; each member's epoch is
// how far it has got towards it. A member is told to give partitions up first, and a partition is given to its new
// owner only when nobody holds it any more, so that it never has two.
//
// Kafka: ConsumerGroup, ConsumerGroupMember, GroupMetadataManager.consumerGroupHeartbeat, CurrentAssignmentBuilder,
// TargetAssignmentBuilder. Simplified: racks are not looked at (nor does Kafka, KAFKA-19387).

// Further states of a group: those of the consumer protocol.
const (
	GroupAssigning   GroupState = GroupDead + 1 + iota // the target is behind the group
	GroupReconciling                                   // some member is behind the target
)

// MemberAssignmentState says what a member of such a group waits for.
type MemberAssignmentState uint8

// The states, with Kafka's numbers.
const (
	MemberAssigned   MemberAssignmentState = 0 // STABLE: it has its target
	MemberUnrevoked  MemberAssignmentState = 1 // UNREVOKED_PARTITIONS: it has to give partitions up first
	MemberUnreleased MemberAssignmentState = 2 // UNRELEASED_PARTITIONS: others still hold some of its target
)

// String is Kafka's name of the state.
func (m MemberAssignmentState) String() string {
	return [...]string{"STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"}[m]
}

// ConsumerGroup is what a group with the consumer protocol has besides what every group has.
type ConsumerGroup struct {
	On              bool
	Epoch           int32
	AssignmentEpoch int32
	Assignor        string
	AssignedAt      int64            // µs: when the target was computed last; 0 for never by this coordinator
	Members         []ConsumerMember // by id
	Metadata        uint64           // hash of the topics that are subscribed to, for which the epoch holds
	Patterns        []ResolvedPattern
	ResolveAt       int64 // µs: when patterns are looked at; 0 for never
}

// ResolvedPattern is what a regular expression matches.
type ResolvedPattern struct {
	Pattern string
	Topics  []string // by name; immutable
	At      int64    // µs: when it was looked at
}

// OwnedPartition is a partition that a member holds, and the member epoch at which it got it (KIP-1251).
type OwnedPartition struct {
	TP    TopicPartition
	Epoch int32
}

// ConsumerMember is one member. Slices are immutable.
type ConsumerMember struct {
	ID, Instance, ClientID, Host, Rack string
	Assignor, Pattern                  string
	Topics                             []string // by name
	RebalanceTimeout                   int64    // µs
	Epoch, Previous                    int32
	State                              MemberAssignmentState
	Assigned, Revoking                 []OwnedPartition // by partition
	Target                             []TopicPartition // by partition
	ExpiresAt                          int64            // µs: the end of its session
	RevokeBy                           int64            // µs: when it must have given up what it is to; 0 for nothing
	Classic                            ClassicMember    // set while it speaks the classic protocol
}

// compareTP orders partitions by topic, then number.
func compareTP(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// member finds a member, nil for none.
func (g *ConsumerGroup) member(id string) *ConsumerMember {
	if i, found := g.find(id); found {
		return &g.Members[i]
	}
	return nil
}

func (g *ConsumerGroup) find(id string) (int, bool) {
	return slices.BinarySearchFunc(g.Members, id, func(m ConsumerMember, id string) int { return cmp.Compare(m.ID, id) })
}

// static finds the member with an instance id, nil for none.
func (g *ConsumerGroup) static(instance string) *ConsumerMember {
	for i := range g.Members {
		if instance != "" && g.Members[i].Instance == instance {
			return &g.Members[i]
		}
	}
	return nil
}

// put adds a member, or replaces the one with its id.
func (g *ConsumerGroup) put(m ConsumerMember) {
	i, found := g.find(m.ID)
	if found {
		g.Members[i] = m
	} else {
		g.Members = slices.Insert(g.Members, i, m)
	}
}

func (g *ConsumerGroup) drop(id string) {
	if i, found := g.find(id); found {
		g.Members = slices.Delete(g.Members, i, i+1)
	}
}

// clone copies what may change in place.
func (g *ConsumerGroup) clone() ConsumerGroup {
	c := *g
	c.Members, c.Patterns = slices.Clone(g.Members), slices.Clone(g.Patterns)
	return c
}

// held tells whether any member holds a partition, or is still giving it up.
func (g *ConsumerGroup) held(tp TopicPartition) bool {
	for i := range g.Members {
		if g.Members[i].holds(tp) {
			return true
		}
	}
	return false
}

// holds tells whether the member has a partition, or is still giving it up.
func (m *ConsumerMember) holds(tp TopicPartition) bool {
	is := func(o OwnedPartition) bool { return o.TP == tp }
	return slices.ContainsFunc(m.Assigned, is) || slices.ContainsFunc(m.Revoking, is)
}

// Holds are the partitions of a member, with those that it is giving up (what DescribeConsumerGroups shows).
func (m *ConsumerMember) Holds() []TopicPartition {
	out := append(tps(m.Assigned), tps(m.Revoking)...)
	slices.SortFunc(out, compareTP)
	return out
}

func tps(list []OwnedPartition) []TopicPartition {
	out := make([]TopicPartition, len(list))
	for i := range list {
		out[i] = list[i].TP
	}
	return out
}

// reconciled tells whether the member has got to the group's target.
func (g *ConsumerGroup) reconciled(m *ConsumerMember) bool {
	return m.State == MemberAssigned && m.Epoch == g.AssignmentEpoch
}

// consumerState is the group's state.
func (g *ConsumerGroup) state() GroupState {
	switch {
	case len(g.Members) == 0:
		return GroupEmpty
	case g.Epoch > g.AssignmentEpoch:
		return GroupAssigning
	case slices.ContainsFunc(g.Members, func(m ConsumerMember) bool { return !g.reconciled(&m) }):
		return GroupReconciling
	}
	return GroupStable
}

// topicsOf are the topics that a member subscribes to, by name or by what its pattern matches, in order.
func (g *ConsumerGroup) topicsOf(m *ConsumerMember) []string {
	out := slices.Clone(m.Topics)
	if m.Pattern != "" {
		for i := range g.Patterns {
			if g.Patterns[i].Pattern == m.Pattern {
				out = append(out, g.Patterns[i].Topics...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// metadata is a hash of the topics that members subscribe to and that exist, with their partitions (A-74; Kafka's
// ModernGroup.computeMetadataHash, by another hash).
func (g *ConsumerGroup) metadata(im *Image) uint64 {
	h := hasher{sum: 14695981039346656037}
	for _, name := range g.subscribed() {
		if t := im.topic(name); t >= 0 {
			h.word(uint64(t))
			h.word(uint64(len(im.Topics[t].Partitions)))
		}
	}
	return h.sum
}

// subscribed are the topics of all members, in order.
func (g *ConsumerGroup) subscribed() []string {
	var out []string
	for i := range g.Members {
		out = append(out, g.topicsOf(&g.Members[i])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// named writes partitions with their topics' names; what is no more is left out.
func named(im *Image, list []TopicPartition) []TopicParts {
	var out []TopicParts
	for _, tp := range list {
		if im.partition(tp) != nil {
			out = addTo(out, im.Topics[tp.Topic].Name, tp.Partition)
		}
	}
	return out
}

// Named are partitions with the names of their topics, as a broker knows them.
func (b *Broker) Named(list []TopicPartition) []TopicParts { return named(&b.Image, list) }
