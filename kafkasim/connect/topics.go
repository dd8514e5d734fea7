package connect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// The three compacted topics of distributed mode (K-2), and the file of standalone mode.
//
// Kafka: KafkaConfigBackingStore, KafkaOffsetBackingStore, KafkaStatusBackingStore, FileOffsetBackingStore.

const (
	configTopic = "connect-configs"
	offsetTopic = "connect-offsets"
	statusTopic = "connect-status"
	logTimeout  = 5 * time.Second // offset.flush.timeout.ms
)

// internal is what Connect keeps.
type internal struct {
	producer *kafkasim.Producer // nil with a standalone worker
	offsets  logReader
	file     map[string]int // source offsets, as read or, with a standalone worker, as kept
	states   map[item]state
}

// state is what the status topic says of a connector or a task.
type state struct {
	State  string `json:"state"`
	Worker string `json:"worker_id"`
	Trace  string `json:"trace,omitempty"`
}

func (l *internal) start() { l.file, l.states = map[string]int{}, map[item]state{} }

// open makes the topics that are not there.
func (l *internal) open(k *Connect) {
	l.start()
	for _, t := range []struct {
		name       string
		partitions int
	}{{configTopic, 1}, {offsetTopic, 25}, {statusTopic, 5}} {
		if !k.hasTopic(t.name) {
			k.c.CreateTopic(t.name, t.partitions, k.copies(), kafkasim.Config{"cleanup.policy": "compact"})
		}
	}
	l.producer = k.newProducer("connect-worker")
	l.offsets = k.reader(offsetTopic)
}

func (k *Connect) copies() int { return min(3, len(k.c.View().Brokers)) }

func (k *Connect) hasTopic(name string) bool {
	return slices.ContainsFunc(k.c.View().Topics, func(t view.Topic) bool { return t.Name == name })
}

// makeTopic makes a topic with one partition when it is not there (topic.creation.default.partitions).
func (k *Connect) makeTopic(name string) {
	if !k.hasTopic(name) {
		k.c.CreateTopic(name, 1, k.copies(), nil)
	}
}

// newProducer makes a producer with what Connect sets (Worker.baseProducerConfigs).
func (k *Connect) newProducer(name string) *kafkasim.Producer {
	return k.c.NewProducer(k.free(name), kafkasim.Config{"acks": "all", "enable.idempotence": false,
		"max.in.flight.requests.per.connection": 1, "delivery.timeout.ms": 1<<31 - 1})
}

// newTransactionalProducer makes a source task's producer with exactly once.
func (k *Connect) newTransactionalProducer(name, id string) *kafkasim.Producer {
	return k.c.NewProducer(k.free(name), kafkasim.Config{"acks": "all", "transactional.id": id})
}

// free is a client's name that nobody has.
func (k *Connect) free(name string) string {
	v := k.c.View()
	taken := func(id string) bool {
		return slices.ContainsFunc(v.Producers, func(p view.Producer) bool { return p.ID == id }) ||
			slices.ContainsFunc(v.Consumers, func(x view.Consumer) bool { return x.ID == id })
	}
	id := name
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", name, n)
	}
	return id
}

// logReader reads a topic from the beginning, and later what is new (KafkaBasedLog).
type logReader struct {
	topic     string
	x         *kafkasim.Consumer
	committed bool
}

func (k *Connect) reader(topic string) logReader {
	conf := kafkasim.Config{"auto.offset.reset": "earliest"}
	if k.conf.exactlyOnce {
		conf["isolation.level"] = "read_committed"
	}
	x := k.c.NewConsumer(k.free(topic+"-reader"), conf)
	return logReader{topic, x.Assign(topic), k.conf.exactlyOnce}
}

// end is how far there is something to read: a reader with exactly once does not read into open transactions.
func (r logReader) end(p *view.Partition) int64 {
	if r.committed {
		for i := range p.Logs {
			if l := &p.Logs[i]; l.Role == "leader" {
				return min(l.HighWatermark, l.LastStable)
			}
		}
	}
	return p.HighWatermark
}

// toEnd hands over what has not been read; it gives up after a while, with what it has.
func (r logReader) toEnd(k *Connect, take func(*kafkasim.Polled)) {
	behind := func() bool {
		for i, p := range k.c.Topic(r.topic).Partitions {
			if end := r.end(&p.Partition); r.x.Position(r.topic, i) < end && end > 0 {
				return true
			}
		}
		return false
	}
	for give := k.c.Now() + logTimeout; behind() && k.c.Now() < give; {
		got := r.x.Poll(turn)
		for i := range got.Records {
			take(&got.Records[i])
		}
	}
}

