// Accumulator: the producer's batches before they are sent.
//
// Each partition has a queue of batches, and a record is tried on the last one only (P-30), which keeps the order of
// send() within a partition, and nowhere else (P-57). Sizes are
// counted to the byte while records arrive, so that a batch ends exactly where Kafka's does (P-31, P-32).
//
// Kafka: RecordAccumulator, ProducerBatch, MemoryRecordsBuilder, BufferPool. Simplified: one application
// thread; memory is counted, not pooled.
package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/partlog/codec"
	"kafkalab/kafkasim/view"
)

// AccTopic is the accumulator's side of a topic; topics are numbered as in Metadata.Topics.
type AccTopic struct {
	Sticky Sticky
	Used   int32       // partitions that have had a batch
	Ratio  codec.Ratio // how small the codec makes this topic's batches (P-33)
	Parts  []AccPart
}

// AccPart is one partition's queue of batches.
type AccPart struct {
	Queue []int32 // slots of Producer.Live, oldest first
	Used  bool    // has had a batch (P-19)
	Load  int32   // batches in the queue when the sender last looked (P-18)
	Away  bool    // its broker took nothing for too long then (P-20)
	Muted bool    // a batch is in flight and no other may be (P-55)
	Hint  int32   // bytes of records in the last batch, for the room of the next
	Sequences
}

// PartRef names a partition by the client's own number of its topic.
type PartRef struct{ Topic, Partition int32 }

func (r PartRef) compare(o PartRef) int {
	if r.Topic != o.Topic {
		return int(r.Topic - o.Topic)
	}
	return int(r.Partition - o.Partition)
}

// BatchStatus is where a live batch is.
type BatchStatus uint8

// The places of a batch.
const (
	batchFree     BatchStatus = iota // the slot is unused
	batchQueued                      // in its partition's queue
	batchInFlight                    // in a request that is not answered
	batchDone                        // decided, while its request is still in flight
)

// LiveBatch is a batch that is being filled, waits, or is in flight.
type LiveBatch struct {
	Batch       partlog.Batch
	Ref         PartRef
	Status      BatchStatus
	Closed      bool        // takes no more records
	Retry       bool        // was put back at least once
	Reset       bool        // its sequence number was given anew (P-88)
	Split       bool        // came of a larger batch (P-67)
	Pressed     bool        // compressed: its size is final
	Ratio       codec.Ratio // what it counts on to be compressed to (P-33)
	Attempts    int32
	Created     int64 // µs
	LastAttempt int64 // µs: when it was created or put back
	FirstSend   int64 // number of its first record
	Limit       int32 // bytes it may hold (P-32)
	Memory      int32 // bytes of buffer.memory that it holds
	Largest     int32 // upper bound of its largest record alone in a batch (P-107)
	Raw         int32 // bytes before it was compressed
	LeaderEpoch int32 // newest epoch of its partition that it was held against, -1 for none
	LeaderMoved int32 // the attempt during which a newer leader epoch was learnt (P-62), -1 for none
}

// full tells whether the batch can take nothing more (P-31).
func (b *LiveBatch) full(p *Producer) bool {
	return b.Closed || b.Batch.Records.Count > 0 && b.Limit <= b.estimate() ||
		p.Config.BatchRecords > 0 && b.Batch.Records.Count >= p.Config.BatchRecords
}

// lastIsFull tells whether a partition's last batch is full, or there is none (P-15).
func (p *Producer) lastIsFull(topic, partition int32) bool {
	q := p.Topics[topic].Parts[partition].Queue
	return len(q) == 0 || p.Live[q[len(q)-1]].full(p)
}

// topicOf finds the client's number of a topic, naming it to the metadata if it is new.
func (p *Producer) topicOf(name string) int32 {
	for i := range p.Meta.Topics {
		if p.Meta.Topics[i].Name == name {
			return int32(i)
		}
	}
	i := p.Meta.add(name)
	p.Topics = append(p.Topics, AccTopic{Sticky: Sticky{Partition: -1}})
	return i
}

// grow gives a topic's partitions their queues as the metadata learns of them.
func (p *Producer) grow() {
	for t := range p.Topics {
		for n := len(p.Meta.Topics[t].Parts); len(p.Topics[t].Parts) < n; {
			p.Topics[t].Parts = append(p.Topics[t].Parts, AccPart{Sequences: noSequences})
		}
	}
}

