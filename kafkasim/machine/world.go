package machine

import "kafkalab/kafkasim/config"

// World is the setup of a simulation: fixed from the start, part of State, never changed by a step.
type World struct {
	Brokers     int32    // brokers have the ids 1 … Brokers
	Controllers int32    // 1, 3 or 5, ids from FirstController; 0 is 1
	Racks       []string // the rack of each broker, or empty for none
	Seed        uint64
	Tick        int64 // µs that a learner calls one tick
	Latency     int64 // µs that a message is on the wire, where Latencies says nothing else
	Broker      config.Broker
	ELR         bool  // eligible.leader.replicas.version ≥ 1 (KIP-966)
	Rules       Rules // which of Kafka's newer rules do not hold (generation.go)
	// Sessions are the brokers' own session timeouts, ms; empty for broker.session.timeout.ms. ZooKeeper
	// knew one for each client.
	Sessions []int64
	LogDirs  int32  // log directories of each broker; 0 means 1
	Mutant   Mutant // a rule that is broken on purpose; for tests
}

// NodeID names whoever sends and receives messages: brokers by their ids from 1, the controller,
// clients from FirstClient.
type NodeID int32

// The ranges of node ids. Controller ids follow Kafka's habit of numbers apart from the brokers'.
const (
	NoNode          NodeID = 0
	FirstController NodeID = 3001
	FirstClient     NodeID = 10001
	FirstProbe      NodeID = 1000001
)

// IsBroker tells whether n is a broker's id.
func (n NodeID) IsBroker() bool { return n > 0 && n < FirstController }

// IsController tells whether n is a controller's id.
func (n NodeID) IsController() bool { return n >= FirstController && n < FirstClient }

// IsClient tells whether n is a client's id.
func (n NodeID) IsClient() bool { return n >= FirstClient }

// TopicPartition names a partition by the topic's index in the controller's list and its number.
type TopicPartition struct {
	Topic     int32
	Partition int32
}

// Code is a Kafka protocol error code; NONE is 0.
type Code int16
