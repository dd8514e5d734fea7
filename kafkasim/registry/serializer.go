package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/config"
)

// Serializers with properties (SR-13): under which subject a schema is, and whether a producer may register it.
//
//	TopicNameStrategy:       orders-value; one subject, so one line of schemas, for a topic (the default)
//	RecordNameStrategy:      shop.Order; the same wherever the record is, and several kinds of record in a topic
//	TopicRecordNameStrategy: orders-shop.Order; several kinds of record in a topic, each on its own there
//
// With auto.register.schemas=false a schema that is not registered is an error at the producer: so that a schema comes into
// a registry by review and not by an accident. With use.latest.version=true as well, the latest version is used whatever
// the producer was built with, if that can be written with it.
//
// Schema Registry: AbstractKafkaSchemaSerDeConfig, AbstractKafkaAvroSerializer, TopicNameStrategy, RecordNameStrategy,
// TopicRecordNameStrategy.

const strategyPackage = "io.confluent.kafka.serializers.subject."

var strategies = []string{"TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy"}

// Serializer is a producer's, for keys or for values.
type Serializer struct {
	r            *Registry
	part         string // "key" or "value"
	strategy     string
	register     bool
	latest       bool
	strictLatest bool
}

// ValueSerializer is a serializer of values. conf may hold auto.register.schemas, use.latest.version,
// latest.compatibility.strict and value.subject.name.strategy; nil for the defaults.
func (r *Registry) ValueSerializer(conf kafkasim.Config) *Serializer {
	return r.serializer("value", conf)
}

// KeySerializer is a serializer of keys, with key.subject.name.strategy.
func (r *Registry) KeySerializer(conf kafkasim.Config) *Serializer { return r.serializer("key", conf) }

func (r *Registry) serializer(part string, conf kafkasim.Config) *Serializer {
	where := strings.ToUpper(part[:1]) + part[1:] + "Serializer"
	naming := part + ".subject.name.strategy"
	s := &Serializer{r: r, part: part, strategy: strategies[0], register: true, strictLatest: true}
	switches := map[string]*bool{"auto.register.schemas": &s.register, "use.latest.version": &s.latest, "latest.compatibility.strict": &s.strictLatest}
	names := append(slices.Sorted(maps.Keys(switches)), naming)
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		text := fmt.Sprint(conf[name])
		on, known := switches[name]
		switch {
		case name == naming:
			s.strategy = strings.TrimPrefix(text, strategyPackage)
			if !slices.Contains(strategies, s.strategy) {
				misuse(where, "%s %q: want %s", name, text, strings.Join(strategies, ", "))
			}
		case !known:
			near := config.Nearest(name, names)
			if near == "" {
				misuse(where, "unknown property, or one that is not modelled: %q; there are %s", name, strings.Join(names, ", "))
			}
			misuse(where, "unknown property, or one that is not modelled: %q - did you mean %q?", name, near)
		case text != "true" && text != "false":
			misuse(where, "%s %q: want true or false", name, text)
		default:
			*on = text == "true"
		}
	}
	if s.latest && s.register {
		misuse(where, "use.latest.version=true does nothing with auto.register.schemas=true, which is the default; set that to false")
	}
	return s
}

// Subject is the name under which the serializer looks for a schema.
func (s *Serializer) Subject(topic, schema string) string {
	if s.strategy == "TopicNameStrategy" {
		return topic + "-" + s.part
	}
	doc, err := parse(schema)
	if err != nil {
		misuse("Subject", "the schema is none: %v", err)
	}
	n := doc.schema.Root()
	if n.Type != "record" {
		misuse("Subject", "In configuration %s.subject.name.strategy = %s, the message %s must only be a record schema", s.part, s.strategy, s.part)
	}
	name := n.Name
	if n.Namespace != "" && !strings.Contains(name, ".") {
		name = n.Namespace + "." + name
	}
	if s.strategy == "TopicRecordNameStrategy" {
		return topic + "-" + name
	}
	return name
}

// Encode is what the serializer does with a key or a value for a topic, as Registry.Encode does.
func (s *Serializer) Encode(topic, schema string, value any) *Encoded {
	subject := s.Subject(topic, schema)
	switch {
	case s.latest:
		return s.encodeLatest(subject, schema, value)
	case s.register:
		return s.r.Encode(subject, schema, value)
	}
	return s.r.encode(subject, schema, value, "retrieving", s.r.Lookup)
}

// encodeLatest writes with the version that was the latest when the serializer first asked. Whoever reads with that must be
// able to read what the producer's schema writes (latest.compatibility.strict).
func (s *Serializer) encodeLatest(subject, schema string, value any) *Encoded {
	out, where := &Encoded{}, fmt.Sprintf("Encode(%q)", subject)
	cached := "latest\x00" + subject + "\x00" + schema
	if id, remembered := s.r.written[cached]; remembered {
		return s.r.framed(out, where, id, value)
	}
	out.Answer = s.r.Version(subject, Latest)
	if !out.Answer.OK() {
		out.Error = "SerializationException: Error retrieving Avro schema: " + out.Answer.String()
		return out
	}
	latest := s.r.document(out.Answer.ID)
	if own := s.r.store.version(subject, Latest, false); s.strictLatest && latest != nil && own.Schema != compact(schema) {
		if why := s.r.clash(Backward, &entry{Schema: schema}, latest); why != "" {
			out.Error = "SerializationException: Incompatible schema " + own.Schema + " for schema " + compact(schema) + ". Set latest.compatibility.strict=false to disable this check: " + why
			return out
		}
	}
	s.r.written[cached] = out.Answer.ID
	return s.r.framed(out, where, out.Answer.ID, value)
}
