package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Wait says what a blocked send() waits for.
type Wait uint8

// What a send() can wait for.
const (
	WaitNothing  Wait = iota
	WaitMetadata      // the topic, or a partition with this number, is not in the metadata (P-11)
	WaitMemory        // buffer.memory is in use (P-39)
)

// BlockedSend is a call of send() that has not returned, or that the application has not come to.
type BlockedSend struct {
	Number    int64
	At        int64 // µs: when it was called
	Topic     string
	Partition int32
	Record    partlog.Record
	Headers   []partlog.Header
}

// blockedChunk is how many blocked sends lie together. They never move, and clones share them.
const blockedChunk = 256

// BlockedSends is a producer's queue of blocked sends, first come first served (P-39).
type BlockedSends struct {
	Chunks [][]BlockedSend // all but the last are full
	Head   int32           // where the first one is in the first chunk
	Count  int64
	Since  int64 // µs: since when the first one waits
	For    Wait  // … and for what
}

func (q *BlockedSends) push(b BlockedSend) {
	last := len(q.Chunks) - 1
	if last < 0 || len(q.Chunks[last]) == blockedChunk {
		q.Chunks = append(q.Chunks, nil)
		last++
	}
	q.Chunks[last] = append(q.Chunks[last], b)
	q.Count++
}

func (q *BlockedSends) first() *BlockedSend { return &q.Chunks[0][q.Head] }

func (q *BlockedSends) pop() {
	q.Head++
	q.Count--
	switch {
	case q.Count == 0:
		*q = BlockedSends{}
	case q.Head == blockedChunk:
		q.Chunks, q.Head = q.Chunks[1:], 0
	}
}

// number finds a blocked send by its number, nil for none: numbers count up through the queue.
func (q *BlockedSends) number(n int64) *BlockedSend {
	if q.Count == 0 {
		return nil
	}
	i := n - q.first().Number
	if i < 0 || i >= q.Count {
		return nil
	}
	i += int64(q.Head)
	return &q.Chunks[i/blockedChunk][i%blockedChunk]
}

func (q *BlockedSends) clone() BlockedSends {
	c := *q
	c.Chunks = slices.Clone(q.Chunks)
	for i := range c.Chunks {
		c.Chunks[i] = slices.Clip(c.Chunks[i])
	}
	return c
}

// unblock lets blocked sends go on, in order, as far as metadata and memory allow. One that has waited for
// max.block.ms fails, and the time of the next begins.
func (s *State) unblock(p *Producer) {
	for p.Blocked.Count > 0 {
		b := p.Blocked.first()
		r := b.Record // the queue's stays as it is: clones share it
		if p.Txn.State >= TxnAbortableError {
			s.failSend(p, b.Number, b.At, p.Txn.Error, &r)
			p.Blocked.pop()
			continue
		}
		p.Blocked.For = s.place(p, b.Number, b.At, b.Topic, b.Partition, &r, b.Headers)
		switch {
		case p.Blocked.For == WaitNothing:
		case s.Now < p.blockedUntil():
			return
		case p.Blocked.For == WaitMemory:
			s.failSend(p, b.Number, b.At, BUFFER_EXHAUSTED, &r)
		default:
			s.failSend(p, b.Number, b.At, TIMEOUT_EXCEPTION, &r)
		}
		p.Blocked.pop()
		p.Blocked.Since = s.Now
	}
}

// blockedUntil is when the first blocked send has waited for max.block.ms.
func (p *Producer) blockedUntil() int64 {
	if p.Blocked.Count == 0 {
		return never
	}
	return p.Blocked.Since + p.Config.MaxBlockMs*ms
}
