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
	// References are what it uses of other subjects.
	References []Reference `json:"references,omitempty"`
}

// identity is what makes a schema the same: its text, and what it refers to.
func (e *entry) identity() string { return identity(e.Schema, e.References) }

func identity(text string, refs []Reference) string {
	if len(refs) == 0 {
		return text
	}
	return text + "\x00" + mustJSON(refs)
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
	modes    map[string]string
	ids      map[string]int // by schema's identity
	maxID    int
}

func (s *store) start() {
	*s = store{subjects: map[string][]entry{}, levels: map[string]string{"": Backward}, modes: map[string]string{}, ids: map[string]int{}}
}

// names lists the subjects, with those of which all was soft deleted or without.
func (s *store) names(deleted bool) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.subjects)) {
		if len(s.subject(name, deleted)) > 0 {
			out = append(out, name)
		}
	}
	return out
}

// subject is a subject's versions, with the soft deleted ones or without.
func (s *store) subject(name string, deleted bool) (out []entry) {
	for _, e := range s.subjects[name] {
		if deleted || !e.Deleted {
			out = append(out, e)
		}
	}
	return out
}

// version is one version of a subject, nil for none.
func (s *store) version(subject string, n int, deleted bool) *entry {
	list := s.subject(subject, deleted)
	if n == Latest && len(list) > 0 {
		return &list[len(list)-1]
	}
	for i := range list {
		if list[i].Version == n {
			return &list[i]
		}
	}
	return nil
}

// find is a schema's living entry under a subject, nil for none.
func (s *store) find(subject string, doc *document) *entry {
	list := s.subject(subject, false)
	for i := range list {
		if list[i].identity() == doc.identity() {
			return &list[i]
		}
	}
	return nil
}

// idFor is the id that a schema has, or will get: the same schema has one id under all subjects (SR-4).
func (s *store) idFor(doc *document) int {
	if id, ok := s.ids[doc.identity()]; ok {
		return id
	}
	return s.maxID + 1
}

// schema is an entry with an id, soft deleted or not; nil for none.
func (s *store) schema(id int) *entry {
	for _, name := range s.names(true) {
		list := s.subjects[name]
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
	}
	return nil
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
	case "MODE":
		var v modeSetting
		if p.NullValue {
			delete(s.modes, subject)
		} else if json.Unmarshal([]byte(p.Value), &v) == nil {
			s.modes[subject] = v.Mode
		}
	case "SCHEMA":
		s.takeSchema(subject, k.Version, p)
	case "DELETE_SUBJECT":
		var v deletion
		if p.NullValue || json.Unmarshal([]byte(p.Value), &v) != nil {
			return
		}
		for i := range s.subjects[subject] {
			if e := &s.subjects[subject][i]; e.Version <= v.Version {
				e.Deleted = true
			}
		}
		s.forgetSettings(subject)
	}
}

// takeSchema applies a SCHEMA record: a version that is new, soft deleted, or gone for good.
func (s *store) takeSchema(subject string, version int, p *kafkasim.Polled) {
	list := s.subjects[subject]
	i := slices.IndexFunc(list, func(x entry) bool { return x.Version == version })
	if p.NullValue {
		if i >= 0 {
			gone := list[i]
			s.subjects[subject] = slices.Delete(list, i, i+1)
			if s.schema(gone.ID) == nil { // nobody has it any more: registered again, it gets another id
				delete(s.ids, gone.identity())
			}
		}
		return
	}
	var e entry
	if json.Unmarshal([]byte(p.Value), &e) != nil {
		return
	}
	if i >= 0 {
		list[i] = e
	} else {
		list = append(list, e)
	}
	s.subjects[subject], s.ids[e.identity()], s.maxID = list, e.ID, max(s.maxID, e.ID)
	if len(s.subject(subject, false)) == 0 {
		s.forgetSettings(subject)
	}
}

// forgetSettings takes a subject's own level and mode back, with its last version.
func (s *store) forgetSettings(subject string) {
	delete(s.levels, subject)
	delete(s.modes, subject)
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
