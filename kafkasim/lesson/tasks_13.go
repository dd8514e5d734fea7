package lesson

import (
	"time"

	"kafkalab/kafkasim"
)

// Lesson 13, The quorum, and why the rules are so.

func init() {
	checkers["13"] = map[string]checker{
		"find-rule":   checked("a function `func(c *kafkasim.Cluster) string`", checkFindRule),
		"quorum-size": checked("a number", checkQuorumSize),
	}
}

// twoLeadersDie is KIP-101's loss: m1 is committed, and lost where a follower cuts to its high watermark.
func twoLeadersDie(w kafkasim.World) *kafkasim.Cluster {
	w.Brokers, w.Config = 3, kafkasim.Config{
		"auto.leader.rebalance.enable": false, "broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200,
		"replica.fetch.wait.max.ms": 4000,
	}
	c := kafkasim.New(w)
	c.CreateTopic("orders", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", kafkasim.Config{"acks": "all", "linger.ms": 0, "enable.idempotence": false})
	p.Send("orders", nil, "r0")
	c.RunFor(5 * time.Second)
	d := p.Send("orders", nil, "m1")
	c.RunUntil(func(*kafkasim.Cluster) bool { return d.Status() == "acked" }, time.Second)
	leads := func(id int) {
		c.RunUntil(func(c *kafkasim.Cluster) bool { return c.Partition("orders", 0).Leader == id }, 5*time.Second)
	}
	first := c.Partition("orders", 0).Replicas
	c.Cut(first[1], first[2])
	c.Broker(first[0]).Crash()
	leads(first[1])
	c.RunFor(20 * time.Millisecond)
	c.Broker(first[1]).Crash()
	leads(first[2])
	c.RunFor(10 * time.Millisecond)
	return c
}

// lastOneLosesPower is KIP-966's: the last member of the ISR loses what it had not flushed.
func lastOneLosesPower(w kafkasim.World) *kafkasim.Cluster {
	w.Brokers, w.Config = 3, kafkasim.Config{
		"auto.leader.rebalance.enable": false, "broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200,
	}
	c := kafkasim.New(w)
	c.CreateTopic("orders", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", kafkasim.Config{"acks": "all", "linger.ms": 0, "enable.idempotence": false})
	p.Send("orders", nil, "r0")
	c.RunFor(time.Second)
	r := c.Partition("orders", 0).Replicas
	c.Broker(r[0]).Crash()
	c.RunFor(900 * time.Millisecond)
	c.Cut(r[1], r[2])
	c.Broker(r[1]).Stop()
	c.RunFor(1200 * time.Millisecond)
	c.Broker(r[1]).Start()
	c.RunFor(500 * time.Millisecond)
	c.Heal()
	c.Broker(r[2]).PowerLoss()
	c.RunFor(2 * time.Second)
	c.Broker(r[2]).Start()
	c.RunFor(8 * time.Second)
	return c
}

func checkFindRule(find func(*kafkasim.Cluster) string) finding {
	off := func(name string) kafkasim.World {
		return kafkasim.World{Seed: 3, Switches: map[string]bool{name: false}}
	}
	for _, x := range []struct {
		rule  string
		world *kafkasim.Cluster
	}{
		{"epoch.truncation", twoLeadersDie(off("epoch.truncation"))},
		{"eligible.leader.replicas", lastOneLosesPower(off("eligible.leader.replicas"))},
	} {
		if x.world.Counters().Lost == 0 {
			return wrong("The check is broken: nothing is lost without %s.", x.rule)
		}
		switch got := find(x.world); got {
		case x.rule:
		case "":
			return untried("It returned no name.")
		default:
			return wrong("It says %q. With that switch on the record is lost all the same, or the switch was on already.", got)
		}
	}
	return solved("Two accidents, and the right rule for each: epoch.truncation and eligible.leader.replicas.")
}

func checkQuorumSize(n int) finding {
	if n != 1 && n != 3 && n != 5 {
		return wrong("Kafka Lab has 1, 3 or 5 controllers, not %d.", n)
	}
	if n == 1 {
		return wrong("Two of one cannot be down; and with that one down nothing is decided.")
	}
	c := kafkasim.New(kafkasim.World{Brokers: 3, Controllers: n, Seed: 5, Config: kafkasim.Config{
		"broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 300,
	}})
	c.CreateTopic("orders", 1, 3, nil)
	c.RunFor(time.Second)
	c.Controller().Crash()
	c.RunFor(8 * time.Second)
	c.Controller().Crash()
	c.RunFor(8 * time.Second)
	leader := c.Partition("orders", 0).Leader
	c.Broker(leader).Crash()
	c.RunFor(20 * time.Second)
	if now := c.Partition("orders", 0).Leader; now == leader || now == -1 {
		return wrong("With two of %d controllers down nobody was elected when broker %d died.", n, leader)
	}
	return solved("With two of %d controllers down a new leader was elected.", n)
}
