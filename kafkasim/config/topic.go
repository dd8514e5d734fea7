package config

// topicRows are the topic's properties (Kafka: TopicConfig, LogConfig; kafka-replication.md §6).
func topicRows() []Property {
	return owned(OwnerTopic, append(topicModelled(), topicAbsent()...))
}

func topicModelled() []Property {
	return []Property{
		number("min.insync.replicas", "1", "replicas", 1, maxInt, "[1,…]", t(func(c *Topic) any { return &c.MinInSyncReplicas }),
			"How many replicas must be in the ISR for a write with acks=all to be taken and for the high watermark to move."),
		boolean("unclean.leader.election.enable", "false", t(func(c *Topic) any { return &c.UncleanLeaderElectionEnable }),
			"Whether a replica outside the ISR may lead when nobody else can, which loses what it does not have."),
		number("max.message.bytes", "1048588", "bytes", 0, maxInt, "[0,…]", t(func(c *Topic) any { return &c.MaxMessageBytes }),
			"The largest batch that the topic takes."),
		number("flush.messages", "9223372036854775807", "records", 1, maxLong, "[1,…]", t(func(c *Topic) any { return &c.FlushMessages }),
			"How many records a log may hold that are not on disk yet; by default nothing is flushed before a segment is full or the broker stops."),
		number("flush.ms", "9223372036854775807", "ms", 0, maxLong, "[0,…]", t(func(c *Topic) any { return &c.FlushMs }),
			"How long records may wait to be flushed to disk; looked at every log.flush.scheduler.interval.ms only."),
		number("segment.bytes", "1073741824", "bytes", 1<<20, maxInt, "[1048576,…]", t(func(c *Topic) any { return &c.SegmentBytes }),
			"The size at which a log goes on in a new segment file."),
	}
}

func topicAbsent() []Property {
	rows := []Property{
		absent("cleanup.policy", List, "delete", needsLog, "Whether old segments are deleted, compacted, or both."),
		absent("compression.type", String, "producer", needsCodec, "The codec in which the topic is stored."),
		absent("message.timestamp.type", String, "CreateTime", "records keep the producer's time", "Whose clock stamps records."),
	}
	for _, r := range [...][3]string{
		{"compression.gzip.level", "-1", needsCodec}, {"compression.lz4.level", "9", needsCodec},
		{"compression.zstd.level", "3", needsCodec}, {"delete.retention.ms", "86400000", needsLog},
		{"file.delete.delay.ms", "60000", needsLog}, {"follower.replication.throttled.replicas", "", ""}, {"index.interval.bytes", "4096", "logs have no index files"},
		{"leader.replication.throttled.replicas", "", ""}, {"local.retention.bytes", "-2", needsLog},
		{"local.retention.ms", "-2", needsLog}, {"max.compaction.lag.ms", "9223372036854775807", needsLog},
		{"message.timestamp.after.max.ms", "3600000", ""}, {"message.timestamp.before.max.ms", "9223372036854775807", ""},
		{"min.cleanable.dirty.ratio", "0.5", needsLog}, {"min.compaction.lag.ms", "0", needsLog},
		{"preallocate", "false", ""}, {"remote.log.copy.disable", "false", needsLog},
		{"remote.log.delete.on.disable", "false", needsLog}, {"remote.storage.enable", "false", needsLog},
		{"retention.bytes", "-1", needsLog}, {"retention.ms", "604800000", needsLog},
		{"segment.index.bytes", "10485760", "logs have no index files"}, {"segment.jitter.ms", "0", needsLog},
		{"segment.ms", "604800000", needsLog},
	} {
		rows = append(rows, absent(r[0], Long, r[1], r[2], "A real topic property of how logs are kept."))
	}
	return rows
}
