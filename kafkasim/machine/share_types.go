package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
)

// Share groups, what the parts of the world remember of them (KIP-932). A world without share groups has none of this,
// and its hash does not count it.
//
// A share group's members share partitions: each record goes to one of them at a time, is locked for it, and is either
// dealt with or becomes available again (H-1 to H-7). Three brokers work together:
//
//	group coordinator   who is a member, and which partitions it may ask for     share_group.go
//	partition leader    the state of the records in flight, locks and sessions   share_partition.go, share_acquire.go, share_fetch.go
//	share coordinator   that state in __share_group_state, beyond a failover     share_state.go, share_state_log.go, share_calls.go
//
// The members are in share_consumer.go. Kafka: SharePartitionManager, SharePartition, ShareCoordinatorService,
// GroupMetadataManager (ShareGroup), ShareConsumerImpl.

// ShareRecordState is the state of a record in flight (H-2), with Kafka's numbers.
type ShareRecordState uint8

// The states.
const (
	ShareAvailable    ShareRecordState = 0
	ShareAcquired     ShareRecordState = 1
	ShareAcknowledged ShareRecordState = 2
	ShareArchived     ShareRecordState = 4
)

// String is Kafka's name of the state.
func (x ShareRecordState) String() string {
	return [...]string{"Available", "Acquired", "Acknowledged", "Archiving", "Archived"}[x]
}

// final tells that nothing will happen to the record any more.
func (x ShareRecordState) final() bool { return x == ShareAcknowledged || x == ShareArchived }

// ShareRecord is one record in flight.
type ShareRecord struct {
	State    ShareRecordState
	Count    int16  // deliveries
	Member   string // who has it
	LockEnds int64  // µs
	Pending  bool   // a change of it is being written
	Base     int64  // first offset of the batch in which it was first acquired
	Size     int32  // … and the number of its offsets
}

// SharePartition is a partition of a share group, at its leader: the window of records in flight (H-3).
type SharePartition struct {
	Group       string
	TP          TopicPartition
	LeaderEpoch int32
	StateEpoch  int32
	Ready       bool  // its state was read
	Start       int64 // SPSO
	Window      []ShareRecord
	Error       Code // why it could not be read
}

// End is the offset behind the window (SPEO + 1).
func (p *SharePartition) End() int64 { return p.Start + int64(len(p.Window)) }

// ShareSession is what a leader remembers of a member that asks it.
type ShareSession struct {
	Group, Member string
	Node          NodeID
	Conn          uint32
	Epoch         int32 // of the next request
	Parts         []TopicPartition
}

// ShareJob is a request of a member that has not been answered: its acknowledgements are being written, or it waits for
// records.
type ShareJob struct {
	ID       int64
	Who      Parked
	Fetch    bool
	Request  ShareFetchRequest
	Left     int32 // writes to wait for
	Acks     []ShareAckResult
	Deadline int64 // µs
}

// ShareUndo is a record's state before a change that is being written.
type ShareUndo struct {
	Offset int64
	Was    ShareRecord
}

// ShareCall is a request to the share coordinator that is not answered.
type ShareCall struct {
	Request ShareStateRequest
	Undo    []ShareUndo
	Sure    bool   // the changes hold whatever becomes of the write
	Job     int64  // that waits for it; 0 for none
	Ack     int32  // … and where its result goes
	Node    NodeID // where it is in flight; NoNode
	RetryAt int64  // µs
	Tries   int32
	Failed  Code // after too many tries: known to nobody yet
}

// BrokerShare is what a broker's process has of share groups.
type BrokerShare struct {
	Partitions []SharePartition // by (TP, Group)
	Sessions   []ShareSession
	Jobs       []ShareJob
	LastJob    int64
	Calls      []ShareCall
	Admin      []ShareAdmin
	WakeAt     int64 // µs: when ShareTimer is due
}

// ShareShard is what a coordinator has of share groups: the group coordinator Groups, the share coordinator States.
type ShareShard struct {
	Groups          []ShareGroup // by id
	States          []ShareState // by (TP, Group)
	PruneAt, ColdAt int64        // µs: when the share coordinator looks after its log; 0 for never
}

// ShareState is a partition's state at the share coordinator.
type ShareState struct {
	Group       string
	TP          TopicPartition
	StateEpoch  int32
	LeaderEpoch int32
	Start       int64
	Batches     []ShareStateBatch // immutable
	Complete    int64             // records from Start on that are dealt with
	Snapshot    int32             // the snapshot's number
	At          int64             // … and its offset
	CreatedMs   int64             // when it was written because of what has changed
	WrittenMs   int64             // when it was written, also because nothing had changed for long
	Updates     int32             // since that
}

// ShareWorld is what belongs to no broker: the clients, groups' properties, and the book of promises.
type ShareWorld struct {
	Consumers []ShareConsumer
	Configs   []ShareConfig
	Book      []ShareBook
	Broken    []ShareBroken
}

// ShareConfig is one group's properties.
type ShareConfig struct {
	Group string
	Props config.ShareGroup
}

// shareConfig is a group's properties.
func (s *State) shareConfig(group string) config.ShareGroup {
	for i := range s.Share.Configs {
		if s.Share.Configs[i].Group == group {
			return s.Share.Configs[i].Props
		}
	}
	return config.ShareGroup{}
}

// shareGroups are the properties that hold for a group.
func (s *State) shareGroups(group string) config.ShareGroups {
	g := s.shareConfig(group)
	return g.Over(s.World.Broker.Share)
}

func (x *BrokerShare) unshare() {
	x.Partitions, x.Sessions = slices.Clone(x.Partitions), slices.Clone(x.Sessions)
	x.Jobs, x.Calls, x.Admin = slices.Clone(x.Jobs), slices.Clone(x.Calls), slices.Clone(x.Admin)
	for i := range x.Partitions {
		x.Partitions[i].Window = slices.Clone(x.Partitions[i].Window)
	}
	for i := range x.Jobs {
		x.Jobs[i].Acks = slices.Clone(x.Jobs[i].Acks)
	}
}

func (x *ShareShard) unshare() {
	x.Groups, x.States = slices.Clone(x.Groups), slices.Clone(x.States)
	for i := range x.Groups {
		x.Groups[i].Members = slices.Clone(x.Groups[i].Members)
	}
}

func (x *ShareWorld) clone() ShareWorld {
	c := ShareWorld{slices.Clone(x.Consumers), slices.Clone(x.Configs), slices.Clone(x.Book), slices.Clone(x.Broken)}
	for i := range c.Consumers {
		c.Consumers[i] = x.Consumers[i].clone()
	}
	for i := range c.Book {
		c.Book[i].Held = slices.Clone(x.Book[i].Held)
	}
	return c
}
