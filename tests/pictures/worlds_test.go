// Package pictures draws real clusters: every picture of charts in its normal, empty, smallest and crowded
// state is made, checked against the view that it was made of, and checked against the closed schema.
//
// To look at them: KAFKALAB_LOOK=/some/folder go test ./tests/pictures
package pictures

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// leaderCrash is the page's story: acks=1, the leader dies with a record that nobody else has, and returns.
func leaderCrash() *kafkasim.Cluster {
	c := kafkasim.Page()
	p := c.NewProducer("checkout", kafkasim.Config{"acks": "1"})
	for i, key := range []string{"user-1", "user-2", "user-3", "user-4", "user-5", "user-1"} {
		p.Send("orders", key, fmt.Sprintf("order #%d", i+1))
	}
	c.Ticks(12)
	p.Send("orders", "user-1", "order #7")
	p.Send("orders", "user-4", "order #8")
	c.Hold("FetchResponse 1->2 orders-0") // the follower never gets them
	c.Ticks(4)
	c.Broker(1).Crash()
	c.Ticks(20)
	c.Release()
	p.Send("orders", "user-1", "order #9")
	c.Ticks(10)
	c.Broker(1).Start()
	c.Ticks(30)
	return c
}

// empty is a cluster in which nothing has happened.
func empty() *kafkasim.Cluster { return kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1}) }

// oneRecord is the smallest story.
func oneRecord() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, nil)
	c.NewProducer("checkout", nil).Send("orders", "user-1", "order #1")
	c.Settle()
	return c
}

// crowded has 10 brokers, 24 partitions, several clients, three controllers, and 2,000 ticks with failures.
func crowded() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 10, Controllers: 3, Seed: 5})
	c.CreateTopic("orders-of-every-shop", 24, 3, kafkasim.Config{"min.insync.replicas": 2, "segment.ms": 400})
	for i := range 3 {
		keys := []string{}
		for k := range 30 {
			keys = append(keys, fmt.Sprintf("customer-%d", i*30+k))
		}
		c.NewProducer(fmt.Sprintf("shop-%d", i), kafkasim.Config{"acks": "all"}).Every(7*time.Millisecond, "orders-of-every-shop", keys...)
	}
	reader := c.NewConsumer("reader", kafkasim.Config{"auto.offset.reset": "earliest"})
	for i := range 6 {
		reader.Assign("orders-of-every-shop", i)
	}
	c.Ticks(400)
	c.Broker(4).Crash()
	c.Ticks(300)
	c.Controller(3001).Crash()
	c.Ticks(400)
	c.Broker(4).Start()
	c.Broker(7).Pause()
	c.Ticks(500)
	c.Broker(7).Resume()
	c.Controller(3001).Start()
	c.Ticks(390)
	reader.Poll(10 * time.Millisecond)
	return c
}

// widgetStory is the introduction's: acks=1, the leader dies and comes back.
func widgetStory() *kafkasim.Cluster {
	c := kafkasim.Widget(kafkasim.Config{"acks": "1"})
	c.Ticks(12)
	c.Broker(1).Crash()
	c.Ticks(12)
	c.Broker(1).Start()
	c.Ticks(10)
	return c
}

// segments is a log of several segments, of which retention has deleted some.
func segments() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 2, Config: kafkasim.Config{"log.retention.check.interval.ms": 1000}})
	c.CreateTopic("orders", 1, 3, kafkasim.Config{"segment.ms": 500, "retention.ms": 4000})
	c.NewProducer("checkout", nil).Every(20*time.Millisecond, "orders", "a", "b", "c")
	c.RunFor(5 * time.Second)
	return c
}

// elections is a quorum of three whose leader dies, comes back, and falls silent.
func elections() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Controllers: 3, Seed: 3})
	c.CreateTopic("orders", 2, 3, nil)
	c.RunFor(time.Second)
	c.Controller(3001).Crash()
	c.RunFor(4 * time.Second)
	c.Controller(3001).Start()
	c.RunFor(2 * time.Second)
	c.Controller().Pause()
	c.RunFor(4 * time.Second)
	return c
}

// filling is a producer with batches that fill, wait, are in flight and wait for another try.
func filling() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1})
	c.CreateTopic("orders", 4, 2, nil)
	p := c.NewProducer("checkout", kafkasim.Config{"linger.ms": 8, "batch.size": 200})
	p.Send("orders", "warm-up", "0")
	p.Flush()
	c.Broker(2).Crash()
	for i := range 22 {
		p.Send("orders", fmt.Sprintf("user-%d", i%7), fmt.Sprintf("order #%d", i))
		if i%8 == 7 {
			c.Ticks(2)
		}
	}
	return c
}

