package kafkasim

import (
	"slices"
	"strings"
	"testing"
)

// P-10, P-12: a partitioner of one's own decides where the record does not, and a script repeats what it decided.
func TestPartitionerOfOnesOwn(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 3, 1, nil)
	p := c.NewProducer("p", nil)
	p.PartitionBy(func(topic string, key any, partitions int) int {
		if key == nil {
			return partitions - 1
		}
		return len(key.(string)) % partitions
	})
	sent := []*Delivery{p.Send("orders", "a", "1"), p.Send("orders", nil, "2"), p.Send("orders", "abc", "3"),
		p.SendRecord(Record{Topic: "orders", Key: "a", Value: "4", Partition: 0})}
	c.RunFor(ms(100))
	var got []int
	for _, d := range sent {
		got = append(got, d.Partition())
	}
	if want := []int{1, 2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
	if past := c.At(ms(50)); sent[2].In(past).Partition() != 0 {
		t.Error("the past has it elsewhere")
	}
	if s := c.Script().String(); !strings.Contains(s, "Partition: 2") {
		t.Errorf("the script does not say what was decided:\n%s", s)
	}
	p.PartitionBy(func(string, any, int) int { return -1 })
	if text := mistake(t, func() { p.Send("orders", nil, "x") }); !strings.Contains(text, "IllegalArgumentException") {
		t.Error(text)
	}
	p.PartitionBy(func(string, any, int) int { return 3 })
	if text := mistake(t, func() { p.Send("orders", nil, "x") }); !strings.Contains(text, "partitions 0 to 2") {
		t.Error(text)
	}
	if text := mistake(t, func() { p.Every(ms(1), "orders") }); !strings.Contains(text, "Send in a loop") {
		t.Error(text)
	}
	p.PartitionBy(nil)
	if d := p.Send("orders", "21", "x"); d.Partition() != 0 {
		t.Errorf("without it key 21 goes to %d, want 0 (P-2)", d.Partition())
	}
}

// P-4: Java's Integer 1, Long 1 and String "1" are different bytes, and go to different partitions.
func TestSerializedKeysP4(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 12, 1, nil)
	p := c.NewProducer("p", nil)
	c.RunFor(ms(10))
	var got []int
	for _, key := range []any{int32(1), int64(1), "1", int32(-1), int64(42)} {
		got = append(got, p.Send("orders", key, "v").Partition())
	}
	c.RunFor(ms(100))
	got = got[:0]
	for _, key := range []any{int32(1), int64(1), "1", int32(-1), int64(42)} {
		got = append(got, p.Send("orders", key, "v").Partition())
	}
	if want := []int{0, 0, 3, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
}
