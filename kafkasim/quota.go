package kafkasim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Quotas: how fast clients may send and fetch, and how fast throttled replicas may copy (KIP-13, KIP-73).

// quotaProperty is a property of a quota: whose it is, in what it is given, and where it is in a Quota.
type quotaProperty struct {
	name     string
	ofBroker bool
	unit     string
	parts    int64 // what one is there: 1, or 1000 of what may have a fraction
	field    func(*machine.Quota) *int64
}

var quotaProperties = []quotaProperty{
	{"consumer_byte_rate", false, "bytes/s", 1, func(q *machine.Quota) *int64 { return &q.Consumer }},
	{"controller_mutation_rate", false, "partitions/s", 1000, func(q *machine.Quota) *int64 { return &q.Work.Mutations }},
	{"producer_byte_rate", false, "bytes/s", 1, func(q *machine.Quota) *int64 { return &q.Producer }},
	{"request_percentage", false, "per cent of a thread", 1000, func(q *machine.Quota) *int64 { return &q.Work.Requests }},
	{"follower.replication.throttled.rate", true, "bytes/s", 1, func(q *machine.Quota) *int64 { return &q.Follower }},
	{"leader.replication.throttled.rate", true, "bytes/s", 1, func(q *machine.Quota) *int64 { return &q.Leader }},
}

// absentQuotas are Kafka's other quotas, with what they would need.
var absentQuotas = map[string]string{
	"connection_creation_rate": "it is for an ip, all clients here are on one machine, and a connection lasts as long as its ends",
}

// maxQuota is the largest rate that is taken: a petabyte a second.
const maxQuota = 1 << 50

// AlterQuota gives clients a quota, as kafka-configs.sh --alter --add-config does; nil takes one back:
//
//	producer_byte_rate, consumer_byte_rate: bytes/s, with every broker for itself
//	request_percentage: of one request handler thread's time, with every broker for itself (KIP-124); what a request
//	    costs is a model, 0.2 ms and 0.01 ms for each KiB that is appended
//	controller_mutation_rate: partitions that the controller makes or deletes, a second (KIP-599); Kafka's tools are
//	    the client "adminclient-1"
//
// The entity is "client-id=checkout", "user=ANONYMOUS" (as whom every client comes, without authentication) or both with
// a comma between; "<default>" as a name stands for all that have none of their own. The most specific one counts. Who
// is above it is told by the broker to be silent (throttle_time_ms), and is not read meanwhile: see
// produce-throttle-time-avg and fetch-throttle-time-avg in Metrics. The controller refuses instead, with THROTTLING_QUOTA_EXCEEDED.
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
	return outcome(where, r, func() string { return quotaLine(&q) })
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
			values = append(values, p.name+"="+p.text(n))
		}
	}
	kind := "Quota configs for "
	if q.Entity.Broker != machine.NoNode {
		kind = "Dynamic configs for "
	}
	switch {
	case len(values) == 0:
		return kind + q.Entity.String() + " are none"
	case q.Entity.Broker != machine.NoNode:
		for i, v := range values {
			values[i] = fmt.Sprintf("  %s sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:%s}", v, v)
		}
		return kind + q.Entity.String() + " are:\n" + strings.Join(values, "\n")
	}
	return kind + q.Entity.String() + " are " + strings.Join(values, ", ")
}

// text is a value as the tool shows it: a client's is a double, with a fraction, and with an exponent from ten million on.
func (p *quotaProperty) text(n int64) string {
	if p.ofBroker {
		return fmt.Sprint(n)
	}
	v := float64(n) / float64(p.parts)
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent) // what FormatFloat has written
	if power > -4 && power < 7 {
		mantissa = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if power > -4 && power < 7 {
		return mantissa
	}
	return fmt.Sprintf("%sE%d", mantissa, power)
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
		p := &quotaProperties[i]
		*p.field(q) = p.read(where, conf[name])
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

// read reads a value; nil is none.
func (p *quotaProperty) read(where string, value any) int64 {
	if value == nil {
		return 0
	}
	text := fmt.Sprint(value)
	if f, is := value.(float64); is {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if p.parts == 1 {
		if err != nil || dotted || n < 1 || n > maxQuota {
			misuse(where, "%s=%v: want whole %s from 1 to %d, or nil for none", p.name, value, p.unit, int64(maxQuota))
		}
		return n
	}
	more, bad := strconv.ParseUint((fraction + "000")[:max(3, len(fraction))], 10, 64)
	if err != nil || bad != nil || text[0] == '-' || dotted && fraction == "" || len(fraction) > 3 || n < 0 || n > maxQuota/p.parts || n*p.parts+int64(more) == 0 {
		misuse(where, "%s=%v: want %s, at least 0.001 and with three digits after the point at most, or nil for none", p.name, value, p.unit)
	}
	return n*p.parts + int64(more)
}
