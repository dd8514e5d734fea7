// Idempotence: producer id and sequence numbers.
//
// Batches of a partition are numbered by their records; the broker takes a number once and in order, so
// a retry can neither duplicate nor overtake (P-82 to P-86, at the broker). When numbers cannot be saved
// the producer goes on with the next epoch and numbers what is in flight from 0 (P-88).
//
// Kafka: TransactionManager, TxnPartitionMap (KIP-98, KIP-360). Transactions: transaction_manager.go.
package machine

import "slices"

// Identity is a producer's id and epoch.
type Identity struct {
	ProducerID    int64 // -1 before there is one
	ProducerEpoch int16
	Asked         bool  // an InitProducerIDRequest is in flight
	AskAt         int64 // µs: not before
	Bump          bool  // the epoch must be bumped
	Doubt         bool  // some partition's sequence is unresolved
}

var noIdentity = Identity{ProducerID: -1, ProducerEpoch: -1}

// Sequences are one partition's sequence numbers at an idempotent producer.
type Sequences struct {
	ID         int64 // of the producer, when the partition was last numbered from 0
	Epoch      int16
	Next       int32   // the next batch's base sequence
	LastAcked  int32   // -1 for none
	AckedTo    int64   // the largest offset acknowledged, -1 for none (P-89)
	InFlight   []int32 // slots of batches with a number that are not decided, by number
	Unresolved int32   // a sent batch expired: the number after it, -1 for none (P-90)
	Renumber   bool    // from 0 with the next epoch
}

var noSequences = Sequences{ID: -1, Epoch: -1, LastAcked: -1, AckedTo: -1, Unresolved: -1}

// maxProducerEpoch is the last epoch of a producer id; after it a new id is asked for (P-88).
const maxProducerEpoch = 1<<15 - 1

// identify keeps the producer id usable and tells whether there is one (P-81).
func (s *State) identify(p *Producer) bool {
	p.resolve()
	if p.Bump && s.mutant(SameEpochAfterGap) {
		p.ProducerEpoch--
	}
	if p.Bump {
		p.bumpEpoch()
	}
	if p.ProducerID >= 0 {
		return true
	}
	if p.Asked || s.Now < p.AskAt || p.Status != ProducerRunning && p.Undecided() == 0 {
		return false
	}
	if c := s.leastLoaded(&p.ClientIO, p.Config.MaxInFlight); c != nil {
		p.Asked = true
		s.clientRequest(&p.ClientIO, c, Request{Payload: InitProducerIDRequest{}}, true)
	}
	return false
}

// identified takes over a producer id.
func (s *State) identified(p *Producer, r *InitProducerIDResponse) {
	p.Asked = false
	if r.Error != NONE {
		p.AskAt = s.Now + p.Times.RetryBackoff
		return
	}
	p.ProducerID, p.ProducerEpoch = r.ProducerID, r.ProducerEpoch
}

// mustWait tells whether a batch must not be sent yet (P-56).
func (p *Producer) mustWait(part *AccPart, b *LiveBatch) bool {
	if b.Batch.BaseSequence < 0 {
		stale := part.ID != p.ProducerID || part.Epoch != p.ProducerEpoch
		return stale && len(part.InFlight) > 0 || part.Unresolved >= 0
	}
	return len(part.InFlight) > 0 && p.Live[part.InFlight[0]].Batch.BaseSequence != b.Batch.BaseSequence
}

// sequence numbers a batch that is drained for the first time (P-82).
func (p *Producer) sequence(part *AccPart, slot int32) {
	if part.ID != p.ProducerID || part.Epoch != p.ProducerEpoch {
		part.ID, part.Epoch, part.Next, part.LastAcked = p.ProducerID, p.ProducerEpoch, 0, -1
	}
	b := &p.Live[slot].Batch
	b.ProducerID, b.ProducerEpoch, b.BaseSequence = p.ProducerID, p.ProducerEpoch, part.Next
	b.Transactional = p.transactional()
	part.Next = nextSequence(part.Next, b.Records.Count)
	part.InFlight = append(part.InFlight, slot)
}

// nextSequence adds to a sequence number, which wraps from 2147483647 to 0 (P-82).
func nextSequence(seq, by int32) int32 {
	return int32((int64(seq) + int64(by)) & 0x7fffffff)
}

