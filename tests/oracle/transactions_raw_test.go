package oracle

import (
	"encoding/json"
	"fmt"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Transactions of older clients by hand (j2, eb1), coordinators that die (ea1, ea2), epochs that are used up (ec1).

func init() {
	for name, run := range map[string]func(*replay, Operation, json.RawMessage) error{
		"produceV10NotAdded":       (*replay).produceOld,
		"produceV11NotAdded":       (*replay).produceOld,
		"produceV11Added":          (*replay).produceOld,
		"produceV10":               (*replay).produceOld,
		"produceV11":               (*replay).produceOld,
		"addPartitionsV3":          (*replay).addPartitionsOld,
		"endTxnV4":                 (*replay).endTxnOld,
		"produceTxn":               (*replay).produceTxn,
		"warmUpTransaction":        (*replay).warmUpTransaction,
		"stallInternalListenerOf":  (*replay).stallListener,
		"describeProducers":        (*replay).describeProducers,
		"describeTransaction":      (*replay).describeTransaction,
		"adminAbortTransaction":    (*replay).abortByAdmin,
		"initProducerIdUntilEpoch": (*replay).initUntilEpoch,
		"initProducerIdUntilNewId": (*replay).initUntilNewID,
		"transactionStateLast10":   (*replay).transactionState,
	} {
		operations[name] = run
	}
}

// txnRoles are the brokers of ea1 and ea2.
type txnRoles struct {
	X machine.NodeID // the coordinator
	D machine.NodeID // the leader of the data, and the next coordinator
}

// stateTopic is the partition of __transaction_state; the recordings' clusters have one.
func (r *replay) stateTopic() (machine.TopicPartition, bool) {
	for i := range r.Metadata().Topics {
		if r.Metadata().Topics[i].Name == machine.TransactionStateTopic {
			return machine.TopicPartition{Topic: int32(i)}, true
		}
	}
	return machine.TopicPartition{}, false
}

// prepareTransactions makes what the recordings of round2 have before their first step: a transactional id, and a topic
// of one partition that another broker leads than the coordinator.
func (r *replay) prepareTransactions() {
	scenario := strings.SplitN(r.rec.Scenario, "-", 2)[0]
	switch scenario {
	case "ea1", "ea2", "eb1", "ec1", "ee1":
	default:
		return
	}
	r.initialise("nobody's", 60_000, "") // so that __transaction_state is there
	state, _ := r.stateTopic()
	if scenario == "eb1" { // by then the recorder's coordinator had moved: its epoch was above 0
		old := r.registration(state).Leader
		r.Apply(machine.CrashBroker{Broker: old})
		r.quiet()
		r.Apply(machine.StartBroker{Broker: old})
		r.quiet()
	}
	reg := r.registration(state)
	r.roles = txnRoles{X: reg.Leader}
	for _, id := range reg.Replicas {
		if id != reg.Leader {
			r.roles.D = id
			break
		}
	}
	if r.roles.D == 0 { // ec1: one replica
		r.roles.D = reg.Leader
	}
	r.txnTopic(scenario)
}

// txnTopic makes the topic and the transactional id of the steps to come.
func (r *replay) txnTopic(scenario string) {
	r.topic = r.recordedTopic(scenario)
	for r.topics[r.topic] > 0 {
		r.topic += "-again"
	}
	d := int(r.roles.D)
	replicas := []machine.NodeID{r.roles.D, machine.NodeID(d%3 + 1), machine.NodeID((d+1)%3 + 1)}
	props, _ := config.ParseTopic(r.World.Broker.Topic, nil)
	r.topics[r.topic] = r.Apply(machine.CreateTopic{Name: r.topic, Props: props, Assignment: [][]machine.NodeID{replicas}}).ID
	r.quiet()
	r.lastTxn = r.topic
}

// recordedTopic is the topic's name in the recording, where a step saw it.
func (r *replay) recordedTopic(otherwise string) string {
	for _, step := range r.rec.Steps {
		var states []stateRecord
		if !strings.HasPrefix(step.Do.name(), "transactionState") || json.Unmarshal(step.Saw, &states) != nil {
			continue
		}
		for _, x := range states {
			if len(x.Partitions) > 0 {
				return strings.TrimSuffix(x.Partitions[0], "-0")
			}
		}
	}
	return otherwise
}

// node is the broker that a step means: by a number, or by its role.
func (r *replay) node(op Operation) machine.NodeID {
	switch string(op["broker"]) {
	case `"X"`:
		return r.roles.X
	case `"D"`:
		return r.roles.D
	}
	return machine.NodeID(op.num("broker", 0))
}

// produceOld is a transactional batch of Produce v10 or v11.
func (r *replay) produceOld(op Operation, saw json.RawMessage) error {
	version := machine.TransactionV1
	if strings.HasPrefix(op.name(), "produceV10") {
		version = machine.TransactionV0
	}
	if op.name() == "produceV11NotAdded" { // another client begins
		r.lastTxn = "tx-5"
	}
	return r.produceTransactional(op, version, saw)
}

// known is the producer of the steps.
func (r *replay) known() (*txnReplay, error) {
	if x := r.txns[r.lastTxn]; x != nil {
		return x, nil
	}
	return r.begin(r.lastTxn)
}

// addPartitionsOld is AddPartitionsToTxn as a client sends it (T-20).
func (r *replay) addPartitionsOld(op Operation, saw json.RawMessage) error {
	x, err := r.known()
	if err != nil {
		return err
	}
	p, err := r.txnCall(r.lastTxn, machine.AddPartitionsToTxnRequest{Transactions: []machine.TransactionPart{{
		ID: r.lastTxn, ProducerID: x.pid, ProducerEpoch: x.epoch, Partitions: []machine.TopicPartition{r.tp(op)}}}}, "",
		func(p machine.Payload) machine.Code {
			return p.(machine.AddPartitionsToTxnResponse).Results[0].Errors[0]
		})
	if err != nil {
		return err
	}
	return sawText(p.(machine.AddPartitionsToTxnResponse).Results[0].Errors[0].String(), saw)
}

// endTxnOld is EndTxn v4 (T-34).
func (r *replay) endTxnOld(op Operation, saw json.RawMessage) error {
	x, err := r.known()
	if err != nil {
		return err
	}
	commit := true
	op.into("commit", &commit)
	var want produceSaw
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	m := machine.EndTxnRequest{ID: r.lastTxn, ProducerID: x.pid, ProducerEpoch: int16(op.num("epoch", 0)), Commit: commit, Version: machine.TransactionV0}
	p, err := r.txnCall(r.lastTxn, m, want.Error, func(p machine.Payload) machine.Code { return p.(machine.EndTxnResponse).Error })
	if err != nil {
		return err
	}
	r.run(300 * millis)
	if got := p.(machine.EndTxnResponse).Error.String(); got != want.Error {
		return fmt.Errorf("%s, want %s", got, want.Error)
	}
	return nil
}

// warmUpTransaction is a transaction of one record.
func (r *replay) warmUpTransaction(op Operation, saw json.RawMessage) error {
	if err := r.produceTransactional(op, machine.TransactionV2, json.RawMessage(`{"error":"NONE","baseOffset":0}`)); err != nil {
		return err
	}
	op["commit"] = json.RawMessage("true")
	return r.endTxn(op, saw)
}

// stallListener holds what the other brokers ask of one: its followers' fetches, and markers.
func (r *replay) stallListener(op Operation, _ json.RawMessage) error {
	to := r.node(op)
	for i := range r.Brokers {
		if from := r.Brokers[i].ID; from != to {
			r.Apply(machine.HoldMessages{Pattern: fmt.Sprintf("Fetch %d->%d", from, to)})
			r.Apply(machine.HoldMessages{Pattern: fmt.Sprintf("WriteTxnMarkers %d->%d", from, to)})
		}
	}
	return nil
}

// waitNextCoordinator waits until another broker has X's transactional ids.
func (r *replay) waitNextCoordinator(saw json.RawMessage) error {
	state, _ := r.stateTopic()
	if !r.await(patience, func() bool {
		return r.registration(state).Leader != r.roles.X && r.registration(state).Leader != machine.NoNode
	}) {
		return fmt.Errorf("broker %d stays the coordinator", r.roles.X)
	}
	r.quiet()
	return expects(saw, map[string]any{"isD": r.registration(state).Leader == r.roles.D})
}

// describeProducers is what the leader of the data knows of producers.
func (r *replay) describeProducers(op Operation, saw json.RawMessage) error {
	var got []map[string]any
	log := &r.replica(r.leader(r.tp(op)), r.tp(op)).Log
	for i := range log.Producers {
		p := &log.Producers[i]
		row := map[string]any{"epoch": p.Epoch, "lastSequence": p.Batches[p.Count-1].LastSequence, "coordinatorEpochKnown": p.CoordinatorEpoch >= 0}
		if first := log.OpenBy(p.ID); first >= 0 {
			row["currentTxnStart"] = first
		}
		got = append(got, row)
	}
	return sameJSON(got, saw)
}

// sameJSON compares a value with what a step saw, field by field.
func sameJSON(got any, saw json.RawMessage) error {
	raw, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var a, b any
	_ = json.Unmarshal(raw, &a)
	_ = json.Unmarshal(saw, &b)
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		return fmt.Errorf("%s, want %s", raw, saw)
	}
	return nil
}

