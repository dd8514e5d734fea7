package kafkasim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Quotas: how fast clients may send and fetch, and how fast throttled replicas may copy (KIP-13, KIP-73).

// quotaProperty is a property of a quota: whose it is, and where it is in a Quota.
type quotaProperty struct {
	name     string
	ofBroker bool
	field    func(*machine.Quota) *int64
}

var quotaProperties = []quotaProperty{
	{"consumer_byte_rate", false, func(q *machine.Quota) *int64 { return &q.Consumer }},
	{"producer_byte_rate", false, func(q *machine.Quota) *int64 { return &q.Producer }},
	{"follower.replication.throttled.rate", true, func(q *machine.Quota) *int64 { return &q.Follower }},
	{"leader.replication.throttled.rate", true, func(q *machine.Quota) *int64 { return &q.Leader }},
}

// absentQuotas are Kafka's other quotas, with what they would need.
var absentQuotas = map[string]string{
	"request_percentage":       "requests take no time here",
	"controller_mutation_rate": "the controller makes as many partitions as it is asked to",
	"connection_creation_rate": "there are no sockets inside the simulator",
}

// maxQuota is the largest rate that is taken, bytes/s: a petabyte.
const maxQuota = 1 << 50

// AlterQuota gives clients a quota, as kafka-configs.sh --alter --add-config does: producer_byte_rate and
// consumer_byte_rate, in bytes/s, with every broker for itself; nil takes one back. The entity is "client-id=checkout",
// "user=ANONYMOUS" (as whom every client comes, without authentication) or both with a comma between; "<default>" as
// a name stands for all that have none of their own. The most specific one counts. Who is above it is told by the
// broker to be silent (throttle_time_ms), and is not read meanwhile: see produce-throttle-time-avg in Metrics.
func (c *Cluster) AlterQuota(entity string, conf Config) *Outcome {
	where := fmt.Sprintf("AlterQuota(%q)", entity)
	q := c.image().Quota(quotaEntity(where, entity))
	setQuota(where, &q, conf, false)
	return c.alterQuota(where, fmt.Sprintf("c.AlterQuota(%q, %s)", entity, conf.code()), q)
}

// Alter sets the broker's dynamic properties, as kafka-configs.sh --entity-type brokers does:
// leader.replication.throttled.rate and follower.replication.throttled.rate, in bytes/s; nil takes one back. They
// count for the replicas that their topics list (leader.replication.throttled.replicas and
// follower.replication.throttled.replicas, with AlterTopic), and hold back no replica that is in sync.
func (b *Broker) Alter(conf Config) *Outcome {
	where := fmt.Sprintf("Broker(%d).Alter", b.id)
	q := b.c.image().Quota(machine.QuotaEntity{Broker: b.id})
	setQuota(where, &q, conf, true)
	return b.c.alterQuota(where, fmt.Sprintf("c.Broker(%d).Alter(%s)", b.id, conf.code()), q)
}

func (c *Cluster) alterQuota(where, code string, q machine.Quota) *Outcome {
	r := c.ask(code, machine.AlterQuota{Quota: q})
	return outcome(where, r.Error, func() string { return quotaLine(&q) })
}

// Quotas lists all quotas as kafka-configs.sh --describe does.
func (c *Cluster) Quotas() *Description {
	var lines []string
	for _, q := range c.image().Quotas {
		lines = append(lines, quotaLine(&q))
	}
	if len(lines) == 0 {
		return &Description{"There are no quotas."}
	}
	slices.Sort(lines)
	return &Description{strings.Join(lines, "\n")}
}

// quotaLine is a quota in the tool's words.
func quotaLine(q *machine.Quota) string {
	var values []string
	for _, p := range quotaProperties {
		if n := *p.field(q); n != 0 {
			values = append(values, fmt.Sprintf("%s=%d", p.name, n))
		}
	}
	kind := "Quota configs for "
	if q.Entity.Broker != machine.NoNode {
		kind = "Dynamic configs for "
	}
	if len(values) == 0 {
		return kind + q.Entity.String() + " are none"
	}
	return kind + q.Entity.String() + " are " + strings.Join(values, ", ")
}

// quotaEntity reads whom a quota is for.
func quotaEntity(where, entity string) machine.QuotaEntity {
	const want = `want "client-id=NAME", "user=NAME" or "user=NAME,client-id=NAME"; the name <default> stands for all others`
	var e machine.QuotaEntity
	for _, part := range strings.Split(entity, ",") {
		kind, name, ok := strings.Cut(strings.TrimSpace(part), "=")
		to := &e.ClientID
		switch {
		case !ok || name == "":
			misuse(where, "%q is not the name of an entity; %s", part, want)
		case kind == "user":
			to = &e.User
		case kind != "client-id":
			misuse(where, "there is no kind of entity %q%s; %s", kind, meant(kind, []string{"client-id", "user"}, ""), want)
		}
		if *to != "" {
			misuse(where, "%s is given twice; %s", kind, want)
		}
		*to = name
	}
	return e
}

// setQuota takes over properties of clients or of a broker.
func setQuota(where string, q *machine.Quota, conf Config, ofBroker bool) {
	if len(conf) == 0 {
		misuse(where, "no properties are given; want a Config such as %s", Config{quotaNames(ofBroker)[0]: 1000000}.code())
	}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		i := slices.IndexFunc(quotaProperties, func(p quotaProperty) bool { return p.name == name && p.ofBroker == ofBroker })
		if why := absentQuotas[name]; why != "" {
			misuse(where, "%s is a real quota of Kafka that this simulator does not model; remove it (%s)", name, why)
		}
		if i < 0 {
			misuse(where, "unknown property %q%s", name, meant(name, quotaNames(ofBroker), "there are "+strings.Join(quotaNames(ofBroker), " and ")))
		}
		*quotaProperties[i].field(q) = quotaRate(where, name, conf[name])
	}
}

func quotaNames(ofBroker bool) (names []string) {
	for _, p := range quotaProperties {
		if p.ofBroker == ofBroker {
			names = append(names, p.name)
		}
	}
	return names
}

// quotaRate reads a rate in whole bytes/s; nil is none.
func quotaRate(where, name string, value any) int64 {
	if value == nil {
		return 0
	}
	var n int64
	if _, err := fmt.Sscanf(fmt.Sprint(value), "%d", &n); err != nil || fmt.Sprint(n) != fmt.Sprint(value) || n < 1 || n > maxQuota {
		misuse(where, "%s=%v: want whole bytes/s from 1 to %d, or nil for none", name, value, int64(maxQuota))
	}
	return n
}
