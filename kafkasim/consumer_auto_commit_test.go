package kafkasim

import (
	"testing"
	"time"
)

// C-61: a poll that waits for records wakes to commit, when auto.commit.interval.ms have passed, and goes on waiting.
func TestLongPollCommitsOnTime(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		c, _ := filled(1, 4)
		born := c.Now()
		x := member(c, "x", "g", Config{"group.protocol": protocol, "fetch.max.wait.ms": 20000}).Assign("orders")
		for read := 0; read < 4; {
			read += len(x.Poll(time.Second).Records)
		}
		until := func(after time.Duration) float64 {
			if n := len(x.Poll(born + after - c.Now()).Records); n != 0 {
				t.Errorf("%s: %d more records", protocol, n)
			}
			return x.Metrics().Value("commit-total")
		}
		if n := until(4990 * time.Millisecond); n != 0 {
			t.Errorf("%s: %v commits before 5 s", protocol, n)
		}
		if n := until(13 * time.Second); n != 2 {
			t.Errorf("%s: %v commits in 13 s of which 8 were one poll", protocol, n)
		}
		if p := x.state().Group.AutoCommitAt; p < (born+15*time.Second).Microseconds() || p > (born+15*time.Second+20*time.Millisecond).Microseconds() {
			t.Errorf("%s: the next is at %v", protocol, time.Duration(p)*time.Microsecond-born)
		}
	}
}
