package kafkasim

import (
	"fmt"
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
