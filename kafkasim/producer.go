package kafkasim

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Producer is a handle on one producer client.
type Producer struct {
	c *Cluster
	i int32
}

// NewProducer makes a producer client with Kafka's defaults and the given producer properties.
func (c *Cluster) NewProducer(id string, conf Config) *Producer {
	p := c.newProducer(id, conf)
	c.history.line(fmt.Sprintf("c.NewProducer(%q, %s)", id, conf.orNil()), c.s.Now)
	return p
}

func (c *Cluster) newProducer(id string, conf Config) *Producer {
	c.newName("NewProducer", id)
	given := over(c.defaults.producer, conf)
	mustParse(fmt.Sprintf("producer %q", id), c.world.version().CheckProducer(given))
	props, problem := config.ParseProducer(c.world.version().At(config.OwnerProducer, given))
	mustParse(fmt.Sprintf("producer %q", id), problem)
	r := c.apply("", machine.NewProducer{Name: id, Props: props})
	return &Producer{c: c, i: r.ID}
}

// newName checks the id of a new client.
func (c *Cluster) newName(verb, id string) {
	where := fmt.Sprintf("%s(%q)", verb, id)
	if id == "" {
		misuse(where, "a client needs an id, such as \"checkout\"")
	}
	if id == "controller" {
		misuse(where, "\"controller\" is the controller's name")
	}
	for _, m := range c.s.Clients {
		if m.Name == id {
			misuse(where, "there already is a %s %q in this cluster; choose another id", m.Kind, id)
		}
	}
}

// Producer is the producer with this id.
func (c *Cluster) Producer(id string) *Producer {
	i := c.clientIndex(id, machine.ProducerClient)
	if i < 0 {
		misuse(fmt.Sprintf("Producer(%q)", id), "there is no producer %q%s", id, meant(id, c.clientNames(machine.ProducerClient), "make it with NewProducer"))
	}
	return &Producer{c: c, i: i}
}

func (c *Cluster) producerName(i int32) string { return c.s.NodeName(c.s.Producers[i].Node) }

// ID is the producer's id.
func (p *Producer) ID() string { return p.c.producerName(p.i) }

func (p *Producer) state() *machine.Producer { return &p.c.s.Producers[p.i] }

func (p *Producer) where(verb string) string { return fmt.Sprintf("producer %q: %s", p.ID(), verb) }

// needsRunning refuses what a producer that has ended cannot do.
func (p *Producer) needsRunning(verb string) {
	switch p.state().Status {
	case machine.ProducerCrashed:
		misuse(p.where(verb), "this producer has crashed; make a new one with NewProducer")
	case machine.ProducerClosing, machine.ProducerClosed:
		misuse(p.where(verb), "this producer is closed; make a new one with NewProducer; Kafka's IllegalStateException says: Cannot perform operation after producer has been closed")
	}
}

// Record is a record to be sent.
type Record struct {
	Topic     string
	Partition any // a number, or nil to let the partitioner choose
	Key       any // a string (or bytes), or nil for none: an empty key is a key; int32 and int64 become 4 and 8 bytes
	Value     any // as Key; nil for none is a tombstone
	Headers   []Header
	Timestamp time.Duration // virtual time, whole ms; 0 for the time when it is sent
}

// Header is one record header.
type Header struct{ Key, Value string }

// Send hands a record to the producer's send(), which returns at once; the Delivery tells what becomes of
// it. key and value are strings; nil stands for no key or no value.
func (p *Producer) Send(topic string, key, value any) *Delivery {
	p.sendable(topic)
	cmd := machine.Send{Producer: p.i, Topic: topic, Partition: -1}
	p.fill(&cmd.Record, key, value)
	p.chooses(&cmd)
	return p.c.send(&cmd, true, nil)
}

// sendable refuses a producer that has ended, and a topic that is not there.
func (p *Producer) sendable(topic string) {
	p.needsRunning("Send")
	if p.c.findTopic(topic) < 0 {
		p.c.topicIndex(p.where("Send"), topic)
	}
}

// fill gives a record its key and its value.
func (p *Producer) fill(r *partlog.Record, key, value any) {
	var null, ok bool
	if r.Key, null, ok = text(key); null {
		r.Flags |= partlog.NullKey
	} else if !ok {
		p.notText("key", key)
	}
	if r.Value, null, ok = text(value); null {
		r.Flags |= partlog.NullValue
	} else if !ok {
		p.notText("value", value)
	}
	r.Timestamp = machine.NoTimestamp
}

// SendRecord is Send for a record with a partition, headers or a time of its own.
func (p *Producer) SendRecord(r Record) *Delivery {
	p.sendable(r.Topic)
	if r.Timestamp < 0 || r.Timestamp%time.Millisecond != 0 {
		misuse(p.where("Send"), "Timestamp %v: want whole ms since the world began", r.Timestamp)
	}
	cmd := machine.Send{Producer: p.i, Topic: r.Topic, Partition: -1}
	if r.Partition != nil {
		n, ok := r.Partition.(int)
		if !ok {
			misuse(p.where("Send"), "Partition %v (%T): want a number, or nil to let the partitioner choose", r.Partition, r.Partition)
		}
		cmd.Partition = p.c.partitionOf(p.where("Send"), r.Topic, n).Partition
	}
	p.fill(&cmd.Record, r.Key, r.Value)
	if own := r.Partition == nil && p.chooses(&cmd); own {
		r.Partition = int(cmd.Partition)
	}
	if r.Timestamp != 0 {
		cmd.Record.Timestamp = r.Timestamp.Milliseconds()
	}
	for _, h := range r.Headers {
		cmd.Headers = append(cmd.Headers, partlog.Header{Key: h.Key, Value: h.Value})
	}
	plain := r.Timestamp == 0 && len(r.Headers) == 0
	return p.c.send(&cmd, plain, func() string { return fmt.Sprintf("c.Producer(%q).SendRecord(%s)", p.ID(), r.code()) })
}

