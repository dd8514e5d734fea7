package config

import (
	"fmt"
	"slices"
	"strings"
)

// Consumer groups with the classic protocol: the members' properties (Kafka: ConsumerConfig) and the coordinator's
// (GroupCoordinatorConfig).

// Member holds a consumer's properties about its group that are modelled.
type Member struct {
	GroupID              string   // group.id, "" for none
	InstanceID           string   // group.instance.id, "" for a dynamic member
	Assignors            []string // partition.assignment.strategy, by the names of the protocol
	EnableAutoCommit     bool     // enable.auto.commit; false without a group
	AutoCommitIntervalMs int64    // auto.commit.interval.ms
	SessionTimeoutMs     int64    // session.timeout.ms
	HeartbeatIntervalMs  int64    // heartbeat.interval.ms
	MaxPollIntervalMs    int64    // max.poll.interval.ms
	DefaultAPITimeoutMs  int64    // default.api.timeout.ms

	Protocol       GroupProtocol // group.protocol
	RemoteAssignor string        // group.remote.assignor, "" for none
}

// Groups holds the group coordinator's properties that are modelled.
type Groups struct {
	InitialRebalanceDelayMs int64 // group.initial.rebalance.delay.ms
	MinSessionTimeoutMs     int64 // group.min.session.timeout.ms
	MaxSessionTimeoutMs     int64 // group.max.session.timeout.ms
	MaxSize                 int32 // group.max.size
	OffsetMetadataMaxBytes  int32 // offset.metadata.max.bytes
	CommitTimeoutMs         int64 // offsets.commit.timeout.ms
	RetentionMinutes        int64 // offsets.retention.minutes
	RetentionCheckMs        int64 // offsets.retention.check.interval.ms
}

// assignors are the client-side assignors: the protocol's name and the end of the class name.
var assignors = []struct{ name, class string }{
	{"range", "RangeAssignor"}, {"roundrobin", "RoundRobinAssignor"},
	{"sticky", "StickyAssignor"}, {"cooperative-sticky", "CooperativeStickyAssignor"},
}

// assignorPackage is where the classes are; "range" and "RangeAssignor" are taken too.
const assignorPackage = "org.apache.kafka.clients.consumer."

// parseAssignors reads a list of assignors, as text with commas or as a slice of texts.
func (p *Property) parseAssignors(value any) ([]string, *Problem) {
	list, ok := value.([]string)
	if !ok {
		list = strings.Split(strings.Trim(text(value), "[]"), ",")
	}
	var out, names []string
	for _, a := range assignors {
		names = append(names, a.name)
	}
	for _, one := range list {
		one = strings.TrimSpace(one)
		i := slices.IndexFunc(assignors, func(a struct{ name, class string }) bool {
			return one == a.name || strings.TrimPrefix(one, assignorPackage) == a.class
		})
		switch {
		case one == "":
			return nil, p.want(value, "at least one assignor of "+orList(names))
		case i < 0 && nearest(one, names) != "":
			return nil, problem("%s=%s: there is no assignor %q - did you mean %q?", p.Name, quoted(value), one, nearest(one, names))
		case i < 0:
			return nil, thrown("KafkaException", one+" ClassNotFoundException exception occurred", "%s=%s: there is no assignor %q; want %s", p.Name, quoted(value), one, orList(names))
		case slices.Contains(out, assignors[i].name):
			return nil, problem("%s=%s: %q is named twice", p.Name, quoted(value), assignors[i].name)
		}
		out = append(out, assignors[i].name)
	}
	return out, nil
}

// words is a modelled property that takes any text; "null" is none.
func words(name, def string, field func(any) any, doc string) Property {
	return Property{Name: name, Type: String, Default: def, Modelled: true, field: field, Doc: doc}
}

func memberModelled() []Property {
	strategy := Property{Name: "partition.assignment.strategy", Type: List, Default: "range, cooperative-sticky", Modelled: true,
		Valid: "[range, roundrobin, sticky, cooperative-sticky]", field: c(func(c *Consumer) any { return &c.Member.Assignors }),
		Doc: "The assignors that a member knows, the one it votes for first; the group takes one that all know."}
	protocol := choice("group.protocol", "classic", []string{"classic", "consumer"}, c(func(c *Consumer) any { return &c.Member.Protocol }),
		"Which group protocol is spoken: the classic one, or the one in which the coordinator assigns (KIP-848).")
	session := msInt("session.timeout.ms", "45000", c(func(c *Consumer) any { return &c.Member.SessionTimeoutMs }),
		"After how long without a heartbeat the coordinator takes a member for dead; the brokers have bounds for it.")
	heartbeat := msInt("heartbeat.interval.ms", "3000", c(func(c *Consumer) any { return &c.Member.HeartbeatIntervalMs }),
		"How often a member says that it lives; from the answer it hears of rebalances.")
	session.unbounded, heartbeat.unbounded = true, true
	protocol.anyCase = true
	protocol.texts = "String must be one of (case insensitive): CONSUMER, CLASSIC"
	return []Property{
		words("group.id", "null", c(func(c *Consumer) any { return &c.Member.GroupID }),
			"The group that shares partitions among its members and remembers positions."),
		words("group.instance.id", "null", c(func(c *Consumer) any { return &c.Member.InstanceID }),
			"A name of the member that survives its restart (static membership)."),
		protocol, strategy,
		words("group.remote.assignor", "null", c(func(c *Consumer) any { return &c.Member.RemoteAssignor }),
			"The coordinator's assignor that the member votes for, uniform or range; only with group.protocol=consumer."),
		boolean("enable.auto.commit", "true", c(func(c *Consumer) any { return &c.Member.EnableAutoCommit }),
			"Whether poll commits, from time to time, the positions of what earlier polls returned."),
		msInt("auto.commit.interval.ms", "5000", c(func(c *Consumer) any { return &c.Member.AutoCommitIntervalMs }),
			"How often at most positions are committed by themselves."),
		session, heartbeat,
		number("max.poll.interval.ms", "300000", "ms", 1, maxInt, "[1,…]", c(func(c *Consumer) any { return &c.Member.MaxPollIntervalMs }),
			"How long a member may take between two polls before it leaves the group, and how long a rebalance waits for it."),
		msInt("default.api.timeout.ms", "60000", c(func(c *Consumer) any { return &c.Member.DefaultAPITimeoutMs }),
			"How long a commit that must be answered is tried."),
	}
}

