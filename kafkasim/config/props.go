// Package config is the table of Kafka properties: which exist, whose they are, their type, default and
// meaning, and which of them this simulator models. A learner writes Kafka's own names; the table turns
// them into the typed structs below, which the machine reads.
//
// Units follow the property's own suffix: fields ending in Ms are milliseconds, Bytes are bytes.
package config

// Broker holds the broker and controller properties that are modelled.
type Broker struct {
	ReplicaLagTimeMaxMs                int64    // replica.lag.time.max.ms
	ReplicaFetchWaitMaxMs              int64    // replica.fetch.wait.max.ms
	ReplicaFetchMinBytes               int64    // replica.fetch.min.bytes
	ReplicaFetchMaxBytes               int64    // replica.fetch.max.bytes, per partition
	ReplicaFetchBackoffMs              int64    // replica.fetch.backoff.ms
	ReplicaSocketTimeoutMs             int64    // replica.socket.timeout.ms
	ReplicaHighWatermarkCheckpointMs   int64    // replica.high.watermark.checkpoint.interval.ms
	BrokerHeartbeatIntervalMs          int64    // broker.heartbeat.interval.ms
	BrokerSessionTimeoutMs             int64    // broker.session.timeout.ms
	InitialBrokerRegistrationTimeoutMs int64    // initial.broker.registration.timeout.ms
	NumPartitions                      int32    // num.partitions
	DefaultReplicationFactor           int32    // default.replication.factor
	AutoLeaderRebalance                bool     // auto.leader.rebalance.enable
	LeaderImbalanceCheckSeconds        int64    // leader.imbalance.check.interval.seconds
	UncleanLeaderElectionIntervalMs    int64    // unclean.leader.election.interval.ms
	LogFlushSchedulerIntervalMs        int64    // log.flush.scheduler.interval.ms
	LogInitialTaskDelayMs              int64    // log.initial.task.delay.ms
	LogRetentionCheckIntervalMs        int64    // log.retention.check.interval.ms
	LogCleanerBackoffMs                int64    // log.cleaner.backoff.ms
	QuorumElectionTimeoutMs            int64    // controller.quorum.election.timeout.ms
	QuorumFetchTimeoutMs               int64    // controller.quorum.fetch.timeout.ms
	QuorumRequestTimeoutMs             int64    // controller.quorum.request.timeout.ms
	QuorumRetryBackoffMs               int64    // controller.quorum.retry.backoff.ms
	ProducerIDExpirationMs             int64    // producer.id.expiration.ms
	InterBrokerProtocol                Protocol // security.inter.broker.protocol
	Topic                              Topic    // defaults for topics that do not set their own
	// MaxIncrementalFetchSessionCacheSlots is max.incremental.fetch.session.cache.slots.
	MaxIncrementalFetchSessionCacheSlots int64
	ReplicaSelector                      Selector // replica.selector.class
	OffsetsTopic                         InternalTopic
	Transactions                         Transactions
	Groups                               Groups
	QuotaWindowNum                       int32 // quota.window.num
	QuotaWindowSizeSeconds               int64 // quota.window.size.seconds
	ReplicationQuotaWindowNum            int32 // replication.quota.window.num
	ReplicationQuotaWindowSizeSeconds    int64 // replication.quota.window.size.seconds
	ControllerQuota                      ControllerQuota
	ConsumerGroups                       ConsumerGroups
	Share                                ShareGroups
}

// Topic holds the topic properties that are modelled.
type Topic struct {
	MinInSyncReplicas           int32 // min.insync.replicas
	UncleanLeaderElectionEnable bool  // unclean.leader.election.enable
	MaxMessageBytes             int64 // max.message.bytes
	SegmentBytes                int64 // segment.bytes
	FlushMessages               int64 // flush.messages
	FlushMs                     int64 // flush.ms

	CleanupPolicy          Cleanup // cleanup.policy
	MinCleanableDirtyRatio Ratio   // min.cleanable.dirty.ratio
	RetentionMs            int64   // retention.ms, -1 for no limit
	RetentionBytes         int64   // retention.bytes, -1 for no limit
	SegmentMs              int64   // segment.ms; 0, which no property can be, is no limit
	DeleteRetentionMs      int64   // delete.retention.ms
	MinCompactionLagMs     int64   // min.compaction.lag.ms
	MaxCompactionLagMs     int64   // max.compaction.lag.ms; 0, which no property can be, is no limit

	// Which replicas are throttled (KIP-73): "partition:broker,…", "*" for all, "" for none.
	LeaderThrottled   Throttled // leader.replication.throttled.replicas
	FollowerThrottled Throttled // follower.replication.throttled.replicas

	Compression Compression // compression.type
	Levels                  // of a codec that batches get here
	Index       SegmentIndex
}

