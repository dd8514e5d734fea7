package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func groupWorld() *Cluster {
	return New(World{Brokers: 3, Seed: 7, Config: Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1}})
}

func member(c *Cluster, id, group string, more ...Config) *Consumer {
	conf := Config{"group.id": group, "auto.offset.reset": "earliest"}
	for _, m := range more {
		for k, v := range m {
			conf[k] = v
		}
	}
	return c.NewConsumer(id, conf)
}

// A group from the learner's side: subscribe, work, look, commit, close.
func TestGroupFromACell(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 3, 3, nil)
	p := c.NewProducer("p", nil)
	c1, c2 := member(c, "c1", "shop"), member(c, "c2", "shop")
	var heard []string
	c1.OnAssigned(func(ps []TopicPartition) { heard = append(heard, fmt.Sprint("assigned ", ps)) })
	c1.OnRevoked(func(ps []TopicPartition) { heard = append(heard, fmt.Sprint("revoked ", ps)) })
	c1.Subscribe("orders").Work(Work{PerRecord: time.Millisecond, Commit: "after"})
	c.RunFor(2 * time.Second)
	c2.Subscribe("orders").Work(Work{PerRecord: time.Millisecond, Commit: "after"})
	c.RunFor(5 * time.Second)
	for i := range 30 {
		p.Send("orders", fmt.Sprintf("user-%d", i), "x")
	}
	c.RunFor(2 * time.Second)
	want := "[assigned [orders-0 orders-1 orders-2] revoked [orders-0 orders-1 orders-2] assigned [orders-0 orders-1]]"
	if got := fmt.Sprint(heard); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	g := c.Group("shop")
	if g.State != "Stable" || g.Generation != 2 || len(g.Members) != 2 || g.Lag().Total != 0 {
		t.Errorf("%v", g)
	}
	if n := c1.Processed().Count + c2.Processed().Count; n != 30 {
		t.Errorf("%d records were processed", n)
	}
	text := g.Describe().String()
	for _, line := range []string{"\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID", "shop            orders          0          "} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	c1.Close()
	c2.Close()
	c.RunFor(time.Second)
	if got := c.Group("shop").Describe("--members").String(); !strings.HasPrefix(got, "\nConsumer group 'shop' has no active members.\n\nGROUP ") {
		t.Errorf("%q", got)
	}
}

// C-81, G-81: position 90, commit 87; the next one begins at 87 (S38).
func TestPositionAndCommit(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("p", nil)
	for i := range 100 {
		p.Send("orders", "k", fmt.Sprint(i))
	}
	c.RunFor(time.Second)
	c1 := member(c, "c1", "shop", Config{"max.poll.records": 90, "enable.auto.commit": false})
	c1.Subscribe("orders")
	for len(c1.Poll(time.Second).Records) == 0 {
	}
	if r := c1.CommitOffset("orders", 0, 87); r.Error != "" {
		t.Fatal(r)
	}
	if at := c1.Position("orders", 0); at != 90 {
		t.Errorf("position %d", at)
	}
	if lag := c.Group("shop").Lag().Of("orders", 0); lag != 13 {
		t.Errorf("lag %d", lag)
	}
	c1.Crash()
	c2 := member(c, "c2", "shop")
	c2.Subscribe("orders")
	c.RunFor(46 * time.Second)
	var first int64 = -1
	for range 20 {
		if r := c2.Poll(time.Second); len(r.Records) > 0 {
			first = r.Records[0].Offset
			break
		}
	}
	if first != 87 {
		t.Errorf("the next one begins at %d", first)
	}
}

