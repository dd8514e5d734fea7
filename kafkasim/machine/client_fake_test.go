package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// fake is a cluster that answers by a test's own rules: the clients are real, the brokers are not. Every
// message takes one ms.
type fake struct {
	t          *testing.T
	s          *State
	partitions int32
	leader     func(p int32) NodeID
	epoch      int32
	silent     bool
	noID       bool // no producer ids are given out
	// produce, if set, answers instead of the log below; false keeps it from answering.
	produce  func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool)
	fetch    func(f *fake, e Event, r FetchRequest) (FetchResponse, bool)
	other    func(f *fake, e Event) (Payload, bool)
	log      [][]partlog.Batch
	requests []sentRequest
	names    []string
}

// sentRequest is a request as it arrived at the fake.
type sentRequest struct {
	at   int64 // ms, when it was sent
	to   NodeID
	what Payload
}

func newFake(t *testing.T, brokers, partitions int32) *fake {
	f := &fake{t: t, partitions: partitions, names: []string{"orders"}}
	f.s = &State{World: World{Brokers: brokers, Seed: 1, Latency: 1 * ms, Mutant: underTest}}
	f.leader = func(p int32) NodeID { return NodeID(p%brokers) + 1 }
	f.log = make([][]partlog.Batch, partitions)
	for i := range f.names {
		f.s.TopicBase = append(f.s.TopicBase, int32(i)*partitions)
	}
	return f
}

// producerProps are Kafka's defaults without idempotence and jitter, which tests add where they need them.
func producerProps() config.Producer {
	return config.Producer{Acks: config.AcksAll, BatchSize: 16384, LingerMs: 5, BufferMemory: 32 << 20, MaxBlockMs: 60000,
		MaxRequestSize: 1 << 20, MaxInFlight: 5, Retries: 1<<31 - 1, RetryBackoffMs: 100, RetryBackoffMaxMs: 100,
		RequestTimeoutMs: 30000, DeliveryTimeoutMs: 120000, MetadataMaxAgeMs: 300000,
		ReconnectBackoffMs: 50, ReconnectBackoffMax: 50, Adaptive: true, Levels: config.Levels{Gzip: -1, LZ4: 9, Zstd: 3}}
}

func (f *fake) producer(props config.Producer) int32 {
	return f.s.Apply(NewProducer{Name: "checkout", Props: props}).ID
}

// at runs the world until a time in ms, answering the clients' requests.
func (f *fake) at(t int64) {
	for {
		e, ok := f.s.Peek()
		if !ok || e.At > t*ms {
			f.s.Now = max(f.s.Now, t*ms)
			return
		}
		if !e.To.IsBroker() {
			f.s.Step()
			continue
		}
		e = f.s.pop()
		f.s.Now = e.At
		if _, closed := e.Payload.(Disconnected); closed {
			continue
		}
		f.requests = append(f.requests, sentRequest{at: e.At/ms - f.s.World.Latency/ms, to: e.To, what: e.Payload})
		if answer, ok := f.answer(e); ok && !f.silent {
			f.s.send(e.To, e.From, e.Conn, e.Correlation, answer)
		}
	}
}

func (f *fake) answer(e Event) (Payload, bool) {
	switch r := e.Payload.(type) {
	case MetadataRequest:
		return f.metadata(r), true
	case InitProducerIDRequest:
		return InitProducerIDResponse{ProducerID: 7}, !f.noID
	case ProduceRequest:
		if f.produce != nil {
			a, ok := f.produce(f, e, r)
			return a, ok && r.Acks != 0
		}
		return f.append(r), r.Acks != 0
	case FetchRequest:
		return f.fetch(f, e, r)
	}
	return f.other(f, e)
}

func (f *fake) metadata(r MetadataRequest) MetadataResponse {
	var m MetadataResponse
	for b := int32(1); b <= f.s.World.Brokers; b++ {
		m.Brokers = append(m.Brokers, NodeID(b))
	}
	for _, name := range r.Topics {
		t := TopicMetadata{Name: name, Topic: -1, Error: UNKNOWN_TOPIC_OR_PARTITION}
		for i, n := range f.names {
			if n != name {
				continue
			}
			t.Topic, t.Error = int32(i), NONE
			for p := range f.partitions {
				pm := PartitionMetadata{Leader: f.leader(p), LeaderEpoch: f.epoch}
				if pm.Leader == NoNode {
					pm.Error = LEADER_NOT_AVAILABLE
				}
				t.Partitions = append(t.Partitions, pm)
			}
		}
		m.Topics = append(m.Topics, t)
	}
	return m
}

// append writes every part to the fake's log and says so.
func (f *fake) append(r ProduceRequest) ProduceResponse {
	var a ProduceResponse
	for _, p := range r.Parts {
		b := p.Batch
		b.BaseOffset = f.end(p.TP.Partition)
		f.log[p.TP.Partition] = append(f.log[p.TP.Partition], b)
		a.Parts = append(a.Parts, ProduceResult{TP: p.TP, BaseOffset: b.BaseOffset})
	}
	return a
}

func (f *fake) end(p int32) int64 {
	if n := len(f.log[p]); n > 0 {
		return f.log[p][n-1].NextOffset()
	}
	return 0
}

// refuse answers every part with an error.
func refuse(r ProduceRequest, why Code) ProduceResponse {
	var a ProduceResponse
	for _, p := range r.Parts {
		a.Parts = append(a.Parts, ProduceResult{TP: p.TP, Error: why, BaseOffset: -1})
	}
	return a
}

// values lists the values in a partition's log.
func (f *fake) values(p int32) []string {
	var vs []string
	for _, b := range f.log[p] {
		for _, r := range b.Records.All() {
			vs = append(vs, r.Value)
		}
	}
	return vs
}

// produces lists the produce requests so far: when each was sent, and to whom.
func (f *fake) produces() []sentRequest {
	var rs []sentRequest
	for _, r := range f.requests {
		if _, ok := r.what.(ProduceRequest); ok {
			rs = append(rs, r)
		}
	}
	return rs
}

// metadataAt lists when metadata was asked for, in ms.
func (f *fake) metadataAt() []int64 {
	var at []int64
	for _, r := range f.requests {
		if _, ok := r.what.(MetadataRequest); ok {
			at = append(at, r.at)
		}
	}
	return at
}

// send sends a record without a key to a partition and returns its number.
func (f *fake) send(p int32, partition int32, value string) int64 {
	return f.s.Send(p, "orders", partition, partlog.Record{Value: value, Flags: partlog.NullKey, Timestamp: f.s.Now / ms}, nil)
}

// warm lets a producer learn the metadata by one record to partition 0 and forgets the traffic so far.
// The world then stands at 100 ms, or at 100 ms after its linger.
func (f *fake) warm(p int32) {
	f.send(p, 0, "warm")
	f.at(100 + f.s.Producers[p].Config.LingerMs/50*50)
	if d := f.s.Delivery(p, 0); d.Status != DeliveryAcked {
		f.t.Fatalf("the first record is %+v", d)
	}
	f.requests = nil
	for i := range f.log {
		f.log[i] = nil
	}
}

func (f *fake) want(p int32, number int64, status DeliveryStatus, offset, decidedMs int64) Delivery {
	f.t.Helper()
	d := f.s.Delivery(p, number)
	if d.Status != status || d.Offset != offset || decidedMs >= 0 && d.DecidedAt != decidedMs*ms {
		f.t.Fatalf("record %d is %+v at %d ms; want status %d at offset %d, decided at %d ms", number, d, f.s.Now/ms, status, offset, decidedMs)
	}
	return d
}