func groupsModelled() []Property {
	return []Property{
		ms("group.initial.rebalance.delay.ms", "3000", b(func(c *Broker) any { return &c.Groups.InitialRebalanceDelayMs }),
			"How long an empty group waits for more members after the first one came."),
		ms("group.min.session.timeout.ms", "6000", b(func(c *Broker) any { return &c.Groups.MinSessionTimeoutMs }),
			"The shortest session.timeout.ms that a member may ask for."),
		ms("group.max.session.timeout.ms", "1800000", b(func(c *Broker) any { return &c.Groups.MaxSessionTimeoutMs }),
			"The longest session.timeout.ms that a member may ask for."),
		number("group.max.size", "2147483647", "", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Groups.MaxSize }),
			"How many members a group may have."),
		number("offset.metadata.max.bytes", "4096", "bytes", 0, maxInt, "[0,…]", b(func(c *Broker) any { return &c.Groups.OffsetMetadataMaxBytes }),
			"How long the text beside a committed offset may be."),
		number("offsets.commit.timeout.ms", "5000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Groups.CommitTimeoutMs }),
			"How long a commit waits for its replication."),
		number("offsets.retention.minutes", "10080", "min", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Groups.RetentionMinutes }),
			"After how long an empty group's offsets are forgotten."),
		number("offsets.retention.check.interval.ms", "600000", "ms", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.Groups.RetentionCheckMs }),
			"How often the coordinator looks for offsets to forget."),
	}
}

// settle is what ConsumerConfig and ConsumerCoordinator make of properties that depend on each other.
// badInstance is what is wrong with a group.instance.id; "" for nothing (JoinGroupRequest.validateGroupInstanceId, which checks
// it as a topic's name).
func badInstance(id string) string {
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	}
	switch {
	case id == "." || id == "..":
		return fmt.Sprintf("'%s' is not allowed", id)
	case len(id) > 249:
		return fmt.Sprintf("the length of '%s' is longer than the max allowed length 249", id)
	case strings.IndexFunc(id, bad) >= 0:
		return fmt.Sprintf("'%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", id)
	}
	return ""
}

func (m *Member) settle(explicit func(string) bool) *Problem {
	switch {
	case explicit("group.id") && strings.TrimSpace(m.GroupID) == "":
		return thrown("InvalidGroupIdException", "The configured group.id should not be an empty string or whitespace.", "group.id=%q: want a text that is not empty", m.GroupID)
	case explicit("group.instance.id") && m.InstanceID == "":
		return refused("Invalid value  for configuration group.instance.id: "+kafkaNonEmpty, "group.instance.id=\"\": want a text that is not empty")
	case m.GroupID == "":
		switch {
		case explicit("enable.auto.commit") && m.EnableAutoCommit:
			return thrown("InvalidConfigurationException", "enable.auto.commit cannot be set to true when default group id (null) is used.",
				"enable.auto.commit=true needs a group.id")
		case m.InstanceID != "":
			return problem("group.instance.id=%s needs a group.id", m.InstanceID)
		}
		m.EnableAutoCommit = false // C-60
	}
	if why := badInstance(m.InstanceID); why != "" {
		return thrown("InvalidConfigurationException", "Group instance id is invalid: "+why, "group.instance.id=%q: want letters, digits, '.', '_' and '-'", m.InstanceID)
	}
	if pr := m.settleProtocol(explicit); pr != nil {
		return pr
	}
	if m.GroupID != "" && m.HeartbeatIntervalMs >= m.SessionTimeoutMs {
		return thrown("IllegalArgumentException", "Heartbeat must be set lower than the session timeout",
			"heartbeat.interval.ms=%d must be lower than session.timeout.ms=%d", m.HeartbeatIntervalMs, m.SessionTimeoutMs)
	}
	return nil
}
