package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// cut sends n records at once and says which batches they became: "records:bytes" each.
func cut(t *testing.T, key, value, n int, batchSize int64) string {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.BatchSize, props.MaxRequestSize = batchSize, 1<<30
	p := f.producer(props)
	f.warm(p)
	r := partlog.Record{Value: strings.Repeat("v", value), Flags: partlog.NullKey}
	if key >= 0 {
		r.Key, r.Flags = strings.Repeat("k", key), 0
	}
	for range n {
		f.s.Send(p, "orders", 0, r, nil)
	}
	f.at(1000)
	var cuts []string
	for _, b := range f.log[0] {
		if got := partlog.BatchSize(&b.Records); got != b.Size {
			t.Errorf("a batch says it has %d bytes, but has %d", b.Size, got)
		}
		cuts = append(cuts, fmt.Sprintf("%d:%d", b.Records.Count, b.Size))
	}
	return strings.Join(cuts, " ")
}

// P-31, P-32, P-106 and oracle p1: where the Java producer cuts its batches, and how large they are.
func TestBatchCutsP31(t *testing.T) {
	for _, c := range []struct {
		key, value, n int
		batchSize     int64
		want          string
	}{
		{6, 100, 1, 1000000, "1:176"},
		{6, 100, 100, 1000000, "100:11597"},
		{6, 10000, 1, 1000000, "1:10078"},
		{6, 100, 200, 16384, "141:16353 59:6846"},
		{6, 1000, 40, 16384, "16:16301 16:16301 8:8181"},
		{-1, 20, 50, 200, strings.TrimSpace(strings.Repeat("5:196 ", 10))},
		{6, 20, 50, 1000, "28:985 22:787"},
		{-1, 500, 5, 200, "1:570 1:570 1:570 1:570 1:570"},
		{-1, 10, 3, 0, "2:95 1:78"},
		{-1, 10, 3, 1, "2:95 1:78"},
		{6, 20, 3, 0, "1:94 1:94 1:94"},
		{-1, 1, 4, 0, "3:85 1:69"},
		{-1, 200, 3, 0, "1:270 1:270 1:270"},
	} {
		if got := cut(t, c.key, c.value, c.n, c.batchSize); got != c.want {
			t.Errorf("%d records of %d, %d bytes in batches of %d: %s\nwant %s", c.n, c.key, c.value, c.batchSize, got, c.want)
		}
	}
}

// P-40 and oracle r2: the upper bound of a record against max.request.size, to the byte.
func TestRecordTooLargeP40(t *testing.T) {
	for _, c := range []struct {
		key, value int
		limit      int64
		ok         bool
	}{
		{-1, 1914, 2000, true}, {-1, 1915, 2000, false}, {0, 1914, 2000, true}, {6, 1908, 2000, true}, {6, 1909, 2000, false},
		{-1, 1048489, 1048576, true}, {-1, 1048490, 1048576, false},
	} {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.MaxRequestSize = c.limit
		p := f.producer(props)
		f.warm(p)
		r := partlog.Record{Value: strings.Repeat("v", c.value), Flags: partlog.NullKey}
		if c.key >= 0 {
			r.Key, r.Flags = strings.Repeat("k", c.key), 0
		}
		n := f.s.Send(p, "orders", 0, r, nil)
		f.at(300)
		if d := f.s.Delivery(p, n); (d.Status == DeliveryAcked) != c.ok || !c.ok && d.Error != "RecordTooLargeException" {
			t.Errorf("key %d, value %d, limit %d: %+v", c.key, c.value, c.limit, d)
		}
	}
}

// P-35 and oracle db1: linger counts from a batch's first record, and later ones do not extend it.
func TestLingerFromCreationP35(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 20
	p := f.producer(props)
	f.warm(p)
	a := f.send(p, 0, "a")
	f.at(115)
	b := f.send(p, 0, "b")
	f.at(200)
	rs := f.produces()
	if len(rs) != 1 || rs[0].at != 120 {
		t.Fatalf("requests %+v, want one at 120 ms", rs)
	}
	f.want(p, a, DeliveryAcked, 0, 122)
	if d := f.want(p, b, DeliveryAcked, 1, 122); d.SentAt != 115*ms {
		t.Errorf("b was sent at %d µs", d.SentAt)
	}
}

// P-36: with linger.ms=0 a batch goes out at once; records of one instant share it.
func TestNoLingerP36(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 0
	p := f.producer(props)
	f.warm(p)
	f.send(p, 0, "a")
	f.send(p, 0, "b")
	f.at(101)
	f.send(p, 0, "c")
	f.at(200)
	if rs := f.produces(); len(rs) != 2 || rs[0].at != 100 || rs[1].at != 101 {
		t.Fatalf("requests %+v, want two, at 100 and 101 ms", rs)
	}
}

