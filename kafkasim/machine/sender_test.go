package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/view"
)

// failFirst lets the first n produce requests fail with an error and the rest succeed.
func failFirst(n int, why Code) func(*fake, Event, ProduceRequest) (ProduceResponse, bool) {
	return func(f *fake, _ Event, r ProduceRequest) (ProduceResponse, bool) {
		if n--; n >= 0 {
			return refuse(r, why), true
		}
		return f.append(r), true
	}
}

// sentAt lists when produce requests were sent, in ms.
func (f *fake) sentAt() []int64 {
	var at []int64
	for _, r := range f.produces() {
		at = append(at, r.at)
	}
	return at
}

// P-61: 100, 200, 400, 800, 1000, 1000 ms between attempts, each ± 20 %; the same seed draws the same.
func TestBackoffGrowsP61(t *testing.T) {
	run := func() []int64 {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.RetryBackoffMaxMs, props.LingerMs = 1000, 0
		p := f.producer(props)
		f.warm(p)
		f.produce = failFirst(6, NOT_ENOUGH_REPLICAS)
		n := f.send(p, 0, "a")
		f.at(10000)
		d := f.want(p, n, DeliveryAcked, 0, -1)
		if d.Attempts != 7 || d.LastError != "NOT_ENOUGH_REPLICAS" || d.Error != "" {
			t.Errorf("%+v", d)
		}
		return f.sentAt()
	}
	at := run()
	if len(at) != 7 {
		t.Fatalf("sent at %v, want 7 attempts", at)
	}
	for i, want := range []int64{100, 200, 400, 800, 1000, 1000} {
		// An attempt's answer takes 2 ms, and the backoff begins with it.
		if d := at[i+1] - at[i] - 2; d < want*8/10 || d > min(want*12/10, 1000) {
			t.Errorf("backoff %d is %d ms, want %d ± 20 %%, at most 1000", i+1, d, want)
		}
	}
	if again := run(); !slices.Equal(at, again) {
		t.Errorf("the same seed gave %v and %v", at, again)
	}
}

// P-61: without room to grow the backoff is exact. P-66: NOT_ENOUGH_REPLICAS asks for no metadata.
func TestRetryTimesExactly(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 0
	p := f.producer(props)
	f.warm(p)
	f.produce = failFirst(2, NOT_ENOUGH_REPLICAS)
	n := f.send(p, 0, "a")
	f.at(1000)
	if got, want := f.sentAt(), []int64{100, 202, 304}; !slices.Equal(got, want) {
		t.Errorf("sent at %v, want %v", got, want)
	}
	if m := f.metadataAt(); len(m) != 0 {
		t.Errorf("metadata asked for at %v", m)
	}
	f.want(p, n, DeliveryAcked, 0, 306)
}

// P-60: retries=0 fails at the first error; a fatal error fails at once. P-71: a batch fails as a whole.
func TestFailuresP60(t *testing.T) {
	for _, c := range []struct {
		why     Code
		retries int32
	}{{NOT_ENOUGH_REPLICAS, 0}, {RECORD_LIST_TOO_LARGE, 10}, {INVALID_REQUIRED_ACKS, 10}} {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.Retries = c.retries
		p := f.producer(props)
		f.warm(p)
		f.produce = failFirst(100, c.why)
		f.s.TakeNotes()
		a, b := f.send(p, 0, "a"), f.send(p, 0, "b")
		f.at(1000)
		for _, n := range []int64{a, b} {
			if d := f.want(p, n, DeliveryFailed, -1, 107); d.Error != c.why.String() || d.Attempts != 1 {
				t.Errorf("%v: %+v", c.why, d)
			}
		}
		var failed int64
		for _, n := range f.s.TakeNotes() {
			if n.Kind == view.Failed {
				failed += n.A
			}
		}
		if failed != 2 || f.s.Producers[p].Undecided() != 0 {
			t.Errorf("%v: %d records noted as failed, %d undecided", c.why, failed, f.s.Producers[p].Undecided())
		}
	}
}

// P-66, KIP-951: a stale leader answers 6 and names the new one; the retry goes there at once (P-62).
func TestLeaderHintP62(t *testing.T) {
	f := newFake(t, 2, 1)
	props := producerProps()
	props.LingerMs = 0
	p := f.producer(props)
	f.warm(p)
	f.leader, f.epoch = func(int32) NodeID { return 2 }, 1
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
		if e.To == 1 {
			a := refuse(r, NOT_LEADER_OR_FOLLOWER)
			a.Parts[0].Leader, a.Parts[0].LeaderEpoch = 2, 1
			return a, true
		}
		return f.append(r), true
	}
	n := f.send(p, 0, "a")
	f.at(1000)
	if got, want := f.sentAt(), []int64{100, 102}; !slices.Equal(got, want) {
		t.Errorf("sent at %v, want %v", got, want)
	}
	f.want(p, n, DeliveryAcked, 0, 104)
	if m := f.metadataAt(); len(m) != 1 || m[0] != 102 {
		t.Errorf("metadata asked for at %v, want at 102", m)
	}
}

