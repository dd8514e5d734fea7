package codec

import "math/bits"

// The Huffman trees of zlib's blocks (trees.c).

const (
	zLiterals  = 256
	zEndBlock  = 256
	zAllLens   = zLiterals + 1 + 29
	zAllDists  = 30
	zAllBits   = 19
	zMaxBits   = 15
	zHeapNodes = 2*zAllLens + 1
)

// zExtra are the extra bits of the codes of lengths, distances and bit lengths.
var (
	zLengthBits   = []uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	zDistanceBits = []uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	zBitsBits     = []uint8{16: 2, 17: 3, 18: 7}
	zBitsOrder    = []uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

// zLengthCode is the code of a match's length less zMinMatch.
func zLengthCode(n int) int {
	switch {
	case n < 8:
		return n
	case n == zMaxMatch-zMinMatch:
		return 28
	}
	k := bits.Len(uint(n)) - 3
	return 4*k + n>>k
}

// zDistanceCode is the code of a match's distance less one.
func zDistanceCode(n int) int {
	if n < 4 {
		return n
	}
	k := bits.Len(uint(n)) - 2
	return 2*k + n>>k
}

// zBase is the least value of a code with extra bits.
func zBase(code int, extra []uint8) (base int) {
	for i := range code {
		base += 1 << extra[i]
	}
	return base
}

// zBits writes bits, the lowest first.
type zBits struct {
	buf  []byte
	hold uint64
	n    uint
}

func (w *zBits) put(value, n uint) {
	w.hold |= uint64(value) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.hold))
		w.hold >>= 8
	}
}

// align fills the last byte up.
func (w *zBits) align() {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
}

// zTree is one tree: frequencies, then the codes' lengths, then the codes.
type zTree struct {
	freq, code, dad [zHeapNodes]int
	len             [zHeapNodes]int
	elems, most     int // codes, and their greatest length
	base            int // the first code with extra bits
	extra           []uint8
	fixed           *[zAllLens + 2]int // the lengths of the fixed tree, nil for none
	max             int                // the greatest code that occurs
}

// zTrees are those of a block.
type zTrees struct {
	literals, distances, bits zTree
	opt, fixed                int // bits of the block with its own trees and with the fixed ones
	heap                      [zHeapNodes]int
	depth                     [zHeapNodes]int
	heapLen, heapMax          int
	count                     [zMaxBits + 1]int
}

// zFixedLens are the lengths of the fixed trees' codes.
var zFixedLens, zFixedDists = func() (l, d [zAllLens + 2]int) {
	for i := range l {
		switch {
		case i < 144, i >= 280:
			l[i] = 8
		case i < 256:
			l[i] = 9
		default:
			l[i] = 7
		}
		d[i] = 5
	}
	return l, d
}()

func (t *zTrees) start() {
	t.literals = zTree{elems: zAllLens, most: zMaxBits, base: zLiterals + 1, extra: zLengthBits, fixed: &zFixedLens}
	t.distances = zTree{elems: zAllDists, most: zMaxBits, extra: zDistanceBits, fixed: &zFixedDists}
	t.bits = zTree{elems: zAllBits, most: 7, extra: zBitsBits}
	t.literals.freq[zEndBlock] = 1
	t.opt, t.fixed = 0, 0
}

// write chooses the shortest of a block's three forms.
func (t *zTrees) write(w *zBits, symbols []symbol, raw []byte, last bool) {
	t.build(&t.literals)
	t.build(&t.distances)
	blocks := t.buildBits()
	opt, fixed := (t.opt+3+7)>>3, (t.fixed+3+7)>>3
	opt = min(opt, fixed)
	final := uint(0)
	if last {
		final = 1
	}
	switch {
	case len(raw)+4 <= opt:
		w.put(final, 3)
		w.align()
		w.buf = append(w.buf, byte(len(raw)), byte(len(raw)>>8), byte(^len(raw)), byte(^len(raw)>>8))
		w.buf = append(w.buf, raw...)
	case fixed == opt:
		w.put(1<<1|final, 3)
		l, d := zTree{}, zTree{}
		copy(l.len[:], zFixedLens[:])
		copy(d.len[:], zFixedDists[:])
		l.codes(zAllLens + 1)
		d.codes(zAllDists - 1)
		writeSymbols(w, symbols, &l, &d)
	default:
		w.put(2<<1|final, 3)
		t.writeTrees(w, blocks)
		writeSymbols(w, symbols, &t.literals, &t.distances)
	}
	t.start()
	if last {
		w.align()
	}
}

