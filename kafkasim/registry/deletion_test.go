package registry

import (
	"fmt"
	"strings"
	"testing"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/simtest"
)

const (
	address   = `{"type":"record","name":"Address","namespace":"shop","fields":[{"name":"city","type":"string"}]}`
	delivered = `{"type":"record","name":"Delivery","namespace":"shop","fields":[{"name":"to","type":"shop.Address"}]}`
	withZip   = `{"type":"record","name":"Address","namespace":"shop","fields":[{"name":"city","type":"string"},{"name":"zip","type":"string","default":""}]}`
)

var toAddress = Options{References: []Reference{{Name: "shop.Address", Subject: "address", Version: 1}}}

// SR-11: what was soft deleted is in no list and hinders no new schema, but its id can be read; deleted for good, it
// cannot. Versions are not counted again after a soft deletion, and are after the other.
func TestSoftAndPermanentDeletion(t *testing.T) {
	c := world()
	r := New(c)
	written := r.Encode("orders-value", order1, map[string]any{"id": 7}).Bytes
	r.Register("orders-value", withDefault)
	want(t, r.Register("orders-value", without), "200: orders-value version 3, id 3") // to withDefault it is compatible
	want(t, r.DeleteVersion("orders-value", 3), "200: orders-value: deleted version 3")
	want(t, r.DeleteVersion("orders-value", 3), "404 (error code 40406): Subject 'orders-value' Version 3 was soft deleted.")
	want(t, r.DeleteVersion("orders-value", 1, true), "404 (error code 40407): Subject 'orders-value' Version 1 was not deleted first before being permanently deleted")
	want(t, r.DeleteVersion("orders-value", 9), "404 (error code 40402): Version 9 not found.")
	want(t, r.DeleteVersion("orders-value", 0), "422 (error code 42202): The specified version '0' is not a valid version id.")
	want(t, r.Version("orders-value", Latest), "200: orders-value version 2, id 2")
	want(t, r.Version("orders-value", 3), "404 (error code 40402): Version 3 not found.")
	want(t, r.Lookup("orders-value", without), "404 (error code 40403): Schema not found")
	want(t, r.Register("orders-value", without), "200: orders-value version 4, id 3") // its id, and another number
	r.Compatibility(None, "orders-value")
	want(t, r.DeleteSubject("orders-value", true), "404 (error code 40405): Subject 'orders-value' was not deleted first")
	want(t, r.DeleteSubject("orders-value"), "200: orders-value: deleted versions [1,2,4]")
	want(t, r.DeleteSubject("orders-value"), "404 (error code 40404): Subject 'orders-value' was soft deleted.Set permanent=true")
	want(t, r.DeleteSubject("nobody"), "404 (error code 40401): Subject 'nobody' not found.")
	if got := fmt.Sprint(r.Subjects(), r.Subjects(true)); got != "[] [orders-value]" {
		t.Error(got)
	}
	if v := r.Versions("orders-value", true); len(v.Versions) != 4 || !strings.HasSuffix(v.String(), "(deleted)") {
		t.Error(v)
	}
	if l := r.Level("orders-value"); l != Backward {
		t.Errorf("the subject's own level %s outlived it", l)
	}
	want(t, New(c).Decode(written), `{"id":7} (schema id 1)`)
	want(t, r.DeleteSubject("orders-value", true), "200: orders-value: deleted versions [1,2,3,4]")
	for _, reader := range []*Registry{New(c), New(c.Fork())} {
		want(t, reader.Decode(written), "SerializationException: Error retrieving Avro value schema for id 1")
	}
	want(t, r.Register("orders-value", order1), "200: orders-value version 1, id 4") // everything begins anew, but ids are given once
}

