package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// fa1: raw fetches with sessions. Its topic has three partitions on one broker with a record each before the first
// step.
func (r *replay) sessionTopic() error {
	if r.topic != "" {
		return nil
	}
	props := r.World.Broker.Topic
	res := r.administer(machine.CreateTopic{Name: "fetch", Props: props, Assignment: [][]machine.NodeID{{1}, {1}, {1}}}, 10_000*millis)
	if res.Error != machine.NONE {
		return fmt.Errorf("no topic: %v", res.Error)
	}
	r.topic, r.topics["fetch"] = "fetch", res.ID
	r.run(500 * millis)
	for p := range int32(3) {
		if err := r.putOne(p); err != nil {
			return err
		}
	}
	return nil
}

// putOne writes a record of one byte, which takes 69 bytes in the log.
func (r *replay) putOne(partition int32) error {
	tp := machine.TopicPartition{Topic: r.topics[r.topic], Partition: partition}
	return r.produceTo(1, tp, -1, 4000, []string{"x"}, json.RawMessage(`{"error":"NONE"}`))
}

// produceEach is a produce step of fa1, which names partitions only.
func (r *replay) produceEach(op Operation) error {
	if !op.has("partitions") {
		return r.putOne(int32(op.num("partition", 0)))
	}
	for _, p := range strings.Split(op.str("partitions"), ",") {
		var n int32
		fmt.Sscan(p, &n)
		if err := r.putOne(n); err != nil {
			return err
		}
	}
	return nil
}

// consumerFetchOrSession is m1's fetch of one offset, or fa1's.
func (r *replay) consumerFetchOrSession(op Operation, saw json.RawMessage) error {
	if op.has("epoch") {
		return r.fetch(op, saw)
	}
	return r.consumerFetch(op, saw)
}

// fetch is a raw fetch of fa1. The recording's session S1 is the first that is answered; "partitions" may carry
// remarks.
func (r *replay) fetch(op Operation, saw json.RawMessage) error {
	if err := r.sessionTopic(); err != nil {
		return err
	}
	m := machine.FetchRequest{BrokerEpoch: -1, MinBytes: 1, MaxWaitMs: 200, MaxBytes: 1 << 20, SessionEpoch: int32(op.num("epoch", 0))}
	switch op.str("session") {
	case "S1":
		m.SessionID = r.session
	case "unknown":
		m.SessionID = r.session + 1000
	}
	list := op.str("partitions")
	if m.SessionEpoch == machine.FinalFetchEpoch {
		list = "p0@0" // the request's own partition, which the step does not name
	}
	for _, word := range strings.Fields(list) {
		var p machine.FetchPart
		if n, _ := fmt.Sscanf(word, "p%d@%d", &p.TP.Partition, &p.FetchOffset); n == 2 {
			p.TP.Topic, p.LeaderEpoch, p.LastFetchedEpoch, p.LogStartOffset, p.MaxBytes = r.topics[r.topic], -1, -1, -1, 1<<20
			if m.SessionEpoch == machine.FinalFetchEpoch && m.SessionID != 0 {
				p.FetchOffset = 2
			}
			m.Parts = append(m.Parts, p)
		}
	}
	if op.has("forget") {
		var tp machine.TopicPartition
		fmt.Sscanf(op.str("forget"), "p%d", &tp.Partition)
		tp.Topic = r.topics[r.topic]
		m.Forgotten = []machine.TopicPartition{tp}
	}
	answer, ok := r.call(1, m).(machine.FetchResponse)
	if !ok {
		return fmt.Errorf("no answer")
	}
	return r.compareSession(&answer, saw)
}

func (r *replay) compareSession(got *machine.FetchResponse, saw json.RawMessage) error {
	type part struct {
		P            int32
		Error        string
		HW, LogStart int64
		Bytes        int32
	}
	var want struct {
		Error, Session string
		Partitions     []part
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if want.Session == "S1" && r.session == 0 {
		r.session = got.SessionID
	}
	session := "none"
	if got.SessionID != 0 && got.SessionID == r.session {
		session = "S1"
	}
	var parts []part
	for i := range got.Parts {
		x := &got.Parts[i]
		p := part{P: x.TP.Partition, Error: x.Error.String(), HW: x.HighWatermark, LogStart: x.LogStartOffset}
		for j := range x.Batches {
			p.Bytes += x.Batches[j].Size
		}
		parts = append(parts, p)
	}
	if got.Error.String() != want.Error || session != want.Session || !slices.Equal(parts, want.Partitions) {
		return fmt.Errorf("%v session %s %+v, want %s %s %+v", got.Error, session, parts, want.Error, want.Session, want.Partitions)
	}
	return nil
}
