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
	Count int32 // of offsets; Removed of them have no record any more
	// Removed records were compacted away. Their places stay, so that a record's place is its distance from
	// the batch's first offset.
	Removed int32
}

// Marks in a record's first number, below the key's length. NullKey and NullValue are the lowest two.
const (
	hasHeaders = 4
	markBits   = 3
	// removed is all that is left of a record that was compacted away: a null key has no length.
	removed = 1<<markBits | byte(NullKey)
)

// PackRecords packs records that have no headers.
func PackRecords(records ...Record) Records {
	var r Records
	for i := range records {
		r.Append(&records[i], nil)
	}
	return r
}

// Len is the number of offsets that the records take, also of those that were compacted away.
func (r *Records) Len() int { return int(r.Count) }

// Live is the number of records that are there.
func (r *Records) Live() int { return int(r.Count - r.Removed) }

// Keyless tells whether any record has no key.
func (r *Records) Keyless() bool {
	for c := r.From(0); c.Next(); {
		if c.Flags&NullKey != 0 {
			return true
		}
	}
	return false
}

// Remove adds the place of a record that was compacted away.
func (r *Records) Remove() {
	r.Count++
	r.Removed++
	r.Data = append(r.Data, removed)
}

// Append adds a record with its headers.
func (r *Records) Append(x *Record, headers []Header) {
	if r.Count == 0 {
		r.Base = x.Timestamp
	}
	r.add(x, headers)
}

// add is Append for records whose Base is set.
func (r *Records) add(x *Record, headers []Header) {
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

// At is the record at the i-th place. It is found by reading those before it: use All or From to go through many.
func (r *Records) At(i int) Record {
	c := r.From(i)
	c.Next()
	return c.Record
}

// All goes through the records, each with its place. The record is good until the next one.
func (r *Records) All() func(yield func(int, *Record) bool) {
	return func(yield func(int, *Record) bool) {
		for c := r.From(0); c.Next(); {
			if !yield(c.Place(), &c.Record) {
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
	count   int32
	headers []byte // of Record, with their number in front
}

// From is a cursor whose first Next comes to the record at the i-th place, or the first behind it.
func (r *Records) From(i int) Cursor {
	c := Cursor{rest: r.Data, base: r.Base, left: r.Count, count: r.Count}
	for ; i > 0 && c.left > 0; i-- {
		c.left--
		if c.rest[0] == removed {
			c.rest = c.rest[1:]
		} else {
			c.read()
		}
	}
	return c
}

// Place is that of Record in its batch: its offset's distance from the first one.
func (c *Cursor) Place() int { return int(c.count - c.left - 1) }

// Next comes to the next record that is there and tells whether there is one.
func (c *Cursor) Next() bool {
	for c.left > 0 {
		c.left--
		if c.rest[0] != removed {
			c.read()
			return true
		}
		c.rest = c.rest[1:]
	}
	return false
}

// read reads one record.
func (c *Cursor) read() {
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
}

// Left is how many places are still to come.
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
