// Package partlog is one partition's log on one broker: record batches, offsets, the leader-epoch cache,
// truncation and reads. It knows nothing of replication.
package partlog

import "kafkalab/kafkasim/partlog/codec"

// Record is one record as a producer made it. In a batch it is packed among the others (Records).
type Record struct {
	Key, Value string
	Timestamp  int64 // ms
	Flags      uint32
}

// Flags of a record: a null key or value is not an empty one (P-5).
const (
	NullKey uint32 = 1 << iota
	NullValue
)

// Header is one record header.
type Header struct {
	Key, Value string
}

// Batch is a record batch (magic 2). BaseOffset and LeaderEpoch are stamped by the leader at append;
// everything else is the producer's.
type Batch struct {
	BaseOffset   int64
	ProducerID   int64 // -1 without idempotence; then ProducerEpoch and BaseSequence are -1 too
	MaxTimestamp int64 // ms
	// DeleteHorizon is when the tombstones in the batch may go, ms; 0 until a first pass of compaction has
	// met them (R7.11). It is Records.Base too.
	DeleteHorizon int64
	Records       Records
	LeaderEpoch   int32
	BaseSequence  int32
	Size          int32 // bytes, header included (P-101 to P-106)
	// Sender and Serial name the batch for the simulator's own book-keeping: which producer built it
	// and which of its batches it is. Retries of a batch keep them; Kafka has no such field.
	Sender        int32
	Serial        int32
	ProducerEpoch int16
	Transactional bool        // part of a transaction (T-42)
	Control       bool        // a marker: one record that no application sees (T-40)
	Codec         codec.Codec // of the records (P-100)
	Level         int8        // of the codec, codec.DefaultLevel for its default; Kafka does not store it
}

// NextOffset is the offset after the batch's last record.
func (b *Batch) NextOffset() int64 { return b.BaseOffset + int64(b.Records.Count) }
