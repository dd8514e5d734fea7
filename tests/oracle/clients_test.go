package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// exceptionName is the Java client's name for what a delivery failed with.
func exceptionName(errorName string) string {
	if errorName == "REQUEST_TIMED_OUT" {
		return "TimeoutException" // the class has a name of its own
	}
	if strings.HasSuffix(errorName, "Exception") {
		return errorName
	}
	var b strings.Builder
	for _, word := range strings.Split(strings.ToLower(errorName), "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Exception"
}

// javaProducerSend lets a real producer of the simulator send one record, without idempotence when acks
// are not all, as the Java client does by itself (P-80).
func (r *replay) javaProducerSend(op Operation, saw json.RawMessage) error {
	if r.rec.Cluster.ZooKeeper {
		return r.oldProducerSend(op, saw)
	}
	given := map[string]any{"acks": "all"}
	if op.has("acks") {
		given["acks"] = op.str("acks")
	}
	if strings.Contains(op.str("note"), "without idempotence") {
		given["enable.idempotence"] = false
	}
	for _, name := range []string{"retries", "delivery.timeout.ms", "request.timeout.ms"} {
		if n := op.num(name, -1); n >= 0 {
			given[name] = n
		}
	}
	if op.num("retries", -1) >= 0 && op.str("acks") != "all" || op.num("retries", -1) == 0 {
		given["enable.idempotence"] = false
	}
	if given["delivery.timeout.ms"] != nil {
		given["linger.ms"] = 0
		if given["request.timeout.ms"] == nil {
			given["request.timeout.ms"] = min(op.num("delivery.timeout.ms", 0), 30000)
		}
	}
	props, problem := config.ParseProducer(given)
	if problem != nil {
		return fmt.Errorf("%w: %s", errInexpressible, problem.Text)
	}
	id := r.Apply(machine.NewProducer{Name: fmt.Sprintf("java-%d", len(r.Producers)), Props: props}).ID
	topic := r.topic
	if op.has("topic") {
		topic = op.str("topic")
	}
	value := op.str("value")
	if value == "" && op.str("acks") == "1" {
		value = "r5-acks1-java" // the recorder's own words, seen in the next fetch
	}
	n := r.Send(id, topic, -1, partlog.Record{Value: value, Flags: partlog.NullKey, Timestamp: r.Now / millis}, nil)
	decided := func() bool { return r.Delivery(id, n).Status != machine.DeliveryPending }
	if bytes.Contains(saw, []byte("no result 15 s after send")) {
		if r.await(15_000*millis, decided) {
			return fmt.Errorf("%+v, want no result", r.Delivery(id, n))
		}
		return nil
	}
	if !r.await(300_000*millis, decided) {
		return fmt.Errorf("the record is never decided")
	}
	var want struct {
		Result    string
		Exception string
		Offset    int64
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	d := r.Delivery(id, n)
	if want.Result == "ok" {
		if d.Status != machine.DeliveryAcked || d.Offset != want.Offset {
			return fmt.Errorf("%+v, want offset %d", d, want.Offset)
		}
		return nil
	}
	if d.Status != machine.DeliveryFailed || exceptionName(d.Error) != want.Exception {
		return fmt.Errorf("failed with %q, want %s", d.Error, want.Exception)
	}
	return nil
}

// produceAcks0 sends without an answer, then with acks=1 on the same connection: a broker that met an
// error closes the connection (P-73).
func (r *replay) produceAcks0(op Operation, saw json.RawMessage) error {
	tp, to := r.tp(op), machine.NodeID(op.num("toBroker", 0))
	r.correlation += 2
	conn := r.correlation
	send := func(correlation uint32, acks int8, value string) {
		r.Probe(0, to, conn, correlation, machine.ProduceRequest{Acks: acks, TimeoutMs: 4000,
			Parts: []machine.ProducePart{{TP: tp, Batch: r.batch([]string{value})}}})
	}
	send(conn-1, config.AcksNone, strings.Repeat("y", int(op.num("valueBytes", 0))))
	send(conn, config.AcksLeader, "z")
	delete(r.answers, 0) // a close answers no request in particular
	r.await(5000*millis, func() bool { return r.answers[conn] != nil || r.answers[0] != nil })
	var want struct{ Connection string }
	_ = json.Unmarshal(saw, &want)
	if want.Connection == "closed" {
		if _, closed := r.answers[0].(machine.Disconnected); !closed || r.answers[conn] != nil {
			return fmt.Errorf("the connection stays open: %T", r.answers[conn])
		}
		return nil
	}
	return compareProduce(r.answers[conn], saw)
}

// byHand sends a batch of the recorder's hand-made idempotent producer.
func (r *replay) byHand(op Operation, epoch int16, seq int32, values []string, saw json.RawMessage) error {
	tp := r.tp(op)
	batch := r.batch(values)
	id := int64(4000)
	if strings.HasPrefix(values[0], "unknown-pid") {
		id = 5000
		if epoch == 3 {
			id = 6000
		}
	}
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence = id, epoch, seq
	return r.send(r.leader(tp), tp, int8(op.num("acks", -1)), 4000, batch, saw)
}

// killLeaderAndFailover kills the leader and sends the last batch again to the next one.
func (r *replay) killLeaderAndFailover(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	old := r.registration(tp).Leader
	r.Apply(machine.CrashBroker{Broker: old})
	if !r.await(30_000*millis, func() bool { return r.registration(tp).Leader != old }) {
		return fmt.Errorf("no other leader")
	}
	r.quiet()
	return r.byHand(op, 0, 7, []string{"s7"}, saw)
}

func (r *replay) produceAtNewLeader(op Operation, saw json.RawMessage) error {
	seq := int32(op.num("seq", 0))
	values := []string{fmt.Sprintf("s%d", seq)}
	if seq == 2 {
		values = []string{"c"}
	}
	return r.byHand(op, 0, seq, values, saw)
}

// restart starts a broker, waits until it is back in the ISR, and gives it its leadership back.
func (r *replay) restart(op Operation, _ json.RawMessage) error {
	r.Apply(machine.StartBroker{Broker: machine.NodeID(op.num("broker", 0))})
	tp := r.tp(op)
	if !r.await(patience, func() bool { return len(r.registration(tp).ISR) == len(r.registration(tp).Replicas) }) {
		return fmt.Errorf("broker %d is not back in the ISR", op.num("broker", 0))
	}
	r.Apply(machine.ElectLeaders{TP: tp})
	r.quiet()
	return nil
}

// jvmStart is about how long a broker's process takes before it registers; the recorded clusters ran on
// machines where this was 4 to 6 s, longer than a session of 3 s.
const jvmStart = 5000 * millis

// restartAtOnce ends a broker and starts it again at once (R3.2).
func (r *replay) restartAtOnce(op Operation, saw json.RawMessage) error {
	id := machine.NodeID(op.num("broker", 0))
	if op.name() == "kill9AndRestartAtOnce" {
		r.Apply(machine.CrashBroker{Broker: id})
	} else if err := r.sigterm(op, nil); err != nil {
		return err
	}
	r.run(jvmStart)
	r.Apply(machine.StartBroker{Broker: id})
	duplicate := false
	tp := r.tp(op)
	back := func() bool {
		if e, ok := r.Peek(); ok {
			if a, is := e.Payload.(machine.BrokerRegistrationResponse); is && a.Error == machine.DUPLICATE_BROKER_REGISTRATION {
				duplicate = true
			}
		}
		return len(r.registration(tp).ISR) == len(r.registration(tp).Replicas) && r.registration(tp).LeaderEpoch > 0
	}
	if !r.await(120_000*millis, back) {
		return fmt.Errorf("broker %d is not back in the ISR", id)
	}
	r.quiet()
	var want struct {
		DuplicateRegistrationSeen bool
		Snapshot                  json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if duplicate != want.DuplicateRegistrationSeen {
		return fmt.Errorf("DUPLICATE_BROKER_REGISTRATION seen %v, want %v", duplicate, want.DuplicateRegistrationSeen)
	}
	return r.compareSnapshot(op, want.Snapshot)
}

// brokerRecords compares the broker's records in the metadata log since the topic was created.
func (r *replay) brokerRecords(op Operation, saw json.RawMessage) error {
	if len(saw) == 0 {
		return nil // dropped: it differed from run to run
	}
	var want []struct {
		Rec    string
		Broker machine.NodeID
		Fenced *json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	var got []string
	counting := false
	for i := range r.MetadataLog() {
		rec := &r.MetadataLog()[i]
		counting = counting || rec.Kind == machine.TopicRecord && rec.TP.Topic == tp.Topic
		if counting && rec.Kind == machine.RegisterBrokerRecord {
			got = append(got, "RegisterBroker")
		}
		if counting && rec.Kind == machine.BrokerRegistrationChangeRecord {
			got = append(got, "BrokerRegistrationChange")
		}
	}
	var names []string
	for _, w := range want {
		names = append(names, w.Rec)
	}
	// Kafka writes one more change record about the log directories, and may write that a broker is fenced
	// twice in a row; the simulator has one directory and says it once.
	return equalLists("broker records", slices.Compact(got), slices.Compact(dropDirectoryRecords(names)))
}

func dropDirectoryRecords(names []string) []string {
	if n := len(names); n > 0 && names[n-1] == "BrokerRegistrationChange" && n > 1 && names[n-2] == "BrokerRegistrationChange" {
		return names[:n-1]
	}
	return names
}
