package kafkasim

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// interruptAfter ends the goroutine at the n-th call of the poll function, as a stopped cell does.
func interruptAfter(n int, f func()) {
	calls := 0
	SetPoll(func() {
		if calls++; calls == n {
			runtime.Goexit()
		}
	})
	defer SetPoll(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// An interrupt between two events leaves a whole cluster: it goes on, looks back, forks, and its script
// comes to the same state.
func TestInterruptLeavesAWholeCluster(t *testing.T) {
	for name, verb := range map[string]func(c *Cluster){
		"RunFor":   func(c *Cluster) { c.RunFor(time.Hour) },
		"Steps":    func(c *Cluster) { c.Steps(1 << 30) },
		"RunUntil": func(c *Cluster) { c.RunUntil(func(*Cluster) bool { return false }, time.Hour) },
		"Settle":   func(c *Cluster) { c.Settle() },
		"Poll":     func(c *Cluster) { c.Consumer("reader").Poll(time.Hour) },
		"Flush":    func(c *Cluster) { c.Producer("app").Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			c := Widget()
			c.CreateTopic("empty", 1, 1, nil)
			c.NewConsumer("reader", nil).Assign("empty")
			if name == "Flush" {
				c.Isolate("app")
			}
			c.Ticks(3)
			interruptAfter(20, func() { verb(c) })
			now, hash := c.Now(), c.Hash()
			if f := c.Fork(); f.Hash() != hash {
				t.Error("a fork differs")
			}
			c.Ticks(2)
			if old := c.At(now + time.Microsecond); old.Now() != now+time.Microsecond {
				t.Error("the past cannot be reached")
			}
			if !c.Check().OK() {
				t.Error(c.Check())
			}
			if s := c.Script().String(); (name == "Poll" || name == "Flush") != strings.Contains(s, "interrupted") {
				t.Errorf("the script does not say how far it is exact:\n%s", s)
			}
		})
	}
}

// Loops give way often: at least once in 1,000 events.
func TestLoopsGiveWay(t *testing.T) {
	calls := 0
	SetPoll(func() { calls++ })
	defer SetPoll(nil)
	c := Widget()
	calls = 0
	before := c.history.steps
	c.RunFor(20 * time.Second)
	if events := c.history.steps - before; int64(calls) < events/1000 || events < 10000 {
		t.Errorf("%d calls for %d events", calls, events)
	}
}
