package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Steps of n1 and o1: what retention and compaction leave of a log.

func init() {
	operations["waitCleaned"] = (*replay).waitCleaned
	operations["produceSegments"] = (*replay).produceSegments
	inherited := operations["alterTopicConfig"]
	operations["alterTopicConfig"] = func(r *replay, op Operation, saw json.RawMessage) error {
		if op.has("retention.bytes") {
			return r.alterRetention(op, saw)
		}
		return inherited(r, op, saw)
	}
	operations["waitMs"] = (*replay).waitMs
	operations["produceNext"] = (*replay).produceAfter
	operations["createTopicSmallSegment"] = (*replay).createTopicSmallSegment
	operations["createTopicInternalSegment"] = (*replay).createTopicInternalSegment
	operations["rollBySize"] = (*replay).rollBySize
	operations["deleteRecordsOnCompacted"] = (*replay).deleteRecordsOnCompacted
	operations["produceNullKeyToCompacted"] = (*replay).produceNullKeyToCompacted
}

// compacts tells whether the topic of the last step is compacted: the recorder's records then have keys.
func (r *replay) compacts() bool {
	id, known := r.topics[r.topic]
	return known && r.Metadata().Topics[id].Props.CleanupPolicy.Compacts()
}

// keyed reads "key=value"; a value of null is a tombstone.
func keyed(text string, now int64) partlog.Record {
	key, value, _ := strings.Cut(text, "=")
	x := partlog.Record{Key: key, Value: value, Timestamp: now}
	if value == "null" {
		x.Value, x.Flags = "", partlog.NullValue
	}
	return x
}

// segmentBases are the first offsets of a replica's segment files.
func (r *replay) segmentBases(broker int, tp machine.TopicPartition) []string {
	l := &r.replica(broker, tp).Log
	var out []string
	for i := range l.Sealed {
		out = append(out, fmt.Sprint(l.Sealed[i].BaseOffset))
	}
	return append(out, fmt.Sprint(l.Active.BaseOffset))
}

// dumpSegments compares a replica's segments and batches, with keys.
func (r *replay) dumpSegments(op Operation, saw json.RawMessage) error {
	var want struct {
		SegmentBases []string
		Batches      []batchSnapshot
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	broker := int(op.num("broker", int64(r.leader(tp))))
	if err := equalLists("segments", r.segmentBases(broker, tp), want.SegmentBases); err != nil {
		return err
	}
	got := []batchSnapshot{}
	l := &r.replica(broker, tp).Log
	l.Batches(l.LogStart, func(b *partlog.Batch) bool {
		s := batchSnapshot{Base: b.BaseOffset, Last: b.NextOffset() - 1, LeaderEpoch: b.LeaderEpoch, Size: b.Size}
		for i, x := range b.Records.All() {
			if x.Flags&partlog.NullValue != 0 {
				x.Value = "null"
			}
			s.Records = append(s.Records, fmt.Sprintf("%d:%s=%s", b.BaseOffset+int64(i), x.Key, x.Value))
		}
		if b.Size != int32(len(b.Encode())) {
			r.t.Errorf("offset %d: %d bytes, encoded %d", b.BaseOffset, b.Size, len(b.Encode()))
		}
		got = append(got, s)
		return true
	})
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want.Batches)
	if string(g) != string(w) {
		return fmt.Errorf("log of broker %d\n got  %s\n want %s", broker, g, w)
	}
	r.run(400 * millis) // the recorder's pause, longer than segment.ms: the next batch begins a segment
	return nil
}

// waitCleaned waits for a pass of the cleaner. From the first one on the recorder waited for each segment.
func (r *replay) waitCleaned(op Operation, saw json.RawMessage) error {
	r.run(1000 * millis)
	r.pause = 400
	return r.dumpSegments(op, saw)
}

