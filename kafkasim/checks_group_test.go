package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// checkWorld is three brokers with Kafka's timers, one partition of __consumer_offsets and a topic.
func checkWorld(partitions int, more ...Config) *Cluster {
	conf := Config{"offsets.topic.num.partitions": 1}
	for _, m := range more {
		for k, v := range m {
			conf[k] = v
		}
	}
	c := New(World{Brokers: 3, Seed: 7, Config: conf})
	c.CreateTopic("t", partitions, 3, nil)
	return c
}

// noDelay lets a group begin as soon as somebody joins.
var noDelay = Config{"group.initial.rebalance.delay.ms": 0}

// works makes a member that polls.
func (c *Cluster) works(id string, more ...Config) *Consumer {
	return member(c, id, "g", more...).Subscribe("t").Work(Work{})
}

// becomes runs until the group has a state with so many members, and says how long that took.
func (c *Cluster) becomes(state string, members int) time.Duration {
	from := c.Now()
	c.RunUntil(func(c *Cluster) bool { g := c.Group("g"); return g.State == state && len(g.Members) == members }, 3*time.Minute)
	return c.Now() - from
}

// seconds are whole seconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// said runs for a time and returns what was said in messages whose text has both parts, each thing once.
func (c *Cluster) said(d time.Duration, from, what string) string {
	var out []string
	for end := c.Now() + d; c.Now() < end; {
		if text := c.Step().Text; strings.Contains(text, from) && strings.Contains(text, what) {
			if words := strings.TrimSpace(text[strings.Index(text, what):]); !slices.Contains(out, words) {
				out = append(out, words)
			}
		}
	}
	return strings.Join(out, ", ")
}

