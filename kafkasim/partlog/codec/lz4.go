package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// LZ4, in the frame that Kafka writes: independent blocks of 64 KB without checksums.
//
// Kafka: Lz4BlockOutputStream. At the default level it calls the fast compressor, at all others the slow one,
// which is why the default is not between its neighbours.

const (
	lz4Block      = 64 << 10
	lz4Stored     = 1 << 31 // in a block's length: not compressed
	lz4MinMatch   = 4
	lz4LastBytes  = 5  // the last bytes of a block are always literals
	lz4MatchLimit = 12 // no match begins in these last bytes
	lz4HashBits   = 13
	lz4Run        = 15 // lengths from here on take more bytes
)

func appendLZ4(dst, src []byte, level int8) []byte {
	dst = append(dst, 0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82)
	for len(src) > 0 {
		block := src[:min(len(src), lz4Block)]
		src = src[len(block):]
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		if level == DefaultLevel {
			dst = lz4Fast(dst, block)
		} else {
			dst = lz4Slow(dst, block, level)
		}
		size := uint32(len(dst) - at - 4)
		if int(size) >= len(block) {
			dst = append(dst[:at+4], block...)
			size = uint32(len(block)) | lz4Stored
		}
		binary.LittleEndian.PutUint32(dst[at:], size)
	}
	return append(dst, 0, 0, 0, 0)
}

// lz4Levels are the library's names of the levels 1 to 9, which is as far as it goes.
var lz4Levels = [...]lz4.CompressionLevel{lz4.Level1, lz4.Level2, lz4.Level3, lz4.Level4, lz4.Level5, lz4.Level6, lz4.Level7, lz4.Level8, lz4.Level9}

// lz4Slow compresses a block with the library's search for the longest matches.
func lz4Slow(dst, src []byte, level int8) []byte {
	c := lz4.CompressorHC{Level: lz4Levels[min(max(int(level), 1), len(lz4Levels))-1]}
	out := make([]byte, lz4.CompressBlockBound(len(src)))
	n, err := c.CompressBlock(src, out)
	if err != nil || n == 0 {
		return append(dst, src...)
	}
	return append(dst, out[:n]...)
}

func lz4Hash(x uint32) uint32 { return x * 2654435761 >> (32 - lz4HashBits) }

// lz4Fast is LZ4_compress_default for at most 64 KB: a table of places by the hash of the four bytes there.
func lz4Fast(dst, src []byte) []byte {
	anchor := 0
	if len(src) <= lz4MatchLimit {
		return lz4Literals(dst, src)
	}
	var table [1 << lz4HashBits]uint16
	load := func(i int) uint32 { return binary.LittleEndian.Uint32(src[i:]) }
	limit := len(src) - lz4MatchLimit + 1
	ip := 1
	next := lz4Hash(load(1))
	for {
		match, found := 0, false
		for forward, step, tries := ip, 1, 1<<6; ; {
			h := next
			ip = forward
			forward += step
			step = tries >> 6
			tries++
			if forward > limit {
				break
			}
			match = int(table[h])
			next = lz4Hash(load(forward))
			table[h] = uint16(ip)
			if load(match) == load(ip) {
				found = true
				break
			}
		}
		if !found {
			return lz4Literals(dst, src[anchor:])
		}
		for ip > anchor && match > 0 && src[ip-1] == src[match-1] {
			ip--
			match--
		}
		literals := src[anchor:ip]
		for {
			n := lz4Common(src, match+lz4MinMatch, ip+lz4MinMatch)
			dst = lz4Sequence(dst, literals, ip-match, n)
			ip += n + lz4MinMatch
			anchor = ip
			if ip >= limit {
				return lz4Literals(dst, src[anchor:])
			}
			table[lz4Hash(load(ip-2))] = uint16(ip - 2)
			h := lz4Hash(load(ip))
			match = int(table[h])
			table[h] = uint16(ip)
			if load(match) != load(ip) {
				break
			}
			literals = nil
		}
		ip++
		next = lz4Hash(load(ip))
	}
}

// lz4Common is how long the bytes at two places are the same, up to the last literals.
func lz4Common(src []byte, match, ip int) int {
	start, end := ip, len(src)-lz4LastBytes
	for ; ip+8 <= end; ip, match = ip+8, match+8 {
		if d := binary.LittleEndian.Uint64(src[ip:]) ^ binary.LittleEndian.Uint64(src[match:]); d != 0 {
			return ip - start + bits.TrailingZeros64(d)/8
		}
	}
	for ip < end && src[ip] == src[match] {
		ip++
		match++
	}
	return ip - start
}

// lz4Sequence writes literals and the match behind them.
func lz4Sequence(dst, literals []byte, offset, n int) []byte {
	dst = append(dst, byte(min(len(literals), lz4Run)<<4|min(n, lz4Run)))
	dst = lz4Length(dst, len(literals))
	dst = append(dst, literals...)
	dst = append(dst, byte(offset), byte(offset>>8))
	return lz4Length(dst, n)
}

// lz4Literals writes what is left at the end of a block.
func lz4Literals(dst, literals []byte) []byte {
	dst = append(dst, byte(min(len(literals), lz4Run)<<4))
	return append(lz4Length(dst, len(literals)), literals...)
}

// lz4Length writes what a token has no room for.
func lz4Length(dst []byte, n int) []byte {
	if n < lz4Run {
		return dst
	}
	for n -= lz4Run; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
