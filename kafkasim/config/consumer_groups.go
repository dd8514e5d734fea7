package config

import (
	"slices"
	"strings"
)

// Consumer groups with the consumer protocol (KIP-848): most of what was a client's is the coordinator's here
// (Kafka: GroupCoordinatorConfig; facts: §9).

// GroupProtocol is a consumer's group.protocol.
type GroupProtocol uint8

// The protocols.
const (
	ClassicProtocol GroupProtocol = iota
	ConsumerProtocol
)

// ServerAssignors are the coordinator's assignors, as a list.
type ServerAssignors []string

// ConsumerGroups holds the coordinator's properties for groups with the consumer protocol.
type ConsumerGroups struct {
	Assignors              ServerAssignors // group.consumer.assignors; the first is used when members name none
	AssignmentIntervalMs   int64           // group.consumer.assignment.interval.ms
	HeartbeatIntervalMs    int64           // group.consumer.heartbeat.interval.ms
	MinHeartbeatIntervalMs int64           // group.consumer.min.heartbeat.interval.ms
	MaxHeartbeatIntervalMs int64           // group.consumer.max.heartbeat.interval.ms
	SessionTimeoutMs       int64           // group.consumer.session.timeout.ms
	MinSessionTimeoutMs    int64           // group.consumer.min.session.timeout.ms
	MaxSessionTimeoutMs    int64           // group.consumer.max.session.timeout.ms
	MaxSize                int32           // group.consumer.max.size
	RegexRefreshMs         int64           // group.consumer.regex.refresh.interval.ms
	Migration              Migration       // group.consumer.migration.policy
}

// MigrationPolicy says in which direction a group with members may change its protocol (ConsumerGroupMigrationPolicy).
type MigrationPolicy uint8

// The policies; the first is the default since 4.0.
const (
	MigrationBidirectional MigrationPolicy = iota
	MigrationUpgrade
	MigrationDowngrade
	MigrationDisabled
)

// Migration is a coordinator's policy.
type Migration struct{ Policy MigrationPolicy }

// Upgrades tells whether a classic group may become one of the consumer protocol.
func (m Migration) Upgrades() bool { return m.Policy <= MigrationUpgrade }

// Downgrades tells whether it may become a classic one again.
func (m Migration) Downgrades() bool {
	return m.Policy == MigrationBidirectional || m.Policy == MigrationDowngrade
}

var serverAssignors = []string{"uniform", "range"}

// parseServerAssignors reads a list of the coordinator's assignors.
func (p *Property) parseServerAssignors(value any) (ServerAssignors, *Problem) {
	list, ok := value.([]string)
	if !ok {
		list = strings.Split(strings.Trim(text(value), "[]"), ",")
	}
	var out ServerAssignors
	for _, one := range list {
		one = strings.TrimSpace(one)
		switch {
		case !slices.Contains(serverAssignors, one):
			return nil, p.want(value, orList(serverAssignors)+" or both")
		case slices.Contains(out, one):
			return nil, problem("%s=%s: %q is named twice", p.Name, quoted(value), one)
		}
		out = append(out, one)
	}
	return out, nil
}

