package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// The case files: public incidents, made small.

func init() {
	cases["case-1"] = producerPerRequest
	cases["case-2"] = unreadPartitions
	cases["case-3"] = lastCopyLost
	checkers["case-1"] = map[string]checker{
		"requests-per-record": checked("a function `func(c *kafkasim.Cluster) float64`", checkRequestsPerRecord),
		"one-producer":        checked("a function `func(c *kafkasim.Cluster, n int)`", checkOneProducer),
	}
	checkers["case-2"] = map[string]checker{
		"count-unread": checked("a function `func(c *kafkasim.Cluster) int64`", checkCountUnread),
		"read-them":    checked("a `kafkasim.Config`", checkReadThem),
	}
	checkers["case-3"] = map[string]checker{
		"copies":  checked("a number", checkCopies),
		"prevent": checked("a version as a text, such as \"3.9\"", checkPrevent),
	}
}

// producerPerRequest: each of 80 requests makes a producer of its own.
func producerPerRequest() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 28})
	c.CreateTopic("orders", 3, 3, nil)
	for i := range 80 {
		p := c.NewProducer(fmt.Sprintf("api-%d", i), kafkasim.Config{"linger.ms": 0})
		p.Send("orders", nil, fmt.Sprintf("request %d", i))
		c.RunFor(40 * time.Millisecond)
		p.Close()
	}
	return c
}

// brokerWork counts what clients asked of the brokers.
func brokerWork(c *kafkasim.Cluster) (produce, all int) {
	for id := 1; id <= 3; id++ {
		x := c.Broker(id).Costs()
		produce += x.ProduceRequests
		all += x.ProduceRequests + x.OtherRequests
	}
	return produce, all
}

func checkRequestsPerRecord(count func(*kafkasim.Cluster) float64) finding {
	c := producerPerRequest()
	_, all := brokerWork(c)
	want := float64(all) / 80
	switch got := count(c); {
	case got == 0:
		return untried("It says 0.")
	case got < want-0.01 || got > want+0.01:
		return wrong("It says %.2f requests for a record; the brokers counted %d requests for 80 records.", got, all)
	}
	return solved("%.1f requests for each record, of clients alone.", want)
}

func checkOneProducer(handle func(*kafkasim.Cluster, int)) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 29})
	c.CreateTopic("orders", 3, 3, nil)
	const n = 60
	handle(c, n)
	c.Settle()
	stored := int64(0)
	for _, p := range c.Topic("orders").Partitions {
		stored += p.LogEndOffset
	}
	_, all := brokerWork(c)
	switch {
	case stored != n:
		return wrong("Of %d records %d are in the logs.", n, stored)
	case len(c.View().Producers) > 1:
		return wrong("All records are stored, but with %d producers.", len(c.View().Producers))
	}
	return solved("%d records with one producer and %d requests of clients.", n, all)
}

// billing is the world of the second case under a consumer's settings.
func billing(conf kafkasim.Config) *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 12})
	c.CreateTopic("orders", 2, 3, nil)
	p := c.NewProducer("shop", kafkasim.Config{"metadata.max.age.ms": 10000, "batch.size": 200})
	with := kafkasim.Config{"group.id": "billing", "metadata.max.age.ms": 120000}
	for k, v := range conf {
		with[k] = v
	}
	x := c.NewConsumer("billing-1", with).Subscribe("orders")
	x.Work(kafkasim.Work{PerRecord: time.Millisecond, Commit: "after"})
	c.RunFor(20 * time.Second)
	p.Every(200*time.Millisecond, "orders")
	c.RunFor(30 * time.Second)
	c.AddPartitions("orders", 4)
	c.RunFor(4 * time.Minute)
	return c
}

func unreadPartitions() *kafkasim.Cluster { return billing(nil) }

// unread counts the records of orders that nobody has processed.
func unread(c *kafkasim.Cluster) int64 {
	stored := int64(0)
	for _, p := range c.Topic("orders").Partitions {
		stored += p.HighWatermark
	}
	return stored - c.Consumer("billing-1").Processed().Count
}

func checkCountUnread(count func(*kafkasim.Cluster) int64) finding {
	c := unreadPartitions()
	want := unread(c)
	switch got := count(c); {
	case got == 0:
		return untried("It says 0.")
	case got < want-2 || got > want+2:
		return wrong("It says %d. Compare what is in the logs with what was processed.", got)
	}
	return solved("About %d records were never processed, and no tool shows any lag.", want)
}

func checkReadThem(conf kafkasim.Config) finding {
	c := billing(conf)
	if n := unread(c); n > 5 {
		return wrong("With these settings %d records are never processed.", n)
	}
	return solved("Every record is processed.")
}

// lastCopy is the third case's past under a version of Kafka.
func lastCopy(version string) *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 31, Kafka: version})
	c.CreateTopic("orders", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
	p := c.NewProducer("shop", kafkasim.Config{"linger.ms": 0, "delivery.timeout.ms": 60000})
	orders(p, 3)
	c.RunFor(2 * time.Second)
	leader := c.Partition("orders", 0).Leader
	a, b := leader%3+1, (leader+1)%3+1
	c.Isolate(a)
	c.RunFor(50 * time.Second)
	p.Send("orders", nil, "order 3")
	c.RunFor(5 * time.Second)
	c.Isolate(b)
	c.RunFor(50 * time.Second)
	p.Send("orders", nil, "order 4")
	c.RunFor(70 * time.Second)
	c.Broker(leader).PowerLoss()
	c.Heal()
	c.RunFor(15 * time.Second)
	c.Broker(leader).Start()
	c.RunFor(30 * time.Second)
	return c
}

func lastCopyLost() *kafkasim.Cluster { return lastCopy("4.0") }

func checkCopies(size int) finding {
	c := lastCopyLost()
	end := int64(0)
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Acked {
			end = x.At
		}
	}
	want := len(c.At(time.Duration(end)*time.Microsecond).Partition("orders", 0).ISR)
	switch {
	case size == 0:
		return untried("0 replicas cannot acknowledge.")
	case size != want:
		return wrong("Not %d. Go back with `c.At(…)` to the moment when `order 3` was acknowledged, and look at the ISR.", size)
	}
	return solved("Two brokers had the record when it was acknowledged, and one of them never lost anything.")
}

func checkPrevent(version string) finding {
	c := lastCopy(version)
	if n := c.Counters().Lost; n > 0 {
		return wrong("Under the rules of Kafka %s %d acknowledged records are lost.", version, n)
	}
	return solved("Under the rules of Kafka %s nothing that was acknowledged is lost.", version)
}