// What cannot be is said in a sentence, with Kafka's own exception where it has one.
func TestGroupUsage(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 1, 3, nil)
	lone := c.NewConsumer("lone", nil)
	m := member(c, "m", "g").Subscribe("orders")
	a := member(c, "a", "g").Assign("orders")
	for what, f := range map[string]func(){
		`consumer "lone": Subscribe: the consumer has no group: To use the group management or offset commit APIs`: func() { lone.Subscribe("orders") },
		`consumer "lone": Commit: the consumer has no group: To use the group management or offset commit APIs`:    func() { lone.Commit() },
		`consumer "m": Assign: Subscription to topics, partitions and pattern are mutually exclusive`:              func() { m.Assign("orders") },
		`consumer "a": Subscribe: Subscription to topics, partitions and pattern are mutually exclusive`:           func() { a.Subscribe("orders") },
		`consumer "m": Subscribe: there is no topic "order" - did you mean "orders"?`:                              func() { m.Subscribe("order") },
		`consumer "m": Work: Commit "later": want "after", "before" or ""`:                                         func() { m.Work(Work{Commit: "later"}) },
		`consumer "m": CommitOffset: Invalid negative offset (IllegalArgumentException): -5`:                       func() { m.CommitOffset("orders", 0, -5) },
		`Group("g").Describe: there is no option "--member" - did you mean "--members"?`:                           func() { c.Group("g").Describe("--member") },
	} {
		func() {
			defer func() {
				e, ok := recover().(*UsageError)
				if !ok || !strings.Contains(e.Error(), what) {
					t.Errorf("%v, want %s", e, what)
				}
			}()
			f()
		}()
	}
	// G-32: what the broker does not allow is the broker's answer.
	long := member(c, "long", "g2", Config{"session.timeout.ms": 1800001}).Subscribe("orders")
	short := member(c, "short", "g3", Config{"session.timeout.ms": 5999, "heartbeat.interval.ms": 1000}).Subscribe("orders")
	for _, x := range []*Consumer{long, short} {
		for i := 0; ; i++ {
			if r := x.Poll(time.Second); r.Error == "INVALID_SESSION_TIMEOUT" {
				break
			} else if r.Error != "" || i == 20 {
				t.Fatalf("%s: %v", x.ID(), r)
			}
		}
	}
}

// G-115: one long poll is enough to join: what is not there yet (the topic of the offsets, the coordinator) is asked
// for again after a backoff within the poll, not by the next one.
func TestOnePollJoinsAGroup(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 5})
	c.CreateTopic("orders", 1, 3, nil)
	c.NewProducer("shop", nil).Send("orders", "anna", "order")
	c.Settle()
	x := c.NewConsumer("A", Config{"group.id": "warehouse", "auto.offset.reset": "earliest"}).Subscribe("orders")
	if got := x.Poll(10 * time.Second); len(got.Records) != 1 {
		t.Errorf("%v, want the record", got)
	}
}

// O-9, G-81, G-83: offsets are reset and groups deleted while they have no members.
func TestGroupAdministration(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 2, 3, nil)
	p := c.NewProducer("p", nil)
	for i := range 20 {
		p.SendRecord(Record{Topic: "orders", Partition: i % 2, Value: "v"})
	}
	c1 := member(c, "c1", "shop").Subscribe("orders").Work(Work{})
	c.RunFor(10 * time.Second)
	if r := c.ResetOffsets("shop", "orders", "--to-earliest"); r.Error == "" || r.Execute().Error == "" {
		t.Errorf("a group with members: %v", r)
	}
	if r := c.DeleteGroup("shop"); r.Error != "NON_EMPTY_GROUP" {
		t.Errorf("a group with members: %v", r)
	}
	if r := c.DeleteOffsets("shop", "orders"); r.Error != "GROUP_SUBSCRIBED_TO_TOPIC" {
		t.Errorf("a topic with subscribers: %v", r)
	}
	c1.Close()
	c.RunFor(time.Second)
	if got, want := c.ResetOffsets("shop", "orders", "--shift-by -3").String(), "\nGROUP           TOPIC           PARTITION  NEW-OFFSET\nshop            orders          0          7\nshop            orders          1          7\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for to, want := range map[string]int64{"--to-earliest": 0, "--to-latest": 10, "--to-current": 10, "--to-offset 4": 4, "--to-offset 400": 10, "--shift-by -30": 0} {
		if got := c.ResetOffsets("shop", "orders", to).Offsets[0].Offset; got != want {
			t.Errorf("%s: %d, want %d", to, got, want)
		}
	}
	if r := c.ResetOffsets("shop", "orders", "--to-offset 4").Execute(); r.Error != "" {
		t.Error(r)
	}
	if lag := c.Group("shop").Lag(); lag.Total != 12 {
		t.Errorf("%v", lag)
	}
	if r := c.DeleteGroup("shop"); r.Error != "" {
		t.Error(r)
	}
	c.RunFor(time.Second)
	if g := c.Group("shop"); g.Error != "GROUP_ID_NOT_FOUND" {
		t.Errorf("%v", g)
	}
	if r := c.DeleteGroup("nosuch"); r.Error != "GROUP_ID_NOT_FOUND" {
		t.Errorf("%v", r)
	}
	if g := New(World{}).Group("shop"); g.Error != "GROUP_ID_NOT_FOUND" {
		t.Errorf("before there is any group: %v", g)
	}
	if again := c.Fork(); again.Hash() != c.Hash() {
		t.Error("a fork differs")
	}
}

