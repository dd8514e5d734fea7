package connect

import (
	"time"

	"kafkalab/kafkasim"
)

// Tasks: what carries data (K-8 to K-11).
//
// A source task reads rows behind its offset, sends them, and writes the offset down every offset.flush.interval.ms, up to
// where everything is acknowledged. A sink task polls, puts, and commits as often. Either may die in between, and then what
// it did since the last time is done again: at least once.
//
// Kafka: WorkerTask; task_source.go and task_sink.go have the two kinds.

// task is one running task, or one that has failed.
type task struct {
	id     item
	conf   connectorConfig
	worker string
	failed string // why; "" while it runs
	sourceWork
	sinkWork
}

// start makes the task's clients, and finds where it left off.
func (t *task) start(k *Connect) {
	*t = task{id: t.id, conf: t.conf, worker: t.worker}
	if t.conf.source {
		t.startSource(k)
	} else {
		t.startSink(k)
	}
	if t.failed == "" {
		k.log.status(k, t.id, "RUNNING", t.worker)
	}
}

// turn lets the task do what it can do now.
func (t *task) turn(k *Connect) {
	paused := k.find(t.id.Connector).target == paused
	switch {
	case t.failed != "":
	case !t.conf.source:
		t.turnSink(k, paused)
	case paused:
		t.settle(k)
	default:
		t.turnSource(k)
	}
}

// fail ends the task's clients; the worker keeps the task, and nobody starts it again (K-11).
func (t *task) fail(k *Connect, why string) {
	t.failed = why
	t.close(k)
	k.log.status(k, t.id, "FAILED", t.worker)
}

// flush writes down how far a running task is.
func (t *task) flush(k *Connect) {
	if t.failed == "" && t.conf.source {
		t.settle(k)
	}
	if t.failed == "" {
		t.writeDown(k)
	}
}

// writeDown writes source offsets, or commits.
func (t *task) writeDown(k *Connect) {
	if t.conf.source {
		t.writeOffsets(k)
	} else {
		t.commit()
	}
}

// stop ends the task in order: what is under way is finished and written down.
func (t *task) stop(k *Connect) {
	if t.failed == "" {
		k.c.RunUntil(func(*kafkasim.Cluster) bool { t.settle(k); return len(t.sent) == 0 || t.failed != "" }, 5*time.Second)
		t.close(k)
	}
	k.log.status(k, t.id, "UNASSIGNED", t.worker)
}

// close writes down how far the task is, and ends its clients.
func (t *task) close(k *Connect) {
	t.writeDown(k)
	if t.consumer != nil {
		t.consumer.Close()
	}
	if t.dead != nil {
		t.dead.Close()
	}
	t.consumer, t.dead = nil, nil
	t.crash() // close(0): what the source's producer has no answer for is not waited for
}

// crash ends the task's clients at once.
func (t *task) crash() {
	for _, p := range []*kafkasim.Producer{t.producer, t.dead} {
		if p != nil {
			p.Crash()
		}
	}
	if t.consumer != nil {
		t.consumer.Crash()
	}
	t.producer, t.dead, t.consumer = nil, nil, nil
}