// place is send() for one record: partition, size check, append. It answers what send() must wait for.
func (s *State) place(p *Producer, n, at int64, topic string, partition int32, r *partlog.Record, headers []partlog.Header) Wait {
	t := p.topicOf(topic)
	count := int32(len(p.Meta.Topics[t].Parts))
	if count == 0 {
		return WaitMetadata
	}
	if partition == anyPartition {
		partition = p.choose(r, count)
	}
	if partition >= count {
		p.Meta.Requested = true
		return WaitMetadata
	}
	if r.Timestamp == NoTimestamp {
		r.Timestamp = s.Now / ms
	}
	fields := partlog.FieldsSize(r, headers)
	if bound := int64(partlog.BatchSizeBound(fields)); bound > p.Config.MaxRequestSize || bound > p.Config.BufferMemory {
		s.failSend(p, n, at, RECORD_TOO_LARGE, r) // P-40
		return WaitNothing
	}
	switch {
	case s.changesByBatch(p):
		return s.placeByBatch(p, n, at, PartRef{t, partition}, r, headers, fields)
	case partition != anyPartition:
		return s.appendTo(p, n, at, PartRef{t, partition}, r, headers, fields)
	case s.takesTurns(p):
		return s.placeInTurn(p, n, at, t, r, headers, fields)
	}
	return s.placeSticky(p, n, at, t, r, headers, fields)
}

// placeSticky appends to the topic's sticky partition, which may change before and after (P-15).
func (s *State) placeSticky(p *Producer, n, at int64, t int32, r *partlog.Record, headers []partlog.Header, fields int32) Wait {
	for {
		ref := PartRef{t, s.sticky(p, t)}
		if p.Topics[t].Sticky.Bytes >= p.stickyBytes() && p.lastIsFull(t, ref.Partition) && s.stuck(p, t, 0) {
			continue
		}
		bytes := s.appendLast(p, n, at, ref, r, headers, fields)
		if bytes == 0 {
			// The batch was closed just now: a switch that waited for this may come.
			if s.stuck(p, t, 0) {
				continue
			}
			var wait Wait
			if bytes, wait = s.appendNew(p, n, at, ref, r, headers, fields); wait != WaitNothing {
				return wait
			}
		}
		s.stuck(p, t, int64(bytes))
		return WaitNothing
	}
}

// appendLast tries the partition's last batch and closes it if the record has no room (P-30, P-31). It returns
// the bytes that the batch grew by, 0 when a new batch is needed.
func (s *State) appendLast(p *Producer, n, at int64, ref PartRef, r *partlog.Record, headers []partlog.Header, fields int32) int32 {
	part := &p.Topics[ref.Topic].Parts[ref.Partition]
	if len(part.Queue) == 0 {
		return 0
	}
	b := &p.Live[part.Queue[len(part.Queue)-1]]
	if b.full(p) {
		b.Closed = true
		return 0
	}
	index, before := b.Batch.Records.Count, b.estimate()
	if !b.take(r, headers, fields) {
		b.Closed = true
		part.Hint = int32(len(b.Batch.Records.Data))
		return 0
	}
	s.noteSent(p, ref, n, at, b.Batch.Serial, index)
	if len(part.Queue) > 1 || b.full(p) {
		s.wakeAt(&p.ClientIO, s.Now)
	}
	return b.estimate() - before
}

// add appends a record of this size.
func (b *LiveBatch) add(r *partlog.Record, headers []partlog.Header, size int32) {
	b.Batch.Records.Append(r, headers)
	b.Batch.Size += size
	b.Batch.MaxTimestamp = max(b.Batch.MaxTimestamp, r.Timestamp)
}

// appendNew begins a batch with the record: its buffer is batch.size, or what the record may need (P-32).
func (s *State) appendNew(p *Producer, n, at int64, ref PartRef, r *partlog.Record, headers []partlog.Header, fields int32) (int32, Wait) {
	limit := max(int32(min(p.Config.BatchSize, 1<<30)), 1, partlog.BatchSizeBound(fields))
	if p.Memory+int64(limit) > p.Config.BufferMemory {
		return 0, WaitMemory
	}
	p.Memory += int64(limit)
	part := &p.Topics[ref.Topic].Parts[ref.Partition]
	slot := p.newBatch(s.Now, ref, n, limit, part.Hint)
	b := &p.Live[slot]
	b.take(r, headers, fields)
	if n < p.FlushBelow {
		p.FlushLeft++
	}
	if p.transactional() {
		s.joins(p, p.tp(ref))
	}
	if !part.Used {
		part.Used = true
		p.Topics[ref.Topic].Used++
	}
	if len(part.Queue) == 0 {
		p.activate(ref)
	}
	part.Queue = append(part.Queue, slot)
	s.noteSent(p, ref, n, at, b.Batch.Serial, 0)

	// P-35: linger begins now. What is sendable already, or lacks a leader, wakes the sender.
	wake := s.Now
	if len(part.Queue) == 1 && !b.full(p) && p.Meta.Topics[ref.Topic].Parts[ref.Partition].Leader != NoNode {
		wake += p.Config.LingerMs * ms
	}
	if p.Flushing() {
		wake = s.Now
	}
	s.wakeAt(&p.ClientIO, wake)
	return b.estimate(), WaitNothing
}

