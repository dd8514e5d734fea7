package config

import (
	"strings"
	"testing"
	"time"
)

// The four wordings of a caller's mistakes, and their neighbours.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		owner Owner
		given map[string]any
		want  string
	}{
		{OwnerProducer, map[string]any{"ack": "all"}, `unknown property "ack" - did you mean "acks"?`},
		{OwnerProducer, map[string]any{"linger_ms": 5}, `unknown property "linger_ms" - did you mean "linger.ms"?`},
		{OwnerProducer, map[string]any{"lingerms": 5}, `unknown property "lingerms" - did you mean "linger.ms"?`},
		{OwnerProducer, map[string]any{"in.flight.requests": 5}, `unknown property "in.flight.requests" - did you mean "max.in.flight.requests.per.connection"?`},
		{OwnerProducer, map[string]any{"min.insync.replicas": 2}, `"min.insync.replicas" is a topic property; give it to CreateTopic`},
		{OwnerConsumer, map[string]any{"share.auto.offset.reset": "earliest"}, `"share.auto.offset.reset" is a property of a share group; give it to ShareGroup(id).Alter`},
		{OwnerTopic, map[string]any{"acks": "all"}, `"acks" is a producer property; give it to NewProducer`},
		{OwnerBroker, map[string]any{"max.poll.records": 1}, `"max.poll.records" is a consumer property; give it to NewConsumer`},
		{OwnerTopic, map[string]any{"ack": 1}, `unknown property "ack" - did you mean "acks"? It is a producer property; give it to NewProducer`},
		{OwnerTopic, map[string]any{"broker.session.timeout.ms": 1}, `"broker.session.timeout.ms" is a broker property; give it to World.Config`},
		{OwnerTopic, map[string]any{"message.format.version": "0.10.2"}, `message.format.version is a real Kafka property that this simulator does not model; remove it (every client reads record batches of format 2, so nothing is ever converted; Kafka 4.0 removed it, KIP-724)`},
		{OwnerConsumer, map[string]any{"group.remote.assignor": "range"}, `group.remote.assignor cannot be set when group.protocol=classic: the leader assigns`},
		{OwnerConsumer, map[string]any{"group.protocol": "consumer", "group.id": "g", "session.timeout.ms": 9000}, `session.timeout.ms cannot be set when group.protocol=consumer: the coordinator decides it`},
		{OwnerConsumer, map[string]any{"partition.assignment.strategy": "stiky"}, `partition.assignment.strategy=stiky: there is no assignor "stiky" - did you mean "sticky"?`},
		{OwnerConsumer, map[string]any{"partition.assignment.strategy": "range, uniform"}, `partition.assignment.strategy="range, uniform": there is no assignor "uniform"; want range, roundrobin, sticky or cooperative-sticky`},
		{OwnerConsumer, map[string]any{"partition.assignment.strategy": "range,RangeAssignor"}, `partition.assignment.strategy="range,RangeAssignor": "range" is named twice`},
		{OwnerConsumer, map[string]any{"group.id": "g", "heartbeat.interval.ms": 45000}, `heartbeat.interval.ms=45000 must be lower than session.timeout.ms=45000`},
		{OwnerConsumer, map[string]any{"enable.auto.commit": true}, `enable.auto.commit=true needs a group.id`},
		{OwnerConsumer, map[string]any{"group.instance.id": "i"}, `group.instance.id=i needs a group.id`},
		{OwnerProducer, map[string]any{"transactional.id": ""}, `transactional.id="": want a text that is not empty`},
		{OwnerProducer, map[string]any{"transactional.id": "t", "enable.idempotence": false}, `transactional.id="t" cannot be used without idempotence (it needs enable.idempotence=true, acks=all and retries above 0)`},
		{OwnerProducer, map[string]any{"retention.ms": 1}, `"retention.ms" is a topic property; give it to CreateTopic`},
		{OwnerProducer, map[string]any{"enable.idempotence": true, "acks": 1}, `acks=1 cannot be used with enable.idempotence=true (it needs acks=all); Kafka's ConfigException says: Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.`},
		{OwnerProducer, map[string]any{"enable.idempotence": true, "retries": 0}, `retries=0 cannot be used with enable.idempotence=true (it needs retries above 0); Kafka's ConfigException says: Must set retries to non-zero when using the idempotent producer.`},
		{OwnerProducer, map[string]any{"max.in.flight.requests.per.connection": 6}, `max.in.flight.requests.per.connection=6 cannot be used with enable.idempotence=true (at most 5); Kafka's ConfigException says: To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. Current value is 6.`},
		{OwnerConsumer, map[string]any{"auto.offset.reset": "by_duration:1h"}, `auto.offset.reset=by_duration:1h: want latest, earliest, none or by_duration:D with an ISO-8601 duration that is not negative, such as by_duration:PT1H`},
		{OwnerConsumer, map[string]any{"auto.offset.reset": "by_duration:-PT1H"}, `auto.offset.reset=by_duration:-PT1H: want latest, earliest, none or by_duration:D with an ISO-8601 duration that is not negative, such as by_duration:PT1H`},
		{OwnerBroker, map[string]any{"replica.selector.class": "RackAware"}, `replica.selector.class=RackAware: want null, org.apache.kafka.common.replica.LeaderSelector or org.apache.kafka.common.replica.RackAwareReplicaSelector`},
		{OwnerProducer, map[string]any{"acks": "al"}, `acks=al: want all, -1, 0 or 1`},
		{OwnerProducer, map[string]any{"acks": 2}, `acks=2: want all, -1, 0 or 1`},
		{OwnerProducer, map[string]any{"linger.ms": -1}, `linger.ms=-1: want at least 0`},
		{OwnerProducer, map[string]any{"linger.ms": 1.5}, `linger.ms=1.5: want a whole number of ms`},
		{OwnerProducer, map[string]any{"linger.ms": "soon"}, `linger.ms=soon: want a whole number of ms`},
		{OwnerProducer, map[string]any{"linger.ms": 1500 * time.Microsecond}, `linger.ms=1.5ms: want whole milliseconds`},
		{OwnerProducer, map[string]any{"batch.size": time.Second}, `batch.size=1s is a time, but the property is in bytes`},
		{OwnerProducer, map[string]any{"delivery.timeout.ms": 100}, `delivery.timeout.ms=100 must be at least linger.ms + request.timeout.ms = 5 + 30000 = 30005; Kafka's ConfigException says: delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms`},
		{OwnerProducer, map[string]any{"kafkalab.partitioner.table": "user-1"}, `kafkalab.partitioner.table=user-1: want a text like "user-1=0,user-2=1" or a map of keys to partitions`},
		{OwnerProducer, map[string]any{"partitioner.ignore.keys": "maybe"}, `partitioner.ignore.keys=maybe: want true or false`},
		{OwnerTopic, map[string]any{"segment.bytes": 1000}, `segment.bytes=1000: want at least 1048576`},
		{OwnerBroker, map[string]any{"replica.fetch.wait.max.ms": 600, "replica.lag.time.max.ms": 500}, `replica.fetch.wait.max.ms=600 must not be above replica.lag.time.max.ms=500, or followers would often be taken out of the ISR`},
		{OwnerProducer, map[string]any{"linger.ms": 200000, "delivery.timeout.ms": 150000}, `delivery.timeout.ms=150000 must be at least linger.ms + request.timeout.ms = 200000 + 30000 = 230000; Kafka's ConfigException says: delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms`},
		{OwnerProducer, map[string]any{"batch.size": -1}, `batch.size=-1: want at least 0`},
		{OwnerProducer, map[string]any{"max.in.flight.requests.per.connection": 0}, `max.in.flight.requests.per.connection=0: want at least 1`},
		{OwnerProducer, map[string]any{"compression.type": "brotli"}, `compression.type=brotli: want none, gzip, snappy, lz4 or zstd`},
		{OwnerProducer, map[string]any{"compression.gzip.level": 0}, `compression.gzip.level=0: want 1 to 9, or -1`},
		{OwnerProducer, map[string]any{"compression.lz4.level": 18}, `compression.lz4.level=18: want at most 17`},
		{OwnerTopic, map[string]any{"compression.type": "none"}, `compression.type=none: want uncompressed, gzip, snappy, lz4, zstd or producer`},
		{OwnerProducer, map[string]any{"partitioner.class": "MyPartitioner"}, `partitioner.class=MyPartitioner: want null, RoundRobinPartitioner, UniformStickyPartitioner or DefaultPartitioner; for one of your own use Producer.PartitionBy or kafkalab.partitioner.table`},
		// Of two mistakes the first by name is told, whatever the order of the map.
		{OwnerProducer, map[string]any{"zzz": 1, "aaaa": 1}, `unknown property "aaaa"`},
	} {
		pr := parse(c.owner, c.given)
		if pr == nil {
			t.Errorf("%v: accepted, want %q", c.given, c.want)
			continue
		}
		got := pr.Text
		if !strings.Contains(c.want, "; Kafka's ") { // Kafka's words are for TestRefusalsAreKafkas
			got, _, _ = strings.Cut(got, "; Kafka's ")
		}
		if got != c.want && !(strings.HasPrefix(got, c.want) && c.given["zzz"] != nil) {
			t.Errorf("%v:\n got %s\nwant %s", c.given, got, c.want)
		}
	}
}

