// Package oracle replays what real Kafka clusters did on the simulator, step by step, and compares what
// each step saw. README.md says where the recordings come from.
package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// Recording is one file of the schema kafka-oracle/1.
type Recording struct {
	Scenario string
	Title    string
	Kafka    string
	Random   bool
	Dropped  []string `json:"droppedBecauseDifferent"`
	Cluster  struct {
		Controllers []int
		Brokers     []int
		Racks       map[string]string
		Features    map[string]int
		Config      map[string]string
		ZooKeeper   bool
		Sessions    map[string]int64 `json:"zookeeper.session.timeout.ms"`
	}
	Steps []struct {
		Do  Operation
		Saw json.RawMessage
		// Samples are what each run saw, in a recording of samples (Random).
		Samples []json.RawMessage `json:"samplesOfRuns"`
	}
}

// saw is what a step saw; of a recording of samples every run's, in one list, except that a topic is made as in
// the first.
func (rec *Recording) saw(i int) json.RawMessage {
	s := rec.Steps[i]
	if !rec.Random || s.Samples == nil {
		return s.Saw
	}
	if s.Do.name() == "createTopic" {
		return s.Samples[0]
	}
	all, _ := json.Marshal(s.Samples)
	return all
}

// Operation is what a step did: its name and its fields.
type Operation map[string]json.RawMessage

func load(path string) (*Recording, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rec := new(Recording)
	if err := json.Unmarshal(raw, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

func (op Operation) name() string { return op.str("op") }

func (op Operation) has(field string) bool { _, ok := op[field]; return ok }

func (op Operation) str(field string) string {
	var s string
	op.into(field, &s)
	return s
}

// num reads a number, which some recordings write as a string.
func (op Operation) num(field string, otherwise int64) int64 {
	raw, ok := op[field]
	if !ok {
		return otherwise
	}
	text := string(raw)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (op Operation) ints(field string) []int {
	var v []int
	op.into(field, &v)
	return v
}

func (op Operation) strs(field string) []string {
	var v []string
	op.into(field, &v)
	return v
}

func (op Operation) into(field string, v any) {
	if raw, ok := op[field]; ok {
		if err := json.Unmarshal(raw, v); err != nil {
			panic(fmt.Sprintf("field %s of %s: %v", field, op.name(), err))
		}
	}
}

// snapshot is a partition as a recording shows it; fields that a step dropped are nil.
type snapshot struct {
	Leader         *int
	LeaderEpoch    *int
	PartitionEpoch *int
	Replicas       []int
	ISR            []int
	ELR            []int
	LastKnownELR   []int `json:"lastKnownElr"`
	Adding         []int
	Removing       []int
	Recovery       string // "RECOVERING" while it is so
	Logs           map[string]*logSnapshot
}

type logSnapshot struct {
	Start  *int64
	LEO    *int64
	HW     *int64
	Epochs epochList
	// Records are "offset:value@epoch"; only some recordings have them.
	Records []string
}

type batchSnapshot struct {
	Base, Last  int64
	LeaderEpoch int32
	Size        int32
	PID         string `json:"pid"`
	PEpoch      *int16
	Seq         []int32
	Records     []string
	Txn         bool
	Control     string // COMMIT or ABORT
}

func sorted(ids []int) []int {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return ids
}

// epochList is an epoch cache; nil when a recording has dropped an entry of it.
type epochList [][2]int64

// UnmarshalJSON reads a list whose entries may be {}, for dropped.
func (l *epochList) UnmarshalJSON(data []byte) error {
	if bytes.Contains(data, []byte("{")) {
		return nil
	}
	return json.Unmarshal(data, (*[][2]int64)(l))
}
