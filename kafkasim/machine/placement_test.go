package machine

import (
	"fmt"
	"testing"
)

// kafkaRandom is java.util.Random.nextInt over a source of bits.
type kafkaRandom struct{ next func(bits uint) int32 }

func (k kafkaRandom) below(n int) int {
	bound := int32(n)
	r := k.next(31)
	m := bound - 1
	if bound&m == 0 {
		return int(int64(bound) * int64(r) >> 31)
	}
	for u := r; ; u = k.next(31) {
		r = u % bound
		if u-r+m >= 0 { // no overflow
			return int(r)
		}
	}
}

// mockRandom is the MockRandom(17) of Kafka's tests.
func mockRandom() kafkaRandom {
	state := uint64(17)
	return kafkaRandom{func(bits uint) int32 {
		state = state*2862933555777941757 + 3037000493
		return int32(state >> (64 - bits))
	}}
}

// javaRandom is java.util.Random(seed).
func javaRandom(seed uint64) kafkaRandom {
	state := (seed ^ 0x5DEECE66D) & (1<<48 - 1)
	return kafkaRandom{func(bits uint) int32 {
		state = (state*0x5DEECE66D + 0xB) & (1<<48 - 1)
		return int32(state >> (48 - bits))
	}}
}

// R3.32, R3.33: the golden vectors of the striped placer.
func TestPlacementVectors(t *testing.T) {
	plain := func(from, to NodeID) []usableBroker {
		var out []usableBroker
		for id := from; id <= to; id++ {
			out = append(out, usableBroker{id: id})
		}
		return out
	}
	racks := []usableBroker{{10, "1", false}, {11, "1", false}, {20, "2", true}, {21, "2", false}, {30, "3", false}, {31, "3", false}}
	abc := []usableBroker{{1, "a", false}, {2, "a", false}, {3, "b", false}, {4, "b", false}, {5, "c", false}, {6, "c", false}}
	for _, c := range []struct {
		name   string
		usable []usableBroker
		dice   dice
		rf, n  int
		want   string
	}{
		// Broker 0 is a node of its own right in Kafka's test; our ids start at 1, so the ids are moved by 1.
		{"Kafka's test", plain(1, 4), mockRandom(), 3, 5, "[[3 4 1] [4 1 2] [1 2 3] [2 3 4] [2 1 3]]"},
		{"Kafka's test with racks", racks, mockRandom(), 4, 3, "[[11 21 31 10] [21 30 10 20] [31 11 21 30]]"},
		{"seed 42", plain(1, 3), javaRandom(42), 3, 6, "[[3 1 2] [1 2 3] [2 3 1] [1 2 3] [2 3 1] [3 1 2]]"},
		{"seed 0", plain(1, 5), javaRandom(0), 3, 7, "[[1 2 3] [2 3 4] [3 4 5] [4 5 1] [5 1 2] [2 1 4] [1 4 3]]"},
		{"seed 1, racks", abc, javaRandom(1), 3, 7, "[[2 3 5] [4 6 1] [5 2 3] [1 4 6] [3 5 2] [6 1 4] [3 1 5]]"},
	} {
		p := newPlacer(c.usable, c.dice)
		var got [][]NodeID
		for range c.n {
			got = append(got, p.place(c.rf))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// R3.31: what CreateTopic refuses, and that fenced brokers may get replicas, never the first one.
func TestCreateTopic(t *testing.T) {
	b := newBench(t, 3)
	create := func(c CreateTopic) Result { c.Props = topicDefaults(); return b.Apply(c) }
	for _, c := range []struct {
		c    CreateTopic
		want Code
	}{
		{CreateTopic{Name: "a", Partitions: 0, ReplicationFactor: 1}, INVALID_PARTITIONS},
		{CreateTopic{Name: "a", Partitions: 1, ReplicationFactor: 4}, INVALID_REPLICATION_FACTOR},
		{CreateTopic{Name: "a", Partitions: 1, ReplicationFactor: 0}, INVALID_REPLICATION_FACTOR},
		{CreateTopic{Name: "a", Assignment: [][]NodeID{}}, INVALID_PARTITIONS},
		{CreateTopic{Name: "a", Assignment: [][]NodeID{{1, 1}}}, INVALID_REPLICA_ASSIGNMENT},
		{CreateTopic{Name: "a", Assignment: [][]NodeID{{1, 9}}}, INVALID_REPLICA_ASSIGNMENT},
		{CreateTopic{Name: "a", Assignment: [][]NodeID{{1, 2}, {1}}}, INVALID_REPLICA_ASSIGNMENT},
		{CreateTopic{Name: "a", Partitions: -1, ReplicationFactor: -1}, NONE},
		{CreateTopic{Name: "a", Partitions: 1, ReplicationFactor: 1}, TOPIC_ALREADY_EXISTS},
	} {
		if got := create(c.c).Error; got != c.want {
			t.Errorf("%+v: %v, want %v", c.c, got, c.want)
		}
	}
	b.fence(3)
	if got := create(CreateTopic{Name: "by hand", Assignment: [][]NodeID{{3}}}).Error; got != INVALID_REPLICA_ASSIGNMENT {
		t.Errorf("nobody active by hand: %v", got)
	}
	res := create(CreateTopic{Name: "wide", Partitions: 12, ReplicationFactor: 3})
	for _, p := range b.Metadata().Topics[res.ID].Partitions {
		if p.Replicas[0] == 3 || len(p.ISR) != 2 || p.Leader != p.ISR[0] {
			t.Errorf("%+v: 3 is fenced", p)
		}
	}
	b.fence(2)
	b.fence(1)
	if got := create(CreateTopic{Name: "none", Partitions: 1, ReplicationFactor: 1}).Error; got != INVALID_REPLICATION_FACTOR {
		t.Errorf("nobody active: %v", got)
	}
}