// C-81, C-82: a slow group's lag grows while records come, and shrinks afterwards.
func TestLagHistory(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 1, 3, nil)
	member(c, "c1", "shop", Config{"max.poll.records": 5, "enable.auto.commit": false}).Subscribe("orders").Work(Work{PerRecord: 50 * time.Millisecond, Commit: "after"})
	c.RunFor(2 * time.Second)
	p := c.NewProducer("p", nil).Every(20*time.Millisecond, "orders", "k")
	c.RunFor(3 * time.Second)
	p.Crash()
	c.RunFor(10 * time.Second)
	var most int64
	h := c.LagHistory("shop", time.Second)
	for _, x := range h.Points {
		most = max(most, x.Total)
	}
	if last := h.Points[len(h.Points)-1]; most < 50 || last.Total != 0 || !last.Known {
		t.Errorf("%v", h)
	}
}

// Settle waits for commits that are on their way.
func TestSettleWaitsForCommits(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("p", nil)
	p.Send("orders", "k", "v")
	c1 := member(c, "c1", "shop", Config{"enable.auto.commit": false}).Subscribe("orders")
	for len(c1.Poll(time.Second).Records) == 0 {
	}
	if r := c1.CommitAsync(); !r.Waiting {
		t.Fatal(r)
	}
	c.Settle()
	if lag := c.Group("shop").Lag().Of("orders", 0); lag != 0 {
		t.Errorf("lag %d", lag)
	}
}

// R1.25: below the minimum ISR a commit is not refused at once. It is in the leader's log and waits for the high
// watermark, and the client asks again until it gives up.
func TestCommitBelowTheMinimumISR(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 5, Config: Config{"min.insync.replicas": 2, "replica.lag.time.max.ms": 1000, "broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 300}})
	c.CreateTopic("orders", 1, 3, nil)
	c.NewProducer("shop", nil).Send("orders", "anna", "order")
	c.Settle()
	x := c.NewConsumer("A", Config{"group.id": "warehouse", "auto.offset.reset": "earliest", "enable.auto.commit": false, "default.api.timeout.ms": 12000}).Subscribe("orders")
	x.Poll(20 * time.Second)
	coordinator := c.Group("warehouse").Coordinator
	for id := 1; id <= 3; id++ {
		if id != coordinator {
			c.Broker(id).Crash()
		}
	}
	c.RunFor(8 * time.Second)
	before := c.Broker(coordinator).Costs().Appends
	if got := x.Commit(); got.Error != "TimeoutException" && got.Error != "TIMEOUT_EXCEPTION" {
		t.Errorf("%v, want a timeout", got)
	}
	if c.Broker(coordinator).Costs().Appends == before {
		t.Error("the commit was refused before it was appended")
	}
	if g := c.Group("warehouse"); len(g.Offsets) > 0 && g.Offsets[0].Committed >= 0 {
		t.Errorf("%v: committed", g)
	}
}
