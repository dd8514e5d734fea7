package config

import "slices"

// brokerRows are the properties of brokers and controllers (Kafka: KafkaConfig and its parts). World.Config takes them.
func brokerRows() []Property {
	rows := slices.Concat(brokerModelled(), coordinatorModelled(), groupsModelled(), shareModelled(), consumerGroupsModelled(), quotaRows(), brokerTopicDefaults(), brokerAbsent())
	for _, n := range securityNames {
		rows = append(rows, absent(n, String, "null", needsWire, "Part of how connections are protected."))
	}
	return owned(OwnerBroker, rows)
}

func brokerModelled() []Property {
	return []Property{
		number("producer.id.expiration.ms", "86400000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.ProducerIDExpirationMs }),
			"How long a log remembers the sequence of a producer that sends nothing to it; looked at every ten minutes."),
		protocol("security.inter.broker.protocol", b(func(c *Broker) any { return &c.InterBrokerProtocol }),
			"Whether connections between brokers are encrypted; then leaders must copy what followers fetch."),
		ms("replica.lag.time.max.ms", "30000", b(func(c *Broker) any { return &c.ReplicaLagTimeMaxMs }),
			"How long a follower may be behind before the leader takes it out of the ISR; the leader looks every half of it."),
		ms("replica.fetch.wait.max.ms", "500", b(func(c *Broker) any { return &c.ReplicaFetchWaitMaxMs }),
			"How long the leader holds back a follower's fetch when there is nothing new."),
		choice("replica.selector.class", "null", selectors, b(func(c *Broker) any { return &c.ReplicaSelector }),
			"Who decides which replica a consumer reads from: the leader itself, or by the rack of the consumer (client.rack) and those of the brokers."),
		number("max.incremental.fetch.session.cache.slots", "1000", "", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.MaxIncrementalFetchSessionCacheSlots }),
			"How many fetch sessions a broker keeps. Who gets none names all its partitions in every fetch."),
		number("replica.fetch.min.bytes", "1", "bytes", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.ReplicaFetchMinBytes }),
			"How much must be there before a follower's fetch is answered at once."),
		number("replica.fetch.max.bytes", "1048576", "bytes", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.ReplicaFetchMaxBytes }),
			"About how much one follower's fetch returns of one partition."),
		ms("replica.fetch.backoff.ms", "1000", b(func(c *Broker) any { return &c.ReplicaFetchBackoffMs }),
			"How long a follower waits after a fetch that failed."),
		ms("replica.socket.timeout.ms", "30000", b(func(c *Broker) any { return &c.ReplicaSocketTimeoutMs }),
			"How long a follower waits for the answer to a fetch."),
		ms("replica.high.watermark.checkpoint.interval.ms", "5000", b(func(c *Broker) any { return &c.ReplicaHighWatermarkCheckpointMs }),
			"How often a broker writes its high watermarks to disk; after a crash it starts from the last one written."),
		ms("broker.heartbeat.interval.ms", "2000", b(func(c *Broker) any { return &c.BrokerHeartbeatIntervalMs }),
			"How often a broker tells the controller that it lives."),
		ms("broker.session.timeout.ms", "9000", b(func(c *Broker) any { return &c.BrokerSessionTimeoutMs }),
			"After how long without heartbeat the controller fences a broker and moves its leaderships."),
		ms("initial.broker.registration.timeout.ms", "60000", b(func(c *Broker) any { return &c.InitialBrokerRegistrationTimeoutMs }),
			"How long a starting broker tries to register before it gives up."),
		number("num.partitions", "1", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.NumPartitions }),
			"The number of partitions of a topic that does not say."),
		number("default.replication.factor", "1", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.DefaultReplicationFactor }),
			"The replication factor of a topic that does not say."),
		boolean("auto.leader.rebalance.enable", "true", b(func(c *Broker) any { return &c.AutoLeaderRebalance }),
			"Whether leadership goes back to the first replica by itself."),
		number("leader.imbalance.check.interval.seconds", "300", "seconds", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.LeaderImbalanceCheckSeconds }),
			"How often the controller looks for leaderships to give back."),
		number("log.flush.scheduler.interval.ms", "9223372036854775807", "ms", 1, maxLong, "[1,…]", b(func(c *Broker) any { return &c.LogFlushSchedulerIntervalMs }),
			"How often a broker looks for logs whose flush.ms is over; by default never, so that flush.ms alone does nothing."),
		ms("unclean.leader.election.interval.ms", "300000", b(func(c *Broker) any { return &c.UncleanLeaderElectionIntervalMs }),
			"How often the controller looks for leaderless partitions that may be led by a replica outside the ISR."),
		number("controller.quorum.election.timeout.ms", "1000", "ms", 0, hour, "[0,3600000]", b(func(c *Broker) any { return &c.QuorumElectionTimeoutMs }),
			"How long an election among controllers may take before the next one; each is drawn between this and twice this."),
		number("controller.quorum.fetch.timeout.ms", "2000", "ms", 1, hour, "[1,3600000]", b(func(c *Broker) any { return &c.QuorumFetchTimeoutMs }),
			"How long a controller hears nothing from the quorum's leader before it asks for votes; a leader that no majority fetches from resigns after 1.5 times this."),
		number("controller.quorum.request.timeout.ms", "2000", "ms", 1, hour, "[1,3600000]", b(func(c *Broker) any { return &c.QuorumRequestTimeoutMs }),
			"How long a controller or broker waits for the answer to a request of the quorum."),
		number("controller.quorum.retry.backoff.ms", "20", "ms", 1, hour, "[1,3600000]", b(func(c *Broker) any { return &c.QuorumRetryBackoffMs }),
			"How long it waits after one that failed."),
		number("log.initial.task.delay.ms", "30000", "ms", 0, maxLong, "[0,…]", b(func(c *Broker) any { return &c.LogInitialTaskDelayMs }),
			"How long after its start a broker looks for old segments for the first time."),
		number("log.retention.check.interval.ms", "300000", "ms", 1, maxLong, "[1,…]", b(func(c *Broker) any { return &c.LogRetentionCheckIntervalMs }),
			"How often a broker looks for segments that are to be deleted."),
		number("log.cleaner.backoff.ms", "15000", "ms", 0, maxLong, "[0,…]", b(func(c *Broker) any { return &c.LogCleanerBackoffMs }),
			"How long the cleaner sleeps when no compacted log needs it."),
	}
}

