package machine

import "kafkalab/kafkasim/partlog"

// Requests and responses between nodes, named after Kafka's APIs. Slices inside payloads are immutable.

// MetadataRequest asks a broker for topics by name and for the live brokers (API 3).
type MetadataRequest struct{ Topics []string } // nil for all there are

// MetadataResponse is the asked broker's own view, as old as its metadata offset.
type MetadataResponse struct {
	Brokers []NodeID // unfenced ones (R3.9)
	Topics  []TopicMetadata
}

// TopicMetadata is one topic of a MetadataResponse.
type TopicMetadata struct {
	Name       string
	Topic      int32 // -1 with an error
	Error      Code
	Partitions []PartitionMetadata
}

// PartitionMetadata is one partition of a MetadataResponse.
type PartitionMetadata struct {
	Error       Code   // LEADER_NOT_AVAILABLE without a live leader
	Leader      NodeID // NoNode for none
	LeaderEpoch int32
	Replicas    []NodeID
	ISR         []NodeID
}

// ProduceRequest carries at most one batch per partition (API 0).
type ProduceRequest struct {
	Acks      int8
	TimeoutMs int64
	// TransactionalID is "" outside transactions; Version is the protocol of transactions that the client speaks.
	TransactionalID string
	Version         int8
	Parts           []ProducePart
}

// ProducePart is one partition's batch.
type ProducePart struct {
	TP    TopicPartition
	Batch partlog.Batch
}

// ProduceResponse answers each partition of a ProduceRequest, in its order; acks=0 gets none.
type ProduceResponse struct {
	Parts      []ProduceResult
	ThrottleMs int64 // how long the client is to be silent (KIP-219)
}

// ProduceResult is one partition's answer. Leader and LeaderEpoch are KIP-951's hint with
// NOT_LEADER_OR_FOLLOWER; NoNode when the broker does not know better.
type ProduceResult struct {
	TP             TopicPartition
	Error          Code
	BaseOffset     int64 // -1 on error
	LogStartOffset int64
	Leader         NodeID
	LeaderEpoch    int32
}

// FetchRequest is a follower's or a consumer's (API 1).
type FetchRequest struct {
	Replica     NodeID // the follower's broker id, NoNode for a consumer
	BrokerEpoch int64  // the follower's (KIP-903), -1 for a consumer
	MaxWaitMs   int64
	MinBytes    int64
	MaxBytes    int64
	Committed   bool   // isolation level read_committed (T-45)
	Rack        string // the consumer's (KIP-392), "" for none
	// The session that the request belongs to (KIP-227). A full one, of InitialFetchEpoch or FinalFetchEpoch,
	// names all partitions; another one those that are new or asked otherwise than before.
	SessionID, SessionEpoch int32
	Parts                   []FetchPart
	Forgotten               []TopicPartition // of the session's partitions, those that are asked for no more
}

// FetchPart is one partition of a FetchRequest.
type FetchPart struct {
	TP               TopicPartition
	FetchOffset      int64
	LeaderEpoch      int32 // the epoch that the fetcher believes in; -1 for "do not check"
	LastFetchedEpoch int32 // of the fetcher's last record, -1 for none (KIP-595)
	LogStartOffset   int64 // the follower's, -1 for a consumer
	MaxBytes         int64
}

// FetchResponse answers a FetchRequest: a full one for each partition, in its order, one of a session for those
// that there is news of.
type FetchResponse struct {
	Error     Code  // of the session as a whole
	SessionID int32 // 0 for none
	Parts     []FetchResult
	// ThrottleMs is how long the client is to be silent. Such an answer is empty, and says nothing of partitions.
	ThrottleMs int64
}

// FetchResult is one partition's answer.
type FetchResult struct {
	TP             TopicPartition
	Error          Code
	HighWatermark  int64
	LastStable     int64
	LogStartOffset int64
	Batches        []partlog.Batch
	Aborted        []partlog.AbortedTransaction // with read_committed: those that overlap Batches (T-46)
	// Diverging says where the fetcher's log parts from the leader's; Epoch -1 for "it does not".
	Diverging EpochEnd
	// Leader and LeaderEpoch are KIP-951's hint with NOT_LEADER_OR_FOLLOWER or FENCED_LEADER_EPOCH.
	Leader      NodeID
	LeaderEpoch int32
	// PreferredReplica is where a consumer had better fetch (KIP-392), NoNode for here.
	PreferredReplica NodeID
}

// EpochEnd is an epoch and the offset where it ends (R1.6); Epoch -1 and Offset -1 are "undefined".
type EpochEnd struct {
	Epoch  int32
	Offset int64
}

// ListOffsetsRequest asks for offsets by timestamp (API 2).
type ListOffsetsRequest struct {
	Replica   NodeID // the follower's broker id, NoNode for a consumer
	Committed bool   // isolation level read_committed
	Parts     []ListOffsetsPart
}

// Timestamps with a meaning of their own in ListOffsets.
const (
	LatestTimestamp   int64 = -1
	EarliestTimestamp int64 = -2
	MaxTimestamp      int64 = -3 // of the record with the largest timestamp (KIP-734)
)

// ListOffsetsPart is one partition of a ListOffsetsRequest.
type ListOffsetsPart struct {
	TP          TopicPartition
	Timestamp   int64
	LeaderEpoch int32
}

// ListOffsetsResponse answers each partition, in order.
type ListOffsetsResponse struct{ Parts []ListOffsetsResult }

// ListOffsetsResult is one partition's answer; Offset -1 with an error or when none is that new.
type ListOffsetsResult struct {
	TP          TopicPartition
	Error       Code
	Offset      int64
	LeaderEpoch int32
}

// OffsetsForLeaderEpochRequest asks where epochs end (API 23; R2.11c, C-41).
type OffsetsForLeaderEpochRequest struct{ Parts []EpochQuery }

// EpochQuery is one partition: the epoch the asker believes in and the one it asks about.
type EpochQuery struct {
	TP           TopicPartition
	CurrentEpoch int32
	Epoch        int32
}

// OffsetsForLeaderEpochResponse answers each partition, in order.
type OffsetsForLeaderEpochResponse struct{ Parts []EpochAnswer }

// EpochAnswer is one partition's answer.
type EpochAnswer struct {
	TP    TopicPartition
	Error Code
	End   EpochEnd
}

// InitProducerIDRequest asks for a producer id (API 22): any broker without a transactional id (P-81), else the
// coordinator (T-10). Only there the rest counts: ProducerID and ProducerEpoch are what the client has, -1 for
// nothing (KIP-360).
type InitProducerIDRequest struct {
	TransactionalID string // "" for none
	TimeoutMs       int64  // transaction.timeout.ms
	ProducerID      int64
	ProducerEpoch   int16
}

// InitProducerIDResponse hands one out.
type InitProducerIDResponse struct {
	Error         Code
	ProducerID    int64
	ProducerEpoch int16
}

func (Disconnected) payload()                  {}
func (MetadataRequest) payload()               {}
func (MetadataResponse) payload()              {}
func (ProduceRequest) payload()                {}
func (ProduceResponse) payload()               {}
func (FetchRequest) payload()                  {}
func (FetchResponse) payload()                 {}
func (ListOffsetsRequest) payload()            {}
func (ListOffsetsResponse) payload()           {}
func (OffsetsForLeaderEpochRequest) payload()  {}
func (OffsetsForLeaderEpochResponse) payload() {}
func (InitProducerIDRequest) payload()         {}
func (InitProducerIDResponse) payload()        {}
