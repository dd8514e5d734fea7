package machine

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// clients is a bench with learner-like verbs for producers and consumers.
type clients struct {
	*bench
	seen map[reflect.Type]int
}

// asked counts the requests of a kind that have come from clients.
func (c *clients) asked(kind Payload) int { return c.seen[reflect.TypeOf(kind)] }

func newClients(t testing.TB, brokers int32, tune ...func(*World)) *clients {
	return &clients{newBench(t, brokers, tune...), map[reflect.Type]int{}}
}

// quick shortens sessions and lags, as the recordings do.
func quick(w *World) {
	w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 3000, 300
	w.Broker.ReplicaLagTimeMaxMs, w.Broker.ReplicaFetchBackoffMs = 4000, 200
}

// step takes one event, as the bench does, and counts what clients ask.
func (c *clients) step() {
	c.t.Helper()
	if e, _ := c.bench.step(); e.To.IsBroker() && e.From.IsClient() {
		c.seen[reflect.TypeOf(e.Payload)]++
	}
}

// run lets d µs pass.
func (c *clients) run(d int64) {
	c.t.Helper()
	until := c.Now + d
	for {
		e, ok := c.Peek()
		if !ok || e.At > until {
			c.Now = until
			return
		}
		c.step()
	}
}

// runUntil steps until cond holds, at most limit µs.
func (c *clients) runUntil(limit int64, what string, cond func() bool) {
	c.t.Helper()
	for until := c.Now + limit; !cond(); c.step() {
		if e, ok := c.Peek(); !ok || e.At > until {
			c.t.Fatalf("not within %d µs: %s", limit, what)
		}
	}
}

func (c *clients) producer(tune ...func(*config.Producer)) int32 {
	props := defaultProducer()
	for _, f := range tune {
		f(&props)
	}
	return c.Apply(NewProducer{Name: fmt.Sprintf("producer-%d", len(c.Producers)+1), Props: props}).ID
}

func (c *clients) consumer(topic string, tune ...func(*config.Consumer)) int32 {
	props := defaultConsumer()
	for _, f := range tune {
		f(&props)
	}
	id := c.Apply(NewConsumer{Name: fmt.Sprintf("consumer-%d", len(c.Consumers)+1), Props: props}).ID
	c.Apply(Assign{Consumer: id, Topic: topic})
	return id
}

func (c *clients) sendAll(p int32, topic string, partition int32, values ...string) {
	for _, v := range values {
		c.Send(p, topic, partition, partlog.Record{Value: v, Flags: partlog.NullKey, Timestamp: c.Now / 1000}, nil)
	}
}

// settle lets a producer decide everything that it was given.
func (c *clients) settle(p int32) {
	c.t.Helper()
	c.runUntil(200_000*ms, "everything is decided", func() bool { return c.Producers[p].Undecided() == 0 })
}

// poll polls and lists "partition:offset:value" of what came.
func (c *clients) poll(id int32, timeoutMs int64) []string {
	c.t.Helper()
	c.apply(StartPoll{Consumer: id, Timeout: timeoutMs * ms})
	c.runUntil(timeoutMs*ms+1, "the poll ends", func() bool { return !c.Consumers[id].Poll.Running })
	var got []string
	for _, r := range c.Consumers[id].Poll.Records {
		for offset, x := range r.All() {
			got = append(got, fmt.Sprintf("%d:%d:%s", r.TP.Partition, offset, x.Value))
		}
	}
	return got
}

func reset(r config.Reset) func(*config.Consumer) {
	return func(p *config.Consumer) { p.AutoOffsetReset = r }
}

func maxPoll(n int32) func(*config.Consumer) {
	return func(p *config.Consumer) { p.MaxPollRecords = n }
}

func numbered(n int) []string {
	var vs []string
	for i := range n {
		vs = append(vs, fmt.Sprint(i))
	}
	return vs
}

