package view

// Trace is what happened between two moments, as a list of changes that a chart can fold into curves
// and frames. It starts from an empty cluster: the first changes are the registrations and topics.
type Trace struct {
	Tick        int64        // µs
	From, To    int64        // µs
	Brokers     []int        // every broker id that appears
	Controllers []Controller // as they were at From
	Partitions  []PartitionName
	Changes     []Change // by time; changes with one time are in the order in which they happened
}

// PartitionName names a partition and its assignment at the end of the trace.
type PartitionName struct {
	Topic    string
	ID       int
	Replicas []int
}

// Kind says what a Change reports and how its fields are to be read.
type Kind uint8

// The kinds of change. Broker and Partition are -1 where a kind does not name them.
const (
	BrokerState      Kind = iota + 1 // Broker: Text is the new state (view.Broker.State), "PAUSED" or "CRASHED"
	BrokerFenced                     // Broker: A is 1 when the controller fenced it, 0 when it unfenced it
	PartitionState                   // Partition at the controller: A leader (-1 none), B leader epoch, C partition epoch, List the ISR, List2 the ELR
	BecameLeader                     // Broker believes it leads Partition: A leader epoch, B log end offset
	BecameFollower                   // Broker follows A in epoch B
	Appended                         // Broker's log of Partition: A first offset, B new log end offset, C leader epoch, Records the records
	Truncated                        // Broker's log of Partition: A new log end offset, B old log end offset
	HighWatermark                    // Broker's high watermark of Partition moved: A new, B old
	LogStart                         // Broker's log start offset of Partition moved: A new, B old
	Sent                             // Client handed records for Partition to send(): A count
	Acked                            // Client learnt success for Partition: A first offset (-1 for acks=0), B count, C how long the first record waited, µs
	Failed                           // Client: records of Partition failed for good: A count, Text Kafka's error name
	Retried                          // Client puts a batch of Partition back: A records, Text the error that caused it
	Refused                          // Broker refused a request for Partition: Text Kafka's error name
	Consumed                         // Client's poll returned records of Partition: A first offset, B new position
	PositionSet                      // Client's position of Partition was set (assign, seek, reset): A offset
	Lost                             // acknowledged records of Partition are in no leader's log any more: A first offset, B count
	Command                          // a user's command: Text in words
	TransactionState                 // Client, a transactional id, is in Text at its coordinator Broker: A producer id, B epoch, C when its transaction began (ms, -1 none), List the partitions
	ProducerState                    // Client, a transactional producer, is in Text: A producer id, B epoch
	LastStable                       // Broker's last stable offset of Partition moved: A new, B old
	GroupState                       // Client is a group, Broker its coordinator: Text its state, A generation, B members
	OffsetCommitted                  // Client is a group, Broker its coordinator: A its committed offset of Partition, -1 for none any more
	Rebalanced                       // Client's rebalance listener, as a member of Group: Text "assigned", "revoked" or "lost", List indexes into Trace.Partitions, A generation or member epoch
	CommitFailed                     // Client's commit or poll failed: Text the exception
	Processed                        // Client's application has processed records of Partition: A first offset, B behind the last
	ControllerState                  // controller A is in Text, its state in the quorum, "ACTIVE", "PAUSED" or "CRASHED": B epoch, C leader (-1 none)
	StaleZkVersion                   // Broker could not write the ISR of Partition to ZooKeeper: A its cached zkVersion, B the one there
)

// Change is one change of something that a learner can see.
type Change struct {
	At        int64 // µs
	Kind      Kind
	Broker    int    // broker id or -1
	Partition int    // index into Trace.Partitions or -1
	Client    string // client id or ""
	Group     string // group id or "": only Rebalanced has one
	A, B, C   int64
	List      []int
	List2     []int
	Text      string
	Records   []Record
}

// Source is what a chart draws from: anything that can show itself now and tell what happened.
// *kafkasim.Cluster is one.
type Source interface {
	View() *Cluster
	Trace() *Trace
}
