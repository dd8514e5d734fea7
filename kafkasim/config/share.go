package config

// Share groups (KIP-932): the brokers' properties (Kafka: ShareGroupConfig, ShareCoordinatorConfig,
// GroupCoordinatorConfig), a share consumer's, and those of one group (GroupConfig).

// ShareGroups holds the brokers' properties of share groups that are modelled. What is Min and Max bounds what a group may
// ask for.
type ShareGroups struct {
	RecordLockMs         int64 // group.share.record.lock.duration.ms
	DeliveryLimit        int32 // group.share.delivery.count.limit
	MaxRecordLocks       int32 // group.share.partition.max.record.locks
	MaxSessions          int32 // group.share.max.share.sessions
	HeartbeatIntervalMs  int64 // group.share.heartbeat.interval.ms
	SessionTimeoutMs     int64 // group.share.session.timeout.ms
	MaxSize              int32 // group.share.max.size
	AssignmentIntervalMs int64 // group.share.assignment.interval.ms
	StateTopic           InternalTopic
	UpdatesPerSnapshot   int32 // share.coordinator.snapshot.update.records.per.snapshot
	WriteTimeoutMs       int64 // share.coordinator.write.timeout.ms
	PruneIntervalMs      int64 // share.coordinator.state.topic.prune.interval.ms
	ColdIntervalMs       int64 // share.coordinator.cold.partition.snapshot.interval.ms

	MinRecordLockMs, MaxRecordLockMs                 int64 // group.share.{min,max}.record.lock.duration.ms
	MinDeliveryLimit, MaxDeliveryLimit               int32 // group.share.{min,max}.delivery.count.limit
	LeastRecordLocks, MostRecordLocks                int32 // group.share.{min,max}.partition.max.record.locks
	MinHeartbeatIntervalMs, MaxHeartbeatIntervalMs   int64 // group.share.{min,max}.heartbeat.interval.ms
	MinSessionTimeoutMs, MaxSessionTimeoutMs         int64 // group.share.{min,max}.session.timeout.ms
	MinAssignmentIntervalMs, MaxAssignmentIntervalMs int64 // group.share.{min,max}.assignment.interval.ms
}

// DefaultShareGroups are Kafka's defaults.
var DefaultShareGroups = ShareGroups{RecordLockMs: 30000, DeliveryLimit: 5, MaxRecordLocks: 2000, MaxSessions: 2000, HeartbeatIntervalMs: 5000,
	SessionTimeoutMs: 45000, MaxSize: 200, AssignmentIntervalMs: 1000,
	StateTopic: InternalTopic{Partitions: 50, ReplicationFactor: 3, MinISR: 2, SegmentBytes: 104857600}, UpdatesPerSnapshot: 500, WriteTimeoutMs: 5000, PruneIntervalMs: 300000, ColdIntervalMs: 300000,
	MinRecordLockMs: 15000, MaxRecordLockMs: 60000, MinDeliveryLimit: 2, MaxDeliveryLimit: 10, LeastRecordLocks: 100, MostRecordLocks: 4000,
	MinHeartbeatIntervalMs: 5000, MaxHeartbeatIntervalMs: 15000, MinSessionTimeoutMs: 45000, MaxSessionTimeoutMs: 60000,
	MinAssignmentIntervalMs: 0, MaxAssignmentIntervalMs: 15000}

// ShareConsumer holds a share consumer's own properties.
type ShareConsumer struct {
	Explicit    bool // share.acknowledgement.mode=explicit
	RecordLimit bool // share.acquire.mode=record_limit
}

