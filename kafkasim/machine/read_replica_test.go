package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// racked is three brokers in racks a, b, b whose leaders look at racks.
func racked(w *World) {
	quick(w)
	w.Racks = []string{"a", "b", "b"}
	w.Broker.ReplicaSelector = config.SelectByRack
}

func inRack(rack string) func(*config.Consumer) {
	return func(p *config.Consumer) { p.ClientRack = rack }
}

// C-50: the leader if it is in the consumer's rack, else the best of those in it that are in sync and have the
// offset, else the leader.
func TestPreferredReplicaC50(t *testing.T) {
	b := newBench(t, 3, racked)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.produce(1, tp, -1, "v", "w")
	b.run(1000 * ms)
	leader := b.broker(1)
	r := leader.replica(tp)
	end := func(two, three int64) func() {
		return func() { r.remote(2).End, r.remote(3).End = two, three }
	}
	for _, c := range []struct {
		what    string
		rack    string
		offset  int64
		prepare func()
		want    NodeID
	}{
		{"no rack", "", 0, end(2, 2), NoNode},
		{"the leader's own rack", "a", 0, end(2, 2), NoNode},
		{"a rack without replicas", "c", 0, end(2, 2), NoNode},
		{"the highest log end", "b", 0, end(2, 1), 2},
		{"the highest id, all else equal", "b", 0, func() {
			end(2, 2)()
			r.remote(2).LastCaughtUp, r.remote(3).LastCaughtUp, r.remote(2).Session, r.remote(3).Session = 5, 5, 0, 0
		}, 3},
		{"the one caught up last", "b", 0, func() { r.remote(2).LastCaughtUp = 6 }, 2},
		{"the one that has the offset", "b", 2, end(1, 2), 3},
		{"nobody has the offset", "b", 3, end(2, 2), NoNode},
		{"the log begins behind the offset", "b", 0, func() { r.remote(2).LogStart, r.remote(3).LogStart = 1, 1 }, NoNode},
		{"nobody in sync", "b", 0, func() { r.remote(2).LogStart, r.remote(3).LogStart, r.ISR = 0, 0, []NodeID{1} }, NoNode},
	} {
		c.prepare()
		if got := b.preferredReplica(leader, r, &FetchRequest{Rack: c.rack}, c.offset); got != c.want {
			t.Errorf("%s: broker %d, want %d", c.what, got, c.want)
		}
	}
	r.ISR = []NodeID{1, 2, 3}
	if got := b.preferredReplica(leader, r, &FetchRequest{Rack: "b", Replica: 2}, 0); got != NoNode {
		t.Errorf("a follower is sent to broker %d", got)
	}
}

// fetchesAt counts the consumers' fetches that have come to each broker since record.
func (c *clients) fetchesAt() (n [4]int) {
	for _, e := range c.bench.seen {
		if m, ok := e.Payload.(FetchRequest); ok && m.Replica == NoNode {
			n[e.To]++
		}
	}
	return n
}

// C-51, C-52, R1.30: the leader names the replica and gives nothing; the consumer reads there for metadata.max.age.ms, up to
// that replica's own high watermark, and asks the leader again when the time is over.
func TestFetchFromFollowerC51(t *testing.T) {
	c := newClients(t, 3, racked)
	tp := c.topic("orders", 1, []NodeID{1, 2})
	c.run(1000 * ms)
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "r0", "r1")
	c.settle(p)
	c.run(2000 * ms)
	id := c.consumer("orders", inRack("b"), func(p *config.Consumer) { p.MetadataMaxAgeMs = 5000 })
	c.record()
	if got, want := c.poll(id, 1000), []string{"0:0:r0", "0:1:r1"}; !slices.Equal(got, want) {
		t.Fatalf("polled %v, want %v", got, want)
	}
	if n := c.fetchesAt(); n[1] != 1 || n[2] == 0 {
		t.Errorf("fetches at the leader %d, at the follower %d", n[1], n[2])
	}
	told := slices.ContainsFunc(c.bench.seen, func(e Event) bool {
		m, ok := e.Payload.(FetchResponse)
		return ok && e.From == 1 && e.To.IsClient() && m.Parts[0].PreferredReplica == 2 && len(m.Parts[0].Batches) == 0 && m.Parts[0].HighWatermark == 2
	})
	if !told {
		t.Error("the leader does not name broker 2")
	}
	// A record that is committed at the leader comes when the follower has learnt that.
	c.sendAll(p, "orders", 0, "r2")
	c.settle(p)
	if leader, follower := c.log(1, tp).HighWatermark, c.log(2, tp).HighWatermark; leader != 3 || follower != 2 {
		t.Fatalf("high watermarks %d and %d", leader, follower)
	}
	if got := c.poll(id, 100); len(got) > 0 {
		t.Errorf("polled %v above the follower's high watermark", got)
	}
	if got, want := c.poll(id, 1000), []string{"0:2:r2"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
	c.record()
	c.poll(id, 8000)
	if n := c.fetchesAt(); n[1] < 1 || n[2] < 5 {
		t.Errorf("in 8 s: %d fetches at the leader, %d at the follower; the preference lasts 5 s", n[1], n[2])
	}
	c.apply(CrashBroker{2})
	c.sendAll(p, "orders", 0, "r3")
	if got, want := c.poll(id, 8000), []string{"0:3:r3"}; !slices.Equal(got, want) {
		t.Errorf("with the follower dead: polled %v, want %v", got, want)
	}
	if c.Consumers[id].Parts[0].Preferred != NoNode {
		t.Error("the consumer still prefers the dead broker")
	}
}

