package machine

import (
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// loaded is a producer whose partitions have these many batches waiting.
func loaded(t *testing.T, queues ...int32) (*fake, *Producer) {
	f := newFake(t, 1, int32(len(queues)))
	p := f.producer(producerProps())
	f.warm(p)
	pr := &f.s.Producers[p]
	pr.Topics[0].Used = int32(len(queues))
	for i, n := range queues {
		pr.Topics[0].Parts[i].Load = n
	}
	return f, pr
}

// P-18: the vector of queues 0, 3, 1: weights 4, 1, 3; r = 3 is the first, 4 the second, 5 the third.
func TestWeightsP18(t *testing.T) {
	f, p := loaded(t, 0, 3, 1)
	parts, sums := p.weights(0)
	if !slices.Equal(parts, []int32{0, 1, 2}) || !slices.Equal(sums, []int32{4, 5, 8}) {
		t.Fatalf("partitions %v, sums %v", parts, sums)
	}
	for r, want := range []int32{0, 0, 0, 0, 1, 2, 2, 2} {
		if got := byWeight(parts, sums, int32(r)); got != want {
			t.Errorf("r = %d: partition %d, want %d", r, got, want)
		}
	}
	var hits [3]int
	for range 8000 {
		f.s.switchSticky(p, 0)
		hits[p.Topics[0].Sticky.Partition]++
	}
	for i, weight := range []int{4, 1, 3} {
		if d := hits[i] - weight*1000; d < -150 || d > 150 {
			t.Errorf("partition %d was drawn %d times of 8000, want about %d", i, hits[i], weight*1000)
		}
	}
}

// P-19, P-20: when there are no weights, and who is left out.
func TestWhenThereAreNoWeightsP19(t *testing.T) {
	for _, c := range []struct {
		what  string
		loads []int32
		set   func(p *Producer)
		sums  []int32
	}{
		{"all queues are alike", []int32{2, 2, 2}, func(*Producer) {}, nil},
		{"there is one partition", []int32{3}, func(*Producer) {}, nil},
		{"a partition has had no batch", []int32{0, 3, 1}, func(p *Producer) { p.Topics[0].Used = 2 }, nil},
		{"the choice is not adaptive", []int32{0, 3, 1}, func(p *Producer) { p.Config.Adaptive = false }, nil},
		{"one has no leader", []int32{2, 0, 2}, func(p *Producer) { p.Meta.Topics[0].Parts[1].Leader = NoNode }, []int32{1, 2}},
		{"one's broker takes nothing", []int32{0, 3, 1}, func(p *Producer) { p.Topics[0].Parts[1].Away = true }, []int32{2, 3}},
		{"all brokers take nothing", []int32{1, 1}, func(p *Producer) { p.Topics[0].Parts[0].Away, p.Topics[0].Parts[1].Away = true, true }, nil},
	} {
		_, p := loaded(t, c.loads...)
		c.set(p)
		if _, sums := p.weights(0); !slices.Equal(sums, c.sums) {
			t.Errorf("%s: sums %v, want %v", c.what, sums, c.sums)
		}
	}
}

// P-18, P-20: the sender counts the queues, and a partition whose broker does not take its batches is left out
// after partitioner.availability.timeout.ms, until it does.
func TestPartitionOfASilentBrokerIsLeftOutP20(t *testing.T) {
	f := newFake(t, 2, 2)
	props := producerProps()
	props.LingerMs, props.MaxInFlight, props.AvailabilityTimeoutMs, props.BatchSize = 0, 2, 300, 100
	id := f.producer(props)
	f.warm(id)
	p := &f.s.Producers[id]
	f.produce = func(f *fake, e Event, r ProduceRequest) (ProduceResponse, bool) {
		return ProduceResponse{}, e.To != 1 // broker 1 leads partition 0 and is silent
	}
	for i := range 50 {
		f.send(id, 0, "a value of some size, so that a batch holds one record only, and not two of them")
		f.at(f.s.Now/ms + 10)
		if away := p.Topics[0].Parts[0].Away; i < 31 && away || i > 33 && !away {
			t.Fatalf("after %d ms: left out is %v", i*10, away)
		}
	}
	if n := p.Topics[0].Parts[0].Load; n < 45 {
		t.Errorf("%d batches are counted, want those that wait", n)
	}
}

// P-23: RoundRobinPartitioner ignores keys and goes round the partitions with a leader, from the first.
func TestRoundRobinPartitionerP23(t *testing.T) {
	f := newFake(t, 1, 4)
	props := producerProps()
	props.Partitioner = config.PartitionerRoundRobin
	id := f.producer(props)
	f.warm(id)
	p := &f.s.Producers[id]
	p.Topics[0].Sticky.Switches = 0
	p.Meta.Topics[0].Parts[2].Leader = NoNode
	var got []int32
	for range 7 {
		n := f.s.Send(id, "orders", anyPartition, partlog.Record{Key: "user-1", Value: "v", Timestamp: NoTimestamp}, nil)
		got = append(got, f.s.Delivery(id, n).TP.Partition)
	}
	if want := []int32{0, 1, 3, 0, 1, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
}

// P-22: with KIP-480's partitioners a new batch on the sticky partition moves it, be it a keyed record's.
func TestKeyedRecordMovesTheStickyPartitionP22(t *testing.T) {
	for _, class := range []config.Partitioner{config.PartitionerDefault, config.PartitionerUniformSticky} {
		f := newFake(t, 1, 3)
		props := producerProps()
		props.Partitioner = class
		id := f.producer(props)
		f.warm(id)
		p := &f.s.Producers[id]
		key, part := "user-1", KeyPartition("user-1", 3)
		p.Topics[0].Sticky.Partition = part
		n := f.s.Send(id, "orders", anyPartition, partlog.Record{Key: key, Value: "v", Timestamp: NoTimestamp}, nil)
		moved := p.Topics[0].Sticky.Partition != part
		stayed := f.s.Delivery(id, n).TP.Partition == part
		if class == config.PartitionerDefault && !(moved && stayed) {
			t.Errorf("DefaultPartitioner: the sticky partition moved %v, the record kept its own %v", moved, stayed)
		}
		if class == config.PartitionerUniformSticky && (!moved || stayed) {
			t.Errorf("UniformStickyPartitioner: the sticky partition moved %v, the record is on its key's partition %v", moved, stayed)
		}
	}
}
