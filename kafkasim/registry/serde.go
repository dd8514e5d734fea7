package registry

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// Serializers: what producers and consumers do with a registry (SR-1, SR-3).
//
//	byte 0: 0, the magic byte; bytes 1 to 4: the schema's id, big-endian; then Avro's binary form
//
// The broker sees bytes, and knows of nothing. The registry is asked once for each schema, not for each record.
//
// Schema Registry: AbstractKafkaAvroSerializer, AbstractKafkaAvroDeserializer, SchemaId.

const (
	magicByte = 0
	frame     = 5 // bytes before the payload
)

// Encoded is a value as a serializer makes it.
type Encoded struct {
	Bytes  []byte  // the frame and the payload; nil when it failed
	ID     int     // of the schema
	Error  string  // what the serializer threw; "" for nothing
	Answer *Answer // of the registry; nil when the id was remembered
}

// String tells the frame apart from the payload.
func (e *Encoded) String() string {
	if e.Error != "" {
		return e.Error
	}
	return fmt.Sprintf("magic byte %d, schema id %d, %d bytes of payload: % x", e.Bytes[0], e.ID, len(e.Bytes)-frame, e.Bytes)
}

// Encode is what a producer's serializer does: it registers the schema under the subject (the topic's name with -key or
// -value) unless it remembers its id, and puts the frame before the value. A record is a map[string]any. When the registry
// refuses, nothing is sent: Bytes is nil, and Error says why (SR-8).
func (r *Registry) Encode(subject, schema string, value any) *Encoded {
	return r.encode(subject, schema, value, "registering", r.registered)
}

// registered asks for the id of a schema by registering it.
func (r *Registry) registered(subject, schema string) *Answer { return r.Register(subject, schema) }

// encode frames a value with the id that ask gives for a schema, or that is remembered.
func (r *Registry) encode(subject, schema string, value any, doing string, ask func(subject, schema string) *Answer) *Encoded {
	out := &Encoded{}
	cached := subject + "\x00" + schema
	id, remembered := r.written[cached]
	if !remembered {
		out.Answer = ask(subject, schema)
		if !out.Answer.OK() {
			out.Error = "SerializationException: Error " + doing + " Avro schema: " + out.Answer.String()
			return out
		}
		id = out.Answer.ID
		r.written[cached] = id
		if doc, err := r.resolve(schema, nil); err == nil {
			r.known[id] = doc
		}
	}
	return r.framed(out, fmt.Sprintf("Encode(%q)", subject), id, value)
}

// framed puts the frame before a value that is written with the schema of an id.
func (r *Registry) framed(out *Encoded, where string, id int, value any) *Encoded {
	doc := r.document(id)
	if doc == nil {
		out.Error = fmt.Sprintf("SerializationException: Error retrieving Avro schema: Schema %d not found; error code: 40403", id)
		return out
	}
	if doc.hasMap {
		misuse(where, "the schema has a map, whose bytes would depend on the order of a Go map; use an array of records")
	}
	payload, err := doc.schema.Encode(value)
	if err != nil {
		out.Error = "SerializationException: Error serializing Avro message: " + detail(err)
		return out
	}
	out.ID = id
	out.Bytes = append(binary.BigEndian.AppendUint32([]byte{magicByte}, uint32(id)), payload...)
	return out
}

// Decoded is a value as a deserializer gives it.
type Decoded struct {
	ID    int    // of the schema that it was written with
	Value any    // a record is a map[string]any
	JSON  string // the same as text
	Error string // what the deserializer threw; "" for nothing
}

// String is the value, or the error.
func (d *Decoded) String() string {
	if d.Error != "" {
		return d.Error
	}
	return fmt.Sprintf("%s (schema id %d)", d.JSON, d.ID)
}

// Decode is what a consumer's deserializer does: it reads the id in the frame, asks the registry for that schema unless it
// remembers it, and reads the payload, as the reader's schema wants it when one is given. data is a string or bytes. What
// is no frame is an error, again and again: a poison record (SR-9).
func (r *Registry) Decode(data any, reader ...string) *Decoded {
	raw, ok := data.([]byte)
	if text, is := data.(string); is {
		raw, ok = []byte(text), true
	}
	if !ok {
		misuse("Decode", "%T: want a record's value, a string or bytes", data)
	}
	if len(raw) < frame || raw[0] != magicByte {
		return &Decoded{Error: "SerializationException: Unknown magic byte!"}
	}
	out := &Decoded{ID: int(binary.BigEndian.Uint32(raw[1:frame]))}
	doc := r.document(out.ID)
	if doc == nil {
		out.Error = fmt.Sprintf("SerializationException: Error retrieving Avro value schema for id %d: Schema %d not found; error code: 40403", out.ID, out.ID)
		return out
	}
	schema := doc.schema
	if len(reader) > 0 {
		want, err := parse(reader[0])
		if err != nil {
			misuse("Decode", "the reader's schema is none: %v", err)
		}
		if schema, err = avro.Resolve(schema, want.schema); err != nil {
			out.Error = "AvroTypeException: " + detail(err)
			return out
		}
	}
	rest, err := schema.Decode(raw[frame:], &out.Value)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes are left over", len(rest))
	}
	if err == nil {
		out.JSON, err = inWords(schema, out.Value)
	}
	if err != nil {
		out.Value, out.Error = nil, "SerializationException: Error deserializing Avro message: "+detail(err)
	}
	return out
}

// document is the schema with an id: remembered, or asked for; nil when there is none.
func (r *Registry) document(id int) *document {
	if doc := r.known[id]; doc != nil {
		return doc
	}
	r.requests++
	r.catchUp()
	e := r.store.schema(id)
	if e == nil {
		return nil
	}
	doc, err := r.resolve(e.Schema, slices.Clone(e.References))
	if err != nil {
		return nil
	}
	r.known[id] = doc
	return doc
}

// inWords is a value as JSON; maps in the order of their keys.
func inWords(s *avro.Schema, v any) (string, error) {
	text, err := s.EncodeJSON(v)
	if err != nil || !hasMap(s.Root()) {
		return string(text), err
	}
	var any any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&any); err != nil {
		return "", err
	}
	return strings.TrimSpace(mustJSON(any)), nil
}

// hasMap tells whether a schema has Avro's type map in it.
func hasMap(n *avro.SchemaNode) bool {
	if n.Type == "map" {
		return true
	}
	for _, f := range n.Fields {
		if hasMap(&f.Type) {
			return true
		}
	}
	for _, b := range n.Branches {
		if hasMap(&b) {
			return true
		}
	}
	return n.Items != nil && hasMap(n.Items)
}
