package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// split cuts a batch that the broker calls too large into smaller ones and puts them back; this uses up no
// retry (P-67). They are cut by batch.size, and a batch that came of a split already by half of its size.
// Their memory is not of buffer.memory, and their sequence numbers follow on from the large one's.
func (s *State) split(p *Producer, slot int32) {
	big := p.Live[slot]
	size := int32(min(p.Config.BatchSize, 1<<30))
	p.expand(&big)
	if big.Split {
		size = max(big.Largest, big.Batch.Size/2)
	}
	first := p.Outcomes.Count
	var slots []int32
	for c := big.Batch.Records.From(0); c.Next(); {
		headers := c.Headers()
		fields := partlog.FieldsSize(&c.Record, headers)
		if k := len(slots) - 1; k < 0 || !p.Live[slots[k]].take(&c.Record, headers, fields) {
			small := p.newBatch(big.Created, big.Ref, big.FirstSend, max(size, partlog.BatchSizeBound(fields)), 0)
			p.Live[small].take(&c.Record, headers, fields)
			slots = append(slots, small)
		}
	}
	for _, small := range slots {
		b := &p.Live[small]
		b.Memory, b.Closed, b.Split = 0, true, true
		p.Outcomes.at(b.Batch.Serial).Count = b.Batch.Records.Count
		p.Outcomes.at(b.Batch.Serial).LastError = MESSAGE_TOO_LARGE
	}
	p.Stats.Splits++
	p.numberSplit(&big, slot, slots)
	o := p.Outcomes.at(big.Batch.Serial)
	o.Split, o.Count, o.Records = first, big.Batch.Records.Count, big.Batch.Records
	p.Outcomes.settle(big.Batch.Serial)
	if big.FirstSend < p.FlushBelow {
		p.FlushLeft += int32(len(slots)) - 1
	}
	if s.mutant(SplitReversed) {
		slices.Reverse(slots)
	}
	for _, small := range slices.Backward(slots) {
		p.reenqueue(small)
	}
	s.note(view.Change{Kind: view.Retried, Broker: -1, Partition: s.ordinal(o.TP), Client: p.Name,
		A: int64(big.Batch.Records.Count), Text: MESSAGE_TOO_LARGE.String()})
}

// numberSplit hands the large batch's sequence numbers on to its parts.
func (p *Producer) numberSplit(big *LiveBatch, slot int32, slots []int32) {
	if big.Batch.BaseSequence < 0 {
		return
	}
	next := big.Batch.BaseSequence
	for _, small := range slots {
		b := &p.Live[small].Batch
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = big.Batch.ProducerID, big.Batch.ProducerEpoch, next
		next = nextSequence(next, b.Records.Count)
	}
	part := &p.Topics[big.Ref.Topic].Parts[big.Ref.Partition]
	if i := slices.Index(part.InFlight, slot); i >= 0 {
		part.InFlight = slices.Replace(part.InFlight, i, i+1, slots...)
	}
}

// take appends a record if it has room (P-31).
func (b *LiveBatch) take(r *partlog.Record, headers []partlog.Header, fields int32) bool {
	n := b.Batch.Records.Count
	if n == 0 {
		b.Largest = partlog.BatchSizeBound(fields)
		b.Batch.MaxTimestamp = r.Timestamp
		b.add(r, headers, partlog.RecordSize(fields, 0, 0))
		return true
	}
	size := partlog.RecordSize(fields, n, r.Timestamp-b.Batch.Records.Base)
	if b.estimate()+size > b.Limit {
		return false
	}
	b.Largest = max(b.Largest, partlog.BatchSizeBound(fields))
	b.add(r, headers, size)
	return true
}
