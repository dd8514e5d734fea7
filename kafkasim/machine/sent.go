package machine

import "kafkalab/kafkasim/partlog"

// Sent reads again what a producer was given to send, whatever has become of it: from the batches where the
// records are, so that a history of them need not keep any. Reading in the order of the numbers is fast.
type Sent struct {
	p       *Producer
	run     runReader
	until   int64 // run's chunk has what is below this number
	batches map[int32]*sentBatch
}

// sentBatch is a batch that is being read, up to the record with this index.
type sentBatch struct {
	partlog.Cursor
	index int32
}

// Sent reads what a producer of this world was given.
func (s *State) Sent(producer int32) *Sent {
	return &Sent{p: &s.Producers[producer], batches: map[int32]*sentBatch{}}
}

// Record is the record with a number, as send() got it but for its timestamp and without headers. The world must
// not have gone on since Sent.
func (x *Sent) Record(number int64) partlog.Record {
	if b := x.p.Blocked.number(number); b != nil {
		return b.Record
	}
	if b := x.p.Unsent.number(number); b != nil {
		return b.Record
	}
	if len(x.run.rest) == 0 || number < x.run.First || number >= x.until {
		x.run, x.until = x.p.Runs.reader(number)
	}
	x.run.to(number)
	return x.at(x.run.Batch, x.run.Index+int32(number-x.run.First))
}

// at is a record of a batch.
func (x *Sent) at(serial, index int32) partlog.Record {
	b := x.batches[serial]
	if b == nil || b.index > index {
		b = &sentBatch{Cursor: x.p.records(serial).From(0), index: -1}
		x.batches[serial] = b
	}
	for b.index < index && b.Next() {
		b.index++
	}
	if b.Left() == 0 {
		delete(x.batches, serial)
	}
	return b.Record
}

// records are those of a batch, be it decided or not.
func (p *Producer) records(serial int32) *partlog.Records {
	o := p.Outcomes.at(serial)
	if o.Records.Count > 0 {
		return &o.Records
	}
	for i := range p.Live {
		if b := &p.Live[i]; b.Status != batchFree && b.Batch.Serial == serial {
			return &b.Batch.Records
		}
	}
	return &o.Records
}
