package config

import "strings"

// Partitioner is a partitioner.class.
type Partitioner uint8

// The partitioners that are classes of Kafka. The built-in one is no class.
const (
	PartitionerBuiltIn       Partitioner = iota
	PartitionerRoundRobin                // RoundRobinPartitioner (P-23)
	PartitionerUniformSticky             // UniformStickyPartitioner: by batch, keys do not count; until 3.9 (P-22)
	PartitionerDefault                   // DefaultPartitioner: by batch, keys are hashed; until 3.9 (P-22)
)

var partitionerNames = []string{"null", "RoundRobinPartitioner", "UniformStickyPartitioner", "DefaultPartitioner"}

const partitionerWanted = "null, RoundRobinPartitioner, UniformStickyPartitioner or DefaultPartitioner; for one of your own use Producer.PartitionBy or kafkalab.partitioner.table"

// parsePartitioner reads a class by its name, with its package or without.
func parsePartitioner(s string) (Partitioner, bool) {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "org.apache.kafka.clients.producer."), "internals.")
	for i, n := range partitionerNames {
		if s == n {
			return Partitioner(i), true
		}
	}
	return 0, false
}

// String is the class.
func (p Partitioner) String() string { return partitionerNames[p] }
