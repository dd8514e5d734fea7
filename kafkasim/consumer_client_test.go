package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// filled is a world with a topic of so many records.
func filled(partitions, records int) (*Cluster, *Producer) {
	c := groupWorld()
	c.CreateTopic("orders", partitions, 3, nil)
	p := c.NewProducer("p", nil)
	for i := range records {
		p.SendRecord(Record{Topic: "orders", Partition: i % partitions, Value: fmt.Sprint("v", i)})
	}
	c.RunFor(2 * time.Second)
	return c, p
}

func reader(c *Cluster, id string, more Config) *Consumer {
	conf := Config{"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": false}
	for k, v := range more {
		conf[k] = v
	}
	return c.NewConsumer(id, conf).Subscribe("orders")
}

// C-66, S-22: callbacks of commitAsync come in later polls, or in the next commit or close, in the order of the answers; a
// failure is told and not tried again.
func TestCommitCallbacks(t *testing.T) {
	c, _ := filled(1, 10)
	x := reader(c, "x", Config{"max.poll.records": 2})
	var heard []string
	tell := func(name string) func(*Committed) {
		return func(r *Committed) { heard = append(heard, fmt.Sprintf("%s %d %s", name, r.Offsets[0].Offset, r.Error)) }
	}
	poll := func() {
		for len(x.Poll(time.Second).Records) == 0 {
		}
	}
	poll()
	x.CommitAsync(tell("a"))
	x.CommitAsync(tell("b"))
	c.RunFor(time.Second) // both are answered; nobody polls
	if len(heard) > 0 {
		t.Errorf("called outside a poll: %v", heard)
	}
	poll()
	x.CommitAsync(tell("c"))
	c.RunFor(time.Second)
	x.Commit() // commitSync calls those that were answered first
	x.CommitAsync(tell("d"))
	c.Broker(x.c.Group("g").Coordinator).Crash()
	c.RunFor(time.Second)
	if got := strings.Join(heard, ", "); got != "a 2 , b 2 , c 4 " {
		t.Errorf("heard %s", got)
	}
	c.RunFor(20 * time.Second)
	x.CommitAsync(tell("e"))
	poll()
	c.RunFor(time.Second)
	x.Close()
	if got := strings.Join(heard[3:], ", "); got != "d 4 RetriableCommitFailedException, e 4 " && got != "d 4 , e 4 " {
		t.Errorf("heard %s", got)
	}
}

// C-74, KIP-1092: what a close does with the membership, by kind of member and protocol.
func TestCloseOptions(t *testing.T) {
	for _, w := range []struct {
		protocol, instance, operation string
		leaves                        bool
	}{
		{"classic", "", "", true}, {"classic", "", "LEAVE_GROUP", true}, {"classic", "", "REMAIN_IN_GROUP", false},
		{"classic", "i", "DEFAULT", false}, {"classic", "i", "LEAVE_GROUP", true}, {"classic", "i", "REMAIN_IN_GROUP", false},
		{"consumer", "", "", true}, {"consumer", "", "REMAIN_IN_GROUP", false}, {"consumer", "i", "", false},
		{"consumer", "i", "LEAVE_GROUP", true}, {"consumer", "i", "REMAIN_IN_GROUP", false},
	} {
		c, _ := filled(2, 4)
		more := Config{"group.protocol": w.protocol}
		if w.instance != "" {
			more["group.instance.id"] = w.instance
		}
		x := reader(c, "x", more)
		for range 5 {
			x.Poll(time.Second)
		}
		x.Close(CloseOptions{GroupMembershipOperation: w.operation, Timeout: 5 * time.Second})
		c.RunFor(time.Second)
		g := c.Group("g")
		if left := len(g.Members) == 0; left != w.leaves {
			t.Errorf("%+v: left %v\n%v", w, left, g)
		}
		if epoch := -2; w.protocol == "consumer" && w.instance != "" && !w.leaves && g.Members[0].Epoch != epoch {
			t.Errorf("%+v: a static member that remains is at epoch %d", w, g.Members[0].Epoch)
		}
		c.RunFor(time.Minute)
		if n := len(c.Group("g").Members); n != 0 {
			t.Errorf("%+v: after its session there are %d members", w, n)
		}
	}
}

