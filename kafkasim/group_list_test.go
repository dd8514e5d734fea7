package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// O-8, O-40: the lists of groups, of every type.
func TestListGroups(t *testing.T) {
	c, _ := filled(2, 4)
	reader(c, "x", Config{"group.id": "old"}).Work(Work{})
	reader(c, "y", Config{"group.id": "new", "group.protocol": "consumer"}).Work(Work{})
	c.NewShareConsumer("s", Config{"group.id": "shared"}).Subscribe("orders")
	c.ShareConsumer("s").Poll(time.Second)
	c.RunFor(10 * time.Second)
	want := `GROUP                     TYPE                 STATE
new                       Consumer             Stable
old                       Classic              Stable
`
	if got := unpadded(c.ListGroups("--state", "--type").String()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.ListGroups().String(); got != "new\nold\n" {
		t.Errorf("%q", got)
	}
	want = `GROUP                TYPE                 PROTOCOL
new                  Consumer             consumer
old                  Classic              consumer
shared               Share                share
`
	if got := unpadded(c.AllGroups().String()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := mistake(t, func() { c.ListGroups("--states") }); !strings.Contains(got, `did you mean "--state"`) {
		t.Errorf("%s", got)
	}
}

// unpadded is a text without blanks at the ends of its lines.
func unpadded(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Lag in time: for how long the first record that is not committed has been there.
func TestLagInTime(t *testing.T) {
	c, p := filled(2, 0)
	x := reader(c, "x", nil).Work(Work{Commit: "after"})
	c.RunFor(6 * time.Second)
	p.SendRecord(Record{Topic: "orders", Partition: 0, Value: "a"})
	c.RunFor(2 * time.Second)
	if d := c.Group("g").Lag().FarthestBehind(); d != 0 {
		t.Errorf("behind by %v when all is committed", d)
	}
	x.StopWork()
	sent := c.Now()
	p.SendRecord(Record{Topic: "orders", Partition: 0, Value: "b"})
	c.RunFor(5 * time.Second)
	p.SendRecord(Record{Topic: "orders", Partition: 0, Value: "c"})
	c.RunFor(5 * time.Second)
	l := c.Group("g").Lag()
	if got, want := l.Behind("orders", 0), c.Now()-sent; got != want || l.FarthestBehind() != want || l.Of("orders", 0) != 2 {
		t.Errorf("behind by %v and %d records, want %v", got, l.Of("orders", 0), want)
	}
	if l.Behind("orders", 1) != 0 {
		t.Errorf("the other partition is behind by %v", l.Behind("orders", 1))
	}
}
