package connect

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim"
)

// Tasks: what carries data (K-8 to K-11).
//
// A source task reads rows behind its offset, sends them, and writes the offset down every offset.flush.interval.ms, up to
// where everything is acknowledged. A sink task polls, puts, and commits as often. Either may die in between, and then what
// it did since the last time is done again: at least once.
//
// Kafka: WorkerSourceTask, SubmittedRecords, WorkerSinkTask, RetryWithToleranceOperator, DeadLetterQueueReporter.

// task is one running task, or one that has failed.
type task struct {
	id     item
	conf   connectorConfig
	worker string
	failed string // why; "" while it runs

	producer *kafkasim.Producer
	nextPoll time.Duration
	read     map[string]int // rows handed to the producer, by table
	sent     []sentRow      // those that are not known to be written, in order
	acked    map[string]int
	flushed  map[string]int

	consumer *kafkasim.Consumer
	dead     *kafkasim.Producer
	put      []putOffset // what the table has, and was not committed
}

type sentRow struct {
	table string
	row   int
	d     *kafkasim.Delivery
}

type putOffset struct {
	topic     string
	partition int
	offset    int64
}

// start makes the task's clients, and finds where it left off.
func (t *task) start(k *Connect) {
	id, conf, worker := t.id, t.conf, t.worker
	*t = task{id: id, conf: conf, worker: worker, read: map[string]int{}, acked: map[string]int{}, flushed: map[string]int{}}
	if conf.source {
		t.producer = k.newProducer("connector-producer-" + id.String())
		for i, name := range conf.tables {
			if i%k.find(id.Connector).tasks != id.Task {
				continue
			}
			k.makeTopic(conf.prefix + name)
			at := k.log.offset(k, id.Connector, name)
			t.read[name], t.acked[name], t.flushed[name] = at, at, at
		}
	} else {
		for _, topic := range conf.topics {
			k.makeTopic(topic)
		}
		t.consumer = k.c.NewConsumer(k.free("connector-consumer-"+id.String()), kafkasim.Config{"group.id": "connect-" + id.Connector,
			"enable.auto.commit": false, "auto.offset.reset": "earliest"})
		t.consumer.Subscribe(conf.topics...)
		t.consumer.OnRevoked(func([]kafkasim.TopicPartition) { t.commit() })
		if conf.deadQueue != "" {
			k.makeTopic(conf.deadQueue)
			t.dead = k.newProducer("connector-dlq-producer-" + id.String())
		}
	}
	k.log.status(k, t.id, "RUNNING", t.worker)
}

// turn lets the task do what it can do now.
func (t *task) turn(k *Connect) {
	switch {
	case t.failed != "":
	case t.conf.source:
		t.turnSource(k)
	default:
		t.turnSink(k)
	}
}

// fail ends the task's clients; the worker keeps the task, and nobody starts it again (K-11).
func (t *task) fail(k *Connect, why string) {
	t.failed = why
	t.close(k)
	k.log.status(k, t.id, "FAILED", t.worker)
}

func (t *task) turnSource(k *Connect) {
	t.settle(k)
	if t.failed != "" || k.now() < t.nextPoll {
		return
	}
	t.nextPoll = k.now() + t.conf.poll
	for _, name := range t.conf.tables {
		at, mine := t.read[name]
		if !mine {
			continue
		}
		rows := k.db.Table(name).rows
		for end := min(len(rows), at+t.conf.batch); at < end; at++ {
			value := rows[at].Value
			if t.conf.json {
				value = asJSON(value)
			}
			d := t.producer.Send(t.conf.prefix+name, rows[at].Key, value)
			t.sent = append(t.sent, sentRow{name, at + 1, d})
		}
		t.read[name] = at
		if at < len(rows) {
			t.nextPoll = k.now() // there is more
		}
	}
}

// settle takes acknowledgements, in the order of the rows.
func (t *task) settle(k *Connect) {
	for len(t.sent) > 0 {
		switch s := t.sent[0]; s.d.Status() {
		case "acked":
			t.acked[s.table] = s.row
		case "failed":
			t.fail(k, "producer: "+s.d.Failure())
			return
		default:
			return
		}
		t.sent = t.sent[1:]
	}
}

func (t *task) turnSink(k *Connect) {
	got := t.consumer.Poll(0)
	if got.Error != "" {
		t.fail(k, "poll threw "+got.Error)
		return
	}
	for i := range got.Records {
		r := &got.Records[i]
		value, err := t.convert(r)
		switch {
		case err == nil && t.conf.upsert:
			k.db.Table(t.conf.table).upsert(r.Key, value)
		case err == nil:
			k.db.Table(t.conf.table).Insert(r.Key, value)
		case !t.conf.tolerant:
			t.fail(k, fmt.Sprintf("Tolerance exceeded in error handler: %v at %s-%d offset %d", err, r.Topic, r.Partition, r.Offset))
			return
		case t.dead != nil:
			t.bury(r, err)
		}
		t.passed(r)
	}
}

// convert is the value converter.
func (t *task) convert(r *kafkasim.Polled) (string, error) {
	if !t.conf.json {
		return r.Value, nil
	}
	var v any
	if err := json.Unmarshal([]byte(r.Value), &v); err != nil {
		return "", fmt.Errorf("JsonConverter: %w", err)
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return asJSON(v), nil
}

// bury sends a record that cannot be converted to the dead letter queue, as it came.
func (t *task) bury(r *kafkasim.Polled, why error) {
	x := kafkasim.Record{Topic: t.conf.deadQueue, Value: r.Value}
	if !r.NullKey {
		x.Key = r.Key
	}
	if t.conf.context {
		for _, h := range [][2]string{{"topic", r.Topic}, {"partition", fmt.Sprint(r.Partition)}, {"offset", fmt.Sprint(r.Offset)},
			{"connector.name", t.id.Connector}, {"task.id", fmt.Sprint(t.id.Task)}, {"stage", "VALUE_CONVERTER"}, {"exception.message", why.Error()}} {
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
	if !t.conf.source {
		t.commit()
		return
	}
	for _, name := range t.conf.tables {
		if at := t.acked[name]; at != t.flushed[name] {
			t.flushed[name] = at
			k.log.writeOffset(k, t.id.Connector, name, at)
		}
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

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, and what json.Unmarshal gave
	}
	return string(b)
}