// Checks 13 to 24 that a simulator of Kafka's groups should pass, each by a run (the rule is in the comment of each).
func TestChecks13To24(t *testing.T) {
	runChecks(t, 13, []check{
		{"13: a first member waits 3 s, a second within that time begins 3 s more", "alone: 3 s, generation 1; second at 2 s: 6 s, generation 1", func() string { // G-11, G-23
			first := func(second bool) string {
				c := checkWorld(2)
				c.works("c1")
				c.RunUntil(func(c *Cluster) bool { return c.Group("g").State == "PreparingRebalance" }, time.Minute)
				from, members := c.Now(), 1
				if second {
					c.RunFor(2 * time.Second)
					c.works("c2")
					members = 2
				}
				c.becomes("Stable", members)
				return fmt.Sprintf("%s, generation %d", seconds(c.Now()-from), c.Group("g").Generation)
			}
			return "alone: " + first(false) + "; second at 2 s: " + first(true)
		}},
		{"14: a killed member is missed after 45 s, a closed one at once", "killed: 45 s; closed: 0 s", func() string { // G-53, G-60, G-61
			gone := func(end func(x *Consumer)) string {
				c := checkWorld(2, noDelay)
				c.works("c1")
				x := c.works("c2")
				c.becomes("Stable", 2)
				c.RunFor(20 * time.Second)
				for text := ""; !strings.HasPrefix(text, "c2 -> ") || !strings.Contains(text, " Heartbeat g "); {
					text = c.Step().Text
				}
				from := c.Now()
				end(x)
				c.RunUntil(func(c *Cluster) bool { return c.Group("g").State == "PreparingRebalance" }, 3*time.Minute)
				return seconds(c.Now() - from)
			}
			return "killed: " + gone(func(x *Consumer) { x.Crash() }) + "; closed: " + gone(func(x *Consumer) { x.Close() })
		}},
		{"15: a static member that is back within its session finds its place", "generation 1 and 1; the old process: FENCED_INSTANCE_ID", func() string { // G-70, G-72
			c := checkWorld(2, noDelay)
			static := Config{"group.instance.id": "one"}
			old := c.works("c1", static)
			c.becomes("Stable", 1)
			was := c.Group("g").Generation
			c.RunFor(10 * time.Second)
			c.works("c2", static)
			c.RunFor(10 * time.Second)
			return fmt.Sprintf("generation %d and %d; the old process: %s", was, c.Group("g").Generation, old.state().Group.Fatal)
		}},
		{"16: a heartbeat while members sync is answered NONE", "CompletingRebalance: HeartbeatResponse NONE", func() string { // G-50
			c := checkWorld(2, noDelay)
			c.works("c1")
			c.becomes("Stable", 1)
			c2 := c.works("c2")
			c.Hold("SyncGroup c1 ->") // so that the assignment does not come
			c.becomes("CompletingRebalance", 2)
			c.RunFor(ms(10))
			m := &c2.state().Group // its own connection waits for the SyncGroup; this heartbeat comes on another
			c.s.Probe(0, c.s.CoordinatorOf("g"), 1, 1, machine.HeartbeatRequest{Group: "g", Member: m.ID, Generation: m.Generation})
			said := c.said(time.Second, "-> nobody", "HeartbeatResponse")
			return c.Group("g").State + ": " + said
		}},
		{"17: a commit is taken while members join", "PreparingRebalance: committed t-0 at 1", func() string { // G-85
			c := checkWorld(2, noDelay)
			c1 := member(c, "c1", "g").Subscribe("t")
			for c.Group("g").State != "Stable" {
				c1.Poll(time.Second)
			}
			c.works("c2")
			c.RunUntil(func(c *Cluster) bool { return c.Group("g").State == "PreparingRebalance" }, time.Minute)
			said := strings.Join(strings.Fields(c1.CommitOffset("t", 0, 1).String())[:4], " ")
			return c.Group("g").State + ": " + said
		}},
		{"18: my-group is in __consumer_offsets-12", "the coordinator leads __consumer_offsets-12: true", func() string { // G-1
			c := New(World{Brokers: 3, Seed: 7})
			c.CreateTopic("t", 1, 3, nil)
			member(c, "c1", "my-group").Subscribe("t").Work(Work{})
			c.RunFor(10 * time.Second)
			return fmt.Sprintf("the coordinator leads __consumer_offsets-12: %v", c.Group("my-group").Coordinator == c.Partition("__consumer_offsets", 12).Leader)
		}},
		{"19: range over ten topics of three partitions and two members", "20 : 10", func() string {
			c := checkWorld(1, noDelay)
			var topics []string
			for i := range 10 {
				topics = append(topics, fmt.Sprint("topic-", i))
				c.CreateTopic(topics[i], 3, 1, nil)
			}
			for _, id := range []string{"c1", "c2"} {
				member(c, id, "g").Subscribe(topics...).Work(Work{})
			}
			c.RunFor(20 * time.Second)
			n := map[string]int{}
			for _, m := range c.Group("g").Members {
				n[m.ClientID] = len(m.Partitions)
			}
			return fmt.Sprintf("%d : %d", n["c1"], n["c2"])
		}},
		{"20: a cooperative join of a third member takes two generations, and what stays never stops", "generations 2 to 4; c1 kept 2 and c2 2, lost and revoked 1 and 1", func() string {
			c := checkWorld(6, noDelay)
			conf := Config{"partition.assignment.strategy": "cooperative-sticky"}
			c1, c2 := c.works("c1", conf), c.works("c2", conf)
			c.becomes("Stable", 2)
			c.RunFor(20 * time.Second)
			was, calls := c.Group("g").Generation, [2]int{len(c1.Rebalances().Calls), len(c2.Rebalances().Calls)}
			c.works("c3", conf)
			c.RunFor(20 * time.Second)
			gone, kept := [2]int{}, [2]int{}
			for i, x := range []*Consumer{c1, c2} {
				for _, k := range x.Rebalances().Calls[calls[i]:] {
					if k.Kind != "assigned" {
						gone[i] += len(k.Partitions)
					}
				}
				kept[i] = len(x.state().Parts)
			}
			return fmt.Sprintf("generations %d to %d; c1 kept %d and c2 %d, lost and revoked %d and %d", was, c.Group("g").Generation, kept[0], kept[1], gone[0], gone[1])
		}},
		{"21: with the consumer protocol a partition never has two owners; an older epoch commits in 4.3 only", "two owners: never; 4.3: OffsetCommitResponse t-1 NONE; 4.2: OffsetCommitResponse t-1 STALE_MEMBER_EPOCH", func() string { // A-65, A-71
			return "two owners: " + ownersOfAChangingGroup() + "; 4.3: " + lateCommit("4.3") + "; 4.2: " + lateCommit("4.2")
		}},
		{"22: a coordinator's successor keeps the generation", "generation 2 and 2, coordinator moved: true", func() string { // G-111
			c := checkWorld(2, noDelay)
			c.works("c1")
			c.becomes("Stable", 1)
			c.works("c2")
			c.becomes("Stable", 2)
			was := c.Group("g")
			c.Broker(was.Coordinator).Crash()
			c.RunFor(40 * time.Second)
			now := c.Group("g")
			return fmt.Sprintf("generation %d and %d, coordinator moved: %v", was.Generation, now.Generation, was.Coordinator != now.Coordinator)
		}},
		{"23: a record of a share group that is released five times is archived", "delivered 5 times, then never; the window begins behind it: true", func() string { // H-7
			c := New(World{Brokers: 3, Seed: 7})
			c.CreateTopic("t", 1, 3, nil)
			c.ShareGroup("work").Alter(Config{"share.auto.offset.reset": "earliest"})
			c.NewProducer("p", nil).Send("t", nil, "poison")
			x := c.NewShareConsumer("x", explicit).Subscribe("t")
			n := 0
			for range 60 {
				for _, r := range x.Poll(time.Second).Records {
					n++
					x.Acknowledge(r, "release")
				}
				x.Commit()
			}
			return fmt.Sprintf("delivered %d times, then never; the window begins behind it: %v", n, c.ShareGroup("work").Partitions[0].Start == 1)
		}},
		{"24: an automatic commit is made by the next poll", "after poll of 0 to 9 and a crash: nothing committed", func() string { // C-61
			c := checkWorld(1, noDelay)
			p := c.NewProducer("p", nil)
			for range 10 {
				p.Send("t", "k", "v")
			}
			p.Flush()
			x := member(c, "c1", "g", Config{"auto.commit.interval.ms": 10}).Subscribe("t")
			n := 0
			for n == 0 {
				n = len(x.Poll(time.Second).Records)
			}
			c.RunFor(20 * time.Second)
			x.Crash()
			c.RunFor(time.Minute)
			what := "nothing committed"
			if g := c.Group("g"); len(g.Offsets) > 0 && g.Offsets[0].Committed > 0 {
				what = fmt.Sprint("committed ", g.Offsets[0].Committed)
			}
			return fmt.Sprintf("after poll of 0 to %d and a crash: %s", n-1, what)
		}},
	})
}