// P-37 and oracle db1: two partitions of one broker, A at 0 ms and B at 4 ms, linger 5: both go at 5 ms.
// A partition of another broker waits for its own linger.
func TestDrainTakesTheBrokersPartitionsAlongP37(t *testing.T) {
	f := newFake(t, 2, 3) // partitions 0 and 2 on broker 1, partition 1 on broker 2
	p := f.producer(producerProps())
	f.warm(p)
	f.send(p, 0, "a")
	f.at(104)
	f.send(p, 2, "b")
	f.send(p, 1, "c")
	f.at(200)
	rs := f.produces()
	if len(rs) != 2 || rs[0].at != 105 || rs[1].at != 109 {
		t.Fatalf("requests %+v, want one at 105 ms and one at 109 ms", rs)
	}
	if parts := rs[0].what.(ProduceRequest).Parts; len(parts) != 2 || parts[0].TP.Partition != 0 || parts[1].TP.Partition != 2 {
		t.Errorf("the first request carries %+v, want partitions 0 and 2", parts)
	}
}

// P-34 and oracle db1: the 17th record of 1000 bytes closes the batch of 16, which goes out without
// linger; the rest waits, until a flush (P-42).
func TestFullBatchGoesAtOnceP34(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 5000
	p := f.producer(props)
	f.send(p, 0, "warm")
	f.s.Apply(FlushProducer{Producer: p})
	f.at(100)
	value := string(make([]byte, 1000))
	acked := func() int64 { return f.s.Producers[p].AckedRecords - 1 }
	for range 16 {
		f.send(p, 0, value)
	}
	f.at(200)
	if acked() != 0 {
		t.Fatalf("%d acked after 16", acked())
	}
	f.send(p, 0, value)
	f.at(210)
	if acked() != 16 {
		t.Fatalf("%d acked after 17, want 16", acked())
	}
	f.s.Apply(FlushProducer{Producer: p})
	if !f.s.Producers[p].Flushing() {
		t.Fatal("no flush is waiting")
	}
	f.at(220)
	if acked() != 17 || f.s.Producers[p].Flushing() {
		t.Fatalf("%d acked after the flush, want 17", acked())
	}
}

// kafkalab.batch.max.records: a batch is full at so many records, too.
func TestBatchRecords(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.BatchRecords, props.LingerMs = 3, 50
	p := f.producer(props)
	f.warm(p)
	for i := range 7 {
		f.send(p, 0, fmt.Sprint(i))
	}
	f.at(f.s.Now/ms + 3)
	if got := len(f.log[0]); got != 2 || f.s.Producers[p].AckedRecords != 7 {
		t.Fatalf("%d batches in the log and %d acked, want two of three records", got, f.s.Producers[p].AckedRecords-1)
	}
	f.at(400)
	if got := f.values(0); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5", "6"}) {
		t.Fatalf("log %v", got)
	}
}

// P-39 and oracle db3: with 50000 bytes 48 records of 1000 bytes are taken; the next send() blocks for
// max.block.ms and fails. P-41: memory comes back when a batch is decided, not when it is sent.
func TestBufferExhaustedP39(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.BufferMemory, props.MaxBlockMs = 50000, 5000
	p := f.producer(props)
	f.warm(p)
	f.silent = true
	value := string(make([]byte, 1000))
	var last int64
	for range 49 {
		last = f.send(p, 0, value)
	}
	pr := &f.s.Producers[p]
	if pr.Blocked.Count != 1 || pr.Memory != 3*16384 {
		t.Fatalf("%d sends blocked, %d bytes in use; want 1 and %d", pr.Blocked.Count, pr.Memory, 3*16384)
	}
	f.at(5000)
	f.want(p, last, DeliveryPending, -1, -1)
	f.at(5100)
	if d := f.want(p, last, DeliveryFailed, -1, 5100); d.Error != "BufferExhaustedException" || d.SentAt != 100*ms {
		t.Errorf("%+v", d)
	}
}

