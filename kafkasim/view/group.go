package view

// Group is a consumer group as its coordinator has it.
type Group struct {
	ID          string
	State       string // Empty, PreparingRebalance, CompletingRebalance, Stable or Dead; with the consumer protocol Empty, Assigning, Reconciling, Stable or Dead
	Protocol    string // the assignor of the generation, "" for none
	Generation  int
	Coordinator int // broker id, -1 while there is none
	Members     []GroupMember
	// Modern says that the group has the consumer protocol (KIP-848): Generation is its group epoch, and AssignmentEpoch the one
	// that the target was computed for.
	Modern          bool
	AssignmentEpoch int
	Offsets         []GroupOffset // of every partition that has a committed offset or an owner, by topic and partition
}

// GroupMember is one member.
type GroupMember struct {
	ID, ClientID, InstanceID, Host string
	Leads                          bool
	Partitions                     []Position // what it was given; Offset is its position, -1 if unknown
	// With the consumer protocol: its epoch, what it is to have, and what it waits for: STABLE, UNREVOKED_PARTITIONS or
	// UNRELEASED_PARTITIONS. Partitions are what it holds, with what it is giving up.
	Epoch  int
	Target []Position
	State  string
	// Classic says that it speaks the classic protocol in such a group, which changes from one to the other.
	Classic bool
}

// GroupOffset is how far a group is in a partition. Lag is what it has not committed of what can be read (O-2, C-81).
type GroupOffset struct {
	Topic       string
	Partition   int
	Committed   int64  // -1 for none
	End         int64  // the high watermark; -1 without a leader
	StableEnd   int64  // the last stable offset, to which read_committed reads; -1 without a leader
	Lag         int64  // End - Committed; -1 when there is no committed offset
	LeaderEpoch int    // committed beside the offset, -1 for none
	Oldest      int64  // ms: timestamp of the first record that is not committed; -1 when there is none
	Owner       string // member id, "" for nobody
}
