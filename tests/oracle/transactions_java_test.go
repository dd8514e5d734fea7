package oracle

import (
	"encoding/json"
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
)

// The Java producer's transactions (j4, ee1): what its calls throw when another instance has come.

func init() {
	operations["javaTransaction"] = (*replay).javaTransaction
	operations["abortTransaction"] = (*replay).javaAbort
	operations["secondInstanceInit"] = (*replay).secondInstance
	for _, name := range []string{"A.initTransactions", "A.begin", "A.begin+send", "A.send", "A.commit", "A.abort", "B.initTransactions", "B.begin+send+commit",
		"B.begin+send+abort", "B.begin+commit", "B.begin+commitWithSend", "B.abort", "C.initTransactions"} {
		operations[name] = (*replay).javaCalls
	}
}

// instance is a producer of the recording's transactional id, made when it is first meant.
func (r *replay) instance(name string) (*java, error) {
	if j := r.instances[name]; j != nil {
		return j, nil
	}
	r.lastTxn = r.topic
	j, err := r.java(r.topic, map[string]any{"transactional.id": r.topic, "linger.ms": 0})
	if err != nil {
		return nil, err
	}
	if r.instances == nil {
		r.instances = map[string]*java{}
	}
	r.instances[name] = j
	return j, nil
}

// call makes a call of the producer and waits for its end; the result is OK or the exception's name.
func (j *java) call(cmd machine.Command) string {
	if res := j.Apply(cmd); res.Error != machine.NONE {
		return exceptionName(res.Error.String())
	}
	t := func() *machine.TransactionManager { return &j.Producers[j.id].Txn }
	if !j.await(patience, func() bool { return !t().Waits() }) {
		return "TimeoutException"
	}
	if t().Failed != machine.NONE {
		return exceptionName(t().Failed.String())
	}
	return "OK"
}

func (j *java) init() string  { return j.call(machine.InitTransactions{Producer: j.id}) }
func (j *java) begin() string { return j.call(machine.BeginTransaction{Producer: j.id}) }
func (j *java) end(commit bool) string {
	return j.call(machine.EndTransaction{Producer: j.id, Commit: commit})
}

// sendAndGet sends values and waits for what becomes of the last, as send(…).get() does.
func (j *java) sendAndGet(values ...string) string {
	for _, v := range values {
		j.sendTo(0, -1, v, j.Now/millis)
	}
	if len(values) == 0 {
		return "OK"
	}
	last := j.sent[len(j.sent)-1]
	j.await(patience, func() bool { return j.Delivery(j.id, last).Status != machine.DeliveryPending })
	return j.result(last)
}

// javaCalls is a step of j4: an instance, and its calls in a row; the first that throws ends it.
func (r *replay) javaCalls(op Operation, saw json.RawMessage) error {
	name, calls, _ := strings.Cut(op.name(), ".")
	j, err := r.instance(name)
	if err != nil {
		return err
	}
	got := "OK"
	for _, call := range strings.Split(calls, "+") {
		if got != "OK" {
			break
		}
		switch call {
		case "initTransactions":
			got = j.init()
		case "begin":
			got = j.begin()
		case "send":
			got = j.sendAndGet(r.nextValue())
		case "commitWithSend":
			j.sendTo(0, -1, "x", r.Now/millis)
			got = j.end(true)
		case "commit":
			got = j.end(true)
		case "abort":
			got = j.end(false)
		}
	}
	r.run(300 * millis)
	return sawText(got, saw)
}

// nextValue is what the recording's log has where the next record will be.
func (r *replay) nextValue() string {
	tp := machine.TopicPartition{Topic: r.topics[r.topic]}
	return r.seenAt(r.replica(r.leader(tp), tp).Log.End)
}

// javaTransaction is ee1's: a whole transaction of an instance, the first one if the step does not say; the exception is
// the first that was thrown.
func (r *replay) javaTransaction(op Operation, saw json.RawMessage) error {
	name := fmt.Sprint(op.num("instance", 1))
	j, err := r.instance(name)
	if err != nil {
		return err
	}
	if j.Producers[j.id].Txn.State == machine.TxnUninitialized {
		if got := j.init(); got != "OK" {
			return fmt.Errorf("initTransactions: %s", got)
		}
	}
	commit := true
	op.into("commit", &commit)
	got := j.begin()
	if got == "OK" {
		for _, v := range op.strs("values") {
			j.sendTo(0, -1, v, r.Now/millis)
		}
		if !commit { // what is aborted must have been sent to be seen
			j.flush()
		}
		got = j.end(commit)
	}
	r.run(300 * millis)
	return sawText(got, saw)
}

// javaAbort is abortTransaction() after what went wrong.
func (r *replay) javaAbort(op Operation, saw json.RawMessage) error {
	j, err := r.instance(fmt.Sprint(op.num("instance", 1)))
	if err != nil {
		return err
	}
	return sawText(j.end(false), saw)
}

// secondInstance fences the first, and commits a transaction, which only the log shows.
func (r *replay) secondInstance(_ Operation, saw json.RawMessage) error {
	j, err := r.instance("2")
	if err != nil {
		return err
	}
	got := j.init()
	for _, call := range []func() string{j.begin, func() string { return j.sendAndGet(r.nextValue()) }, func() string { return j.end(true) }} {
		if got == "OK" {
			got = call()
		}
	}
	r.run(300 * millis)
	return sawText(got, saw)
}