// shareModelled are the brokers' rows (H-5, H-7, H-9, H-16, H-18, H-19).
func shareModelled() []Property {
	return []Property{
		number("group.share.record.lock.duration.ms", "30000", "ms", 1000, 3600000, "[1000,…,3600000]", b(func(c *Broker) any { return &c.Share.RecordLockMs }),
			"How long a record is locked for the member that acquired it."),
		number("group.share.min.record.lock.duration.ms", "15000", "ms", 1000, 30000, "[1000,…,30000]", b(func(c *Broker) any { return &c.Share.MinRecordLockMs }),
			"The shortest such time that a group may ask for."),
		number("group.share.max.record.lock.duration.ms", "60000", "ms", 30000, 3600000, "[30000,…,3600000]", b(func(c *Broker) any { return &c.Share.MaxRecordLockMs }),
			"The longest such time that a group may ask for."),
		number("group.share.delivery.count.limit", "5", "", 2, 10, "[2,…,10]", b(func(c *Broker) any { return &c.Share.DeliveryLimit }),
			"How often a record is delivered at most before it is archived."),
		number("group.share.min.delivery.count.limit", "2", "", 2, 5, "[2,…,5]", b(func(c *Broker) any { return &c.Share.MinDeliveryLimit }),
			"The lowest such limit that a group may ask for."),
		number("group.share.max.delivery.count.limit", "10", "", 5, 25, "[5,…,25]", b(func(c *Broker) any { return &c.Share.MaxDeliveryLimit }),
			"The highest such limit that a group may ask for."),
		number("group.share.min.partition.max.record.locks", "100", "records", 100, 2000, "[100,…,2000]", b(func(c *Broker) any { return &c.Share.LeastRecordLocks }),
			"The lowest limit of records in flight that a group may ask for."),
		number("group.share.max.partition.max.record.locks", "4000", "records", 2000, 10000, "[2000,…,10000]", b(func(c *Broker) any { return &c.Share.MostRecordLocks }),
			"The highest limit of records in flight that a group may ask for."),
		number("group.share.partition.max.record.locks", "2000", "records", 100, 10000, "[100,…,10000]", b(func(c *Broker) any { return &c.Share.MaxRecordLocks }),
			"How many records of a partition may be in flight in a group."),
		number("group.share.max.share.sessions", "2000", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.MaxSessions }),
			"How many share sessions a broker has."),
		number("group.share.heartbeat.interval.ms", "5000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.HeartbeatIntervalMs }),
			"How often the members of share groups are to say that they live."),
		number("group.share.session.timeout.ms", "45000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.SessionTimeoutMs }),
			"After how long without a heartbeat a member of a share group is taken for dead."),
		number("group.share.min.heartbeat.interval.ms", "5000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.MinHeartbeatIntervalMs }),
			"The shortest heartbeat interval that a share group may ask for."),
		number("group.share.max.heartbeat.interval.ms", "15000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.MaxHeartbeatIntervalMs }),
			"The longest heartbeat interval that a share group may ask for."),
		number("group.share.min.session.timeout.ms", "45000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.MinSessionTimeoutMs }),
			"The shortest session timeout that a share group may ask for."),
		number("group.share.max.session.timeout.ms", "60000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.MaxSessionTimeoutMs }),
			"The longest session timeout that a share group may ask for."),
		number("group.share.min.assignment.interval.ms", "0", "ms", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.Share.MinAssignmentIntervalMs }),
			"The shortest assignment interval that a share group may ask for."),
		number("group.share.max.assignment.interval.ms", "15000", "ms", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.Share.MaxAssignmentIntervalMs }),
			"The longest assignment interval that a share group may ask for."),
		number("group.share.max.size", "200", "", 1, 1000, "[1,…,1000]", b(func(c *Broker) any { return &c.Share.MaxSize }),
			"How many members a share group may have."),
		number("group.share.assignment.interval.ms", "1000", "ms", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.Share.AssignmentIntervalMs }),
			"How long the coordinator waits at least between two assignments of a share group."),
		number("share.coordinator.snapshot.update.records.per.snapshot", "500", "records", 0, 500, "[0,…,500]", b(func(c *Broker) any { return &c.Share.UpdatesPerSnapshot }),
			"How many updates of a share partition's state are written between two snapshots of it."),
		number("share.coordinator.write.timeout.ms", "5000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.WriteTimeoutMs }),
			"How long the share coordinator waits for the replication of what it writes."),
		number("share.coordinator.state.topic.prune.interval.ms", "300000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.PruneIntervalMs }),
			"How often what is redundant in __share_group_state is deleted (not in Kafka's documentation)."),
		number("share.coordinator.cold.partition.snapshot.interval.ms", "300000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.ColdIntervalMs }),
			"After how long a share partition that is not written to gets a snapshot of its own (not in Kafka's documentation)."),
		number("share.coordinator.state.topic.num.partitions", "50", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.StateTopic.Partitions }),
			"The number of partitions of __share_group_state."),
		number("share.coordinator.state.topic.replication.factor", "3", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.StateTopic.ReplicationFactor }),
			"The replication factor of __share_group_state; with fewer brokers the topic cannot be made, and share groups do not work."),
		number("share.coordinator.state.topic.min.isr", "2", "replicas", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.StateTopic.MinISR }),
			"The min.insync.replicas of __share_group_state."),
		number("share.coordinator.state.topic.segment.bytes", "104857600", "bytes", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Share.StateTopic.SegmentBytes }),
			"The segment size of __share_group_state."),
	}
}

