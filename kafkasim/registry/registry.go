// Package registry is a Schema Registry beside a simulated Kafka: it gives schemas ids, counts their versions under
// subjects, and refuses a schema that readers could not live with.
//
//	r := registry.New(c)
//	r.Register("orders-value", `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`)
//	m := r.Encode("orders-value", schema, map[string]any{"id": 7})
//	p.Send("orders", "user-1", m.Bytes)
//	r.Decode(m.Bytes)
//
// It keeps nothing of its own: every schema and every setting is a record of the compacted topic _schemas, written with
// acks=all, and a registry is what reading that topic from the beginning gives. So a registry on a fork, on the past, or
// after a crash is made by New, and knows what the log knows.
//
// What it asks of Kafka are ordinary commands of two ordinary clients, and they are in Script and history with everything
// else. A Registry handle belongs to the cluster that it was made on.
//
// Follows Confluent's Schema Registry (KafkaSchemaRegistry, KafkaStore, CompatibilityLevel, TopicNameStrategy): the HTTP
// codes, the error codes, the records of _schemas and the frame are its. Avro is checked by github.com/twmb/avro. Absent:
// JSON Schema and Protobuf (refused by name), references between schemas, deletion of subjects, contexts, modes, schema
// ids in headers (SR-2), and the election among several registries: two handles on one cluster both write, one after the
// other.
package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/avro"

	"kafkalab/kafkasim"
)

const (
	topic = "_schemas"
	// Kafka's own words for how long the registry waits for its store (kafkastore.timeout.ms).
	storeTimeout = 500 * time.Millisecond
	// How long it waits for the topic when it starts (kafkastore.init.timeout.ms).
	initTimeout = time.Minute
)

// Registry is a handle on one registry process.
type Registry struct {
	c        *kafkasim.Cluster
	producer *kafkasim.Producer
	reader   *kafkasim.Consumer
	store    store
	// What the serializers and deserializers that use this handle remember (SR-3).
	written  map[string]int    // subject and schema: id
	known    map[int]*document // id: schema
	requests int
}

// New starts a registry on a cluster: it makes the topic _schemas if there is none, reads it to the end, and is ready.
// Virtual time passes. A cluster whose _schemas cannot be written is a UsageError, as the real one does not start.
func New(c *kafkasim.Cluster) *Registry {
	if c == nil {
		misuse("New", "the cluster is nil; make one with kafkasim.New")
	}
	view := c.View()
	if !slices.ContainsFunc(view.Topics, named) {
		c.CreateTopic(topic, 1, min(3, len(view.Brokers)), kafkasim.Config{"cleanup.policy": "compact"})
	}
	id := freeName(c)
	r := &Registry{c: c, written: map[string]int{}, known: map[int]*document{}}
	r.producer = c.NewProducer(id, kafkasim.Config{"acks": "all", "enable.idempotence": false, "retries": 0, "linger.ms": 0})
	r.reader = c.NewConsumer(id+"-reader", kafkasim.Config{"auto.offset.reset": "earliest"})
	r.reader.Assign(topic)
	r.store.start()
	// The real one writes a record that says nothing and waits until it reads it: then it has read all before.
	ready := false
	for end := c.Now() + initTimeout; !ready && c.Now() < end; {
		ready = r.write(record{Key: key{Type: "NOOP"}})
	}
	if !ready {
		misuse("New", "the topic %s cannot be written (Timed out trying to create or validate schema topic configuration); see c.Describe(%q)", topic, topic)
	}
	return r
}

func freeName(c *kafkasim.Cluster) string {
	taken := map[string]bool{}
	for _, p := range c.View().Producers {
		taken[p.ID] = true
	}
	id := "schema-registry"
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("schema-registry-%d", n)
	}
	return id
}

