package kafkasim

import (
	"slices"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Config holds Kafka properties by their own names. Values may be strings, whole numbers, booleans, and a
// time.Duration where the property is a time.
type Config map[string]any

// World describes a cluster before it exists. The zero value is three brokers with Kafka's defaults.
type World struct {
	// Brokers is how many there are; their ids are 1, 2, 3, …. Default 3, at most 100.
	Brokers int
	// Racks names the rack of each broker, in order; nil for none.
	Racks []string
	// LogDirs is how many log directories each broker has. Default 1, at most 16.
	LogDirs int
	// Controllers is how many there are: 1, 3 or 5, nodes of their own with the ids 3001, 3002, … Default 1. They
	// are the metadata quorum: what they decide holds when a majority of them has it.
	Controllers int
	// Kafka is the version whose rules and defaults hold: "0.10" to "4.4". Default "4.3". A minor version
	// stands for its last patch release; versions below 3.3 are those with ZooKeeper.
	Kafka string
	// Seed decides everything that is left to chance. Same seed, same commands: same bytes.
	Seed uint64
	// Tick is what Ticks counts in. Default 1 ms.
	Tick time.Duration
	// Latency is how long a message is on the wire. Default 1 ms; Cluster.Latency changes single links.
	Latency time.Duration
	// Config holds properties of brokers, and of topics that do not set their own.
	Config Config
	// Switches turns single rules on and off by name, over what the version says: {"strict.min.isr": false}.
	// Cluster.Rules lists them, and what goes wrong without each.
	Switches map[string]bool
}

const (
	maxBrokers    = 100
	maxPartitions = 10000
)

// New starts a cluster: every broker has registered and is unfenced, at t=0, with no topics.
func New(w World) *Cluster {
	w = w.filled()
	return newCluster(w, w.code(), nil, nil)
}

// filled checks the world and puts the defaults in.
func (w World) filled() World {
	const where = "World"
	if w.Brokers == 0 {
		w.Brokers = 3
	}
	if w.Brokers < 1 || w.Brokers > maxBrokers {
		misuse(where, "Brokers: %d: want 1 to %d", w.Brokers, maxBrokers)
	}
	if w.LogDirs < 0 || w.LogDirs > 16 {
		misuse(where, "LogDirs: %d: want 1 to 16", w.LogDirs)
	}
	if len(w.Racks) != 0 && len(w.Racks) != w.Brokers {
		misuse(where, "Racks: %d racks for %d brokers: want one for each broker, or none", len(w.Racks), w.Brokers)
	}
	switch w.Controllers {
	case 0, 1, 3, 5:
	default:
		misuse(where, "Controllers: %d: want 1, 3 or 5", w.Controllers)
	}
	w.Kafka = w.checkGeneration(where)
	if w.Controllers > 1 && !w.quorum() {
		misuse(where, "Controllers: %d: Kafka %s without the switch \"kraft\" has a ZooKeeper, and here one controller beside it", w.Controllers, w.Kafka)
	}
	if w.Controllers > 1 && !w.on(machine.AlterISR) {
		misuse(where, "Controllers: %d: without the switch \"alter.partition\" leaders write to a ZooKeeper, and here there is one controller beside it", w.Controllers)
	}
	if w.Tick == 0 {
		w.Tick = time.Millisecond
	}
	if w.Latency == 0 {
		w.Latency = time.Millisecond
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Tick", w.Tick}, {"Latency", w.Latency}} {
		if d.value < time.Microsecond || d.value%time.Microsecond != 0 || d.value > time.Hour {
			misuse(where, "%s: %v: want whole microseconds, from 1µs to 1h", d.name, d.value)
		}
	}
	w.Controllers = max(w.Controllers, 1)
	return w
}

// quorum tells whether the controllers are KRaft's.
func (w World) quorum() bool { return w.on(machine.KRaft) }

// on tells whether a switch is on.
func (w World) on(x machine.Switch) bool {
	var m machine.World
	w.setGeneration(&m)
	return m.On(x)
}

// machine is the world as the state machine takes it. Features are those of a cluster that was made with
// this version: eligible leader replicas (KIP-966) are on from 4.1 (R3.17).
func (w World) machine() machine.World {
	broker, problem := config.ParseBroker(w.version().At(config.OwnerBroker, w.Config))
	mustParse("World.Config", problem)
	m := machine.World{
		Brokers: int32(w.Brokers), Racks: slices.Clone(w.Racks), Seed: w.Seed,
		Tick: w.Tick.Microseconds(), Latency: w.Latency.Microseconds(), Broker: broker,
		LogDirs: int32(w.LogDirs), Controllers: int32(w.Controllers),
	}
	w.setGeneration(&m)
	return m
}