// P-66: without a hint the retry waits for its backoff, unless the refreshed metadata know a newer leader
// by then. metadata.backoff: the refresh waits retry.backoff.ms after the last one, which is long ago.
func TestNotLeaderWithoutHintP66(t *testing.T) {
	f := newFake(t, 2, 1)
	props := producerProps()
	props.LingerMs = 0
	p := f.producer(props)
	f.warm(p)
	f.leader, f.epoch = func(int32) NodeID { return 2 }, 1
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
		if e.To == 1 {
			return refuse(r, NOT_LEADER_OR_FOLLOWER), true
		}
		return f.append(r), true
	}
	n := f.send(p, 0, "a")
	f.at(1000)
	// 102: the error and a metadata request; 104: metadata with epoch 1, so no backoff.
	if got, want := f.sentAt(), []int64{100, 104}; !slices.Equal(got, want) {
		t.Errorf("sent at %v, want %v", got, want)
	}
	f.want(p, n, DeliveryAcked, 0, 106)
}

// P-38: a partition without a leader is not sent; metadata are asked for until it has one.
func TestLeaderlessWaitsP38(t *testing.T) {
	f := newFake(t, 1, 1)
	f.leader = func(int32) NodeID { return NoNode }
	p := f.producer(producerProps())
	n := f.send(p, 0, "a")
	f.at(450)
	// A new topic at 0; then each retry.backoff.ms after the answer.
	if got, want := f.metadataAt(), []int64{0, 102, 204, 306, 408}; !slices.Equal(got, want) {
		t.Errorf("metadata asked for at %v, want %v", got, want)
	}
	if len(f.produces()) != 0 {
		t.Error("something was sent without a leader")
	}
	f.leader, f.epoch = func(int32) NodeID { return 1 }, 1
	f.at(700)
	f.want(p, n, DeliveryAcked, 0, 514)
}

// P-63: delivery.timeout.ms counts from the batch's creation and covers retries; the batch then fails with
// TimeoutException, queued or in flight.
func TestDeliveryTimeoutP63(t *testing.T) {
	for _, silent := range []bool{false, true} {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.DeliveryTimeoutMs = 2500
		p := f.producer(props)
		f.warm(p)
		f.produce = failFirst(1000, NOT_ENOUGH_REPLICAS)
		f.silent = silent
		n := f.send(p, 0, "a")
		f.at(2599)
		f.want(p, n, DeliveryPending, -1, -1)
		f.at(2600)
		if d := f.want(p, n, DeliveryFailed, -1, 2600); d.Error != "TimeoutException" {
			t.Errorf("%+v", d)
		}
		if got := f.s.Producers[p].Memory; (got != 0) != silent {
			t.Errorf("silent %v: %d bytes of memory in use", silent, got) // P-41
		}
	}
}

// P-64: one overdue request closes the whole connection: it fails with REQUEST_TIMED_OUT, the others of
// that broker with NETWORK_EXCEPTION, those of other brokers go on. P-65: the next connection waits for
// reconnect.backoff.ms.
func TestRequestTimeoutP64(t *testing.T) {
	f := newFake(t, 2, 3)
	props := producerProps()
	props.LingerMs, props.RequestTimeoutMs, props.RetryBackoffMs, props.ReconnectBackoffMs = 0, 1000, 30, 50
	props.RetryBackoffMaxMs = 30
	p := f.producer(props)
	f.warm(p)
	// Broker 1 (partitions 0 and 2) is silent, broker 2 (partition 1) is not.
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) { return f.append(r), e.To == 2 }
	a := f.send(p, 0, "a")
	f.at(600)
	b := f.send(p, 2, "b")
	f.at(1090)
	c := f.send(p, 1, "c")
	f.s.TakeNotes()
	f.at(1101)
	var errors []string
	for _, n := range f.s.TakeNotes() {
		if n.Kind == view.Retried {
			errors = append(errors, n.Text)
		}
	}
	if want := []string{"REQUEST_TIMED_OUT", "NETWORK_EXCEPTION"}; !slices.Equal(errors, want) {
		t.Fatalf("at 1101 ms batches were put back for %v, want %v", errors, want)
	}
	f.want(p, c, DeliveryAcked, 0, 1092)
	f.produce = nil
	f.at(3000)
	// The backoff of 30 ms is over before the reconnect backoff of 50.
	if got, want := f.sentAt(), []int64{100, 600, 1090, 1151}; !slices.Equal(got, want) {
		t.Errorf("sent at %v, want %v", got, want)
	}
	f.want(p, a, DeliveryAcked, 1, 1153) // P-70: the first attempt was written, too
	f.want(p, b, DeliveryAcked, 1, 1153)
}