// smaller orders nodes of the heap: by frequency, then by depth.
func (t *zTrees) smaller(x *zTree, n, m int) bool {
	return x.freq[n] < x.freq[m] || x.freq[n] == x.freq[m] && t.depth[n] <= t.depth[m]
}

// down lets the node at a place of the heap sink.
func (t *zTrees) down(x *zTree, k int) {
	v := t.heap[k]
	for j := 2 * k; j <= t.heapLen; j *= 2 {
		if j < t.heapLen && t.smaller(x, t.heap[j+1], t.heap[j]) {
			j++
		}
		if t.smaller(x, v, t.heap[j]) {
			break
		}
		t.heap[k] = t.heap[j]
		k = j
	}
	t.heap[k] = v
}

// build makes a tree of its frequencies.
func (t *zTrees) build(x *zTree) {
	t.heapLen, t.heapMax, x.max = 0, zHeapNodes, -1
	for n := range x.elems {
		if x.len[n] = 0; x.freq[n] != 0 {
			t.heapLen++
			t.heap[t.heapLen], x.max, t.depth[n] = n, n, 0
		}
	}
	for t.heapLen < 2 { // a tree has at least two codes
		n := 0
		if x.max < 2 {
			x.max++
			n = x.max
		}
		t.heapLen++
		t.heap[t.heapLen], x.freq[n], t.depth[n] = n, 1, 0
		if t.opt--; x.fixed != nil {
			t.fixed -= x.fixed[n]
		}
	}
	for n := t.heapLen / 2; n >= 1; n-- {
		t.down(x, n)
	}
	for node := x.elems; ; node++ {
		n := t.heap[1]
		t.heap[1] = t.heap[t.heapLen]
		t.heapLen--
		t.down(x, 1)
		m := t.heap[1]
		t.heapMax -= 2
		t.heap[t.heapMax+1], t.heap[t.heapMax] = n, m
		x.freq[node], t.depth[node] = x.freq[n]+x.freq[m], max(t.depth[n], t.depth[m])+1
		x.dad[n], x.dad[m] = node, node
		t.heap[1] = node
		t.down(x, 1)
		if t.heapLen < 2 {
			break
		}
	}
	t.heapMax--
	t.heap[t.heapMax] = t.heap[1]
	t.lengths(x)
	x.codes(x.max)
}

// lengths gives each code its length, none above the greatest.
func (t *zTrees) lengths(x *zTree) {
	clear(t.count[:])
	x.len[t.heap[t.heapMax]] = 0
	over := 0
	for h := t.heapMax + 1; h < zHeapNodes; h++ {
		n := t.heap[h]
		length := x.len[x.dad[n]] + 1
		if length > x.most {
			length = x.most
			over++
		}
		if x.len[n] = length; n > x.max {
			continue
		}
		t.count[length]++
		extra := 0
		if n >= x.base && n-x.base < len(x.extra) {
			extra = int(x.extra[n-x.base])
		}
		if t.opt += x.freq[n] * (length + extra); x.fixed != nil {
			t.fixed += x.freq[n] * (x.fixed[n] + extra)
		}
	}
	if over == 0 {
		return
	}
	for ; over > 0; over -= 2 {
		n := x.most - 1
		for t.count[n] == 0 {
			n--
		}
		t.count[n]--
		t.count[n+1] += 2
		t.count[x.most]--
	}
	h := zHeapNodes
	for length := x.most; length > 0; length-- {
		for n := t.count[length]; n > 0; {
			h--
			m := t.heap[h]
			if m > x.max {
				continue
			}
			t.opt += (length - x.len[m]) * x.freq[m]
			x.len[m] = length
			n--
		}
	}
}

