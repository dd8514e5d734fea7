package config

import "slices"

// topicRows are the topic's properties (Kafka: TopicConfig, LogConfig).
func topicRows() []Property {
	return owned(OwnerTopic, slices.Concat(topicModelled(), throttledRows(), topicAbsent()))
}

func topicModelled() []Property {
	levels := levelRows(func(f func(*Levels) any) func(any) any { return t(func(c *Topic) any { return f(&c.Levels) }) })
	return append(levels, []Property{
		choice("compression.type", "producer", topicCodecs, t(func(c *Topic) any { return &c.Compression }),
			"The codec in which the topic is stored; producer keeps batches as they come."),
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
		number("segment.ms", "604800000", "ms", 1, maxLong, "[1,…]", t(func(c *Topic) any { return &c.SegmentMs }),
			"How much younger than a segment's first batch one may be that is still appended to it; only an append begins a new segment."),
		number("segment.jitter.ms", "0", "ms", 0, maxLong, "[0,…]", t(func(c *Topic) any { return &c.Index.JitterMs }),
			"How much earlier than segment.ms a segment may be rolled, by a draw for each, so that not all roll at once."),
		number("index.interval.bytes", "4096", "bytes", 0, maxInt, "[0,…]", t(func(c *Topic) any { return &c.Index.IntervalBytes }),
			"After how many bytes a batch gets an entry in the index of its segment."),
		number("segment.index.bytes", "10485760", "bytes", 4, maxInt, "[4,…]", t(func(c *Topic) any { return &c.Index.Bytes }),
			"How large an index file may become; when one is full the log goes on in a new segment."),
		{Name: "cleanup.policy", Type: List, Default: "delete", Valid: "[delete, compact]", Modelled: true,
			field: t(func(c *Topic) any { return &c.CleanupPolicy }),
			Doc:   "Whether old segments are deleted, compacted to the last value of each key, or both (compact,delete)."},
		number("retention.ms", "604800000", "ms", -1, maxLong, "[-1,…]", t(func(c *Topic) any { return &c.RetentionMs }),
			"How old the youngest record of a segment may be before the segment is deleted; -1 for no limit."),
		number("retention.bytes", "-1", "bytes", -1<<63, maxLong, "", t(func(c *Topic) any { return &c.RetentionBytes }),
			"How large a partition's log may be before its oldest segments are deleted; -1 for no limit."),
		{Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", Valid: "[0,…,1]", Modelled: true,
			field: t(func(c *Topic) any { return &c.MinCleanableDirtyRatio }),
			Doc:   "What part of a compacted log must not have been compacted yet before the cleaner looks at it."},
		number("delete.retention.ms", "86400000", "ms", 0, maxLong, "[0,…]", t(func(c *Topic) any { return &c.DeleteRetentionMs }),
			"How long a compacted log keeps a tombstone after the first pass that met it."),
		number("min.compaction.lag.ms", "0", "ms", 0, maxLong, "[0,…]", t(func(c *Topic) any { return &c.MinCompactionLagMs }),
			"How long a record stays out of compaction at least."),
		number("max.compaction.lag.ms", "9223372036854775807", "ms", 1, maxLong, "[1,…]", t(func(c *Topic) any { return &c.MaxCompactionLagMs }),
			"How long a record may stay out of compaction, whatever the dirty ratio."),
	}...)
}

func topicAbsent() []Property {
	rows := []Property{
		absent("message.timestamp.type", String, "CreateTime", "records keep the producer's time", "Whose clock stamps records."),
		absent("message.format.version", String, "3.0-IV1", noOldFormat, "The format in which brokers before 4.0 wrote records."),
		absent("message.downconversion.enable", Boolean, "true", noOldFormat, "Whether brokers before 4.0 converted records for old consumers."),
	}
	for _, r := range [...][3]string{
		{"file.delete.delay.ms", "60000", "files go at once"},
		{"local.retention.bytes", "-2", needsTiers},
		{"local.retention.ms", "-2", needsTiers},
		{"message.timestamp.after.max.ms", "3600000", ""}, {"message.timestamp.before.max.ms", "9223372036854775807", ""},

		{"preallocate", "false", ""}, {"remote.log.copy.disable", "false", needsTiers},
		{"remote.log.delete.on.disable", "false", needsTiers}, {"remote.storage.enable", "false", needsTiers},
	} {
		rows = append(rows, absent(r[0], Long, r[1], r[2], "A real topic property of how logs are kept."))
	}
	return rows
}
