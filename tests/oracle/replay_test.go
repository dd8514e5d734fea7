package oracle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// errInexpressible says that the simulator has no verb for an operation; README.md lists those with reasons.
var errInexpressible = errors.New("not expressible")

// millis is a virtual millisecond in the machine's µs.
const millis = 1000

// warmUp is the time before the first step. It sets the phase between the steps and the controller's session
// check, which is a matter of chance in a real cluster: with an 18 s session the check comes each 2.25 s and
// must not fall between the session's end and the restarted broker's next attempt to register (w1).
const warmUp = 2000 * millis

// replay is one recording being run on one world.
type replay struct {
	*machine.State
	t           testing.TB
	rec         *Recording
	topics      map[string]int32
	topic       string // the one that steps without a topic mean
	correlation uint32
	connection  uint32 // that calls share; 0 when each has its own
	answers     map[uint32]machine.Payload
	at          int // the step that is being compared
	quorum      quorum
	notes       int // visible changes since the last look
	producerID  int64
	saved       map[int]machine.Replica // copies of disks, by broker
	rounds      map[machine.TopicPartition][]round
	pids        map[int64]string // the recording's names for producer ids, by order of appearance
	session     int32            // the recording's session S1
	groups      *groupReplay
	txns        map[string]*txnReplay // by transactional id
	lastTxn     string
	roles       txnRoles
	instances   map[string]*java // of one transactional id
	static      bool             // the steps are about the group of static members
	readers     []int32          // fc1's consumers
	pause       int64            // ms before each batch, so that it begins a segment
}

func newReplay(t testing.TB, rec *Recording) *replay {
	r := &replay{t: t, rec: rec, topics: map[string]int32{}, answers: map[uint32]machine.Payload{}, producerID: -1, saved: map[int]machine.Replica{}, rounds: map[machine.TopicPartition][]round{}, pids: map[int64]string{}}
	given := map[string]any{}
	for name, value := range rec.Cluster.Config {
		if p, ok := config.Lookup(config.OwnerBroker, name); ok && p.Modelled {
			given[name] = value
		}
	}
	rec.zooKeeper(given)
	broker, problem := config.ParseBroker(given)
	if problem != nil {
		t.Fatal(problem.Text)
	}
	w := machine.World{Brokers: int32(len(rec.Cluster.Brokers)), Seed: max(raceSeeds[rec.Scenario], 1), Tick: 1000, Latency: 300, Broker: broker,
		Controllers: int32(len(rec.Cluster.Controllers))}
	if err := rec.generation(&w); err != nil {
		t.Fatal(err)
	}
	r.State = machine.New(w)
	r.run(warmUp)
	r.prepare()
	r.prepareTransactions()
	return r
}

// step takes one event and keeps what it answers to a probe.
func (r *replay) step() {
	after := r.watchTruncation()
	e, _ := r.Step()
	if after != nil {
		after(&e)
	}
	if e.To >= machine.FirstProbe {
		r.answers[e.Correlation] = e.Payload
	}
	r.notes += len(r.TakeNotes())
}

// run lets d µs pass.
func (r *replay) run(d int64) {
	until := r.Now + d
	for {
		e, ok := r.Peek()
		if !ok || e.At > until {
			r.Now = until
			return
		}
		r.step()
	}
}

// await steps until cond holds; limit is in virtual µs.
func (r *replay) await(limit int64, cond func() bool) bool {
	until := r.Now + limit
	for !cond() {
		e, ok := r.Peek()
		if !ok || e.At > until {
			return false
		}
		r.step()
	}
	return true
}

// quiet runs until nothing has changed for 0.6 s and the controller has noticed who is dead and who lives,
// as the recorder did before it took a snapshot.
func (r *replay) quiet() {
	for range 200 {
		r.notes = 0
		r.run(600 * millis)
		if r.notes == 0 && r.noticed() {
			return
		}
	}
}

func (r *replay) noticed() bool {
	for i := range r.Brokers {
		b := &r.Brokers[i]
		alive := b.Process != machine.NotRunning
		if alive == r.Metadata().Brokers[i].Fenced {
			return false
		}
	}
	return true
}

// tp is the partition that a step means.
func (r *replay) tp(op Operation) machine.TopicPartition {
	name := r.topic
	if op.has("topic") {
		name = op.str("topic")
	}
	topic, ok := r.topics[name]
	if !ok {
		r.t.Fatalf("step %s: topic %q was not created", op.name(), name)
	}
	return machine.TopicPartition{Topic: topic, Partition: int32(op.num("partition", 0))}
}

// registration is the controller's record of a partition.
func (r *replay) registration(tp machine.TopicPartition) *machine.PartitionRegistration {
	return &r.Metadata().Topics[tp.Topic].Partitions[tp.Partition]
}

// replica is a broker's replica of a partition, nil when it has none.
func (r *replay) replica(broker int, tp machine.TopicPartition) *machine.Replica {
	for i := range r.Brokers[broker-1].Replicas {
		if rep := &r.Brokers[broker-1].Replicas[i]; rep.TP == tp {
			return rep
		}
	}
	return nil
}

// call sends a raw request and waits for the answer; nil when none comes.
func (r *replay) call(broker int, p machine.Payload) machine.Payload {
	r.correlation++
	c := r.correlation
	r.Probe(0, machine.NodeID(broker), cmp.Or(r.connection, c), c, p)
	if !r.await(60_000*millis, func() bool { return r.answers[c] != nil }) {
		return nil
	}
	return r.answers[c]
}

// batch is what the recorder's raw producer sends: null keys, one batch.
func (r *replay) batch(values []string) partlog.Batch {
	b := partlog.Batch{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Sender: -1, Serial: int32(r.correlation)}
	for _, v := range values {
		x := partlog.Record{Value: v, Flags: partlog.NullKey, Timestamp: r.Now / millis}
		if r.compacts() {
			x = keyed(v, r.Now/millis)
		}
		b.Records.Append(&x, nil)
	}
	b.MaxTimestamp = r.Now / millis
	b.Size = partlog.BatchSize(&b.Records)
	return b
}

// do carries out one step and compares what it saw.
func (r *replay) do(op Operation, saw json.RawMessage) error {
	run, ok := operations[op.name()]
	if !ok {
		return fmt.Errorf("%w: operation %q", errInexpressible, op.name())
	}
	if done, err := r.atControllers(op, saw); done {
		return err
	}
	return run(r, op, saw)
}
