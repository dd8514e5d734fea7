// Producer.
//
// send() runs in the application's thread: it waits for metadata and memory, chooses a partition
// (partitioner.go) and appends to a batch of the accumulator (accumulator.go). The sender
// (sender.go) takes batches from there to the brokers and handles what comes back
// (sender_results.go), with sequence numbers if the producer is idempotent (producer_idempotence.go).
//
// A producer stands for one application thread: while a send() is blocked, the later ones have not been
// called yet, and their max.block.ms begins when their turn comes.
//
// Kafka: KafkaProducer, RecordAccumulator, Sender (KIP-91, KIP-98). Absent: interceptors.
package machine

import (
	"slices"
	"strconv"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// NoTimestamp asks the producer to stamp the record when it is appended.
const NoTimestamp int64 = -1

// ProducerStatus is a producer's stage of life.
type ProducerStatus uint8

// The stages of a producer's life.
const (
	ProducerRunning ProducerStatus = iota
	ProducerClosing                // close() was called; what was sent is still being delivered
	ProducerClosed
	ProducerCrashed
)

// Producer is one producer client.
type Producer struct {
	ClientIO
	Config config.Producer
	Index  int32 // in State.Producers
	Status ProducerStatus

	Topics []AccTopic // as Meta.Topics
	Live   []LiveBatch
	Free   []int32   // unused slots of Live
	Active []PartRef // partitions with queued batches, sorted
	Loaded []PartRef // those that the sender saw when it last looked (P-18)
	Memory int64     // bytes of buffer.memory in use

	Blocked BlockedSends
	Unsent  BlockedSends // those that waited when it crashed

	Sends         int64    // records handed to send()
	Placed        int64    // … of which so many are in a batch or failed
	Runs          SendRuns // which batch they went to
	Outcomes      Outcomes // what became of the batches, by serial
	AckedRecords  int64
	FailedRecords int64
	Stats         ProducerStats
	FlushBelow    int64 // a flush waits for the sends below this number
	FlushLeft     int32 // … which are in so many batches

	Traffic []Traffic
	Identity
	Txn TransactionManager
	App TxnApp
}

// Traffic sends one record each Interval µs.
type Traffic struct {
	Interval int64
	Topic    string
	Keys     []string
	Left     int64 // -1 for no end
	Sent     int64
}

// SendTick lets steady traffic send its next record.
type SendTick struct{ Traffic int32 }

func (SendTick) payload() {}

// applyProducer carries out what a user does with a producer.
func (s *State) applyProducer(c Command) Result {
	switch c := c.(type) {
	case NewProducer:
		return s.newProducer(c)
	case Send:
		n := s.Send(c.Producer, c.Topic, c.Partition, c.Record, c.Headers)
		return Result{ID: int32(n)}
	case SendEvery:
		s.sendEvery(&s.Producers[c.Producer], c)
	case FlushProducer:
		s.flush(&s.Producers[c.Producer])
	case CloseProducer:
		s.closeProducer(&s.Producers[c.Producer])
	case CrashProducer:
		s.crashProducer(&s.Producers[c.Producer])
	case InitTransactions:
		p := &s.Producers[c.Producer]
		return s.mayBeAsync(p, c.Async, s.initTransactions(p))
	case BeginTransaction:
		return Result{ID: -1, Error: s.beginTransaction(&s.Producers[c.Producer])}
	case SendOffsets:
		return Result{ID: -1, Error: s.sendOffsets(&s.Producers[c.Producer], c)}
	case EndTransaction:
		p := &s.Producers[c.Producer]
		return s.mayBeAsync(p, c.Async, s.endTransaction(p, c.Commit))
	case TxnWork:
		s.workTransactions(&s.Producers[c.Producer], c)
	}
	return Result{ID: -1}
}

func (s *State) newProducer(c NewProducer) Result {
	i := int32(len(s.Producers))
	io := s.newClient(c.Name, ProducerClient, i, ClientTimes{
		RequestTimeout: c.Props.RequestTimeoutMs * ms, RetryBackoff: c.Props.RetryBackoffMs * ms,
		RetryBackoffMax: c.Props.RetryBackoffMaxMs * ms, MetadataMaxAge: c.Props.MetadataMaxAgeMs * ms,
		ReconnectBackoff: c.Props.ReconnectBackoffMs * ms, ReconnectBackoffMax: c.Props.ReconnectBackoffMax * ms,
	})
	s.Producers = append(s.Producers, Producer{ClientIO: io, Config: c.Props, Index: i, Identity: noIdentity})
	if p := &s.Producers[i]; p.Config.EnableIdempotence && !p.transactional() {
		s.wakeAt(&p.ClientIO, s.Now) // the producer id is asked for at once (P-81)
	}
	return Result{ID: i}
}

// Send hands one record to a producer's send() and returns its number there, from 0. It costs a copy of
// the record and no event unless a batch begins or is full.
func (s *State) Send(producer int32, topic string, partition int32, rec partlog.Record, headers []partlog.Header) int64 {
	p := &s.Producers[producer]
	n := p.Sends
	p.Sends++
	if p.Status != ProducerRunning {
		s.failSend(p, n, s.Now, PRODUCER_CLOSED, &rec)
		return n
	}
	if why := p.mayTransact(); why != NONE {
		s.failSend(p, n, s.Now, why, &rec)
		return n
	}
	wait := WaitMemory
	if p.Blocked.Count == 0 {
		wait = s.place(p, n, s.Now, topic, partition, &rec, headers)
		if wait == WaitNothing {
			return n
		}
		p.Blocked.Since, p.Blocked.For = s.Now, wait
		s.wakeAt(&p.ClientIO, s.Now)
	}
	p.Blocked.push(BlockedSend{Number: n, At: s.Now, Topic: topic, Partition: partition, Record: rec, Headers: headers})
	return n
}

// flush makes everything sendable without linger until all that was sent before is decided (P-42).
func (s *State) flush(p *Producer) {
	p.FlushBelow = p.Sends
	p.FlushLeft = 0
	for i := range p.Live {
		if b := &p.Live[i]; b.Status != batchFree && b.Status != batchDone && b.FirstSend < p.FlushBelow {
			p.FlushLeft++
		}
	}
	s.wakeAt(&p.ClientIO, s.Now)
}

// Flushing tells whether a flush is waiting.
func (p *Producer) Flushing() bool {
	return p.FlushLeft > 0 || p.Blocked.Count > 0 && p.Blocked.first().Number < p.FlushBelow
}

// Undecided is the number of records that were sent and are neither acknowledged nor failed.
func (p *Producer) Undecided() int64 {
	if p.Status == ProducerCrashed {
		return 0
	}
	return p.Sends - p.AckedRecords - p.FailedRecords
}

// Retrying is the number of records in batches that wait for another attempt.
func (p *Producer) Retrying() int64 {
	n := 0
	for i := range p.Live {
		if b := &p.Live[i]; b.Status == batchQueued && b.Attempts > 0 {
			n += b.Batch.Records.Len()
		}
	}
	return int64(n)
}

func (s *State) closeProducer(p *Producer) {
	if p.Status == ProducerRunning {
		p.Status = ProducerClosing
		p.Traffic, p.App.On = nil, false
		if t := &p.Txn; p.transactional() && !t.Ending && (t.State == TxnInTransaction || t.State == TxnAbortableError) {
			s.endTransaction(p, false) // close() ends what is open
		}
		s.wakeAt(&p.ClientIO, s.Now)
	}
}

// crashProducer ends the process: what it had not sent is gone, and nobody hears what becomes of the rest.
func (s *State) crashProducer(p *Producer) {
	p.Status, p.App.On = ProducerCrashed, false
	for i := range p.Live {
		if b := &p.Live[i]; b.Status == batchQueued || b.Status == batchInFlight {
			p.Outcomes.at(b.Batch.Serial).Records = b.Batch.Records
		}
	}
	p.Unsent, p.Blocked = p.Blocked, BlockedSends{}
	p.Active, p.Loaded, p.Traffic, p.Live, p.Free, p.Topics = nil, nil, nil, nil, nil, nil
	p.Memory, p.FlushLeft = 0, 0
	p.Meta.Topics = nil
	for i := range p.Conns {
		p.Conns[i].InFlight = nil
		p.Conns[i].ID = 0
	}
}

func (s *State) sendEvery(p *Producer, c SendEvery) {
	left := c.Count
	if left == 0 {
		left = -1
	}
	p.Traffic = append(p.Traffic, Traffic{Interval: c.Interval, Topic: c.Topic, Keys: c.Keys, Left: left})
	s.after(0, p.Node, SendTick{Traffic: int32(len(p.Traffic) - 1)})
}

// tick sends the next record of steady traffic.
func (s *State) tick(p *Producer, n int32) {
	if int(n) >= len(p.Traffic) {
		return // closed meanwhile
	}
	t := &p.Traffic[n]
	t.Sent++
	r := partlog.Record{Value: "#" + strconv.FormatInt(t.Sent, 10), Timestamp: NoTimestamp, Flags: partlog.NullKey}
	if len(t.Keys) > 0 {
		r.Key, r.Flags = t.Keys[(t.Sent-1)%int64(len(t.Keys))], 0
	}
	if t.Left > 0 {
		t.Left--
	}
	if t.Left != 0 {
		s.after(t.Interval, p.Node, SendTick{Traffic: n})
	}
	s.Send(p.Index, t.Topic, anyPartition, r, nil)
}

// clone copies what a step may change; records and decided outcomes are shared.
func (p *Producer) clone() Producer {
	c := *p
	c.ClientIO = p.ClientIO.clone()
	c.cloneAccumulator(p)
	c.Blocked = p.Blocked.clone()
	c.Runs = p.Runs.clone()
	c.Outcomes = p.Outcomes.clone()
	c.Traffic = append([]Traffic(nil), p.Traffic...)
	c.App.Returned = slices.Clip(p.App.Returned)
	return c
}
