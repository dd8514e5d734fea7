package partlog

import "math/bits"

// Sizes in bytes of what a batch is made of (P-101, P-107).
const (
	// BatchOverhead is the header of a batch.
	BatchOverhead = 61
	// recordOverheadMax is the most that a record needs beside its key, value and headers.
	recordOverheadMax = 21
)

// varintSize is the size of a zigzag varint (P-104): a length of 64 already takes two bytes.
func varintSize(v int64) int32 {
	u := uint64(v)<<1 ^ uint64(v>>63)
	return int32(bits.Len64(u|1)+6) / 7
}

// lengthSize is varintSize for lengths, which are mostly short.
func lengthSize(n int) int32 {
	if n < 64 {
		return 1
	}
	return varintSize(int64(n))
}

// FieldsSize is the size of a record's key, value and headers with their lengths, in bytes: what the
// record keeps wherever it lies in a batch (P-103). A null key or value takes one byte.
func FieldsSize(r *Record, headers []Header) int32 {
	n := lengthSize(len(r.Key)) + int32(len(r.Key)) + lengthSize(len(r.Value)) + int32(len(r.Value)) + lengthSize(len(headers))
	for _, h := range headers {
		n += lengthSize(len(h.Key)) + int32(len(h.Key)) + lengthSize(len(h.Value)) + int32(len(h.Value))
	}
	return n
}

// RecordSize is the size in a batch of a record whose FieldsSize is fields (P-103): its distance from
// the batch's first offset and first timestamp takes part.
func RecordSize(fields, offsetDelta int32, timestampDelta int64) int32 {
	body := 1 + fields + lengthSize(int(offsetDelta)) + varintSize(timestampDelta)
	return varintSize(int64(body)) + body
}

// BatchSizeBound is the upper bound of a batch that holds only one record (P-107), by which the
// producer checks sizes and allocates buffers before it knows better.
func BatchSizeBound(fields int32) int32 { return BatchOverhead + recordOverheadMax + fields }

// BatchSize is the size of a batch of these records in bytes, uncompressed (P-105, P-106).
func BatchSize(records *Records) int32 {
	n := int32(BatchOverhead)
	c := records.From(0)
	for c.Next() {
		n += RecordSize(FieldsSize(&c.Record, c.Headers()), int32(c.Place()), c.Timestamp-records.Base)
	}
	return n
}
