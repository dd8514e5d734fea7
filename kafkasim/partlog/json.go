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
	Timestamp int64    `json:",omitempty"`
	Flags     uint32   `json:",omitempty"`
	Headers   []Header `json:",omitempty"`
	Removed   bool     `json:",omitempty"`
	Base      *int64   `json:",omitempty"` // of the first, where it is not its timestamp
}

func (j *jsonRecord) record() Record {
	r := Record{Timestamp: j.Timestamp, Flags: j.Flags}
	r.Key, r.Value = j.get()
	return r
}

func savedRecord(r *Record) jsonRecord {
	j := jsonRecord{Timestamp: r.Timestamp, Flags: r.Flags}
	j.set(r.Key, r.Value)
	return j
}

// MarshalJSON writes a record.
func (r Record) MarshalJSON() ([]byte, error) { return json.Marshal(savedRecord(&r)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Record) UnmarshalJSON(data []byte) error {
	var j jsonRecord
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = j.record()
	return nil
}

// MarshalJSON writes records as a list.
func (r Records) MarshalJSON() ([]byte, error) {
	list := make([]jsonRecord, r.Count)
	for i := range list {
		list[i].Removed = true
	}
	for c := r.From(0); c.Next(); {
		j := savedRecord(&c.Record)
		j.Headers = c.Headers()
		list[c.Place()] = j
	}
	if len(list) > 0 && (list[0].Removed || list[0].Timestamp != r.Base) {
		list[0].Base = &r.Base
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Records) UnmarshalJSON(data []byte) error {
	var list []jsonRecord
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*r = Records{}
	if len(list) > 0 {
		if r.Base = list[0].Timestamp; list[0].Base != nil {
			r.Base = *list[0].Base
		}
	}
	for i := range list {
		if list[i].Removed {
			r.Remove()
			continue
		}
		x := list[i].record()
		r.add(&x, list[i].Headers)
	}
	r.Trim()
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
