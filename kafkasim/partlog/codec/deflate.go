package codec

// Deflate as zlib does it, match for match and tree for tree: Java's gzip is zlib's, and Go's own compressor makes
// other choices. deflate_trees.go has the second half.
//
// zlib: deflate_fast, deflate_slow, longest_match; memory level 8, windows of 32 KB, default strategy.

const (
	zWindow   = 1 << 15
	zMinMatch = 3
	zMaxMatch = 258
	zMaxDist  = zWindow - zMaxMatch - zMinMatch - 1
	zTooFar   = 4096 // matches of three bytes are not worth more distance
	zHashMask = 1<<15 - 1
	zSymbols  = 1<<14 - 1 // a block ends after so many literals and matches
)

// zLevels say how hard each level looks for matches (configuration_table).
var zLevels = [...]struct {
	good, lazy, nice, chain int
	fast                    bool
}{
	1: {4, 4, 8, 4, true}, 2: {4, 5, 16, 8, true}, 3: {4, 6, 32, 32, true},
	4: {4, 4, 16, 16, false}, 5: {8, 16, 32, 32, false}, 6: {8, 16, 128, 128, false},
	7: {8, 32, 128, 256, false}, 8: {32, 128, 258, 1024, false}, 9: {32, 258, 258, 4096, false},
}

// symbol is a literal, whose distance is 0, or a match.
type symbol struct {
	distance uint16
	length   uint8 // the literal, or the match's length less zMinMatch
}

// deflater compresses one input.
type deflater struct {
	src        []byte
	level      int
	head       [zHashMask + 1]int32 // the newest place by the hash of its three bytes; 0 for none
	prev       [zWindow]int32       // … and the one before
	matchStart int
	symbols    []symbol
	blockStart int
	out        zBits
	trees      zTrees
}

// appendDeflate compresses src behind dst.
func appendDeflate(dst, src []byte, level int) []byte {
	d := &deflater{src: src, level: level, symbols: make([]symbol, 0, zSymbols), out: zBits{buf: dst}}
	d.trees.start()
	if zLevels[level].fast {
		d.fast()
	} else {
		d.lazy()
	}
	return d.out.buf
}

// insert enters the string at a place into the table, and returns the place of the last one with its hash.
func (d *deflater) insert(at int) int {
	h := (uint32(d.src[at])<<10 ^ uint32(d.src[at+1])<<5 ^ uint32(d.src[at+2])) & zHashMask
	last := d.head[h]
	d.prev[at&(zWindow-1)] = last
	d.head[h] = int32(at)
	return int(last)
}

// longest is the length of the longest match from at among those of a chain, if it is longer than before.
func (d *deflater) longest(at, match, before int) int {
	c := &zLevels[d.level]
	left, chain, best, nice := len(d.src)-at, c.chain, before, c.nice
	if before >= c.good {
		chain >>= 2
	}
	nice = min(nice, left)
	most, limit := min(zMaxMatch, left), max(at-zMaxDist, 0)
	for {
		if best < left && d.src[match+best] == d.src[at+best] && d.src[match+best-1] == d.src[at+best-1] && d.src[match] == d.src[at] && d.src[match+1] == d.src[at+1] {
			n := 2
			for n < most && d.src[match+n] == d.src[at+n] {
				n++
			}
			if n > best {
				d.matchStart, best = match, n
				if n >= nice {
					break
				}
			}
		}
		match = int(d.prev[match&(zWindow-1)])
		if chain--; match <= limit || chain == 0 {
			break
		}
	}
	return min(best, left)
}

// fast takes every match that it finds.
func (d *deflater) fast() {
	for at := 0; at < len(d.src); {
		match, n := 0, 0
		if len(d.src)-at >= zMinMatch {
			match = d.insert(at)
		}
		if match != 0 && at-match <= zMaxDist {
			n = d.longest(at, match, zMinMatch-1)
		}
		if n < zMinMatch {
			at++
			if d.literal(d.src[at-1]) {
				d.flush(at, false)
			}
			continue
		}
		full := d.match(at-d.matchStart, n)
		if n <= zLevels[d.level].lazy && len(d.src)-at-n >= zMinMatch {
			for i := at + 1; i < at+n; i++ {
				d.insert(i)
			}
		}
		if at += n; full {
			d.flush(at, false)
		}
	}
	d.flush(len(d.src), true)
}

// lazy takes a match only if there is no longer one at the next place.
func (d *deflater) lazy() {
	at, n, waiting := 0, zMinMatch-1, false
	for at < len(d.src) {
		match := 0
		if len(d.src)-at >= zMinMatch {
			match = d.insert(at)
		}
		before, start := n, d.matchStart
		n = zMinMatch - 1
		if match != 0 && before < zLevels[d.level].lazy && at-match <= zMaxDist {
			n = d.longest(at, match, before)
			if n == zMinMatch && at-d.matchStart > zTooFar {
				n = zMinMatch - 1
			}
		}
		switch {
		case before >= zMinMatch && n <= before:
			full := d.match(at-1-start, before)
			for i := at + 1; i < at-1+before; i++ {
				if i <= len(d.src)-zMinMatch {
					d.insert(i)
				}
			}
			at, n, waiting = at-1+before, zMinMatch-1, false
			if full {
				d.flush(at, false)
			}
		case waiting:
			if d.literal(d.src[at-1]) {
				d.flush(at, false)
			}
			at++
		default:
			waiting = true
			at++
		}
	}
	if waiting {
		d.literal(d.src[at-1])
	}
	d.flush(len(d.src), true)
}

// literal takes a byte as it is, and tells whether the block is full.
func (d *deflater) literal(b byte) bool {
	d.symbols = append(d.symbols, symbol{0, b})
	d.trees.literals.freq[b]++
	return len(d.symbols) == zSymbols
}

// match takes a match, and tells whether the block is full.
func (d *deflater) match(distance, length int) bool {
	d.symbols = append(d.symbols, symbol{uint16(distance), uint8(length - zMinMatch)})
	d.trees.literals.freq[zLengthCode(length-zMinMatch)+zLiterals+1]++
	d.trees.distances.freq[zDistanceCode(distance-1)]++
	return len(d.symbols) == zSymbols
}

// flush writes a block of what was taken up to a place.
func (d *deflater) flush(to int, last bool) {
	d.trees.write(&d.out, d.symbols, d.src[d.blockStart:to], last)
	d.symbols, d.blockStart = d.symbols[:0], to
}
