package kafkasim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lossy is C01's schedule: two leaders are lost one after the other, and the third replica's high watermark is old.
func lossy(w World) *Cluster {
	w.Config = Config{"replica.fetch.wait.max.ms": 4000, "broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200, "auto.leader.rebalance.enable": false}
	c := New(w)
	c.CreateTopic("c01", 1, 3, Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", Config{"acks": "all", "linger.ms": 0})
	p.Send("c01", nil, "r0")
	c.RunFor(5 * time.Second)
	p.Send("c01", nil, "m1")
	c.RunFor(10 * time.Millisecond)
	// The third replica hears of the second leader, never reaches it, and leads when that dies too.
	order := c.Partition("c01", 0).Replicas
	c.Cut(order[1], order[2])
	for _, id := range order[:2] {
		c.Broker(id).Crash()
		c.RunFor(1300 * time.Millisecond)
	}
	return c
}

// The same rules and commands come to the same state, and what is replayed can be replayed back.
func TestReplayUnderTheSameRulesIsTheSame(t *testing.T) {
	c := story(7)
	same := c.Replay(World{})
	if same.Hash() != c.Hash() {
		t.Error("the same commands under the same rules came to another state")
	}
	old := c.Replay(World{Kafka: "0.10"})
	if old.Hash() == c.Hash() {
		t.Error("other rules, same state")
	}
	if old.Rules().Kafka != "0.10" || c.Rules().Kafka != "4.3" {
		t.Errorf("rules of %s and %s", old.Rules().Kafka, c.Rules().Kafka)
	}
	if back := old.Replay(World{Kafka: "4.3"}); back.Hash() != c.Hash() {
		t.Error("there and back again is another place")
	}
	if got, want := old.Now(), c.Now(); got != want {
		t.Errorf("at %v, want %v", got, want)
	}
}

// Every version can live through the story, twice to the same bytes, and on a fork.
func TestEveryVersionIsDeterministic(t *testing.T) {
	c := story(7)
	for _, v := range []string{"0.10", "0.11", "1.0", "1.1", "2.0", "2.1", "2.4", "2.6", "2.7", "2.8", "3.3", "3.5", "3.6", "3.9", "4.0", "4.1", "4.4"} {
		a, b := c.Replay(World{Kafka: v}), c.Replay(World{Kafka: v})
		if a.Hash() != b.Hash() {
			t.Errorf("Kafka %s: two runs differ", v)
		}
		f := a.Fork()
		a.RunFor(time.Second)
		f.RunFor(time.Second)
		if a.Hash() != f.Hash() {
			t.Errorf("Kafka %s: a fork differs", v)
		}
		if x := a.At(time.Second); x.Now() != time.Second {
			t.Errorf("Kafka %s: At: %v", v, x.Now())
		}
	}
}

// The acknowledged record is lost to the rules of 0.10 and kept by those of today (C01).
func TestReplayShowsWhatAnOldRuleLoses(t *testing.T) {
	c := lossy(World{Seed: 3})
	if v := c.Check(); !v.OK() {
		t.Fatalf("4.3: %v", v)
	}
	before := c.Hash()
	old := c.Replay(World{Switches: map[string]bool{"epoch.truncation": false}})
	if c.Hash() != before {
		t.Error("a replay changed the cluster")
	}
	if v := old.Check(); v.OK() || !strings.Contains(strings.Join(v.Broken, "\n"), "acknowledged with acks=all and lost: offset 1") {
		t.Errorf("without epoch.truncation:\n%v", v)
	}
	d := &Delivery{c: c, number: 1}
	if d.Lost() || !d.In(old).Lost() {
		t.Errorf("m1: %v; without epoch.truncation: %v", d, d.In(old))
	}
	rule := old.Rules().Rule("epoch.truncation")
	if rule.On || !rule.ByHand || rule.Source != "KIP-101" {
		t.Errorf("%+v", rule)
	}
	if !strings.HasPrefix(old.Describe().String(), "Rules of Kafka 4.3, but epoch.truncation off\n") {
		t.Errorf("Describe says\n%s", old.Describe())
	}
}

// A replayed cluster's script makes it anew.
func TestScriptOfAReplay(t *testing.T) {
	c := New(World{Seed: 2, Config: Config{"broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200}})
	c.CreateTopic("orders", 1, 3, nil)
	c.NewProducer("p", nil).Send("orders", "a", "b")
	c.RunFor(time.Second)
	old := c.Replay(World{Kafka: "1.1", Switches: map[string]bool{"strict.min.isr": true}})
	old.Broker(1).Crash()
	old.RunFor(2 * time.Second)
	file := filepath.Join(t.TempDir(), "main.go")
	program := "package main\nimport (\"fmt\"; \"time\"; \"kafkalab/kafkasim\")\nfunc main() {\n" + old.Script().String() + "fmt.Printf(\"%016x\", c.Hash())\nvar _ time.Duration\n}\n"
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := goRun(file)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, program)
	}
	if want := hex(old.Hash()); out != want {
		t.Errorf("the script came to %s, want %s\n%s", out, want, program)
	}
}

func hex(h uint64) string {
	const digits = "0123456789abcdef"
	s := ""
	for i := 60; i >= 0; i -= 4 {
		s += string(digits[h>>i&15])
	}
	return s
}

// What cannot be replayed is said.
func TestReplayRefuses(t *testing.T) {
	c := New(World{})
	c.CreateTopic("orders", 1, 3, nil)
	c.RunFor(time.Millisecond)
	for _, x := range []struct {
		want string
		call func()
	}{
		{`Replay: the same commands need the same brokers and controllers: leave them out`, func() { c.Replay(World{Brokers: 5}) }},
		{`World: Kafka: "next" is no version that this simulator knows; it knows "0.10" to "4.4"`, func() { c.Replay(World{Kafka: "next"}) }},
	} {
		if got := mistake(t, x.call); got != "kafkasim: "+x.want {
			t.Errorf("\n got %s\nwant kafkasim: %s", got, x.want)
		}
	}
}

// A message that was dropped by hand is dropped in the other world too.
func TestReplayFindsTheSameMessage(t *testing.T) {
	c := New(World{Seed: 5})
	c.CreateTopic("orders", 1, 1, nil)
	p := c.NewProducer("p", Config{"linger.ms": 0, "enable.idempotence": false, "request.timeout.ms": 1000})
	c.RunFor(500 * time.Millisecond)
	p.Send("orders", "a", "b")
	for c.Counters().Acked == 0 {
		for _, m := range c.InFlight() {
			if m.From != "controller" && strings.HasPrefix(m.Text, "ProduceResponse") {
				c.Drop(m.Number)
				c.RunFor(2 * time.Second)
				same := c.Replay(World{Kafka: "2.8"})
				if a, b := c.Partition("orders", 0).LogEndOffset, same.Partition("orders", 0).LogEndOffset; a != b || a < 2 {
					t.Errorf("log ends %d and %d, want a duplicate in both", a, b)
				}
				return
			}
		}
		c.Step()
	}
	t.Fatal("no answer to drop")
}
