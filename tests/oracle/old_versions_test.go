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

// Steps of the recordings of old versions, most of them with ZooKeeper: files old1 to old4, and bc1.

// generation gives a world the recording's version; features that the recording names are over it.
func (rec *Recording) generation(w *machine.World) error {
	v, ok := config.ParseVersion(rec.Kafka)
	if !ok {
		return fmt.Errorf("no version %q", rec.Kafka)
	}
	w.SetGeneration(v)
	if elr, set := rec.Cluster.Features["eligible.leader.replicas.version"]; set {
		w.ELR = elr > 0
	}
	for id := range rec.Cluster.Brokers {
		if ms, ok := rec.Cluster.Sessions[fmt.Sprint(id+1)]; ok {
			w.Sessions = append(w.Sessions, ms)
		}
	}
	return nil
}

// zooKeeper are the properties that stand for ZooKeeper's sessions: pings often enough, and looks too.
func (rec *Recording) zooKeeper(given map[string]any) {
	if rec.Cluster.ZooKeeper {
		given["broker.session.timeout.ms"], given["broker.heartbeat.interval.ms"] = 3000, 500
	}
}

func (r *replay) sigstop(op Operation, _ json.RawMessage) error {
	r.Apply(machine.PauseBroker{Broker: machine.NodeID(op.num("broker", 0))})
	return nil
}

func (r *replay) sigcont(op Operation, _ json.RawMessage) error {
	r.Apply(machine.ResumeBroker{Broker: machine.NodeID(op.num("broker", 0))})
	return nil
}

// copyPartitionDirectory saves what a broker has on disk of the topic.
func (r *replay) copyPartitionDirectory(op Operation, _ json.RawMessage) error {
	id := int(op.num("broker", 0))
	rep := r.replica(id, r.tp(op))
	saved := *rep
	saved.Log.Unshare()
	r.saved[id] = saved
	return nil
}

// killBoth kills brokers at one moment and puts back what was saved of their disks.
func (r *replay) killBoth(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	for _, id := range op.ints("brokers") {
		r.Apply(machine.CrashBroker{Broker: machine.NodeID(id)})
		if saved, ok := r.saved[id]; ok {
			rep := r.replica(id, tp)
			rep.Log, rep.Checkpoint = saved.Log, saved.Checkpoint
			r.Truth.Partitions[r.TopicBase[tp.Topic]+tp.Partition].DiskLoss = true
		}
	}
	r.quiet()
	return r.compareSnapshot(op, saw)
}

func (r *replay) killInOrder(op Operation, _ json.RawMessage) error {
	for _, id := range op.ints("brokers") {
		r.Apply(machine.CrashBroker{Broker: machine.NodeID(id)})
		if !r.await(patience, func() bool { return r.Metadata().Brokers[id-1].Fenced }) {
			return fmt.Errorf("broker %d is not fenced", id)
		}
	}
	return nil
}

