package partlog

import (
	"encoding/binary"
	"hash/crc32"

	"kafkalab/kafkasim/partlog/codec"
)

// Batches as bytes: Kafka's record batch format, magic 2 (P-100 to P-104).
//
// Records lie in memory uncompressed, whatever their batch's codec is: they are compressed to learn how large the
// batch is, and to show its bytes.

// castagnoli is the polynomial of Kafka's checksums (CRC-32C).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcStart is where the checksummed part of a batch begins: at the attributes.
const crcStart = 21

// Encode is the batch as it lies in a segment file: Size bytes.
func (b *Batch) Encode() []byte {
	out := make([]byte, 0, b.Size)
	out = binary.BigEndian.AppendUint64(out, uint64(b.BaseOffset))
	out = binary.BigEndian.AppendUint32(out, 0) // length, below
	out = binary.BigEndian.AppendUint32(out, uint32(b.LeaderEpoch))
	out = append(out, 2)
	out = binary.BigEndian.AppendUint32(out, 0) // checksum, below
	attributes := uint16(b.Codec)               // CreateTime
	if b.Transactional {
		attributes |= 1 << 4
	}
	if b.Control {
		attributes |= 1 << 5
	}
	if b.DeleteHorizon != 0 {
		attributes |= 1 << 6
	}
	out = binary.BigEndian.AppendUint16(out, attributes)
	out = binary.BigEndian.AppendUint32(out, uint32(b.Records.Count-1))
	first, last := b.times()
	out = binary.BigEndian.AppendUint64(out, uint64(first))
	out = binary.BigEndian.AppendUint64(out, uint64(last))
	out = binary.BigEndian.AppendUint64(out, uint64(b.ProducerID))
	out = binary.BigEndian.AppendUint16(out, uint16(b.ProducerEpoch))
	out = binary.BigEndian.AppendUint32(out, uint32(b.BaseSequence))
	out = binary.BigEndian.AppendUint32(out, uint32(b.Records.Live()))
	out = b.Codec.Append(out, b.encodeRecords(), b.Level)
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], crc32.Checksum(out[crcStart:], castagnoli))
	return out
}

// Compress gives the batch a codec and the size that it has with it (P-100). The header is never compressed.
func (b *Batch) Compress(c codec.Codec, level int8) {
	b.Codec, b.Level = c, level
	b.Size = BatchSize(&b.Records)
	if c != codec.None {
		b.Size = BatchOverhead + int32(len(c.Append(nil, b.encodeRecords(), level)))
	}
}

// encodeRecords are the batch's records as bytes, uncompressed.
func (b *Batch) encodeRecords() []byte {
	out := make([]byte, 0, BatchSize(&b.Records)-BatchOverhead)
	for c := b.Records.From(0); c.Next(); {
		out = appendRecord(out, &c, c.Place(), b.Records.Base)
	}
	return out
}

// CRC is the batch's checksum. It covers neither the base offset nor the leader epoch, so that a broker can
// stamp both.
func (b *Batch) CRC() uint32 { return binary.BigEndian.Uint32(b.Encode()[17:]) }

// times are the timestamp of the first record and the largest of all.
func (b *Batch) times() (first, last int64) {
	if b.Records.Live() == 0 {
		return b.Records.Base, b.MaxTimestamp
	}
	last = -1
	for _, r := range b.Records.All() {
		last = max(last, r.Timestamp)
	}
	return b.Records.Base, last
}

func appendRecord(out []byte, r *Cursor, i int, firstTimestamp int64) []byte {
	headers := r.Headers()
	delta := r.Timestamp - firstTimestamp
	body := 1 + FieldsSize(&r.Record, headers) + lengthSize(i) + varintSize(delta)
	out = binary.AppendVarint(out, int64(body))
	out = append(out, 0) // attributes
	out = binary.AppendVarint(out, delta)
	out = binary.AppendVarint(out, int64(i))
	out = appendField(out, r.Key, r.Flags&NullKey != 0)
	out = appendField(out, r.Value, r.Flags&NullValue != 0)
	out = binary.AppendVarint(out, int64(len(headers)))
	for _, h := range headers {
		out = appendField(out, h.Key, false)
		out = appendField(out, h.Value, false)
	}
	return out
}

// appendField writes a length and the bytes; null has the length -1.
func appendField(out []byte, s string, null bool) []byte {
	if null {
		return binary.AppendVarint(out, -1)
	}
	return append(binary.AppendVarint(out, int64(len(s))), s...)
}
