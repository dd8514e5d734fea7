package connect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/simtest"
)

// running is a Connect cluster of two workers with a source and a sink.
func running(conf kafkasim.Config) (*kafkasim.Cluster, *Database, *Connect) {
	c, db := world(), orders(20)
	k := New(c, db, conf)
	for _, w := range []string{"w1", "w2"} {
		k.StartWorker(w)
	}
	k.Create("db", source)
	k.Create("copy", sink)
	k.RunFor(20 * time.Second)
	return c, db, k
}

// K-12: a paused connector does nothing, keeps its tasks where they are and causes no rebalance; it goes on where it was.
func TestPauseAndResume(t *testing.T) {
	c, db, k := running(nil)
	rounds := k.Status().Rounds
	k.Pause("db")
	k.Pause("copy")
	db.Table("orders").Insert("late", "paused")
	k.RunFor(10 * time.Minute) // longer than max.poll.interval.ms
	if n := c.Partition("db-orders", 0).HighWatermark; n != 20 {
		t.Errorf("a paused source has sent: %d records", n)
	}
	k.Resume("db")
	k.RunFor(10 * time.Second)
	if n := db.Table("copy").Count(); n != 20 {
		t.Errorf("a paused sink has put: %d rows", n)
	}
	if g := c.Group("connect-copy"); g.State != "Stable" || len(g.Members) != 1 {
		t.Errorf("a paused sink stays in its group: %s", g)
	}
	if s := k.ConnectorStatus("copy"); s.Connector.State != "PAUSED" || s.Tasks[0].State != "PAUSED" || s.Tasks[0].WorkerID == "" {
		t.Error(s)
	}
	k.Resume("copy")
	k.RunFor(10 * time.Second)
	if got := db.Table("copy"); got.Count() != 21 || got.Repeated() != 0 {
		t.Error(got)
	}
	if s := k.Status(); s.Rounds != rounds {
		t.Errorf("pausing made rebalances:\n%s", s.Story())
	}
	if dump := c.DumpLog(configTopic, 0).String(); !strings.Contains(dump, `target-state-copy`) || !strings.Contains(dump, `{"state":"PAUSED"}`) {
		t.Error("the target state is not in the configuration topic")
	}
}

// KIP-875: a stopped connector has no tasks, and only then can its offsets be altered and reset.
func TestStopAndOffsets(t *testing.T) {
	c, db, k := running(kafkasim.Config{"offset.flush.interval.ms": 5000})
	for _, name := range []string{"db", "copy"} {
		if r := k.ResetOffsets(name); r.Code != 400 || !strings.HasPrefix(r.String(), "400: Connectors must be in the STOPPED state before their offsets can be modified.") {
			t.Error(r)
		}
		k.Stop(name)
	}
	if got := k.Offsets("db").String(); got != `{"offsets":[{"offset":{"incrementing":20},"partition":{"table":"orders"}}]}` {
		t.Error(got)
	}
	k.RunFor(10 * time.Second)
	if got := k.Offsets("copy").String(); got != `{"offsets":[{"offset":{"kafka_offset":20},"partition":{"kafka_partition":0,"kafka_topic":"db-orders"}}]}` {
		t.Error(got)
	}
	want := `{
  "name": "db",
  "connector": {
    "state": "STOPPED",
    "worker_id": "w1:8083"
  },
  "tasks": [],
  "type": "source"
}`
	if got := k.ConnectorStatus("db").String(); strings.Replace(got, "w2:", "w1:", 1) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r := k.AlterOffsets("db", map[string]int{"orders": 15}); !r.OK() {
		t.Error(r)
	}
	if r := k.AlterOffsets("copy", map[string]int{"db-orders-0": 18}); !r.OK() {
		t.Error(r)
	}
	// A fork knows what the topics know: the connectors are STOPPED there, too.
	if s := New(c.Fork(), db.Copy(), nil).ConnectorStatus("copy"); len(s.Tasks) != 0 {
		t.Errorf("on a fork: %s", s)
	}
	k.Resume("db")
	k.Resume("copy")
	k.RunFor(20 * time.Second)
	// The source sends the last five again, the sink puts two and those five.
	if got := db.Table("copy"); got.Count() != 27 || got.Repeated() != 7 {
		t.Errorf("%s\n%s", got, k.Status())
	}
	k.Stop("copy")
	k.RunFor(10 * time.Second)
	if r := k.ResetOffsets("copy"); !r.OK() {
		t.Error(r)
	}
	k.Resume("copy")
	k.RunFor(20 * time.Second)
	if n := db.Table("copy").Count(); n != 27+25 {
		t.Errorf("after a reset the sink has %d rows, want all 25 records once more", n)
	}
	for _, x := range []struct {
		says string
		do   func()
	}{
		{"no offsets are given", func() { k.AlterOffsets("db", nil) }},
		{`the connector has no "order" - did you mean "orders"?`, func() { k.AlterOffsets("db", map[string]int{"order": 1}) }},
		{"want 0 or more", func() { k.AlterOffsets("copy", map[string]int{"db-orders-0": -1}) }},
		{`did you mean "copy"?`, func() { k.Pause("cop") }},
		{"there is no connector of this name (404)", func() { k.ConnectorStatus("x") }},
		{"distributed mode", func() {
			Standalone(world(), orders(1), kafkasim.Config{"exactly.once.source.support": "enabled"})
		}},
	} {
		simtest.WantUsage(t, x.says, x.do)
	}
}

