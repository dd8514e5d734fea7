package config

import "math"

// producerRows are the producer's properties (Kafka: ProducerConfig).
func producerRows() []Property {
	return owned(OwnerProducer, append(producerModelled(), producerAbsent()...))
}

func producerModelled() []Property {
	acks := Property{Name: "acks", Type: String, Default: "all", Valid: "[all, -1, 0, 1]", only: []string{"all", "-1", "0", "1"},
		Modelled: true, field: p(func(c *Producer) any { return &c.Acks }),
		Doc: "How many copies must exist before a send counts as done: 0 asks nobody, 1 asks the leader, all asks every replica in the ISR."}
	idem := boolean("enable.idempotence", "true", p(func(c *Producer) any { return &c.EnableIdempotence }),
		"Whether the broker recognises and drops a retried batch that it already has; needs acks=all, and gives way to other acks unless it is set.")
	table := Property{Name: "kafkalab.partitioner.table", Type: Table, Default: "null", Valid: "key=partition,key=partition,…", Modelled: true,
		field: p(func(c *Producer) any { return &c.PartitionTable }),
		Doc:   "The simulator's own: a custom partitioner that looks keys up in this table and hashes the others; in Kafka one would write a partitioner.class."}
	levels := levelRows(func(f func(*Levels) any) func(any) any { return p(func(c *Producer) any { return f(&c.Levels) }) })
	return append(levels, []Property{
		acks, idem, table,
		protocol("security.protocol", p(func(c *Producer) any { return &c.SecurityProtocol }),
			"Whether the producer's connections are encrypted; then brokers must decrypt what it sends."),
		choice("compression.type", "none", producerCodecs, p(func(c *Producer) any { return &c.Compression }),
			"The codec of whole batches, which is chosen for all topics of the producer."),
		number("kafkalab.batch.max.records", "0", "records", 0, maxInt, "[0,…]", p(func(c *Producer) any { return &c.BatchRecords }),
			"The simulator's own: a batch also counts as full at so many records; 0 for no such limit."),
		number("batch.size", "16384", "bytes", 0, maxInt, "[0,…]", p(func(c *Producer) any { return &c.BatchSize }),
			"The size at which a batch is full and can be sent without waiting for linger.ms."),
		ms("linger.ms", "5", p(func(c *Producer) any { return &c.LingerMs }),
			"How long a batch that is not full waits for more records, counted from its first one."),
		number("buffer.memory", "33554432", "bytes", 0, maxLong, "[0,…]", p(func(c *Producer) any { return &c.BufferMemory }),
			"All the memory for records that wait to be sent; when it is used up, send() blocks."),
		ms("max.block.ms", "60000", p(func(c *Producer) any { return &c.MaxBlockMs }),
			"How long send() may block for metadata or buffer memory before the record fails."),
		number("max.request.size", "1048576", "bytes", 0, maxInt, "[0,…]", p(func(c *Producer) any { return &c.MaxRequestSize }),
			"The largest request, and so the largest record, that the producer sends."),
		number("max.in.flight.requests.per.connection", "5", "", 1, maxInt, "[1,…]", p(func(c *Producer) any { return &c.MaxInFlight }),
			"How many requests may be on the way to one broker without an answer; above 1, a retry can change the order of records."),
		number("retries", "2147483647", "", 0, maxInt, "[0,…,2147483647]", p(func(c *Producer) any { return &c.Retries }),
			"How often a batch is sent again after an error that may pass; delivery.timeout.ms usually ends it first."),
		ms("retry.backoff.ms", "100", p(func(c *Producer) any { return &c.RetryBackoffMs }),
			"How long a failed batch waits before its first retry; each further wait is twice as long."),
		ms("retry.backoff.max.ms", "1000", p(func(c *Producer) any { return &c.RetryBackoffMaxMs }),
			"The longest wait before a retry."),
		msInt("request.timeout.ms", "30000", p(func(c *Producer) any { return &c.RequestTimeoutMs }),
			"How long the producer waits for an answer before it closes the connection, and how long the broker waits for the ISR with acks=all."),
		msInt("delivery.timeout.ms", "120000", p(func(c *Producer) any { return &c.DeliveryTimeoutMs }),
			"How long after its batch was opened a record may take, retries included, before it fails."),
		ms("metadata.max.age.ms", "300000", p(func(c *Producer) any { return &c.MetadataMaxAgeMs }),
			"After how long the producer asks for the leaders again even if nothing went wrong."),
		ms("reconnect.backoff.ms", "50", p(func(c *Producer) any { return &c.ReconnectBackoffMs }),
			"How long the producer waits before it connects again to a broker that it lost."),
		ms("reconnect.backoff.max.ms", "1000", p(func(c *Producer) any { return &c.ReconnectBackoffMax }),
			"The longest wait before it connects again."),
		{Name: "partitioner.class", Type: Class, Default: "null", Valid: "null, RoundRobinPartitioner; before 4.0 also UniformStickyPartitioner, DefaultPartitioner", Modelled: true,
			field: p(func(c *Producer) any { return &c.Partitioner }),
			Doc:   "A class of Kafka's that chooses partitions instead of the built-in rules; one's own is given to Producer.PartitionBy."},
		boolean("partitioner.adaptive.partitioning.enable", "true", p(func(c *Producer) any { return &c.Adaptive }),
			"Whether records without a key prefer partitions with fewer batches waiting."),
		ms("partitioner.availability.timeout.ms", "0", p(func(c *Producer) any { return &c.AvailabilityTimeoutMs }),
			"After how long a partition whose broker takes no requests is left out for records without a key; 0 for never."),
		boolean("partitioner.ignore.keys", "false", p(func(c *Producer) any { return &c.PartitionerIgnoreKey }),
			"Whether records with a key are spread like those without one."),
		{Name: "transactional.id", Type: String, Default: "null", Valid: "non-empty string", Modelled: true, field: p(func(c *Producer) any { return &c.TransactionalID }),
			Doc: "The name that lets a restarted producer end what its former self began; with it records are sent in transactions."},
		number("transaction.timeout.ms", "60000", "ms", math.MinInt32, maxInt, "", p(func(c *Producer) any { return &c.TransactionTimeoutMs }),
			"How long a transaction may stay open before its coordinator aborts it; at most the brokers' transaction.max.timeout.ms."),
	}...)
}

