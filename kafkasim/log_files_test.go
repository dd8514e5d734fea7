package kafkasim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The files of a log: segments roll when their index is full, which has room for four entries of time here; indexes are
// cut to what they hold when a segment is sealed (R7.1).
func TestLogFiles(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, Config{"segment.index.bytes": 60, "index.interval.bytes": 1000})
	p := c.NewProducer("checkout", Config{"linger.ms": 0})
	for range 11 {
		p.Send("orders", nil, strings.Repeat("x", 930))
		c.RunFor(10 * time.Millisecond)
	}
	p.Flush()
	// A batch is 1000 bytes. Each second one comes after more than 1000 bytes and has an entry; with the fourth of time
	// the segment is full.
	want := `broker 1, orders-0
BYTES  FILE
32     00000000000000000000.index
9000   00000000000000000000.log
48     00000000000000000000.timeindex
56     00000000000000000009.index
2000   00000000000000000009.log
56     00000000000000000009.snapshot
60     00000000000000000009.timeindex
8      leader-epoch-checkpoint
43     partition.metadata`
	if got := c.LogFiles("orders", 0).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if s := c.Partition("orders", 0).Logs[0].Segments; len(s) != 2 || s[1].BaseOffset != 9 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []struct {
		do   func()
		want string
	}{
		{func() { c.LogFiles("order", 0) }, `did you mean "orders"`},
		{func() { c.LogFiles("orders", 1) }, "orders"},
		{func() { c.LogFiles("orders", 0, 1, 1) }, "2 brokers are given"},
		{func() { c.CreateTopic("x", 1, 1, Config{"segment.index.bytes": 3}) }, "want at least 4"},
		{func() { c.CreateTopic("x", 1, 1, Config{"segment.jitter.ms": -1}) }, "want at least 0"},
	} {
		if err := usage(bad.do); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("got %v, want a sentence with %q", err, bad.want)
		}
	}
}

// The transaction index has an entry for each transaction that was aborted, in the segment of its marker.
func TestTransactionIndexFile(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 1})
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("checkout", Config{"transactional.id": "tx"})
	for i := range 3 {
		p.Begin()
		p.Send("orders", "k", fmt.Sprint(i))
		p.Flush()
		p.Abort()
	}
	c.RunFor(time.Second)
	if got := c.LogFiles("orders", 0).String(); !strings.Contains(got, "102       00000000000000000000.txnindex") {
		t.Error(got)
	}
}

// With segment.jitter.ms the partitions of a topic do not roll all at once, and none later than segment.ms says.
func TestSegmentJitter(t *testing.T) {
	rolls := func(jitter int) (at []string) {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("orders", 4, 1, Config{"segment.ms": 60_000, "segment.jitter.ms": jitter})
		p := c.NewProducer("checkout", Config{"linger.ms": 0})
		for range 70 {
			for i := range 4 {
				p.SendRecord(Record{Topic: "orders", Partition: i, Value: "x"})
			}
			c.RunFor(time.Second)
		}
		for i := range 4 {
			at = append(at, fmt.Sprint(c.Partition("orders", i).Logs[0].Segments[1].BaseOffset))
		}
		return at
	}
	if got := fmt.Sprint(rolls(0)); got != "[61 61 61 61]" {
		t.Errorf("without jitter the segments roll at %s, want all at the 61st second", got)
	}
	got := rolls(30_000)
	different := map[string]bool{}
	for _, x := range got {
		different[x] = true
		if x > "61" || x < "30" {
			t.Errorf("with a jitter of half the time a segment rolled at %s", x)
		}
	}
	if len(different) < 3 {
		t.Errorf("with jitter the segments roll at %s", got)
	}
}