func parse(o Owner, given map[string]any) *Problem {
	var pr *Problem
	switch o {
	case OwnerBroker:
		_, pr = ParseBroker(given)
	case OwnerTopic:
		_, pr = ParseTopic(Topic{}, given)
	case OwnerProducer:
		_, pr = ParseProducer(given)
	case OwnerConsumer:
		_, pr = ParseConsumer(given)
	}
	return pr
}

func TestValuesInAnyNotation(t *testing.T) {
	for _, given := range []map[string]any{
		{"acks": "1", "linger.ms": "7", "partitioner.ignore.keys": "TRUE"},
		{"acks": 1, "linger.ms": 7 * time.Millisecond, "partitioner.ignore.keys": true},
		{"acks": int8(1), "linger.ms": 7.0, "partitioner.ignore.keys": "true"},
		{"acks": "1", "linger.ms": uint16(7), "partitioner.ignore.keys": true},
	} {
		c, pr := ParseProducer(given)
		if pr != nil {
			t.Fatal(pr)
		}
		if c.Acks != AcksLeader || c.LingerMs != 7 || !c.PartitionerIgnoreKey {
			t.Errorf("%v: got %+v", given, c)
		}
	}
	for _, v := range []any{"all", "-1", -1, nil} {
		given := map[string]any{"acks": v}
		if v == nil {
			given = nil
		}
		if c, pr := ParseProducer(given); pr != nil || c.Acks != AcksAll {
			t.Errorf("acks=%v: %v %v", v, c.Acks, pr)
		}
	}
	c, pr := ParseProducer(map[string]any{"kafkalab.partitioner.table": "user-4=0, user-1=0,user-3=1"})
	if pr != nil || len(c.PartitionTable) != 3 || c.PartitionTable[0] != (KeyPartition{"user-1", 0}) || c.PartitionTable[2] != (KeyPartition{"user-4", 0}) {
		t.Errorf("table: %v %v", c.PartitionTable, pr)
	}
}

