package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// steady is a scenario: a topic with three replicas and a producer that sends ten records a second.
func steady(topic, producer Config) func(*Cluster) {
	return func(c *Cluster) {
		c.CreateTopic("orders", 1, 3, topic)
		c.RunFor(time.Second)
		c.NewProducer("shop", producer).Every(100*time.Millisecond, "orders")
	}
}

// The question that is asked most: can acks=all lose data here? With a minimum of one it can, and the hunt says how;
// with two, and clean elections, none is found.
func TestHuntSettlesTheArgument(t *testing.T) {
	lost := func(c *Cluster) string {
		if n := c.Counters().Lost; n > 0 {
			return plural(n, "acknowledged record") + " lost"
		}
		return ""
	}
	found := Hunt{World: World{Brokers: 3, Kafka: "4.0"}, Seeds: 300, Faults: []string{"power loss", "crash", "isolate"},
		Scenario: steady(Config{"min.insync.replicas": 1}, Config{"acks": "all", "linger.ms": 0}), Check: lost}.Run()
	if !found.Found || len(found.Faults) == 0 || !strings.Contains(found.Broken, "lost") {
		t.Fatalf("with a minimum of one: %v", found)
	}
	t.Logf("%v\n%v", found, found.Script())
	for _, f := range found.Faults { // each of them is needed
		if !strings.Contains(found.String(), f.String()) {
			t.Errorf("%v does not tell of %v", found, f)
		}
	}
	if none := (Hunt{World: World{Brokers: 3}, Seeds: 40, Faults: []string{"crash", "isolate", "stop", "hold"},
		Scenario: steady(Config{"min.insync.replicas": 2}, Config{"acks": "all", "linger.ms": 0}), Check: lost}).Run(); none.Found {
		t.Errorf("with a minimum of two: %v\n%v", none, none.Script())
	}
}

// The schedule that was found breaks the claim each time: a hunt is as deterministic as a world.
func TestHuntIsDeterministic(t *testing.T) {
	h := Hunt{World: World{Brokers: 3, Seed: 5}, Seeds: 100, Faults: []string{"crash", "hold"},
		Scenario: steady(nil, Config{"acks": 1, "linger.ms": 0}),
		Check: func(c *Cluster) string {
			if c.Counters().Lost > 0 {
				return "lost"
			}
			return ""
		}}
	a, b := h.Run(), h.Run()
	if !a.Found || a.String() != b.String() || a.Cluster.Hash() != b.Cluster.Hash() || a.Script() != b.Script() {
		t.Errorf("%v\n%v", a, b)
	}
}

func TestHuntMistakes(t *testing.T) {
	for want, h := range map[string]Hunt{
		"there is no Scenario":                      {},
		`there is no fault "crashes"`:               {Scenario: steady(nil, nil), Faults: []string{"crashes"}},
		"Seeds -1":                                  {Scenario: steady(nil, nil), Seeds: -1},
		"at most 50 faults":                         {Scenario: steady(nil, nil), Most: 51},
		`unknown property "min.insync.replica"`:     {Scenario: steady(Config{"min.insync.replica": 2}, nil)},
		`World: Kafka: "9.9" is no version that th`: {Scenario: steady(nil, nil), World: World{Kafka: "9.9"}},
	} {
		func() {
			defer func() {
				err, ok := recover().(*UsageError)
				if !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}()
			h.Run()
		}()
	}
}