// steady is steady traffic of one producer for each setting of acks, with a broker that crashes and returns.
func steady(acks ...string) *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 6, Config: kafkasim.Config{"broker.session.timeout.ms": 2000, "replica.lag.time.max.ms": 3000}})
	c.CreateTopic("orders", 2, 3, kafkasim.Config{"min.insync.replicas": 2})
	for _, a := range acks {
		conf := kafkasim.Config{"acks": a}
		if a != "all" {
			conf["enable.idempotence"] = false
		}
		c.NewProducer("acks-"+a, conf).Every(40*time.Millisecond, "orders", "a", "b", "c", "d")
	}
	c.RunFor(4 * time.Second)
	c.Broker(c.Partition("orders", 0).Leader).Crash()
	c.RunFor(6 * time.Second)
	for i := 1; i <= 3; i++ {
		if !c.View().Brokers[i-1].Alive {
			c.Broker(i).Start()
		}
	}
	c.RunFor(5 * time.Second)
	return c
}

// reading is a consumer that falls behind and catches up.
func reading() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 8})
	c.CreateTopic("orders", 2, 2, nil)
	c.NewProducer("checkout", nil).Every(10*time.Millisecond, "orders", "a", "b", "c", "d", "e")
	r := c.NewConsumer("warehouse", kafkasim.Config{"auto.offset.reset": "earliest", "max.poll.records": 20}).Assign("orders", 0, 1)
	for range 12 {
		r.Poll(20 * time.Millisecond)
	}
	c.RunFor(500 * time.Millisecond)
	for range 14 {
		r.Poll(20 * time.Millisecond)
		c.RunFor(15 * time.Millisecond)
	}
	return c
}

// widgetRun is the introduction's world with a crash of the leader.
func widgetRun(acks string) *kafkasim.Cluster {
	c := kafkasim.Widget(kafkasim.Config{"acks": acks})
	c.Ticks(12)
	c.Broker(1).Crash()
	c.Ticks(14)
	c.Broker(1).Start()
	c.Ticks(12)
	return c
}

// scaling is a group that grows to four members on three partitions, and loses one.
func scaling() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 7, Config: kafkasim.Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1}})
	c.CreateTopic("orders", 3, 3, nil)
	c.NewProducer("checkout", nil).Every(50*time.Millisecond, "orders", "a", "b", "c", "d", "e")
	for i := range 4 {
		x := c.NewConsumer(fmt.Sprintf("c%d", i+1), kafkasim.Config{"group.id": "shop", "auto.offset.reset": "earliest", "session.timeout.ms": 6000})
		x.Subscribe("orders").Work(kafkasim.Work{PerRecord: time.Millisecond, Commit: "after"})
		c.RunFor(4 * time.Second)
	}
	c.Consumer("c1").Crash()
	c.RunFor(10 * time.Second)
	return c
}

// transactions is a producer that commits one transaction, aborts one, and has one open.
func transactions() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 4, Config: kafkasim.Config{"transaction.state.log.num.partitions": 1}})
	c.CreateTopic("orders", 2, 3, nil)
	p := c.NewProducer("checkout", kafkasim.Config{"transactional.id": "checkout-1"})
	for i, end := range []func() *kafkasim.TxnOutcome{p.Commit, p.Abort, nil} {
		p.Begin()
		for k := range 4 {
			p.SendRecord(kafkasim.Record{Topic: "orders", Partition: k % 2, Key: fmt.Sprint("user-", k), Value: fmt.Sprint(i)})
			c.RunFor(6 * time.Millisecond)
		}
		if end != nil {
			end()
		}
		c.RunFor(20 * time.Millisecond)
	}
	return c
}

// reconciling is a group of the consumer protocol that grows to three members.
func reconciling() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 7, Config: kafkasim.Config{"offsets.topic.num.partitions": 1}})
	c.CreateTopic("orders", 3, 3, nil)
	c.NewProducer("checkout", nil).Every(50*time.Millisecond, "orders", "a", "b", "c", "d", "e")
	for i := range 3 {
		x := c.NewConsumer(fmt.Sprintf("c%d", i+1), kafkasim.Config{"group.id": "shop", "group.protocol": "consumer", "auto.offset.reset": "earliest"})
		x.Subscribe("orders").Work(kafkasim.Work{PerRecord: time.Millisecond, Commit: "after"})
		c.RunFor(12 * time.Second)
	}
	return c
}

// sharing is a share group of two: one holds records, and has accepted, released and rejected others.
func sharing() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 5})
	c.CreateTopic("jobs", 2, 3, nil)
	c.ShareGroup("workers").Alter(kafkasim.Config{"share.auto.offset.reset": "earliest"})
	p := c.NewProducer("app", nil)
	var all []*kafkasim.ShareConsumer
	for _, id := range []string{"w1", "w2"} {
		all = append(all, c.NewShareConsumer(id, kafkasim.Config{"group.id": "workers", "share.acknowledgement.mode": "explicit", "max.poll.records": 4}).Subscribe("jobs"))
	}
	for i := range 14 {
		p.Send("jobs", fmt.Sprintf("job-%d", i%5), fmt.Sprint(i))
	}
	c.RunFor(time.Second)
	for i, r := range all[0].Poll(20 * time.Second).Records {
		all[0].Acknowledge(r, []string{"release", "accept", "reject", "release"}[i%4])
	}
	all[0].Commit()
	c.RunFor(50 * time.Millisecond)
	all[1].Poll(20 * time.Second)
	all[0].Poll(20 * time.Second) // what was released comes again
	return c
}
