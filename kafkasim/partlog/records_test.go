package partlog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Whatever goes into a batch comes out again, alone and in a row, also through a file.
func TestRecordsComeBack(t *testing.T) {
	long := strings.Repeat("long", 100)
	list := []Record{
		{Key: "k", Value: "v", Timestamp: 7}, {Timestamp: -3}, {Flags: NullKey | NullValue, Timestamp: 1 << 62},
		{Key: long, Value: long + long, Timestamp: 8}, {Value: "\xff\x00", Flags: NullKey}, {Key: "ä", Flags: NullValue, Timestamp: -1 << 62},
	}
	headers := [][]Header{nil, {{"h", "1"}}, nil, {{"", ""}, {long, long}}, nil, {{"a", "\xff"}}}
	var r Records
	for i := range list {
		r.Append(&list[i], headers[i])
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var loaded Records
	if err := json.Unmarshal(data, &loaded); err != nil || !reflect.DeepEqual(loaded, r) {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	n := 0
	for i, x := range r.All() {
		c := r.From(i)
		if !c.Next() || c.Record != list[i] || *x != list[i] || r.At(i) != list[i] || !reflect.DeepEqual(c.Headers(), headers[i]) {
			t.Errorf("record %d came back as %+v with %v", i, c.Record, c.Headers())
		}
		n++
	}
	if n != len(list) || r.Len() != n {
		t.Errorf("%d of %d records", n, len(list))
	}
}

// Copies that were clipped grow apart.
func TestClippedRecordsGrowApart(t *testing.T) {
	a := PackRecords(Record{Value: "1"})
	a.Room(1000)
	b := a
	b.Clip()
	a.Append(&Record{Value: "a"}, nil)
	b.Append(&Record{Value: "b"}, nil)
	if a.At(1).Value != "a" || b.At(1).Value != "b" || a.At(0) != b.At(0) {
		t.Errorf("%+v and %+v", a, b)
	}
}

func BenchmarkAppendRecord(b *testing.B) {
	x := Record{Key: "user-123", Value: strings.Repeat("v", 100)}
	var r Records
	r.Room(1 << 20)
	for b.Loop() {
		if len(r.Data) > 1<<20-200 {
			r = Records{Data: r.Data[:0]}
		}
		r.Append(&x, nil)
	}
}

func BenchmarkReadRecord(b *testing.B) {
	x := Record{Key: "user-123", Value: strings.Repeat("v", 100)}
	var r Records
	for range 1000 {
		r.Append(&x, nil)
	}
	c := r.From(0)
	for b.Loop() {
		if !c.Next() {
			c = r.From(0)
		}
	}
}