func (r *replay) describeTransaction(_ Operation, saw json.RawMessage) error {
	states := r.transactionRecords(r.lastTxn)
	return expects(saw, map[string]any{"state": states[len(states)-1].State})
}

// abortByAdmin is what kafka-transactions.sh abort sends: a marker to the leader of the data, with the coordinator epoch
// that the step has, or the one that the log knows.
func (r *replay) abortByAdmin(op Operation, saw json.RawMessage) error {
	tp, x := r.tp(op), r.txns[r.lastTxn]
	k, _ := r.replica(r.leader(tp), tp).Log.Producer(x.pid)
	m := machine.TxnMarker{ProducerID: x.pid, ProducerEpoch: k.Epoch, CoordinatorEpoch: int32(op.num("coordinatorEpoch", int64(k.CoordinatorEpoch))), Partitions: []machine.TopicPartition{tp}}
	a, ok := r.call(r.leader(tp), machine.WriteTxnMarkersRequest{Markers: []machine.TxnMarker{m}}).(machine.WriteTxnMarkersResponse)
	if !ok {
		return fmt.Errorf("no answer to WriteTxnMarkers")
	}
	_, err := answered(a.Results[0].Errors[0], saw)
	return err
}

// initUntilEpoch asks for the next epoch until it is the one wanted (T-11).
func (r *replay) initUntilEpoch(op Operation, saw json.RawMessage) error {
	x, err := r.known()
	if err != nil {
		return err
	}
	if _, err := r.initWhile(x, func() bool { return int64(x.epoch) < op.num("epoch", 0) }); err != nil {
		return err
	}
	return expects(saw, map[string]any{"epoch": x.epoch})
}

