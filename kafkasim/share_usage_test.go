package kafkasim

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A caller's mistakes with share groups are sentences: where, what, and what would have been right.
func TestShareMistakesAreSentences(t *testing.T) {
	c, _ := shareWorld(t, 1, nil)
	implicit := c.NewShareConsumer("i", Config{"group.id": "work"}).Subscribe("jobs")
	x := c.NewShareConsumer("x", explicit)
	record := ShareRecord{Polled: Polled{Topic: "jobs", Partition: 0, Offset: 7}}
	g := func() *ShareGroup { return c.ShareGroup("work") }
	for _, m := range []struct {
		want string
		call func()
	}{
		{`share consumer "a": a share consumer needs a group.id, such as "jobs"`, func() { c.NewShareConsumer("a", nil) }},
		{`share consumer "a": auto.offset.reset cannot be set when using a share group (ConfigException); the group has share.auto.offset.reset`, func() { c.NewShareConsumer("a", Config{"group.id": "g", "auto.offset.reset": "earliest"}) }},
		{`share consumer "a": session.timeout.ms cannot be set when using a share group`, func() { c.NewShareConsumer("a", Config{"group.id": "g", "session.timeout.ms": 1}) }},
		{`share consumer "a": share.acknowledgement.mode=sometimes: want implicit or explicit`, func() { c.NewShareConsumer("a", Config{"group.id": "g", "share.acknowledgement.mode": "sometimes"}) }},
		{`share consumer "a": Kafka 4.0 has no share groups`, func() { New(World{Kafka: "4.0"}).NewShareConsumer("a", Config{"group.id": "g"}) }},
		{`share consumer "a": share.acquire.mode=record_limit: Kafka 4.1 has no such mode; it came with 4.2 (KIP-1206)`, func() {
			New(World{Kafka: "4.1"}).NewShareConsumer("a", Config{"group.id": "g", "share.acquire.mode": "record_limit"})
		}},
		{`ShareConsumer("ii"): there is no share consumer "ii"`, func() { c.ShareConsumer("ii") }},
		{`there is no topic "job" - did you mean "jobs"?`, func() { x.Subscribe("job") }},
		{`topic "jobs" is named twice`, func() { x.Subscribe("jobs", "jobs") }},
		{`Consumer is not subscribed to any topics (IllegalStateException)`, func() { x.Poll(time.Second) }},
		{`there is no acknowledgement "accepted" - did you mean "accept"?`, func() { x.Acknowledge(record, "accepted") }},
		{`Implicit acknowledgement of delivery is being used (IllegalStateException)`, func() { implicit.Acknowledge(record, "accept") }},
		{`The record cannot be acknowledged (IllegalStateException): offset 7 of jobs-0`, func() { x.Acknowledge(record, "accept") }},
		{`records can be released or rejected only with share.acknowledgement.mode=explicit`, func() { implicit.Work(ShareWork{Release: []string{"a"}}) }},
		{`a share group has no property "share.offset.reset" - did you mean "share.auto.offset.reset"?`, func() { g().Alter(Config{"share.offset.reset": "latest"}) }},
		{`share.auto.offset.reset=none: want latest, earliest or by_duration:D`, func() { g().Alter(Config{"share.auto.offset.reset": "none"}) }},
		{`share.record.lock.duration.ms=1000: want 15000 to 60000, which the brokers'`, func() { g().Alter(Config{"share.record.lock.duration.ms": 1000}) }},
		{`share.delivery.count.limit=11: want 2 to 10`, func() { g().Alter(Config{"share.delivery.count.limit": 11}) }},
		{`share.partition.max.record.locks=99: want 100 to 4000`, func() { g().Alter(Config{"share.partition.max.record.locks": 99}) }},
		{`share.heartbeat.interval.ms=100: want 5000 to 15000`, func() { g().Alter(Config{"share.heartbeat.interval.ms": 100}) }},
		{`share.renew.acknowledge.enable=perhaps: want true or false`, func() { g().Alter(Config{"share.renew.acknowledge.enable": "perhaps"}) }},
		{`share.delivery.count.limit: in Kafka 4.2 that is the brokers' to say (group.share.delivery.count.limit)`, func() {
			New(World{Kafka: "4.2"}).ShareGroup("g").Alter(Config{"share.delivery.count.limit": 3})
		}},
		{`World.Config: group.share.record.lock.duration.ms=5000 must be between group.share.min.record.lock.duration.ms=15000`, func() { New(World{Config: Config{"group.share.record.lock.duration.ms": 5000}}) }},
		{`group.share.max.share.sessions=10 must be greater than or equal to group.share.max.size=200`, func() { New(World{Config: Config{"group.share.max.share.sessions": 10}}) }},
		{`there is no option "--offset" - did you mean "--offsets"?`, func() { g().Describe("--offset") }},
		{`only one of --members, --offsets and --state can be asked for`, func() { g().Describe("--members", "--state") }},
		{`--state is named twice`, func() { g().Describe("--state", "--state") }},
		{`--to-datetime: the simulator has no calendar; want --to-earliest or --to-latest`, func() { g().ResetOffsets("jobs", "--to-datetime") }},
		{`there is no scenario "--to-earlier" - did you mean "--to-earliest"?`, func() { g().ResetOffsets("jobs", "--to-earlier") }},
		{`topic "jobs" has no partition 1`, func() { g().AlterOffset("jobs", 1, 0) }},
		{`offset -1: want 0 or more`, func() { g().AlterOffset("jobs", 0, -1) }},
		{`a group needs an id`, func() { c.ShareGroup("") }},
	} {
		if got := mistake(t, m.call); !strings.Contains(got, m.want) {
			t.Errorf("%q, want %q", got, m.want)
		}
	}
	x.Close()
	if got := mistake(t, func() { x.Poll(time.Second) }); !strings.Contains(got, "this share consumer is closed") {
		t.Error(got)
	}
}