// sequenceAcked takes over that a batch is written.
func (p *Producer) sequenceAcked(part *AccPart, slot int32, base int64) {
	b := &p.Live[slot].Batch
	if base >= 0 {
		part.AckedTo = max(part.AckedTo, base+int64(b.Records.Count)-1)
	}
	if b.BaseSequence < 0 || b.ProducerEpoch != part.Epoch || b.ProducerID != part.ID {
		return
	}
	part.LastAcked = max(part.LastAcked, nextSequence(b.BaseSequence, b.Records.Count-1))
	part.unnumber(slot)
}

// sequenceFailed takes over that a batch is given up.
func (p *Producer) sequenceFailed(part *AccPart, slot int32, why Code, refused bool) {
	if !p.Config.EnableIdempotence || p.Live[slot].Batch.BaseSequence < 0 {
		return
	}
	part.unnumber(slot)
	if (refused || why == OUT_OF_ORDER_SEQUENCE_NUMBER) && !p.transactional() { // whose transaction ends by it
		p.renumber(part)
	}
}

// outOfOrder reacts to OUT_OF_ORDER_SEQUENCE_NUMBER (P-88): the batch is tried again, and if it is the
// next one expected there is a real gap, which the next epoch closes.
func (p *Producer) outOfOrder(part *AccPart, b *LiveBatch) {
	next := b.Batch.BaseSequence == part.LastAcked+1
	if part.Unresolved < 0 && (b.Reset || !next) {
		return
	}
	if part.Unresolved < 0 || b.Batch.BaseSequence == part.Unresolved {
		p.renumber(part)
	}
}

// renumber asks for the next epoch, in which the partition is numbered from 0.
func (p *Producer) renumber(part *AccPart) {
	p.Bump = true
	part.Renumber = true
}

// resolve clears up sequences of batches that expired after they were sent, once nothing of their
// partition is in flight: if the numbers still follow the last acknowledged one all is well (P-90).
func (p *Producer) resolve() {
	if !p.Doubt {
		return
	}
	p.Doubt = false
	for t := range p.Topics {
		for i := range p.Topics[t].Parts {
			part := &p.Topics[t].Parts[i]
			if part.Unresolved < 0 {
				continue
			}
			if len(part.InFlight) > 0 {
				p.Doubt = true
				continue
			}
			if part.Next != part.LastAcked+1 {
				p.renumber(part)
			}
			part.Unresolved = -1
		}
	}
}

// bumpEpoch moves to the next epoch, or asks for a new id after the last, and numbers the batches in
// flight of the partitions that asked for it from 0 (P-88).
func (p *Producer) bumpEpoch() {
	p.Bump = false
	if p.ProducerEpoch == maxProducerEpoch {
		p.Identity = noIdentity
		return
	}
	p.ProducerEpoch++
	for t := range p.Topics {
		for i := range p.Topics[t].Parts {
			part := &p.Topics[t].Parts[i]
			if !part.Renumber {
				continue
			}
			p.restartSequences(part)
			part.Unresolved, part.Renumber = -1, false
		}
	}
}

// restartSequences numbers the partition's batches in flight from 0.
func (p *Producer) restartSequences(part *AccPart) {
	next := int32(0)
	for _, slot := range part.InFlight {
		b := &p.Live[slot]
		b.Batch.ProducerID, b.Batch.ProducerEpoch, b.Batch.BaseSequence = p.ProducerID, p.ProducerEpoch, next
		b.Reset = true
		next = nextSequence(next, b.Batch.Records.Count)
	}
	part.ID, part.Epoch, part.Next, part.LastAcked = p.ProducerID, p.ProducerEpoch, next, -1
}

// unknown reacts to UNKNOWN_PRODUCER_ID (P-89), which brokers before 2.5 answer: the batch is always tried again.
// If all that was acknowledged is gone from the log, it was deleted, and the numbers may begin at 0 in the same epoch.
func (p *Producer) unknown(part *AccPart, b *LiveBatch, logStart int64) {
	switch {
	case logStart < 0 || b.Reset:
	case part.AckedTo < logStart:
		p.restartSequences(part)
	default:
		p.renumber(part)
	}
}

func (q *Sequences) unnumber(slot int32) {
	if i := slices.Index(q.InFlight, slot); i >= 0 {
		q.InFlight = slices.Delete(q.InFlight, i, i+1)
	}
}
