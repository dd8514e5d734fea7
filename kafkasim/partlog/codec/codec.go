// Package codec compresses the records of a batch as Kafka's clients do: gzip, snappy, lz4 and zstd, each in
// the frame that Kafka puts around it (P-100).
//
// gzip, snappy and lz4 at its default level are the algorithms of the C libraries that the Java client calls (zlib,
// snappy, LZ4), step for step, so their bytes are Kafka's. zstd and the other levels of lz4 are those of Go libraries:
// any Kafka client reads them, and they are a few per cent longer or shorter than Java's.
package codec

// Codec is a compression type by its number in a batch's attributes.
type Codec uint8

// The compression types (CompressionType).
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// DefaultLevel asks for a codec's own default level; each has another one in Kafka (P-100).
const DefaultLevel int8 = -128

// The levels that Kafka's properties have by default.
const (
	gzipDefault = -1
	lz4Default  = 9
	zstdDefault = 3
)

var names = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// Names are the values of a producer's compression.type.
func Names() []string { return names[:] }

// Parse finds a codec by its name.
func Parse(name string) (Codec, bool) {
	for i, n := range names {
		if n == name {
			return Codec(i), true
		}
	}
	return None, false
}

// String is the codec's name as kafka-dump-log prints it.
func (c Codec) String() string { return names[c] }

// Level is a codec's level as it is stored with a batch: DefaultLevel where it is the default.
func (c Codec) Level(level int64) int8 {
	def := int64(0)
	switch c {
	case Gzip:
		def = gzipDefault
	case LZ4:
		def = lz4Default
	case Zstd:
		def = zstdDefault
	default:
		return DefaultLevel
	}
	if level == def {
		return DefaultLevel
	}
	return int8(max(level, -127))
}

// Append compresses src behind dst, in the frame that lies in a batch.
func (c Codec) Append(dst, src []byte, level int8) []byte {
	switch c {
	case Gzip:
		return appendGzip(dst, src, level)
	case Snappy:
		return appendSnappy(dst, src)
	case LZ4:
		return appendLZ4(dst, src, level)
	case Zstd:
		return appendZstd(dst, src, level)
	}
	return append(dst, src...)
}
