package kafkasim

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Schedules with transactions: producers that begin, send, commit and abort, others that fence them, coordinators that
// die, requests that come late and twice. They have seeds of their own, so that those without stay what they are.

// txnWeights say how often each kind of op is drawn.
var txnWeights = [opKinds]int{
	opTxn: 160, opRun: 36, opSteps: 12, opSend: 4, opTxnOther: 4, opTxnCrash: 2, opTxnTwice: 8, opTxnHold: 8, opRelease: 8, opTxnWait: 3, opTxnDecider: 6,
	opStartAll: 6, opStart: 3, opCrash: 3, opPower: 2, opStop: 2, opRestart: 3, opPause: 2, opResume: 3, opCut: 2, opIsolate: 1, opHeal: 4, opLatency: 2,
	opDrop: 3, opDelay: 4, opDeliver: 2, opMoved: 2, opElect: 1, opPoll: 2, opGrow: 1, opController: 1,
}

// drawTxnSchedule draws one.
func drawTxnSchedule(pick chooser) schedule {
	w := shape{seed: pick(1 << 16), brokers: []int{3, 3, 3, 3, 4, 2, 1, 3}[pick(8)], latency: []int{1, 1, 1, 4}[pick(4)], dirs: 1}
	w.factor = w.brokers - pick(min(w.brokers, 2))
	w.minISR, w.partitions, w.txns = 1+pick(min(w.factor, 2)), 1+pick(3), 1+pick(3)
	w.elr, w.flush, w.controllers = pick(2) == 0, pick(8) == 0, []int{1, 1, 1, 3}[pick(4)]
	w.producers = []int{[]int{0, 2, 5}[pick(3)]}
	w.drawTxnRules(pick)
	return schedule{world: w, ops: drawOps(pick, 20+pick(50), txnWeights[:], w.brokers)}
}

// txnRules are the switches of rules about transactions.
var txnRules = []machine.Switch{machine.TransactionsV2, machine.TransactionsV2, machine.MarkerRetry, machine.FenceTakesNewID, machine.FenceOnce, machine.VerifyTransactions}

// drawTxnRules draws older rules: a version that has transactions, or one switch that is about them.
func (w *shape) drawTxnRules(pick chooser) {
	switch pick(6) {
	case 0:
		var versions []string
		for _, name := range config.Versions() {
			if v, _ := config.ParseVersion(name); v >= config.V0_11 {
				versions = append(versions, name)
			}
		}
		w.kafka = versions[pick(len(versions))]
	case 1:
		x := txnRules[pick(len(txnRules))]
		list := machine.Switches()
		w.without = list[slices.IndexFunc(list, func(i machine.SwitchInfo) bool { return i.Switch == x })].Name
	}
	if v, _ := config.ParseVersion(w.kafka); w.kafka != "" && v < config.V4_0 {
		w.elr = false
	}
	if r := w.older().Rules; r.Without(machine.KRaft) || r.Without(machine.AlterISR) {
		w.controllers = 1
	}
}

// txnConfig makes coordinators fast, if there are any.
func (w *shape) txnConfig(conf Config) {
	if w.txns == 0 {
		return
	}
	for _, topic := range []string{"transaction.state.log.", "offsets.topic."} {
		conf[topic+"num.partitions"], conf[topic+"replication.factor"] = 2, w.factor
	}
	conf["transaction.state.log.min.isr"] = min(w.minISR, w.factor)
	conf["transaction.abort.timed.out.transaction.cleanup.interval.ms"] = 200
}

// Random worlds with transactional producers: invariants 23 and 28 to 33 hold after every event, and in the end every
// transaction has ended and read_committed sees all of it or nothing. `go test ./kafkasim -run TxnSchedules -soak 100000
// -timeout 0` looks longer.
func TestTxnSchedulesKeepEveryInvariant(t *testing.T) {
	soakFamily(t, "transactions", drawTxnSchedule, 2_000)
}