// Register adds a schema to a subject, and answers with its id and version. The schema that a subject has already gets
// the id that it has (SR-4). One that breaks the subject's compatibility level is refused with 409, and nothing is written
// (SR-8). A third argument is the schemaType; only "AVRO" is there.
func (r *Registry) Register(subject, schema string, schemaType ...string) *Answer {
	r.requests++
	where := fmt.Sprintf("Register(%q)", subject)
	doc, bad := r.read(where, subject, schema, schemaType)
	if bad != nil {
		return bad
	}
	r.catchUp()
	if e := r.store.find(subject, doc); e != nil {
		return e.answer()
	}
	if why := r.incompatible(subject, doc); why != "" {
		return &Answer{Code: 409, ErrorCode: 409, Subject: subject, Message: fmt.Sprintf("Schema being registered is incompatible with an earlier schema for subject %q, details: %s", subject, why)}
	}
	e := entry{Subject: subject, Version: len(r.store.subject(subject)) + 1, ID: r.store.idFor(doc), Schema: doc.text}
	value := mustJSON(e)
	if !r.write(record{Key: key{Type: "SCHEMA", Subject: &subject, Version: e.Version, Magic: 1}, Value: &value}) {
		return &Answer{Code: 500, ErrorCode: 50002, Subject: subject, Message: "Operation timed out: Put operation timed out while waiting for an ack from Kafka"}
	}
	return r.store.find(subject, doc).answer()
}

// Lookup asks for the id and version of a schema under a subject, without adding it.
func (r *Registry) Lookup(subject, schema string) *Answer {
	r.requests++
	doc, bad := r.read(fmt.Sprintf("Lookup(%q)", subject), subject, schema, nil)
	if bad != nil {
		return bad
	}
	r.catchUp()
	if r.store.subject(subject) == nil {
		return notFound(subject)
	}
	if e := r.store.find(subject, doc); e != nil {
		return e.answer()
	}
	return &Answer{Code: 404, ErrorCode: 40403, Subject: subject, Message: "Schema not found"}
}

// Compatible asks whether a schema could be added to a subject, without adding it: 200 for yes, 409 with the reason.
func (r *Registry) Compatible(subject, schema string) *Answer {
	r.requests++
	doc, bad := r.read(fmt.Sprintf("Compatible(%q)", subject), subject, schema, nil)
	if bad != nil {
		return bad
	}
	r.catchUp()
	if why := r.incompatible(subject, doc); why != "" {
		return &Answer{Code: 409, ErrorCode: 409, Subject: subject, Message: why}
	}
	return &Answer{Code: 200, Subject: subject, Message: "compatible"}
}

// Compatibility sets the compatibility level: of a subject when one is named, else of all that have none of their own.
// Levels are BACKWARD (the default), FORWARD, FULL, each with _TRANSITIVE, and NONE (SR-5). It says nothing about schemas
// that are there already.
func (r *Registry) Compatibility(level string, subject ...string) *Answer {
	r.requests++
	level = strings.ToUpper(level)
	k := key{Type: "CONFIG"}
	a := &Answer{Code: 200, Message: "compatibility " + level}
	if len(subject) > 1 {
		misuse(fmt.Sprintf("Compatibility(%q)", level), "%d subjects: want one, or none for all", len(subject))
	}
	if len(subject) == 1 {
		a.Subject = subject[0]
		k.Subject = &subject[0]
	}
	if !slices.Contains(Levels(), level) {
		return &Answer{Code: 422, ErrorCode: 42203, Subject: a.Subject, Message: "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"}
	}
	value := mustJSON(setting{level})
	if !r.write(record{Key: k, Value: &value}) {
		return &Answer{Code: 500, ErrorCode: 50001, Subject: a.Subject, Message: "Error in the backend data store: Failed to update compatibility level"}
	}
	return a
}

// Level is the compatibility level that holds: of a subject when one is named, else the one for all.
func (r *Registry) Level(subject ...string) string {
	r.catchUp()
	if len(subject) == 1 {
		return r.store.level(subject[0])
	}
	return r.store.levels[""]
}

// Subjects lists the subjects, sorted.
func (r *Registry) Subjects() []string {
	r.catchUp()
	return r.store.names()
}

// Versions are a subject's schemas, the oldest first.
func (r *Registry) Versions(subject string) *Versions {
	r.catchUp()
	v := &Versions{Subject: subject}
	for _, e := range r.store.subject(subject) {
		v.Versions = append(v.Versions, Version{Version: e.Version, ID: e.ID, Schema: e.Schema})
	}
	return v
}

// Requests is how many requests this registry has had. Encode and Decode ask once for each schema, and remember (SR-3).
func (r *Registry) Requests() int { return r.requests }

// String says what the registry has.
func (r *Registry) String() string {
	r.catchUp()
	subjects := "subjects"
	if len(r.store.subjects) == 1 {
		subjects = "subject"
	}
	rows := []string{fmt.Sprintf("schema registry: %d %s, compatibility %s", len(r.store.subjects), subjects, r.store.levels[""])}
	for _, name := range r.store.names() {
		list := r.store.subject(name)
		last := list[len(list)-1]
		rows = append(rows, fmt.Sprintf("  %s  version %d has id %d  %s", name, last.Version, last.ID, r.store.level(name)))
	}
	return strings.Join(rows, "\n")
}

