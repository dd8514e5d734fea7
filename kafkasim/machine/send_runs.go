package machine

import (
	"encoding/binary"
	"math"
	"sort"
)

// SendRun says that the records from number First on went to a batch, one after the other, beginning at
// its record Index, until the next run. The last run's At differs or its batch does.
type SendRun struct {
	First int64
	At    int64 // µs: when send() was called
	Batch int32 // serial
	Index int32
}

// SendRuns are a producer's runs by number. Where keys decide there is a run for nearly every record, so they are
// packed: each is told by how it differs from the one before, which takes four or five bytes.
//
// What is there never changes, and clones share it.
type SendRuns struct {
	Full []RunChunk
	Open RunChunk // the chunk that grows
	Last SendRun  // the newest
}

// RunChunk is a row of runs that is read from its beginning.
type RunChunk struct {
	First int64 // number of its first record
	Count int32
	Data  []byte
}

// sendRunChunk is how many runs a full chunk has.
const sendRunChunk = 256

func (r *SendRuns) add(x SendRun) {
	before := r.Last
	if r.Open.Count == sendRunChunk {
		r.Full = append(r.Full, r.Open)
		r.Open = RunChunk{Data: make([]byte, 0, len(r.Open.Data))}
	}
	if r.Open.Count == 0 {
		r.Open.First, before = x.First, SendRun{}
	}
	d := binary.AppendUvarint(r.Open.Data, uint64(x.First-before.First))
	d = binary.AppendVarint(d, x.At-before.At)
	d = binary.AppendVarint(d, int64(x.Batch-before.Batch))
	r.Open.Data = binary.AppendUvarint(d, uint64(x.Index))
	r.Open.Count++
	r.Last = x
}

// find is the run of a record that is in one.
func (r *SendRuns) find(number int64) SendRun {
	x, _ := r.reader(number)
	x.to(number)
	return x.SendRun
}

// reader reads the chunk of a number; the second result is the first number of the next chunk.
func (r *SendRuns) reader(number int64) (runReader, int64) {
	if r.Open.Count > 0 && number >= r.Open.First {
		return runReader{rest: r.Open.Data}, math.MaxInt64
	}
	i := max(sort.Search(len(r.Full), func(i int) bool { return r.Full[i].First > number })-1, 0)
	if i >= len(r.Full) {
		return runReader{}, 0
	}
	next := r.Open.First
	if i+1 < len(r.Full) {
		next = r.Full[i+1].First
	}
	return runReader{rest: r.Full[i].Data}, next
}

// to goes on to the run of a number.
func (r *runReader) to(number int64) {
	for r.more(number) {
		r.next()
	}
}

// runReader goes through a chunk.
type runReader struct {
	SendRun
	rest []byte
}

// more tells whether there is a run that begins at or before a number.
func (r *runReader) more(number int64) bool {
	if len(r.rest) == 0 {
		return false
	}
	d, _ := binary.Uvarint(r.rest)
	return r.First+int64(d) <= number
}

func (r *runReader) next() {
	first, n := binary.Uvarint(r.rest)
	at, m := binary.Varint(r.rest[n:])
	n += m
	batch, m := binary.Varint(r.rest[n:])
	n += m
	index, m := binary.Uvarint(r.rest[n:])
	r.rest = r.rest[n+m:]
	r.First += int64(first)
	r.At += at
	r.Batch += int32(batch)
	r.Index = int32(index)
}

// clone shares all runs. The copy has no room, so that the first append moves the open chunk apart.
func (r *SendRuns) clone() SendRuns {
	c := *r
	c.Full = r.Full[:len(r.Full):len(r.Full)]
	c.Open.Data = r.Open.Data[:len(r.Open.Data):len(r.Open.Data)]
	return c
}