// brokerTopicDefaults are the broker-level names of the topic properties.
func brokerTopicDefaults() []Property {
	names := map[string]string{"max.message.bytes": "message.max.bytes", "segment.bytes": "log.segment.bytes",
		"flush.messages": "log.flush.interval.messages", "flush.ms": "log.flush.interval.ms",
		"segment.ms": "log.roll.ms", "segment.jitter.ms": "log.roll.jitter.ms", "index.interval.bytes": "log.index.interval.bytes",
		"segment.index.bytes": "log.index.size.max.bytes", "cleanup.policy": "log.cleanup.policy", "retention.ms": "log.retention.ms",
		"retention.bytes": "log.retention.bytes", "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
		"delete.retention.ms": "log.cleaner.delete.retention.ms", "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
		"max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms"}
	var rows []Property
	for _, r := range topicModelled() {
		if n := names[r.Name]; n != "" {
			r.Name = n
		}
		field := r.field
		r.field = func(v any) any { return field(&v.(*Broker).Topic) }
		r.Doc = "The default for topics that do not set their own. " + r.Doc
		rows = append(rows, r)
	}
	return rows
}

func brokerAbsent() []Property {
	var rows []Property
	for _, g := range brokerAbsentNames {
		for _, n := range g.names {
			rows = append(rows, absent(n[0], String, n[1], g.missing, "A real broker property."))
		}
	}
	return rows
}

