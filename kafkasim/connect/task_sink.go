package connect

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim"
)

// Sink tasks (K-9, K-11): records go through converters and transforms into a table, and are committed afterwards.
//
// A record that cannot be converted or transformed is what errors.tolerance and the dead letter queue are about. A table
// that takes nothing is not: the task pauses its partitions, goes on polling so that it stays in its group, and tries
// again, max.retries times; then it fails.
//
// Kafka: WorkerSinkTask, RetryWithToleranceOperator, DeadLetterQueueReporter, WorkerErrantRecordReporter. KIP-298.

// sinkWork is what a running sink task has.
type sinkWork struct {
	consumer *kafkasim.Consumer
	dead     *kafkasim.Producer
	owned    []kafkasim.TopicPartition
	paused   []kafkasim.TopicPartition
	put      []putOffset // what the table has, and was not committed
	waiting  []kafkasim.Polled
	tries    int
	retryAt  time.Duration
}

type putOffset struct {
	topic     string
	partition int
	offset    int64
}

// startSink makes the task's consumer.
func (t *task) startSink(k *Connect) {
	for _, topic := range t.conf.topics {
		k.makeTopic(topic)
	}
	t.consumer = k.c.NewConsumer(k.free("connector-consumer-"+t.id.String()), kafkasim.Config{"group.id": "connect-" + t.id.Connector,
		"enable.auto.commit": false, "auto.offset.reset": "earliest"})
	t.consumer.Subscribe(t.conf.topics...)
	has := func(list []kafkasim.TopicPartition) func(kafkasim.TopicPartition) bool {
		return func(x kafkasim.TopicPartition) bool { return slices.Contains(list, x) }
	}
	gone := func(list []kafkasim.TopicPartition) {
		t.owned, t.paused = slices.DeleteFunc(t.owned, has(list)), slices.DeleteFunc(t.paused, has(list))
		t.waiting = slices.DeleteFunc(t.waiting, func(r kafkasim.Polled) bool {
			return has(list)(kafkasim.TopicPartition{Topic: r.Topic, Partition: r.Partition})
		})
	}
	t.consumer.OnAssigned(func(list []kafkasim.TopicPartition) { t.owned = append(t.owned, list...) })
	t.consumer.OnRevoked(func(list []kafkasim.TopicPartition) { t.commit(); gone(list) })
	t.consumer.OnLost(func(list []kafkasim.TopicPartition) { t.put = nil; gone(list) })
	if t.conf.deadQueue != "" {
		k.makeTopic(t.conf.deadQueue)
		t.dead = k.newProducer("connector-dlq-producer-" + t.id.String())
	}
}

// hold pauses or resumes the task's partitions.
func (t *task) hold(on bool) {
	if !on {
		for _, x := range t.paused {
			t.consumer.Resume(x.Topic, x.Partition)
		}
		t.paused = nil
		return
	}
	for _, x := range t.owned {
		if !slices.Contains(t.paused, x) {
			t.consumer.Pause(x.Topic, x.Partition)
			t.paused = append(t.paused, x)
		}
	}
}

func (t *task) turnSink(k *Connect, paused bool) {
	t.hold(paused || len(t.waiting) > 0)
	got := t.consumer.Poll(0)
	if got.Error != "" {
		t.fail(k, "poll threw "+got.Error)
		return
	}
	t.waiting = append(t.waiting, got.Records...)
	if paused || len(t.waiting) > 0 && k.now() < t.retryAt {
		return
	}
	for len(t.waiting) > 0 {
		if !t.deliver(k, &t.waiting[0]) {
			return
		}
		t.waiting = t.waiting[1:]
	}
}