// A table that does not answer is not what errors.tolerance is about: the sink tries again, stays in its group, and fails
// when it has tried often enough; a source waits for its table.
func TestATableThatIsDown(t *testing.T) {
	c, db, k := running(nil)
	k.Create("short", with(sink, "table", "short", "max.retries", 2, "errors.tolerance", "all"))
	k.RunFor(20 * time.Second)
	db.Table("copy").Down(true)
	db.Table("short").Down(true)
	db.Table("orders").Insert("late", "1")
	k.RunFor(20 * time.Second)
	if s := k.ConnectorStatus("short").Tasks[0]; s.State != "FAILED" || !strings.Contains(s.Trace, "Exiting WorkerSinkTask due to unrecoverable exception") || !strings.Contains(s.Trace, "after 3 tries") {
		t.Error(s)
	}
	if s := k.ConnectorStatus("copy").Tasks[0]; s.State != "RUNNING" {
		t.Error(s)
	}
	db.Table("copy").Down(false)
	db.Table("short").Down(false)
	k.RestartFailed("short")
	k.RunFor(20 * time.Second)
	for _, name := range []string{"copy", "short"} {
		if got := db.Table(name); got.Count() != 21 || got.Repeated() != 0 {
			t.Errorf("%s\n%s", got, k.Status())
		}
	}
	db.Table("copy").Down(true)
	db.Table("orders").Insert("late", "2")
	k.RunFor(time.Minute)
	if s := k.ConnectorStatus("copy").Tasks[0]; s.State != "FAILED" || !strings.Contains(s.Trace, "after 11 tries") {
		t.Error(s)
	}
	db.Table("orders").Down(true).Insert("late", "3")
	k.RunFor(time.Minute)
	if n := c.Partition("db-orders", 0).HighWatermark; n != 22 || k.ConnectorStatus("db").Tasks[0].State != "RUNNING" {
		t.Errorf("a source whose table is down: %d records, %s", n, k.ConnectorStatus("db"))
	}
}

// KIP-618: with exactly once rows and their offset are one transaction, so that a crash repeats nothing under
// read_committed, where without it what was not written down comes again (K-8).
func TestExactlyOnceSource(t *testing.T) {
	for support, repeated := range map[string]int64{"enabled": 0, "disabled": 20} {
		c, db := world(), orders(50)
		k := New(c, db, kafkasim.Config{"exactly.once.source.support": support, "scheduled.rebalance.max.delay.ms": 0})
		w := k.StartWorker("w1")
		k.Create("db", source)
		k.RunFor(70 * time.Second)
		for i := range 20 {
			db.Table("orders").Insert("late", fmt.Sprint("late ", i))
		}
		k.RunFor(10 * time.Second) // sent, and not written down where that takes a minute
		w.Crash()
		k.RunFor(15 * time.Second)
		w.Start()
		k.RunFor(2 * time.Minute)
		x := c.NewConsumer("look", kafkasim.Config{"auto.offset.reset": "earliest", "isolation.level": "read_committed"}).Assign("db-orders")
		seen, n := map[string]bool{}, int64(0)
		for range 20 {
			for _, r := range x.Poll(time.Second).Records {
				if seen[r.Value] {
					n++
				}
				seen[r.Value] = true
			}
		}
		if n != repeated || len(seen) != 70 {
			t.Errorf("%s: %d rows are there, %d of them again; want 70 and %d\n%s", support, len(seen), n, repeated, k.Status())
		}
	}
}

// A transaction that a crash leaves open is ended by the task that starts in its place.
func TestExactlyOnceEndsWhatWasOpen(t *testing.T) {
	c, db := world(), orders(10)
	k := New(c, db, kafkasim.Config{"exactly.once.source.support": "enabled", "scheduled.rebalance.max.delay.ms": 0})
	w := k.StartWorker("w1")
	k.Create("db", source)
	k.RunFor(20 * time.Second)
	task := w.tasks[0]
	task.producer.Begin()
	task.producer.Send("db-orders", "x", "never committed")
	c.RunFor(time.Second)
	w.Crash()
	k.RunFor(15 * time.Second)
	w.Start()
	db.Table("orders").Insert("late", "1")
	k.RunFor(30 * time.Second)
	x := c.NewConsumer("look", kafkasim.Config{"auto.offset.reset": "earliest", "isolation.level": "read_committed"}).Assign("db-orders")
	var got []string
	for range 5 {
		for _, r := range x.Poll(time.Second).Records {
			got = append(got, r.Value)
		}
	}
	if len(got) != 11 || got[10] != "1" {
		t.Errorf("%q\n%s", got, k.Status())
	}
}

// KIP-779: with errors.tolerance=all a row that cannot be sent is left out; without, the task fails.
func TestRowTooLarge(t *testing.T) {
	for tolerance, want := range map[string]string{"none": "FAILED", "all": "RUNNING"} {
		c, db := world(), orders(2)
		db.Table("orders").Insert("large", strings.Repeat("x", 2<<20)).Insert("after", "1")
		k := New(c, db, nil)
		k.StartWorker("w1")
		k.Create("db", with(source, "errors.tolerance", tolerance))
		k.RunFor(20 * time.Second)
		s := k.ConnectorStatus("db").Tasks[0]
		if s.State != want || want == "FAILED" && !strings.Contains(s.Trace, "RecordTooLargeException") {
			t.Errorf("%s: %+v", tolerance, s)
		}
		if n := c.Partition("db-orders", 0).HighWatermark; n != 3 {
			t.Errorf("%s: %d records", tolerance, n)
		}
	}
}
