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
// Kafka's long waits are cut to ticks: heartbeats every 3 ticks, a broker is fenced after 6 ticks without,
// a follower leaves the ISR after 10.
func Page() *Cluster {
	w := World{Brokers: 3, Seed: 1, Config: Config{
		"broker.heartbeat.interval.ms": 3,
		"broker.session.timeout.ms":    6,
		"replica.lag.time.max.ms":      10,
		"replica.fetch.wait.max.ms":    4,
		"replica.fetch.backoff.ms":     1,
		"auto.leader.rebalance.enable": false,
	}}.filled()
	producer := Config{
		"batch.size": 16384, "kafkalab.batch.max.records": 3, "linger.ms": 2,
		"max.in.flight.requests.per.connection": 1, "enable.idempotence": false,
		"retry.backoff.ms": 2, "retry.backoff.max.ms": 4, "reconnect.backoff.ms": 1,
		"kafkalab.partitioner.table": "user-1=0,user-4=0,user-3=1,user-2=2,user-5=2",
	}
	consumer := Config{"retry.backoff.ms": 1, "reconnect.backoff.ms": 1, "fetch.max.wait.ms": 10, "auto.offset.reset": "earliest"}
	c := newCluster(w, "kafkasim.Page()", producer, consumer)
	c.setup(func() {
		c.createTopic("orders", 3, 2, Config{"min.insync.replicas": 2}, [][]int{{1, 2}, {2, 3}, {3, 1}})
	})
	return c
}

// Widget is the one-partition world of the course's introduction: the topic log, one partition, on
// brokers 1, 2 and 3, led by 1. A step is a tick of 10 ms. The producer app sends one record each step.
// A record takes about one step to be copied to broker 2 and about two to broker 3; a follower that is 3
// steps behind leaves the ISR. A broker that dies is fenced after 6 steps without heartbeat.
//
// Overrides may set properties of the producer (acks), of the topic (min.insync.replicas) and of brokers.
func Widget(overrides ...Config) *Cluster {
	broker := Config{
		"broker.heartbeat.interval.ms": 10,
		"broker.session.timeout.ms":    60,
		"replica.lag.time.max.ms":      30,
		"replica.fetch.wait.max.ms":    10,
		"replica.fetch.backoff.ms":     10,
		"auto.leader.rebalance.enable": false,
	}
	topic := Config{}
	producer := Config{
		"linger.ms": 0, "max.in.flight.requests.per.connection": 1,
		"retry.backoff.ms": 10, "retry.backoff.max.ms": 10, "reconnect.backoff.ms": 10,
		"request.timeout.ms": 500, "delivery.timeout.ms": 60000,
	}
	consumer := Config{"retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "fetch.max.wait.ms": 100, "auto.offset.reset": "earliest"}
	sortOverrides("Widget", overrides, broker, topic, producer)
	w := World{Brokers: 3, Seed: 1, Tick: 10 * time.Millisecond, Config: broker}.filled()
	c := newCluster(w, widgetCode(overrides), producer, consumer)
	c.setup(func() {
		for _, l := range widgetLinks {
			c.setLatency(machine.NodeID(l.from), machine.NodeID(l.to), l.latency)
		}
		c.createTopic("log", 1, 3, topic, [][]int{{1, 2, 3}})
		c.sendEvery(c.newProducer("app", nil), w.Tick, "log", nil)
	})
	return c
}

// widgetLinks are the links on which records travel from a leader to a follower: one step to broker 2, two
// to broker 3, counted from the append to the copy. All others take 1 ms.
var widgetLinks = []struct {
	from, to int
	latency  time.Duration
}{{1, 2, 8 * time.Millisecond}, {1, 3, 14 * time.Millisecond}, {2, 3, 14 * time.Millisecond}}

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
