package oracle

import (
	"encoding/json"
	"fmt"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// produceSaw is the answer to one produce request.
type produceSaw struct {
	Error         string
	BaseOffset    *int64
	CurrentLeader *struct{ ID, Epoch int }
}

func (r *replay) leader(tp machine.TopicPartition) int { return int(r.registration(tp).Leader) }

func (r *replay) produce(op Operation, saw json.RawMessage) error {
	switch {
	case r.session != 0:
		return r.produceEach(op)
	case r.rec.Scenario == "fc1-consumer-truncation":
		return r.produceForConsumers(op, saw)
	}
	tp := r.tp(op)
	to := int(op.num("toBroker", int64(r.leader(tp))))
	if op.has("txn") {
		return r.produceTxn(op, saw)
	}
	if op.has("seq") {
		return r.byHand(op, int16(op.num("producerEpoch", 0)), int32(op.num("seq", 0)), op.strs("values"), saw)
	}
	values := op.strs("values")
	if len(values) == 0 {
		values = []string{"x"}
	}
	r.run(r.pause * millis)
	batch := r.batch(values)
	return r.send(to, tp, int8(op.num("acks", -1)), op.num("timeoutMs", 4000), batch, saw)
}

func (r *replay) produceTo(to int, tp machine.TopicPartition, acks int8, timeout int64, values []string, saw json.RawMessage) error {
	return r.send(to, tp, acks, timeout, r.batch(values), saw)
}

// produceIdempotent sends a batch with a producer id; the retries of a2 send the same batch again.
func (r *replay) produceIdempotent(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	if r.producerID < 0 {
		id, ok := r.call(r.leader(tp), machine.InitProducerIDRequest{}).(machine.InitProducerIDResponse)
		if !ok || id.Error != machine.NONE {
			return fmt.Errorf("no producer id: %+v", id)
		}
		r.producerID = id.ProducerID
	}
	batch := r.batch(op.strs("values"))
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence = r.producerID, 0, int32(op.num("seq", 0))
	return r.send(r.leader(tp), tp, int8(op.num("acks", -1)), op.num("timeoutMs", 4000), batch, saw)
}

// produceThenHeal waits until the ISR has shrunk to the leader and lets replication go on before the timeout.
func (r *replay) produceThenHeal(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	leader := r.registration(tp).Leader
	r.correlation++
	c := r.correlation
	r.Probe(0, leader, c, c, machine.ProduceRequest{Acks: int8(op.num("acks", -1)), TimeoutMs: op.num("timeoutMs", 4000),
		Parts: []machine.ProducePart{{TP: tp, Batch: r.batch(op.strs("values"))}}})
	if !r.await(20_000*millis, func() bool { return len(r.registration(tp).ISR) == 1 }) {
		return fmt.Errorf("the ISR does not shrink")
	}
	r.eachFollowerLink(leader, func(f machine.NodeID) { r.Apply(machine.HealLink{A: leader, B: f}) })
	r.await(60_000*millis, func() bool { return r.answers[c] != nil })
	return compareProduce(r.answers[c], saw)
}

func (r *replay) produceAtFollower(op Operation, saw json.RawMessage) error {
	return r.produceTo(int(op.num("broker", 0)), r.tp(op), -1, 4000, []string{"x"}, saw)
}

func (r *replay) produceInvalidAcks(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	return r.produceTo(r.leader(tp), tp, int8(op.num("acks", 0)), 4000, []string{"x"}, saw)
}

func (r *replay) send(to int, tp machine.TopicPartition, acks int8, timeout int64, batch partlog.Batch, saw json.RawMessage) error {
	answer := r.call(to, machine.ProduceRequest{Acks: acks, TimeoutMs: timeout, Parts: []machine.ProducePart{{TP: tp, Batch: batch}}})
	return compareProduce(answer, saw)
}

func compareProduce(answer machine.Payload, saw json.RawMessage) error {
	var want produceSaw
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	got, ok := answer.(machine.ProduceResponse)
	if !ok {
		return fmt.Errorf("answered by %T, want %s", answer, want.Error)
	}
	part := got.Parts[0]
	if want.Error != "" && part.Error.String() != want.Error { // "" was dropped: it differed from run to run
		return fmt.Errorf("error %v, want %s", part.Error, want.Error)
	}
	if want.BaseOffset != nil && part.BaseOffset != *want.BaseOffset {
		return fmt.Errorf("base offset %d, want %d", part.BaseOffset, *want.BaseOffset)
	}
	if l := want.CurrentLeader; l != nil && (int(part.Leader) != l.ID || int(part.LeaderEpoch) != l.Epoch) {
		return fmt.Errorf("hints at leader %d epoch %d, want %d, %d", part.Leader, part.LeaderEpoch, l.ID, l.Epoch)
	}
	return nil
}

func (r *replay) consumerFetch(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	from := int(op.num("fromBroker", int64(r.leader(tp))))
	answer, ok := r.call(from, machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Parts: []machine.FetchPart{{
		TP: tp, FetchOffset: op.num("offset", 0), LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20,
	}}}).(machine.FetchResponse)
	if !ok {
		return fmt.Errorf("no answer to a fetch")
	}
	return compareFetch(&answer.Parts[0], op.num("offset", 0), saw)
}

