// Package view holds read-only pictures of a simulated cluster: what a learner prints, what a chart
// draws, what a test compares. It is plain data with no behaviour of Kafka in it, and it imports nothing
// of this project, so that a chart can never step the simulation.
//
// Units: times are int64 microseconds of virtual time since the world began; offsets are Kafka offsets;
// sizes are bytes. Broker ids start at 1, partitions at 0; -1 stands for "none" (as in Kafka).
package view

// Cluster is a whole cluster at one moment.
type Cluster struct {
	Now         int64 // µs of virtual time
	Tick        int64 // µs that the learner calls one tick
	Brokers     []Broker
	Controllers []Controller
	Topics      []Topic
	Producers   []Producer
	Consumers   []Consumer
	Txns        []Transaction // transactional ids that coordinators know, by id
	Groups      []Group
	ShareGroups []ShareGroup // by id
	InFlight    []Message    // messages on the wire, in the order in which they will arrive
	Cuts        []Cut        // links that are cut now
}

// Broker is one broker as the controller and the operating system see it.
type Broker struct {
	ID             int
	Rack           string
	State          string // Kafka's broker state: NOT_RUNNING, STARTING, RECOVERY, RUNNING, PENDING_CONTROLLED_SHUTDOWN (R3.7)
	Alive          bool   // the process runs
	Paused         bool   // alive but silent (SIGSTOP)
	Fenced         bool   // fenced at the controller, or not registered
	Epoch          int64  // broker epoch at the controller, -1 before the first registration
	MetadataOffset int64  // how far this broker has read the metadata log
	Leads          int    // partitions it believes it leads
}

// Controller is one controller of the metadata quorum.
type Controller struct {
	ID            int    // from 3001
	State         string // Unattached, Follower, Prospective, Candidate, Leader, Resigned; NOT_RUNNING
	Alive         bool   // the process runs
	Paused        bool   // alive but silent (SIGSTOP)
	Active        bool   // acts for the cluster
	Epoch         int    // of the quorum, as it knows it
	Leader        int    // of that epoch as it knows it, -1 for none
	Voted         int    // whom it voted for in that epoch, -1 for nobody
	LogEndOffset  int64
	HighWatermark int64            // of the metadata log, as it knows it
	Records       []MetadataRecord // the newest ones of its metadata log
}

// Topic is a topic with its partitions in order. Kafka's own topics (__transaction_state, __consumer_offsets) are not in
// a Cluster's list.
type Topic struct {
	Name       string
	Partitions []Partition
}

// Partition is the controller's record of a partition together with every replica's log.
type Partition struct {
	Topic          string
	ID             int
	Leader         int // broker id, -1 for none
	LeaderEpoch    int
	PartitionEpoch int
	Replicas       []int // in assignment order, preferred leader first
	ISR            []int
	ELR            []int // eligible leader replicas (KIP-966)
	LastKnownELR   []int
	Adding         []int // replicas that a reassignment adds (R3.35)
	Removing       []int // … and those that it takes away
	MinISR         int   // the effective minimum (R1.9)
	HighWatermark  int64
	LogEndOffset   int64 // HighWatermark and LogEndOffset are those of the leader, or of the last one; -1 when unknown
	Logs           []Replica
}

// Replica is one broker's copy of a partition.
type Replica struct {
	Broker         int
	Role           string // "leader", "follower" or "offline", as the broker itself believes
	InISR          bool   // by the controller's record
	LeaderEpoch    int    // the epoch that this broker follows or leads
	LogStartOffset int64
	HighWatermark  int64
	LogEndOffset   int64
	LastStable     int64        // last stable offset: where read_committed ends (R1.2); as this broker has it
	Epochs         []EpochStart // the leader-epoch cache (R1.5)
	Records        []Record     // from LogStartOffset, every record that the log holds
	Segments       []Segment    // oldest first
}

// EpochStart is one entry of a leader-epoch cache.
type EpochStart struct {
	Epoch       int
	StartOffset int64
}

// Mark says what became of a record, for the pictures' three marks.
type Mark uint8

// The marks of a record: it is written and not yet acknowledged, acknowledged, or
// acknowledged and then lost.
const (
	MarkWritten Mark = iota
	MarkAcked
	MarkLost
)

// String names the mark in words.
func (m Mark) String() string {
	return [...]string{"written, not acknowledged", "acknowledged", "acknowledged, then lost"}[m]
}

// Record is one record in a log.
type Record struct {
	Offset      int64
	LeaderEpoch int
	Key, Value  string
	NullKey     bool
	Marker      bool  // a transaction's COMMIT or ABORT marker, which no application sees
	Timestamp   int64 // ms, as Kafka stamps records
	Mark        Mark
}

// Producer is a producer client.
type Producer struct {
	ID       string
	Acks     string          // "0", "1" or "all"
	Pending  int             // records sent and not decided yet
	Retrying int             // of those, in batches that wait for a retry
	Acked    int             // records acknowledged so far
	Failed   int             // records failed for good
	LostAcks int             // records acknowledged with an offset that no leader's log holds any more
	Batches  []ProducerBatch // in the accumulator and in flight: by partition, oldest first
	Limits   ProducerLimits
}

// Consumer is a consumer client.
type Consumer struct {
	ID        string
	Positions []Position
}

// Position is the offset of the next record that a consumer will hand out (C-2).
type Position struct {
	Topic     string
	Partition int
	Offset    int64 // -1 before the first position is known
}

// Message is one message on the wire.
type Message struct {
	Number       int // the number that InFlight, Deliver and Drop use
	Arrives      int64
	From, To     string // "broker 1", "controller", a client's id
	Text         string // in words: "Fetch orders-0 from 5"
	Held         bool   // it waits for Release or Heal; Arrives is meaningless
	Housekeeping bool   // heartbeats, fetches that bring nothing, metadata fetches
}

// Cut is a link that carries nothing at present.
type Cut struct {
	From, To string
	BothWays bool
	Waiting  int // messages that wait for it to heal
}

// Transaction is a transactional id as its coordinator knows it.
type Transaction struct {
	ID             string
	Coordinator    int // broker id
	StatePartition int // the partition of __transaction_state that it belongs to (T-1)
	ProducerID     int64
	ProducerEpoch  int
	State          string // Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort (T-2)
	Pending        string // the state that is being written to the log, "" for none
	Timeout        int64  // µs
	Started        int64  // µs: when its first partition was added, -1 for no transaction
	Partitions     []TransactionPartition
}

// TransactionPartition is a partition of an open transaction, or of one whose marker is not written there yet.
type TransactionPartition struct {
	Topic       string
	ID          int
	FirstOffset int64 // of its first record there, -1 for none
}
