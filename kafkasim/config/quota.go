package config

import (
	"strconv"
	"strings"
)

// Throttled is a list of throttled replicas as leader.replication.throttled.replicas has it: "partition:broker,…",
// "*" for all, "" for none.
type Throttled string

const throttledWanted = `a list of partition:broker such as "0:1,0:2", "*" for all replicas, or "" for none`

// parseThrottled checks a list (Kafka: ThrottledReplicaListValidator).
func parseThrottled(s string) (Throttled, bool) {
	if s = strings.TrimSpace(s); s == "*" || s == "" {
		return Throttled(s), true
	}
	var list []string
	for _, one := range strings.Split(s, ",") {
		p, b, two := strings.Cut(strings.TrimSpace(one), ":")
		for _, n := range []string{p, b} {
			if _, err := strconv.ParseUint(n, 10, 31); err != nil {
				return "", false
			}
		}
		if !two {
			return "", false
		}
		list = append(list, p+":"+b)
	}
	return Throttled(strings.Join(list, ",")), true
}

// throttledRows are the topic properties of KIP-73.
func throttledRows() []Property {
	row := func(name string, field func(*Topic) any, who string) Property {
		return Property{Name: name, Type: List, Valid: "[partitionId:brokerId,…], *", Modelled: true, field: t(field),
			Doc: "Which replicas are throttled as " + who + " when their broker is over its " + strings.TrimSuffix(name, "replicas") + "rate; replicas in sync are not held back."}
	}
	return []Property{
		row("leader.replication.throttled.replicas", func(c *Topic) any { return &c.LeaderThrottled }, "leaders"),
		row("follower.replication.throttled.replicas", func(c *Topic) any { return &c.FollowerThrottled }, "followers"),
	}
}

// ControllerQuota says how much a bucket of mutations holds (KIP-599): its rate for so long.
type ControllerQuota struct {
	WindowNum         int32 // controller.quota.window.num
	WindowSizeSeconds int64 // controller.quota.window.size.seconds
}

// DefaultControllerQuota has Kafka's defaults.
var DefaultControllerQuota = ControllerQuota{WindowNum: 11, WindowSizeSeconds: 1}

// quotaRows are the broker properties that say how quotas are measured.
func quotaRows() []Property {
	const num, size = "How many windows a rate is measured over, the last one of them still open.", "How long one of these windows is."
	return []Property{
		number("quota.window.num", "11", "windows", 1, 1000, "[1,1000]", b(func(c *Broker) any { return &c.QuotaWindowNum }), num+" For client quotas."),
		number("quota.window.size.seconds", "1", "seconds", 1, 86400, "[1,86400]", b(func(c *Broker) any { return &c.QuotaWindowSizeSeconds }), size+" For client quotas."),
		number("controller.quota.window.num", "11", "windows", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.ControllerQuota.WindowNum }), "How many windows' worth of mutations (controller_mutation_rate) may come at once."),
		number("controller.quota.window.size.seconds", "1", "seconds", 1, maxInt, "[1,…]", b(func(c *Broker) any { return &c.ControllerQuota.WindowSizeSeconds }), "How long one of these windows is."),
		number("replication.quota.window.num", "11", "windows", 1, 1000, "[1,1000]", b(func(c *Broker) any { return &c.ReplicationQuotaWindowNum }), num+" For throttled replication."),
		number("replication.quota.window.size.seconds", "1", "seconds", 1, 86400, "[1,86400]", b(func(c *Broker) any { return &c.ReplicationQuotaWindowSizeSeconds }), size+" For throttled replication."),
	}
}
