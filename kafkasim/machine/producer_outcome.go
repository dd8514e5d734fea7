// Outcomes: what became of what a producer sent.
//
// Kafka gives each record a future; here a record is a number, and two compact lists answer for it: runs
// of numbers say which batch a record went to, and each batch has one outcome, since a batch succeeds or
// fails as a whole (P-71).
package machine

import "kafkalab/kafkasim/partlog"

// BatchOutcome is what became of a batch.
type BatchOutcome struct {
	TP         TopicPartition
	BaseOffset int64 // -1 while undecided, when failed and with acks=0
	Created    int64 // µs: when its first record was appended
	Sent       int64 // µs: when it was first put on the wire, -1 if never
	LastSent   int64 // … and last
	Decided    int64 // µs: when the client learnt the outcome, -1 while undecided
	Attempts   int32 // how often it was put on the wire
	Count      int32 // records, once it is decided
	Error      Code  // what it failed with
	LastError  Code  // of the last attempt that failed
	Split      int32 // the batch was cut up into those from this serial on (P-67); 0 if it was not
	Status     DeliveryStatus
	Records    partlog.Records // what it held, once that is decided
}

// outcomeChunk is how many outcomes lie together; chunks in which all is decided are shared by clones.
const outcomeChunk = 128

// Outcomes are the outcomes of all batches by serial.
type Outcomes struct {
	Chunks [][]BatchOutcome
	Open   []int32 // undecided ones in each chunk
	Count  int32
	Tries  []Try // that failed, in their order
}

// Try is an attempt to deliver a batch that failed.
type Try struct {
	Serial      int32
	Error       Code
	Sent, Ended int64 // µs
}

// tried notes that the present attempt has failed.
func (o *Outcomes) tried(serial int32, why Code, now int64) {
	b := o.at(serial)
	b.LastError = why
	o.Tries = append(o.Tries, Try{serial, why, b.LastSent, now})
}

// add makes the outcome of a new batch and returns its serial.
func (o *Outcomes) add(b BatchOutcome) int32 {
	if o.Count%outcomeChunk == 0 {
		o.Chunks = append(o.Chunks, nil)
		o.Open = append(o.Open, 0)
	}
	last := len(o.Chunks) - 1
	o.Chunks[last] = append(o.Chunks[last], b)
	if b.Status == DeliveryPending {
		o.Open[last]++
	}
	o.Count++
	return o.Count - 1
}

// at finds the outcome of a batch.
func (o *Outcomes) at(serial int32) *BatchOutcome {
	return &o.Chunks[serial/outcomeChunk][serial%outcomeChunk]
}

// decide settles a batch.
func (o *Outcomes) decide(serial int32, status DeliveryStatus) {
	o.at(serial).Status = status
	o.settle(serial)
}

// settle says that a batch's outcome will not change any more.
func (o *Outcomes) settle(serial int32) { o.Open[serial/outcomeChunk]-- }

// locate finds where a record is that went to a batch, which may have been cut up since.
func (o *Outcomes) locate(serial, index int32) (int32, int32) {
	for o.at(serial).Split > 0 {
		serial = o.at(serial).Split
		for ; index >= o.at(serial).Count; serial++ {
			index -= o.at(serial).Count
		}
	}
	return serial, index
}

func (o *Outcomes) clone() Outcomes {
	c := *o
	c.Chunks = append([][]BatchOutcome(nil), o.Chunks...)
	c.Open = append([]int32(nil), o.Open...)
	c.Tries = append([]Try(nil), o.Tries...)
	for i := range c.Chunks {
		if c.Open[i] > 0 || len(c.Chunks[i]) < outcomeChunk {
			c.Chunks[i] = append([]BatchOutcome(nil), o.Chunks[i]...)
		}
	}
	return c
}

// noteSend records which batch a record went to.
func (p *Producer) noteSend(n, at int64, batch, index int32) {
	p.Placed = n + 1
	if r := &p.Runs.Last; p.Runs.Open.Count > 0 && r.Batch == batch && r.At == at && int64(r.Index)+n-r.First == int64(index) {
		return
	}
	p.Runs.add(SendRun{First: n, At: at, Batch: batch, Index: index})
}

// failSend ends a send() that never reached a batch.
func (s *State) failSend(p *Producer, n, at int64, why Code, r *partlog.Record) {
	serial := p.Outcomes.add(BatchOutcome{TP: TopicPartition{-1, -1}, BaseOffset: -1, Created: at, Sent: -1, Decided: s.Now, Count: 1, Error: why, Status: DeliveryFailed, Records: partlog.PackRecords(*r)})
	p.noteSend(n, at, serial, 0)
	p.FailedRecords++
	s.noteFailed(p, TopicPartition{-1, -1}, 1, why)
	switch why {
	case RECORD_TOO_LARGE, BUFFER_EXHAUSTED, TIMEOUT_EXCEPTION:
		if p.transactional() {
			s.txnFailed(p, why) // or a transaction could be committed without it (KafkaProducer.doSend)
		}
	}
}

// Delivery tells what became of the record with this number.
func (s *State) Delivery(producer int32, number int64) Delivery {
	p := &s.Producers[producer]
	d := Delivery{TP: TopicPartition{-1, -1}, Offset: -1, DecidedAt: -1, SentAt: -1}
	if b := p.Blocked.number(number); b != nil {
		d.SentAt = b.At
		return d
	}
	if number >= p.Placed {
		return d // a crash took it before it was in a batch
	}
	run := p.Runs.find(number)
	serial, index := p.Outcomes.locate(run.Batch, run.Index+int32(number-run.First))
	o := p.Outcomes.at(serial)
	d.Status, d.TP, d.SentAt, d.DecidedAt, d.Attempts = o.Status, o.TP, run.At, o.Decided, o.Attempts
	if o.BaseOffset >= 0 {
		d.Offset = o.BaseOffset + int64(index)
	}
	if o.Error != NONE {
		d.Error = o.Error.String()
	}
	if o.LastError != NONE {
		d.LastError = o.LastError.String()
	}
	return d
}

// BatchSerial is the serial of the batch that the record with this number went to, -1 for none yet.
func (s *State) BatchSerial(producer int32, number int64) int32 {
	p := &s.Producers[producer]
	if number >= p.Placed {
		return -1
	}
	run := p.Runs.find(number)
	serial, _ := p.Outcomes.locate(run.Batch, run.Index+int32(number-run.First))
	return serial
}
