package machine

import (
	"reflect"
	"unsafe"

	"kafkalab/kafkasim/config"
)

// Hash is a number over the whole world, the same on every machine: two worlds with one hash are in the
// same state. What only a trace needs (Notes, Quiet) or a Watch does not count, nor does spare room in slices.
func (s *State) Hash() uint64 {
	h := hasher{sum: 14695981039346656037, records: map[*byte]summed{}}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch v.Type().Field(i).Name {
		case "Notes", "Quiet", "Watching", "Answers", "Losses", "Untold", "Commits", "Transitions":
		case "Delays": // none in a world that nobody has meddled with
			if len(s.Delays) > 0 {
				h.value(v.Field(i))
			}
		default:
			h.value(v.Field(i))
		}
	}
	return h.sum
}

// hasher mixes values into a sum (FNV-1a over 64-bit words, spread by a multiplication).
type hasher struct {
	sum     uint64
	records map[*byte]summed // sums of records that several logs share
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
		if v.Type() == reflect.TypeFor[Shared]() {
			return
		}
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
		if unused(v) {
			return
		}
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
	if v.Type().Elem().Kind() == reflect.Uint8 {
		h.bytes(v.Bytes())
		return
	}
	for i := range n {
		h.value(v.Index(i))
	}
}

// bytes mixes bytes in, which are never written again. Replicas share those of records, so each row is
// summed once.
func (h *hasher) bytes(b []byte) {
	at := unsafe.SliceData(b)
	sum, known := h.records[at]
	if !known || len(b) != sum.len {
		x := hasher{sum: 1469598103934665603}
		x.text(unsafe.String(at, len(b)))
		sum = summed{x.sum, len(b)}
		h.records[at] = sum
	}
	h.word(sum.sum)
}

// summed is the sum of so many bytes.
type summed struct {
	sum uint64
	len int
}

// unused tells that a value belongs to a part of Kafka of which there is nothing in a world: such worlds have the hashes that
// they had before that part was there.
func unused(v reflect.Value) bool {
	switch v.Type() {
	case reflect.TypeFor[ConsumerStats](), reflect.TypeFor[ProducerStats]():
		return true // numbers of what has been
	case reflect.TypeFor[WorkQuota](), reflect.TypeFor[MutationQuotas](), reflect.TypeFor[ThrottleTime](),
		reflect.TypeFor[ControllerPause](), reflect.TypeFor[Unheard](), reflect.TypeFor[UnheardChanges]():
		return v.IsZero()
	case reflect.TypeFor[BrokerShare](), reflect.TypeFor[ShareShard](), reflect.TypeFor[ShareWorld](), reflect.TypeFor[config.ShareConsumer](), reflect.TypeFor[TxnApp](),
		reflect.TypeFor[ClassicMember](), reflect.TypeFor[config.Migration](), reflect.TypeFor[AllTopics](),
		reflect.TypeFor[GivenUp](), reflect.TypeFor[LastJoined](), reflect.TypeFor[CloseHow]():
		return v.IsZero()
	case reflect.TypeFor[config.ShareGroups]():
		return v.Interface() == config.DefaultShareGroups
	case reflect.TypeFor[config.SegmentIndex]():
		return v.IsZero() || v.Interface() == config.DefaultSegmentIndex
	case reflect.TypeFor[config.ControllerQuota]():
		return v.IsZero() || v.Interface() == config.DefaultControllerQuota
	}
	return false
}
