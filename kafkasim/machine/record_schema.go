package machine

import "encoding/binary"

// Bytes of records that coordinators write, as Kafka's message generator lays them out: big-endian numbers,
// strings and lists with a length in front, in "flexible" versions as varint of one more than it, and there
// each structure ends with tagged fields (KIP-482).

// recordWriter writes a key or value of a record.
type recordWriter struct {
	bytes    []byte
	flexible bool
}

func (w *recordWriter) int8(v int8)   { w.bytes = append(w.bytes, byte(v)) }
func (w *recordWriter) int16(v int16) { w.bytes = binary.BigEndian.AppendUint16(w.bytes, uint16(v)) }
func (w *recordWriter) int32(v int32) { w.bytes = binary.BigEndian.AppendUint32(w.bytes, uint32(v)) }
func (w *recordWriter) int64(v int64) { w.bytes = binary.BigEndian.AppendUint64(w.bytes, uint64(v)) }
func (w *recordWriter) uvarint(v uint64) {
	w.bytes = binary.AppendUvarint(w.bytes, v)
}

// length writes the length of a list; -1 is null.
func (w *recordWriter) length(n int) {
	if w.flexible {
		w.uvarint(uint64(n + 1))
	} else {
		w.int32(int32(n))
	}
}

// text writes a string.
func (w *recordWriter) text(s string) {
	if w.flexible {
		w.uvarint(uint64(len(s) + 1))
	} else {
		w.int16(int16(len(s)))
	}
	w.bytes = append(w.bytes, s...)
}

// texts is an array of strings.
func (w *recordWriter) texts(list []string) {
	w.length(len(list))
	for _, s := range list {
		w.text(s)
	}
}

// noTags ends a structure of a flexible version that has no tagged fields.
func (w *recordWriter) noTags() {
	if w.flexible {
		w.uvarint(0)
	}
}

// recordReader reads what recordWriter wrote. Past the end it reads zeros and is bad.
type recordReader struct {
	rest     string
	flexible bool
	bad      bool
}

func (r *recordReader) take(n int) string {
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// number reads n bytes as a big-endian number.
func (r *recordReader) number(n int) uint64 {
	v := uint64(0)
	for _, b := range []byte(r.take(n)) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (r *recordReader) int8() int8   { return int8(r.number(1)) }
func (r *recordReader) int16() int16 { return int16(r.number(2)) }
func (r *recordReader) int32() int32 { return int32(r.number(4)) }
func (r *recordReader) int64() int64 { return int64(r.number(8)) }

func (r *recordReader) uvarint() uint64 {
	v := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		b := r.number(1)
		v |= b & 0x7f << shift
		if b < 0x80 {
			break
		}
	}
	return v
}

// length reads the length of a list; -1 is null.
func (r *recordReader) length() int {
	if r.flexible {
		return int(r.uvarint()) - 1
	}
	return int(r.int32())
}

// text reads a string.
func (r *recordReader) text() string {
	if r.flexible {
		return r.take(int(r.uvarint()) - 1)
	}
	return r.take(int(r.int16()))
}

// tags reads tagged fields: visit gets each one's number and its bytes.
func (r *recordReader) tags(visit func(tag uint64, field *recordReader)) {
	if !r.flexible {
		return
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		field := recordReader{rest: r.take(int(r.uvarint())), flexible: true}
		if visit != nil {
			visit(tag, &field)
		}
	}
}