// P-39: blocked sends go on in their order when memory comes back.
func TestBlockedSendsKeepTheirOrderP39(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.BufferMemory, props.BatchRecords = 40000, 1
	p := f.producer(props)
	f.warm(p)
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprint(i))
		f.send(p, 0, fmt.Sprint(i))
	}
	if n := f.s.Producers[p].Blocked.Count; n != 7 {
		t.Fatalf("%d sends blocked, want 7", n)
	}
	f.at(200)
	if got := f.values(0); !slices.Equal(got, want) {
		t.Fatalf("log %v, want %v", got, want)
	}
	if pr := &f.s.Producers[p]; pr.Memory != 0 || pr.Blocked.Count != 0 || pr.AckedRecords != 10 {
		t.Errorf("%d bytes in use, %d blocked, %d acked", pr.Memory, pr.Blocked.Count, pr.AckedRecords)
	}
}

// P-11 and oracle db3: a topic, or a partition, that the metadata does not have blocks send() for
// max.block.ms; the next send()'s time begins when its turn comes.
func TestMaxBlockUnknownTopicP11(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.MaxBlockMs = 1000
	p := f.producer(props)
	a := f.s.Send(p, "nosuch", 0, partlog.Record{}, nil)
	b := f.send(p, 7, "no such partition")
	c := f.send(p, 0, "c")
	f.at(999)
	f.want(p, a, DeliveryPending, -1, -1)
	f.at(1000)
	if d := f.want(p, a, DeliveryFailed, -1, 1000); d.Error != "TimeoutException" {
		t.Errorf("%+v", d)
	}
	f.at(1999)
	f.want(p, b, DeliveryPending, -1, -1)
	f.at(2100)
	f.want(p, b, DeliveryFailed, -1, 2000)
	f.want(p, c, DeliveryAcked, 0, -1)
}

// P-42: close() delivers what was sent, then takes nothing more. A crash delivers nothing more.
func TestCloseAndCrashP42(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 1000
	p, q := f.producer(props), f.producer(props)
	a, b := f.send(p, 0, "a"), f.send(q, 0, "b")
	f.at(10)
	f.s.Apply(CloseProducer{Producer: p})
	f.s.Apply(CrashProducer{Producer: q})
	f.at(20)
	f.want(p, a, DeliveryAcked, 0, 12)
	if got := f.s.Producers[p].Status; got != ProducerClosed {
		t.Errorf("status %d after close()", got)
	}
	if d := f.s.Delivery(p, f.send(p, 0, "late")); d.Status != DeliveryFailed || d.Error != "IllegalStateException" {
		t.Errorf("send() after close(): %+v", d)
	}
	f.at(5000)
	f.want(q, b, DeliveryPending, -1, -1)
	if got := f.values(0); !slices.Equal(got, []string{"a"}) {
		t.Errorf("log %v, want only a", got)
	}
}

// SendEvery sends a record each interval, its keys in turn, and ends after Count.
func TestSteadyTraffic(t *testing.T) {
	f := newFake(t, 1, 3)
	p := f.producer(producerProps())
	f.s.Apply(SendEvery{Producer: p, Interval: 10 * ms, Topic: "orders", Keys: []string{"alice", "dave"}, Count: 5})
	f.at(500)
	if got, want := f.values(0), []string{"#1", "#3", "#5"}; !slices.Equal(got, want) {
		t.Errorf("alice: %v, want %v", got, want)
	}
	if got, want := f.values(1), []string{"#2", "#4"}; !slices.Equal(got, want) {
		t.Errorf("dave: %v, want %v", got, want)
	}
	if d := f.s.Delivery(p, 4); d.SentAt != 40*ms {
		t.Errorf("the fifth record was sent at %d µs, want 40 ms", d.SentAt)
	}
}

// A fork appends to the same open batch without touching the original.
func TestCloneOfAnOpenBatch(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 50
	p := f.producer(props)
	f.warm(p)
	f.send(p, 0, "warm the room for more records")
	f.at(300)
	for i := range 4 {
		f.send(p, 0, fmt.Sprint(i))
	}
	fork := *f
	forked := State{World: f.s.World, Now: f.s.Now, Seq: f.s.Seq, Queue: slices.Clone(f.s.Queue), TopicBase: f.s.TopicBase,
		Links: slices.Clone(f.s.Links), Clients: f.s.Clients, Producers: []Producer{f.s.Producers[p].clone()}}
	fork.s, fork.log, fork.requests = &forked, [][]partlog.Batch{f.log[0][:len(f.log[0]):len(f.log[0])]}, nil
	f.send(p, 0, "here")
	fork.send(p, 0, "there")
	f.at(500)
	fork.at(500)
	here, there := f.values(0), fork.values(0)
	if here[len(here)-1] != "here" || there[len(there)-1] != "there" || len(here) != len(there) {
		t.Errorf("original %v, fork %v", here, there)
	}
}