func producerAbsent() []Property {
	return append(clientAbsent(), []Property{
		absent("client.id", String, "", "give the name to NewProducer", "The name under which brokers know the client."),
		absent("enable.metrics.push", Boolean, "true", needsMetrics, "Whether the client sends its metrics to the cluster."),
		absent("interceptor.classes", List, "", "", "Classes that see each record before it is sent."),
		absent("key.serializer", Class, "null", needsSerde, "The class that turns keys into bytes."),
		absent("value.serializer", Class, "null", needsSerde, "The class that turns values into bytes."),
		absent("metadata.max.idle.ms", Long, "300000", "", "After how long an unused topic is forgotten."),
		absent("transaction.two.phase.commit.enable", Boolean, "false", needsTwoPhase, "Whether somebody outside decides about prepared transactions."),
	}...)
}

// clientAbsent are the connection properties that producers and consumers share.
func clientAbsent() []Property {
	rows := []Property{
		absent("bootstrap.servers", List, "", needsWire, "The hosts that a client asks first."),
		absent("client.dns.lookup", String, "use_all_dns_ips", needsWire, "How host names become addresses."),
		absent("config.providers", List, "", "", "Classes that fetch values of properties from elsewhere."),
		absent("connections.max.idle.ms", Long, "540000", needsWire, "After how long an idle connection is closed."),
		absent("metadata.recovery.strategy", String, "rebootstrap", "", "What a client does when it knows no broker that answers."),
		absent("metadata.recovery.rebootstrap.trigger.ms", Long, "300000", "", "After how long without metadata a client starts anew."),
		absent("metric.reporters", List, "", needsMetrics, "Classes that receive metrics."),
		absent("metrics.num.samples", Int, "2", needsMetrics, "How many samples a metric keeps."),
		absent("metrics.recording.level", String, "INFO", needsMetrics, "How much is measured."),
		absent("metrics.sample.window.ms", Long, "30000", needsMetrics, "How long a sample is."),
		absent("receive.buffer.bytes", Int, "32768", needsWire, "The size of the socket's receive buffer."),
		absent("send.buffer.bytes", Int, "131072", needsWire, "The size of the socket's send buffer."),
		absent("security.providers", String, "null", needsWire, "Java security providers."),
		absent("socket.connection.setup.timeout.ms", Long, "10000", needsWire, "How long connecting may take."),
		absent("socket.connection.setup.timeout.max.ms", Long, "30000", needsWire, "The longest that connecting may take."),
	}
	for _, n := range securityNames {
		rows = append(rows, absent(n, String, "null", needsWire, "Part of how connections are protected."))
	}
	return rows
}

// securityNames are the TLS and SASL properties that every client and broker has.
var securityNames = []string{
	"sasl.client.callback.handler.class", "sasl.jaas.config", "sasl.kerberos.kinit.cmd",
	"sasl.kerberos.min.time.before.relogin", "sasl.kerberos.service.name", "sasl.kerberos.ticket.renew.jitter",
	"sasl.kerberos.ticket.renew.window.factor", "sasl.login.callback.handler.class", "sasl.login.class",
	"sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms", "sasl.login.refresh.buffer.seconds",
	"sasl.login.refresh.min.period.seconds", "sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter",
	"sasl.login.retry.backoff.max.ms", "sasl.login.retry.backoff.ms", "sasl.mechanism",
	"sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer", "sasl.oauthbearer.jwks.endpoint.url",
	"sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.token.endpoint.url",
	"ssl.cipher.suites", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm", "ssl.engine.factory.class",
	"ssl.key.password", "ssl.keymanager.algorithm", "ssl.keystore.certificate.chain", "ssl.keystore.key",
	"ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type", "ssl.protocol", "ssl.provider",
	"ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "ssl.truststore.certificates",
	"ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type",
}
