package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

func noLinger(p *config.Producer) { p.LingerMs = 0 }
func plain(p *config.Producer)    { p.EnableIdempotence = false }

// logValues lists the values in a broker's log.
func (c *clients) logValues(id NodeID, tp TopicPartition) []string {
	l := c.log(id, tp)
	var vs []string
	batches, _ := l.Read(l.LogStart, l.End, 1<<40, true)
	for _, b := range batches {
		for _, r := range b.Records.All() {
			vs = append(vs, r.Value)
		}
	}
	return vs
}

// P-74, P-76: a hop takes a ms. acks=1 is answered by the leader alone; acks=all after the followers have
// fetched and fetched again; acks=0 at once.
func TestEveryStepOfSafetyCostsARoundTrip(t *testing.T) {
	for _, c := range []struct {
		acks int8
		want int64 // ms from send() to the acknowledgement
	}{{config.AcksNone, 0}, {config.AcksLeader, 2}, {config.AcksAll, 4}} {
		w := newClients(t, 3)
		w.topic("orders", 2, []NodeID{1, 2, 3})
		p := w.producer(plain, noLinger, func(p *config.Producer) { p.Acks = c.acks })
		w.sendAll(p, "orders", 0, "warm")
		w.run(2000 * ms)
		w.sendAll(p, "orders", 0, "a")
		w.settle(p)
		if d := w.Delivery(p, 1); d.DecidedAt-d.SentAt != c.want*ms || d.Attempts != 1 {
			t.Errorf("acks=%d: %+v, want it decided after %d ms", c.acks, d, c.want)
		}
	}
}

// Oracle db3: 100 records, linger 0, 10 ms apart, and the leader is killed in the middle. The application
// sees no error, and the records are there in order, once (P-56, P-84).
func TestIdempotentThroughLeaderCrash(t *testing.T) {
	for seed := range uint64(5) {
		c := newClients(t, 3, quick, func(w *World) { w.Seed = seed })
		tp := c.topic("orders", 2, []NodeID{1, 2, 3})
		p := c.producer(noLinger)
		for i := range 100 {
			c.sendAll(p, "orders", 0, fmt.Sprint(i))
			c.run(10 * ms)
			if i == 50 {
				c.apply(CrashBroker{Broker: 1})
			}
		}
		c.settle(p)
		if pr := &c.Producers[p]; pr.FailedRecords != 0 || pr.AckedRecords != 100 {
			t.Errorf("seed %d: %d acked, %d failed", seed, pr.AckedRecords, pr.FailedRecords)
		}
		leader := c.registration(tp).Leader
		if got := c.logValues(leader, tp); leader == 1 || !slices.Equal(got, numbered(100)) {
			t.Errorf("seed %d: leader %d has %v", seed, leader, got)
		}
	}
}

// S-8: acks=1, and the leader dies before the followers have the record: it was acknowledged and is gone.
// With acks=all the producer sends again, and nothing is lost.
func TestLeaderCrashLosesWithAcks1S8(t *testing.T) {
	for _, acks := range []int8{config.AcksLeader, config.AcksAll} {
		c := newClients(t, 3, quick)
		tp := c.topic("orders", 2, []NodeID{1, 2, 3})
		p := c.producer(plain, noLinger, func(p *config.Producer) { p.Acks = acks })
		c.sendAll(p, "orders", 0, "first")
		c.settle(p)
		c.run(1000 * ms)
		c.apply(CutLink{A: 1, B: 2})
		c.apply(CutLink{A: 1, B: 3})
		c.sendAll(p, "orders", 0, "newest")
		c.run(5 * ms)
		c.apply(CrashBroker{Broker: 1})
		c.run(20_000 * ms)
		d := c.Delivery(p, 1)
		leader := c.registration(tp).Leader
		got := c.logValues(leader, tp)
		lost := !slices.Contains(got, "newest")
		if d.Status != DeliveryAcked || lost != (acks == config.AcksLeader) {
			t.Errorf("acks=%d: %+v, and leader %d has %v", acks, d, leader, got)
		}
		if acks == config.AcksAll && d.LastError == "" {
			t.Errorf("acks=all was acknowledged without a second attempt: %+v", d)
		}
		if acked := c.Truth.Acked; acked[len(acked)-1].Lost != lost {
			t.Errorf("acks=%d: the truth says %+v", acks, acked[len(acked)-1])
		}
	}
}

