package kafkasim

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var modern = Config{"group.protocol": "consumer"}

// A group with the consumer protocol from the learner's side (§5.10, O-6, O-7).
func TestConsumerProtocolFromACell(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 6, 3, nil)
	p := c.NewProducer("p", nil)
	c1, c2 := member(c, "c1", "shop", modern), member(c, "c2", "shop", modern)
	c1.Subscribe("orders").Work(Work{PerRecord: time.Millisecond, Commit: "after"})
	c.RunFor(3 * time.Second)
	c2.Subscribe("orders").Work(Work{PerRecord: time.Millisecond, Commit: "after"})
	c.RunFor(30 * time.Second)
	for i := range 30 {
		p.Send("orders", fmt.Sprintf("user-%d", i), "x")
	}
	c.RunFor(2 * time.Second)
	g := c.Group("shop")
	if g.State != "Stable" || g.Generation != 3 || g.AssignmentEpoch != 3 || len(g.Members) != 2 || g.Lag().Total != 0 {
		t.Errorf("%v", g)
	}
	if n := c1.Processed().Count + c2.Processed().Count; n != 30 {
		t.Errorf("%d records were processed", n)
	}
	for _, want := range []string{"revoked", "assigned"} {
		if !strings.Contains(c1.Rebalances().String(), want) {
			t.Errorf("no %s in\n%s", want, c1.Rebalances())
		}
	}
	if text := g.Describe("--state", "--verbose").String(); !strings.Contains(text, "uniform              Stable               3               3                         2") {
		t.Errorf("%s", text)
	}
	if text := g.Describe("--members", "--verbose").String(); !strings.Contains(text, "CURRENT-EPOCH") || !strings.Contains(text, "3               orders:") {
		t.Errorf("%s", text)
	}
	c2.Crash()
	c.RunFor(60 * time.Second)
	if g := c.Group("shop"); len(g.Members) != 1 || len(g.Members[0].Partitions) != 6 {
		t.Errorf("%v", g)
	}
	c1.Close()
	if g := c.Group("shop"); g.State != "Empty" {
		t.Errorf("%v", g)
	}
}

// What cannot be is said in a sentence.
func TestConsumerProtocolUsage(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 1, 3, nil)
	classic, m := member(c, "classic", "g"), member(c, "m", "g2", modern).Subscribe("orders")
	old := New(World{Brokers: 3, Kafka: "3.9"})
	for what, f := range map[string]func(){
		`consumer "classic": SubscribePattern: "(?=x)" is no regular expression that is known here (RE2's language)`:                                     func() { classic.SubscribePattern("(?=x)") },
		`consumer "m": SubscribePattern: Subscription to topics, partitions and pattern are mutually exclusive`:                                          func() { m.SubscribePattern("o.*") },
		`consumer "x": group.protocol=consumer: Kafka 3.9 has the classic protocol only; the consumer protocol came with 4.0 (KIP-848)`:                  func() { member(old, "x", "g", modern) },
		`consumer "y": group.remote.assignor cannot be set when group.protocol=classic`:                                                                  func() { member(c, "y", "g", Config{"group.remote.assignor": "range"}) },
		`consumer "z": heartbeat.interval.ms cannot be set when group.protocol=consumer: the coordinator decides it`:                                     func() { member(c, "z", "g", modern, Config{"heartbeat.interval.ms": 100}) },
		`group.consumer.session.timeout.ms=9000 must be from group.consumer.min.session.timeout.ms=45000 to group.consumer.max.session.timeout.ms=60000`: func() { New(World{Brokers: 3, Config: Config{"group.consumer.session.timeout.ms": 9000}}) },
		`group.consumer.assignors=sticky: want uniform or range or both`:                                                                                 func() { New(World{Brokers: 3, Config: Config{"group.consumer.assignors": "sticky"}}) },
	} {
		func() {
			defer func() {
				if e, ok := recover().(*UsageError); !ok || !strings.Contains(e.Error(), what) {
					t.Errorf("%v, want %s", e, what)
				}
			}()
			f()
		}()
	}
	// A-72 and the recording gb1: what the coordinator does not take is its answer.
	for _, x := range []struct {
		m    *Consumer
		want string
	}{
		{member(c, "bad", "g3", modern, Config{"group.remote.assignor": "nosuch"}).Subscribe("orders"), "UNSUPPORTED_ASSIGNOR"},
		{member(c, "re", "g4", modern).SubscribePattern("(?=x)"), "INVALID_REGULAR_EXPRESSION"},
	} {
		for i := 0; ; i++ {
			if r := x.m.Poll(time.Second); r.Error == x.want {
				break
			} else if r.Error != "" || i == 20 {
				t.Fatalf("%v, want %s", r, x.want)
			}
		}
	}
}

