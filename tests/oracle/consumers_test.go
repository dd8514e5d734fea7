package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// fb1 and fc1: what Java consumers get from their polls.

func init() {
	operations["javaPolls"] = (*replay).javaPolls
	operations["pauseKeepsBuffer"] = (*replay).pauseKeepsBuffer
	operations["javaConsumersReadTo5"] = (*replay).consumersReadTo5
	operations["javaConsumersPollOn"] = (*replay).consumersPollOn
	operations["javaRestartFromCommitted5"] = (*replay).restartFromCommitted
	operations["offsetsForLeaderEpoch"] = (*replay).offsetsForLeaderEpoch
	for _, name := range []string{"kill9", "start"} { // fc1 looks at the partition after each
		inherited := operations[name]
		operations[name] = func(r *replay, op Operation, saw json.RawMessage) error {
			if r.rec.Scenario != "fc1-consumer-truncation" {
				return inherited(r, op, saw)
			}
			if err := inherited(r, op, nil); err != nil {
				return err
			}
			if name == "start" { // the stalled connections were the dead process's
				r.Apply(machine.HealLink{A: 1, B: 2})
				r.await(60_000*millis, func() bool { return len(r.registration(r.tp(op)).ISR) == 2 })
			}
			return r.snapshot(op, saw)
		}
	}
}

// topicFor makes a topic that the recording takes for granted.
func (r *replay) topicFor(name string, props config.Topic, assignment ...[]machine.NodeID) error {
	res := r.administer(machine.CreateTopic{Name: name, Props: props, Assignment: assignment}, 10_000*millis)
	if res.Error != machine.NONE {
		return fmt.Errorf("no topic: %v", res.Error)
	}
	r.topic, r.topics[name] = name, res.ID
	r.run(1500 * millis)
	return nil
}

// consumerWith makes a consumer of the recording's topic.
func (r *replay) consumerWith(properties map[string]any, partitions ...int32) int32 {
	props, problem := config.ParseConsumer(properties)
	if problem != nil {
		r.t.Fatal(problem.Text)
	}
	id := r.Apply(machine.NewConsumer{Name: fmt.Sprint("c", len(r.Consumers)), Props: props}).ID
	r.Apply(machine.Assign{Consumer: id, Topic: r.topic, Partitions: partitions})
	return id
}

// poll lets a consumer poll once, and gives back its records as offset:value.
func (r *replay) poll(id int32, timeout int64) (records []string, partitions []int32) {
	r.Apply(machine.StartPoll{Consumer: id, Timeout: timeout})
	r.await(timeout+10*millis, func() bool { return !r.Consumers[id].Poll.Running })
	for i := range r.Consumers[id].Poll.Records {
		row := &r.Consumers[id].Poll.Records[i]
		for offset, x := range row.All() {
			records = append(records, fmt.Sprintf("%d:%s", offset, x.Value))
			partitions = append(partitions, row.TP.Partition)
		}
	}
	return records, partitions
}

// javaPolls reads two partitions by max.poll.records.
func (r *replay) javaPolls(op Operation, saw json.RawMessage) error {
	n := int(op.num("recordsPerPartition", 0))
	if err := r.topicFor("polls-"+op.str("group.protocol"), r.World.Broker.Topic, []machine.NodeID{1}, []machine.NodeID{1}); err != nil {
		return err
	}
	for p := range int32(2) {
		tp := machine.TopicPartition{Topic: r.topics[r.topic], Partition: p}
		var values []string
		for i := range n {
			values = append(values, fmt.Sprint(i))
		}
		if err := r.produceTo(1, tp, -1, 4000, values, json.RawMessage(`{"error":"NONE"}`)); err != nil {
			return err
		}
	}
	var want, got []string
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := r.consumerWith(map[string]any{"auto.offset.reset": "earliest", "max.poll.records": op.num("max.poll.records", 0)}, 0, 1)
	for left := 2 * n; left > 0; {
		records, from := r.poll(id, 3000*millis)
		if len(records) == 0 {
			return fmt.Errorf("polls %v, and then nothing; want %v", got, want)
		}
		words := fmt.Sprint(len(records))
		if from[0] != from[len(from)-1] {
			words += " (both)"
		}
		got = append(got, words)
		left -= len(records)
	}
	return equalLists("polls", got, want)
}

// pauseKeepsBuffer pauses, resumes and seeks between polls of the first partition.
func (r *replay) pauseKeepsBuffer(op Operation, saw json.RawMessage) error {
	var want, got []string
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := r.consumerWith(map[string]any{"auto.offset.reset": "earliest", "max.poll.records": op.num("max.poll.records", 0)}, 0)
	at := func() int64 { return r.Consumers[id].Parts[0].Position }
	seek := func(offset int64) (first string, n int) {
		r.Apply(machine.Seek{Consumer: id, Topic: r.topic, Offset: offset})
		for range 5 {
			if records, _ := r.poll(id, 2000*millis); len(records) > 0 {
				first, _, _ = strings.Cut(records[0], ":")
				return first, len(records)
			}
		}
		return "none", 0
	}
	records, _ := r.poll(id, 2000*millis)
	got = append(got, fmt.Sprintf("poll %d pos %d", len(records), at()))
	r.Apply(machine.PauseConsumer{Consumer: id, Topic: r.topic})
	records, _ = r.poll(id, 1000*millis)
	got = append(got, fmt.Sprintf("paused poll %d pos %d", len(records), at()))
	r.Apply(machine.ResumeConsumer{Consumer: id, Topic: r.topic})
	records, _ = r.poll(id, 2000*millis)
	got = append(got, fmt.Sprintf("resumed poll %d pos %d", len(records), at()))
	first, n := seek(5)
	got = append(got, fmt.Sprintf("after seek 5: first offset %s count %d pos %d", first, n, at()))
	first, n = seek(1000)
	got = append(got, fmt.Sprintf("seek 1000 (out of range): count %d first %s pos %d", n, first, at()))
	return equalLists("polls", got, want)
}

