package machine

import (
	"reflect"
	"unsafe"

	"kafkalab/kafkasim/partlog"
)

// Hash is a number over the whole world, the same on every machine: two worlds with one hash are in the
// same state. What only a trace needs (Notes, Quiet) or a Watch does not count, nor does spare room in slices.
func (s *State) Hash() uint64 {
	h := hasher{sum: 14695981039346656037, records: map[*partlog.Record]uint64{}}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch v.Type().Field(i).Name {
		case "Notes", "Quiet", "Watching", "Answers", "Losses":
		default:
			h.value(v.Field(i))
		}
	}
	return h.sum
}

// hasher mixes values into a sum (FNV-1a over 64-bit words, spread by a multiplication).
type hasher struct {
	sum     uint64
	records map[*partlog.Record]uint64 // sums of records that several logs share
}

func (h *hasher) word(w uint64) {
	h.sum = (h.sum ^ w) * 1099511628211
	h.sum ^= h.sum >> 29
}

func (h *hasher) text(s string) {
	h.word(uint64(len(s)))
	for len(s) >= 8 {
		h.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	for i := range len(s) {
		h.word(uint64(s[i]))
	}
}

func (h *hasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			h.word(1)
		} else {
			h.word(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.word(v.Uint())
	case reflect.String:
		h.text(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			h.value(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			h.value(v.Index(i))
		}
	case reflect.Slice:
		h.slice(v)
	case reflect.Interface:
		if v.IsNil() {
			h.word(0)
			return
		}
		h.text(v.Elem().Type().Name())
		h.value(v.Elem())
	default:
		panic("machine: State holds a " + v.Kind().String())
	}
}

func (h *hasher) slice(v reflect.Value) {
	n := v.Len()
	h.word(uint64(n))
	if n == 0 {
		return
	}
	if v.Type().Elem() == reflect.TypeFor[partlog.Record]() {
		h.recordsOf(unsafe.Slice((*partlog.Record)(v.UnsafePointer()), n))
		return
	}
	for i := range n {
		h.value(v.Index(i))
	}
}

// recordsOf mixes records in. Replicas share them, so each run is summed once.
func (h *hasher) recordsOf(records []partlog.Record) {
	sum, known := h.records[&records[0]]
	if !known {
		r := hasher{sum: 1469598103934665603}
		for i := range records {
			x := &records[i]
			r.text(x.Key)
			r.text(x.Value)
			r.word(uint64(x.Timestamp))
			r.word(uint64(x.Flags)<<32 | uint64(uint32(x.HeaderRow)))
		}
		sum = r.sum
		h.records[&records[0]] = sum
	}
	h.word(sum)
}
