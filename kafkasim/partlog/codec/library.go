package codec

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstd comes from a library. Making its tables takes longer than most batches, so they are kept.

// appendGzip writes the member that Java's GZIPOutputStream writes.
func appendGzip(dst, src []byte, level int8) []byte {
	n := 6
	if level != DefaultLevel {
		n = int(level)
	}
	dst = append(dst, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
	dst = appendDeflate(dst, src, n)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(src))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
}

var zstds sync.Map // of *zstd.Encoder by level

func appendZstd(dst, src []byte, level int8) []byte {
	n := zstdDefault
	if level != DefaultLevel {
		n = int(level)
	}
	known, ok := zstds.Load(n)
	if !ok {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(n)), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
		if err != nil {
			panic("codec: " + err.Error())
		}
		known, _ = zstds.LoadOrStore(n, e)
	}
	return known.(*zstd.Encoder).EncodeAll(src, dst)
}