// S-9: below min.insync.replicas writes are refused and tried again, and go through when a replica is back.
func TestNotEnoughReplicasS9(t *testing.T) {
	c := newClients(t, 3, quick)
	c.topic("orders", 3, []NodeID{1, 2, 3})
	p := c.producer(noLinger)
	c.sendAll(p, "orders", 0, "a")
	c.settle(p)
	c.apply(CrashBroker{Broker: 3})
	c.run(10_000 * ms)
	c.sendAll(p, "orders", 0, "b")
	c.run(2_000 * ms)
	d := c.Delivery(p, 1)
	if d.Status != DeliveryPending || d.LastError != "NOT_ENOUGH_REPLICAS" || d.Attempts < 3 || c.Producers[p].Retrying() != 1 {
		t.Errorf("%+v", d)
	}
	c.apply(StartBroker{Broker: 3})
	c.settle(p)
	if d := c.Delivery(p, 1); d.Status != DeliveryAcked || d.Offset != 1 {
		t.Errorf("%+v", d)
	}
}

// P-54: the broker handles one request of a connection at a time, so a second batch of acks=all waits in
// the socket while the first waits for the followers.
func TestOneRequestAtATimeP54(t *testing.T) {
	c := newClients(t, 3)
	tp := c.topic("orders", 2, []NodeID{1, 2, 3})
	p := c.producer(plain, noLinger)
	c.sendAll(p, "orders", 0, "warm")
	c.settle(p)
	c.apply(PauseBroker{Broker: 2})
	c.run(600 * ms)
	c.sendAll(p, "orders", 0, "a")
	c.run(20 * ms)
	c.sendAll(p, "orders", 0, "b")
	c.run(200 * ms)
	if got := c.logValues(1, tp); !slices.Equal(got, []string{"warm", "a"}) {
		t.Errorf("the leader has %v, want b unread on the connection", got)
	}
	c.apply(ResumeBroker{Broker: 2})
	c.settle(p)
	if got := c.logValues(1, tp); !slices.Equal(got, []string{"warm", "a", "b"}) {
		t.Errorf("the leader has %v", got)
	}
}

// R1.24, P-67: a batch of one above max.message.bytes fails with the broker's error.
func TestMaxMessageBytes(t *testing.T) {
	c := newClients(t, 1)
	props := topicDefaults()
	props.MaxMessageBytes = 1000
	c.topicWith("orders", props, []NodeID{1})
	p := c.producer(noLinger)
	for _, x := range []struct {
		bytes int
		want  DeliveryStatus
	}{{930, DeliveryAcked}, {931, DeliveryFailed}, {929, DeliveryAcked}} {
		n := int64(c.Producers[p].Sends)
		c.sendAll(p, "orders", 0, strings.Repeat("v", x.bytes))
		c.settle(p)
		if d := c.Delivery(p, n); d.Status != x.want || x.want == DeliveryFailed && d.Error != "MESSAGE_TOO_LARGE" {
			t.Errorf("%d bytes: %+v", x.bytes, d)
		}
	}
}

