package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// TestPlacement checks placements by what holds for every draw (R3.32, R3.34): Kafka's own placer draws
// without a seed, so recorded rows are samples. Both must keep the rules, the recorded ones and ours under
// many seeds, and the errors must be the same.
func TestPlacement(t *testing.T) {
	files, _ := filepath.Glob("testdata/g1-*.json")
	if len(files) < 3 {
		t.Fatalf("only %d recordings of placements", len(files))
	}
	for _, file := range files {
		rec, err := load(file)
		if err != nil {
			t.Fatal(err)
		}
		racks := make([]string, len(rec.Cluster.Brokers))
		for id, rack := range rec.Cluster.Racks {
			n, _ := strconv.Atoi(id)
			racks[n-1] = rack
		}
		t.Run(rec.Scenario, func(t *testing.T) {
			for i, s := range rec.Steps {
				var rows [][]int
				if json.Unmarshal(s.Saw, &rows) == nil {
					if err := keepsRules(rows, racks); err != nil {
						t.Fatalf("step %d: the recorded placement breaks a rule, so the rule is wrong: %v", i, err)
					}
				}
				for seed := range uint64(20) {
					if err := placeLike(s.Do, s.Saw, len(rows), racks, seed); err != nil {
						t.Errorf("step %d %v, seed %d: %v", i, describe(s.Do), seed, err)
					}
				}
			}
		})
	}
}

// placeLike does a step on a world of its own and checks what comes of it.
func placeLike(op Operation, saw json.RawMessage, rows int, racks []string, seed uint64) error {
	s := machine.New(machine.World{Brokers: int32(len(racks)), Racks: racks, Seed: seed, Tick: 1000, Latency: 300, Broker: brokerDefaults()})
	rf, from := int32(op.num("replicationFactor", 3)), int32(op.num("from", 8))
	var res machine.Result
	if op.name() == "createPartitions" {
		s.Apply(machine.CreateTopic{Name: "g1", Partitions: from, ReplicationFactor: rf, Props: s.World.Broker.Topic})
		res = s.Apply(machine.AddPartitions{Topic: "g1", Total: int32(op.num("to", 0))})
	} else {
		from = 0
		res = s.Apply(machine.CreateTopic{Name: "g1", Partitions: int32(op.num("partitions", 1)), ReplicationFactor: rf, Props: s.World.Broker.Topic})
	}
	var want string
	_ = json.Unmarshal(saw, &want)
	if got := javaName(res.Error); got != want {
		return fmt.Errorf("answered %q, want %q", got, want)
	}
	if want != "" {
		return nil
	}
	var got [][]int
	for _, p := range s.Controllers[0].Image.Topics[0].Partitions[from:] {
		got = append(got, idsOf(p.Replicas))
	}
	if len(got) != rows {
		return fmt.Errorf("%d partitions, want %d", len(got), rows)
	}
	return keepsRules(got, racks)
}

// keepsRules checks the rows of one request. Replicas are on different brokers, and on as many racks as there
// can be. A stripe is as many partitions as there are brokers: in one, the leaders' racks come round in one
// order, and without racks every broker leads once. The first stripe is not shuffled: without racks its rows
// go on by ids.
func keepsRules(rows [][]int, racks []string) error {
	names := slices.Compact(slices.Sorted(slices.Values(racks)))
	rack := func(id int) string { return racks[id-1] }
	for i, row := range rows {
		seen := map[string]bool{}
		for j, id := range row {
			if slices.Contains(row[:j], id) {
				return fmt.Errorf("row %d: %v has a broker twice", i, row)
			}
			seen[rack(id)] = true
			if first := i < len(racks); first && len(names) == 1 && j > 0 && id != row[j-1]%len(racks)+1 {
				return fmt.Errorf("row %d: %v does not go on by ids", i, row)
			}
		}
		if len(seen) < min(len(row), len(names)) {
			return fmt.Errorf("row %d: %v is on %d racks", i, row, len(seen))
		}
	}
	for from := 0; from < len(rows); from += len(racks) {
		var leaders []int
		for _, row := range rows[from:min(from+len(racks), len(rows))] {
			leaders = append(leaders, row[0])
		}
		for i, id := range leaders {
			switch {
			case len(names) == 1 && slices.Contains(leaders[:i], id):
				return fmt.Errorf("stripe from %d: leaders %v", from, leaders)
			case i >= len(names) && rack(id) != rack(leaders[i-len(names)]):
				return errors.New("the leaders' racks do not come round in order")
			}
		}
	}
	return nil
}

// brokerDefaults are Kafka's.
func brokerDefaults() config.Broker {
	b, problem := config.ParseBroker(nil)
	if problem != nil {
		panic(problem.Text)
	}
	return b
}
