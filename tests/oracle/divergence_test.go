package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Steps of bc1: a leader and a follower begin with logs that were written by hand.

// round is one truncation of the follower.
type round struct {
	DivergingEpoch int32
	EndOffset      int64
	TruncateTo     int64
	Complete       bool
}

// raiseLeaderEpochs makes the topics of the next steps and lets leaderships go to and fro until every epoch
// is what was recorded. (The recorder reordered the replicas; crashes do the same to the epoch.)
func (r *replay) raiseLeaderEpochs(_ Operation, saw json.RawMessage) error {
	var want struct{ LeaderEpochs []int32 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for _, step := range r.rec.Steps {
		var logs map[string]json.RawMessage
		if step.Do.name() != "craftLogs" {
			continue
		}
		if err := json.Unmarshal(step.Saw, &logs); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(logs)) {
			res := r.Apply(machine.CreateTopic{Name: name, Props: r.World.Broker.Topic, Assignment: [][]machine.NodeID{{1, 2}}})
			if res.Error != machine.NONE {
				return fmt.Errorf("CreateTopic %s: %v", name, res.Error)
			}
			r.topics[name] = res.ID
		}
	}
	r.quiet()
	for e := int32(0); e < want.LeaderEpochs[0]; e++ {
		id := machine.NodeID(e%2 + 1)
		r.Apply(machine.CrashBroker{Broker: id})
		if !r.await(patience, func() bool {
			return r.everywhere(func(p *machine.PartitionRegistration) bool { return p.LeaderEpoch == e+1 })
		}) {
			return fmt.Errorf("no epoch %d", e+1)
		}
		r.Apply(machine.StartBroker{Broker: id})
		if !r.await(patience, func() bool {
			return r.everywhere(func(p *machine.PartitionRegistration) bool { return len(p.ISR) == 2 })
		}) {
			return fmt.Errorf("broker %d is not back in epoch %d", id, e+1)
		}
		r.quiet()
	}
	return nil
}

// everywhere tells whether all partitions are so.
func (r *replay) everywhere(so func(*machine.PartitionRegistration) bool) bool {
	for t := range r.Metadata().Topics {
		if !so(&r.Metadata().Topics[t].Partitions[0]) {
			return false
		}
	}
	return true
}

// craftLogs gives dead brokers the logs that the recorder wrote.
func (r *replay) craftLogs(_ Operation, saw json.RawMessage) error {
	var logs map[string]struct{ Leader, Follower string }
	if err := json.Unmarshal(saw, &logs); err != nil {
		return err
	}
	for name, l := range logs {
		tp := machine.TopicPartition{Topic: r.topics[name]}
		for id, spec := range map[int]string{1: l.Leader, 2: l.Follower} {
			log, err := crafted(spec)
			if err != nil {
				return err
			}
			rep := r.replica(id, tp)
			rep.Log, rep.Checkpoint = log, 0
		}
		r.Truth.Partitions[r.TopicBase[tp.Topic]].DiskLoss = true
	}
	return nil
}

// crafted makes a log from "epoch:records,…", one batch a record.
func crafted(spec string) (partlog.Log, error) {
	var l partlog.Log
	for _, run := range strings.FieldsFunc(spec, func(r rune) bool { return r == ',' }) {
		var epoch int32
		var n int
		if _, err := fmt.Sscanf(run, "%d:%d", &epoch, &n); err != nil {
			return l, fmt.Errorf("log %q: %w", spec, err)
		}
		for range n {
			l.Append(partlog.Batch{BaseOffset: l.End, LeaderEpoch: epoch, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Size: 70, Sender: -2,
				Serial: epoch<<16 + int32(l.End), Records: partlog.PackRecords(partlog.Record{Value: fmt.Sprintf("e%d@%d", epoch, l.End), Flags: partlog.NullKey})}, 1<<30)
		}
	}
	return l, nil
}

// watchTruncation keeps what a follower was told about diverging logs, and what it did.
func (r *replay) watchTruncation() func(*machine.Event) {
	e, ok := r.Peek()
	m, is := e.Payload.(machine.FetchResponse)
	if !ok || !is || !e.To.IsBroker() {
		return nil
	}
	known := map[machine.TopicPartition]bool{}
	for _, p := range m.Parts {
		if p.Diverging.Epoch >= 0 {
			if rep := r.replica(int(e.To), p.TP); rep != nil {
				f, _ := rep.Log.Epochs.EndOffsetFor(p.Diverging.Epoch, rep.Log.End)
				known[p.TP] = f < 0 || f == p.Diverging.Epoch
			}
		}
	}
	return func(e *machine.Event) {
		for _, p := range e.Payload.(machine.FetchResponse).Parts {
			if complete, ok := known[p.TP]; ok {
				r.rounds[p.TP] = append(r.rounds[p.TP], round{p.Diverging.Epoch, p.Diverging.Offset, r.replica(int(e.To), p.TP).Log.End, complete})
			}
		}
	}
}

// truncationResult compares the rounds of one topic and where they led.
func (r *replay) truncationResult(op Operation, saw json.RawMessage) error {
	var want struct {
		Rounds                       []round
		FollowerEpochs, LeaderEpochs [][2]int64
		Records                      []string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	if !r.await(patience, func() bool { return len(r.registration(tp).ISR) == 2 }) {
		return fmt.Errorf("the follower does not come back")
	}
	r.quiet()
	if got := r.rounds[tp]; !slices.Equal(got, want.Rounds) {
		return fmt.Errorf("rounds %+v, want %+v", got, want.Rounds)
	}
	leo := int64(len(want.Records))
	for id, epochs := range map[int][][2]int64{1: want.LeaderEpochs, 2: want.FollowerEpochs} {
		snap := logSnapshot{LEO: &leo, Epochs: epochs, Records: want.Records}
		if id == 1 {
			snap.HW = &leo // the follower's is not recorded: what it was told with the diverging answer is not news again (R2.8)
		}
		if err := r.compareLog(id, tp, &snap); err != nil {
			return fmt.Errorf("broker %d: %w", id, err)
		}
	}
	return nil
}
