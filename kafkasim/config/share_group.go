package config

import (
	"maps"
	"slices"
)

// One share group's properties (Kafka: GroupConfig, ShareGroupConfigProvider; KIP-932, KIP-1240).

// ShareGroup holds one share group's own properties; what is not Set is what the brokers say.
type ShareGroup struct {
	AutoOffsetReset Reset // share.auto.offset.reset
	ReadCommitted   bool  // share.isolation.level=read_committed
	NoRenew         bool  // share.renew.acknowledge.enable=false

	Set                  ShareGroupSet
	RecordLockMs         int64 // share.record.lock.duration.ms
	DeliveryLimit        int32 // share.delivery.count.limit
	MaxRecordLocks       int32 // share.partition.max.record.locks
	SessionTimeoutMs     int64 // share.session.timeout.ms
	HeartbeatIntervalMs  int64 // share.heartbeat.interval.ms
	AssignmentIntervalMs int64 // share.assignment.interval.ms
}

// ShareGroupSet says which numbers a group has of its own.
type ShareGroupSet struct{ RecordLock, DeliveryLimit, MaxRecordLocks, Session, Heartbeat, Assignment bool }

// Over is what holds for the group, by what the brokers say.
func (g *ShareGroup) Over(brokers ShareGroups) ShareGroups {
	x := brokers
	if g.Set.RecordLock {
		x.RecordLockMs = g.RecordLockMs
	}
	if g.Set.DeliveryLimit {
		x.DeliveryLimit = g.DeliveryLimit
	}
	if g.Set.MaxRecordLocks {
		x.MaxRecordLocks = g.MaxRecordLocks
	}
	if g.Set.Session {
		x.SessionTimeoutMs = g.SessionTimeoutMs
	}
	if g.Set.Heartbeat {
		x.HeartbeatIntervalMs = g.HeartbeatIntervalMs
	}
	if g.Set.Assignment {
		x.AssignmentIntervalMs = g.AssignmentIntervalMs
	}
	return x
}

// ShareGroupProperties are the names that ParseShareGroup knows.
var ShareGroupProperties = []string{"share.assignment.interval.ms", "share.auto.offset.reset", "share.delivery.count.limit", "share.heartbeat.interval.ms",
	"share.isolation.level", "share.partition.max.record.locks", "share.record.lock.duration.ms", "share.renew.acknowledge.enable", "share.session.timeout.ms"}

// ShareGroupSince43 are those that a group has of its own since 4.3 only.
var ShareGroupSince43 = []string{"share.assignment.interval.ms", "share.delivery.count.limit", "share.partition.max.record.locks", "share.renew.acknowledge.enable"}

// ParseShareGroup reads a group's properties over what it has.
func ParseShareGroup(base ShareGroup, brokers ShareGroups, given map[string]any) (ShareGroup, *Problem) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if pr := base.set(name, given[name], &brokers); pr != nil {
			return base, pr
		}
	}
	x := base.Over(brokers)
	if x.HeartbeatIntervalMs >= x.SessionTimeoutMs {
		return base, problem("share.session.timeout.ms=%d must be greater than share.heartbeat.interval.ms=%d (InvalidConfigurationException)", x.SessionTimeoutMs, x.HeartbeatIntervalMs)
	}
	return base, nil
}

func (g *ShareGroup) set(name string, v any, b *ShareGroups) *Problem {
	var long int64
	var pr *Problem
	switch name {
	case "share.auto.offset.reset":
		r, ok := parseReset(text(v))
		if !ok || r == ResetNone {
			return problem("%s=%s: want latest, earliest or by_duration:D, such as by_duration:PT1H", name, quoted(v))
		}
		g.AutoOffsetReset = r
	case "share.isolation.level":
		if s := text(v); s != "read_committed" && s != "read_uncommitted" {
			return problem("%s=%s: want read_committed or read_uncommitted", name, quoted(v))
		}
		g.ReadCommitted = text(v) == "read_committed"
	case "share.renew.acknowledge.enable":
		if s := text(v); s != "true" && s != "false" {
			return problem("%s=%s: want true or false", name, quoted(v))
		}
		g.NoRenew = text(v) == "false"
	case "share.record.lock.duration.ms":
		g.RecordLockMs, pr = within(name, v, b.MinRecordLockMs, b.MaxRecordLockMs)
		g.Set.RecordLock = pr == nil
	case "share.delivery.count.limit":
		long, pr = within(name, v, int64(b.MinDeliveryLimit), int64(b.MaxDeliveryLimit))
		g.DeliveryLimit, g.Set.DeliveryLimit = int32(long), pr == nil
	case "share.partition.max.record.locks":
		long, pr = within(name, v, int64(b.LeastRecordLocks), int64(b.MostRecordLocks))
		g.MaxRecordLocks, g.Set.MaxRecordLocks = int32(long), pr == nil
	case "share.session.timeout.ms":
		g.SessionTimeoutMs, pr = within(name, v, b.MinSessionTimeoutMs, b.MaxSessionTimeoutMs)
		g.Set.Session = pr == nil
	case "share.heartbeat.interval.ms":
		g.HeartbeatIntervalMs, pr = within(name, v, b.MinHeartbeatIntervalMs, b.MaxHeartbeatIntervalMs)
		g.Set.Heartbeat = pr == nil
	case "share.assignment.interval.ms":
		g.AssignmentIntervalMs, pr = within(name, v, b.MinAssignmentIntervalMs, b.MaxAssignmentIntervalMs)
		g.Set.Assignment = pr == nil
	default:
		if near := nearest(name, ShareGroupProperties); near != "" {
			return problem("a share group has no property %q - did you mean %q?", name, near)
		}
		return problem("a share group has no property %q; want %s", name, orList(ShareGroupProperties))
	}
	return pr
}

// within reads a number that the brokers bound (GroupConfig.validateValues: InvalidConfigurationException).
func within(name string, v any, lo, hi int64) (int64, *Problem) {
	n, ok := integer(v)
	if !ok || n < lo || n > hi {
		return 0, problem("%s=%s: want %d to %d, which the brokers' group.share.min.… and group.share.max.… allow (InvalidConfigurationException)", name, quoted(v), lo, hi)
	}
	return n, nil
}
