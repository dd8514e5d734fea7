package config

// Compression is a compression.type, by the number that Kafka gives the codec.
type Compression uint8

// The codecs; CompressionProducer is a topic's default, which leaves batches as they come.
const (
	CompressionNone Compression = iota
	CompressionGzip
	CompressionSnappy
	CompressionLZ4
	CompressionZstd
	CompressionProducer
)

var (
	producerCodecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}
	topicCodecs    = []string{"uncompressed", "gzip", "snappy", "lz4", "zstd", "producer"}
)

// String is the codec as a topic's compression.type has it.
func (c Compression) String() string { return topicCodecs[c] }

// Levels are the levels of the codecs that have some.
type Levels struct {
	Gzip int32 // compression.gzip.level
	LZ4  int32 // compression.lz4.level
	Zstd int32 // compression.zstd.level
}

// defaultLevel is how a batch marks that its codec had its default level.
const defaultLevel int8 = -128

// Of is a codec's level as a batch keeps it: -128 for its default.
func (l *Levels) Of(c Compression) int8 {
	level, otherwise := int32(0), int32(0)
	switch c {
	case CompressionGzip:
		level, otherwise = l.Gzip, -1
	case CompressionLZ4:
		level, otherwise = l.LZ4, 9
	case CompressionZstd:
		level, otherwise = l.Zstd, 3
	}
	if level == otherwise {
		return defaultLevel
	}
	return int8(max(level, -127))
}

// gzipLevels is what Kafka says about other levels.
const gzipLevels = "Value must be between 1 and 9 or equal to -1"

// check refuses the level that lies between gzip's default and its levels.
func (l *Levels) check() *Problem {
	if l.Gzip == 0 {
		return problem("compression.gzip.level=0: want 1 to 9, or -1")
	}
	return nil
}

// levelRows are the properties of the levels; field finds them in a producer or a topic.
func levelRows(field func(func(*Levels) any) func(any) any) []Property {
	gzip := number("compression.gzip.level", "-1", "", -1, 9, "[1,…,9] or -1", field(func(l *Levels) any { return &l.Gzip }),
		"How hard gzip tries, from 1 to 9; -1 for the library's own choice, which is 6.")
	gzip.between = gzipLevels
	return []Property{
		gzip,
		number("compression.lz4.level", "9", "", 1, 17, "[1,…,17]", field(func(l *Levels) any { return &l.LZ4 }),
			"How hard lz4 tries; at its default, 9, the fast compressor is used, and at all others the thorough one."),
		number("compression.zstd.level", "3", "", -131072, 22, "[-131072,…,22]", field(func(l *Levels) any { return &l.Zstd }),
			"How hard zstd tries."),
	}
}