func (r *replay) compareSegments(op Operation, saw json.RawMessage) error {
	var want struct {
		SegmentsOnLeader []string
		Earliest, Latest json.RawMessage
		Logs             json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	if want.SegmentsOnLeader != nil {
		if err := equalLists("segments", r.segmentBases(r.leader(tp), tp), want.SegmentsOnLeader); err != nil {
			return err
		}
	}
	if want.Earliest != nil {
		if err := r.listOffsetsAt(r.leader(tp), tp, machine.EarliestTimestamp, want.Earliest); err != nil {
			return fmt.Errorf("earliest: %w", err)
		}
	}
	if want.Latest != nil {
		if err := r.listOffsetsAt(r.leader(tp), tp, machine.LatestTimestamp, want.Latest); err != nil {
			return fmt.Errorf("latest: %w", err)
		}
	}
	if want.Logs != nil {
		return r.compareSnapshot(op, saw)
	}
	return nil
}

// produceSegments appends batches of one record of ten bytes, each late enough to begin a segment.
func (r *replay) produceSegments(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	for range op.num("segments", 0) {
		r.run(200 * millis)
		batch := r.batch([]string{"0123456789"})
		if want := op.num("batchBytes", int64(batch.Size)); int64(batch.Size) != want {
			return fmt.Errorf("a batch of %d bytes, want %d", batch.Size, want)
		}
		if err := r.send(r.leader(tp), tp, -1, 4000, batch, json.RawMessage(`{"error":"NONE"}`)); err != nil {
			return err
		}
	}
	if !op.has("retention.ms") {
		r.run(1500 * millis)
	}
	return r.compareSegments(op, saw)
}

func (r *replay) alterRetention(op Operation, saw json.RawMessage) error {
	t := &r.Metadata().Topics[r.topics[r.topic]]
	given := map[string]any{"retention.bytes": op.num("retention.bytes", -1)}
	props, set, problem := config.AlterTopic(r.World.Broker.Topic, t.Props, t.Set, given)
	if problem != nil {
		return fmt.Errorf("AlterTopic: %s", problem.Text)
	}
	r.Apply(machine.AlterTopic{Topic: r.topic, Props: props, Set: set})
	r.run(1500 * millis)
	return r.compareSegments(op, saw)
}

func (r *replay) waitMs(op Operation, saw json.RawMessage) error {
	r.run(op.num("ms", 0) * millis)
	return r.compareSegments(op, saw)
}

// createTopicSmallSegment is refused: Kafka has a least segment.bytes, for people.
func (r *replay) createTopicSmallSegment(op Operation, saw json.RawMessage) error {
	_, problem := config.ParseTopic(r.World.Broker.Topic, map[string]any{"segment.bytes": op.num("segment.bytes", 0)})
	if (problem != nil) != (string(saw) == `"InvalidConfigurationException"`) {
		return fmt.Errorf("answered %v, want %s", problem, saw)
	}
	return nil
}

// createTopicInternalSegment makes a topic with smaller segments, as Kafka's own tests may.
func (r *replay) createTopicInternalSegment(op Operation, _ json.RawMessage) error {
	props := r.World.Broker.Topic
	props.SegmentBytes = op.num("internal.segment.bytes", 0)
	res := r.Apply(machine.CreateTopic{Name: "o3", Props: props, Assignment: [][]machine.NodeID{{1, 2, 3}}})
	r.topic = "o3"
	r.topics[r.topic] = res.ID
	r.quiet()
	return nil
}

func (r *replay) rollBySize(op Operation, saw json.RawMessage) error {
	var want struct {
		SegmentBases []string
		TooLarge     json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	for range 10 {
		if err := r.produceTo(r.leader(tp), tp, -1, 4000, []string{"0123456789"}, json.RawMessage(`{"error":"NONE"}`)); err != nil {
			return err
		}
	}
	if got := r.segmentBases(r.leader(tp), tp); !slices.Equal(got, want.SegmentBases) {
		return fmt.Errorf("segments %v, want %v", got, want.SegmentBases)
	}
	return r.produceTo(r.leader(tp), tp, -1, 4000, []string{strings.Repeat("x", 300)}, want.TooLarge)
}

func (r *replay) deleteRecordsOnCompacted(op Operation, saw json.RawMessage) error {
	answer, ok := r.call(r.leader(r.tp(op)), machine.DeleteRecordsRequest{TimeoutMs: 30000,
		Parts: []machine.DeletePart{{TP: r.tp(op), Before: 0}}}).(machine.DeleteRecordsResponse)
	if !ok || answer.Parts[0].Error != machine.POLICY_VIOLATION || string(saw) != `"PolicyViolationException"` {
		return fmt.Errorf("answered %+v, want %s", answer, saw)
	}
	return nil
}

// produceNullKeyToCompacted sends what has no key (R7.13).
func (r *replay) produceNullKeyToCompacted(op Operation, saw json.RawMessage) error {
	batch := r.batch([]string{"x"})
	batch.Records = partlog.PackRecords(partlog.Record{Value: "x", Flags: partlog.NullKey, Timestamp: r.Now / millis})
	return r.send(r.leader(r.tp(op)), r.tp(op), -1, 4000, batch, saw)
}