// write sends records and waits until they are acknowledged, or for a while.
func (l *internal) write(k *Connect, topic, key string, value any) {
	d := l.producer.Send(topic, key, value)
	k.c.RunUntil(func(*kafkasim.Cluster) bool { return d.Status() != "pending" }, logTimeout)
}

func (l *internal) writeConfig(x *connector) {
	l.producer.Send(configTopic, "connector-"+x.name, asJSON(map[string]any{"properties": x.given}))
	for i := range x.tasks {
		l.producer.Send(configTopic, fmt.Sprintf("task-%s-%d", x.name, i), asJSON(map[string]any{"properties": x.given}))
	}
	l.producer.Send(configTopic, "commit-"+x.name, asJSON(map[string]int{"tasks": x.tasks}))
	l.producer.Flush()
}

func (l *internal) deleteConfig(x *connector) {
	l.producer.Send(configTopic, "connector-"+x.name, nil)
	l.producer.Send(configTopic, "target-state-"+x.name, nil)
	l.producer.Flush()
}

// writeTarget writes down what a connector is to do. Workers that know nothing of STOPPED take it for PAUSED.
func (l *internal) writeTarget(x *connector) {
	v := map[string]string{"state": x.target}
	if x.target == stopped {
		v = map[string]string{"state": paused, "state.v2": stopped}
	}
	l.producer.Send(configTopic, "target-state-"+x.name, asJSON(v))
	l.producer.Flush()
}

// endOthers ends the clients of workers that were here before, on a fork or in the past: their processes are not ours, and
// while they live their groups wait for them.
func (k *Connect) endOthers() {
	ours := func(id string) bool {
		return slices.ContainsFunc([]string{"connector-producer-", "connector-consumer-", "connector-dlq-producer-", "connect-worker", offsetTopic + "-reader", configTopic + "-reader"},
			func(p string) bool { return strings.HasPrefix(id, p) })
	}
	v := k.c.View()
	for _, p := range v.Producers {
		if ours(p.ID) {
			unlessEnded(func() { k.c.Producer(p.ID).Crash() })
		}
	}
	for _, x := range v.Consumers {
		if ours(x.ID) {
			unlessEnded(func() { k.c.Consumer(x.ID).Crash() })
		}
	}
}

// unlessEnded ends a client; one that has ended refuses it.
func unlessEnded(end func()) {
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(*kafkasim.UsageError); !ok {
				panic(e)
			}
		}
	}()
	end()
}

// restore reads the connectors that the topic has.
func (k *Connect) restore() {
	found, targets := map[string]kafkasim.Config{}, map[string]string{}
	k.reader(configTopic).toEnd(k, func(r *kafkasim.Polled) {
		if name, ok := strings.CutPrefix(r.Key, "target-state-"); ok {
			var v struct {
				State   string
				StateV2 string `json:"state.v2"`
			}
			if json.Unmarshal([]byte(r.Value), &v) == nil {
				targets[name] = cmp.Or(v.StateV2, v.State)
			}
			return
		}
		name, ok := strings.CutPrefix(r.Key, "connector-")
		var v struct{ Properties kafkasim.Config }
		switch {
		case !ok:
		case r.NullValue:
			delete(found, name)
		case json.Unmarshal([]byte(r.Value), &v) == nil:
			found[name] = v.Properties
		}
	})
	for name, conf := range found {
		x := k.add(name, conf)
		x.target = cmp.Or(targets[name], x.target)
	}
}

// offsetKey is the key of a source offset: the connector's name and its source partition.
func offsetKey(connector, table string) string {
	return asJSON([]any{connector, map[string]string{"table": table}})
}

func (l *internal) writeOffset(k *Connect, connector, table string, row int) {
	key := offsetKey(connector, table)
	if l.producer == nil {
		l.file[key] = row
		return
	}
	l.write(k, offsetTopic, key, asJSON(map[string]int{"incrementing": row}))
}

// offset is where a source is to go on in a table.
func (l *internal) offset(k *Connect, connector, table string) int {
	if l.producer != nil {
		l.offsets.toEnd(k, func(r *kafkasim.Polled) {
			var v struct{ Incrementing int }
			if json.Unmarshal([]byte(r.Value), &v) == nil {
				l.file[r.Key] = v.Incrementing
			}
		})
	}
	return l.file[offsetKey(connector, table)]
}

// status writes down what a connector or a task does. It is not waited for.
func (l *internal) status(k *Connect, i item, s, worker string) {
	x := state{State: s, Worker: worker}
	l.states[i] = x
	if l.producer == nil {
		return
	}
	key := "status-connector-" + i.Connector
	if i.isTask() {
		key = fmt.Sprintf("status-task-%s-%d", i.Connector, i.Task)
	}
	l.producer.Send(statusTopic, key, asJSON(x))
}
