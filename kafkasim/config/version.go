package config

import (
	"slices"
	"strings"
)

// Versions of Kafka, and the defaults that differ in them.

// Version is a minor version of Kafka; it stands for the last patch release of that minor. Later ones are
// larger. The zero value is none.
type Version uint8

// The versions that a property or a rule may need.
const (
	Oldest Version = iota + 1 // 0.10
	V0_11                     // 0.11
	_                         // 1.0
	V1_1
	V2_0
	V2_1
	V2_2
	V2_3
	V2_4
	V2_5
	V2_6
	V2_7
	_ // 2.8
	V3_0
	V3_1
	_
	V3_3
	_
	V3_5
	V3_6
	V3_7
	_
	_ // 3.9
	V4_0
	V4_1
	_
	V4_3
	Newest // 4.4
)

// DefaultVersion is the version whose rules hold unless another one is asked for.
const DefaultVersion = V4_3

var versionNames = []string{"0.10", "0.11", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8",
	"3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4"}

// Versions are the names of all versions, oldest first.
func Versions() []string { return slices.Clone(versionNames) }

// String is the version's name.
func (v Version) String() string { return versionNames[v-1] }

// Before is the version before.
func (v Version) Before() Version { return v - 1 }

// ParseVersion reads "4.3", or a patch release of it ("4.3.1", "0.10.2.2").
func ParseVersion(s string) (Version, bool) {
	for i, name := range versionNames {
		if s == name || strings.HasPrefix(s, name+".") {
			return Version(i + 1), true
		}
	}
	return 0, false
}

// versionDefault is a default that was another one before a version.
type versionDefault struct {
	before Version
	owner  Owner
	name   string
	value  string
}

// versionDefaults are the defaults of former versions (P-36, P-80). retries is KIP-91's.
var versionDefaults = []versionDefault{
	{V2_5, OwnerBroker, "replica.lag.time.max.ms", "10000"},
	{V2_1, OwnerProducer, "retries", "0"},
	{V3_0, OwnerProducer, "acks", "1"},
	{V3_0, OwnerProducer, "enable.idempotence", "false"},
	{V4_0, OwnerProducer, "linger.ms", "0"},
	{V3_0, OwnerConsumer, "session.timeout.ms", "10000"},
	{V3_0, OwnerConsumer, "partition.assignment.strategy", "range"},
}

// At puts a version's own defaults under the properties that are given. A producer that asks for
// idempotence gets the acks and retries that it needs, as it did then (KafkaProducer.configureAcks).
func (v Version) At(o Owner, given map[string]any) map[string]any {
	out := map[string]any{}
	transactional := given["transactional.id"] != nil // which asks for idempotence, too
	idempotent := transactional || strings.EqualFold(text(given["enable.idempotence"]), "true")
	for _, d := range versionDefaults {
		given := idempotent && (d.name == "acks" || d.name == "retries") || transactional && d.name == "enable.idempotence"
		if d.owner == o && v < d.before && !given {
			out[d.name] = d.value
		}
	}
	for name, value := range given {
		out[name] = value
	}
	if n, ok := integer(given["max.in.flight.requests.per.connection"]); o == OwnerProducer && v < V4_0 && ok && n > 5 && given["enable.idempotence"] == nil {
		out["enable.idempotence"] = false // it gave way in silence (P-80)
	}
	return out
}

// Default is a property's default in a version.
func (v Version) Default(p Property) string {
	for _, d := range versionDefaults {
		if d.owner == p.Owner && d.name == p.Name && v < d.before {
			return d.value
		}
	}
	return p.Default
}

// CheckProducer refuses what producers of a version could not do.
func (v Version) CheckProducer(given map[string]any) *Problem {
	if v < V0_11 && strings.EqualFold(text(given["enable.idempotence"]), "true") {
		return problem("enable.idempotence=true: Kafka %s has no idempotent producers; they came with 0.11 (KIP-98)", v)
	}
	if v < V0_11 && given["transactional.id"] != nil {
		return problem("transactional.id: Kafka %s has no transactions; they came with 0.11 (KIP-98)", v)
	}
	switch s := text(given["compression.type"]); {
	case v < V2_1 && s == "zstd":
		return problem("compression.type=zstd: Kafka %s has no zstd; it came with 2.1 (KIP-110)", v)
	}
	p, _ := parsePartitioner(text(given["partitioner.class"]))
	switch {
	case p == PartitionerRoundRobin && v < V2_4, p == PartitionerUniformSticky && v < V2_4:
		return problem("partitioner.class=%s: Kafka %s has no such class; it came with 2.4 (KIP-369, KIP-480)", p, v)
	case v >= V4_0 && (p == PartitionerUniformSticky || p == PartitionerDefault):
		return problem("partitioner.class=%s: Kafka %s has no such class any more; without a partitioner.class the built-in partitioner does its work (KIP-794)", p, v)
	}
	return nil
}
