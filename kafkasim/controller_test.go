package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// A learner's way through a quorum: it is looked at, its leader dies, messages of an election are held, and a
// script, a fork and the past come to the same state.
func TestControllers(t *testing.T) {
	c := New(World{Controllers: 3, Seed: 4})
	if made := c.CreateTopic("orders", 2, 3, nil); made.Error != "" || c.Now() == 0 {
		t.Fatalf("%s at %v", made, c.Now())
	}
	c.RunFor(2 * time.Second)
	first := c.Controller()
	if first.ID() != 3001 || first.View().State != "Leader" || len(c.View().Controllers) != 3 {
		t.Fatalf("%s\n%s", first, c.Controllers())
	}
	before, hash := c.Now(), c.Hash()
	c.RunFor(time.Millisecond)
	first.Crash()
	c.Hold("Vote 3002->3003")
	c.RunFor(4 * time.Second)
	held := c.Release()
	if len(held) == 0 || !strings.HasPrefix(held[0].Text, "Vote (pre-vote) epoch 1") {
		t.Errorf("held %v", held)
	}
	c.RunUntil(func(c *Cluster) bool { return c.s.ActiveController() != nil }, 10*time.Second)
	if next := c.Controller(); next.ID() == 3001 || next.View().Epoch < 2 {
		t.Errorf("%s", c.Controllers())
	}
	first.Start()
	c.Settle()
	c.AlterTopic("orders", Config{"min.insync.replicas": 2})
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
	if c.At(before).Hash() != hash {
		t.Error("the past is another one")
	}
	if got := c.Fork(); got.Hash() != c.Hash() {
		t.Error("the fork differs")
	}
	script := c.Script().String()
	for _, want := range []string{"kafkasim.World{Brokers: 3, Controllers: 3, Seed: 4}", "c.Controller(3001).Crash()", "c.Controller(3001).Start()"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s:\n%s", want, script)
		}
	}
}

// R3.30: without a majority a request is not answered, and is done all the same when the majority is back in
// time.
func TestTimeoutIsUndetermined(t *testing.T) {
	c := New(World{Controllers: 3})
	c.RunFor(time.Second)
	c.Controller(3002).Crash()
	c.Controller(3003).Crash()
	c.RunFor(30 * time.Second)
	start := c.Now()
	made := c.CreateTopic("late", 1, 1, nil)
	if made.Error != "TimeoutException" || c.Now()-start != time.Minute {
		t.Fatalf("%s after %v", made, c.Now()-start)
	}
	if d := c.DescribeQuorumStatus().String(); !strings.HasPrefix(d, "TimeoutException") {
		t.Error(d)
	}
	c.RunFor(time.Millisecond)
	if got := c.At(c.Now()).Hash(); got != c.Hash() {
		t.Error("the past is another one")
	}
}