// C-4, C-7: earliest begins at the log's start; the position moves when a poll returns records.
func TestProduceAndConsume(t *testing.T) {
	c := newClients(t, 3)
	c.topic("orders", 2, []NodeID{1, 2, 3})
	p := c.producer()
	c.sendAll(p, "orders", 0, "a", "b", "c")
	c.settle(p)
	id := c.consumer("orders")
	if got, want := c.poll(id, 1000), []string{"0:0:a", "0:1:b", "0:2:c"}; !slices.Equal(got, want) {
		t.Fatalf("polled %v, want %v", got, want)
	}
	c.sendAll(p, "orders", 0, "d")
	c.settle(p)
	c.run(2000 * ms)
	if got := c.Consumers[id].Parts[0].Position; got != 3 {
		t.Errorf("position %d before the poll, want 3", got) // C-7: the record may be fetched already
	}
	if got, want := c.poll(id, 1000), []string{"0:3:d"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
}

// C-30, C-32, C-33: latest begins at the high watermark of the moment; none throws.
func TestAutoOffsetResetC30(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	p := c.producer()
	c.sendAll(p, "orders", 0, "old")
	c.settle(p)
	latest, none := c.consumer("orders", reset(config.ResetLatest)), c.consumer("orders", reset(config.ResetNone))
	if got := c.poll(latest, 100); len(got) != 0 || c.Consumers[latest].Parts[0].Position != 1 {
		t.Errorf("latest: polled %v, position %d", got, c.Consumers[latest].Parts[0].Position)
	}
	c.sendAll(p, "orders", 0, "new")
	c.settle(p)
	if got, want := c.poll(latest, 1000), []string{"0:1:new"}; !slices.Equal(got, want) {
		t.Errorf("latest: polled %v, want %v", got, want)
	}
	for range 2 {
		if got := c.poll(none, 100); len(got) != 0 || c.Consumers[none].Poll.Error != NO_OFFSET {
			t.Errorf("none: polled %v, error %v", got, c.Consumers[none].Poll.Error)
		}
	}
	if got := NO_OFFSET.String(); got != "NoOffsetForPartitionException" {
		t.Errorf("the error is called %s", got)
	}
}

// C-6 and oracle fb1: max.poll.records 25, 60 records in each of two partitions of one broker.
func TestMaxPollRecordsC6(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1}, []NodeID{1})
	p := c.producer()
	c.sendAll(p, "orders", 0, numbered(60)...)
	c.sendAll(p, "orders", 1, numbered(60)...)
	c.settle(p)
	id := c.consumer("orders", maxPoll(25))
	var sizes []string
	for range 5 {
		got := c.poll(id, 2000)
		size, parts := fmt.Sprint(len(got)), map[byte]bool{}
		for _, r := range got {
			parts[r[0]] = true
		}
		if len(parts) == 2 {
			size += " (both)"
		}
		sizes = append(sizes, size)
	}
	if want := []string{"25", "25", "25 (both)", "25", "20"}; !slices.Equal(sizes, want) {
		t.Errorf("polls returned %v, want %v", sizes, want)
	}
}

// C-9, C-10, C-11 and oracle fb1: a paused partition keeps its buffer; seek drops it; a position out of
// range goes to the reset policy.
func TestPauseAndSeekC10(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	p := c.producer()
	c.sendAll(p, "orders", 0, numbered(60)...)
	c.settle(p)
	id := c.consumer("orders", maxPoll(10))
	step := func(what string, want string) {
		t.Helper()
		got := c.poll(id, 600)
		first := "-"
		if len(got) > 0 {
			first = got[0][2:]
		}
		if s := fmt.Sprintf("%d from %s, position %d", len(got), first, c.Consumers[id].Parts[0].Position); s != want {
			t.Errorf("%s: %s, want %s", what, s, want)
		}
	}
	step("first poll", "10 from 0:0, position 10")
	fetches := c.asked(FetchRequest{})
	c.apply(PauseConsumer{Consumer: id, Topic: "orders"})
	step("paused", "0 from -, position 10")
	c.apply(ResumeConsumer{Consumer: id, Topic: "orders"})
	step("resumed", "10 from 10:10, position 20")
	if n := c.asked(FetchRequest{}) - fetches; n != 0 {
		t.Errorf("%d fetches while the buffer had records", n) // C-5
	}
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: 5})
	step("after seek 5", "10 from 5:5, position 15")
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: 1000})
	step("after seek 1000", "10 from 0:0, position 10")
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: LatestTimestamp})
	step("after seek to the end", "0 from -, position 60")
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: EarliestTimestamp})
	step("after seek to the beginning", "10 from 0:0, position 10")
}