// initUntilNewID asks until there is another producer id: the last epoch of the first, and the first of the next.
func (r *replay) initUntilNewID(_ Operation, saw json.RawMessage) error {
	x, err := r.begin("until-new-id")
	if err != nil {
		return err
	}
	last, err := r.initWhile(x, func() bool { return true })
	if err != nil {
		return err
	}
	return expects(saw, map[string]any{"lastEpochOfFirstId": last, "firstEpochOfNewId": x.epoch})
}

// initWhile asks for epochs, on one connection, while they are wanted and the producer id is the first; it returns the
// epoch before the last.
func (r *replay) initWhile(x *txnReplay, wanted func() bool) (last int16, err error) {
	r.connection = 1
	defer func() { r.connection = 0 }()
	for wanted() && x.pid == x.first {
		a, err := r.initialise(r.lastTxn, 60_000, "")
		if err != nil || a.Error != machine.NONE {
			return 0, fmt.Errorf("InitProducerId: %v %v", a.Error, err)
		}
		last, x.pid, x.epoch = x.epoch, a.ProducerID, a.ProducerEpoch
	}
	return last, nil
}

// verification turns transaction.partition.verification.enable on or off (eb1), and goes on with another topic and
// another producer.
func (r *replay) verification(op Operation) bool {
	const name = "transaction.partition.verification.enable"
	if !op.has(name) {
		return false
	}
	r.World.Broker.Transactions.VerifyPartitions = op.str(name) == "true"
	r.txnTopic("eb1")
	return true
}
