package partlog

import "slices"

// Batches are the batches of a segment, in chunks: the list does not move as it grows, and what is in it is
// written once. So copies of a log share all but the chunk that each goes on with.
type Batches struct {
	Full [][]Batch // of batchChunk each
	Last []Batch   // empty only if all is
}

const (
	batchShift = 8
	batchChunk = 1 << batchShift
)

// Len is the number of batches.
func (b *Batches) Len() int { return len(b.Full)<<batchShift + len(b.Last) }

// At is the i-th batch. It must not be written to.
func (b *Batches) At(i int) *Batch {
	if c := i >> batchShift; c < len(b.Full) {
		return &b.Full[c][i&(batchChunk-1)]
	}
	return &b.Last[i-len(b.Full)<<batchShift]
}

// All goes through the batches.
func (b *Batches) All() func(yield func(*Batch) bool) {
	return func(yield func(*Batch) bool) {
		for i := range b.Len() {
			if !yield(b.At(i)) {
				return
			}
		}
	}
}

func (b *Batches) append(x Batch) {
	if len(b.Last) == batchChunk {
		b.Full = append(b.Full, b.Last)
		b.Last = make([]Batch, 0, batchChunk)
	}
	b.Last = append(b.Last, x)
}

// slice is the batches from number from to before number to. It shares the log's memory if they lie together.
func (b *Batches) slice(from, to int) []Batch {
	if from == to {
		return nil
	}
	c := from >> batchShift
	if (to-1)>>batchShift == c {
		chunk := b.Last
		if c < len(b.Full) {
			chunk = b.Full[c]
		}
		base := c << batchShift
		return chunk[from-base : to-base : to-base]
	}
	out := make([]Batch, 0, to-from)
	for i := from; i < to; {
		n := min(to, (i>>batchShift+1)<<batchShift)
		out = append(out, b.slice(i, n)...)
		i = n
	}
	return out
}

// cut keeps the first n batches. The rest stays as it is for copies that share it.
func (b *Batches) cut(n int) {
	switch c := max(n-1, 0) >> batchShift; {
	case n == 0:
		*b = Batches{}
	case n == b.Len():
	case c < len(b.Full):
		b.Full, b.Last = b.Full[:c:c], b.Full[c][:n-c<<batchShift:n-c<<batchShift]
	default:
		b.Last = cut(b.Last, n-c<<batchShift)
	}
}

// clip gives up the spare room, which whoever has the original goes on with.
func (b *Batches) clip() { b.Full, b.Last = slices.Clip(b.Full), slices.Clip(b.Last) }