// ownersOfAChangingGroup looks, after every event, who has what while members of the consumer protocol come and go.
func ownersOfAChangingGroup() string {
	c := checkWorld(6)
	conf := Config{"group.protocol": "consumer"}
	list := []*Consumer{c.works("c1", conf)}
	for at := 1; at < 120; at++ {
		switch at {
		case 20, 40:
			list = append(list, c.works(fmt.Sprint("c", at), conf))
		case 60:
			list[0].Close()
		case 80:
			list[1].Crash()
		}
		for end := time.Duration(at) * time.Second; c.Now() < end; {
			c.Step()
			owner := map[string]string{}
			for _, x := range list {
				for _, p := range x.state().Parts {
					name := fmt.Sprintf("%s-%d", p.Topic, p.TP.Partition)
					if other := owner[name]; other != "" && !x.state().Closed {
						return fmt.Sprintf("%s at %v", name, c.Now())
					}
					if !x.state().Closed {
						owner[name] = x.ID()
					}
				}
			}
		}
	}
	return "never"
}

// lateCommit is what a coordinator says to a commit of the epoch before its own: the member has not heard yet that it has
// got a second partition.
func lateCommit(version string) string {
	c := New(World{Brokers: 3, Seed: 4, Kafka: version, Config: Config{"offsets.topic.num.partitions": 1}})
	c.CreateTopic("t", 2, 3, nil)
	conf := Config{"group.protocol": "consumer", "enable.auto.commit": false}
	c2 := c.works("c2", conf)
	c.RunFor(10 * time.Second)
	c1 := member(c, "c1", "g", conf).Subscribe("t")
	for len(c1.state().Parts) == 0 || c1.state().Parts[0].Position < 0 {
		c1.Poll(time.Second)
	}
	c.Hold("-> c1 ConsumerGroupHeartbeatResponse")
	c2.Close()
	c.RunFor(10 * time.Second)
	c1.CommitAsync()
	c.RunFor(time.Second)
	c.Release()
	return c.said(time.Second, "-> c1", "OffsetCommitResponse")
}
