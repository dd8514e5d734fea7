package registry

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// The store: what the topic _schemas says, and how it is written and read.
//
// A write is a record with acks=all that the registry then reads back, and only what was read counts. So everything that
// a registry knows has gone through the log, and a second registry that reads the log knows the same.
//
// Schema Registry: KafkaStore, KafkaStoreReaderThread, SchemaKey, SchemaValue, ConfigKey, ConfigValue, NoopKey.

// key is the key of a record of _schemas.
type key struct {
	Type    string  `json:"keytype"`
	Subject *string `json:"subject,omitempty"`
	Version int     `json:"version,omitempty"`
	Magic   int     `json:"magic"`
}

// record is one of _schemas; no value is a null.
type record struct {
	Key   key
	Value *string
}

// entry is a schema under a subject, as its record's value has it.
type entry struct {
	Subject string `json:"subject"`
	Version int    `json:"version"`
	ID      int    `json:"id"`
	Schema  string `json:"schema"`
	Deleted bool   `json:"deleted"`
}

func (e *entry) answer() *Answer {
	return &Answer{Code: 200, Subject: e.Subject, ID: e.ID, Version: e.Version}
}

// setting is the value of a CONFIG record.
type setting struct {
	Level string `json:"compatibilityLevel"`
}

// store is what has been read.
type store struct {
	subjects map[string][]entry // versions in order
	levels   map[string]string  // by subject; "" for all
	ids      map[string]int     // by schema text
	maxID    int
}

func (s *store) start() {
	*s = store{subjects: map[string][]entry{}, levels: map[string]string{"": Backward}, ids: map[string]int{}}
}

func (s *store) names() []string { return slices.Sorted(maps.Keys(s.subjects)) }

func (s *store) subject(name string) []entry { return s.subjects[name] }

// find is a schema's entry under a subject, nil for none.
func (s *store) find(subject string, doc *document) *entry {
	list := s.subjects[subject]
	for i := range list {
		if list[i].Schema == doc.text {
			return &list[i]
		}
	}
	return nil
}

// idFor is the id that a schema has, or will get: the same schema has one id under all subjects (SR-4).
func (s *store) idFor(doc *document) int {
	if id, ok := s.ids[doc.text]; ok {
		return id
	}
	return s.maxID + 1
}

// schema is the schema with an id, "" for none.
func (s *store) schema(id int) string {
	for text, n := range s.ids {
		if n == id {
			return text
		}
	}
	return ""
}

func (s *store) level(subject string) string {
	if l, ok := s.levels[subject]; ok {
		return l
	}
	return s.levels[""]
}

// take applies a record that was read. What is no record of a registry is skipped, as the real one logs it and goes on.
func (s *store) take(p *kafkasim.Polled) {
	var k key
	if json.Unmarshal([]byte(p.Key), &k) != nil {
		return
	}
	subject := ""
	if k.Subject != nil {
		subject = *k.Subject
	}
	switch k.Type {
	case "CONFIG":
		var v setting
		if p.NullValue {
			delete(s.levels, subject)
		} else if json.Unmarshal([]byte(p.Value), &v) == nil {
			s.levels[subject] = v.Level
		}
	case "SCHEMA":
		var e entry
		if json.Unmarshal([]byte(p.Value), &e) != nil || p.NullValue {
			return
		}
		list := s.subjects[subject]
		if i := slices.IndexFunc(list, func(x entry) bool { return x.Version == e.Version }); i >= 0 {
			list[i] = e
		} else {
			list = append(list, e)
		}
		s.subjects[subject], s.ids[e.Schema], s.maxID = list, e.ID, max(s.maxID, e.ID)
	}
}

func named(t view.Topic) bool { return t.Name == topic }

// write sends a record to _schemas and reads it back; false when that took too long. It may be in the log nevertheless.
func (r *Registry) write(x record) bool {
	var value any
	if x.Value != nil {
		value = *x.Value
	}
	d := r.producer.Send(topic, mustJSON(x.Key), value)
	r.c.RunUntil(func(*kafkasim.Cluster) bool { return d.Status() != "pending" }, storeTimeout)
	return d.Status() == "acked" && r.readTo(d.Offset()+1)
}

// catchUp reads what others have written, and what of one's own was late.
func (r *Registry) catchUp() {
	r.readTo(r.c.Partition(topic, 0).HighWatermark)
}

// readTo reads up to an offset.
func (r *Registry) readTo(end int64) bool {
	for give := r.c.Now() + storeTimeout; r.reader.Position(topic, 0) < end; {
		left := give - r.c.Now()
		if left <= 0 {
			return false
		}
		got := r.reader.Poll(min(left, 100*time.Millisecond))
		for i := range got.Records {
			r.store.take(&got.Records[i])
		}
	}
	return true
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of texts and numbers
	}
	return string(b)
}

// compact is JSON without idle spaces.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}