// P-65: a closed connection fails what is in flight with NETWORK_EXCEPTION, which is retried.
func TestDisconnectP65(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs = 0
	p := f.producer(props)
	f.warm(p)
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
		f.s.send(e.To, e.From, e.Conn, 0, Disconnected{})
		f.produce = nil
		return ProduceResponse{}, false
	}
	n := f.send(p, 0, "a")
	f.at(1000)
	if got, want := f.sentAt(), []int64{100, 202}; !slices.Equal(got, want) {
		t.Errorf("sent at %v, want %v", got, want)
	}
	if d := f.want(p, n, DeliveryAcked, 0, 204); d.LastError != "NETWORK_EXCEPTION" || d.Attempts != 2 {
		t.Errorf("%+v", d)
	}
	// The refresh waits for the reconnect backoff of the only broker.
	if m := f.metadataAt(); len(m) != 1 || m[0] != 152 {
		t.Errorf("metadata asked for at %v, want at 152", m)
	}
}

// P-73: acks=0 is complete when it is written; its offset is -1 and no error is retried.
func TestAcks0P73(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.Acks, props.LingerMs = config.AcksNone, 0
	p := f.producer(props)
	f.send(p, 0, "warm")
	f.at(100)
	f.produce = failFirst(100, NOT_LEADER_OR_FOLLOWER)
	n := f.send(p, 0, "a")
	f.at(200)
	if d := f.want(p, n, DeliveryAcked, -1, 100); d.Attempts != 1 {
		t.Errorf("%+v", d)
	}
	if a := f.s.Truth.Acked; len(a) != 2 || a[1].BaseOffset != -1 || a[1].Acks != 0 {
		t.Errorf("truth %+v", a)
	}
}

// P-53, P-55: five requests may be out at once; with max.in.flight 1 one is, and its partition is muted.
func TestInFlightP53(t *testing.T) {
	for _, c := range []struct {
		limit int32
		want  []int64
	}{{5, []int64{100, 100, 100, 100, 100, 110, 110}}, {1, []int64{100, 110, 120, 130, 140, 150, 160}}} {
		f := newFake(t, 1, 1)
		props := producerProps()
		props.LingerMs, props.BatchRecords, props.MaxInFlight = 0, 1, c.limit
		p := f.producer(props)
		f.warm(p)
		f.s.World.Latency = 5 * ms
		for _, v := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			f.send(p, 0, v)
		}
		f.at(400)
		if got := f.sentAt(); !slices.Equal(got, c.want) {
			t.Errorf("in flight %d: sent at %v, want %v", c.limit, got, c.want)
		}
		if got := f.values(0); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f", "g"}) {
			t.Errorf("in flight %d: log %v", c.limit, got)
		}
	}
}

// P-55: with max.in.flight 1 a partition is muted while a batch of it is out, also when another broker,
// whose connection is free, leads it by now.
func TestMutedAcrossBrokersP55(t *testing.T) {
	f := newFake(t, 2, 1)
	props := producerProps()
	props.LingerMs, props.BatchRecords, props.MaxInFlight, props.MetadataMaxAgeMs = 0, 1, 1, 50
	p := f.producer(props)
	f.warm(p)
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) { return f.append(r), e.To == 2 }
	f.send(p, 0, "a")
	f.leader, f.epoch = func(int32) NodeID { return 2 }, 1
	f.at(1000)
	f.send(p, 0, "b")
	f.at(2000)
	if leader := f.s.Producers[p].Meta.Topics[0].Parts[0].Leader; leader != 2 {
		t.Fatalf("the producer believes in leader %d", leader)
	}
	if got := f.sentAt(); !slices.Equal(got, []int64{100}) {
		t.Errorf("sent at %v, want b to wait for the answer to a", got)
	}
}