func consumerGroupsModelled() []Property {
	g := func(f func(*ConsumerGroups) any) func(any) any {
		return b(func(c *Broker) any { return f(&c.ConsumerGroups) })
	}
	assignors := Property{Name: "group.consumer.assignors", Type: List, Default: "uniform, range", Modelled: true, Valid: "[uniform, range]",
		field: g(func(c *ConsumerGroups) any { return &c.Assignors }),
		Doc:   "The assignors of the coordinator; the first one is used when most members ask for none."}
	migration := choice("group.consumer.migration.policy", "bidirectional", []string{"bidirectional", "upgrade", "downgrade", "disabled"},
		g(func(c *ConsumerGroups) any { return &c.Migration.Policy }), "In which direction a group with members may change its protocol.")
	return []Property{
		assignors, migration,
		number("group.consumer.assignment.interval.ms", "1000", "ms", 0, maxInt, "[0,…]", g(func(c *ConsumerGroups) any { return &c.AssignmentIntervalMs }),
			"How long a coordinator waits at least between two target assignments of a group; 0 is not at all."),
		ms("group.consumer.heartbeat.interval.ms", "5000", g(func(c *ConsumerGroups) any { return &c.HeartbeatIntervalMs }),
			"How often members of groups with the consumer protocol send heartbeats; the coordinator tells them."),
		ms("group.consumer.min.heartbeat.interval.ms", "5000", g(func(c *ConsumerGroups) any { return &c.MinHeartbeatIntervalMs }),
			"The shortest group.consumer.heartbeat.interval.ms."),
		ms("group.consumer.max.heartbeat.interval.ms", "15000", g(func(c *ConsumerGroups) any { return &c.MaxHeartbeatIntervalMs }),
			"The longest group.consumer.heartbeat.interval.ms."),
		ms("group.consumer.session.timeout.ms", "45000", g(func(c *ConsumerGroups) any { return &c.SessionTimeoutMs }),
			"After how long without a heartbeat a member of a group with the consumer protocol is taken out."),
		ms("group.consumer.min.session.timeout.ms", "45000", g(func(c *ConsumerGroups) any { return &c.MinSessionTimeoutMs }),
			"The shortest group.consumer.session.timeout.ms."),
		ms("group.consumer.max.session.timeout.ms", "60000", g(func(c *ConsumerGroups) any { return &c.MaxSessionTimeoutMs }),
			"The longest group.consumer.session.timeout.ms."),
		number("group.consumer.max.size", "2147483647", "", 1, maxInt, "[1,…]", g(func(c *ConsumerGroups) any { return &c.MaxSize }),
			"How many members a group with the consumer protocol may have."),
		number("group.consumer.regex.refresh.interval.ms", "600000", "ms", 10_000, maxInt, "[10000,…]", g(func(c *ConsumerGroups) any { return &c.RegexRefreshMs }),
			"After how long the coordinator looks anew which topics a group's patterns match."),
	}
}

// settle checks the properties against their own bounds (GroupCoordinatorConfig.validate).
func (c *ConsumerGroups) settle() *Problem {
	switch {
	case c.HeartbeatIntervalMs < c.MinHeartbeatIntervalMs || c.HeartbeatIntervalMs > c.MaxHeartbeatIntervalMs:
		return problem("group.consumer.heartbeat.interval.ms=%d must be from group.consumer.min.heartbeat.interval.ms=%d to group.consumer.max.heartbeat.interval.ms=%d",
			c.HeartbeatIntervalMs, c.MinHeartbeatIntervalMs, c.MaxHeartbeatIntervalMs)
	case c.SessionTimeoutMs < c.MinSessionTimeoutMs || c.SessionTimeoutMs > c.MaxSessionTimeoutMs:
		return problem("group.consumer.session.timeout.ms=%d must be from group.consumer.min.session.timeout.ms=%d to group.consumer.max.session.timeout.ms=%d",
			c.SessionTimeoutMs, c.MinSessionTimeoutMs, c.MaxSessionTimeoutMs)
	case c.HeartbeatIntervalMs >= c.SessionTimeoutMs:
		return problem("group.consumer.heartbeat.interval.ms=%d must be lower than group.consumer.session.timeout.ms=%d", c.HeartbeatIntervalMs, c.SessionTimeoutMs)
	}
	return nil
}

// settleProtocol refuses what a member's protocol does not have (C-75; ConsumerConfig.checkUnsupportedConfigsPostProcess).
func (m *Member) settleProtocol(explicit func(string) bool) *Problem {
	if m.Protocol == ClassicProtocol {
		if explicit("group.remote.assignor") {
			return notWith("group.remote.assignor", "classic", "the leader assigns")
		}
		return nil
	}
	for _, name := range []string{"partition.assignment.strategy", "heartbeat.interval.ms", "session.timeout.ms"} {
		if explicit(name) {
			return notWith(name, "consumer", "the coordinator decides it")
		}
	}
	return nil
}

// notWith refuses a property that a protocol does not have.
func notWith(name, protocol, why string) *Problem {
	return refused(name+" cannot be set when group.protocol="+strings.ToUpper(protocol), "%s cannot be set when group.protocol=%s: %s", name, protocol, why)
}

// setAssignors sets a list of assignors: of members, or of the coordinator.
func (p *Property) setAssignors(field, value any) *Problem {
	var pr *Problem
	switch f := field.(type) {
	case *[]string:
		var v []string
		if v, pr = p.parseAssignors(value); pr == nil {
			*f = v
		}
	case *ServerAssignors:
		var v ServerAssignors
		if v, pr = p.parseServerAssignors(value); pr == nil {
			*f = v
		}
	}
	return pr
}