// C-33: a position out of range with reset none throws OffsetOutOfRangeException.
func TestOutOfRangeWithoutPolicyC33(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	p := c.producer()
	c.sendAll(p, "orders", 0, "a")
	c.settle(p)
	id := c.consumer("orders", reset(config.ResetNone))
	c.poll(id, 100)
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: 77})
	if got := c.poll(id, 500); len(got) != 0 || c.Consumers[id].Poll.Error != POSITION_OUT_OF_RANGE {
		t.Errorf("polled %v, error %v", got, c.Consumers[id].Poll.Error)
	}
	c.apply(Seek{Consumer: id, Topic: "orders", Partition: 0, Offset: 0})
	if got := c.poll(id, 500); !slices.Equal(got, []string{"0:0:a"}) {
		t.Errorf("polled %v after seek 0", got)
	}
}

// C-20: an idle consumer asks twice a second, and a new record is delivered at once.
func TestLongPollC20(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "a")
	c.settle(p)
	id := c.consumer("orders")
	c.poll(id, 100)
	before := c.asked(FetchRequest{})
	c.poll(id, 5000)
	if n := c.asked(FetchRequest{}) - before; n < 9 || n > 11 {
		t.Errorf("%d fetches in 5 s without records, want about 10", n)
	}
	c.apply(StartPoll{Consumer: id, Timeout: 5000 * ms})
	c.run(1234 * ms)
	start := c.Now
	c.sendAll(p, "orders", 0, "b")
	c.runUntil(5000*ms, "the poll ends", func() bool { return !c.Consumers[id].Poll.Running })
	// Produce 1 ms, answer to the fetch 1 ms.
	if got := (c.Now - start) / ms; got != 2 || c.Consumers[id].Poll.Count != 1 {
		t.Errorf("the record came after %d ms", got)
	}
}

// C-22: records above the high watermark are not seen.
func TestReadsBelowHighWatermarkC22(t *testing.T) {
	c := newClients(t, 3, quick)
	tp := c.topic("orders", 3, []NodeID{1, 2, 3})
	p := c.producer(func(p *config.Producer) { p.Acks, p.EnableIdempotence = config.AcksLeader, false })
	c.sendAll(p, "orders", 0, "a")
	c.settle(p)
	c.run(1000 * ms)
	c.apply(CrashBroker{Broker: 3})
	c.run(10000 * ms) // 3 leaves the ISR: below min.insync.replicas the high watermark stands still
	c.sendAll(p, "orders", 0, "b")
	c.settle(p)
	c.expectLog(1, tp, 2, 1)
	id := c.consumer("orders")
	if got, want := c.poll(id, 1000), []string{"0:0:a"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
	if got := c.poll(id, 1000); len(got) != 0 {
		t.Errorf("polled %v above the high watermark", got)
	}
}

// C-40, C-41, C-43, C-44 and oracle fc1 (C05): consumers have read up to 5 in epoch 0; an unclean election brings up
// a replica with two records, and six new ones follow. Those with a policy go on at the divergent offset;
// the one without throws.
func TestTruncationSeenByConsumersC43(t *testing.T) {
	c := newClients(t, 2, quick)
	props := topicDefaults()
	props.UncleanLeaderElectionEnable = true
	tp := c.topicWith("orders", props, []NodeID{1, 2})
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "r0", "r1")
	c.settle(p)
	c.run(2000 * ms)
	c.apply(CutLink{A: 1, B: 2}) // replication stalls: 2 leaves the ISR
	old := c.producer(func(p *config.Producer) { p.Acks, p.EnableIdempotence = config.AcksLeader, false })
	c.sendAll(old, "orders", 0, "old2", "old3", "old4")
	c.settle(old)
	c.run(10000 * ms)
	c.expectPartition(tp, 1, 0, 1, []NodeID{1}, nil)
	none, earliest, latest := c.consumer("orders", reset(config.ResetNone)), c.consumer("orders"), c.consumer("orders", reset(config.ResetLatest))
	c.apply(Seek{Consumer: none, Topic: "orders", Offset: 0})
	c.poll(latest, 100)
	c.apply(Seek{Consumer: latest, Topic: "orders", Offset: 0})
	want := []string{"0:0:r0", "0:1:r1", "0:2:old2", "0:3:old3", "0:4:old4"}
	for _, id := range []int32{none, earliest, latest} {
		if got := c.poll(id, 2000); !slices.Equal(got, want) {
			t.Fatalf("consumer %d polled %v, want %v", id, got, want)
		}
	}
	c.apply(CrashBroker{Broker: 1})
	c.run(6000 * ms)
	if r := c.registration(tp); r.Leader != 2 || r.LeaderEpoch != 1 {
		t.Fatalf("partition %+v", r)
	}
	fresh := c.producer()
	c.sendAll(fresh, "orders", 0, "new2", "new3", "new4", "new5", "new6", "new7")
	c.settle(fresh)
	want = []string{"0:2:new2", "0:3:new3", "0:4:new4", "0:5:new5", "0:6:new6", "0:7:new7"}
	for _, id := range []int32{earliest, latest} {
		if got := c.poll(id, 4000); !slices.Equal(got, want) {
			t.Errorf("consumer %d polled %v, want %v", id, got, want)
		}
	}
	got := c.poll(none, 4000)
	if poll := &c.Consumers[none].Poll; len(got) != 0 || poll.Error != LOG_TRUNCATION || poll.DivergesAt != 2 {
		t.Errorf("none: polled %v, error %v at %d; want LogTruncationException at 2", got, poll.Error, poll.DivergesAt)
	}
}

