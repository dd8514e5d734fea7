package lab

import (
	"strings"
	"testing"
)

// The script of a world with a share group, run as a cell, comes to the same state: with records acquired, released, rejected
// and renewed, a member that crashed, and offsets that were set.
func TestAScriptRepeatsShareGroups(t *testing.T) {
	c := start(t)
	ex := c.Execute(`c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 6})
c.CreateTopic("jobs", 2, 3, nil)
c.ShareGroup("work").Alter(kafkasim.Config{"share.auto.offset.reset": "earliest", "share.delivery.count.limit": 3})
p := c.NewProducer("api", nil)
for i := range 12 {
	p.Send("jobs", fmt.Sprint("k", i), fmt.Sprint("v", i))
}
x := c.NewShareConsumer("x", kafkasim.Config{"group.id": "work", "share.acknowledgement.mode": "explicit"}).Subscribe("jobs")
y := c.NewShareConsumer("y", kafkasim.Config{"group.id": "work"}).Subscribe("jobs")
c.RunFor(12 * time.Second)
for i, r := range x.Poll(time.Second).Records {
	x.Acknowledge(r, []string{"accept", "release", "reject", "renew"}[i%4])
}
x.Commit()
y.Poll(time.Second)
x.Poll(time.Second)
y.Work(kafkasim.ShareWork{PerRecord: 3 * time.Millisecond})
c.RunFor(time.Second)
x.Crash()
y.StopWork().Close()
c.RunFor(time.Minute)
c.ShareGroup("work").AlterOffset("jobs", 0, 1)
c.ShareGroup("work").ResetOffsets("jobs", "--to-earliest").Execute()
before, script := c.Hash(), string(c.Script())`)
	if ex.Status() != "ok" {
		t.Fatal(ex.Transcript())
	}
	script := c.Execute("fmt.Print(script)").Text("stdout")
	if !strings.Contains(script, `"renew"`) {
		t.Fatalf("the script renews nothing: %.500s", script)
	}
	if ex = c.Execute(script); ex.Status() != "ok" {
		t.Fatal(ex.Transcript())
	}
	if ex = c.Execute("c.Hash() == before && c.Hash() != 0"); ex.Result() != "true" {
		t.Errorf("the script comes to another state: %s", ex.Transcript())
	}
}
