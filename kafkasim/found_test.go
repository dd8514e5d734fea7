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

// A follower that comes back with a record that its leader's log has no place for is told in one answer where
// the logs part and what the high watermark is, takes the first only, and is not told the second again while
// nothing changes: the leader's fetch session believes that it knows (R2.8, R2.10). The next record ends that.
func TestHighWatermarkWithADivergenceIsNotToldAgain(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 3, Config: quickConfig()})
	c.Watch(true)
	c.CreateTopic("t", 1, 3, nil)
	p := c.NewProducer("p", Config{"acks": "1", "linger.ms": 0})
	c.RunFor(50 * time.Millisecond)
	p.Send("t", "k", "both")
	c.RunFor(20 * time.Millisecond) // committed, and not yet in the checkpoint
	old := c.Partition("t", 0).Leader
	for i := range 3 {
		if id := i + 1; id != old {
			c.Cut(old, id)
		}
	}
	p.Send("t", "k", "one")
	c.RunFor(5 * time.Millisecond)
	c.Broker(old).Crash()
	c.RunFor(time.Second)
	c.Heal()
	c.Broker(old).Start()
	c.RunFor(2 * time.Second)
	x := c.Partition("t", 0)
	if len(x.ISR) != 3 || x.Leader == old {
		t.Fatalf("leader %d, ISR %v", x.Leader, x.ISR)
	}
	for _, l := range x.Logs {
		if want := map[bool]int64{true: 0, false: 1}[l.Broker == old]; l.HighWatermark != want || l.LogEndOffset != 1 {
			t.Errorf("broker %d: HW %d, LEO %d", l.Broker, l.HighWatermark, l.LogEndOffset)
		}
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
	p.Send("t", "k", "next")
	c.RunFor(500 * time.Millisecond)
	for _, l := range c.Partition("t", 0).Logs {
		if l.HighWatermark != 2 || l.LogEndOffset != 2 {
			t.Errorf("broker %d: HW %d, LEO %d", l.Broker, l.HighWatermark, l.LogEndOffset)
		}
	}
}
