package config

import "slices"

// consumerRows are the consumer's properties (Kafka: ConsumerConfig).
func consumerRows() []Property {
	return owned(OwnerConsumer, slices.Concat(consumerModelled(), memberModelled(), shareConsumerModelled(), consumerAbsent()))
}

func consumerModelled() []Property {
	reset := choice("auto.offset.reset", "latest", []string{"latest", "earliest", "none"}, c(func(c *Consumer) any { return &c.AutoOffsetReset }),
		"Where a consumer without a position starts, and where it goes when its position is out of range.")
	reset.texts = "The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
	reset.Valid = "[latest, earliest, none, by_duration:<ISO-8601 duration>]"
	rack := Property{Name: "client.rack", Type: String, Default: "", Modelled: true, field: c(func(c *Consumer) any { return &c.ClientRack }),
		Doc: "The rack that the consumer is in, to read from a replica there if the brokers' replica.selector.class looks at racks."}
	isolation := choice("isolation.level", "read_uncommitted", []string{"read_uncommitted", "read_committed"}, c(func(c *Consumer) any { return &c.IsolationLevel }),
		"Whether records of open and aborted transactions are handed out; read_committed stops at the first open one.")
	isolation.texts = "String must be one of: read_committed, read_uncommitted"
	return []Property{
		reset, rack, isolation,
		protocol("security.protocol", c(func(c *Consumer) any { return &c.SecurityProtocol }),
			"Whether the consumer's connections are encrypted; then brokers must copy what they could send straight from the page cache."),
		number("fetch.min.bytes", "1", "bytes", 0, maxInt, "[0,…]", c(func(c *Consumer) any { return &c.FetchMinBytes }),
			"How much must be there before a broker answers a fetch at once; else it holds the fetch back."),
		msInt("fetch.max.wait.ms", "500", c(func(c *Consumer) any { return &c.FetchMaxWaitMs }),
			"How long a broker holds back a fetch that fetch.min.bytes is not there for."),
		number("fetch.max.bytes", "52428800", "bytes", 0, maxInt, "[0,…]", c(func(c *Consumer) any { return &c.FetchMaxBytes }),
			"About how much one fetch returns; a first batch that is larger comes all the same."),
		number("max.partition.fetch.bytes", "1048576", "bytes", 0, maxInt, "[0,…]", c(func(c *Consumer) any { return &c.MaxPartitionFetchBytes }),
			"About how much one fetch returns of one partition."),
		number("max.poll.records", "500", "records", 1, maxInt, "[1,…]", c(func(c *Consumer) any { return &c.MaxPollRecords }),
			"The most records that one poll hands out; what is fetched does not depend on it."),
		msInt("request.timeout.ms", "30000", c(func(c *Consumer) any { return &c.RequestTimeoutMs }),
			"How long the consumer waits for an answer before it closes the connection."),
		ms("retry.backoff.ms", "100", c(func(c *Consumer) any { return &c.RetryBackoffMs }),
			"How long the consumer waits before it repeats a request that failed."),
		ms("retry.backoff.max.ms", "1000", c(func(c *Consumer) any { return &c.RetryBackoffMaxMs }),
			"The longest such wait."),
		ms("metadata.max.age.ms", "300000", c(func(c *Consumer) any { return &c.MetadataMaxAgeMs }),
			"After how long the consumer asks for the leaders again even if nothing went wrong."),
		ms("reconnect.backoff.ms", "50", c(func(c *Consumer) any { return &c.ReconnectBackoffMs }),
			"How long the consumer waits before it connects again to a broker that it lost."),
		ms("reconnect.backoff.max.ms", "1000", c(func(c *Consumer) any { return &c.ReconnectBackoffMax }),
			"The longest wait before it connects again."),
	}
}

func consumerAbsent() []Property {
	return append(clientAbsent(), []Property{
		absent("allow.auto.create.topics", Boolean, "true", "topics are made by CreateTopic", "Whether asking for a topic makes it."),
		absent("check.crcs", Boolean, "true", "", "Whether checksums are looked at."),
		absent("client.id", String, "", "give the name to NewConsumer", "The name under which brokers know the client."),
		absent("enable.metrics.push", Boolean, "true", needsMetrics, "Whether the client sends its metrics to the cluster."),
		absent("exclude.internal.topics", Boolean, "true", "name the topics", "Whether a pattern may match internal topics."),
		absent("interceptor.classes", List, "", "", "Classes that see records before the application does."),
		absent("key.deserializer", Class, "null", needsSerde, "The class that turns bytes into keys."),
		absent("value.deserializer", Class, "null", needsSerde, "The class that turns bytes into values."),
	}...)
}