// C-36: what a follower does not have is asked of the leader, before the position counts as out of range.
func TestOutOfRangeAtAFollowerC36(t *testing.T) {
	c := newClients(t, 3, racked)
	tp := c.topic("orders", 1, []NodeID{1, 2})
	c.run(1000 * ms)
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "r0", "r1")
	c.settle(p)
	c.run(2000 * ms)
	id := c.consumer("orders", inRack("b"), reset(config.ResetNone))
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 0})
	c.poll(id, 1000)
	if c.Consumers[id].Parts[0].Preferred != 2 {
		t.Fatal("the consumer does not read from broker 2")
	}
	c.apply(CutLink{1, 2})
	q := c.producer(func(p *config.Producer) { p.LingerMs, p.Acks, p.EnableIdempotence = 0, config.AcksLeader, false })
	c.sendAll(q, "orders", 0, "r2", "r3")
	c.settle(q)
	c.run(8000 * ms) // broker 2 leaves the ISR, and the high watermark moves
	if hw := c.log(1, tp).HighWatermark; hw != 4 {
		t.Fatalf("high watermark %d", hw)
	}
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 3})
	if got, want := c.poll(id, 2000), []string{"0:3:r3"}; !slices.Equal(got, want) || c.Consumers[id].Poll.Error != NONE {
		t.Errorf("polled %v, %v, want %v from the leader", got, c.Consumers[id].Poll.Error, want)
	}
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 9})
	if c.poll(id, 2000); c.Consumers[id].Poll.Error != POSITION_OUT_OF_RANGE {
		t.Errorf("out of range at the leader too: %v", c.Consumers[id].Poll.Error)
	}
}

// C-34: by_duration begins at the first record that is new enough, at the log's start when all are, and nowhere when
// none is: the consumer goes on asking.
func TestResetByDurationC34(t *testing.T) {
	c := newClients(t, 1)
	c.topic("orders", 1, []NodeID{1})
	c.run(10_000 * ms)
	p := c.producer(func(p *config.Producer) { p.LingerMs = 0 })
	c.sendAll(p, "orders", 0, "old")
	c.settle(p)
	c.run(5000 * ms)
	c.sendAll(p, "orders", 0, "new")
	c.settle(p)
	c.run(1000 * ms)
	for _, x := range []struct {
		ms   int64
		want []string
	}{{3000, []string{"0:1:new"}}, {9000, []string{"0:0:old", "0:1:new"}}, {3_600_000, []string{"0:0:old", "0:1:new"}}} {
		if got := c.poll(c.consumer("orders", reset(config.ResetByDuration+config.Reset(x.ms))), 500); !slices.Equal(got, x.want) {
			t.Errorf("%d ms back: polled %v, want %v", x.ms, got, x.want)
		}
	}
	id := c.consumer("orders", reset(config.ResetByDuration+100))
	if got := c.poll(id, 1000); len(got) > 0 || c.Consumers[id].Parts[0].Position != -1 || c.Consumers[id].Poll.Error != NONE {
		t.Errorf("no record that new: polled %v, position %d, %v", got, c.Consumers[id].Parts[0].Position, c.Consumers[id].Poll.Error)
	}
	if n := c.asked(ListOffsetsRequest{}); n < 5 {
		t.Errorf("it asked %d times in all", n)
	}
	c.sendAll(p, "orders", 0, "newest")
	if got, want := c.poll(id, 1000), []string{"0:2:newest"}; !slices.Equal(got, want) {
		t.Errorf("when there is one: polled %v, want %v", got, want)
	}
}

// C-9, C-21: batches come whole, and a position inside one hands out what is behind it only.
func TestPositionInsideABatchC21(t *testing.T) {
	c := newClients(t, 1)
	tp := c.topic("orders", 1, []NodeID{1})
	c.run(100 * ms)
	c.produce(1, tp, -1, "a", "b", "c")
	id := c.consumer("orders")
	c.apply(Seek{Consumer: id, Topic: "orders", Offset: 1})
	if got, want := c.poll(id, 1000), []string{"0:1:b", "0:2:c"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
}

// C-12, R7.12: where records were compacted away a poll may return none although the position moves.
func TestPollOverCompactedRecordsC12(t *testing.T) {
	c := newClients(t, 1)
	tp := c.topic("orders", 1, []NodeID{1})
	c.run(100 * ms)
	gone := c.produceRequest(tp, -1, "x")
	r := partlog.Records{}
	r.Remove()
	r.Remove()
	gone.Parts[0].Batch.Records = r
	c.call(1, gone)
	id := c.consumer("orders")
	if got := c.poll(id, 500); len(got) > 0 || c.Consumers[id].Parts[0].Position != 2 {
		t.Errorf("polled %v, position %d, want none and 2", got, c.Consumers[id].Parts[0].Position)
	}
	c.produce(1, tp, -1, "a")
	if got, want := c.poll(id, 500), []string{"0:2:a"}; !slices.Equal(got, want) {
		t.Errorf("polled %v, want %v", got, want)
	}
}
