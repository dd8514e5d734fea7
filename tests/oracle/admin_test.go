package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

func init() {
	for name, run := range map[string]func(*replay, Operation, json.RawMessage) error{
		"elect":             (*replay).elect,
		"electPreferred":    (*replay).elect,
		"electUnclean":      (*replay).elect,
		"reassign":          (*replay).reassign,
		"cancelReassign":    (*replay).reassign,
		"waitReassigned":    (*replay).waitReassigned,
		"alterTopicConfig":  (*replay).alterTopicConfig,
		"deleteTopicConfig": (*replay).alterTopicConfig,
		// Defaults of brokers and of the cluster are fixed with the world. What these steps did in the
		// recording shows in ClearElrRecords only, which say nothing about the partitions by then.
		"alterBrokerConfig":          (*replay).skip,
		"alterClusterDefaultConfig":  (*replay).skip,
		"deleteClusterDefaultConfig": (*replay).skip,
	} {
		operations[name] = run
	}
}

func (r *replay) skip(op Operation, _ json.RawMessage) error {
	r.verification(op)
	return nil
}

// javaName is the Java client's exception for a protocol error.
func javaName(code machine.Code) string {
	if code == machine.NONE {
		return ""
	}
	return exceptionName(code.String())
}

// answered compares an administrator's answer: an exception, or success.
func answered(code machine.Code, saw json.RawMessage) (failed bool, err error) {
	var want struct{ Exception string }
	_ = json.Unmarshal(saw, &want)
	if got := javaName(code); got != want.Exception {
		return true, fmt.Errorf("answered %q, want %q", got, want.Exception)
	}
	return want.Exception != "", nil
}

// elect holds an election; the recording shows the result, and often the partition behind it.
func (r *replay) elect(op Operation, saw json.RawMessage) error {
	unclean := op.str("type") == "UNCLEAN" || op.name() == "electUnclean"
	res := r.Apply(machine.ElectLeaders{TP: r.tp(op), Unclean: unclean})
	var both []json.RawMessage
	if err := json.Unmarshal(saw, &both); err != nil {
		both = []json.RawMessage{saw}
	}
	var want struct{ Result string }
	if err := json.Unmarshal(both[0], &want); err != nil {
		_ = json.Unmarshal(both[0], &want.Result)
	}
	got := "OK"
	if res.Error != machine.NONE {
		got = javaName(res.Error)
	}
	if want.Result != "" && got != want.Result {
		return fmt.Errorf("answered %s, want %s", got, want.Result)
	}
	if len(both) < 2 {
		return nil
	}
	return r.snapshot(op, both[1])
}

// reassign moves a partition, or cancels that. While it is under way nothing but the controller's record is
// looked at, as in the recording.
func (r *replay) reassign(op Operation, saw json.RawMessage) error {
	cmd := machine.Reassign{TP: r.tp(op)}
	for _, id := range op.ints("to") {
		cmd.Replicas = append(cmd.Replicas, machine.NodeID(id))
	}
	failed, err := answered(r.Apply(cmd).Error, saw)
	if failed || err != nil {
		return err
	}
	r.quiet()
	return r.compareSnapshot(op, saw)
}

func (r *replay) waitReassigned(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	if !r.await(patience, func() bool { return len(r.registration(tp).Adding)+len(r.registration(tp).Removing) == 0 }) {
		return errors.New("the reassignment does not end")
	}
	return r.snapshot(op, saw)
}

// alterTopicConfig sets or deletes properties of a topic; the recording shows the partition, or the topic's
// records in the metadata log.
func (r *replay) alterTopicConfig(op Operation, saw json.RawMessage) error {
	if bytes.Contains(saw, []byte("TimeoutException")) {
		return r.alterInTime(op, saw)
	}
	tp := r.tp(op)
	image := &r.Metadata().Topics[tp.Topic]
	given := map[string]any{}
	for name := range op {
		if row, ok := config.Lookup(config.OwnerTopic, name); ok && row.Modelled {
			given[name] = op.str(name)
		}
	}
	if op.has("key") {
		given[op.str("key")] = nil
	}
	props, set, problem := config.AlterTopic(r.World.Broker.Topic, image.Props, image.Set, given)
	if problem != nil {
		return fmt.Errorf("%w: %s", errInexpressible, problem.Text)
	}
	if res := r.Apply(machine.AlterTopic{Topic: image.Name, Props: props, Set: set}); res.Error != machine.NONE {
		return fmt.Errorf("AlterTopic: %v", res.Error)
	}
	if len(saw) > 0 && saw[0] == '[' {
		var want []struct{ Rec string }
		if err := json.Unmarshal(saw, &want); err != nil {
			return err
		}
		var names []string
		for _, w := range want {
			names = append(names, w.Rec)
		}
		return equalLists("records", r.topicRecords(tp.Topic), names)
	}
	return r.snapshot(op, saw)
}

// topicRecords names the records that a recording lists for a topic.
func (r *replay) topicRecords(topic int32) []string {
	var names []string
	for i := range r.MetadataLog() {
		rec := &r.MetadataLog()[i]
		if rec.TP.Topic != topic {
			continue
		}
		switch rec.Kind {
		case machine.PartitionRecord:
			names = append(names, "Partition")
		case machine.PartitionChangeRecord:
			names = append(names, "PartitionChange")
		case machine.ClearElrRecord:
			names = append(names, "ClearElrRecord")
		}
	}
	return names
}