// newBatch takes a slot for a batch and gives it its serial.
func (p *Producer) newBatch(now int64, ref PartRef, first int64, limit, room int32) int32 {
	slot := int32(len(p.Live))
	if k := len(p.Free) - 1; k >= 0 {
		slot, p.Free = p.Free[k], p.Free[:k]
	} else {
		p.Live = append(p.Live, LiveBatch{})
	}
	tp := TopicPartition{p.Meta.Topics[ref.Topic].Topic, ref.Partition}
	serial := p.Outcomes.add(BatchOutcome{TP: tp, BaseOffset: -1, Created: now, Sent: -1, Decided: -1})
	p.Live[slot] = LiveBatch{
		Batch: partlog.Batch{BaseOffset: -1, LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1,
			Size: partlog.BatchOverhead, Sender: p.Index, Serial: serial,
			Codec: codec.Codec(p.Config.Compression), Level: p.level()},
		Ref: ref, Status: batchQueued, Created: now, LastAttempt: now, FirstSend: first, Limit: limit, Memory: limit,
		LeaderEpoch: -1, LeaderMoved: -1, Ratio: p.Topics[ref.Topic].Ratio,
	}
	p.Live[slot].Batch.Records.Room(int(room))
	return slot
}

// activate enters a partition into the sorted list of those with queued batches.
func (p *Producer) activate(ref PartRef) {
	if i, found := slices.BinarySearchFunc(p.Active, ref, PartRef.compare); !found {
		p.Active = slices.Insert(p.Active, i, ref)
	}
}

// rest drops partitions whose queues are empty from the list.
func (p *Producer) rest() {
	p.Active = slices.DeleteFunc(p.Active, func(r PartRef) bool { return len(p.Topics[r.Topic].Parts[r.Partition].Queue) == 0 })
}

// popFront takes the oldest batch out of a queue.
func (a *AccPart) popFront() int32 {
	slot := a.Queue[0]
	copy(a.Queue, a.Queue[1:])
	a.Queue = a.Queue[:len(a.Queue)-1]
	return slot
}

// reenqueue puts a batch that failed back: at the front (P-68), or with sequence numbers in their order. Without
// numbers a batch that is in flight already overtakes it for good (P-69), and one that was written is written
// again (P-70).
func (p *Producer) reenqueue(slot int32) {
	b := &p.Live[slot]
	part := &p.Topics[b.Ref.Topic].Parts[b.Ref.Partition]
	at := 0
	if b.Batch.BaseSequence >= 0 {
		for at < len(part.Queue) {
			q := &p.Live[part.Queue[at]]
			if q.Batch.BaseSequence < 0 || q.Batch.BaseSequence >= b.Batch.BaseSequence {
				break
			}
			at++
		}
	}
	b.Status = batchQueued
	part.Queue = slices.Insert(part.Queue, at, slot)
	p.activate(b.Ref)
}

// release frees a batch's slot.
func (p *Producer) release(slot int32) {
	p.Live[slot] = LiveBatch{}
	p.Free = append(p.Free, slot)
}

// sentLookBack is how far noteSent looks for a change of this instant that it can count up.
const sentLookBack = 16

// noteSent records where a send() went, and counts it in this instant's change of the trace.
func (s *State) noteSent(p *Producer, ref PartRef, n, at int64, serial, index int32) {
	p.noteSend(n, at, serial, index)
	if s.Quiet {
		return
	}
	ordinal := s.ordinal(TopicPartition{p.Meta.Topics[ref.Topic].Topic, ref.Partition})
	for i := len(s.Notes) - 1; i >= 0 && i >= len(s.Notes)-sentLookBack; i-- {
		c := &s.Notes[i]
		if c.Kind != view.Sent || c.At != s.Now {
			break
		}
		if c.Partition == ordinal && c.Client == p.Name {
			c.A++
			return
		}
	}
	s.note(view.Change{Kind: view.Sent, Broker: -1, Partition: ordinal, Client: p.Name, A: 1})
}

// cloneAccumulator copies what records are appended to. A batch that is being filled shares its records
// so far; its copy has no room, so that the first append moves it apart.
func (c *Producer) cloneAccumulator(p *Producer) {
	c.Live = slices.Clone(p.Live)
	for i := range c.Live {
		c.Live[i].Batch.Records.Clip()
	}
	c.Free, c.Active, c.Topics = slices.Clone(p.Free), slices.Clone(p.Active), slices.Clone(p.Topics)
	c.Loaded = slices.Clone(p.Loaded)
	for i := range c.Topics {
		parts := slices.Clone(c.Topics[i].Parts)
		for j := range parts {
			parts[j].Queue = slices.Clone(parts[j].Queue)
			parts[j].InFlight = slices.Clone(parts[j].InFlight)
		}
		c.Topics[i].Parts = parts
	}
}