// brokerAbsentNames are real broker properties that are not modelled, with their defaults, by what
// they would need.
var brokerAbsentNames = []struct {
	missing string
	names   [][2]string
}{
	{"use log.retention.ms", [][2]string{{"log.retention.hours", "168"}, {"log.retention.minutes", "null"}}},
	{"use log.roll.ms and log.roll.jitter.ms", [][2]string{{"log.roll.hours", "168"}, {"log.roll.jitter.hours", "0"}}},
	{"each broker has one cleaner thread, whose passes take no time", [][2]string{
		{"log.cleaner.dedupe.buffer.size", "134217728"}, {"log.cleaner.enable", "true"}, {"log.cleaner.threads", "1"},
		{"log.cleaner.io.buffer.load.factor", "0.9"}, {"log.cleaner.io.buffer.size", "524288"},
		{"log.cleaner.io.max.bytes.per.second", "1.7976931348623157E308"},
	}},
	{needsTiers, [][2]string{{"log.local.retention.bytes", "-2"}, {"log.local.retention.ms", "-2"}, {"remote.log.storage.system.enable", "false"}}},
	{"", [][2]string{
		{"log.segment.delete.delay.ms", "60000"}, {"delete.records.purgatory.purge.interval.requests", "1"}, {"delete.topic.enable", "true"},
	}},
	{"the page cache is flushed at a clean stop and when a segment is full", [][2]string{
		{"log.flush.offset.checkpoint.interval.ms", "60000"},
		{"log.flush.start.offset.checkpoint.interval.ms", "60000"}, {"log.preallocate", "false"},
		{"log.dir", "/tmp/kafka-logs"}, {"log.dirs", "null"},
		{"log.dir.failure.timeout.ms", "30000"}, {"num.recovery.threads.per.data.dir", "2"},
	}},
	{"records keep the producer's time", [][2]string{
		{"log.message.timestamp.after.max.ms", "3600000"}, {"log.message.timestamp.before.max.ms", "9223372036854775807"},
		{"log.message.timestamp.type", "CreateTime"},
	}},
	{needsQuorum, [][2]string{
		{"controller.listener.names", "null"}, {"controller.quorum.append.linger.ms", "25"}, {"controller.quorum.auto.join.enable", "false"},
		{"controller.quorum.bootstrap.servers", ""}, {"controller.quorum.election.backoff.max.ms", "1000"},
		{"controller.quorum.voters", ""},
		{"controller.socket.timeout.ms", "30000"}, {"metadata.log.dir", "null"}, {"metadata.log.max.record.bytes.between.snapshots", "20971520"},
		{"metadata.log.max.snapshot.interval.ms", "3600000"}, {"metadata.log.segment.bytes", "1073741824"}, {"metadata.log.segment.ms", "604800000"},
		{"metadata.max.idle.interval.ms", "500"}, {"metadata.max.retention.bytes", "104857600"}, {"metadata.max.retention.ms", "604800000"},
		{"process.roles", ""}, {"node.id", "null"}, {"broker.id", "-1"}, {"controller.performance.sample.period.ms", "60000"},
		{"controller.performance.always.log.threshold.ms", "2000"},
	}},
	{"use World.Racks", [][2]string{{"broker.rack", "null"}}},
	{"groups have what they have by default", [][2]string{
		{"group.coordinator.append.linger.ms", "-1"}, {"group.coordinator.rebalance.protocols", "classic, consumer, streams"},
		{"group.coordinator.threads", "4"}, {"offsets.load.buffer.size", "5242880"}, {"offsets.topic.compression.codec", "0"},
	}},
	{"loading takes a time for each record", [][2]string{{"transaction.state.log.load.buffer.size", "5242880"}}},
	{needsTwoPhase, [][2]string{{"transaction.two.phase.commit.enable", "false"}}},
	{"topics are made by CreateTopic", [][2]string{{"auto.create.topics.enable", "true"}, {"create.topic.policy.class.name", "null"}, {"alter.config.policy.class.name", "null"}}},
	{"quotas go by user and client id", [][2]string{{"client.quota.callback.class", "null"}}},
	{needsWire, [][2]string{
		{"advertised.listeners", "null"}, {"listeners", "PLAINTEXT://:9092"}, {"listener.security.protocol.map", ""}, {"inter.broker.listener.name", "null"},
		{"max.connections", "2147483647"}, {"max.connections.per.ip", "2147483647"},
		{"connections.max.idle.ms", "600000"}, {"connections.max.reauth.ms", "0"}, {"socket.listen.backlog.size", "50"},
		{"socket.receive.buffer.bytes", "102400"}, {"socket.send.buffer.bytes", "102400"}, {"socket.request.max.bytes", "104857600"},
		{"replica.socket.receive.buffer.bytes", "65536"}, {"authorizer.class.name", ""}, {"super.users", ""}, {"principal.builder.class", "null"},
		{"num.network.threads", "3"}, {"num.io.threads", "8"}, {"background.threads", "10"}, {"queued.max.requests", "500"}, {"early.start.listeners", "null"},
	}},
	{needsMetrics, [][2]string{
		{"metric.reporters", ""}, {"metrics.num.samples", "2"}, {"metrics.recording.level", "INFO"}, {"metrics.sample.window.ms", "30000"},
		{"kafka.metrics.reporters", ""}, {"kafka.metrics.polling.interval.secs", "10"},
	}},
	{"", [][2]string{
		{"controlled.shutdown.enable", "true"}, {"fetch.max.bytes", "57671680"}, {"fetch.purgatory.purge.interval.requests", "1000"},
		{"num.replica.fetchers", "1"}, {"num.replica.alter.log.dirs.threads", "null"},
		{"producer.purgatory.purge.interval.requests", "1000"}, {"replica.fetch.response.max.bytes", "10485760"}, {"request.timeout.ms", "30000"},
		{"max.request.partition.size.limit", "2000"}, {"unstable.api.versions.enable", "false"},
		{"unstable.feature.versions.enable", "false"}, {"server.max.startup.time.ms", "9223372036854775807"},
	}},
}
