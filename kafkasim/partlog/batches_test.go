package partlog

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"
)

// A list in chunks behaves as one in a piece, whatever is appended, cut and copied.
func TestBatchesAreOneList(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	type pair struct {
		chunks Batches
		piece  []Batch
	}
	worlds := []pair{{}}
	for step := range 3000 {
		w := &worlds[r.Intn(len(worlds))]
		switch n := len(w.piece); r.Intn(12) {
		case 0:
			k := n - r.Intn(min(n, 2*batchChunk)+1)
			w.chunks.cut(k)
			w.piece = w.piece[:k:k]
		case 1:
			if len(worlds) < 5 {
				c := *w
				c.chunks.clip()
				c.piece = append([]Batch(nil), c.piece...)
				worlds = append(worlds, c)
			}
		default:
			for i := range r.Intn(batchChunk / 2) {
				b := Batch{BaseOffset: int64(n + i), Serial: int32(step)}
				w.chunks.append(b)
				w.piece = append(w.piece, b)
			}
		}
		n := len(w.piece)
		if w.chunks.Len() != n || len(w.chunks.Full) != max(n-1, 0)/batchChunk {
			t.Fatalf("step %d: %d batches in %d full chunks, want %d", step, w.chunks.Len(), len(w.chunks.Full), n)
		}
		if n > 0 {
			from := r.Intn(n)
			to := from + r.Intn(min(n-from, 3*batchChunk)) + 1
			if got := w.chunks.slice(from, to); !reflect.DeepEqual(got, w.piece[from:to]) {
				t.Fatalf("step %d: from %d to %d of %d differs", step, from, to, n)
			}
		}
	}
	for i, w := range worlds {
		j := 0
		for b := range w.chunks.All() {
			if !reflect.DeepEqual(*b, w.piece[j]) {
				t.Fatalf("list %d: batch %d is %+v, want %+v", i, j, *b, w.piece[j])
			}
			j++
		}
	}
}

// A read that crosses chunks is one read: whole batches, up to its limits.
func TestReadAcrossChunks(t *testing.T) {
	var l Log
	for i := range int64(3*batchChunk + 5) {
		l.Append(batch(i, 0, 1), 1<<30)
	}
	for _, c := range []struct{ offset, bound, max, n int64 }{
		{0, l.End, 1 << 30, l.End}, {batchChunk - 1, l.End, 20, 2}, {batchChunk, 2 * batchChunk, 1 << 30, batchChunk}, {250, 700, 1 << 30, 450},
	} {
		got, bytes := l.Read(c.offset, c.bound, c.max, true)
		if int64(len(got)) != c.n || bytes != 10*c.n || got[0].BaseOffset != c.offset {
			t.Errorf("%+v: %d batches, %d bytes", c, len(got), bytes)
		}
		for i := range got {
			if got[i].BaseOffset != c.offset+int64(i) {
				t.Fatal(fmt.Sprintf("%+v: batch %d has offset %d", c, i, got[i].BaseOffset))
			}
		}
	}
}