// SegmentIndex says how large a segment's index files become, and how evenly segments roll.
type SegmentIndex struct {
	IntervalBytes int64 // index.interval.bytes
	Bytes         int64 // segment.index.bytes; 0, which no property can be, is no limit
	JitterMs      int64 // segment.jitter.ms
}

// DefaultSegmentIndex has Kafka's defaults.
var DefaultSegmentIndex = SegmentIndex{IntervalBytes: 4096, Bytes: 10 << 20}

// Acks values of a producer; AcksAll is -1 on the wire too.
const (
	AcksNone   int8 = 0
	AcksLeader int8 = 1
	AcksAll    int8 = -1
)

// Producer holds the producer properties that are modelled.
type Producer struct {
	Acks                  int8        // acks
	BatchSize             int64       // batch.size
	BatchRecords          int32       // kafkalab.batch.max.records: a batch also is full at so many records; 0 for no limit
	LingerMs              int64       // linger.ms
	BufferMemory          int64       // buffer.memory
	MaxBlockMs            int64       // max.block.ms
	MaxRequestSize        int64       // max.request.size
	MaxInFlight           int32       // max.in.flight.requests.per.connection
	Retries               int32       // retries
	RetryBackoffMs        int64       // retry.backoff.ms
	RetryBackoffMaxMs     int64       // retry.backoff.max.ms
	RequestTimeoutMs      int64       // request.timeout.ms
	DeliveryTimeoutMs     int64       // delivery.timeout.ms
	MetadataMaxAgeMs      int64       // metadata.max.age.ms
	ReconnectBackoffMs    int64       // reconnect.backoff.ms
	ReconnectBackoffMax   int64       // reconnect.backoff.max.ms
	EnableIdempotence     bool        // enable.idempotence
	TransactionalID       string      // transactional.id, "" for none
	TransactionTimeoutMs  int64       // transaction.timeout.ms
	SecurityProtocol      Protocol    // security.protocol
	Partitioner           Partitioner // partitioner.class
	Adaptive              bool        // partitioner.adaptive.partitioning.enable
	AvailabilityTimeoutMs int64       // partitioner.availability.timeout.ms
	PartitionerIgnoreKey  bool        // partitioner.ignore.keys
	Compression           Compression // compression.type
	Levels
	// PartitionTable maps keys to partitions, in the order of the keys; it stands for a custom
	// partitioner.class (kafkalab.partitioner.table). Keys outside the table are hashed.
	PartitionTable []KeyPartition
}

// KeyPartition is one row of a table partitioner.
type KeyPartition struct {
	Key       string
	Partition int32
}

// Isolation says which records of transactions a consumer gets (isolation.level, T-45).
type Isolation uint8

// The isolation levels.
const (
	ReadUncommitted Isolation = iota
	ReadCommitted
)

// Consumer holds the consumer properties that are modelled.
type Consumer struct {
	AutoOffsetReset        Reset     // auto.offset.reset
	ClientRack             string    // client.rack; "" for none
	IsolationLevel         Isolation // isolation.level
	SecurityProtocol       Protocol  // security.protocol
	FetchMinBytes          int64     // fetch.min.bytes
	FetchMaxWaitMs         int64     // fetch.max.wait.ms
	FetchMaxBytes          int64     // fetch.max.bytes
	MaxPartitionFetchBytes int64     // max.partition.fetch.bytes
	MaxPollRecords         int32     // max.poll.records
	RequestTimeoutMs       int64     // request.timeout.ms
	RetryBackoffMs         int64     // retry.backoff.ms
	RetryBackoffMaxMs      int64     // retry.backoff.max.ms
	MetadataMaxAgeMs       int64     // metadata.max.age.ms
	ReconnectBackoffMs     int64     // reconnect.backoff.ms
	ReconnectBackoffMax    int64     // reconnect.backoff.max.ms
	Member                 Member
	Share                  ShareConsumer // of a share consumer
}
