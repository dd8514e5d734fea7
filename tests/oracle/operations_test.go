package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// operations are the steps that a recording may take, by their names.
var operations = map[string]func(*replay, Operation, json.RawMessage) error{
	"createTopic":           (*replay).createTopic,
	"snapshot":              (*replay).snapshot,
	"waitIsr":               (*replay).waitISR,
	"waitLeader":            (*replay).waitLeader,
	"waitAnyLeader":         (*replay).waitAnyLeader,
	"kill9":                 (*replay).kill9,
	"start":                 (*replay).startOld,
	"sigterm":               (*replay).sigterm,
	"sleepMs":               (*replay).sleep,
	"stallReplicationFrom":  (*replay).stallReplication,
	"resumeReplicationFrom": (*replay).resumeReplication,
	"dropHeldBytes":         (*replay).dropHeld,

	"produce":                (*replay).produce,
	"produceIdempotent":      (*replay).produceIdempotent,
	"produceIdempotentRetry": (*replay).produceIdempotent,
	"produceThenHeal":        (*replay).produceThenHeal,
	"consumerFetch":          (*replay).consumerFetch,
	"listOffsets":            (*replay).listOffsets,
	"metadata":               (*replay).metadata,
	"dumpLog":                (*replay).dumpLog,
	"metadataHistory":        (*replay).metadataHistory,
	"epochProbe":             (*replay).epochProbe,
	"produceAtFollower":      (*replay).produceAtFollower,
	"produceInvalidAcks":     (*replay).produceInvalidAcks,
	"produceUnknownPartition": func(r *replay, op Operation, saw json.RawMessage) error {
		return r.produceTo(1, r.tp(op), config.AcksAll, 4000, []string{"x"}, saw)
	},

	"javaProducerSend":        (*replay).javaProducerSend,
	"produceAcks0":            (*replay).produceAcks0,
	"killLeaderAndFailover":   (*replay).killLeaderAndFailover,
	"produceAtNewLeader":      (*replay).produceAtNewLeader,
	"restart":                 (*replay).restart,
	"kill9AndRestartAtOnce":   (*replay).restartAtOnce,
	"sigtermAndRestartAtOnce": (*replay).restartAtOnce,
	"brokerRecords":           (*replay).brokerRecords,

	"sigstop":                (*replay).sigstop,
	"sigcont":                (*replay).sigcont,
	"copyPartitionDirectory": (*replay).copyPartitionDirectory,
	"kill9Both":              (*replay).killBoth,
	"kill9InOrder":           (*replay).killInOrder,
	"startIfDead":            (*replay).startIfDead,
	"consumerReadAll":        (*replay).consumerReadAll,

	"waitQuorumLeader":               (*replay).waitQuorumLeader,
	"describeQuorumAtEachController": (*replay).describeQuorum,
	"adminDescribeMetadataQuorum":    (*replay).adminDescribeQuorum,
	"logsEqual":                      (*replay).logsEqual,
	"leaderEpochOfPartitions":        (*replay).snapshot,
	"topics":                         (*replay).topicsThere,
	"activeBrokers":                  (*replay).activeBrokers,
	"brokersFencedMeanwhile":         (*replay).fencedMeanwhile,
	"controllerLogWords":             func(*replay, Operation, json.RawMessage) error { return nil }, // nothing was kept of it
	"initProducerIdRaw":              (*replay).initProducerID,

	"initProducerId":           (*replay).initTransactional,
	"endTxn":                   (*replay).endTxn,
	"views":                    (*replay).isolationViews,
	"transactionState":         (*replay).transactionState,
	"nonTxnBatchOfTxnProducer": (*replay).plainBatchOfTxnProducer,

	"raiseLeaderEpochs": (*replay).raiseLeaderEpochs,
	"craftLogs":         (*replay).craftLogs,
	"truncationResult":  (*replay).truncationResult,
}

func (r *replay) createTopic(op Operation, saw json.RawMessage) error {
	if bytes.Contains(saw, []byte(`"result"`)) || bytes.Contains(saw, []byte(`"exception"`)) {
		return r.createOnly(op, saw)
	}
	if !op.has("assignment") && !op.has("replicas") {
		return fmt.Errorf("%w: placement by Kafka's random placer", errInexpressible)
	}
	given := map[string]any{}
	var configs map[string]string
	op.into("configs", &configs)
	var set []string
	for name, value := range configs {
		given[name] = value
		set = append(set, name)
	}
	slices.Sort(set)
	props, problem := config.ParseTopic(r.World.Broker.Topic, given)
	if problem != nil {
		return fmt.Errorf("%w: %s", errInexpressible, problem.Text)
	}
	var lists map[string][]int
	op.into("assignment", &lists)
	if op.has("replicas") {
		lists = map[string][]int{}
		for p := range op.num("partitions", 1) {
			lists[fmt.Sprint(p)] = op.ints("replicas")
		}
	}
	assignment := make([][]machine.NodeID, len(lists))
	for p := range assignment {
		for _, id := range lists[fmt.Sprint(p)] {
			assignment[p] = append(assignment[p], machine.NodeID(id))
		}
	}
	res := r.Apply(machine.CreateTopic{Name: op.str("topic"), Props: props, Set: set, Assignment: assignment})
	if res.Error != machine.NONE {
		return fmt.Errorf("CreateTopic: %v", res.Error)
	}
	r.topic = op.str("topic")
	r.topics[r.topic] = res.ID
	r.quiet()
	if string(saw) == `"OK"` {
		return nil
	}
	return r.compareSnapshot(op, saw)
}