// Answer is what the registry answered.
type Answer struct {
	Code      int // HTTP status: 200, 404, 409, 422, 500
	ErrorCode int // the registry's own code; 0 for none
	Message   string
	Subject   string
	ID        int // of the schema; 0 when there is none
	Version   int // under the subject, from 1
}

// OK tells whether the answer is 200.
func (a *Answer) OK() bool { return a.Code == 200 }

// String is the answer in a line.
func (a *Answer) String() string {
	switch {
	case a.Code != 200 && a.ErrorCode == a.Code:
		return fmt.Sprintf("%d: %s", a.Code, a.Message)
	case a.Code != 200:
		return fmt.Sprintf("%d (error code %d): %s", a.Code, a.ErrorCode, a.Message)
	case a.ID == 0:
		return "200: " + a.Message
	}
	return fmt.Sprintf("200: %s version %d, id %d", a.Subject, a.Version, a.ID)
}

// Version is one schema of a subject.
type Version struct {
	Version, ID int
	Schema      string
}

// Versions are the schemas of a subject.
type Versions struct {
	Subject  string
	Versions []Version
}

// String is a row for each.
func (v *Versions) String() string {
	if len(v.Versions) == 0 {
		return fmt.Sprintf("Subject '%s' not found.", v.Subject)
	}
	var rows []string
	for _, x := range v.Versions {
		rows = append(rows, fmt.Sprintf("%s version %d  id %d  %s", v.Subject, x.Version, x.ID, x.Schema))
	}
	return strings.Join(rows, "\n")
}

func notFound(subject string) *Answer {
	return &Answer{Code: 404, ErrorCode: 40401, Subject: subject, Message: fmt.Sprintf("Subject '%s' not found.", subject)}
}

// document is a schema: its text without idle spaces, and what the library made of it.
type document struct {
	text   string
	schema *avro.Schema
	hasMap bool // Avro's type map is somewhere in it
}

// parse reads an Avro schema.
func parse(text string) (*document, error) {
	s, err := avro.Parse(text)
	if err != nil {
		return nil, err
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil { // a bare name, such as string
		return &document{text: strings.TrimSpace(text), schema: s}, nil
	}
	return &document{text: compact(text), schema: s, hasMap: hasMap(s.Root())}, nil
}

// read checks the arguments of a request: what only a mistake explains is a UsageError, a schema that is none is 422.
func (r *Registry) read(where, subject, schema string, schemaType []string) (*document, *Answer) {
	if subject == "" {
		misuse(where, "a subject needs a name, such as \"orders-value\" (the topic's name and -key or -value)")
	}
	kind := guess(schema)
	if len(schemaType) > 0 {
		kind = strings.ToUpper(schemaType[0])
	}
	switch kind {
	case "AVRO":
	case "JSON":
		misuse(where, "this is JSON Schema, which Schema Registry has and this one has not; give it an Avro schema")
	case "PROTOBUF":
		misuse(where, "this is Protobuf, which Schema Registry has and this one has not; give it an Avro schema")
	default:
		misuse(where, "schemaType %q: want AVRO (Schema Registry also has JSON and PROTOBUF, which are not modelled)", kind)
	}
	doc, err := parse(schema)
	if err != nil {
		return nil, &Answer{Code: 422, ErrorCode: 42201, Subject: subject, Message: "Invalid schema: " + err.Error()}
	}
	return doc, nil
}

// guess tells the languages of schemas apart by what each alone has.
func guess(schema string) string {
	var v map[string]any
	switch {
	case strings.Contains(schema, "syntax = \"proto") || strings.HasPrefix(strings.TrimSpace(schema), "message "):
		return "PROTOBUF"
	case json.Unmarshal([]byte(schema), &v) != nil:
		return "AVRO"
	case v["$schema"] != nil || v["type"] == "object" || v["properties"] != nil:
		return "JSON"
	}
	return "AVRO"
}

// misuse panics with a UsageError.
func misuse(where, format string, args ...any) {
	panic(&kafkasim.UsageError{Where: "registry: " + where, What: fmt.Sprintf(format, args...)})
}
