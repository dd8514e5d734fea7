package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
)

// What differs from run to run in the tools' output is replaced on both sides, as the recorder did.
var (
	topicIDs = regexp.MustCompile(`TopicId: \S+`)
	times    = regexp.MustCompile(`(CreateTime|crc): \d+`)
	isrs     = regexp.MustCompile(`Isr: ([\d,]*)`)
)

func plain(s string) string {
	s = topicIDs.ReplaceAllString(strings.TrimRight(s, "\n"), "TopicId: <22-character-id-00000>")
	s = times.ReplaceAllString(s, "$1: <n>")
	return isrs.ReplaceAllStringFunc(s, func(m string) string { // the order means nothing (O-22)
		ids := strings.Split(strings.TrimPrefix(m, "Isr: "), ",")
		slices.Sort(ids)
		return "Isr: " + strings.Join(ids, ",")
	})
}

// TestToolOutput compares Describe and DumpLog with the text of Kafka's own tools, to the character (O-20 to
// O-32).
func TestToolOutput(t *testing.T) {
	rec, err := load("testdata/u1-tool-output.json")
	if err != nil {
		t.Fatal(err)
	}
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1, Config: kafkasim.Config{
		"broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 300, "auto.leader.rebalance.enable": false,
	}})
	c.CreateTopic("bookings", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
	c.CreateTopic("orders", 3, 3, nil)
	c.RunFor(time.Second)
	c.Reassign("bookings", 0, 1, 2, 3)
	for p, replicas := range [][]int{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}} {
		c.Reassign("orders", p, replicas...)
	}
	c.RunFor(time.Second)
	c.ElectPreferred("orders")
	c.ElectPreferred("bookings")
	p := c.NewProducer("u1", kafkasim.Config{"enable.idempotence": false, "acks": "all"})
	p.Send("bookings", "user-1", "hello")
	p.Send("bookings", "user-2", nil)
	p.Flush()
	c.RunFor(time.Second)
	epoch := regexp.MustCompile(`partitionLeaderEpoch: \d+`) // our way there had an election more
	run := map[string]func() string{
		"kafka-topics --describe --topic orders":             func() string { return c.Describe("orders").String() },
		"kafka-topics --describe --topic bookings":           func() string { return c.Describe("bookings").String() },
		"kafka-topics --describe":                            func() string { return c.Describe().String() },
		"kafka-topics --describe --under-min-isr-partitions": func() string { return c.Describe("--under-min-isr-partitions").String() },
		"kafka-topics --describe --at-min-isr-partitions":    func() string { return c.Describe("--at-min-isr-partitions").String() },
		"kafka-dump-log --print-data-log --files bookings-0": func() string {
			return epoch.ReplaceAllString(c.DumpLog("bookings", 0).String(), "partitionLeaderEpoch: 0")
		},
	}
	compared := 0
	for i, s := range rec.Steps {
		if s.Do.name() == "kill9" {
			c.Broker(int(s.Do.num("broker", 0))).Crash()
			c.RunFor(5 * time.Second)
		}
		var want string
		if show := run[s.Do.str("cmd")]; s.Do.name() == "tool" && show != nil && json.Unmarshal(s.Saw, &want) == nil && want != "" {
			compared++
			if got := show(); plain(got) != plain(want) {
				t.Errorf("step %d, %s:\n got %q\nwant %q", i, s.Do.str("cmd"), plain(got), plain(want))
			}
		}
	}
	if compared < 5 {
		t.Errorf("only %d outputs were compared", compared)
	}
}

// memberIDs are what differs from run to run in a group's tables.
var memberIDs = regexp.MustCompile(`c1-[0-9a-f]{8}-[0-9a-f-]{27}`)

// TestGroupToolOutput compares Group.Describe with the text of kafka-consumer-groups.sh, blank by blank (O-1 to O-6).
func TestGroupToolOutput(t *testing.T) {
	rec, err := load("testdata/u1-tool-output.json")
	if err != nil {
		t.Fatal(err)
	}
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1, Config: kafkasim.Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1}})
	c.CreateTopic("orders", 3, 3, nil)
	p := c.NewProducer("p", nil)
	for partition := range 3 {
		for range partition + 1 {
			p.SendRecord(kafkasim.Record{Topic: "orders", Partition: partition, Value: "v"})
		}
	}
	c.RunFor(time.Second)
	c1 := c.NewConsumer("c1", kafkasim.Config{"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": false})
	c1.Subscribe("orders")
	for read := 0; read < 6; {
		read += len(c1.Poll(time.Second).Records)
	}
	c1.Commit()
	compared := 0
	for i, s := range rec.Steps {
		cmd := s.Do.str("cmd")
		options, is := strings.CutPrefix(cmd, "kafka-consumer-groups --group shop --describe")
		var want string
		if !is || json.Unmarshal(s.Saw, &want) != nil || want == "" {
			continue
		}
		if s.Do.str("note") == "group empty" && c.Group("shop").State != "Empty" {
			c1.Close()
			c.RunFor(time.Second)
		}
		got := memberIDs.ReplaceAllString(c.Group("shop").Describe(strings.Fields(options)...).String(), "c1-<uuid-36-characters-long-0000000000>")
		if compared++; got != want {
			t.Errorf("step %d, %s:\n got %q\nwant %q", i, cmd, got, want)
		}
	}
	if compared < 6 {
		t.Errorf("only %d outputs were compared", compared)
	}
	if got := c.Group("nosuch").Describe().String(); !strings.Contains(got, "GroupIdNotFoundException: Group nosuch not found.") {
		t.Errorf("an unknown group: %q", got)
	}
}
