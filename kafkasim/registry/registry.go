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
// JSON Schema and Protobuf (refused by name), contexts, rules, normalization, schema ids in headers (SR-2), and the election among several registries: two handles on one cluster both write, one after the
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
	o := Options{}
	if len(schemaType) > 0 {
		o.SchemaType = schemaType[0]
	}
	return r.RegisterWith(subject, schema, o)
}

// RegisterWith is Register with references to other schemas, and in mode IMPORT with the schema's own id and version.
func (r *Registry) RegisterWith(subject, schema string, o Options) *Answer {
	r.requests++
	r.catchUp()
	doc, bad := r.read(fmt.Sprintf("Register(%q)", subject), subject, schema, o)
	if bad != nil {
		return bad
	}
	if bad := r.mayRegister(subject, &o); bad != nil {
		return bad
	}
	if e := r.store.find(subject, doc); e != nil && (o.ID == 0 || o.ID == e.ID) {
		return e.answer()
	}
	e := entry{Subject: subject, Version: 1, ID: r.store.idFor(doc), Schema: doc.text, References: doc.refs}
	if last := r.store.version(subject, Latest, true); last != nil {
		e.Version = last.Version + 1 // a number is given once, whatever was soft deleted
	}
	if o.ID > 0 {
		if bad := r.imports(&e, &o); bad != nil {
			return bad
		}
	} else if why := r.incompatible(subject, doc); why != "" {
		return refusal(409, 409, subject, "Schema being registered is incompatible with an earlier schema for subject %q, details: %s", subject, why)
	}
	value := mustJSON(e)
	if bad := r.put(subject, record{Key: schemaKey(&e), Value: &value}); bad != nil {
		return bad
	}
	return e.answer()
}

// imports takes the schema's own id and version, unless another schema has the id.
func (r *Registry) imports(e *entry, o *Options) *Answer {
	if other := r.store.schema(o.ID); other != nil && other.identity() != e.identity() {
		return refusal(422, 42205, e.Subject, "Overwrite new schema with id %d is not permitted.", o.ID)
	}
	e.ID = o.ID
	if o.Version > 0 {
		e.Version = o.Version
	}
	return nil
}

// Lookup asks for the id and version of a schema under a subject, without adding it.
func (r *Registry) Lookup(subject, schema string) *Answer {
	r.requests++
	r.catchUp()
	doc, bad := r.read(fmt.Sprintf("Lookup(%q)", subject), subject, schema, Options{})
	if bad != nil {
		return bad
	}
	if r.store.subject(subject, false) == nil {
		return notFound(subject)
	}
	if e := r.store.find(subject, doc); e != nil {
		return e.answer()
	}
	return refusal(404, 40403, subject, "Schema not found")
}

// Compatible asks whether a schema could be added to a subject, without adding it: 200 for yes, 409 with the reason.
func (r *Registry) Compatible(subject, schema string) *Answer {
	r.requests++
	r.catchUp()
	doc, bad := r.read(fmt.Sprintf("Compatible(%q)", subject), subject, schema, Options{})
	if bad != nil {
		return bad
	}
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
	k, name := settingKey(fmt.Sprintf("Compatibility(%q)", level), "CONFIG", subject)
	a := &Answer{Code: 200, Subject: name, Message: "compatibility " + level}
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

// Subjects lists the subjects, sorted; with true those that were soft deleted, too.
func (r *Registry) Subjects(deleted ...bool) []string {
	r.catchUp()
	return r.store.names(once("Subjects", deleted))
}

// Versions are a subject's schemas, the oldest first; with true those that were soft deleted, too.
func (r *Registry) Versions(subject string, deleted ...bool) *Versions {
	r.catchUp()
	v := &Versions{Subject: subject}
	for _, e := range r.store.subject(subject, once("Versions", deleted)) {
		v.Versions = append(v.Versions, Version{Version: e.Version, ID: e.ID, Schema: e.Schema, Deleted: e.Deleted, References: e.References})
	}
	return v
}

// Version asks for one version of a subject (GET /subjects/SUBJECT/versions/VERSION), the latest with Latest. The answer's
// Message is the schema.
func (r *Registry) Version(subject string, version int) *Answer {
	r.requests++
	r.catchUp()
	e := r.store.version(subject, version, false)
	if bad := r.noVersion(subject, version, e); bad != nil {
		return bad
	}
	a := e.answer()
	a.Message = e.Schema
	return a
}

// Requests is how many requests this registry has had. Encode and Decode ask once for each schema, and remember (SR-3).
func (r *Registry) Requests() int { return r.requests }

// String says what the registry has.
func (r *Registry) String() string {
	r.catchUp()
	names, subjects := r.store.names(false), "subjects"
	if len(names) == 1 {
		subjects = "subject"
	}
	rows := []string{fmt.Sprintf("schema registry: %d %s, compatibility %s", len(names), subjects, r.store.levels[""])}
	for _, name := range names {
		last := r.store.version(name, Latest, false)
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
	Deleted     bool // soft
	References  []Reference
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
		row := fmt.Sprintf("%s version %d  id %d  %s", v.Subject, x.Version, x.ID, x.Schema)
		if x.Deleted {
			row += "  (deleted)"
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

func notFound(subject string) *Answer {
	return refusal(404, 40401, subject, "Subject '%s' not found.", subject)
}

// document is a schema: its text without idle spaces, and what the library made of it.
type document struct {
	text   string
	refs   []Reference
	schema *avro.Schema
	hasMap bool // Avro's type map is somewhere in it
}

func (d *document) identity() string { return identity(d.text, d.refs) }

// parse reads an Avro schema that refers to none.
func parse(text string) (*document, error) { return parseIn(&avro.SchemaCache{}, text, nil) }

// parseIn reads an Avro schema that may use what was parsed before.
func parseIn(cache *avro.SchemaCache, text string, refs []Reference) (*document, error) {
	s, err := cache.Parse(text)
	if err != nil {
		return nil, err
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil { // a bare name, such as string
		return &document{text: strings.TrimSpace(text), refs: refs, schema: s}, nil
	}
	return &document{text: compact(text), refs: refs, schema: s, hasMap: hasMap(s.Root())}, nil
}

// read checks the arguments of a request: what only a mistake explains is a UsageError, a schema that is none is 422.
func (r *Registry) read(where, subject, schema string, o Options) (*document, *Answer) {
	if subject == "" {
		misuse(where, "a subject needs a name, such as \"orders-value\" (the topic's name and -key or -value)")
	}
	if o.ID < 0 || o.Version < 0 || o.Version > 0 && o.ID == 0 {
		misuse(where, "id %d and version %d: want both of another registry in mode IMPORT, or none", o.ID, o.Version)
	}
	kind := guess(schema)
	if o.SchemaType != "" {
		kind = strings.ToUpper(o.SchemaType)
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
	doc, err := r.resolve(schema, slices.Clone(o.References))
	if err != nil {
		return nil, refusal(422, 42201, subject, "Invalid schema: %v", err)
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
