package codec

import (
	"encoding/binary"
	"math/bits"
)

// Snappy, in the stream that snappy-java writes: a header of 16 bytes, then blocks of 32 KB, each with its length.
//
// Kafka: SnappyCompression, SnappyOutputStream. snappy: CompressFragment of 1.1.10.

const (
	snappyBlock     = 32 << 10
	snappyMargin    = 15 // no match is looked for in these last bytes
	snappyTableBits = 14
)

var snappyHeader = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

func appendSnappy(dst, src []byte) []byte {
	dst = append(dst, snappyHeader...)
	for len(src) > 0 {
		block := src[:min(len(src), snappyBlock)]
		src = src[len(block):]
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = binary.AppendUvarint(dst, uint64(len(block)))
		dst = snappyFragment(dst, block)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// snappyTable maps the hash of four bytes to where they were last.
type snappyTable struct {
	place [1 << snappyTableBits]uint16
	mask  uint32
}

func (t *snappyTable) at(x uint32) *uint16 {
	return &t.place[x*0x1e35a7bd>>(31-snappyTableBits)&t.mask>>1]
}

func newSnappyTable(size int) *snappyTable {
	n := uint32(1) << snappyTableBits
	if size <= 1<<8 {
		n = 1 << 8
	}
	if size > 1<<8 && size <= 1<<snappyTableBits {
		n = 2 << (bits.Len(uint(size-1)) - 1)
	}
	return &snappyTable{mask: 2 * (n - 1)}
}

// snappyFragment compresses one block.
func snappyFragment(dst, src []byte) []byte {
	if len(src) < snappyMargin {
		return snappyLiterals(dst, src)
	}
	t := newSnappyTable(len(src))
	load := func(i int) uint32 { return binary.LittleEndian.Uint32(src[i:]) }
	limit := len(src) - snappyMargin
	for ip := 0; ; {
		emit := ip
		ip++
		at, candidate, found := t.search(src, ip, limit)
		if !found {
			return snappyLiterals(dst, src[emit:])
		}
		ip = at
		dst = snappyLiterals(dst, src[emit:ip])
		for {
			n := 4
			for ip+n < len(src) && src[candidate+n] == src[ip+n] {
				n++
			}
			dst = snappyCopy(dst, ip-candidate, n)
			if ip += n; ip >= limit {
				return snappyLiterals(dst, src[ip:])
			}
			*t.at(load(ip - 1)) = uint16(ip - 1)
			x := load(ip)
			entry := t.at(x)
			candidate = int(*entry)
			*entry = uint16(ip)
			if load(candidate) != x {
				break
			}
		}
	}
}

// search looks for four bytes that were there before: at each of the next 16 places, then at fewer and fewer.
func (t *snappyTable) search(src []byte, ip, limit int) (at, candidate int, found bool) {
	load := func(i int) uint32 { return binary.LittleEndian.Uint32(src[i:]) }
	skip := 32
	if limit-ip >= 16 {
		for i := range 16 {
			x := load(ip + i)
			entry := t.at(x)
			candidate = int(*entry)
			*entry = uint16(ip + i)
			if load(candidate) == x {
				return ip + i, candidate, true
			}
		}
		ip += 16
		skip += 16
	}
	for {
		x := load(ip)
		entry := t.at(x)
		step := skip >> 5
		skip += step
		if ip+step > limit {
			return 0, 0, false
		}
		candidate = int(*entry)
		*entry = uint16(ip)
		if load(candidate) == x {
			return ip, candidate, true
		}
		ip += step
	}
}

// snappyLiterals writes bytes as they are.
func snappyLiterals(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	switch n := len(src) - 1; {
	case n < 60:
		dst = append(dst, byte(n<<2))
	case n < 1<<8:
		dst = append(dst, 60<<2, byte(n))
	default:
		dst = append(dst, 61<<2, byte(n), byte(n>>8))
	}
	return append(dst, src...)
}

// snappyCopy writes a reference to earlier bytes.
func snappyCopy(dst []byte, offset, n int) []byte {
	long := func(n int) { dst = append(dst, byte(2|(n-1)<<2), byte(offset), byte(offset>>8)) }
	for ; n >= 68; n -= 64 {
		long(64)
	}
	if n > 64 {
		long(60)
		n -= 60
	}
	if n < 12 && offset < 2048 {
		return append(dst, byte(1|(n-4)<<2|offset>>8<<5), byte(offset))
	}
	long(n)
	return dst
}
