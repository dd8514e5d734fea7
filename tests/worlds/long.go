// Package worlds holds worlds that more than one package of tests draws.
package worlds

import (
	"fmt"
	"strings"
	"time"

	"kafkalab/charts"
	"kafkalab/kafkasim"
)

// LongNames is a world in which everything has a long name, a controller is down and a broker was.
func LongNames() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Controllers: 3, Seed: 1, Config: kafkasim.Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1}})
	const topic = "a.very_long-topic.name_that-goes.on_and-on.and_on-and.on_and-on"
	c.CreateTopic(topic, 3, 3, nil)
	p := c.NewProducer("a-producer-whose-name-nobody-would-want-to-type-twice", kafkasim.Config{"acks": "all"})
	reader := c.NewConsumer("a-consumer-whose-name-is-no-shorter-than-that-of-the-producer", kafkasim.Config{"group.id": "a-group-with-a-name-of-some-length", "auto.offset.reset": "earliest"})
	reader.Subscribe(topic).Work(kafkasim.Work{PerRecord: time.Millisecond, Commit: "after"})
	for i := range 30 {
		p.Send(topic, fmt.Sprintf("customer-%d-%s", i, strings.Repeat("of-a-shop-", i%5)), "v")
		c.RunFor(20 * time.Millisecond)
	}
	c.RunFor(4 * time.Second)
	c.Controller(3001).Crash()
	c.Broker(2).Crash()
	c.RunFor(12 * time.Second)
	c.Broker(2).Start()
	c.RunFor(2 * time.Second)
	return c
}

// LongNamed is LongNames in every picture that draws it, by name.
func LongNamed() map[string]*charts.Picture {
	c := LongNames()
	topic := c.View().Topics[0].Name
	return map[string]*charts.Picture{
		"cluster": charts.Cluster(c), "replay": charts.Replay(c), "log": charts.Log(c, topic, 0), "messages": charts.Messages(c), "quorum": charts.Quorum(c),
		"segments": charts.Segments(c, topic, 0), "batches": charts.Batches(c), "page": charts.Page(c), "widget": charts.Widget(c), "hw": charts.HighWatermark(c),
		"isr": charts.ISRSize(c), "lag": charts.Lag(c), "throughput": charts.Throughput(c), "latency": charts.Latency(c), "assignment": charts.Assignment(c),
	}
}
