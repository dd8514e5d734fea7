package kafkasim

import (
	"maps"
	"time"

	"kafkalab/kafkasim/machine"
)

// Page is the small world of the course's first page: three brokers; the topic orders with 3 partitions
// and replication factor 2, P0 on brokers 1 and 2, P1 on 2 and 3, P2 on 3 and 1 (leader first);
// min.insync.replicas 2. A hop takes one tick of 1 ms. Its producers fill a batch with 3 records or wait
// 2 ticks, keep 1 request in flight, are not idempotent, retry, and find partitions by a table of keys:
// user-1 and user-4 go to P0, user-3 to P1, user-2 and user-5 to P2.
//
// Kafka's long waits are cut to ticks: heartbeats every 4 ticks, a broker is fenced after 8 ticks without,
// a follower leaves the ISR after 10; a group waits 3 ticks for more members, its members' sessions last 20, with a
// heartbeat each 3, and they commit by themselves each 10 ticks at most.
func Page() *Cluster {
	w := World{Brokers: 3, Seed: 1, Config: Config{
		"broker.heartbeat.interval.ms":     4,
		"broker.session.timeout.ms":        8,
		"replica.lag.time.max.ms":          10,
		"replica.fetch.wait.max.ms":        4,
		"replica.fetch.backoff.ms":         1,
		"auto.leader.rebalance.enable":     false,
		"group.initial.rebalance.delay.ms": 3, "group.min.session.timeout.ms": 10, "offsets.topic.num.partitions": 1,
	}}.filled()
	producer := Config{
		"batch.size": 16384, "kafkalab.batch.max.records": 3, "linger.ms": 2,
		"max.in.flight.requests.per.connection": 1, "enable.idempotence": false,
		"retry.backoff.ms": 2, "retry.backoff.max.ms": 4, "reconnect.backoff.ms": 1,
		"kafkalab.partitioner.table": "user-1=0,user-4=0,user-3=1,user-2=2,user-5=2",
	}
	consumer := Config{"retry.backoff.ms": 1, "reconnect.backoff.ms": 1, "fetch.max.wait.ms": 10, "auto.offset.reset": "earliest",
		"session.timeout.ms": 20, "heartbeat.interval.ms": 3, "auto.commit.interval.ms": 10}
	c := newCluster(w, "kafkasim.Page()", producer, consumer)
	c.setup(func() {
		c.createTopic("orders", 3, 2, Config{"min.insync.replicas": 2}, [][]int{{1, 2}, {2, 3}, {3, 1}}, "")
	})
	return c
}

// Widget is the one-partition world of the course's introduction: the topic log, one partition, on
// brokers 1, 2 and 3, led by 1. A step is a tick of 10 ms. The producer app sends one record each step.
//
// The followers look once a step: the leader never has as much as they ask for (replica.fetch.min.bytes), so
// it lets each fetch wait for 2 ms, and the way there and back takes the other 8. Broker 2's question is
// slow and the answer quick: it is one step behind. Broker 3's answer is slow: it is two steps behind. A
// follower that is 3 steps behind leaves the ISR; a broker that is dead is fenced 6 steps after its last
// heartbeat.
//
// Overrides may set properties of the producer (acks), of the topic (min.insync.replicas) and of brokers.
func Widget(overrides ...Config) *Cluster {
	broker := Config{
		"broker.heartbeat.interval.ms": 10,
		"broker.session.timeout.ms":    60,
		"replica.lag.time.max.ms":      30,
		"replica.fetch.wait.max.ms":    2,
		"replica.fetch.min.bytes":      1048576,
		"replica.fetch.backoff.ms":     10,
		"auto.leader.rebalance.enable": false,
	}
	topic := Config{}
	producer := Config{
		"linger.ms": 0, "max.in.flight.requests.per.connection": 1,
		"retry.backoff.ms": 10, "retry.backoff.max.ms": 10, "reconnect.backoff.ms": 10,
		"request.timeout.ms": 100, "delivery.timeout.ms": 60000,
	}
	consumer := Config{"retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "fetch.max.wait.ms": 100, "auto.offset.reset": "earliest"}
	sortOverrides("Widget", overrides, broker, topic, producer)
	w := World{Brokers: 3, Seed: 1, Tick: 10 * time.Millisecond, Config: broker}.filled()
	c := newCluster(w, widgetCode(overrides), producer, consumer)
	c.setup(func() {
		for _, l := range widgetLinks {
			c.setLatency(machine.NodeID(l.from), machine.NodeID(l.to), l.latency)
		}
		c.createTopic("log", 1, 3, topic, [][]int{{1, 2, 3}}, "")
		app := c.newProducer("app", nil)
		for i := range c.s.Brokers {
			c.setLatency(app.state().Node, c.s.Brokers[i].ID, widgetSend)
		}
		c.sendEvery(app, w.Tick, "log", nil)
	})
	return c
}

// widgetLinks are the links between the widget's brokers; all others take 1 ms.
var widgetLinks = []struct {
	from, to int
	latency  time.Duration
}{
	{2, 1, 7500 * time.Microsecond}, {1, 2, 500 * time.Microsecond},
	{3, 1, 500 * time.Microsecond}, {1, 3, 7500 * time.Microsecond},
	{3, 2, 500 * time.Microsecond}, {2, 3, 7500 * time.Microsecond},
}

// widgetSend is how long a produce request is on the wire: a record is half a step old when the leader has
// it.
const widgetSend = 5 * time.Millisecond

func widgetCode(overrides []Config) string {
	all := Config{}
	for _, o := range overrides {
		maps.Copy(all, o)
	}
	if len(all) == 0 {
		return "kafkasim.Widget()"
	}
	return "kafkasim.Widget(" + all.code() + ")"
}
