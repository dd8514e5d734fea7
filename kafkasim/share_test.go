package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// shareWorld is three brokers, a topic of so many partitions, a producer, and a group that begins at the beginning.
func shareWorld(t testing.TB, partitions int, conf Config) (*Cluster, *Producer) {
	t.Helper()
	c := New(World{Brokers: 3, Config: conf})
	c.CreateTopic("jobs", partitions, 3, nil)
	c.ShareGroup("work").Alter(Config{"share.auto.offset.reset": "earliest"})
	return c, c.NewProducer("api", Config{"linger.ms": 0})
}

// explicit are the properties of a member that acknowledges record by record.
var explicit = Config{"group.id": "work", "share.acknowledgement.mode": "explicit"}

func shareOffsets(r *ShareRecords) string {
	var out []string
	for _, x := range r.Records {
		out = append(out, x.Value)
	}
	return strings.Join(out, " ")
}

// Two members: a record goes to one of them, is accepted, released, and comes back when its lock ends (H-1, H-4 to H-6,
// H-10).
func TestShareGroupOfTwo(t *testing.T) {
	c, p := shareWorld(t, 1, nil)
	for _, v := range []string{"a", "b", "c", "d"} {
		p.Send("jobs", nil, v)
	}
	c.RunFor(time.Second)
	x := c.NewShareConsumer("x", explicit).Subscribe("jobs")
	y := c.NewShareConsumer("y", explicit).Subscribe("jobs")
	c.RunFor(12 * time.Second)
	r := x.Poll(5 * time.Second)
	if got := shareOffsets(r); got != "a b c d" {
		t.Fatalf("x got %q", got)
	}
	if got := y.Poll(time.Second); len(got.Records) != 0 {
		t.Errorf("y got what x has: %s", got)
	}
	x.Acknowledge(r.Records[0], "accept").Acknowledge(r.Records[1], "release")
	if got := x.Commit(); got.Accepted != 1 || got.Released != 1 || got.Failed != 0 {
		t.Errorf("commit: %s", got)
	}
	if got := y.Poll(time.Second); shareOffsets(got) != "b" || got.Records[0].DeliveryCount != 2 {
		t.Errorf("y got %s, want b for the second time", got)
	}
	c.RunFor(31 * time.Second)
	x.Acknowledge(r.Records[2], "accept")
	if got := x.Commit(); got.Failed != 1 || got.Error != "INVALID_RECORD_STATE" {
		t.Errorf("an acknowledgement after the lock's end: %s", got)
	}
	g := c.ShareGroup("work")
	if w := g.Partitions[0]; w.Start != 1 || w.Lag != 3 || len(w.Records) != 3 || w.Records[0].State != "Available" {
		t.Errorf("window: %+v", w)
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
}