// P-63: an unset delivery.timeout.ms is raised to linger.ms + request.timeout.ms.
func TestDeliveryTimeoutIsRaised(t *testing.T) {
	c, pr := ParseProducer(map[string]any{"request.timeout.ms": 200000})
	if pr != nil || c.DeliveryTimeoutMs != 200005 {
		t.Errorf("got %d %v", c.DeliveryTimeoutMs, pr)
	}
}

func TestBackoffs(t *testing.T) {
	c, _ := ParseProducer(map[string]any{"retry.backoff.ms": 5000, "reconnect.backoff.ms": 7})
	if c.RetryBackoffMs != 1000 || c.ReconnectBackoffMax != 7 {
		t.Errorf("got %+v", c)
	}
}

// P-80: enable.idempotence gives way to acks and retries unless it was set.
func TestIdempotenceGivesWay(t *testing.T) {
	for _, given := range []map[string]any{{"acks": 1}, {"acks": 0}, {"retries": 0}, {"enable.idempotence": false, "max.in.flight.requests.per.connection": 6}} {
		if c, pr := ParseProducer(given); pr != nil || c.EnableIdempotence {
			t.Errorf("%v: %v %v", given, c.EnableIdempotence, pr)
		}
	}
	if c, pr := ParseProducer(nil); pr != nil || !c.EnableIdempotence {
		t.Errorf("default: %v %v", c.EnableIdempotence, pr)
	}
}

// Defaults of Kafka 4.3, read back from the structs.
func TestDefaults(t *testing.T) {
	b, _ := ParseBroker(nil)
	if b.ReplicaLagTimeMaxMs != 30000 || b.BrokerSessionTimeoutMs != 9000 || b.Topic.MinInSyncReplicas != 1 ||
		b.Topic.MaxMessageBytes != 1048588 || b.Topic.SegmentBytes != 1<<30 || !b.AutoLeaderRebalance {
		t.Errorf("%+v", b)
	}
	p, _ := ParseProducer(nil)
	if p.BatchSize != 16384 || p.LingerMs != 5 || p.MaxInFlight != 5 || p.Retries != 1<<31-1 || p.DeliveryTimeoutMs != 120000 {
		t.Errorf("%+v", p)
	}
	c, _ := ParseConsumer(nil)
	if c.AutoOffsetReset != ResetLatest || c.FetchMaxWaitMs != 500 || c.MaxPollRecords != 500 {
		t.Errorf("%+v", c)
	}
}

func TestTableIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range rows {
		id := p.Owner.String() + " " + p.Name
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		if p.Doc == "" || !strings.HasSuffix(p.Doc, ".") {
			t.Errorf("%s: no sentence", id)
		}
		if p.Modelled != (p.field != nil) {
			t.Errorf("%s: modelled without a field, or the other way round", id)
		}
		if p.Modelled && strings.Contains(p.Help(), "does not model") {
			t.Errorf("%s: help contradicts", id)
		}
	}
	if len(rows) < 400 {
		t.Errorf("only %d properties", len(rows))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("acks", "all", uint8(2))
	f.Add("linger.ms", "5", uint8(2))
	f.Add("kafkalab.partitioner.table", "a=1,b=2", uint8(2))
	f.Add("min.insync.replicas", "-3", uint8(1))
	f.Add("retries", "99999999999999999999", uint8(2))
	f.Fuzz(func(t *testing.T, name, value string, owner uint8) {
		o := Owner(owner % 4)
		given := map[string]any{name: value}
		pr := parse(o, given)
		if pr != nil && (pr.Text == "" || parse(o, given).Text != pr.Text) {
			t.Fatalf("unstable or empty problem %q", pr.Text)
		}
		if _, known := Lookup(o, name); pr == nil && !known {
			t.Fatalf("accepted %q, which is not in the table", name)
		}
	})
}
