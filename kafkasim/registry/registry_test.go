package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/simtest"
)

const (
	order1 = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`
	// A field with a default, one without, and a field gone.
	withDefault = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}`
	without     = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}`
	lacking     = `{"type":"record","name":"Order","fields":[]}`
)

func world() *kafkasim.Cluster { return kafkasim.New(kafkasim.World{Brokers: 3, Seed: 5}) }

func want(t *testing.T, got fmt.Stringer, text string) {
	t.Helper()
	if !strings.HasPrefix(got.String(), text) {
		t.Errorf("got  %s\nwant %s …", got, text)
	}
}

// SR-4: ids are for schemas, versions for subjects.
func TestIdsAreGlobalAndVersionsAreNot(t *testing.T) {
	r := New(world())
	want(t, r.Register("orders-value", order1), "200: orders-value version 1, id 1")
	want(t, r.Register("payments-value", withDefault), "200: payments-value version 1, id 2")
	want(t, r.Register("orders-value", withDefault), "200: orders-value version 2, id 2")
	want(t, r.Register("orders-value", " "+order1+"\n"), "200: orders-value version 1, id 1") // idle spaces are no change
	want(t, r.Lookup("orders-value", withDefault), "200: orders-value version 2, id 2")
	want(t, r.Lookup("payments-value", order1), "404 (error code 40403): Schema not found")
	want(t, r.Lookup("nobody", order1), "404 (error code 40401): Subject 'nobody' not found.")
	if s := r.Subjects(); fmt.Sprint(s) != "[orders-value payments-value]" {
		t.Error(s)
	}
	if v := r.Versions("orders-value").Versions; len(v) != 2 || v[1].ID != 2 {
		t.Error(v)
	}
}

// SR-5 to SR-7: what each level lets pass, against one old version.
func TestLevels(t *testing.T) {
	for _, x := range []struct {
		level                        string
		withDefault, without, remove bool
	}{
		{Backward, true, false, true},
		{Forward, true, true, false},
		{Full, true, false, false},
		{None, true, true, true},
		{BackwardTransitive, true, false, true},
		{ForwardTransitive, true, true, false},
		{FullTransitive, true, false, false},
	} {
		r := New(world())
		r.Compatibility(x.level)
		r.Register("s", order1)
		for schema, ok := range map[string]bool{withDefault: x.withDefault, without: x.without, lacking: x.remove} {
			if a := r.Compatible("s", schema); a.OK() != ok {
				t.Errorf("%s, %s: %s", x.level, schema, a)
			}
		}
		if n := len(r.Versions("s").Versions); n != 1 {
			t.Errorf("%s: asking made %d versions", x.level, n)
		}
	}
}

// SR-5: without _TRANSITIVE only the latest version counts. Each step of these is fine, the first to the third is not.
func TestTransitiveLooksAtAllVersions(t *testing.T) {
	steps := []string{order1, withDefault, without}
	for level, last := range map[string]int{Backward: 200, BackwardTransitive: 409} {
		r := New(world())
		r.Compatibility(level, "s")
		for i, schema := range steps {
			code := 200
			if i == len(steps)-1 {
				code = last
			}
			if a := r.Register("s", schema); a.Code != code {
				t.Errorf("%s, step %d: %s", level, i, a)
			}
		}
	}
}

// SR-6, SR-8: a refused schema is 409 at the serializer, with the reason, and nothing is written.
func TestARefusedSchema(t *testing.T) {
	c := world()
	r := New(c)
	r.Register("orders-value", order1)
	end := c.Partition(topic, 0).HighWatermark
	e := r.Encode("orders-value", without, map[string]any{"id": 1, "note": "x"})
	if e.Bytes != nil || e.Answer.Code != 409 {
		t.Errorf("%v %v", e.Bytes, e.Answer)
	}
	for _, part := range []string{"Error registering Avro schema: 409: Schema being registered is incompatible with an earlier schema for subject \"orders-value\"", "note", "oldSchemaVersion: 1", "compatibility: BACKWARD"} {
		if !strings.Contains(e.Error, part) {
			t.Errorf("%q is not in %s", part, e.Error)
		}
	}
	if now := c.Partition(topic, 0).HighWatermark; now != end {
		t.Errorf("the log of schemas went from %d to %d", end, now)
	}
}

// SR-1: the frame, with the recorded vectors.
func TestFrame(t *testing.T) {
	r := New(world())
	e := r.Encode("s-value", `"bytes"`, []byte("AB"))
	if got := fmt.Sprintf("% x", e.Bytes); got != "00 00 00 00 01 04 41 42" { // 04: Avro's length of two
		t.Error(got)
	}
	r.store.maxID = 100041
	e = r.Encode("t-value", `"long"`, int64(-1))
	if got := fmt.Sprintf("% x", e.Bytes); got != "00 00 01 86 ca 01" {
		t.Error(got)
	}
	want(t, r.Decode(e.Bytes), "-1 (schema id 100042)")
}

// SR-3: the registry is asked once for each schema. SR-9: what is not framed is poison.
func TestEncodeAndDecode(t *testing.T) {
	c := world()
	c.CreateTopic("orders", 1, 3, nil)
	r := New(c)
	p := c.NewProducer("shop", nil)
	for i := range 100 {
		p.Send("orders", "k", r.Encode("orders-value", order1, map[string]any{"id": int64(i)}).Bytes)
	}
	p.Send("orders", "k", "plain text")
	p.Flush()
	asked := r.Requests()
	r = New(c) // a consumer's, which remembers nothing yet
	x := c.NewConsumer("reader", kafkasim.Config{"auto.offset.reset": "earliest"}).Assign("orders")
	n := 0
	for n < 101 {
		for _, p := range x.Poll(time.Second).Records {
			d := r.Decode(p.Value, withDefault)
			switch {
			case n == 100:
				want(t, d, "SerializationException: Unknown magic byte!")
			case d.JSON != fmt.Sprintf(`{"id":%d,"note":""}`, n):
				t.Fatalf("record %d: %s", n, d)
			}
			n++
		}
	}
	if asked != 1 || r.Requests() != 1 {
		t.Errorf("%d requests for 100 records to write, %d for reading them: want one for the id and one for the schema", asked, r.Requests())
	}
	want(t, r.Decode("\x00\x00\x00\x00\x63A"), "SerializationException: Error retrieving Avro value schema for id 99")
	want(t, r.Decode("\x00\x00\x00\x00\x01"), "SerializationException: Error deserializing Avro message")
	want(t, r.Encode("orders-value", order1, map[string]any{"id": "seven"}), "SerializationException: Error serializing Avro message")
}

// A registry is what the log says: a second one, one on a fork, and one after compaction know the same; and the past
// knows less.
func TestARegistryIsRebuiltFromTheLog(t *testing.T) {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 5, Config: kafkasim.Config{"log.cleaner.backoff.ms": 1000}})
	r := New(c)
	r.Register("a-value", order1)
	c.RunFor(time.Second)
	before := c.Now()
	for range 10 {
		r.Compatibility("FULL")
		r.Compatibility("NONE", "a-value")
	}
	r.Register("a-value", without)
	know := "schema registry: 1 subject, compatibility FULL\n  a-value  version 2 has id 2  NONE"
	want(t, r, know)
	want(t, New(c.Fork()), know)
	c.AlterTopic(topic, kafkasim.Config{"segment.ms": 1, "min.cleanable.dirty.ratio": 0.01})
	r.Register("b-value", order1)
	c.RunFor(time.Minute)
	second := New(c)
	second.Register("c-value", order1)
	want(t, r, "schema registry: 3 subjects")
	past := New(c.At(before))
	want(t, past, "schema registry: 1 subject, compatibility BACKWARD\n  a-value  version 1 has id 1")
	if got := strings.Count(c.DumpLog(topic, 0).String(), `"keytype":"CONFIG"`); got > 4 {
		t.Errorf("%d CONFIG records are left, the topic is not compacted", got)
	}
}

// A soft deletion outlives the compaction of the log, and so does a permanent one.
func TestDeletionsInACompactedLog(t *testing.T) {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 5, Config: kafkasim.Config{"log.cleaner.backoff.ms": 1000}})
	r := New(c)
	r.Register("a-value", order1)
	r.Register("b-value", order1)
	r.Register("b-value", withDefault)
	r.DeleteSubject("a-value")
	r.DeleteVersion("b-value", 1)
	r.DeleteVersion("b-value", 1, true)
	c.AlterTopic(topic, kafkasim.Config{"segment.ms": 1, "min.cleanable.dirty.ratio": 0.01, "delete.retention.ms": 1000})
	for range 3 {
		c.RunFor(time.Minute)
		r.Compatibility(Full)
	}
	second := New(c)
	if got := fmt.Sprint(second.Subjects(), second.Subjects(true), len(second.Versions("b-value", true).Versions)); got != "[b-value] [a-value b-value] 1" {
		t.Error(got)
	}
}

// The store is Kafka: without enough replicas it takes no schema, and what was said stands.
func TestNoWriteWithoutKafka(t *testing.T) {
	c := world()
	r := New(c)
	c.AlterTopic(topic, kafkasim.Config{"min.insync.replicas": 2})
	for id := 1; id <= 3; id++ {
		if id != c.Partition(topic, 0).Leader {
			c.Broker(id).Crash()
		}
	}
	c.RunFor(40 * time.Second)
	if a := r.Register("s", order1); a.Code != 500 || a.ErrorCode != 50002 {
		t.Errorf("%s", a)
	}
}

// Everything that a registry does is commands of clients, so that a script repeats it to the bit.
func TestDeterministic(t *testing.T) {
	run := func() *kafkasim.Cluster {
		c := world()
		r := New(c)
		r.Register("a-value", order1)
		r.Encode("a-value", withDefault, map[string]any{"id": 1, "note": "x"})
		return c
	}
	a, b := run(), run()
	if a.Hash() != b.Hash() || a.Script() != b.Script() || !strings.Contains(string(a.Script()), `_schemas`) {
		t.Errorf("two runs differ:\n%s\n%s", a.Script(), b.Script())
	}
	if again := a.Replay(kafkasim.World{Brokers: 3, Seed: 5}); again.Hash() != a.Hash() {
		t.Error("the commands in history do not lead to the same cluster")
	}
	if v := a.Check(); strings.Contains(v.String(), "violated") {
		t.Error(v)
	}
}

func TestUsage(t *testing.T) {
	r := New(world())
	want(t, r.Register("s", "{"), "422 (error code 42201): Invalid schema")
	want(t, r.Compatibility("SIDEWAYS"), "422 (error code 42203): Invalid compatibility level.")
	for _, x := range []struct {
		do   func()
		says string
	}{
		{func() { New(nil) }, "kafkasim: registry: New: the cluster is nil"},
		{func() { r.Register("", order1) }, "a subject needs a name"},
		{func() { r.Register("s", `{"$schema":"http://json-schema.org/draft-07/schema#"}`) }, "this is JSON Schema"},
		{func() { r.Register("s", `{"type":"object"}`, "json") }, "this is JSON Schema"},
		{func() { r.Register("s", "syntax = \"proto3\"; message Order {}") }, "this is Protobuf"},
		{func() { r.Register("s", order1, "THRIFT") }, `schemaType "THRIFT": want AVRO`},
		{func() { r.Decode(7) }, "int: want a record's value"},
		{func() { r.Encode("m-value", `{"type":"map","values":"long"}`, map[string]any{"a": int64(1)}) }, "the order of a Go map"},
		{func() { r.Compatibility(Full, "a", "b") }, "2 subjects: want one"},
	} {
		simtest.WantUsage(t, x.says, x.do)
	}
}