// produceForConsumers is a produce step of fc1, which is followed by a look at the partition, or at what a consumer
// can fetch.
func (r *replay) produceForConsumers(op Operation, saw json.RawMessage) error {
	if r.topic == "" {
		props := r.World.Broker.Topic
		props.UncleanLeaderElectionEnable = true
		if err := r.topicFor("fc", props, []machine.NodeID{1, 2}); err != nil {
			return err
		}
	}
	tp := r.tp(op)
	to := int(op.num("toBroker", int64(r.leader(tp))))
	for _, value := range op.strs("values") {
		if err := r.produceTo(to, tp, int8(op.num("acks", -1)), 8000, []string{value}, json.RawMessage(`{"error":"NONE"}`)); err != nil {
			return err
		}
	}
	if op.has("toBroker") {
		return r.consumerFetch(Operation{"op": json.RawMessage(`"fetch"`)}, saw)
	}
	if len(saw) == 0 {
		return nil
	}
	r.await(20_000*millis, func() bool { return len(r.registration(tp).ISR) == 1 })
	return r.snapshot(op, saw)
}

// policies are those of fc1's consumers, one each; the recording has them with both group protocols.
var policies = []string{"none", "earliest", "latest"}

func (r *replay) eachPolicy(saw json.RawMessage, prefixes []string, what func(i int, policy string) []string) error {
	var want map[string][]string
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for i, policy := range policies {
		got := what(i, policy)
		for _, prefix := range prefixes {
			if err := equalLists(prefix+policy, got, want[prefix+policy]); err != nil {
				return err
			}
		}
	}
	return nil
}

var protocols = []string{"classic/", "consumer/"}

func (r *replay) consumersReadTo5(_ Operation, saw json.RawMessage) error {
	return r.eachPolicy(saw, protocols, func(_ int, policy string) []string {
		id := r.consumerWith(map[string]any{"auto.offset.reset": policy}, 0)
		r.Apply(machine.Seek{Consumer: id, Topic: r.topic})
		records, _ := r.poll(id, 5000*millis)
		r.readers = append(r.readers, id)
		return records
	})
}

func (r *replay) consumersPollOn(op Operation, saw json.RawMessage) error {
	return r.eachPolicy(saw, protocols, func(i int, _ string) []string {
		return r.pollOn(r.readers[i], op.num("ms", 4000)*millis)
	})
}

// pollOn is what a consumer gets within a time, and where it stands then.
func (r *replay) pollOn(id int32, d int64) (out []string) {
	for until := r.Now + d; r.Now < until; {
		records, _ := r.poll(id, until-r.Now)
		out = append(out, records...)
		if c := &r.Consumers[id]; c.Poll.Error != machine.NONE {
			p := &c.Parts[0]
			out = append(out, fmt.Sprintf("%s divergent [%d@epoch%d] partitions [%d]", c.Poll.Error, c.Poll.DivergesAt, p.Epoch, p.Position))
			if p.State == machine.PositionAwaitValidation {
				out = append(out, "position: TimeoutException")
			}
			return out
		}
	}
	return append(out, fmt.Sprint("position ", r.Consumers[id].Parts[0].Position))
}

// restartFromCommitted begins at a committed offset, which has its leader epoch with it (S-10).
func (r *replay) restartFromCommitted(_ Operation, saw json.RawMessage) error {
	return r.eachPolicy(saw, []string{""}, func(_ int, policy string) []string {
		id := r.consumerWith(map[string]any{"auto.offset.reset": policy}, 0)
		r.Apply(machine.Seek{Consumer: id, Topic: r.topic, Offset: 5, EpochKnown: true, Epoch: 0})
		out := r.pollOn(id, 4000*millis)
		if i := slices.IndexFunc(out, func(s string) bool { return strings.HasPrefix(s, "LogTruncationException") }); i >= 0 {
			return []string{"LogTruncationException"}
		}
		return out[:len(out)-1] // without the position, which the recording does not have there
	})
}

func (r *replay) offsetsForLeaderEpoch(op Operation, saw json.RawMessage) error {
	var want struct {
		Error     string
		Epoch     int32
		EndOffset int64
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	answer, ok := r.call(int(op.num("broker", 0)), machine.OffsetsForLeaderEpochRequest{Parts: []machine.EpochQuery{
		{TP: r.tp(op), CurrentEpoch: -1, Epoch: int32(op.num("askedEpoch", 0))}}}).(machine.OffsetsForLeaderEpochResponse)
	if !ok {
		return fmt.Errorf("no answer")
	}
	if got := answer.Parts[0]; got.Error.String() != want.Error || got.End != (machine.EpochEnd{Epoch: want.Epoch, Offset: want.EndOffset}) {
		return fmt.Errorf("%v, want %+v", got, want)
	}
	return nil
}