// SR-10: a schema may use a type of another subject, of the version that it names; what is used cannot be deleted.
func TestReferences(t *testing.T) {
	c := world()
	r := New(c)
	want(t, r.RegisterWith("delivery-value", delivered, toAddress), `422 (error code 42201): Invalid schema: No schema reference found for subject "address" and version 1`)
	r.Register("address", address)
	want(t, r.Register("delivery-value", delivered), "422 (error code 42201): Invalid schema")
	want(t, r.RegisterWith("delivery-value", delivered, toAddress), "200: delivery-value version 1, id 2")
	want(t, r.RegisterWith("delivery-value", delivered, toAddress), "200: delivery-value version 1, id 2")
	want(t, r.Register("address", withZip), "200: address version 2, id 3") // the other goes on with version 1
	newer := Options{References: []Reference{{Name: "shop.Address", Subject: "address", Version: Latest}}}
	want(t, r.RegisterWith("delivery-value", delivered, newer), "200: delivery-value version 2, id 4") // the same text with other references is another schema
	if got := fmt.Sprint(r.ReferencedBy("address", 1), r.ReferencedBy("address", 2), r.ReferencedBy("address", 3)); got != "[2] [4] []" {
		t.Error(got)
	}
	if v := r.Versions("delivery-value").Versions[1].References[0]; v.Version != 2 {
		t.Errorf("the latest version was %d when the schema was registered, want 2", v.Version)
	}
	want(t, r.DeleteVersion("address", 1), "422 (error code 42206): One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=address,version=1}.")
	want(t, r.DeleteSubject("address"), "422 (error code 42206)")
	r.DeleteSubject("delivery-value")
	want(t, r.DeleteSubject("address"), "200: address: deleted versions [1,2]")
	// A new registry reads all of it from the log, and compares with what was referred to then.
	second := New(world())
	second.Register("address", address)
	second.RegisterWith("delivery-value", delivered, toAddress)
	changed := `{"type":"record","name":"Delivery","namespace":"shop","fields":[{"name":"to","type":"shop.Address"},{"name":"day","type":"int"}]}`
	want(t, second.RegisterWith("delivery-value", changed, toAddress), `409: Schema being registered is incompatible`)
}

// SR-12: READONLY takes nothing, IMPORT takes schemas with the ids that they had elsewhere, so that what was written with
// them can be read.
func TestModes(t *testing.T) {
	c := world()
	r := New(c)
	r.Register("a-value", order1)
	want(t, r.Mode("sometimes"), "422 (error code 42204): Invalid mode.")
	want(t, r.Mode(ReadOnly, "a-value"), "200: mode READONLY")
	want(t, r.Register("a-value", withDefault), "422 (error code 42205): Subject a-value in context . is in read-only mode")
	want(t, r.DeleteSubject("a-value"), "422 (error code 42205)")
	want(t, r.DeleteVersion("a-value", 1), "422 (error code 42205)")
	want(t, r.Register("b-value", withDefault), "200: b-value version 1, id 2")
	want(t, r.Mode(ReadOnlyOverride), "200: mode READONLY_OVERRIDE")
	if got := fmt.Sprint([]string{r.ModeOf(), r.ModeOf("a-value"), r.ModeOf("b-value")}); got != "[READONLY_OVERRIDE READONLY_OVERRIDE READONLY_OVERRIDE]" {
		t.Error(got)
	}
	r.Mode(ReadWrite)
	want(t, r.DeleteMode("a-value"), "200: mode was READONLY")
	want(t, r.DeleteMode("a-value"), "404 (error code 40409): Subject 'a-value' does not have subject-level mode configured")
	want(t, r.DeleteCompatibility("a-value"), "404 (error code 40408): Subject 'a-value' does not have subject-level compatibility configured")
	r.Compatibility(Full, "a-value")
	want(t, r.DeleteCompatibility("a-value"), "200: compatibility was FULL")
	want(t, r.RegisterWith("c-value", order1, Options{ID: 40}), "422 (error code 42205): Subject c-value in context . is not in import mode")
	want(t, r.Mode(Import), "422 (error code 42205): Cannot import since found existing subjects")
	want(t, r.Mode(Import, "c-value"), "200: mode IMPORT")
	want(t, r.Register("c-value", order1), "422 (error code 42205): Subject c-value in context . is not in read-write mode")
	want(t, r.RegisterWith("c-value", without, Options{ID: 2}), "422 (error code 42205): Overwrite new schema with id 2 is not permitted.")
	want(t, r.RegisterWith("c-value", without, Options{ID: 40, Version: 7}), "200: c-value version 7, id 40")
	want(t, r.RegisterWith("c-value", lacking, Options{ID: 41}), "200: c-value version 8, id 41") // nothing is compared
	r.Mode(ReadWrite, "c-value")
	want(t, New(c).Register("d-value", `"string"`), "200: d-value version 1, id 42")
}

