package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// When the Java producer sends and when it gives up, as recorded (P-34 to P-39, P-63).

// within is the recorder's allowance for what a message takes.
const within = 40 * millis

// facts compares the facts that a step saw with ours.
func facts(saw json.RawMessage, got map[string]any) error {
	var want map[string]any
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for name, v := range want {
		if fmt.Sprint(got[name]) != fmt.Sprint(v) {
			return fmt.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	return nil
}

// decidedAt waits for a record's outcome and says when it came, counted from a time.
func (j *java) decidedAt(n, since int64) int64 {
	j.await(300_000*millis, func() bool { return j.Delivery(j.id, n).Status != machine.DeliveryPending })
	return j.Delivery(j.id, n).DecidedAt - since
}

// warm lets the producer learn of its topic and its producer id.
func (j *java) warm() {
	for p := range j.Metadata().Topics[j.tp.Topic].Partitions {
		j.sendTo(int32(p), -1, "warm", machine.NoTimestamp)
	}
	j.flush()
	j.sent = nil
}

func (r *replay) javaSendOne(op Operation, saw json.RawMessage) error {
	j, err := r.javaFor(op, nil, map[string]any{}, "linger.ms")
	if err != nil {
		return err
	}
	j.warm()
	linger := op.num("linger.ms", 0) * millis
	start := r.Now
	j.sendTo(0, -1, "v", machine.NoTimestamp)
	took := j.decidedAt(j.sent[0], start)
	return facts(saw, map[string]any{"ackNotBeforeLinger": took >= linger, "ackWithin40msAfter": took <= linger+within})
}

// javaSendTwoPartitions is P-37: a partition that is ready takes the others of its broker along.
func (r *replay) javaSendTwoPartitions(op Operation, saw json.RawMessage) error {
	j, err := r.javaOn(nil, []machine.NodeID{1, 1, 2}, map[string]any{"linger.ms": op.num("linger.ms", 0)})
	if err != nil {
		return err
	}
	j.warm()
	start := r.Now
	j.sendTo(0, -1, "v", machine.NoTimestamp)
	r.run(250 * millis)
	j.sendTo(1, -1, "v", machine.NoTimestamp)
	j.sendTo(2, -1, "v", machine.NoTimestamp)
	at := func(i int, ms int64) bool {
		took := j.decidedAt(j.sent[i], start)
		return took >= ms*millis && took <= ms*millis+within
	}
	return facts(saw, map[string]any{"p0At400": at(0, 400), "p1GoesAlongAt400": at(1, 400), "p2At650": at(2, 650)})
}

func (r *replay) javaSendUntilFull(op Operation, saw json.RawMessage) error {
	j, err := r.javaFor(op, nil, map[string]any{}, "linger.ms", "batch.size")
	if err != nil {
		return err
	}
	j.warm()
	acked := func() (n int) {
		for _, s := range j.results() {
			if s == "OK" {
				n++
			}
		}
		return n
	}
	got := map[string]any{}
	value := strings.Repeat("v", int(op.num("valueBytes", 0)))
	for range 16 {
		j.sendTo(0, -1, value, machine.NoTimestamp)
	}
	r.run(200 * millis)
	got["ackedAfter16"] = acked()
	j.sendTo(0, -1, value, machine.NoTimestamp)
	r.run(200 * millis)
	got["ackedAfter17"] = acked()
	j.flush()
	got["ackedAfterFlush"] = acked()
	return facts(saw, got)
}

// stopped makes a topic whose leader then does not answer, and a producer that knows it.
func (r *replay) stopped(given map[string]any) (*java, error) {
	j, err := r.javaOn(nil, []machine.NodeID{1}, given)
	if err != nil {
		return nil, err
	}
	j.warm()
	r.Apply(machine.PauseBroker{Broker: 1})
	return j, nil
}

// exceptionText is the class that a recording names with its words.
func exceptionText(saw json.RawMessage) string {
	var want struct{ Exception string }
	_ = json.Unmarshal(saw, &want)
	class, _, _ := strings.Cut(want.Exception, ":")
	return class
}

func (r *replay) deliveryTimeout(op Operation, saw json.RawMessage) error {
	j, err := r.stopped(map[string]any{"linger.ms": 0, "delivery.timeout.ms": op.num("delivery.timeout.ms", 0), "request.timeout.ms": op.num("request.timeout.ms", 0)})
	if err != nil {
		return err
	}
	start, limit := r.Now, op.num("delivery.timeout.ms", 0)*millis
	j.sendTo(0, -1, "v", machine.NoTimestamp)
	took := j.decidedAt(j.sent[0], start)
	r.Apply(machine.ResumeBroker{Broker: 1})
	r.quiet()
	if got, want := j.results()[0], exceptionText(saw); got != want || took < limit || took > limit+100*millis {
		return fmt.Errorf("%s after %d ms, want %s at delivery.timeout.ms", got, took/millis, want)
	}
	return nil
}

func (r *replay) bufferExhausted(op Operation, saw json.RawMessage) error {
	given := map[string]any{"linger.ms": 0}
	for _, n := range []string{"buffer.memory", "batch.size", "max.block.ms"} {
		given[n] = op.num(n, 0)
	}
	j, err := r.stopped(given)
	if err != nil {
		return err
	}
	value := strings.Repeat("v", int(op.num("valueBytes", 0)))
	taken := int64(0)
	for j.Producers[j.id].Blocked.Count == 0 && taken < 1000 {
		j.sendTo(0, -1, value, machine.NoTimestamp)
		taken++
	}
	start, limit := r.Now, op.num("max.block.ms", 0)*millis
	took := j.decidedAt(j.sent[taken-1], start)
	r.Apply(machine.ResumeBroker{Broker: 1})
	r.quiet()
	var want struct{ RecordsTaken int64 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if got := j.results()[taken-1]; got != exceptionText(saw) || took != limit || taken-1 != want.RecordsTaken {
		return fmt.Errorf("%d records taken, then %s after %d ms; want %s", taken-1, got, took/millis, saw)
	}
	return nil
}

// maxBlock is P-11: a topic or a partition that is not there.
func (r *replay) maxBlock(op Operation, saw json.RawMessage) error {
	j, err := r.javaOn(nil, []machine.NodeID{1}, map[string]any{"max.block.ms": op.num("max.block.ms", 0)})
	if err != nil {
		return err
	}
	partition := int32(7)
	if op.name() == "maxBlockUnknownTopic" {
		j.topic, partition = "nosuch", -1
	}
	start := r.Now
	j.sendTo(partition, -1, "v", machine.NoTimestamp)
	took := j.decidedAt(j.sent[0], start)
	if got := j.results()[0]; got != exceptionText(saw) || took != op.num("max.block.ms", 0)*millis {
		return fmt.Errorf("%s after %d ms, want %s", got, took/millis, saw)
	}
	return nil
}

// throughLeaderChange moves the leader under a producer that goes on sending.
func (r *replay) throughLeaderChange(_ Operation, saw json.RawMessage) error {
	j, err := r.javaOn(nil, []machine.NodeID{2}, map[string]any{"linger.ms": 0})
	if err != nil {
		return err
	}
	r.Apply(machine.CrashBroker{Broker: 2})
	if !r.await(60_000*millis, func() bool { return r.registration(j.tp).Leader != 2 }) {
		return fmt.Errorf("no other leader")
	}
	r.Apply(machine.StartBroker{Broker: 2})
	if !r.await(60_000*millis, func() bool { return len(r.registration(j.tp).ISR) == 3 }) {
		return fmt.Errorf("broker 2 does not come back")
	}
	for i := range 100 {
		if i == 50 {
			r.Apply(machine.ElectLeaders{TP: j.tp})
		}
		j.sendTo(0, -1, fmt.Sprint(i), machine.NoTimestamp)
		r.run(10 * millis)
	}
	j.flush()
	var values []string
	log := &r.replica(2, j.tp).Log
	for b := range log.Active.Batches.All() {
		for _, x := range b.Records.All() {
			values = append(values, x.Value)
		}
	}
	inOrder := slices.EqualFunc(values, j.sent, func(v string, n int64) bool { return v == fmt.Sprint(n) })
	failed := 0
	for _, s := range j.results() {
		if s != "OK" {
			failed++
		}
	}
	return facts(saw, map[string]any{"records": len(values), "inOrderWithoutGapOrDuplicate": inOrder,
		"errorsSeenByApplication": failed, "leader": int(r.registration(j.tp).Leader)})
}