// startOld starts a broker; some recordings looked at once, and one saw the process end itself.
func (r *replay) startOld(op Operation, saw json.RawMessage) error {
	if ids := op.ints("brokers"); len(ids) > 0 {
		for _, id := range ids {
			r.Apply(machine.StartBroker{Broker: machine.NodeID(id)})
		}
		r.topic = r.topicOf(op, saw)
		tp := r.tp(op)
		r.await(patience, func() bool { return len(r.registration(tp).ISR) == len(r.registration(tp).Replicas) })
		return r.snapshot(op, saw)
	}
	id := r.node(op)
	r.Apply(machine.StartBroker{Broker: id})
	if len(saw) == 0 || saw[0] != '{' {
		return nil
	}
	var want struct {
		Fatal    []string
		Snapshot json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if want.Snapshot != nil {
		saw = want.Snapshot
	}
	r.backOrDead(op, id, saw)
	if dead := r.Brokers[id-1].Process == machine.NotRunning; dead != (len(want.Fatal) > 0) {
		return fmt.Errorf("broker %d ended itself: %v, want %v", id, dead, want.Fatal)
	}
	r.quiet()
	return r.compareSnapshot(op, saw)
}

// backOrDead waits until a started broker is in the ISR that was recorded, or has ended itself.
func (r *replay) backOrDead(op Operation, id machine.NodeID, saw json.RawMessage) {
	var want snapshot
	if json.Unmarshal(saw, &want) != nil {
		return
	}
	tp, running := r.tp(op), false
	r.await(patience, func() bool {
		b := &r.Brokers[id-1]
		running = running || b.Process == machine.Running
		return running && (b.Process == machine.NotRunning || slices.Contains(r.registration(tp).ISR, id) && equalIDs(r.registration(tp).ISR, sorted(want.ISR)))
	})
}

func (r *replay) startIfDead(op Operation, saw json.RawMessage) error {
	var want struct {
		WasDead, ProcessAlive bool
		Snapshot              json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	id := machine.NodeID(op.num("broker", 0))
	dead := r.Brokers[id-1].Process == machine.NotRunning
	if dead != want.WasDead {
		return fmt.Errorf("broker %d was dead: %v, want %v", id, dead, want.WasDead)
	}
	if dead {
		r.run(jvmStart)
		r.Apply(machine.StartBroker{Broker: id})
		r.backOrDead(op, id, want.Snapshot)
	}
	r.quiet()
	if alive := r.Brokers[id-1].Process != machine.NotRunning; alive != want.ProcessAlive {
		return fmt.Errorf("broker %d lives: %v, want %v", id, alive, want.ProcessAlive)
	}
	return r.compareSnapshot(op, want.Snapshot)
}

// consumerReadAll reads what a consumer gets from the leader.
func (r *replay) consumerReadAll(op Operation, saw json.RawMessage) error {
	var want []string
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	var got []string
	for at := int64(0); ; {
		answer, ok := r.call(r.leader(tp), machine.FetchRequest{BrokerEpoch: -1, SessionEpoch: machine.FinalFetchEpoch, MinBytes: 1, MaxBytes: 1 << 20, Parts: []machine.FetchPart{{
			TP: tp, FetchOffset: at, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20,
		}}}).(machine.FetchResponse)
		if !ok || answer.Parts[0].Error != machine.NONE {
			return fmt.Errorf("a fetch from %d answered by %+v", at, answer)
		}
		if len(answer.Parts[0].Batches) == 0 {
			return equalLists("a consumer read", got, want)
		}
		for i := range answer.Parts[0].Batches {
			b := &answer.Parts[0].Batches[i]
			got, at = append(got, recordsOf(b)...), b.NextOffset()
		}
	}
}

// oldProducerSend sends one record with a producer of the recording's version.
func (r *replay) oldProducerSend(op Operation, saw json.RawMessage) error {
	var want struct {
		Result    json.RawMessage
		Snapshot  json.RawMessage
		Offset    *int64
		Exception string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if len(want.Result) > 0 && want.Result[0] == '{' {
		if err := json.Unmarshal(want.Result, &want); err != nil {
			return err
		}
	}
	v, _ := config.ParseVersion(r.rec.Kafka)
	given := map[string]any{"acks": op.str("acks")}
	for _, name := range []string{"retries", "request.timeout.ms"} {
		if n := op.num(name, -1); n >= 0 {
			given[name] = n
		}
	}
	props, problem := config.ParseProducer(v.At(config.OwnerProducer, given))
	if problem != nil {
		return fmt.Errorf("%w: %s", errInexpressible, problem.Text)
	}
	id := r.Apply(machine.NewProducer{Name: fmt.Sprintf("java-%d", len(r.Producers)), Props: props}).ID
	topic := r.topic
	if op.has("topic") {
		topic = op.str("topic")
	}
	n := r.Send(id, topic, -1, partlog.Record{Value: op.str("value"), Flags: partlog.NullKey, Timestamp: r.Now / millis}, nil)
	if !r.await(300_000*millis, func() bool { return r.Delivery(id, n).Status != machine.DeliveryPending }) {
		return fmt.Errorf("the record is never decided")
	}
	d := r.Delivery(id, n)
	switch {
	case want.Offset != nil && (d.Status != machine.DeliveryAcked || d.Offset != *want.Offset):
		return fmt.Errorf("%+v, want offset %d", d, *want.Offset)
	case want.Offset == nil && (d.Status != machine.DeliveryFailed || exceptionName(d.Error) != want.Exception):
		return fmt.Errorf("%+v, want %s", d, want.Exception)
	}
	if want.Snapshot != nil {
		r.quiet()
		return r.compareSnapshot(op, want.Snapshot)
	}
	return nil
}

// compareRecords compares a log's records with a recording's "offset:value@epoch", or "offset:value" from
// before there were epochs.
func (r *replay) compareRecords(l *partlog.Log, want []string) error {
	var got []string
	l.Batches(l.LogStart, func(b *partlog.Batch) bool {
		for _, s := range recordsOf(b) {
			if r.rec.Cluster.ZooKeeper && len(want) > 0 && strings.Contains(want[0], "@") {
				s += fmt.Sprintf("@%d", b.LeaderEpoch)
			}
			got = append(got, s)
		}
		return true
	})
	return equalLists("records", got, want)
}