// C-62, C-74: the timeout of a close that cannot reach its coordinator.
func TestCloseTimeout(t *testing.T) {
	c, _ := filled(1, 4)
	x := reader(c, "x", Config{"enable.auto.commit": true})
	for range 3 {
		x.Poll(time.Second)
	}
	for i := 1; i <= 3; i++ {
		c.Broker(i).Pause()
	}
	start := c.Now()
	x.Close(CloseOptions{Timeout: 700 * time.Millisecond})
	if took := c.Now() - start; took < 600*time.Millisecond || took > 800*time.Millisecond {
		t.Errorf("closed after %v", took)
	}
	for want, f := range map[string]func(){
		"The timeout cannot be negative": func() {
			c.NewConsumer("y", Config{"group.id": "h"}).Close(CloseOptions{Timeout: -1})
		},
		`there is no GroupMembershipOperation "REMAIN" - did you mean "REMAIN_IN_GROUP"?`: func() {
			c.NewConsumer("z", Config{"group.id": "h"}).Close(CloseOptions{GroupMembershipOperation: "REMAIN"})
		},
		`the consumer has no group`: func() {
			c.NewConsumer("w", nil).Close(CloseOptions{GroupMembershipOperation: "LEAVE_GROUP"})
		},
	} {
		if got := mistake(t, f); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// C-80: the lag that a consumer knows itself, and its metrics under Kafka's names.
func TestConsumerMetrics(t *testing.T) {
	c, p := filled(2, 40)
	x := reader(c, "x", Config{"max.poll.records": 5})
	if n := len(x.Poll(10 * time.Millisecond).Records); n != 0 || x.Metrics().Value("assigned-partitions") != 0 {
		t.Errorf("%d records at once", n)
	}
	read := 0
	for read < 10 {
		read += len(x.Poll(time.Second).Records)
	}
	if a, b := x.CurrentLag("orders", 0), x.CurrentLag("orders", 1); min(a, b) != -1 || max(a, b) != 10 {
		t.Errorf("lags %d and %d after 10 records of one partition", a, b) // of the other no answer was looked at
	}
	for read < 25 {
		read += len(x.Poll(time.Second).Records)
	}
	if a, b := x.CurrentLag("orders", 0), x.CurrentLag("orders", 1); min(a, b) != 0 || max(a, b) != 15 {
		t.Errorf("lags %d and %d after 25 records", a, b)
	}
	x.Commit()
	c.RunFor(5 * time.Second)
	m := x.Metrics()
	for name, want := range map[string]float64{
		"records-consumed-total": 25, "records-lag-max": 15, "records-lead-min": 5, "assigned-partitions": 2, "commit-total": 1, "rebalance-total": 1,
		"join-total": 2, "sync-total": 1, "failed-rebalance-total": 0, "fetch-throttle-time-max": 0,
	} {
		if got := m.Value(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := m.Value("last-poll-seconds-ago"); got < 5 || got > 5.1 {
		t.Errorf("last-poll-seconds-ago is %v", got)
	}
	if got := m.Value("commit-latency-avg"); got <= 0 || got > 10 {
		t.Errorf("commit-latency-avg is %v ms", got)
	}
	if got := m.Value("last-heartbeat-seconds-ago"); got < 0 || got > 3.1 {
		t.Errorf("last-heartbeat-seconds-ago is %v", got)
	}
	if hash := c.Hash(); hash != c.Fork().Hash() {
		t.Error("a fork has another hash")
	}
	p.Send("orders", nil, "more")
	if got := mistake(t, func() { m.Value("records-lag-maximum") }); !strings.Contains(got, `did you mean "records-lag-max"`) {
		t.Errorf("%s", got)
	}
	// under read_committed the lag goes to the last stable offset
	tx := c.NewProducer("tx", Config{"transactional.id": "tx"})
	tx.Begin()
	tx.SendRecord(Record{Topic: "orders", Partition: 0, Value: "open"})
	tx.Flush()
	y := c.NewConsumer("y", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("orders", 0)
	z := c.NewConsumer("z", Config{"auto.offset.reset": "earliest"}).Assign("orders", 0)
	for range 5 {
		y.Poll(time.Second)
		z.Poll(time.Second)
	}
	end := c.Partition("orders", 0).HighWatermark
	if y.Position("orders", 0) != end-1 || y.CurrentLag("orders", 0) != 0 || z.Position("orders", 0) != end {
		t.Errorf("read_committed at %d of %d with lag %d", y.Position("orders", 0), end, y.CurrentLag("orders", 0))
	}
}

// C-62: a change of an assignment by hand commits what was read before, if the interval is over.
func TestAssignCommits(t *testing.T) {
	c, _ := filled(2, 20)
	x := c.NewConsumer("x", Config{"group.id": "g", "auto.offset.reset": "earliest"}).Assign("orders", 0)
	for read := 0; read < 10; {
		read += len(x.Poll(time.Second).Records)
	}
	c.RunFor(6 * time.Second)
	x.Assign("orders", 1)
	c.RunFor(time.Second)
	g := c.Group("g")
	if len(g.Offsets) != 1 || g.Offsets[0].Partition != 0 || g.Offsets[0].Committed != 10 {
		t.Errorf("%v", g)
	}
}
