package view

// Segment is one file of a replica's log.
type Segment struct {
	BaseOffset   int64
	NextOffset   int64 // of the first record behind it
	Records      int   // that it still holds: fewer than NextOffset-BaseOffset after compaction
	Bytes        int64
	MaxTimestamp int64 // ms; 0 in an empty segment
	Active       bool  // the last one, which takes appends
}

// BatchState says where a producer's batch is.
type BatchState uint8

// The places of a batch in a producer.
const (
	BatchFilling  BatchState = iota // takes more records
	BatchReady                      // full, or closed; waits for the sender
	BatchRetry                      // was put back and waits for another attempt
	BatchInFlight                   // in a request that has no answer yet
)

// String names the place in words.
func (s BatchState) String() string {
	return [...]string{"filling", "ready", "waits for a retry", "in flight"}[s]
}

// ProducerBatch is one batch of a producer's accumulator, or on its way.
type ProducerBatch struct {
	Topic     string
	Partition int
	State     BatchState
	Broker    int // that it is in flight to, -1 otherwise
	Records   []Record
	Bytes     int
	Limit     int   // bytes it may hold
	Created   int64 // µs
	Attempts  int   // so far
	Sequence  int   // base sequence of an idempotent producer, -1 before it is drained or without idempotence
}

// MetadataRecord is one record of a controller's metadata log.
type MetadataRecord struct {
	Offset int64
	Epoch  int    // of the quorum
	Kind   string // Kafka's name: "PartitionChangeRecord"
}

// ProducerLimits are the properties that decide when a batch leaves.
type ProducerLimits struct {
	BatchSize    int   // batch.size
	LingerMs     int64 // linger.ms
	MaxInFlight  int   // max.in.flight.requests.per.connection
	BufferMemory int64 // buffer.memory
	BufferUsed   int64 // bytes of it in use now
	IsIdempotent bool  // enable.idempotence
	BatchRecords int   // records at which a batch of the page's world is full, 0 for no such limit
}
