package kafkasim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// mistake runs a call that must panic with a UsageError and returns its sentence.
func mistake(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		r := recover()
		err, ok := r.(error)
		var u *UsageError
		if !ok || !errors.As(err, &u) {
			t.Errorf("panicked with %v, want a *UsageError", r)
			return
		}
		text = u.UserMessage()
	}()
	f()
	t.Error("accepted")
	return ""
}

// A caller's mistake is a sentence: where, what, what would have been right. (More in
// tests/stories/testdata/mistakes.txt.)
func TestMistakesAreSentences(t *testing.T) {
	c := Page()
	p := c.NewProducer("checkout", nil)
	r := c.NewConsumer("reader", nil).Assign("orders", 0)
	d := c.NewProducer("done", nil)
	d.Crash()
	for _, x := range []struct {
		want string
		call func()
	}{
		{`World: Kafka: "3.10" is no version that this simulator knows - did you mean "0.10"?; it knows "0.10" to "4.4"`, func() { New(World{Kafka: "3.10"}) }},
		{`World: Switches: there is no switch "strict.isr" - did you mean "strict.min.isr"?`, func() { New(World{Switches: map[string]bool{"strict.isr": true}}) }},
		{`World: Switches: there is no switch "fun"; Rules() lists them`, func() { New(World{Switches: map[string]bool{"fun": true}}) }},
		{`producer "p": enable.idempotence=true: Kafka 0.10 has no idempotent producers; they came with 0.11 (KIP-98)`, func() {
			New(World{Kafka: "0.10"}).NewProducer("p", Config{"enable.idempotence": true})
		}},
		{`World: Controllers: 2: want 1, 3 or 5`, func() { New(World{Controllers: 2}) }},
		{`World: Controllers: 3: Kafka 2.8 without the switch "kraft" has a ZooKeeper`, func() { New(World{Controllers: 3, Kafka: "2.8"}) }},
		{`World: Controllers: 5: Kafka 0.10 without the switch "kraft" has a ZooKeeper`, func() { New(World{Controllers: 5, Kafka: "0.10"}) }},
		{`World: Controllers: 3: Kafka 4.3 without the switch "kraft" has a ZooKeeper`, func() { New(World{Controllers: 3, Switches: map[string]bool{"kraft": false}}) }},
		{`World: Controllers: 3: without the switch "alter.partition" leaders write to a ZooKeeper`, func() { New(World{Controllers: 3, Switches: map[string]bool{"alter.partition": false}}) }},
		{`World.Config: process.roles is a real Kafka property that this simulator does not model`, func() { New(World{Config: Config{"process.roles": "broker,controller"}}) }},
		{`Controller(4): there is no controller 4; this cluster has controller 3001`, func() { c.Controller(4) }},
		{`Controller(3001).Start: controller 3001 is running already`, func() { c.Controller().Start() }},
		{`Controller(3001).Resume: controller 3001 is not paused`, func() { c.Controller().Resume() }},
		{`Cut: which controller? This cluster has controllers 3001, 3002, 3003; say "controller 3001"`, func() { New(World{Controllers: 3}).Cut(1, "controller") }},
		{`Controller(3004): there is no controller 3004; this cluster has controllers 3001, 3002, 3003`, func() { New(World{Controllers: 3}).Cut(1, "controller 3004") }},
		{`World: Brokers: 1000: want 1 to 100`, func() { New(World{Brokers: 1000}) }},
		{`World: Racks: 2 racks for 3 brokers: want one for each broker, or none`, func() { New(World{Racks: []string{"a", "b"}}) }},
		{`World: Tick: 1ns: want whole microseconds, from 1µs to 1h`, func() { New(World{Tick: 1}) }},
		{`World.Config: unknown property "brokr.session.timeout.ms" - did you mean "broker.session.timeout.ms"?`, func() { New(World{Config: Config{"brokr.session.timeout.ms": 1}}) }},
		{`Widget: unknown property "ackz" - did you mean "acks"?`, func() { Widget(Config{"ackz": 1}) }},
		{`producer "p": acks=2: want all, -1, 0 or 1`, func() { c.NewProducer("p", Config{"acks": 2}) }},
		{`NewProducer(""): a client needs an id, such as "checkout"`, func() { c.NewProducer("", nil) }},
		{`NewConsumer("checkout"): there already is a producer "checkout" in this cluster; choose another id`, func() { c.NewConsumer("checkout", nil) }},
		{`Topic("order"): there is no topic "order" - did you mean "orders"?`, func() { c.Topic("order") }},
		{`Partition("orders", 3): topic "orders" has no partition 3; it has partitions 0 to 2`, func() { c.Partition("orders", 3) }},
		{`Partition("orders", 0).Replica(3): the replicas of orders-0 are on brokers 1,2`, func() { c.Partition("orders", 0).Replica(3) }},
		{`Broker(4): there is no broker 4; this cluster has brokers 1, 2, 3`, func() { c.Broker(4) }},
		{`producer "checkout": Send: key 5 (int): want a string, or nil for none (fmt.Sprint makes one of anything; int32 and int64 become 4 and 8 bytes, as Kafka's serializers make them)`, func() { p.Send("orders", 5, "v") }},
		{`producer "checkout": Send: Partition 1.5 (float64): want a number, or nil to let the partitioner choose`, func() { p.SendRecord(Record{Topic: "orders", Partition: 1.5}) }},
		{`producer "done": Send: this producer has crashed; make a new one with NewProducer`, func() { d.Send("orders", "k", "v") }},
		{`producer "checkout": Every: 0s: want how long to wait`, func() { p.Every(0, "orders") }},
		{`consumer "reader": Seek: orders-1 is not assigned to this consumer; Assign it first`, func() { r.Seek("orders", 1, 0) }},
		{`consumer "reader": Poll: -1s: want how long to wait at most`, func() { r.Poll(-time.Second) }},
		{`RunFor: -1s: time does not go back; At(t) shows the past`, func() { c.RunFor(-time.Second) }},
		{`RunUntil: the condition is nil; want a func(*kafkasim.Cluster) bool`, func() { c.RunUntil(nil, time.Second) }},
		{`RunUntil: the limit is 0s; want how long to wait at most`, func() { c.RunUntil(func(*Cluster) bool { return true }, 0) }},
		{`At(1h0m0s): the history goes from 0 to 10ms; run the cluster first to see what is later`, func() { c.At(time.Hour) }},
		{`Cut: there is nobody called "checkuot" - did you mean "checkout"? (brokers are meant by their numbers)`, func() { c.Cut(1, "checkuot") }},
		{`Cut: broker 1 cannot be cut from itself`, func() { c.Cut(1, "broker 1") }},
		{`Cut: 1.5 (float64) names nobody: want a broker's number, "controller" or a client's id`, func() { c.Cut(1.5, 2) }},
		{`Latency: -1ms: want 0 to 1h`, func() { c.Latency(1, 2, -time.Millisecond) }},
		{`Drop(1): no message #1 is on the wire; InFlight() lists them with their numbers`, func() { c.Drop(1) }},
		{`Hold(" "): want words of a message's line and at most one way`, func() { c.Hold(" ") }},
		{`Hold("1->2->3"): want words of a message's line and at most one way`, func() { c.Hold("1->2->3") }},
		{`Hold("Fech 2->1"): no message has the word "Fech" - did you mean "Fetch"?`, func() { c.Hold("Fech 2->1") }},
		{`Hold("Fetch 2->9"): there is no broker 9; this cluster has brokers 1, 2, 3`, func() { c.Hold("Fetch 2->9") }},
		{`Hold("Produce checkuot->1"): there is nobody called "checkuot" - did you mean "checkout"?`, func() { c.Hold("Produce checkuot->1") }},
		{`Hold("Fetch ordres-0"): no message has the word "ordres-0" - did you mean "orders-0"?`, func() { c.Hold("Fetch ordres-0") }},
	} {
		if got := mistake(t, x.call); !strings.HasPrefix(got, "kafkasim: "+x.want) {
			t.Errorf("\n got %s\nwant kafkasim: %s", got, x.want)
		}
	}
	if c.Hash() != func() uint64 { f := c.Fork(); return f.Hash() }() {
		t.Error("a mistake changed something")
	}
}

// Whatever a verb returns has a String worth reading.
func TestEverythingCanBePrinted(t *testing.T) {
	c := Page()
	p := c.NewProducer("checkout", nil)
	d := p.Send("orders", "user-1", "order #1")
	r := c.NewConsumer("reader", nil).Assign("orders")
	for _, v := range []any{c, c.Topic("orders"), c.Partition("orders", 0), c.Describe(), c.Broker(1), p, d, r, c.Step(), c.Ticks(3), c.InFlight(),
		r.Poll(20 * time.Millisecond), c.Counters(), c.Check(), c.Script(), c.Cut(1, 2), c.Heal(), c.Hold("Fetch 2->3"), c.Release(), c.Settle(), d} {
		s := fmt.Sprint(v)
		if _, ok := v.(fmt.Stringer); !ok || s == "" || strings.Contains(s, "0x") || strings.Contains(s, "%!") {
			t.Errorf("%T prints as %q", v, s)
		}
	}
	if got := d.String(); got != "sent t=10ms, acked t=18ms: orders-0 offset 0" {
		t.Errorf("the delivery says %q", got)
	}
}
