package oracle

import (
	"encoding/json"
	"fmt"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

func init() {
	operations["produced"] = (*replay).produced
	operations["produceAfter"] = (*replay).produceAfter
	operations["deleteRecords"] = (*replay).deleteRecords
	operations["fetch"] = (*replay).consumerFetchOrSession
	operations["snapshotLogs"] = (*replay).snapshotLogs
	operations["consumerStart"] = (*replay).consumerStart
}

// notCompared notes a step that only looks, at something that the simulator does not have.
func (r *replay) notCompared(op Operation, why string) error {
	r.t.Logf("not compared: %s: %s", describe(op), why)
	return nil
}

// produced is ten records in batches of one, seen from the last two.
func (r *replay) produced(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	n := op.num("records", 0)
	for i := range n {
		if err := r.produceTo(r.leader(tp), tp, -1, 4000, []string{fmt.Sprint("v", i)}, json.RawMessage(`{"error":"NONE"}`)); err != nil {
			return err
		}
	}
	got, err := r.fetchOf(r.leader(tp), tp, n-2, -1, -1)
	if err != nil {
		return err
	}
	return compareFetch(&got, n-2, saw)
}

func (r *replay) produceAfter(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	return r.produceTo(r.leader(tp), tp, -1, 4000, []string{"w"}, saw)
}

// deleteRecords asks as Kafka's Admin client does, and then for the two ends of the log.
func (r *replay) deleteRecords(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	answer, ok := r.call(r.leader(tp), machine.DeleteRecordsRequest{TimeoutMs: 30000,
		Parts: []machine.DeletePart{{TP: tp, Before: op.num("before", 0)}}}).(machine.DeleteRecordsResponse)
	if !ok {
		return fmt.Errorf("no answer to DeleteRecords")
	}
	var want struct {
		Result           string
		Earliest, Latest json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	got := "OK"
	if code := answer.Parts[0].Error; code != machine.NONE {
		got = javaName(code)
	}
	if got != want.Result {
		return fmt.Errorf("answered %s, want %s", got, want.Result)
	}
	if err := r.listOffsetsAt(r.leader(tp), tp, machine.EarliestTimestamp, want.Earliest); err != nil {
		return fmt.Errorf("earliest: %w", err)
	}
	if err := r.listOffsetsAt(r.leader(tp), tp, machine.LatestTimestamp, want.Latest); err != nil {
		return fmt.Errorf("latest: %w", err)
	}
	return nil
}

func (r *replay) snapshotLogs(op Operation, saw json.RawMessage) error {
	r.quiet()
	return r.compareSnapshot(op, json.RawMessage(`{"logs":`+string(saw)+`}`))
}

// consumerStart lets a consumer begin, with a committed offset or without, and looks at the first record and
// at where it stands then. There are no groups here: a committed offset is a position that it is given.
func (r *replay) consumerStart(op Operation, saw json.RawMessage) error {
	props, problem := config.ParseConsumer(map[string]any{"auto.offset.reset": op.str("auto.offset.reset")})
	if problem != nil {
		return fmt.Errorf("%w: %s", errInexpressible, problem.Text)
	}
	id := r.Apply(machine.NewConsumer{Name: fmt.Sprint("c", len(r.Consumers)), Props: props}).ID
	tp := r.tp(op)
	r.Apply(machine.Assign{Consumer: id, Topic: r.topic, Partitions: []int32{tp.Partition}})
	if op.has("committed") {
		r.Apply(machine.Seek{Consumer: id, Topic: r.topic, Partition: tp.Partition, Offset: op.num("committed", 0)})
	}
	var want struct {
		First, Exception string
		PositionAfter    any // a number, or what position() throws when there is none
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	first, exception := "none", ""
	for range 5 {
		r.Apply(machine.StartPoll{Consumer: id, Timeout: 2000 * millis})
		c := &r.Consumers[id]
		r.await(5000*millis, func() bool { return !c.Poll.Running })
		if len(c.Poll.Records) > 0 && first == "none" {
			x := &c.Poll.Records[0]
			first = fmt.Sprintf("%d:%s", x.Offset, x.Records.At(int(x.From)).Value)
		}
		if c.Poll.Error != machine.NONE {
			exception = c.Poll.Error.String()
			break
		}
	}
	if exception != want.Exception {
		return fmt.Errorf("throws %q, want %q", exception, want.Exception)
	}
	var at any = float64(r.Consumers[id].Parts[0].Position)
	if r.Consumers[id].Parts[0].Position < 0 {
		at = "TimeoutException"
	}
	if want.Exception == "" && (first != want.First || at != want.PositionAfter) {
		return fmt.Errorf("first %s, position %v, want %s, %v", first, at, want.First, want.PositionAfter)
	}
	r.Apply(machine.CloseConsumer{Consumer: id})
	return nil
}