// C-41, C-44: a clean leader change validates the position and goes on without loss or repetition.
func TestLeaderChangeWhileConsuming(t *testing.T) {
	c := newClients(t, 3, quick)
	c.topic("orders", 2, []NodeID{1, 2, 3})
	p := c.producer()
	id := c.consumer("orders", reset(config.ResetNone)) // a truncation would throw
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 0})
	var got, want []string
	for i := range 60 {
		v := fmt.Sprint(i)
		want = append(want, fmt.Sprintf("0:%d:%s", i, v))
		c.sendAll(p, "orders", 0, v)
		got = append(got, c.poll(id, 100)...)
		if why := c.Consumers[id].Poll.Error; why != NONE {
			t.Fatalf("poll %d threw %v", i, why)
		}
		if i == 20 {
			c.apply(CrashBroker{Broker: 1})
		}
	}
	for range 20 {
		got = append(got, c.poll(id, 1000)...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("polled %v", got)
	}
	if c.asked(OffsetsForLeaderEpochRequest{}) == 0 {
		t.Error("the position was never validated")
	}
}

// C-3: only what is assigned is read; partitions that stay keep their position.
func TestAssign(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1}, []NodeID{1}, []NodeID{1})
	p := c.producer()
	for i := range int32(3) {
		c.sendAll(p, "orders", i, "x", "y")
	}
	c.settle(p)
	id := c.consumer("orders", maxPoll(1))
	c.apply(Assign{Consumer: id, Topic: "orders", Partitions: []int32{1}})
	if got, want := c.poll(id, 500), []string{"1:0:x"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
	c.apply(Assign{Consumer: id, Topic: "orders", Partitions: []int32{2, 1}})
	var rest []string
	for range 4 {
		rest = append(rest, c.poll(id, 500)...)
	}
	slices.Sort(rest)
	if want := []string{"1:1:y", "2:0:x", "2:1:y"}; !slices.Equal(rest, want) {
		t.Errorf("polled %v, want %v", rest, want)
	}
}

// What a poll returned is in the trace, once per partition and poll.
func TestConsumedNotes(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	p := c.producer()
	c.sendAll(p, "orders", 0, numbered(5)...)
	c.settle(p)
	id := c.consumer("orders", maxPoll(3))
	c.TakeNotes()
	c.poll(id, 500)
	c.poll(id, 500)
	var rows []string
	for _, n := range c.TakeNotes() {
		switch n.Kind {
		case view.Consumed:
			rows = append(rows, fmt.Sprintf("%s consumed %d to %d", n.Client, n.A, n.B))
		case view.PositionSet:
			rows = append(rows, fmt.Sprintf("%s at %d", n.Client, n.A))
		}
	}
	if want := []string{"consumer-1 at 0", "consumer-1 consumed 0 to 3", "consumer-1 consumed 3 to 5"}; !slices.Equal(rows, want) {
		t.Errorf("notes %v, want %v", rows, want)
	}
}