// P-67 and oracle r2: a batch of ten that is refused is split, without using up a retry: first by batch.size,
// which changes nothing here, then by half of its size, into 4, 4 and 2.
func TestSplitTooLargeBatchP67(t *testing.T) {
	for _, idempotence := range []bool{false, true} {
		c := newClients(t, 1)
		props := topicDefaults()
		props.MaxMessageBytes = 400
		tp := c.topicWith("orders", props, []NodeID{1})
		p := c.producer(func(p *config.Producer) {
			p.BatchSize, p.EnableIdempotence, p.Retries = 900, idempotence, 1
		})
		var want []string
		for i := range 10 {
			v := fmt.Sprint(i) + strings.Repeat("v", 49)
			want = append(want, v)
			c.sendAll(p, "orders", 0, v)
		}
		c.Apply(FlushProducer{Producer: p})
		c.runUntil(1000*ms, "the flush ends", func() bool { return !c.Producers[p].Flushing() })
		var sizes []string
		c.log(1, tp).Batches(0, func(b *partlog.Batch) bool {
			sizes = append(sizes, fmt.Sprintf("%d:%d", b.Records.Count, b.Size))
			return true
		})
		if w := []string{"4:289", "4:289", "2:175"}; !slices.Equal(sizes, w) || !slices.Equal(c.logValues(1, tp), want) {
			t.Errorf("idempotence %v: batches %v of %v, want %v", idempotence, sizes, c.logValues(1, tp), w)
		}
		for n := range int64(10) {
			if d := c.Delivery(p, n); d.Status != DeliveryAcked || d.Offset != n || d.LastError != "MESSAGE_TOO_LARGE" {
				t.Errorf("idempotence %v: record %d: %+v", idempotence, n, d)
			}
		}
		if pr := &c.Producers[p]; pr.Memory != 0 || pr.AckedRecords != 10 || pr.FlushLeft != 0 {
			t.Errorf("%d bytes in use, %d acked, %d batches left to flush", pr.Memory, pr.AckedRecords, pr.FlushLeft)
		}
	}
}

// P-69: a split reorders too, without idempotence: B goes in while A is cut up. With one request in flight, or
// with idempotence, the order holds.
func TestSplitReordersP69(t *testing.T) {
	for _, x := range []struct {
		idempotence bool
		inFlight    int32
		want        string
	}{{false, 5, "warm B A0 A1 A2 A3"}, {false, 1, "warm A0 A1 A2 A3 B"}, {true, 5, "warm A0 A1 A2 A3 B"}} {
		c := newClients(t, 1)
		props := topicDefaults()
		props.MaxMessageBytes = 400
		tp := c.topicWith("orders", props, []NodeID{1})
		p := c.producer(noLinger, func(p *config.Producer) {
			p.BatchSize, p.BatchRecords, p.EnableIdempotence, p.MaxInFlight = 900, 4, x.idempotence, x.inFlight
		})
		c.sendAll(p, "orders", 0, "warm")
		c.settle(p)
		for i := range 4 {
			c.sendAll(p, "orders", 0, fmt.Sprintf("A%d", i)+strings.Repeat(".", 150))
		}
		c.sendAll(p, "orders", 0, "B")
		c.settle(p)
		if got := strings.ReplaceAll(strings.Join(c.logValues(1, tp), " "), ".", ""); got != x.want {
			t.Errorf("idempotence %v, %d in flight: %s, want %s", x.idempotence, x.inFlight, got, x.want)
		}
	}
}

// The same seed and the same commands give the same world, through a fork, too.
func TestClientsAreDeterministic(t *testing.T) {
	run := func(fork bool) uint64 {
		c := newClients(t, 3, quick)
		c.topic("orders", 2, []NodeID{1, 2, 3}, []NodeID{2, 3, 1})
		p := c.producer()
		c.Apply(SendEvery{Producer: p, Interval: 3 * ms, Topic: "orders", Keys: []string{"a", "b", "c"}})
		id := c.consumer("orders")
		c.poll(id, 500)
		c.apply(CrashBroker{Broker: 2})
		for i := range 10 {
			c.poll(id, 400)
			if fork && i == 4 {
				c.State = c.State.Clone()
				c.watch = NewWatch(c.State)
			}
		}
		c.State.Notes = nil
		return c.Hash()
	}
	if a, b, f := run(false), run(false), run(true); a != b || a != f {
		t.Errorf("hashes %x, %x and, through a fork, %x", a, b, f)
	}
}
