package oracle

import (
	"encoding/json"
	"fmt"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// dc1: what a broker tells a client that is over its quota. The recording's requests are raw ones of a client, so the
// quota of its client id is given to ours. Times between requests are those of the first run, because they count.

func init() {
	operations["alterClientQuotas"] = (*replay).alterClientQuotas
	operations["produceSequence"] = (*replay).quotaProduces
	operations["produceThenSameConnection"] = (*replay).produceThenSameConnection
	operations["produceAfterQuietWindow"] = (*replay).quotaProduces
	operations["fetchSequence"] = (*replay).quotaFetches
}

// throttledAnswer is one answer of a recorded sequence.
type throttledAnswer struct{ Bytes, AtMs, ThrottleMs int64 }

// eachAnswer is the samples of one answer in all runs: field picks the figure.
func eachAnswer(runs [][]throttledAnswer, i int, field func(throttledAnswer) int64) (s samples) {
	for _, run := range runs {
		s.add(field(run[i]))
	}
	return s
}

func (r *replay) alterClientQuotas(op Operation, _ json.RawMessage) error {
	r.topic = "dc1"
	res := r.Apply(machine.CreateTopic{Name: r.topic, Props: r.World.Broker.Topic, Assignment: [][]machine.NodeID{{1, 2, 3}}})
	r.topics[r.topic] = res.ID
	r.Apply(machine.AlterQuota{Quota: machine.Quota{Entity: machine.QuotaEntity{ClientID: machine.ProbeClientID},
		Producer: op.num("producer_byte_rate", 0), Consumer: op.num("consumer_byte_rate", 0)}})
	r.quiet()
	return nil
}

// valueOf is a request that produces one record of so many bytes.
func (r *replay) valueOf(bytes int64) machine.ProduceRequest {
	return machine.ProduceRequest{Acks: config.AcksLeader, TimeoutMs: 30_000,
		Parts: []machine.ProducePart{{TP: r.tp(nil), Batch: r.batch([]string{strings.Repeat("x", int(bytes))})}}}
}

// quotaProduces is a sequence of produce requests, each on a connection of its own.
func (r *replay) quotaProduces(op Operation, saw json.RawMessage) error {
	var runs [][]throttledAnswer
	if err := json.Unmarshal(saw, &runs); err != nil {
		return err
	}
	r.run(op.num("afterMs", 0) * millis)
	start := r.Now
	for i, bytes := range op.ints("valueBytes") {
		r.run(max(start+runs[0][i].AtMs*millis-r.Now, 0))
		answer, ok := r.call(1, r.valueOf(int64(bytes))).(machine.ProduceResponse)
		if !ok || answer.Parts[0].Error != machine.NONE {
			return fmt.Errorf("request %d: answered %+v", i, answer)
		}
		want := eachAnswer(runs, i, func(a throttledAnswer) int64 { return a.ThrottleMs })
		if err := want.within(fmt.Sprintf("throttle_time_ms of request %d", i), answer.ThrottleMs*millis); err != nil {
			return err
		}
		if (want.high > 0) != (answer.ThrottleMs > 0) {
			return fmt.Errorf("request %d: throttle_time_ms %d, recorded were %d to %d", i, answer.ThrottleMs, want.low, want.high)
		}
	}
	return nil
}

// produceThenSameConnection sends a second, small request on the connection that was throttled: it is read when the
// time is over.
func (r *replay) produceThenSameConnection(op Operation, saw json.RawMessage) error {
	names := []string{"throttleMs", "secondAnsweredAfterMs", "secondThrottleMs"}
	var runs []map[string]int64
	if err := json.Unmarshal(saw, &runs); err != nil {
		return err
	}
	conn, first, second := r.correlation+1, r.correlation+1, r.correlation+2
	r.correlation += 2
	start := r.Now
	r.Probe(0, 1, conn, first, r.valueOf(op.num("valueBytes", 0)))
	r.await(patience, func() bool { return r.answers[first] != nil })
	r.Probe(0, 1, conn, second, r.valueOf(1))
	r.await(patience, func() bool { return r.answers[second] != nil })
	took := r.Now - start
	a, ok := r.answers[first].(machine.ProduceResponse)
	b, ok2 := r.answers[second].(machine.ProduceResponse)
	if !ok || !ok2 {
		return fmt.Errorf("no answers")
	}
	for i, got := range []int64{a.ThrottleMs * millis, took, b.ThrottleMs * millis} {
		var want samples
		for _, run := range runs {
			want.add(run[names[i]])
		}
		if err := want.within(names[i], got); err != nil {
			return err
		}
	}
	return nil
}

// quotaFetches fetches everything from the beginning, again and again.
func (r *replay) quotaFetches(op Operation, saw json.RawMessage) error {
	var runs [][]throttledAnswer
	if err := json.Unmarshal(saw, &runs); err != nil {
		return err
	}
	start := r.Now
	for i := range runs[0] {
		r.run(max(start+runs[0][i].AtMs*millis-r.Now, 0))
		answer, ok := r.call(1, machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Parts: []machine.FetchPart{{
			TP: r.tp(nil), LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20}}}).(machine.FetchResponse)
		if !ok || answer.Error != machine.NONE {
			return fmt.Errorf("fetch %d: answered %+v", i, answer)
		}
		want := eachAnswer(runs, i, func(a throttledAnswer) int64 { return a.ThrottleMs })
		if err := want.within(fmt.Sprintf("throttle_time_ms of fetch %d", i), answer.ThrottleMs*millis); err != nil {
			return err
		}
		bytes := eachAnswer(runs, i, func(a throttledAnswer) int64 { return a.Bytes })
		if (bytes.high > 0) != (len(answer.Parts) > 0 && len(answer.Parts[0].Batches) > 0) {
			return fmt.Errorf("fetch %d: %d partitions, recorded were %d bytes", i, len(answer.Parts), bytes.high)
		}
	}
	return nil
}