// text reads a key or a value.
func text(v any) (s string, null, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", true, true
	case string:
		return v, false, true
	case []byte:
		return string(v), false, true
	case int32: // IntegerSerializer (P-4)
		return string(binary.BigEndian.AppendUint32(nil, uint32(v))), false, true
	case int64: // LongSerializer
		return string(binary.BigEndian.AppendUint64(nil, uint64(v))), false, true
	}
	return "", false, false
}

// notText refuses a key or a value. It looks at the value through its type, so that what is handed to Send need
// not be moved to the heap for the sake of this sentence.
func (p *Producer) notText(what string, v any) {
	shown := "of type"
	switch v := v.(type) {
	case int:
		shown = strconv.Itoa(v)
	case bool:
		shown = strconv.FormatBool(v)
	case float64:
		shown = strconv.FormatFloat(v, 'g', -1, 64)
	case time.Duration:
		shown = v.String()
	}
	misuse(p.where("Send"), "%s %s (%s): want a string, or nil for none (fmt.Sprint makes one of anything; int32 and int64 become 4 and 8 bytes, as Kafka's serializers make them)", what, shown, reflect.TypeOf(v).String())
}

// Every lets the producer send one record each interval, from now on, with these keys in turn and the
// values "#1", "#2", …; without keys the records have none. It ends with the producer.
func (p *Producer) Every(interval time.Duration, topic string, keys ...string) *Producer {
	p.needsRunning("Every")
	where := p.where("Every")
	if p.partitioner() != nil {
		misuse(where, "this producer has a partitioner of its own, which steady traffic does not ask; call Send in a loop")
	}
	p.c.topicIndex(where, topic)
	if interval < time.Microsecond {
		misuse(where, "%v: want how long to wait from one record to the next, such as 10 * time.Millisecond", interval)
	}
	code := fmt.Sprintf("c.Producer(%q).Every(%s, %q", p.ID(), goDuration(interval.Microseconds()), topic)
	for _, k := range keys {
		code += fmt.Sprintf(", %q", k)
	}
	p.c.history.line(code+")", p.c.s.Now)
	p.c.sendEvery(p, interval, topic, keys)
	return p
}

func (c *Cluster) sendEvery(p *Producer, interval time.Duration, topic string, keys []string) {
	c.apply("", machine.SendEvery{Producer: p.i, Interval: interval.Microseconds(), Topic: topic, Keys: append([]string(nil), keys...)})
}

// Flush sends what waits in the accumulator without linger, and lets virtual time run until everything
// that was sent before is acknowledged or has failed.
func (p *Producer) Flush() *Run {
	p.needsRunning("Flush")
	return p.finish("Flush", machine.FlushProducer{Producer: p.i}, func() bool { return !p.state().Flushing() })
}

// Close flushes and ends the producer; virtual time runs until it is done.
func (p *Producer) Close() *Run {
	p.needsRunning("Close")
	return p.finish("Close", machine.CloseProducer{Producer: p.i}, func() bool {
		return p.state().Undecided() == 0
	})
}

// finish carries out a command and waits for its end.
func (p *Producer) finish(verb string, cmd machine.Command, done func() bool) *Run {
	r := p.c.begin()
	p.c.apply(fmt.Sprintf("c.Producer(%q).%s()", p.ID(), verb), cmd)
	defer r.end(nil)
	sent := p.state().Undecided()
	p.c.stepUntil(&progress{verb: verb + ", records", total: sent, done: func() int64 { return sent - p.state().Undecided() }}, done)
	return r.run
}

// Crash ends the producer at once: what it had not sent is gone, and nobody hears what becomes of the rest.
func (p *Producer) Crash() *Producer {
	p.needsRunning("Crash")
	p.c.apply(fmt.Sprintf("c.Producer(%q).Crash()", p.ID()), machine.CrashProducer{Producer: p.i})
	return p
}

// String says how the producer is getting on.
func (p *Producer) String() string {
	v := p.c.viewProducer(p.i)
	s := fmt.Sprintf("producer %s (acks=%s): %d pending, %d acknowledged, %d failed", v.ID, v.Acks, v.Pending, v.Acked, v.Failed)
	if v.Retrying > 0 {
		s += fmt.Sprintf(", %d waiting to be sent again", v.Retrying)
	}
	if v.LostAcks > 0 {
		s += fmt.Sprintf(", %d acknowledged and lost", v.LostAcks)
	}
	switch p.state().Status {
	case machine.ProducerCrashed:
		s += "; crashed"
	case machine.ProducerClosing, machine.ProducerClosed:
		s += "; closed"
	}
	return s
}