// The recording gb1: a pattern matches whole names; topics that come and go are noticed by the coordinator.
func TestSubscribePattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"gb-.*": "gb-one-0 gb-one-1 gb-two-0 gb-two-1", "gb-": "", "gb-(one|two)": "gb-one-0 gb-one-1 gb-two-0 gb-two-1",
		".*one": "gb-one-0 gb-one-1", ".*gb.*": "gb-one-0 gb-one-1 gb-two-0 gb-two-1 xgb-three-0 xgb-three-1", "GB-.*": "",
	} {
		c := groupWorld()
		for _, name := range []string{"gb-one", "gb-two", "xgb-three"} {
			c.CreateTopic(name, 2, 3, nil)
		}
		x := member(c, "x", "g", modern).SubscribePattern(pattern).Work(Work{})
		have := func() string {
			var out []string
			for _, p := range x.state().Parts {
				out = append(out, fmt.Sprintf("%s-%d", p.Topic, p.TP.Partition))
			}
			return strings.Join(out, " ")
		}
		c.RunFor(15 * time.Second)
		if got := have(); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
		if pattern != "gb-.*" {
			continue
		}
		c.CreateTopic("gb-late", 2, 3, nil)
		c.RunFor(30 * time.Second)
		if got := have(); got != "gb-one-0 gb-one-1 gb-two-0 gb-two-1 gb-late-0 gb-late-1" {
			t.Errorf("with the new topic: %s", got)
		}
		c.DeleteTopic("gb-late")
		c.RunFor(30 * time.Second)
		if got := have(); got != want {
			t.Errorf("after its end: %s", got)
		}
	}
}

// the coordinator itself notices new partitions.
func TestConsumerProtocolNewPartitions(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 2, 3, nil)
	x := member(c, "x", "g", modern).Subscribe("orders").Work(Work{})
	c.RunFor(10 * time.Second)
	c.AddPartitions("orders", 5)
	c.RunFor(7 * time.Second)
	if n := len(x.state().Parts); n != 5 {
		t.Errorf("%d partitions", n)
	}
}

// A saved world, a fork and a script go on as the world itself.
func TestConsumerProtocolSaved(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 6, 3, nil)
	member(c, "c1", "g", modern).SubscribePattern("or.*").Work(Work{})
	c.RunFor(6 * time.Second)
	member(c, "c2", "g", modern).Subscribe("orders").Work(Work{})
	c.RunFor(2 * time.Second)
	path := filepath.Join(t.TempDir(), "group.kafkalab")
	c.Save(path)
	for _, x := range []*Cluster{c.Fork(), Load(path)} {
		x.RunFor(20 * time.Second)
		if x.Group("g").Generation != 4 || x.Group("g").State != "Stable" {
			t.Errorf("%v", x.Group("g"))
		}
	}
	f, l := c.Fork(), Load(path)
	f.RunFor(20 * time.Second)
	l.RunFor(20 * time.Second)
	if f.Hash() != l.Hash() {
		t.Error("the loaded world went another way than the fork")
	}
	if !strings.Contains(fmt.Sprint(c.Script()), `SubscribePattern("or.*")`) {
		t.Error("the script has no pattern")
	}
}
