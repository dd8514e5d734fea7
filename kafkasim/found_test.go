package kafkasim

import (
	"slices"
	"testing"
	"time"
)

// What random schedules found, each as short as they made it.

func quickConfig() Config {
	w := shape{}
	return w.config().Config
}

// A registration that a process sends twice is not a new life: it is amended, and the broker stays what it is.
func TestRegistrationSentTwice(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 28332, Config: quickConfig(), Switches: map[string]bool{"eligible.leader.replicas": false}})
	c.Watch(true)
	c.CreateTopic("t", 1, 2, nil)
	c.RunFor(75 * time.Millisecond)
	c.Broker(2).Stop()
	c.Broker(1).Crash()
	c.Broker(1).Start()
	late := slices.IndexFunc(c.InFlight(), func(m Message) bool { return m.Text == "BrokerRegistration" })
	if late < 0 {
		t.Fatalf("no registration is on the wire:\n%s", c.InFlight())
	}
	c.Delay(c.InFlight()[late].Number, 200*time.Millisecond)
	c.RunFor(300 * time.Millisecond)
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
}

// An AlterPartition that is refused just before its time is over is sent again.
func TestAlterPartitionRefusedAtTheLastMoment(t *testing.T) {
	c := New(World{Brokers: 5, Controllers: 3, Seed: 50288, Config: quickConfig(), Switches: map[string]bool{"eligible.leader.replicas": false}})
	c.CreateTopic("t", 2, 3, nil)
	p := c.NewProducer("p", Config{"linger.ms": 0})
	c.RunFor(5 * time.Millisecond)
	p.Send("t", "k1", "1")
	c.Hold("FetchResponse")
	c.Isolate("controller 3001")
	c.RunFor(70 * time.Millisecond)
	c.Reassign("t", 0, 5, 1, 2)
	c.Heal()
	c.Release()
	c.RunFor(10 * time.Second)
	if x := c.Partition("t", 0); len(x.ISR) != 3 {
		t.Errorf("ISR %v of %v after everything was healed", x.ISR, x.Replicas)
	}
}