// codes gives the codes up to a greatest one their bits.
func (x *zTree) codes(greatest int) {
	var count, next [zMaxBits + 2]int
	for n := range greatest + 1 {
		count[x.len[n]]++
	}
	count[0] = 0
	for i := 1; i <= zMaxBits; i++ {
		next[i] = (next[i-1] + count[i-1]) << 1
	}
	for n := range greatest + 1 {
		if l := x.len[n]; l > 0 {
			x.code[n] = int(bits.Reverse16(uint16(next[l])) >> (16 - l))
			next[l]++
		}
	}
}

// runs goes through a tree's lengths as they are written: a length or a repetition, with the count in its extra bits.
func (x *zTree) runs(each func(code, count int)) {
	prev, count := -1, 0
	limits := func(next, now int) (most, least int) {
		switch {
		case next == 0:
			return 138, 3
		case next == now:
			return 6, 3
		}
		return 7, 4
	}
	most, least := limits(x.len[0], -1)
	for n := 0; n <= x.max; n++ {
		now, next := x.len[n], 0xffff
		if n < x.max {
			next = x.len[n+1]
		}
		if count++; count < most && now == next {
			continue
		}
		switch {
		case count < least:
			for ; count > 0; count-- {
				each(now, 0)
			}
		case now != 0:
			if now != prev {
				each(now, 0)
				count--
			}
			each(16, count-3)
		case count <= 10:
			each(17, count-3)
		default:
			each(18, count-11)
		}
		count, prev = 0, now
		most, least = limits(next, now)
	}
}

// buildBits makes the tree of the lengths, and returns how many of its own lengths are written, less one.
func (t *zTrees) buildBits() int {
	count := func(code, _ int) { t.bits.freq[code]++ }
	t.literals.runs(count)
	t.distances.runs(count)
	t.build(&t.bits)
	last := zAllBits - 1
	for last >= 3 && t.bits.len[zBitsOrder[last]] == 0 {
		last--
	}
	t.opt += 3*(last+1) + 5 + 5 + 4
	return last
}

func (t *zTrees) writeTrees(w *zBits, last int) {
	w.put(uint(t.literals.max+1-257), 5)
	w.put(uint(t.distances.max), 5)
	w.put(uint(last+1-4), 4)
	for i := range last + 1 {
		w.put(uint(t.bits.len[zBitsOrder[i]]), 3)
	}
	write := func(code, count int) {
		w.put(uint(t.bits.code[code]), uint(t.bits.len[code]))
		if code >= 16 {
			w.put(uint(count), uint(zBitsBits[code]))
		}
	}
	t.literals.runs(write)
	t.distances.runs(write)
}

// writeSymbols writes a block's literals and matches.
func writeSymbols(w *zBits, symbols []symbol, l, d *zTree) {
	for _, s := range symbols {
		if s.distance == 0 {
			w.put(uint(l.code[s.length]), uint(l.len[s.length]))
			continue
		}
		c := zLengthCode(int(s.length))
		w.put(uint(l.code[c+zLiterals+1]), uint(l.len[c+zLiterals+1]))
		if n := zLengthBits[c]; n > 0 {
			w.put(uint(int(s.length)-zBase(c, zLengthBits)), uint(n))
		}
		c = zDistanceCode(int(s.distance) - 1)
		w.put(uint(d.code[c]), uint(d.len[c]))
		if n := zDistanceBits[c]; n > 0 {
			w.put(uint(int(s.distance)-1-zBase(c, zDistanceBits)), uint(n))
		}
	}
	w.put(uint(l.code[zEndBlock]), uint(l.len[zEndBlock]))
}
