package config

// Coordinators: the internal topics that they keep their state in, and the transaction coordinator's own
// properties (Kafka: TransactionLogConfig, TransactionStateManagerConfig, AddPartitionsToTxnConfig,
// GroupCoordinatorConfig).

// InternalTopic is how an internal topic is made when it is first needed.
type InternalTopic struct {
	Partitions        int32
	ReplicationFactor int32
	MinISR            int32 // 0 for the broker's own default
	SegmentBytes      int64
}

// Transactions holds the properties of the transaction coordinator that are modelled.
type Transactions struct {
	Log              InternalTopic // transaction.state.log.…
	MaxTimeoutMs     int64         // transaction.max.timeout.ms
	IDExpirationMs   int64         // transactional.id.expiration.ms
	AbortIntervalMs  int64         // transaction.abort.timed.out.transaction.cleanup.interval.ms
	ExpireIntervalMs int64         // transaction.remove.expired.transaction.cleanup.interval.ms
	AddBackoffMs     int64         // add.partitions.to.txn.retry.backoff.ms
	AddBackoffMaxMs  int64         // add.partitions.to.txn.retry.backoff.max.ms
	VerifyPartitions bool          // transaction.partition.verification.enable
}

// coordinatorModelled are the rows of what is above (facts: §9.3, §9.4).
func coordinatorModelled() []Property {
	return []Property{
		number("offsets.topic.num.partitions", "50", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.OffsetsTopic.Partitions }),
			"The number of partitions of __consumer_offsets, which is made when a group's coordinator is first looked for."),
		number("offsets.topic.replication.factor", "3", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.OffsetsTopic.ReplicationFactor }),
			"The replication factor of __consumer_offsets; with fewer brokers the topic cannot be made, and groups do not work."),
		number("offsets.topic.segment.bytes", "104857600", "bytes", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.OffsetsTopic.SegmentBytes }),
			"The segment size of __consumer_offsets."),
		number("transaction.state.log.num.partitions", "50", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.Log.Partitions }),
			"The number of partitions of __transaction_state, which is made when a transaction coordinator is first looked for."),
		number("transaction.state.log.replication.factor", "3", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.Log.ReplicationFactor }),
			"The replication factor of __transaction_state; with fewer brokers the topic cannot be made, and transactions do not work."),
		number("transaction.state.log.min.isr", "2", "replicas", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.Log.MinISR }),
			"The min.insync.replicas of __transaction_state."),
		number("transaction.state.log.segment.bytes", "104857600", "bytes", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.Log.SegmentBytes }),
			"The segment size of __transaction_state."),
		number("transaction.max.timeout.ms", "900000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.MaxTimeoutMs }),
			"The longest transaction.timeout.ms that a producer may ask for."),
		number("transactional.id.expiration.ms", "604800000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.IDExpirationMs }),
			"After how long without a transaction a coordinator forgets a transactional id."),
		number("transaction.abort.timed.out.transaction.cleanup.interval.ms", "10000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.AbortIntervalMs }),
			"How often a coordinator looks for transactions that are open for longer than their timeout."),
		number("transaction.remove.expired.transaction.cleanup.interval.ms", "3600000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.ExpireIntervalMs }),
			"How often a coordinator looks for transactional ids that are to be forgotten."),
		number("add.partitions.to.txn.retry.backoff.ms", "20", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Transactions.AddBackoffMs }),
			"How long a partition leader waits before it asks the coordinator again to add its partition, while the transaction before is not complete."),
		number("add.partitions.to.txn.retry.backoff.max.ms", "100", "ms", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.Transactions.AddBackoffMaxMs }),
			"How long it goes on asking before the producer is told CONCURRENT_TRANSACTIONS."),
		boolean("transaction.partition.verification.enable", "true", b(func(c *Broker) any { return &c.Transactions.VerifyPartitions }),
			"Whether a partition leader asks the coordinator, before it appends a transaction's first batch, whether the transaction knows the partition."),
	}
}
