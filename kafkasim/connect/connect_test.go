package connect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/simtest"
)

func orders(n int) *Database {
	db := NewDatabase()
	for i := range n {
		db.Table("orders").Insert(fmt.Sprintf("user-%d", i%5), fmt.Sprintf("order %d", i))
	}
	return db
}

var (
	source = kafkasim.Config{"connector.class": "TableSource", "tables": "orders", "topic.prefix": "db-"}
	sink   = kafkasim.Config{"connector.class": "TableSink", "topics": "db-orders", "table": "copy"}
)

func world() *kafkasim.Cluster { return kafkasim.New(kafkasim.World{Brokers: 3, Seed: 3}) }

// with is a configuration with more in it.
func with(conf kafkasim.Config, more ...any) kafkasim.Config {
	out := kafkasim.Config{}
	for k, v := range conf {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// K-1, K-2, K-8, K-9: from a table to a table, each row once, with the offsets where Connect keeps them.
func TestFromTableToTable(t *testing.T) {
	c, db := world(), orders(250)
	k := New(c, db, nil)
	k.StartWorker("w1")
	k.Create("db", source)
	k.Create("copy", sink)
	k.RunFor(30 * time.Second)
	if got := db.Table("copy"); got.Count() != 250 || got.Repeated() != 0 {
		t.Fatalf("%s\n%s\n%s", got, k.Status(), k.Status().Story())
	}
	if dump := c.DumpLog(offsetTopic, offsetPartition(t, c)); strings.Contains(dump.String(), "incrementing") {
		t.Errorf("an offset was written before offset.flush.interval.ms:\n%s", dump)
	}
	k.RunFor(40 * time.Second)
	if dump := c.DumpLog(offsetTopic, offsetPartition(t, c)).String(); !strings.Contains(dump, `["db",{"table":"orders"}]`) || !strings.Contains(dump, `{"incrementing":250}`) {
		t.Errorf("no offset after offset.flush.interval.ms:\n%s", dump)
	}
	if g := c.Group("connect-copy"); g.Lag().Of("db-orders", 0) != 0 {
		t.Errorf("the sink has committed, and the lag is %s\n%s", g.Lag(), g)
	}
	db.Table("orders").Insert("late", "one more")
	k.RunFor(10 * time.Second)
	if got := db.Table("copy"); got.Count() != 251 || got.Repeated() != 0 {
		t.Error(got)
	}
}

// offsetPartition is where the offset of db's orders lies.
func offsetPartition(t *testing.T, c *kafkasim.Cluster) int {
	t.Helper()
	for i, p := range c.Topic(offsetTopic).Partitions {
		if p.HighWatermark > 0 {
			return i
		}
	}
	return 0
}

// K-8: a source that dies begins behind the last offset that was written down, so that rows come twice; the sink of a
// table that takes rows by their keys does not mind (K-9).
func TestACrashRepeatsRows(t *testing.T) {
	c, db := world(), orders(50)
	k := New(c, db, kafkasim.Config{"scheduled.rebalance.max.delay.ms": 0})
	w := k.StartWorker("w1")
	k.Create("db", source)
	k.Create("copy", sink)
	k.Create("table", with(sink, "table", "by-key", "insert.mode", "upsert"))
	k.RunFor(70 * time.Second) // all written down
	for i := range 20 {
		db.Table("orders").Insert("late", fmt.Sprint("late ", i))
	}
	k.RunFor(10 * time.Second) // sent and put, and not written down
	if n := db.Table("copy").Count(); n != 70 {
		t.Fatal(n)
	}
	w.Crash()
	k.RunFor(15 * time.Second)
	w.Start()
	k.RunFor(2 * time.Minute)
	// The source sends 20 again; the sink reads those and the 20 that it had put before.
	if n := c.Partition("db-orders", 0).HighWatermark; n != 90 {
		t.Errorf("the topic has %d records, want 50 + 20 + 20 again", n)
	}
	if got := db.Table("copy"); got.Repeated() != 40 {
		t.Errorf("%d rows are repeated, want 20 from the source and 20 from the sink", got.Repeated())
	}
	if n := db.Table("by-key").Count(); n != 6 {
		t.Errorf("%d rows by key, want 6", n)
	}
}

// A worker that stops in order repeats nothing.
func TestStoppingRepeatsNothing(t *testing.T) {
	c, db := world(), orders(50)
	k := New(c, db, nil)
	w := k.StartWorker("w1")
	k.Create("db", source)
	k.Create("copy", sink)
	k.RunFor(20 * time.Second)
	w.Stop()
	k.RunFor(time.Minute)
	w.Start()
	k.RunFor(6 * time.Minute)
	if got := db.Table("copy"); got.Count() != 50 || got.Repeated() != 0 {
		t.Errorf("%s\n%s", got, k.Status().Story())
	}
}

// K-6: what a lost worker had waits for it; when it is back it gets it again, when the delay is over.
func TestALostWorkersTasksWait(t *testing.T) {
	for _, back := range []bool{true, false} {
		k := New(world(), orders(10), kafkasim.Config{"scheduled.rebalance.max.delay.ms": 60000})
		for _, w := range []string{"w1", "w2", "w3"} {
			k.StartWorker(w)
		}
		k.RunFor(10 * time.Second)
		k.Create("copy", with(sink, "tasks.max", 6))
		k.RunFor(10 * time.Second)
		had := k.Worker("w2").Has()
		if len(had) != 2 {
			t.Fatalf("w2 has %v\n%s", had, k.Status().Story())
		}
		others := fmt.Sprint(k.Worker("w1").Has(), k.Worker("w3").Has())
		k.Worker("w2").Crash()
		k.RunFor(15 * time.Second)
		if s := k.Status(); s.Delay == 0 || s.Item(had[0]).State != "UNASSIGNED" {
			t.Errorf("%s\n%s", s, s.Story())
		}
		if back {
			k.Worker("w2").Start()
		}
		k.RunFor(30 * time.Second)
		if now := fmt.Sprint(k.Worker("w1").Has(), k.Worker("w3").Has()); now != others {
			t.Errorf("while the delay ran the others went from %s to %s", others, now)
		}
		if has := k.Worker("w2").Has(); len(has) != 0 {
			t.Errorf("while the delay ran w2 was given %v", has)
		}
		k.RunFor(30 * time.Second)
		s := k.Status()
		if s.Delay > 0 || s.Item(had[0]).State != "RUNNING" {
			t.Errorf("after the delay: %s\n%s", s, s.Story())
		}
		if back && !slices.Equal(k.Worker("w2").Has(), had) {
			t.Errorf("w2 is back and has %v, not %v\n%s", k.Worker("w2").Has(), had, s.Story())
		}
	}
}

// K-4, K-5, K-7: a new worker gets its share, in a round that revokes and one that gives; what does not move goes on.
func TestANewWorkerGetsItsShare(t *testing.T) {
	k := New(world(), orders(10), nil)
	k.StartWorker("w1")
	k.Create("copy", with(sink, "tasks.max", 4))
	k.RunFor(10 * time.Second)
	kept := k.Worker("w1").tasks[3]
	before := k.Status().Rounds
	k.StartWorker("w2")
	k.RunFor(10 * time.Second)
	if a, b := k.Worker("w1").Has(), k.Worker("w2").Has(); fmt.Sprint(a, b) != "[copy copy-2 copy-3] [copy-0 copy-1]" {
		t.Errorf("%v %v\n%s", a, b, k.Status().Story())
	}
	if k.Status().Rounds-before != 2 {
		t.Errorf("%d rounds, want one that revokes and one that gives", k.Status().Rounds-before)
	}
	if now := k.Worker("w1").tasks[1]; now != kept || now.consumer == nil {
		t.Error("a task that did not move was started again")
	}
}

// K-11: one record that cannot be read fails the task, which nobody restarts; with errors.tolerance=all it is skipped, and
// lies in the dead letter queue as it came.
func TestPoisonAndTheDeadLetterQueue(t *testing.T) {
	c, db := world(), NewDatabase()
	c.CreateTopic("db-orders", 1, 3, nil)
	p := c.NewProducer("p", nil)
	p.Send("db-orders", "a", `{"n": 1}`)
	p.Send("db-orders", "b", "poison")
	p.Send("db-orders", "c", `"text"`)
	p.Flush()
	k := New(c, db, kafkasim.Config{"value.converter": "org.apache.kafka.connect.json.JsonConverter"})
	k.StartWorker("w1")
	k.Create("strict", with(sink, "table", "strict"))
	k.Create("lenient", with(sink, "table", "lenient", "errors.tolerance", "all", "errors.deadletterqueue.topic.name", "dlq",
		"errors.deadletterqueue.context.headers.enable", true))
	rounds := k.Status().Rounds
	k.RunFor(time.Minute)
	if s := k.Status().Item("strict-0"); s.State != "FAILED" || !strings.Contains(s.Why, "Tolerance exceeded in error handler") || !strings.Contains(s.Why, "db-orders-0 offset 1") {
		t.Error(s)
	}
	if n := k.Status().Rounds - rounds; n > 2 {
		t.Errorf("a failed task made a rebalance: %s", k.Status().Story())
	}
	if rows := db.Table("lenient").Rows(); fmt.Sprint(rows) != "[{a {\"n\":1}} {c text}]" {
		t.Error(rows)
	}
	x := c.NewConsumer("look", kafkasim.Config{"auto.offset.reset": "earliest"}).Assign("dlq")
	got := x.Poll(time.Second).Records
	if len(got) != 1 || got[0].Value != "poison" || got[0].Key != "b" || got[0].Headers[0] != (kafkasim.Header{Key: "__connect.errors.topic", Value: "db-orders"}) {
		t.Errorf("%+v", got)
	}
	k.Restart("strict", 0)
	k.RunFor(10 * time.Second)
	if s := k.Status().Item("strict-0"); s.State != "FAILED" || !strings.Contains(s.Why, "offset 1") {
		t.Errorf("the poison is still there: %v", s)
	}
}

// K-2: a standalone worker keeps its offsets in a file, and nobody takes over.
func TestStandalone(t *testing.T) {
	c, db := world(), orders(30)
	k := Standalone(c, db, nil)
	k.Create("db", source)
	k.RunFor(70 * time.Second)
	if k.hasTopic(offsetTopic) {
		t.Error("a standalone worker has made " + offsetTopic)
	}
	k.Worker("standalone").Crash()
	k.RunFor(time.Minute)
	if s := k.Status().Item("db-0"); s.State != "UNASSIGNED" {
		t.Error(s)
	}
	k.Worker("standalone").Start()
	k.RunFor(6 * time.Minute)
	if n := c.Partition("db-orders", 0).HighWatermark; n != 30 {
		t.Errorf("%d records, want 30: the file says where to go on\n%s", n, k.Status().Story())
	}
}

// The same commands give the same bytes; the cluster's history repeats what Connect's clients did; and on a fork New goes
// on from what the topics say.
func TestDeterministicAndOnAFork(t *testing.T) {
	run := func() (*kafkasim.Cluster, *Connect) {
		c, db := world(), orders(40)
		k := New(c, db, nil)
		k.StartWorker("w1")
		k.StartWorker("w2")
		k.Create("db", source)
		k.Create("copy", sink)
		k.RunFor(65 * time.Second)
		k.Worker("w2").Crash()
		k.RunFor(5 * time.Second)
		return c, k
	}
	a, k := run()
	b, other := run()
	if a.Hash() != b.Hash() || k.Status().String() != other.Status().String() {
		t.Errorf("two runs differ:\n%s\n%s", k.Status(), other.Status())
	}
	if a.Replay(kafkasim.World{Brokers: 3, Seed: 3}).Hash() != a.Hash() {
		t.Error("the commands in history do not lead to the same cluster")
	}
	fork, db := a.Fork(), k.db.Copy()
	there := New(fork, db, nil)
	if s := there.Status(); s.Item("db-0").State != "UNASSIGNED" || s.Item("copy-0").State != "UNASSIGNED" {
		t.Errorf("on the fork: %v", s)
	}
	db.Table("orders").Insert("x", "on the fork")
	there.StartWorker("w1")
	there.RunFor(2 * time.Minute)
	if got := db.Table("copy"); got.Count() != 41 || got.Repeated() != 0 {
		t.Errorf("%s\n%s", got, there.Status())
	}
	if n := k.db.Table("copy").Count(); n != 40 || a.Hash() != b.Hash() {
		t.Errorf("the fork touched the original: %d rows", n)
	}
}

// Time that passes without Connect is a pause of its processes.
func TestTimeWithoutConnect(t *testing.T) {
	c, db := world(), orders(5)
	k := New(c, db, nil)
	k.StartWorker("w1")
	k.Create("db", source)
	k.RunFor(time.Second)
	c.RunFor(time.Hour)
	if at := k.Status(); at.Rounds != 1 {
		t.Error(at)
	}
	start := k.flushAt
	k.RunFor(time.Second)
	if k.flushAt != start {
		t.Error("an hour without Connect counted for offset.flush.interval.ms")
	}
}

func TestUsage(t *testing.T) {
	k := New(world(), orders(1), nil)
	k.StartWorker("w1")
	k.Create("db", source)
	for _, x := range []struct {
		do   func()
		says string
	}{
		{func() { New(nil, nil, nil) }, "want a cluster"},
		{func() { New(world(), orders(1), kafkasim.Config{"groupid": "x"}) }, `did you mean "group.id"?`},
		{func() { New(world(), orders(1), kafkasim.Config{"connect.protocol": "eager"}) }, "not modelled"},
		{func() { New(world(), orders(1), kafkasim.Config{"heartbeat.interval.ms": 20000}) }, "want less than session.timeout.ms 10000"},
		{func() { k.StartWorker("w1") }, `StartWorker("w1"): it is running`},
		{func() { k.Worker("w9") }, `there is no worker of this name - did you mean "w1"?`},
		{func() { k.Create("db", source) }, "already exists (409)"},
		{func() { k.Create("x", kafkasim.Config{"connector.class": "JdbcSource"}) }, "want TableSource or TableSink"},
		{func() { k.Create("x", kafkasim.Config{"connector.class": "TableSource"}) }, "tables is missing"},
		{func() { k.Create("x", with(source, "task.max", 2)) }, `did you mean "tasks.max"?`},
		{func() { k.Create("x", with(source, "tasks.max", 0)) }, "want 1 or more"},
		{func() { k.Create("x", with(source, "tasks.max", "many")) }, "want a whole number"},
		{func() { k.Create("x", with(source, "value.converter", "io.confluent.connect.avro.AvroConverter")) }, "want StringConverter or JsonConverter"},
		{func() { k.Create("x", with(sink, "errors.deadletterqueue.topic.name", "dlq")) }, "without errors.tolerance=all"},
		{func() { k.Delete("bd") }, `did you mean "db"?`},
		{func() { k.Restart("db", 1) }, "the connector has 1 tasks"},
		{func() { k.Restart("db", 0) }, "UNASSIGNED"},
		{func() { k.RunFor(-1) }, "time does not go back"},
		{func() { Standalone(world(), orders(1), nil).StartWorker("w2") }, "standalone mode is one worker"},
		{func() { k.Worker("w1").Crash(); k.Worker("w1").Stop() }, "it is not running"},
	} {
		simtest.WantUsage(t, x.says, x.do)
	}
}