// busyShares is a world with records acquired, a lock renewed and acknowledgements on their way.
func busyShares(t testing.TB) *Cluster {
	c, p := shareWorld(t, 2, Config{"group.share.delivery.count.limit": 4})
	for i := range 12 {
		p.Send("jobs", fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	y := c.NewShareConsumer("y", Config{"group.id": "work"}).Subscribe("jobs")
	x := c.NewShareConsumer("x", explicit).Subscribe("jobs")
	c.RunFor(12 * time.Second)
	r := x.Poll(5 * time.Second)
	for i, rec := range r.Records {
		x.Acknowledge(rec, []string{"accept", "release", "reject", "renew"}[i%4])
	}
	x.Commit()
	y.Poll(time.Second)
	x.Poll(time.Second)
	y.Work(ShareWork{PerRecord: 3 * time.Millisecond})
	c.Broker(dies(c)).Crash()
	c.RunFor(7 * time.Second)
	return c
}

// dies is a broker that does not lead jobs-0.
func dies(c *Cluster) int { return c.Partition("jobs", 0).Leader%3 + 1 }

// A world is saved and loaded with records acquired, forked in the middle, and goes on in the same way; its script has every
// verb.
func TestShareGroupsAreSavedAndForked(t *testing.T) {
	c := busyShares(t)
	acquired := 0
	for _, g := range c.View().ShareGroups {
		for i := range g.Partitions {
			acquired += g.Partitions[i].Acquired("")
		}
	}
	if acquired == 0 {
		t.Fatal("nothing is acquired")
	}
	path := filepath.Join(t.TempDir(), "shares")
	c.Save(path)
	l, f := Load(path), c.Fork()
	for _, other := range []*Cluster{l, f, busyShares(t)} {
		if other.Hash() != c.Hash() {
			t.Errorf("hash %x, want %x", other.Hash(), c.Hash())
		}
	}
	past := c.At(c.Now() - 3*time.Second).ShareGroup("work").String()
	for _, x := range []*Cluster{c, l, f} {
		x.Broker(dies(x)).Start()
		x.RunFor(40 * time.Second)
	}
	if c.Hash() != l.Hash() || c.Hash() != f.Hash() {
		t.Errorf("after 40 s: %x, loaded %x, forked %x", c.Hash(), l.Hash(), f.Hash())
	}
	if past == c.ShareGroup("work").String() {
		t.Error("the past is the present")
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
	script := c.Script().String()
	for _, verb := range []string{`NewShareConsumer("x"`, `Subscribe("jobs")`, `"renew")`, `Commit()`, `Work(kafkasim.ShareWork{PerRecord: 3 * time.Millisecond`, `c.ShareGroup("work").Alter(`} {
		if !strings.Contains(script, verb) {
			t.Errorf("the script has no %s:\n%s", verb, script)
		}
	}
}

// The tool's text, blank for blank (O-41; ShareGroupCommand).
func TestShareGroupToolOutput(t *testing.T) {
	c, p := shareWorld(t, 2, nil)
	describe := func(options ...string) string {
		out := c.ShareGroup("work").Describe(options...).String()
		for _, m := range c.ShareGroup("work").Members {
			out = strings.ReplaceAll(out, m.ID, "member-"+m.ClientID+strings.Repeat("x", len(m.ID)-8))
		}
		return out
	}
	if got, want := describe(), "\nError: Executing share group command failed due to org.apache.kafka.common.errors.GroupIdNotFoundException: Group work not found.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	x := c.NewShareConsumer("x", explicit).Subscribe("jobs")
	c.RunFor(12 * time.Second)
	for i := range 3 {
		p.SendRecord(Record{Topic: "jobs", Partition: 0, Value: fmt.Sprint(i)})
	}
	r := x.Poll(time.Second)
	for _, rec := range r.Records[1:] {
		x.Acknowledge(rec, "accept")
	}
	x.Commit()
	at := c.ShareGroup("work").Coordinator
	coordinator := fmt.Sprintf("broker%d:9092  (%d)", at, at)
	id := "member-x" + strings.Repeat("x", 14)
	for _, w := range [][2]string{
		{"", "\nGROUP           TOPIC           PARTITION  START-OFFSET  LAG\nwork            jobs            0          0             1\nwork            jobs            1          -             -\n"},
		{"--verbose", "\nGROUP           TOPIC           PARTITION  LEADER-EPOCH  START-OFFSET  LAG\nwork            jobs            0          0             0             1\nwork            jobs            1          -             -             -\n"},
		{"--state", "\nGROUP           COORDINATOR (ID)          STATE           #MEMBERS\nwork            " + fmt.Sprintf("%-25s", coordinator) + " Stable          1\n"},
		{"--state --verbose", "\nGROUP           COORDINATOR (ID)          STATE           GROUP-EPOCH  ASSIGNMENT-EPOCH  #MEMBERS\nwork            " + fmt.Sprintf("%-25s", coordinator) + " Stable          3            3                 1\n"},
		{"--members", "\nGROUP           CONSUMER-ID            HOST            CLIENT-ID       #PARTITIONS  ASSIGNMENT\nwork            " + id + " /x              x               2            jobs:0,1\n"},
		{"--members --verbose", "\nGROUP           CONSUMER-ID            HOST            CLIENT-ID       #PARTITIONS  MEMBER-EPOCH  ASSIGNMENT\nwork            " + id + " /x              x               2            3             jobs:0,1\n"},
	} {
		if got := describe(strings.Fields(w[0])...); got != w[1] {
			t.Errorf("%s:\n%q\n%q", w[0], got, w[1])
		}
	}
	if got := c.ShareGroup("work").ResetOffsets("jobs", "--to-latest").String(); got != "Share group 'work' is not empty." {
		t.Errorf("%q", got)
	}
	if got := c.ShareGroup("work").AlterOffset("jobs", 0, 1); got.Error != "NON_EMPTY_GROUP" {
		t.Error(got)
	}
	x.Close()
	if got := describe("--members"); got != "\nShare group 'work' has no active members.\n" {
		t.Errorf("%q", got)
	}
	reset := c.ShareGroup("work").ResetOffsets("jobs", "--to-latest")
	if got := reset.Execute(); got.Error != "" || reset.New[0] != 3 {
		t.Error(got, reset)
	}
	if got := describe(); !strings.Contains(got, "jobs            0          3             0\n") {
		t.Errorf("%q", got)
	}
	if got := c.ShareGroup("work").DeleteOffsets("jobs"); got.Error != "" {
		t.Error(got)
	}
	if got := describe(); got != "\nShare group 'work' has no offset information.\n" {
		t.Errorf("%q", got)
	}
	if got := c.ShareGroup("work").DeleteOffsets("jobs"); got.Error != "UNKNOWN_TOPIC_OR_PARTITION" {
		t.Error(got)
	}
}

// Q54: one long job at a time over many workers, on one partition. A consumer group lets one of three work, a share group all.
func TestOneLongJobAtATimeQ54(t *testing.T) {
	const jobs, each = 12, time.Second
	c := New(World{Brokers: 3, Config: Config{"group.initial.rebalance.delay.ms": 0}})
	c.CreateTopic("jobs", 1, 3, nil)
	c.ShareGroup("queue").Alter(Config{"share.auto.offset.reset": "earliest"})
	p := c.NewProducer("api", Config{"linger.ms": 0})
	for i := range 3 {
		c.NewConsumer(fmt.Sprint("c", i), Config{"group.id": "readers", "auto.offset.reset": "earliest", "max.poll.records": 1}).Subscribe("jobs")
		c.NewShareConsumer(fmt.Sprint("w", i), Config{"group.id": "queue", "max.poll.records": 1, "share.acquire.mode": "record_limit"}).Subscribe("jobs")
	}
	c.RunFor(15 * time.Second)
	for i := range 3 {
		c.Consumer(fmt.Sprint("c", i)).Work(Work{PerRecord: each})
		c.ShareConsumer(fmt.Sprint("w", i)).Work(ShareWork{PerRecord: each})
	}
	c.RunFor(5 * time.Second)
	for i := range jobs {
		p.Send("jobs", nil, fmt.Sprint("job ", i))
	}
	c.RunFor(6 * time.Second)
	readers, queue, busy := 0, 0, 0
	for i := range 3 {
		n := int(c.Consumer(fmt.Sprint("c", i)).Processed().Count)
		readers += n
		if n > 0 {
			busy++
		}
		queue += len(c.ShareConsumer(fmt.Sprint("w", i)).Processed())
	}
	if busy != 1 || readers >= 7 || queue != jobs {
		t.Errorf("in 6 s the consumer group has done %d jobs by %d members, the share group %d of %d", readers, busy, queue, jobs)
	}
}