// P-51: a request takes batches as long as they fit max.request.size, and goes on where it ended.
func TestMaxRequestSizeP51(t *testing.T) {
	f := newFake(t, 1, 3)
	props := producerProps()
	props.MaxRequestSize, props.MaxInFlight = 2500, 1
	p := f.producer(props)
	f.warm(p)
	value := string(make([]byte, 1000))
	for part := range int32(3) {
		f.send(p, part, value)
	}
	f.at(300)
	var parts [][]int32
	for _, r := range f.produces() {
		var ps []int32
		for _, x := range r.what.(ProduceRequest).Parts {
			ps = append(ps, x.TP.Partition)
		}
		parts = append(parts, ps)
	}
	if len(parts) != 2 || len(parts[0]) != 2 || len(parts[1]) != 1 {
		t.Errorf("requests carry %v, want two batches and then one", parts)
	}
}

// P-72: acknowledgements within a partition come in the order of sending.
func TestAckOrderP72(t *testing.T) {
	f := newFake(t, 1, 2)
	props := producerProps()
	props.BatchRecords = 2
	p := f.producer(props)
	for i := range int64(20) {
		f.send(p, int32(i%2), "x")
		f.at(i)
	}
	f.at(1000)
	last := [2]int64{-1, -1}
	for _, a := range f.s.Truth.Acked {
		if a.BaseOffset <= last[a.TP.Partition] {
			t.Fatalf("partition %d: offset %d acknowledged after %d", a.TP.Partition, a.BaseOffset, last[a.TP.Partition])
		}
		last[a.TP.Partition] = a.BaseOffset
	}
	if last != [2]int64{9, 9} && last != [2]int64{8, 8} {
		t.Errorf("last batches acknowledged begin at %v", last)
	}
}

// Metadata older than metadata.max.age.ms are asked for again, without anyone sending.
func TestMetadataMaxAge(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.MetadataMaxAgeMs = 3000
	p := f.producer(props)
	f.warm(p)
	f.at(10000)
	if got, want := f.metadataAt(), []int64{3002, 6004, 9006}; !slices.Equal(got, want) {
		t.Errorf("metadata asked for at %v, want %v", got, want)
	}
}

// KIP-320: metadata of an older leader epoch do not undo newer ones.
func TestStaleMetadataIsIgnored(t *testing.T) {
	f := newFake(t, 2, 1)
	p := f.producer(producerProps())
	f.epoch = 5
	f.warm(p)
	pr := &f.s.Producers[p]
	f.leader, f.epoch = func(int32) NodeID { return 2 }, 4
	pr.Meta.Requested = true
	f.s.wakeAt(&pr.ClientIO, f.s.Now)
	f.at(1000)
	if got := pr.Meta.Topics[0].Parts[0]; got.Leader != 1 || got.LeaderEpoch != 5 {
		t.Errorf("the client believes %+v, want leader 1 in epoch 5", got)
	}
	f.epoch = 6
	pr.Meta.Requested = true
	f.s.wakeAt(&pr.ClientIO, f.s.Now)
	f.at(2000)
	if got := pr.Meta.Topics[0].Parts[0]; got.Leader != 2 || got.LeaderEpoch != 6 {
		t.Errorf("the client believes %+v, want leader 2 in epoch 6", got)
	}
}

// P-50: one pass sends to the brokers that can take a request and gives up what is too old for one that cannot, also
// for a partition that is ready.
func TestOnePassP50(t *testing.T) {
	f := newFake(t, 2, 2)
	props := producerProps()
	props.LingerMs, props.MaxInFlight, props.DeliveryTimeoutMs, props.BatchRecords = 0, 1, 2500, 1
	p := f.producer(props)
	f.warm(p)
	f.produce = func(_ *fake, e Event, _ ProduceRequest) (ProduceResponse, bool) { return ProduceResponse{}, e.To != 1 }
	out, waits := f.send(p, 0, "in flight to broker 1"), f.send(p, 0, "behind it")
	f.at(2599)
	f.produce = func(_ *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
		return ProduceResponse{Parts: []ProduceResult{{TP: r.Parts[0].TP, BaseOffset: 7}}}, e.To != 1
	}
	sent := f.sentAt()
	f.at(2600)
	other := f.send(p, 1, "to broker 2")
	f.at(2603)
	f.want(p, out, DeliveryFailed, -1, 2600)
	f.want(p, waits, DeliveryFailed, -1, 2600)
	f.want(p, other, DeliveryAcked, 7, 2602)
	if got := f.sentAt(); len(got) != len(sent)+1 {
		t.Errorf("%d requests after it, want one more than %d: broker 1 can take none", len(got), len(sent))
	}
}
