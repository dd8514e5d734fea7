package machine

import (
	"fmt"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// A bench is a world under test with one probe: a client that sends raw requests and reads raw answers.

// kafkaDefaults are Kafka's defaults.
func kafkaDefaults() config.Broker {
	d, _ := config.ParseBroker(nil)
	return config.Broker{
		OffsetsTopic: d.OffsetsTopic, Transactions: d.Transactions, Groups: d.Groups, ConsumerGroups: d.ConsumerGroups,
		ReplicaLagTimeMaxMs: 30000, ReplicaFetchWaitMaxMs: 500, ReplicaFetchMinBytes: 1, ReplicaFetchMaxBytes: 1 << 20,
		MaxIncrementalFetchSessionCacheSlots: 1000, ReplicaFetchBackoffMs: 1000, ReplicaSocketTimeoutMs: 30000, ReplicaHighWatermarkCheckpointMs: 5000,
		BrokerHeartbeatIntervalMs: 2000, BrokerSessionTimeoutMs: 9000, InitialBrokerRegistrationTimeoutMs: 60000,
		NumPartitions: 1, DefaultReplicationFactor: 1, LeaderImbalanceCheckSeconds: 300, UncleanLeaderElectionIntervalMs: 300000, LogFlushSchedulerIntervalMs: never,
		QuorumElectionTimeoutMs: 1000, QuorumFetchTimeoutMs: 2000, QuorumRequestTimeoutMs: 2000, QuorumRetryBackoffMs: 20,
		ProducerIDExpirationMs: 86_400_000, Topic: topicDefaults(),
		QuotaWindowNum: 11, QuotaWindowSizeSeconds: 1, ReplicationQuotaWindowNum: 11, ReplicationQuotaWindowSizeSeconds: 1,
	}
}

func topicDefaults() config.Topic {
	return config.Topic{MinInSyncReplicas: 1, MaxMessageBytes: 1048588, SegmentBytes: 1 << 30, FlushMessages: never, FlushMs: never, Compression: config.CompressionProducer}
}

type bench struct {
	*State
	t           testing.TB
	correlation uint32
	watch       *Watch
	answers     map[uint32]answer
	conn        uint32
	seen        []Event // every event, in order, when recording
	recording   bool
	breaks      []int // invariants that need not hold
}

type answer struct {
	at int64
	p  Payload
}

func newBench(t testing.TB, brokers int32, tune ...func(*World)) *bench {
	w := World{Brokers: brokers, Seed: 1, Tick: 1000, Latency: 1000, Broker: kafkaDefaults(), Mutant: underTest}
	for _, f := range tune {
		f(&w)
	}
	b := &bench{State: New(w), t: t, answers: map[uint32]answer{}, conn: 1}
	b.watch = NewWatch(b.State)
	return b
}

// withELR switches eligible leader replicas on.
func withELR(w *World) { w.ELR = true }

// topic creates a topic with one partition per list of replicas.
func (b *bench) topic(name string, minISR int32, assignment ...[]NodeID) TopicPartition {
	b.t.Helper()
	props := topicDefaults()
	props.MinInSyncReplicas = minISR
	return b.topicWith(name, props, assignment...)
}

func (b *bench) topicWith(name string, props config.Topic, assignment ...[]NodeID) TopicPartition {
	b.t.Helper()
	res := b.administer(CreateTopic{Name: name, Props: props, Assignment: assignment})
	if res.Error != NONE {
		b.t.Fatalf("CreateTopic: %v", res.Error)
	}
	return TopicPartition{Topic: res.ID}
}

// administer carries out a command for the controller and waits for the answer.
func (b *bench) administer(c Command) Result {
	b.t.Helper()
	res := b.Apply(c)
	if res.Pending > 0 {
		b.runUntil(60_000*ms, fmt.Sprintf("an answer to %T", c), func() bool { return b.Admin[res.Pending-1].Done })
		return b.Admin[res.Pending-1].Result
	}
	return res
}

// step takes one event and checks every invariant after it.
func (b *bench) step() (Event, bool) {
	b.t.Helper()
	e, ok := b.Step()
	if b.recording {
		b.seen = append(b.seen, e)
	}
	if e.To >= FirstProbe {
		b.answers[e.Correlation] = answer{e.At, e.Payload}
	}
	b.check(fmt.Sprintf("t=%dµs %T to %d from %d", e.At, e.Payload, e.To, e.From), &e)
	return e, ok
}

func (b *bench) check(what string, e *Event) {
	b.t.Helper()
	var v []Violation
	if e != nil {
		v = b.watch.After(b.State, *e)
	} else {
		v = b.watch.Command(b.State, what)
	}
	if e == nil || b.Seq%16 == 0 { // what looks at everything agrees
		v = append(v, b.State.Check()...)
		if gap := b.sessionGap(); gap != "" {
			b.t.Fatalf("after %s: %s", what, gap)
		}
	}
	v = slices.DeleteFunc(v, func(x Violation) bool { return slices.Contains(b.breaks, x.Invariant) })
	if len(v) > 0 {
		b.t.Fatalf("after %s: %v", what, v)
	}
}

// apply is a command, checked like an event.
func (b *bench) apply(c Command) {
	b.t.Helper()
	b.Apply(c)
	b.check(fmt.Sprintf("%T%+v", c, c), nil)
}

// run lets d µs pass.
func (b *bench) run(d int64) {
	b.t.Helper()
	until := b.Now + d
	for {
		e, ok := b.Peek()
		if !ok || e.At > until {
			b.Now = until
			return
		}
		b.step()
	}
}

// runUntil steps until cond holds, at most limit µs.
func (b *bench) runUntil(limit int64, what string, cond func() bool) {
	b.t.Helper()
	until := b.Now + limit
	for !cond() {
		e, ok := b.Peek()
		if !ok || e.At > until {
			b.t.Fatalf("not within %d µs: %s", limit, what)
		}
		b.step()
	}
}

// ask sends a request and returns its correlation number.
func (b *bench) ask(to NodeID, p Payload) uint32 {
	b.correlation++
	b.conn++ // a connection each: no request waits for another
	b.Probe(0, to, b.conn, b.correlation, p)
	return b.correlation
}

// call sends a request and steps until its answer is here.
func (b *bench) call(to NodeID, p Payload) Payload {
	b.t.Helper()
	c := b.ask(to, p)
	b.runUntil(60_000*ms, fmt.Sprintf("an answer to %T", p), func() bool { return b.answered(c) })
	return b.answers[c].p
}

func (b *bench) answered(c uint32) bool { _, ok := b.answers[c]; return ok }

// serial numbers batches, so that the truth about them can be told.
func (b *bench) batch(values ...string) partlog.Batch {
	b.correlation++
	batch := partlog.Batch{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Size: int32(61 + 8*len(values)), Sender: -1, Serial: int32(b.correlation)}
	for _, v := range values {
		batch.Records.Append(&partlog.Record{Value: v, Flags: partlog.NullKey, Timestamp: b.Now / 1000}, nil)
	}
	return batch
}

func (b *bench) produceRequest(tp TopicPartition, acks int8, values ...string) ProduceRequest {
	return ProduceRequest{Acks: acks, TimeoutMs: 30000, Parts: []ProducePart{{TP: tp, Batch: b.batch(values...)}}}
}

// produce sends one batch and returns the answer; what was acknowledged is written into the truth.
func (b *bench) produce(to NodeID, tp TopicPartition, acks int8, values ...string) ProduceResult {
	b.t.Helper()
	req := b.produceRequest(tp, acks, values...)
	switch p := b.call(to, req).(type) {
	case ProduceResponse:
		if p.Parts[0].Error == NONE {
			b.Truth.Acked = append(b.Truth.Acked, AckedBatch{
				TP: tp, BaseOffset: p.Parts[0].BaseOffset, Count: int32(len(values)), Sender: -1, Serial: req.Parts[0].Batch.Serial, Acks: acks, At: b.Now,
			})
		}
		return p.Parts[0]
	case Disconnected:
		return ProduceResult{TP: tp, Error: NETWORK_EXCEPTION, BaseOffset: -1}
	default:
		b.t.Fatalf("Produce answered by %T", p)
		return ProduceResult{}
	}
}

// consume is a raw consumer fetch that does not wait.
func (b *bench) consume(from NodeID, tp TopicPartition, offset int64, epoch int32) FetchResult {
	b.t.Helper()
	res := b.call(from, FetchRequest{MaxBytes: 1 << 20, MinBytes: 1, BrokerEpoch: -1, SessionEpoch: FinalFetchEpoch, Parts: []FetchPart{
		{TP: tp, FetchOffset: offset, LeaderEpoch: epoch, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20},
	}})
	return res.(FetchResponse).Parts[0]
}

// registration is the controller's record of a partition.
func (b *bench) registration(tp TopicPartition) *PartitionRegistration {
	return b.Metadata().partition(tp)
}

// log is a broker's log of a partition.
func (b *bench) log(id NodeID, tp TopicPartition) *partlog.Log { return &b.broker(id).replica(tp).Log }

// expectLog compares a replica's log end, high watermark and epoch cache.
func (b *bench) expectLog(id NodeID, tp TopicPartition, end, hw int64, epochs ...partlog.EpochStart) {
	b.t.Helper()
	l := b.log(id, tp)
	if l.End != end || l.HighWatermark != hw {
		b.t.Errorf("t=%dms broker %d: LEO %d HW %d, want LEO %d HW %d", b.Now/1000, id, l.End, l.HighWatermark, end, hw)
	}
	if epochs != nil && !slices.Equal(l.Epochs, epochs) {
		b.t.Errorf("t=%dms broker %d: epochs %v, want %v", b.Now/1000, id, l.Epochs, epochs)
	}
}

// expectPartition compares the controller's record of a partition.
func (b *bench) expectPartition(tp TopicPartition, leader NodeID, epoch, partitionEpoch int32, isr, elr []NodeID) {
	b.t.Helper()
	p := b.registration(tp)
	if p.Leader != leader || p.LeaderEpoch != epoch || p.PartitionEpoch != partitionEpoch ||
		!sameSet(p.ISR, isr) || !sameSet(p.ELR, elr) {
		b.t.Errorf("t=%dms partition %+v, want leader %d E %d PE %d ISR %v ELR %v", b.Now/1000, *p, leader, epoch, partitionEpoch, isr, elr)
	}
}

func sameSet(a, b []NodeID) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// record starts to keep every event.
func (b *bench) record() { b.seen, b.recording = nil, true }

// fetchAnswers are the answers that a follower got for a partition since record.
func (b *bench) fetchAnswers(follower NodeID, tp TopicPartition) []FetchResult {
	var out []FetchResult
	for _, e := range b.seen {
		if m, ok := e.Payload.(FetchResponse); ok && e.To == follower {
			for _, p := range m.Parts {
				if p.TP == tp {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// epochRun is a run of records in one epoch: how logs are written down in the tests.
type epochRun struct {
	epoch int32
	n     int
}

// craft makes a log of one-record batches.
func craft(runs ...epochRun) partlog.Log {
	var l partlog.Log
	for _, r := range runs {
		if r.n == 0 {
			l.Epochs.Assign(r.epoch, l.End)
		}
		for range r.n {
			value := fmt.Sprintf("e%d@%d", r.epoch, l.End)
			l.Append(partlog.Batch{
				BaseOffset: l.End, LeaderEpoch: r.epoch, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Size: 70,
				Records: partlog.PackRecords(partlog.Record{Value: value}), Sender: -2, Serial: r.epoch<<16 + int32(l.End),
			}, 1<<30)
		}
	}
	return l
}

// crafted makes a partition led by the first replica in an epoch, whose replicas already have these logs.
func (b *bench) crafted(epoch int32, replicas []NodeID, isr []NodeID, logs ...partlog.Log) TopicPartition {
	b.t.Helper()
	topic := int32(len(b.Metadata().Topics))
	tp := TopicPartition{Topic: topic}
	for i, id := range replicas {
		at, _ := b.broker(id).findReplica(tp)
		b.broker(id).Replicas = slices.Insert(b.broker(id).Replicas, at, Replica{TP: tp, Log: logs[i], LeaderEpoch: -1, PartitionEpoch: -1})
	}
	b.commit(b.ActiveController(), []MetadataRecord{
		{Kind: TopicRecord, TP: tp, Name: fmt.Sprint("crafted", topic), Props: topicDefaults()},
		{Kind: PartitionRecord, TP: tp, Partition: PartitionRegistration{
			Replicas: replicas, ISR: isr, Leader: replicas[0], LeaderEpoch: epoch, PartitionEpoch: epoch,
		}},
	})
	b.watch = NewWatch(b.State)
	return tp
}