func (r *replay) snapshot(op Operation, saw json.RawMessage) error {
	r.quiet()
	return r.compareSnapshot(op, saw)
}

// patience is how long a wait may take; recorders gave up after 40 s.
const patience = 40_000 * millis

// timedOut tells whether the recorder's wait ended without what it waited for.
func timedOut(saw json.RawMessage) bool {
	var s struct{ TimedOut bool }
	return json.Unmarshal(saw, &s) == nil && s.TimedOut
}

func (r *replay) waitISR(op Operation, saw json.RawMessage) error {
	want, tp := sorted(op.ints("isr")), r.tp(op)
	if !r.await(patience, func() bool { return equalIDs(r.registration(tp).ISR, want) }) {
		if timedOut(saw) {
			return nil
		}
		return fmt.Errorf("the ISR stays %v, want %v", r.registration(tp).ISR, want)
	}
	return r.snapshot(op, saw)
}

func (r *replay) waitLeader(op Operation, saw json.RawMessage) error {
	want, tp := op.num("leader", 0), r.tp(op)
	if !r.await(patience, func() bool { return kafkaID(r.registration(tp).Leader) == int(want) }) {
		if timedOut(saw) {
			return nil
		}
		return fmt.Errorf("the leader stays %d, want %d", r.registration(tp).Leader, want)
	}
	return r.snapshot(op, saw)
}

func (r *replay) waitAnyLeader(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	r.await(40_000*millis, func() bool { return r.registration(tp).Leader != machine.NoNode })
	return r.snapshot(op, saw)
}

func (r *replay) kill9(op Operation, _ json.RawMessage) error {
	r.Apply(machine.CrashBroker{Broker: r.node(op)})
	return nil
}

func (r *replay) sigterm(op Operation, _ json.RawMessage) error {
	id := machine.NodeID(op.num("broker", 0))
	r.Apply(machine.StopBroker{Broker: id})
	if !r.await(60_000*millis, func() bool { return r.Brokers[id-1].Process == machine.NotRunning }) {
		return fmt.Errorf("broker %d does not stop", id)
	}
	return nil
}

func (r *replay) sleep(op Operation, saw json.RawMessage) error {
	r.run(op.num("ms", 0) * millis)
	if bytes.HasPrefix(saw, []byte("[")) {
		return r.transactionState(op, saw)
	}
	return r.compareSnapshot(op, saw)
}

// eachFollowerLink visits the other brokers: what the leader's listener sends to them is stalled.
func (r *replay) eachFollowerLink(leader machine.NodeID, visit func(follower machine.NodeID)) {
	for i := range r.Brokers {
		if id := r.Brokers[i].ID; id != leader {
			visit(id)
		}
	}
}

func (r *replay) stallReplication(op Operation, _ json.RawMessage) error {
	leader := machine.NodeID(op.num("leaderBroker", 0))
	r.eachFollowerLink(leader, func(f machine.NodeID) { r.Apply(machine.CutLink{A: leader, B: f}) })
	return nil
}

func (r *replay) resumeReplication(op Operation, _ json.RawMessage) error {
	leader := machine.NodeID(op.num("leaderBroker", 0))
	r.eachFollowerLink(leader, func(f machine.NodeID) { r.Apply(machine.HealLink{A: leader, B: f}) })
	return nil
}

// dropHeld loses what the stalled links hold, and opens them: the process behind them is dead.
func (r *replay) dropHeld(op Operation, _ json.RawMessage) error {
	if r.roles.X != 0 { // a listener was stalled
		r.Held = slices.DeleteFunc(r.Held, func(e machine.Event) bool { return e.From == r.roles.X })
		r.Apply(machine.ReleaseMessages{})
		return nil
	}
	from := machine.NodeID(op.num("from", 0))
	for i := range r.Links {
		if l := &r.Links[i]; l.From == from || l.To == from {
			l.Held = nil
		}
	}
	r.eachFollowerLink(from, func(f machine.NodeID) { r.Apply(machine.HealLink{A: from, B: f}) })
	return nil
}
