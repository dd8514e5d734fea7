package oracle

import (
	"encoding/json"
	"fmt"

	"kafkalab/kafkasim/machine"
)

func init() {
	operations["fetchWithEpochs"] = (*replay).fetchWithEpochs
	operations["fetchAtFollower"] = (*replay).fetchAtFollower
	operations["fetchAtFollowerNoEpoch"] = (*replay).fetchAtFollower
	operations["listOffsetsAtFollower"] = (*replay).listOffsetsAtFollower
}

// fetchOf is a consumer's fetch: at an offset, believing in an epoch, after a record of another.
func (r *replay) fetchOf(to int, tp machine.TopicPartition, offset int64, epoch, last int32) (machine.FetchResult, error) {
	answer, ok := r.call(to, machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Parts: []machine.FetchPart{{
		TP: tp, FetchOffset: offset, LeaderEpoch: epoch, LastFetchedEpoch: last, LogStartOffset: -1, MaxBytes: 1 << 20,
	}}}).(machine.FetchResponse)
	if !ok {
		return machine.FetchResult{}, fmt.Errorf("no answer to a fetch")
	}
	return answer.Parts[0], nil
}

// fetchWithEpochs asks the leader with offsets and epochs that fit and that do not (R1.27, R1.28, R2.4).
func (r *replay) fetchWithEpochs(op Operation, saw json.RawMessage) error {
	var want []struct {
		Fetch  [3]int64
		Answer json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	for _, w := range want {
		got, err := r.fetchOf(r.leader(tp), tp, w.Fetch[0], int32(w.Fetch[1]), int32(w.Fetch[2]))
		if err != nil {
			return err
		}
		if err := compareFetch(&got, w.Fetch[0], w.Answer); err != nil {
			return fmt.Errorf("fetch %v: %w", w.Fetch, err)
		}
		var div struct {
			Diverging *struct {
				Epoch     int32
				EndOffset int64
			}
		}
		if err := json.Unmarshal(w.Answer, &div); err != nil {
			return err
		}
		end := machine.EpochEnd{Epoch: -1, Offset: -1}
		if div.Diverging != nil {
			end = machine.EpochEnd{Epoch: div.Diverging.Epoch, Offset: div.Diverging.EndOffset}
		}
		if got.Diverging != end {
			return fmt.Errorf("fetch %v: diverging %+v, want %+v", w.Fetch, got.Diverging, end)
		}
	}
	return nil
}

// fetchAtFollower asks a follower for everything: a modern consumer may (R1.29).
func (r *replay) fetchAtFollower(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	epoch := int32(-1)
	if op.name() == "fetchAtFollower" {
		epoch = r.registration(tp).LeaderEpoch
	}
	got, err := r.fetchOf(int(op.num("broker", 0)), tp, 0, epoch, -1)
	if err != nil {
		return err
	}
	return compareFetch(&got, 0, saw)
}

func (r *replay) listOffsetsAtFollower(op Operation, saw json.RawMessage) error {
	return r.listOffsetsAt(int(op.num("broker", 0)), r.tp(op), machine.LatestTimestamp, saw)
}
