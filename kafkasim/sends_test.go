package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// The history keeps no records: it reads them where they are, whatever has become of them. They are
// acknowledged, cut up, refused, too large, expired, blocked, or went down with their producer.
func TestHistoryFindsEveryRecordAgain(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 5})
	c.CreateTopic("orders", 3, 3, Config{"min.insync.replicas": 2, "max.message.bytes": 700})
	want := map[string][]string{}
	send := func(p *Producer, n, size int) {
		for i := range n {
			key, value := fmt.Sprintf("k%d", i%5), fmt.Sprintf("%s-%d-%s", p.ID(), len(want[p.ID()]), strings.Repeat("x", size*(i%3)))
			if i%4 == 3 {
				p.Send("orders", nil, value)
				key = ""
			} else {
				p.Send("orders", key, value)
			}
			want[p.ID()] = append(want[p.ID()], key+"="+value)
		}
	}
	small := c.NewProducer("small", Config{"buffer.memory": 20000, "batch.size": 2000, "max.block.ms": 300, "delivery.timeout.ms": 1000,
		"request.timeout.ms": 500, "max.request.size": 3000, "linger.ms": 2})
	doomed := c.NewProducer("doomed", Config{"buffer.memory": 5000, "batch.size": 1000})
	send(small, 10, 10) // before there is metadata: blocked
	c.RunFor(time.Second)
	early := c.Fork()
	for i := range 12 {
		send(small, 25, 120) // batches are cut up
		send(small, 3, 1800) // too large for max.request.size
		send(doomed, 10, 50)
		if i == 4 {
			c.Broker(1).Crash()
			c.Broker(2).Crash() // refused, expired and blocked from here on
		}
		c.RunFor(150 * time.Millisecond)
	}
	send(doomed, 200, 50)
	if c.s.Producers[doomed.i].Blocked.Count == 0 {
		t.Error("nothing is blocked when the producer crashes")
	}
	doomed.Crash()
	c.RunFor(time.Second)
	if p := small.state(); p.AckedRecords == 0 || p.FailedRecords == 0 || p.Undecided() > 0 && p.Blocked.Count < 0 {
		t.Errorf("%d acknowledged, %d failed", p.AckedRecords, p.FailedRecords)
	}

	check := func(what string, c *Cluster, whole bool) {
		t.Helper()
		got := map[string][]string{}
		present := newSent(c.s)
		for _, e := range c.history.entries {
			if e.sends == nil {
				continue
			}
			for cmd := range present.commands(e.sends) {
				id := c.producerName(cmd.Producer)
				got[id] = append(got[id], cmd.Record.Key+"="+cmd.Record.Value)
			}
		}
		for id, list := range want {
			if !whole {
				list = list[:len(got[id])]
			}
			if !slices.Equal(got[id], list) {
				t.Errorf("%s: the records of %s are not those that were sent", what, id)
			}
		}
	}
	check("the present", c, true)
	check("a fork of a fork", c.Fork().Fork(), true)
	check("an early fork", early, false)
	old := c.At(c.Now() / 2)
	check("the past", old, false)
	check("the past's past", old.At(old.Now()/2), false)
	if got := c.At(c.Now() - 1); got.s.Producers[doomed.i].Status != machine.ProducerCrashed {
		t.Error("the past is another")
	}
	if a, b := c.At(c.Now()/2).Hash(), old.Hash(); a != b {
		t.Errorf("two looks at the same past: %x and %x", a, b)
	}
	if n := strings.Count(string(c.Script()), ".Send("); n != len(want["small"])+len(want["doomed"]) {
		t.Errorf("the script has %d sends", n)
	}
}

// Under other rules a producer with steady traffic counts its sends otherwise; the script still has the
// user's.
func TestReplayedScriptHasTheUsersRecords(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 5})
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("checkout", nil).Every(3*time.Millisecond, "orders")
	for i := range 20 {
		c.RunFor(time.Duration(i%4) * time.Millisecond)
		p.Send("orders", "k", fmt.Sprint("mine ", i))
	}
	c.RunFor(time.Second)
	for _, x := range []*Cluster{c, c.Replay(World{Kafka: "0.11", Latency: 3 * time.Millisecond})} {
		script := string(x.Script())
		for i := range 20 {
			if !strings.Contains(script, fmt.Sprintf("%q", fmt.Sprint("mine ", i))) {
				t.Errorf("the script lacks record %d", i)
			}
		}
		if strings.Contains(script, `"#`) {
			t.Error("the script has records of the steady traffic")
		}
	}
}
