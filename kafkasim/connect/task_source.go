package connect

import (
	"time"

	"kafkalab/kafkasim"
)

// Source tasks (K-8): rows behind the offset go through transforms and converters to topics.
//
// The offset of what was acknowledged is written down every offset.flush.interval.ms; with exactly once a batch of rows
// and its offset are one transaction (KIP-618), so that neither is there without the other, and a task that starts again
// ends what its predecessor had open.
//
// Kafka: WorkerSourceTask, ExactlyOnceWorkerSourceTask, SubmittedRecords. KIP-618, KIP-779.

// sourceWork is what a running source task has.
type sourceWork struct {
	producer *kafkasim.Producer
	nextPoll time.Duration
	read     map[string]int // rows handed to the producer, by table
	sent     []sentRow      // those that are not known to be written, in order
	acked    map[string]int
	flushed  map[string]int
	topics   map[string]bool // known to be there
}

// sentRow is a row on its way; without a delivery it was left out.
type sentRow struct {
	table string
	row   int
	d     *kafkasim.Delivery
}

// startSource makes the task's producer, and finds where it left off.
func (t *task) startSource(k *Connect) {
	t.read, t.acked, t.flushed, t.topics = map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}
	name := "connector-producer-" + t.id.String()
	if !k.conf.exactlyOnce {
		t.producer = k.newProducer(name)
	} else {
		t.producer = k.newTransactionalProducer(name, k.conf.groupID+"-"+t.id.String())
		if o := t.producer.InitTransactions(); o.Error != "" { // ends what a predecessor has open
			t.fail(k, "initTransactions threw "+o.Error)
			return
		}
	}
	for i, name := range t.conf.tables {
		if i%k.find(t.id.Connector).tasks != t.id.Task {
			continue
		}
		at := k.log.offset(k, t.id.Connector, name)
		t.read[name], t.acked[name], t.flushed[name] = at, at, at
	}
}

func (t *task) turnSource(k *Connect) {
	t.settle(k)
	if t.failed != "" || k.now() < t.nextPoll {
		return
	}
	t.nextPoll = k.now() + t.conf.poll
	for _, name := range t.conf.tables {
		at, mine := t.read[name]
		table := k.db.Table(name)
		if !mine || table.down { // a poll that fails is tried again
			continue
		}
		end := min(len(table.rows), at+t.conf.batch)
		if at == end {
			continue
		}
		if k.conf.exactlyOnce {
			t.copyOnce(k, table, at, end)
		} else {
			t.send(k, table, at, end)
		}
		if t.failed != "" {
			return
		}
		if t.read[name] = end; end < len(table.rows) {
			t.nextPoll = k.now() // there is more
		}
	}
}

// send hands rows to the producer.
func (t *task) send(k *Connect, table *Table, from, to int) {
	for i := from; i < to; i++ {
		r, err := t.conf.chain.run(&record{topic: t.conf.prefix + table.Name, partition: -1, offset: -1,
			key: table.rows[i].Key, value: rowValue(t.conf.values, table.rows[i].Value)})
		s := sentRow{table.Name, i + 1, nil}
		switch {
		case err != nil && !t.conf.tolerant:
			t.fail(k, toleranceExceeded(err))
			return
		case err == nil && r != nil:
			t.needTopic(k, r.topic)
			s.d = t.producer.SendRecord(kafkasim.Record{Topic: r.topic, Key: fromConnect(t.conf.keys, r.key),
				Value: fromConnect(t.conf.values, r.value), Headers: r.headers})
		}
		t.sent = append(t.sent, s)
	}
}

// needTopic makes a topic that is not there (topic.creation.default).
func (t *task) needTopic(k *Connect, topic string) {
	if !t.topics[topic] {
		k.makeTopic(topic)
		t.topics[topic] = true
	}
}

// copyOnce sends rows and their offset in one transaction.
func (t *task) copyOnce(k *Connect, table *Table, from, to int) {
	if o := t.producer.Begin(); o.Error != "" {
		t.fail(k, "beginTransaction threw "+o.Error)
		return
	}
	t.send(k, table, from, to)
	if t.failed != "" {
		return
	}
	t.producer.Send(offsetTopic, offsetKey(t.id.Connector, table.Name), asJSON(map[string]int{"incrementing": to}))
	if o := t.producer.Commit(); o.Error != "" {
		t.fail(k, "commitTransaction threw "+o.Error)
		return
	}
	t.sent = nil
	t.acked[table.Name], t.flushed[table.Name] = to, to
}

// settle takes acknowledgements, in the order of the rows. With errors.tolerance=all a row that cannot be sent is left
// out (KIP-779).
func (t *task) settle(k *Connect) {
	for len(t.sent) > 0 {
		s := t.sent[0]
		switch {
		case s.d == nil || s.d.Status() == "acked" || s.d.Status() == "failed" && t.conf.tolerant:
			t.acked[s.table] = s.row
		case s.d.Status() == "failed":
			t.fail(k, "producer: "+s.d.Failure())
			return
		default:
			return
		}
		t.sent = t.sent[1:]
	}
}

// writeOffsets writes down how far the source is.
func (t *task) writeOffsets(k *Connect) {
	for _, name := range t.conf.tables {
		if at := t.acked[name]; at != t.flushed[name] {
			t.flushed[name] = at
			k.log.writeOffset(k, t.id.Connector, name, at)
		}
	}
}