// SR-13: the strategy gives the subject's name; without auto.register.schemas a producer's new schema is an error.
func TestSerializers(t *testing.T) {
	r := New(world())
	order := `{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}`
	for strategy, name := range map[string]string{"TopicNameStrategy": "orders-value", "RecordNameStrategy": "shop.Order",
		"io.confluent.kafka.serializers.subject.TopicRecordNameStrategy": "orders-shop.Order"} {
		s := r.ValueSerializer(kafkasim.Config{"value.subject.name.strategy": strategy})
		if e := s.Encode("orders", order, map[string]any{"id": 1}); e.ID != 1 || e.Answer.Subject != name {
			t.Errorf("%s: %s, %s", strategy, e, e.Answer)
		}
	}
	if got := r.KeySerializer(nil).Subject("orders", `"string"`); got != "orders-key" {
		t.Error(got)
	}
	strict := r.ValueSerializer(kafkasim.Config{"auto.register.schemas": false})
	want(t, strict.Encode("payments", order, map[string]any{"id": 1}), "SerializationException: Error retrieving Avro schema: 404 (error code 40401)")
	want(t, strict.Encode("orders", order, map[string]any{"id": 1}), "magic byte 0, schema id 1")
	asked := r.Requests()
	want(t, strict.Encode("orders", order, map[string]any{"id": 2}), "magic byte 0, schema id 1")
	if r.Requests() != asked {
		t.Error("an id that is known was asked for again")
	}
	latest := r.ValueSerializer(kafkasim.Config{"auto.register.schemas": false, "use.latest.version": true})
	want(t, latest.Encode("payments", order, nil), "SerializationException: Error retrieving Avro schema: 404 (error code 40401)")
	more := strings.Replace(order, `"long"}`, `"long"},{"name":"note","type":"string","default":""}`, 1)
	r.Register("orders-value", more)
	want(t, latest.Encode("orders", order, map[string]any{"id": 1, "note": ""}), "magic byte 0, schema id 2, 2 bytes of payload")
	r.Compatibility(None, "orders-value")
	r.Register("orders-value", strings.Replace(order, `"id"`, `"number"`, 1))
	want(t, latest.Encode("orders", order, map[string]any{"id": 1, "note": ""}), "magic byte 0, schema id 2") // what was the latest when it first asked
	want(t, r.ValueSerializer(kafkasim.Config{"auto.register.schemas": false, "use.latest.version": true}).Encode("orders", more, map[string]any{"id": 1}), "SerializationException: Incompatible schema")
}

func TestMoreUsage(t *testing.T) {
	r := New(world())
	for _, x := range []struct {
		do   func()
		says string
	}{
		{func() { r.ValueSerializer(kafkasim.Config{"auto.register.schema": true}) }, `did you mean "auto.register.schemas"?`},
		{func() { r.ValueSerializer(kafkasim.Config{"use.latest.version": true}) }, "does nothing with auto.register.schemas=true"},
		{func() { r.ValueSerializer(kafkasim.Config{"auto.register.schemas": "maybe"}) }, "want true or false"},
		{func() { r.KeySerializer(kafkasim.Config{"key.subject.name.strategy": "Topic"}) }, "want TopicNameStrategy, RecordNameStrategy, TopicRecordNameStrategy"},
		{func() {
			r.KeySerializer(kafkasim.Config{"key.subject.name.strategy": "RecordNameStrategy"}).Subject("t", `"string"`)
		}, "must only be a record schema"},
		{func() { r.RegisterWith("s", order1, Options{Version: 3}) }, "want both of another registry in mode IMPORT"},
		{func() { r.DeleteSubject("s", true, true) }, "want true for a permanent deletion"},
		{func() { r.Mode(ReadOnly, "a", "b") }, "2 subjects: want one"},
		{func() { r.DeleteMode("") }, "a subject needs a name"},
	} {
		simtest.WantUsage(t, x.says, x.do)
	}
}
