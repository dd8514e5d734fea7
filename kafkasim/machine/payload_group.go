package machine

// Requests of group members and their answers, named after Kafka's APIs (11 to 14, 8, 9, 15, 16, 42, 47), and the
// timers of groups. Slices are immutable.

// TopicParts are partitions of a topic by name, as the consumer protocol and the offsets topic have them.
type TopicParts struct {
	Topic      string
	Partitions []int32
}

// Subscription is what a member says of itself to the assignors (ConsumerProtocolSubscription, version 3).
type Subscription struct {
	Topics     []string
	Owned      []TopicParts
	Generation int32 // in which it had Owned; -1 for none
	Rack       string
	// Sticky says that Owned stands in the user data, as StickyAssignor has it, and not in its own field.
	Sticky bool
}

// GroupProtocol is an assignor that a member knows, with what it tells it.
type GroupProtocol struct {
	Name         string
	Subscription Subscription
}

// JoinGroupRequest asks to be a member of the next generation (API 11, version 9).
type JoinGroupRequest struct {
	Group, Member, Instance, ClientID string // Member is empty for a new one
	SessionTimeoutMs                  int64
	RebalanceTimeoutMs                int64
	Protocols                         []GroupProtocol
	// Type is the protocol type, "consumer" for consumers.
	Type string
}

// JoinGroupResponse comes when the generation begins; Members is for the leader alone.
type JoinGroupResponse struct {
	Error          Code
	Generation     int32
	Protocol       string
	Leader, Member string
	SkipAssignment bool
	Members        []JoinedMember
}

// JoinedMember is a member as the leader is told of it.
type JoinedMember struct {
	ID, Instance string
	Subscription Subscription
}

// SyncGroupRequest asks for the member's partitions; the leader's brings those of all (API 14).
type SyncGroupRequest struct {
	Group, Member, Instance string
	Generation              int32
	Protocol                string // the member's assignor; empty before version 5
	Assignments             []MemberAssignment
}

// MemberAssignment is what one member gets.
type MemberAssignment struct {
	Member string
	Parts  []TopicParts
}

// SyncGroupResponse brings them.
type SyncGroupResponse struct {
	Error    Code
	Protocol string
	Parts    []TopicParts
}

// HeartbeatRequest says that a member lives (API 12).
type HeartbeatRequest struct {
	Group, Member, Instance string
	Generation              int32
}

// HeartbeatResponse tells it of rebalances.
type HeartbeatResponse struct{ Error Code }

// LeaveGroupRequest takes members out of a group at once (API 13). A static one may be named by its instance alone.
type LeaveGroupRequest struct {
	Group   string
	Members []LeavingMember
}

// LeavingMember names one.
type LeavingMember struct{ Member, Instance string }

// LeaveGroupResponse answers for each, in order.
type LeaveGroupResponse struct {
	Error   Code
	Members []Code
}

// OffsetCommitRequest stores positions (API 8). Generation -1 and no member is somebody outside the group.
type OffsetCommitRequest struct {
	Group, Member, Instance string
	Generation              int32
	Parts                   []CommitPart
	// Old is set for a version below 9, in which an unknown group had another error (G-87).
	Old bool
	// Number is the client's own, by which it knows the answer; it is not on the wire.
	Number int32
}

// CommitPart is one partition's position.
type CommitPart struct {
	Topic       string
	Partition   int32
	Offset      int64
	LeaderEpoch int32 // of the last record before it; -1 if unknown
	Metadata    string
}

// OffsetCommitResponse answers for each partition, in order.
type OffsetCommitResponse struct{ Parts []CommitResult }

// CommitResult is one partition's answer.
type CommitResult struct {
	Topic     string
	Partition int32
	Error     Code
}

// OffsetFetchRequest asks for committed positions (API 9); no Parts are all that the group has.
type OffsetFetchRequest struct {
	Group         string
	Parts         []NamedPartition
	RequireStable bool // not while a transaction may change them (T-61)
	// Member and Epoch are a member's of the consumer protocol; "" for others, and for tools.
	Member string
	Epoch  int32
}

// NamedPartition is a partition by its topic's name.
type NamedPartition struct {
	Topic     string
	Partition int32
}

// OffsetFetchResponse answers for each partition; Error is for the group.
type OffsetFetchResponse struct {
	Error Code
	Parts []FetchedOffset
}

// FetchedOffset is one partition's committed position; Offset -1 for none.
type FetchedOffset struct {
	Topic       string
	Partition   int32
	Error       Code
	Offset      int64
	LeaderEpoch int32
	Metadata    string
}

// TxnOffsetCommitRequest stores positions as part of a transaction (API 28, T-60): they count when it is committed.
type TxnOffsetCommitRequest struct {
	TransactionalID         string
	Group, Member, Instance string
	Generation              int32
	ProducerID              int64
	ProducerEpoch           int16
	Parts                   []CommitPart
}

// DeleteGroupRequest removes an empty group with its offsets (API 42).
type DeleteGroupRequest struct{ Group string }

// DeleteGroupResponse says whether it could be.
type DeleteGroupResponse struct{ Error Code }

// OffsetDeleteRequest removes committed positions (API 47).
type OffsetDeleteRequest struct {
	Group string
	Parts []NamedPartition
}

// OffsetDeleteResponse answers for the group and for each partition, in order.
type OffsetDeleteResponse struct {
	Error Code
	Parts []CommitResult
}

// GroupTimer: a coordinator looks at what a group waits for.
type GroupTimer struct {
	TP    TopicPartition
	Epoch int32 // of the shard
	Group string
}

// OffsetExpiryTimer: a coordinator looks for offsets of a shard that are to be forgotten.
type OffsetExpiryTimer struct {
	TP    TopicPartition
	Epoch int32
}

func (JoinGroupRequest) payload()       {}
func (JoinGroupResponse) payload()      {}
func (SyncGroupRequest) payload()       {}
func (SyncGroupResponse) payload()      {}
func (HeartbeatRequest) payload()       {}
func (HeartbeatResponse) payload()      {}
func (LeaveGroupRequest) payload()      {}
func (LeaveGroupResponse) payload()     {}
func (OffsetCommitRequest) payload()    {}
func (OffsetCommitResponse) payload()   {}
func (OffsetFetchRequest) payload()     {}
func (OffsetFetchResponse) payload()    {}
func (TxnOffsetCommitRequest) payload() {}
func (DeleteGroupRequest) payload()     {}
func (DeleteGroupResponse) payload()    {}
func (OffsetDeleteRequest) payload()    {}
func (OffsetDeleteResponse) payload()   {}
func (GroupTimer) payload()             {}
func (OffsetExpiryTimer) payload()      {}
