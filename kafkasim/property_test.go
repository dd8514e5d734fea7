package kafkasim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Random worlds, commands and schedules, with every invariant looked at after every command. Beside them: a
// script, a fork and the past come to the same state.
func TestRandomCommandsKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := World{
			Brokers: rapid.IntRange(1, 4).Draw(t, "brokers"), Controllers: rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "controllers"), Seed: uint64(rapid.IntRange(0, 1000).Draw(t, "seed")),
			Config: Config{"broker.session.timeout.ms": 90, "broker.heartbeat.interval.ms": 20, "replica.lag.time.max.ms": 200,
				"replica.fetch.wait.max.ms": 20, "replica.fetch.backoff.ms": 10,
				"controller.quorum.fetch.timeout.ms": 200, "controller.quorum.election.timeout.ms": 100, "controller.quorum.request.timeout.ms": 200},
		}
		r := &randomRun{T: t, c: New(w)}
		r.setUp()
		for range rapid.IntRange(5, 30).Draw(t, "commands") {
			r.act()
			if v := r.c.Check(); !v.OK() {
				t.Fatalf("%s\n%s", v, r.c.Script())
			}
		}
		r.compare()
	})
}

// randomRun is one run of the property test.
type randomRun struct {
	*rapid.T
	c        *Cluster
	kept     []moment
	producer []*Producer
	reader   *Consumer
}

type moment struct {
	at   time.Duration
	hash uint64
}

func (r *randomRun) setUp() {
	n := len(r.c.s.Brokers)
	r.c.CreateTopic("a", rapid.IntRange(1, 3).Draw(r.T, "partitions"), rapid.IntRange(1, n).Draw(r.T, "rf"),
		Config{"min.insync.replicas": rapid.IntRange(1, 2).Draw(r.T, "min ISR"), "unclean.leader.election.enable": rapid.Bool().Draw(r.T, "unclean")})
	for i, acks := range []string{"0", "1", "all"} {
		r.producer = append(r.producer, r.c.NewProducer(fmt.Sprint("p", i), Config{"acks": acks, "request.timeout.ms": 100, "delivery.timeout.ms": 1000, "retry.backoff.ms": 10, "linger.ms": i}))
	}
	r.producer = append(r.producer, r.c.NewProducer("plain", Config{"enable.idempotence": false, "request.timeout.ms": 100, "delivery.timeout.ms": 1000}))
	r.reader = r.c.NewConsumer("reader", Config{"auto.offset.reset": "earliest"}).Assign("a")
}

// act does one thing that is possible now.
func (r *randomRun) act() {
	b := r.c.Broker(rapid.IntRange(1, len(r.c.s.Brokers)).Draw(r.T, "broker"))
	switch rapid.IntRange(0, 14).Draw(r.T, "what") {
	case 0, 1, 2:
		p := r.producer[rapid.IntRange(0, len(r.producer)-1).Draw(r.T, "producer")]
		for i := range rapid.IntRange(1, 5).Draw(r.T, "records") {
			p.Send("a", fmt.Sprint("key", i), "value")
		}
	case 3, 4, 5:
		r.c.RunFor(time.Duration(rapid.IntRange(1, 300).Draw(r.T, "ms")) * time.Millisecond)
		r.kept = append(r.kept, moment{r.c.Now(), r.c.Hash()})
		r.c.RunFor(time.Microsecond) // so that no later command has this time
	case 6:
		r.c.Steps(rapid.IntRange(1, 50).Draw(r.T, "steps"))
	case 7:
		switch {
		case !b.alive():
			b.Start()
		case b.state().Paused:
			b.Resume()
		case rapid.Bool().Draw(r.T, "power"):
			b.PowerLoss()
		default:
			b.Crash()
		}
	case 8:
		if b.alive() && !b.state().Paused {
			if rapid.Bool().Draw(r.T, "pause") {
				b.Pause()
			} else if b.state().Process.String() == "RUNNING" {
				b.Stop()
			}
		}
	case 9:
		r.c.Isolate(b)
	case 10:
		r.c.Heal()
	case 11:
		r.disturb()
	case 12:
		r.reader.Poll(time.Duration(rapid.IntRange(0, 100).Draw(r.T, "poll")) * time.Millisecond)
	case 13:
		r.c = r.c.Fork()
		for i, p := range r.producer {
			r.producer[i] = r.c.Producer(p.ID())
		}
		r.reader = r.c.Consumer("reader")
	case 14:
		r.controller()
	}
}

// controller makes a controller fail or return.
func (r *randomRun) controller() {
	x := r.c.Controller(3000 + rapid.IntRange(1, len(r.c.s.Controllers)).Draw(r.T, "controller"))
	switch {
	case !x.state().Running:
		x.Start()
	case x.state().Paused:
		x.Resume()
	case rapid.Bool().Draw(r.T, "pause"):
		x.Pause()
	default:
		x.Crash()
	}
}

