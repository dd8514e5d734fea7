package kafkasim

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLongVerbsTellHowFarTheyAre(t *testing.T) {
	var said []string
	var last int64
	SetProgress(func(verb string, done, total int64) {
		if done < last || done > total {
			t.Errorf("%s: %d of %d comes after %d", verb, done, total, last)
		}
		last = done
		said = append(said, fmt.Sprintf("%s %d of %d", verb, done, total))
	})
	defer SetProgress(nil)
	c := Widget()
	c.RunFor(time.Millisecond)
	if len(said) > 0 {
		t.Errorf("short work says %q", said)
	}
	c.RunFor(20 * time.Second)
	if n := len(said); n < 3 || said[n-1] != "RunFor, ms 20000 of 20000" {
		t.Errorf("RunFor says %q", said)
	}
	said, last = nil, 0
	c.Steps(3000)
	if n := len(said); n != 3 || said[0] != "Steps 1024 of 3000" || said[n-1] != "Steps 3000 of 3000" {
		t.Errorf("Steps says %q", said)
	}
}

// Verbs that end when something holds tell how far they are on the way to the most that they may take, and
// at last that all is done; an interrupt leaves the line where it was.
func TestVerbsThatWaitTellHowFarTheyAre(t *testing.T) {
	var said []string
	SetProgress(func(verb string, done, total int64) {
		said = append(said, fmt.Sprintf("%s %d of %d", verb, done, total))
	})
	defer SetProgress(nil)
	c := New(World{Brokers: 3, Seed: 5})
	c.CreateTopic("orders", 3, 3, nil)
	p := c.NewProducer("checkout", Config{"batch.size": 100})
	x := c.NewConsumer("reader", nil)
	x.Assign("orders", 0)
	saved := filepath.Join(t.TempDir(), "saved")
	minute := func(c *Cluster) bool { return c.Now() >= 11*time.Minute }
	never := func(*Cluster) bool { return false }
	for _, v := range []struct {
		do           func()
		begins, ends string
	}{
		{func() { x.Poll(10 * time.Minute) }, "Poll, ms at most", "Poll, ms at most 600000 of 600000"},
		{func() { p.Every(20*time.Millisecond, "orders", "k"); c.RunUntil(minute, time.Hour) }, "RunUntil, ms at most", ""},
		{func() { c.RunUntil(never, time.Minute) }, "RunUntil, ms at most", "RunUntil, ms at most 60000 of 60000"},
		{func() { c.Broker(3).Crash(); c.Settle() }, "Settle, ms at most", "Settle, ms at most 300000 of 300000"},
		{func() {
			c.Save(saved)
			said = nil
			Load(saved)
		}, "Load, events", ""},
		{func() { c.Replay(World{}) }, "Replay, ms", ""},
		{func() {
			p = c.NewProducer("bulk", Config{"batch.size": 100})
			for i := range 5_000 {
				p.Send("orders", fmt.Sprint(i), "v")
			}
			p.Flush()
		}, "Flush, records", "Flush, records 5000 of 5000"},
	} {
		said = nil
		v.do()
		if n := len(said); n < 2 || !strings.HasPrefix(said[0], v.begins) || v.ends != "" && said[n-1] != v.ends {
			t.Errorf("want %s … %s, it says %q", v.begins, v.ends, said)
		}
	}

	said = nil
	ended := make(chan struct{})
	SetPoll(func() {
		if len(said) > 0 {
			runtime.Goexit()
		}
	})
	defer SetPoll(nil)
	go func() {
		defer close(ended)
		c.RunUntil(func(*Cluster) bool { return false }, time.Hour)
	}()
	<-ended
	if len(said) != 1 || !strings.HasSuffix(said[0], " of 3600000") {
		t.Errorf("interrupted, it says %q", said)
	}
}
