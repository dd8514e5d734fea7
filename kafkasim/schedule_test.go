package kafkasim

import (
	"fmt"
	"maps"
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/prng"
)

// A schedule is a small world and a list of things that are done to it: what the random tests draw, run with
// every invariant watched, and make shorter when one breaks.

type schedule struct {
	world shape
	ops   []op
}

// shape is what a schedule's world is like.
type shape struct {
	seed, brokers, factor, minISR, partitions int
	elr, unclean, rebalance, small, flush     bool
	latency                                   int // ms
	controllers                               int
	producers                                 []int
	kafka, without                            string // the version, "" for the default; a switch that is off, "" for none
	cleanup                                   int    // of cleanups
	dirs                                      int    // log directories of a broker
	group                                     groupShape
	txns                                      int // transactional ids
}

// op is one thing that is done; what a, b and n mean depends on the kind. A broker 0 is whoever leads.
type op struct{ kind, a, b, n int }

// The kinds of op.
const (
	opSend = iota
	opRun
	opSteps
	opPoll
	opCrash
	opPower
	opStop
	opStart
	opStartAll
	opPause
	opResume
	opCut
	opCutOneWay
	opIsolate
	opHeal
	opLatency
	opDrop
	opDelay
	opDeliver
	opHold
	opRelease
	opElect
	opUnclean
	opReassign
	opAlter
	opDelete
	opSlow
	opShrunk // until the ISR of the first partition has got smaller, or a second has passed
	opMoved  // until its leader is another one
	opRestart
	opController
	opLoseDisk
	opLoseReplica
	opGrow  // more partitions
	opTopic // a second topic comes, or goes

	// Those of transactions; see schedule_txn_test.go.
	opTxn        // a transactional producer does its next thing
	opTxnOther   // another instance of one begins
	opTxnCrash   // one ends without a word
	opTxnTwice   // a request about transactions arrives again
	opTxnHold    // such requests, or their answers, are held back
	opTxnWait    // transactions time out
	opTxnDecider // a coordinator dies
	opKinds
)

// weights say how often each kind is drawn.
var weights = [opKinds]int{
	opSend: 30, opRun: 24, opSteps: 5, opPoll: 4, opCrash: 7, opPower: 3, opStop: 3, opStart: 5, opStartAll: 4, opPause: 3, opResume: 4,
	opCut: 4, opCutOneWay: 2, opIsolate: 4, opHeal: 5, opLatency: 3, opDrop: 2, opDelay: 3, opDeliver: 2, opHold: 4, opRelease: 4,
	opElect: 1, opUnclean: 1, opReassign: 1, opAlter: 1, opDelete: 1, opSlow: 1, opShrunk: 6, opMoved: 6, opRestart: 4, opController: 3,
	opLoseDisk: 1, opLoseReplica: 1, opGrow: 1, opTopic: 1,
}

// chooser draws a number below n.
type chooser func(n int) int

// draws is the chooser of a seed.
func draws(seed uint64) chooser {
	i := uint64(0)
	return func(n int) int {
		i++
		return prng.Below(prng.Draw(seed, 4711, i), n)
	}
}

// drawSchedule draws a schedule.
func drawSchedule(pick chooser) schedule {
	w := shape{seed: pick(1 << 16), brokers: []int{1, 2, 3, 3, 3, 3, 4, 5}[pick(8)]}
	w.factor = w.brokers - pick(min(w.brokers, 2))
	if w.factor > 3 && pick(2) == 0 {
		w.factor = 3
	}
	w.minISR, w.partitions = 1+pick(min(w.factor, 3)), 1+pick(4)/3
	w.elr, w.unclean, w.rebalance, w.small, w.flush = pick(2) == 0, pick(5) == 0, pick(8) == 0, pick(3) == 0, pick(6) == 0
	w.latency = []int{1, 1, 1, 5}[pick(4)]
	w.controllers = []int{1, 1, 1, 1, 3, 3, 5, 1}[pick(8)]
	for i := range producerKinds {
		if pick(2) == 0 {
			w.producers = append(w.producers, i)
		}
	}
	if len(w.producers) == 0 {
		w.producers = []int{0}
	}
	s := schedule{world: w, ops: drawOps(pick, 4+pick(13), weights[:], w.brokers)}
	s.world.drawRules(pick)
	return s
}