// shareConsumerModelled are a share consumer's rows (H-11, H-12).
func shareConsumerModelled() []Property {
	nothing := c(func(*Consumer) any { return nil })
	return []Property{
		choice("share.acknowledgement.mode", "implicit", []string{"implicit", "explicit"}, nothing,
			"Whether a share consumer's next poll accepts what is not acknowledged, or each record must be acknowledged before."),
		choice("share.acquire.mode", "batch_optimized", []string{"batch_optimized", "record_limit"}, nothing,
			"Whether a share consumer acquires whole batches, and so more than max.poll.records, or no more than that."),
	}
}

// ShareOnly are the consumer properties that NewShareConsumer alone takes.
var ShareOnly = []string{"share.acknowledgement.mode", "share.acquire.mode"}

// notForShare are consumer properties that a share consumer refuses (ShareConsumerConfig.SHARE_GROUP_UNSUPPORTED_CONFIGS).
var notForShare = []string{"auto.offset.reset", "enable.auto.commit", "group.instance.id", "isolation.level", "partition.assignment.strategy",
	"interceptor.classes", "session.timeout.ms", "heartbeat.interval.ms", "group.protocol", "group.remote.assignor"}

// ParseShareConsumer reads a share consumer's properties.
func ParseShareConsumer(given map[string]any) (Consumer, *Problem) {
	for _, name := range notForShare {
		if _, is := given[name]; is {
			return Consumer{}, problem("%s cannot be set when using a share group (ConfigException); %s", name, shareInstead(name))
		}
	}
	x, pr := ParseConsumer(given)
	if pr != nil {
		return x, pr
	}
	if x.Member.GroupID == "" {
		return x, problem(`a share consumer needs a group.id, such as "jobs"`)
	}
	x.Share.Explicit = text(given["share.acknowledgement.mode"]) == "explicit"
	x.Share.RecordLimit = text(given["share.acquire.mode"]) == "record_limit"
	return x, nil
}

func shareInstead(name string) string {
	switch name {
	case "auto.offset.reset":
		return "the group has share.auto.offset.reset (ShareGroup(id).Alter)"
	case "isolation.level":
		return "the group has share.isolation.level (ShareGroup(id).Alter)"
	}
	return "leave it out"
}

// settle checks what GroupCoordinatorConfig and ShareGroupConfig check between properties.
func (g *ShareGroups) settle() *Problem {
	for _, x := range []struct {
		min, is, max int64
		what         string
	}{
		{g.MinRecordLockMs, g.RecordLockMs, g.MaxRecordLockMs, "record.lock.duration.ms"},
		{int64(g.MinDeliveryLimit), int64(g.DeliveryLimit), int64(g.MaxDeliveryLimit), "delivery.count.limit"},
		{int64(g.LeastRecordLocks), int64(g.MaxRecordLocks), int64(g.MostRecordLocks), "partition.max.record.locks"},
		{g.MinHeartbeatIntervalMs, g.HeartbeatIntervalMs, g.MaxHeartbeatIntervalMs, "heartbeat.interval.ms"},
		{g.MinSessionTimeoutMs, g.SessionTimeoutMs, g.MaxSessionTimeoutMs, "session.timeout.ms"},
		{g.MinAssignmentIntervalMs, g.AssignmentIntervalMs, g.MaxAssignmentIntervalMs, "assignment.interval.ms"},
	} {
		if x.is < x.min || x.is > x.max {
			return problem("group.share.%s=%d must be between group.share.min.%s=%d and group.share.max.%s=%d", x.what, x.is, x.what, x.min, x.what, x.max)
		}
	}
	switch {
	case g.HeartbeatIntervalMs >= g.SessionTimeoutMs:
		return problem("group.share.heartbeat.interval.ms=%d must be lower than group.share.session.timeout.ms=%d", g.HeartbeatIntervalMs, g.SessionTimeoutMs)
	case g.MaxSessions < g.MaxSize:
		return problem("group.share.max.share.sessions=%d must be greater than or equal to group.share.max.size=%d", g.MaxSessions, g.MaxSize)
	}
	return nil
}