// disturb does something to a message on the wire.
func (r *randomRun) disturb() {
	if rapid.Bool().Draw(r.T, "hold") {
		if len(r.c.s.Holds) > 0 {
			r.c.Release()
		} else {
			r.c.Hold([]string{"Fetch", "Produce", "-> controller", "broker 1 ->"}[rapid.IntRange(0, 3).Draw(r.T, "pattern")])
		}
		return
	}
	var free Messages
	for _, m := range r.c.InFlight() {
		if !m.Held {
			free = append(free, m)
		}
	}
	if len(free) == 0 {
		return
	}
	n := free[rapid.IntRange(0, len(free)-1).Draw(r.T, "message")].Number
	switch rapid.IntRange(0, 2).Draw(r.T, "fate") {
	case 0:
		r.c.Drop(n)
	case 1:
		r.c.Delay(n, 7*time.Millisecond)
	case 2:
		r.c.Deliver(n)
	}
}

// compare looks back: the past is what it was, and a fork goes on as its parent does.
func (r *randomRun) compare() {
	for _, m := range r.kept {
		if old := r.c.At(m.at); old.Hash() != m.hash {
			r.Fatalf("At(%v) is not what was\n%s", m.at, r.c.Script())
		}
	}
	f := r.c.Fork()
	f.RunFor(500 * time.Millisecond)
	r.c.RunFor(500 * time.Millisecond)
	if f.Hash() != r.c.Hash() {
		r.Fatalf("a fork went another way\n%s", r.c.Script())
	}
	if v := r.c.Check(); !v.OK() {
		r.Fatalf("%s\n%s", v, r.c.Script())
	}
}

// A script is a cell that can be run: as a program it comes to the same state.
func TestScriptComesToTheSameState(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 5, Racks: []string{"a", "b", "c"}, Config: Config{"broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200 * time.Millisecond}})
	c.CreateTopic("orders", 2, 3, Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", Config{"acks": "all", "linger.ms": "3"})
	p.Send("orders", "user-1", "a \"quoted\" value\n")
	p.Send("orders", nil, nil)
	p.SendRecord(Record{Topic: "orders", Partition: 1, Key: "k", Value: "v"})
	p.SendRecord(Record{Topic: "orders", Key: "k", Value: "v", Headers: []Header{{"h", "1"}}, Timestamp: 7 * time.Millisecond})
	p.Every(3*time.Millisecond, "orders", "x", "y")
	c.RunFor(1500 * time.Microsecond)
	c.Steps(17)
	c.RunUntil(func(c *Cluster) bool { return c.Partition("orders", 0).HighWatermark > 3 }, time.Minute)
	c.RunUntil(func(*Cluster) bool { return false }, 10*time.Millisecond)
	r := c.NewConsumer("reader", Config{"auto.offset.reset": "earliest"}).Assign("orders", 1)
	r.Poll(20 * time.Millisecond)
	r.Seek("orders", 1, 0).Pause("orders").Resume("orders", 1)
	r.Poll(50 * time.Millisecond)
	c.Latency(2, "controller", 2*time.Millisecond)
	c.Cut(1, 2)
	c.Isolate("checkout")
	c.RunFor(50 * time.Millisecond)
	c.Heal()
	c.Hold("broker 2 -> broker 1  Fetch")
	c.RunFor(50 * time.Millisecond)
	c.Release()
	for _, m := range c.InFlight() {
		if m.From == "checkout" || m.To == "checkout" {
			c.Delay(m.Number, time.Millisecond)
			c.Drop(m.Number)
			break
		}
	}
	c.RunUntil(func(c *Cluster) bool { return len(c.InFlight()) > 0 }, time.Second)
	c.Deliver(c.InFlight()[0].Number)
	c.Broker(1).Pause()
	c.RunFor(time.Second)
	c.Broker(1).Resume()
	c.Step()
	c.Broker(3).PowerLoss()
	c.RunFor(time.Second)
	c.Broker(3).Start()
	c.RunFor(time.Second)
	c.Broker(2).Stop()
	p.Flush()
	r.Close()
	p.Close()
	c.Settle()
	past := c.At(c.Now() - 700*time.Millisecond)
	runScript(t, c.Script(), c.Hash())
	runScript(t, past.Script(), past.Hash())
}

// runScript runs a script as a program of its own and compares the hash.
func runScript(t *testing.T, script Script, want uint64) {
	dir := t.TempDir()
	src := "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n\n\t\"kafkalab/kafkasim\"\n)\n\nvar _ = time.Second\n\nfunc main() {\n" + script.String() + "fmt.Printf(\"%016x\\n\", c.Hash())\n}\n"
	if err := os.WriteFile(dir+"/main.go", []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := goRun(dir + "/main.go")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, script)
	}
	if got := fmt.Sprintf("%016x\n", want); out != got {
		t.Errorf("the script came to %s, want %s\n%s", out, got, script)
	}
}
