package partlog

import (
	"encoding/binary"
	"unsafe"
)

// Records are a batch's records, packed one behind another into bytes that are written once: logs of several
// brokers, messages in flight and forks of a whole cluster share them, and a garbage collector has
// nothing to look through. A record takes three or four bytes beside its key and value.
//
// A record is: uvarint of the key's length and the marks below, uvarint of the value's length, varint of
// the timestamp's distance from Base, key, value, and, where hasHeaders says so, uvarint of the number of headers
// and each one's key and value with their lengths.
type Records struct {
	Data  []byte
	Base  int64 // ms: the first record's timestamp
	Count int32
}

// Marks in a record's first number, below the key's length. NullKey and NullValue are the lowest two.
const (
	hasHeaders = 4
	markBits   = 3
)

// PackRecords packs records that have no headers.
func PackRecords(records ...Record) Records {
	var r Records
	for i := range records {
		r.Append(&records[i], nil)
	}
	return r
}

// Len is the number of records.
func (r *Records) Len() int { return int(r.Count) }

// Append adds a record with its headers.
func (r *Records) Append(x *Record, headers []Header) {
	if r.Count == 0 {
		r.Base = x.Timestamp
	}
	r.Count++
	first := uint64(len(x.Key))<<markBits | uint64(x.Flags&(NullKey|NullValue))
	if len(headers) > 0 {
		first |= hasHeaders
	}
	d := binary.AppendUvarint(r.Data, first)
	d = binary.AppendUvarint(d, uint64(len(x.Value)))
	d = binary.AppendVarint(d, x.Timestamp-r.Base)
	d = append(d, x.Key...)
	d = append(d, x.Value...)
	if len(headers) > 0 {
		d = binary.AppendUvarint(d, uint64(len(headers)))
		for _, h := range headers {
			d = binary.AppendUvarint(d, uint64(len(h.Key)))
			d = append(d, h.Key...)
			d = binary.AppendUvarint(d, uint64(len(h.Value)))
			d = append(d, h.Value...)
		}
	}
	r.Data = d
}

// Room makes room for so many bytes in all.
func (r *Records) Room(bytes int) {
	if bytes > cap(r.Data) {
		r.Data = append(make([]byte, 0, bytes), r.Data...)
	}
}

// Trim gives up spare room that is not worth keeping.
func (r *Records) Trim() {
	if n := len(r.Data); cap(r.Data) > n+n/8+16 {
		r.Data = append(make([]byte, 0, n), r.Data...)
	}
}

// Clip gives up the spare room to whoever else has these records, without copying: the next Append moves them.
func (r *Records) Clip() { r.Data = r.Data[:len(r.Data):len(r.Data)] }

// Start names the records among all others in memory, nil for none: two rows with one Start and one Len
// are the same.
func (r *Records) Start() *byte { return unsafe.SliceData(r.Data) }

// At is the i-th record. It is found by reading those before it: use All or From to go through many.
func (r *Records) At(i int) Record {
	c := r.From(i)
	c.Next()
	return c.Record
}

// All goes through the records, each with its number. The record is good until the next one.
func (r *Records) All() func(yield func(int, *Record) bool) {
	return func(yield func(int, *Record) bool) {
		c := r.From(0)
		for i := 0; c.Next(); i++ {
			if !yield(i, &c.Record) {
				return
			}
		}
	}
}

// Cursor goes through records; Record is the one that Next came to. Keys and values lie in the batch.
type Cursor struct {
	Record
	rest    []byte
	base    int64
	left    int32
	headers []byte // of Record, with their number in front
}

// From is a cursor whose first Next comes to the i-th record.
func (r *Records) From(i int) Cursor {
	c := Cursor{rest: r.Data, base: r.Base, left: r.Count}
	for ; i > 0 && c.Next(); i-- {
	}
	return c
}

// Next comes to the next record and tells whether there is one.
func (c *Cursor) Next() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	first, value, stamp := c.number(), c.number(), c.number()
	c.Flags = uint32(first) & (NullKey | NullValue)
	c.Timestamp = c.base + (int64(stamp>>1) ^ -int64(stamp&1))
	c.Key, c.Value = c.text(first>>markBits), c.text(value)
	if c.headers = nil; first&hasHeaders != 0 {
		c.headers = c.rest
		for n := 2 * c.number(); n > 0; n-- {
			c.text(c.number())
		}
	}
	return true
}

// Left is how many records are still to come.
func (c *Cursor) Left() int { return int(c.left) }

// Headers are those of the record.
func (c *Cursor) Headers() []Header {
	if c.headers == nil {
		return nil
	}
	h := Cursor{rest: c.headers}
	out := make([]Header, h.number())
	for i := range out {
		out[i].Key = h.text(h.number())
		out[i].Value = h.text(h.number())
	}
	return out
}

// number reads a uvarint; most take one byte.
func (c *Cursor) number() uint64 {
	if b := c.rest[0]; b < 0x80 {
		c.rest = c.rest[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(c.rest)
	c.rest = c.rest[n:]
	return v
}

// text takes n bytes as a string that lies where they lie: they never change.
func (c *Cursor) text(n uint64) string {
	s := unsafe.String(unsafe.SliceData(c.rest), n)
	c.rest = c.rest[n:]
	return s
}