func compareFetch(got *machine.FetchResult, offset int64, saw json.RawMessage) error {
	var want struct {
		Error    string
		HW       *int64
		LogStart *int64
		Records  []string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if got.Error.String() != want.Error {
		return fmt.Errorf("error %v, want %s", got.Error, want.Error)
	}
	if want.HW != nil && got.HighWatermark != *want.HW {
		return fmt.Errorf("high watermark %d, want %d", got.HighWatermark, *want.HW)
	}
	if want.LogStart != nil && got.LogStartOffset != *want.LogStart {
		return fmt.Errorf("log start %d, want %d", got.LogStartOffset, *want.LogStart)
	}
	var records []string
	for i := range got.Batches {
		for _, r := range recordsOf(&got.Batches[i]) {
			var at int64
			fmt.Sscanf(r, "%d:", &at)
			if at >= offset {
				records = append(records, r)
			}
		}
	}
	return equalLists("records", records, want.Records)
}

func (r *replay) listOffsets(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	ts := machine.LatestTimestamp
	switch string(op["ts"]) {
	case `"latest"`:
	case `"earliest"`:
		ts = machine.EarliestTimestamp
	case `"max timestamp"`:
		ts = machine.MaxTimestamp
	case `"now+1h"`:
		ts = r.Now/millis + 3_600_000
	default:
		ts = op.num("ts", 0)
	}
	return r.listOffsetsAt(r.leader(tp), tp, ts, saw)
}

func (r *replay) listOffsetsAt(to int, tp machine.TopicPartition, ts int64, saw json.RawMessage) error {
	answer, ok := r.call(to, machine.ListOffsetsRequest{Parts: []machine.ListOffsetsPart{{TP: tp, Timestamp: ts, LeaderEpoch: -1}}}).(machine.ListOffsetsResponse)
	if !ok {
		return fmt.Errorf("no answer to ListOffsets")
	}
	var want struct {
		Error  string
		Offset int64
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if got := answer.Parts[0]; got.Error.String() != want.Error || got.Offset != want.Offset {
		return fmt.Errorf("%v offset %d, want %s offset %d", got.Error, got.Offset, want.Error, want.Offset)
	}
	return nil
}

// epochProbe asks the leader where each epoch ends (R1.6).
func (r *replay) epochProbe(op Operation, saw json.RawMessage) error {
	var want []struct {
		Asked  int32
		Answer struct {
			Error     string
			Epoch     int32
			EndOffset int64
		}
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	for _, w := range want {
		answer, ok := r.call(r.leader(tp), machine.OffsetsForLeaderEpochRequest{Parts: []machine.EpochQuery{{TP: tp, CurrentEpoch: -1, Epoch: w.Asked}}}).(machine.OffsetsForLeaderEpochResponse)
		if !ok {
			return fmt.Errorf("no answer about epoch %d", w.Asked)
		}
		got := answer.Parts[0]
		if got.Error.String() != w.Answer.Error || got.End.Epoch != w.Answer.Epoch || got.End.Offset != w.Answer.EndOffset {
			return fmt.Errorf("epoch %d: %v (%d, %d), want %+v", w.Asked, got.Error, got.End.Epoch, got.End.Offset, w.Answer)
		}
	}
	return nil
}

func (r *replay) metadata(op Operation, saw json.RawMessage) error {
	r.topic = r.topicOf(op, saw)
	tp := r.tp(op)
	var want struct {
		Error                           string
		Leader                          int
		LeaderEpoch                     *int
		Replicas, ISR, Offline, Brokers []int
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	answer, ok := r.call(int(op.num("viaBroker", 1)), machine.MetadataRequest{Topics: []string{r.topic}}).(machine.MetadataResponse)
	if !ok {
		return fmt.Errorf("no answer to Metadata")
	}
	got := answer.Topics[0].Partitions[tp.Partition]
	if got.Error.String() != want.Error || kafkaID(got.Leader) != want.Leader || want.LeaderEpoch != nil && int(got.LeaderEpoch) != *want.LeaderEpoch {
		return fmt.Errorf("%v leader %d epoch %d, want %+v", got.Error, got.Leader, got.LeaderEpoch, want)
	}
	if !equalIDs(got.Replicas, sorted(want.Replicas)) || !equalIDs(got.ISR, sorted(want.ISR)) || !equalIDs(answer.Brokers, sorted(want.Brokers)) {
		return fmt.Errorf("replicas %v ISR %v brokers %v, want %+v", got.Replicas, got.ISR, answer.Brokers, want)
	}
	return nil
}