// drawOps draws n things to do, each kind as often as its weight says.
func drawOps(pick chooser, n int, weights []int, brokers int) (ops []op) {
	total := 0
	for _, w := range weights {
		total += w
	}
	for range n {
		x, kind := pick(total), 0
		for x >= weights[kind] {
			x -= weights[kind]
			kind++
		}
		ops = append(ops, op{kind, pick(brokers + 2), pick(brokers + 2), pick(1000)})
	}
	return ops
}

// drawRules draws what most schedules leave alone: older rules, what becomes of old records, more disks.
func (w *shape) drawRules(pick chooser) {
	w.dirs = []int{1, 1, 1, 2}[pick(4)]
	w.cleanup = []int{0, 0, 0, 1, 2, 3}[pick(6)]
	switch pick(8) {
	case 0:
		versions := config.Versions()
		w.kafka = versions[pick(len(versions))]
	case 1:
		// Schedules have no groups, so what is about their protocol alone would be no other rule.
		list := slices.DeleteFunc(machine.Switches(), func(i machine.SwitchInfo) bool {
			return i.Switch >= machine.ConsumerProtocol && i.Switch <= machine.LateCommits || i.Switch >= machine.EmptiedGroupStays && i.Switch <= machine.CommitsOutlive
		})
		w.without = list[pick(len(list))].Name
	}
	if v, _ := config.ParseVersion(w.kafka); w.kafka != "" && v < config.V4_0 {
		w.elr = false
	}
	if r := w.older().Rules; w.controllers > 1 && (r.Without(machine.KRaft) || r.Without(machine.AlterISR)) {
		w.controllers = 1
	}
}

// older is the world's rules.
func (w *shape) older() machine.World {
	var m machine.World
	x := w.config()
	x.Kafka = x.checkGeneration("World")
	x.setGeneration(&m)
	return m
}

// cleanups are what may become of a topic's old records.
var cleanups = []Config{
	{},
	{"cleanup.policy": "compact", "segment.ms": 40, "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": 60},
	{"cleanup.policy": "compact,delete", "segment.ms": 60, "min.cleanable.dirty.ratio": "0.3", "retention.ms": 400},
	{"segment.ms": 50, "retention.ms": 150},
}

// producerKinds are the producers of the schedules.
var producerKinds = []Config{
	{"acks": "all", "linger.ms": 0},
	{"acks": "all", "linger.ms": 1, "batch.size": 100, "retry.backoff.ms": 10},
	{"acks": "1"},
	{"acks": "0"},
	{"acks": "all", "enable.idempotence": false, "retry.backoff.ms": 10},
	{"acks": "all", "linger.ms": 0, "max.in.flight.requests.per.connection": 1},
}

// config is the world of a schedule, fast: what takes seconds in a cluster of Kafka's defaults takes tenths.
func (w *shape) config() World {
	conf := Config{"broker.session.timeout.ms": 180, "broker.heartbeat.interval.ms": 40, "replica.lag.time.max.ms": 120, "replica.fetch.wait.max.ms": 25,
		"replica.fetch.backoff.ms": 15, "replica.socket.timeout.ms": 250, "replica.high.watermark.checkpoint.interval.ms": 100}
	if w.rebalance {
		conf["leader.imbalance.check.interval.seconds"] = 1
	} else {
		conf["auto.leader.rebalance.enable"] = false
	}
	switches := map[string]bool{"eligible.leader.replicas": w.elr}
	if w.without != "" {
		switches[w.without] = false
	}
	if w.cleanup > 0 {
		conf["log.retention.check.interval.ms"], conf["log.cleaner.backoff.ms"] = 70, 50
	}
	w.group.config(w, conf)
	w.txnConfig(conf)
	return World{Brokers: w.brokers, Seed: uint64(w.seed), Config: conf, Latency: ms(w.latency), Controllers: w.controllers,
		LogDirs: w.dirs, Kafka: w.kafka, Switches: switches, Racks: w.group.names(w.brokers)}
}

func (w *shape) topic() Config {
	conf := Config{"min.insync.replicas": w.minISR, "unclean.leader.election.enable": w.unclean}
	if w.small {
		conf["segment.bytes"] = 1 << 20 // Kafka's least; the values are large then
	}
	if w.flush {
		conf["flush.messages"] = 2
	}
	maps.Copy(conf, cleanups[w.cleanup])
	return conf
}

func (s *schedule) String() string { return fmt.Sprintf("%+v", *s) }
