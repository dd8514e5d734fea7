package partlog

import (
	"encoding/json"
	"unicode/utf8"
)

// Records as JSON. Keys, values and headers are bytes; JSON strings are Unicode. What is not valid UTF-8
// is written as base64 in a field of its own, so that it comes back as it was.

type jsonText struct {
	Key, Value           string `json:",omitempty"`
	KeyBytes, ValueBytes []byte `json:",omitempty"`
}

func (t *jsonText) set(key, value string) {
	if utf8.ValidString(key) {
		t.Key = key
	} else {
		t.KeyBytes = []byte(key)
	}
	if utf8.ValidString(value) {
		t.Value = value
	} else {
		t.ValueBytes = []byte(value)
	}
}

func (t *jsonText) get() (key, value string) {
	key, value = t.Key, t.Value
	if t.KeyBytes != nil {
		key = string(t.KeyBytes)
	}
	if t.ValueBytes != nil {
		value = string(t.ValueBytes)
	}
	return key, value
}

type jsonRecord struct {
	jsonText
	Timestamp int64  `json:",omitempty"`
	Flags     uint32 `json:",omitempty"`
	HeaderRow int32  `json:",omitempty"`
}

// MarshalJSON writes a record.
func (r Record) MarshalJSON() ([]byte, error) {
	j := jsonRecord{Timestamp: r.Timestamp, Flags: r.Flags, HeaderRow: r.HeaderRow}
	j.set(r.Key, r.Value)
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Record) UnmarshalJSON(data []byte) error {
	var j jsonRecord
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Record{Timestamp: j.Timestamp, Flags: j.Flags, HeaderRow: j.HeaderRow}
	r.Key, r.Value = j.get()
	return nil
}

// MarshalJSON writes a header.
func (h Header) MarshalJSON() ([]byte, error) {
	var j jsonText
	j.set(h.Key, h.Value)
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Header) UnmarshalJSON(data []byte) error {
	var j jsonText
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	h.Key, h.Value = j.get()
	return nil
}
