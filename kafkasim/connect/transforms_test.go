package connect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/simtest"
)

// transformed sends a row with these key and value through a source with transforms, and says what the topics have.
func transformed(t *testing.T, key, value string, conf ...any) string {
	t.Helper()
	c, db := world(), NewDatabase()
	db.Table("orders").Insert(key, value)
	k := New(c, db, kafkasim.Config{"value.converter": "JsonConverter"})
	k.StartWorker("w1")
	k.Create("db", with(source, conf...))
	k.RunFor(10 * time.Second)
	if s := k.ConnectorStatus("db").Tasks[0]; s.State == "FAILED" {
		return s.Trace
	}
	var out []string
	for _, topic := range c.View().Topics {
		if strings.HasPrefix(topic.Name, "connect-") {
			continue
		}
		for _, r := range c.NewConsumer("look-"+topic.Name, kafkasim.Config{"auto.offset.reset": "earliest"}).Assign(topic.Name).Poll(time.Second).Records {
			text := fmt.Sprintf("%s %s %s", topic.Name, r.Key, r.Value)
			for _, h := range r.Headers {
				text += fmt.Sprintf(" %s=%s", h.Key, h.Value)
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// K-10: what each transform does to a row, by the names and properties that Kafka has.
func TestTransforms(t *testing.T) {
	const row = `{"id": 7, "card": "4711", "paid": true, "to": {"city": "Ulm", "zip": "89073"}, "amount": 19.9}`
	for _, x := range []struct {
		what string
		conf []any
		want string
	}{
		{"nothing", nil, `db-orders user-1 {"amount":19.9,"card":"4711","id":7,"paid":true,"to":{"city":"Ulm","zip":"89073"}}`},
		{"only some fields", []any{"transforms.t.type", "ReplaceField$Value", "transforms.t.include", "id,amount"}, `db-orders user-1 {"amount":19.9,"id":7}`},
		{"without some, and renamed", []any{"transforms.t.type", "org.apache.kafka.connect.transforms.ReplaceField$Value", "transforms.t.exclude", "card,to,paid", "transforms.t.renames", "id:order"}, `db-orders user-1 {"amount":19.9,"order":7}`},
		{"masked", []any{"transforms.t.type", "MaskField$Value", "transforms.t.fields", "card,paid,to,amount,phone"}, `db-orders user-1 {"amount":0,"card":"","id":7,"paid":false,"to":{}}`},
		{"masked with a text", []any{"transforms.t.type", "MaskField$Value", "transforms.t.fields", "card", "transforms.t.replacement", "****"}, `db-orders user-1 {"amount":19.9,"card":"****","id":7,"paid":true,"to":{"city":"Ulm","zip":"89073"}}`},
		{"the key from the value", []any{"transforms", "k,e,t", "transforms.k.type", "ValueToKey", "transforms.k.fields", "id", "transforms.e.type", "ExtractField$Key", "transforms.e.field", "id", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "to"}, `db-orders 7 {"city":"Ulm","zip":"89073"}`},
		{"one more field", []any{"transforms", "t,u", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "to", "transforms.u.type", "InsertField$Value", "transforms.u.static.field", "shop", "transforms.u.static.value", "4", "transforms.u.topic.field", "from"}, `db-orders user-1 {"city":"Ulm","from":"db-orders","shop":"4","zip":"89073"}`},
		{"hoisted and flat", []any{"transforms", "t,u,v", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "to", "transforms.u.type", "HoistField$Value", "transforms.u.field", "to", "transforms.v.type", "Flatten$Value", "transforms.v.delimiter", "_"}, `db-orders user-1 {"to_city":"Ulm","to_zip":"89073"}`},
		{"cast", []any{"transforms.t.type", "Cast$Value", "transforms.t.spec", "id:string,card:int32,amount:int64,paid:int8"}, `db-orders user-1 {"amount":19,"card":4711,"id":"7","paid":1,"to":{"city":"Ulm","zip":"89073"}}`},
		{"another topic", []any{"transforms", "r,t", "transforms.r.type", "RegexRouter", "transforms.r.regex", "db-(.*)", "transforms.r.replacement", "shop-$1-v2", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "id"}, `shop-orders-v2 user-1 7`},
		{"another topic that does not match", []any{"transforms", "r,t", "transforms.r.type", "RegexRouter", "transforms.r.regex", "orders", "transforms.r.replacement", "x", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "id"}, `db-orders user-1 7`},
		{"headers", []any{"transforms", "h,m,t", "transforms.h.type", "InsertHeader", "transforms.h.header", "source", "transforms.h.value.literal", "shop", "transforms.m.type", "HeaderFrom$Value", "transforms.m.fields", "card", "transforms.m.headers", "c", "transforms.m.operation", "move", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "card"}, `db-orders user-1 null`},
		{"dropped by a predicate", []any{"transforms.t.type", "Filter", "transforms.t.predicate", "p", "predicates", "p", "predicates.p.type", "TopicNameMatches", "predicates.p.pattern", "db-.*"}, ``},
		{"kept by its negation", []any{"transforms", "f,t", "transforms.f.type", "Filter", "transforms.f.predicate", "p", "transforms.f.negate", "true", "predicates", "p", "predicates.p.type", "TopicNameMatches", "predicates.p.pattern", "db-.*", "transforms.t.type", "ExtractField$Value", "transforms.t.field", "id"}, `db-orders user-1 7`},
		{"an error", []any{"transforms.t.type", "Cast$Value", "transforms.t.spec", "to:int32"}, `org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler: Unexpected value in Cast transformation: {city=Ulm, zip=89073} cannot be cast to int32 in TRANSFORMATION`},
		{"an offset that a source has not", []any{"transforms.t.type", "InsertField$Value", "transforms.t.offset.field", "o"}, `org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler: Only SinkRecord objects supported for [field insertion], found: org.apache.kafka.connect.source.SourceRecord in TRANSFORMATION`},
		{"no object", []any{"transforms.t.type", "MaskField$Key", "transforms.t.fields", "id"}, `org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler: Only Map objects supported in absence of schema for [mask fields], found: java.lang.String in TRANSFORMATION`},
	} {
		if len(x.conf) > 0 && x.conf[0] != "transforms" {
			x.conf = append([]any{"transforms", "t"}, x.conf...)
		}
		got := transformed(t, "user-1", row, x.conf...)
		if got == "db-orders user-1  source=shop c=4711" {
			got = "db-orders user-1 null" // a null value
		}
		if got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.what, got, x.want)
		}
	}
}

// A sink knows partition, offset and time of a record, and may throw tombstones away.
func TestTransformsOfASink(t *testing.T) {
	c, db := world(), NewDatabase()
	c.CreateTopic("db-orders", 1, 3, nil)
	p := c.NewProducer("p", nil)
	c.RunFor(26 * time.Hour) // the second day
	p.Send("db-orders", "a", `{"n": 1}`)
	p.Send("db-orders", "a", nil)
	p.Send("db-orders", "b", `{"n": 2}`)
	p.Flush()
	k := New(c, db, kafkasim.Config{"value.converter": "JsonConverter"})
	k.StartWorker("w1")
	k.Create("all", with(sink, "table", "all", "insert.mode", "upsert", "delete.enabled", true))
	k.Create("copy", with(sink, "transforms", "alive,where,day", "transforms.alive.type", "Filter", "transforms.alive.predicate", "dead",
		"predicates", "dead,old", "predicates.dead.type", "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
		"predicates.old.type", "HasHeaderKey", "predicates.old.name", "old",
		"transforms.where.type", "InsertField$Value", "transforms.where.partition.field", "p", "transforms.where.offset.field", "o!",
		"transforms.day.type", "TimestampRouter", "transforms.day.timestamp.format", "yyyy-MM-dd"))
	k.RunFor(20 * time.Second)
	if rows := fmt.Sprint(db.Table("copy").Rows()); rows != `[{a {"n":1,"o":0,"p":0}} {b {"n":2,"o":2,"p":0}}]` {
		t.Errorf("%s\n%s", rows, k.Status())
	}
	if rows := fmt.Sprint(db.Table("all").Rows()); rows != `[{b {"n":2}}]` {
		t.Errorf("with delete.enabled a tombstone deletes the row: %s", rows)
	}
}

// KIP-298: a record that a transform cannot take is skipped, and lies in the dead letter queue as it came, with where and why.
func TestDeadLetterQueueOfATransform(t *testing.T) {
	c, db := world(), NewDatabase()
	c.CreateTopic("db-orders", 1, 3, nil)
	p := c.NewProducer("p", nil)
	p.Send("db-orders", "a", `"text"`)
	p.Send("db-orders", "b", `{"n": 2}`)
	p.Flush()
	k := New(c, db, kafkasim.Config{"value.converter": "JsonConverter"})
	k.StartWorker("w1")
	k.Create("copy", with(sink, "transforms", "t", "transforms.t.type", "MaskField$Value", "transforms.t.fields", "n",
		"errors.tolerance", "all", "errors.deadletterqueue.topic.name", "dlq", "errors.deadletterqueue.context.headers.enable", true))
	k.RunFor(20 * time.Second)
	got := c.NewConsumer("look", kafkasim.Config{"auto.offset.reset": "earliest"}).Assign("dlq").Poll(time.Second).Records
	if len(got) != 1 || got[0].Value != `"text"` || len(got[0].Headers) != 10 {
		t.Fatalf("%+v\n%s", got, k.Status())
	}
	why := "Only Map objects supported in absence of schema for [mask fields], found: java.lang.String"
	for i, want := range [][2]string{{"topic", "db-orders"}, {"partition", "0"}, {"offset", "0"}, {"connector.name", "copy"}, {"task.id", "0"},
		{"stage", "TRANSFORMATION"}, {"class.name", "org.apache.kafka.connect.transforms.MaskField$Value"},
		{"exception.class.name", "org.apache.kafka.connect.errors.DataException"}, {"exception.message", why},
		{"exception.stacktrace", "org.apache.kafka.connect.errors.DataException: " + why}} {
		if h := got[0].Headers[i]; h.Key != "__connect.errors."+want[0] || h.Value != want[1] {
			t.Errorf("header %d is %s=%s, want %v", i, h.Key, h.Value, want)
		}
	}
	if rows := fmt.Sprint(db.Table("copy").Rows()); rows != `[{b {"n":0}}]` {
		t.Error(rows)
	}
}

func TestTransformUsage(t *testing.T) {
	k := New(world(), orders(1), nil)
	for _, x := range []struct {
		says string
		conf []any
	}{
		{"transforms.t.type is missing", []any{"transforms", "t"}},
		{`there is no such transform - did you mean "MaskField"?`, []any{"transforms", "t", "transforms.t.type", "MaskFields$Value"}},
		{"want MaskField$Key or MaskField$Value", []any{"transforms", "t", "transforms.t.type", "MaskField"}},
		{"want RegexRouter", []any{"transforms", "t", "transforms.t.type", "RegexRouter$Value"}},
		{"TimestampConverter is a real transform of Kafka that is not modelled", []any{"transforms", "t", "transforms.t.type", "TimestampConverter$Value"}},
		{"No field insertion configured", []any{"transforms", "t", "transforms.t.type", "InsertField$Value"}},
		{"belong together", []any{"transforms", "t", "transforms.t.type", "InsertField$Value", "transforms.t.static.field", "a"}},
		{"transforms.t.fields is missing", []any{"transforms", "t", "transforms.t.type", "MaskField$Value"}},
		{"transforms.t.field is missing", []any{"transforms", "t", "transforms.t.type", "ExtractField$Key"}},
		{"want field:type", []any{"transforms", "t", "transforms.t.type", "Cast$Value", "transforms.t.spec", "a:int7"}},
		{"stands alone", []any{"transforms", "t", "transforms.t.type", "Cast$Value", "transforms.t.spec", "int8,a:int8"}},
		{"want old:new", []any{"transforms", "t", "transforms.t.type", "ReplaceField$Value", "transforms.t.renames", "a"}},
		{"error parsing regexp", []any{"transforms", "t", "transforms.t.type", "RegexRouter", "transforms.t.regex", "(", "transforms.t.replacement", "x"}},
		{"want of yyyy, MM", []any{"transforms", "t", "transforms.t.type", "TimestampRouter", "transforms.t.timestamp.format", "EEE"}},
		{"want as many", []any{"transforms", "t", "transforms.t.type", "HeaderFrom$Value", "transforms.t.fields", "a,b", "transforms.t.headers", "a", "transforms.t.operation", "copy"}},
		{`operation "": want move or copy`, []any{"transforms", "t", "transforms.t.type", "HeaderFrom$Value", "transforms.t.fields", "a", "transforms.t.headers", "a"}},
		{"drops every record", []any{"transforms", "t", "transforms.t.type", "Filter"}},
		{"there is nothing to negate", []any{"transforms", "t", "transforms.t.type", "DropHeaders", "transforms.t.headers", "a", "transforms.t.negate", "true"}},
		{`it is not among the predicates`, []any{"transforms", "t", "transforms.t.type", "Filter", "transforms.t.predicate", "p"}},
		{"want TopicNameMatches, HasHeaderKey or RecordIsTombstone", []any{"predicates", "p", "predicates.p.type", "IsLarge"}},
		{`did you mean "transforms.t.fields"?`, []any{"transforms", "t", "transforms.t.type", "MaskField$Value", "transforms.t.fields", "a", "transforms.t.field", "a"}},
		{"errors.retry.timeout is a real property that is not modelled", []any{"errors.retry.timeout", 1000}},
		{"schemas in messages are not modelled", []any{"value.converter.schemas.enable", "true"}},
		{"transaction.boundary", []any{"transaction.boundary", "interval"}},
		{"exactly.once.source.support=disabled", []any{"exactly.once.support", "required"}},
	} {
		simtest.WantUsage(t, x.says, func() { k.Create("x", with(source, x.conf...)) })
	}
	simtest.WantUsage(t, "only with insert.mode=upsert", func() { k.Create("x", with(sink, "delete.enabled", true)) })
	if len(k.connectors) != 0 {
		t.Error("a connector that was refused is there")
	}
}