// deliver brings one record into the table; false when it stays where it is.
func (t *task) deliver(k *Connect, r *kafkasim.Polled) bool {
	x, err := t.decode(r)
	switch {
	case err != nil && !t.conf.tolerant:
		t.fail(k, fmt.Sprintf("%s at %s-%d offset %d", toleranceExceeded(err), r.Topic, r.Partition, r.Offset))
		return false
	case err != nil && t.dead != nil:
		t.bury(r, err)
	case err == nil && x != nil:
		if bad := t.store(k, x); bad != nil {
			return t.again(k, bad)
		}
	}
	t.tries = 0
	t.passed(r)
	return true
}

// decode is a record behind converters and transforms; nil when it was dropped.
func (t *task) decode(r *kafkasim.Polled) (*record, *stageError) {
	x := &record{sink: true, topic: r.Topic, partition: r.Partition, offset: r.Offset, timestamp: r.Timestamp, headers: r.Headers}
	var err *stageError
	if x.key, err = toConnect(keyConverter, t.conf.keys, r.Key, r.NullKey); err != nil {
		return nil, err
	}
	if x.value, err = toConnect(valueConverter, t.conf.values, r.Value, r.NullValue); err != nil {
		return nil, err
	}
	return t.conf.chain.run(x)
}

// store is the connector's put.
func (t *task) store(k *Connect, x *record) error {
	table := k.db.Table(t.conf.table)
	if table.down {
		return errors.New("RetriableException: the table " + table.Name + " does not answer")
	}
	key, value := rowText(x.key), rowText(x.value)
	switch {
	case t.conf.upsert && t.conf.deletes && x.value == nil:
		table.remove(key)
	case t.conf.upsert:
		table.upsert(key, value)
	default:
		table.Insert(key, value)
	}
	return nil
}

// again arranges that a put is tried again, or fails the task: errors.tolerance is not about puts.
func (t *task) again(k *Connect, why error) bool {
	if t.tries++; t.tries > t.conf.retries {
		t.fail(k, fmt.Sprintf("Exiting WorkerSinkTask due to unrecoverable exception: ConnectException: %v after %d tries", why, t.tries))
		return false
	}
	t.retryAt = k.now() + t.conf.backoff
	return false
}

// toleranceExceeded is why a task fails for a record.
func toleranceExceeded(err *stageError) string {
	return fmt.Sprintf("Tolerance exceeded in error handler: %s in %s", err.message, err.at)
}

// bury sends a record that cannot be converted or transformed to the dead letter queue, as it came.
func (t *task) bury(r *kafkasim.Polled, why *stageError) {
	x := kafkasim.Record{Topic: t.conf.deadQueue, Headers: slices.Clone(r.Headers)}
	if !r.NullKey {
		x.Key = r.Key
	}
	if !r.NullValue {
		x.Value = r.Value
	}
	if t.conf.context {
		for _, h := range [][2]string{{"topic", r.Topic}, {"partition", fmt.Sprint(r.Partition)}, {"offset", fmt.Sprint(r.Offset)},
			{"connector.name", t.id.Connector}, {"task.id", fmt.Sprint(t.id.Task)}, {"stage", string(why.at)}, {"class.name", why.class},
			{"exception.class.name", why.exception}, {"exception.message", why.message},
			{"exception.stacktrace", why.exception + ": " + why.message}} {
			x.Headers = append(x.Headers, kafkasim.Header{Key: "__connect.errors." + h[0], Value: h[1]})
		}
	}
	t.dead.SendRecord(x)
}

// passed remembers that a record is done with.
func (t *task) passed(r *kafkasim.Polled) {
	i := slices.IndexFunc(t.put, func(p putOffset) bool { return p.topic == r.Topic && p.partition == r.Partition })
	if i < 0 {
		i = len(t.put)
		t.put = append(t.put, putOffset{topic: r.Topic, partition: r.Partition})
	}
	t.put[i].offset = r.Offset + 1
}

// commit commits what was put since the last time.
func (t *task) commit() {
	put := t.put
	t.put = nil
	for _, p := range put {
		t.consumer.CommitOffset(p.topic, p.partition, p.offset)
	}
}
