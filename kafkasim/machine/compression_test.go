package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/partlog/codec"
)

// P-33 (the sequence that Kafka's producer was recorded with): batches of values of 1000 bytes under a batch.size of
// 16384. The first ones hold 15 records; the better they turn out to shrink, the more go in.
func TestCompressedCutsP33(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.Compression, props.LingerMs = config.CompressionGzip, 60000
	p := f.producer(props)
	f.warm(p)
	f.s.Producers[p].Topics[0].Ratio = 0 // a batch of one small record is larger compressed
	for range 1200 {
		f.send(p, 0, strings.Repeat("0123456789", 100))
		f.at(f.s.Now/ms + 2)
	}
	f.s.Apply(FlushProducer{Producer: p})
	f.at(f.s.Now/ms + 100)
	var cuts []int
	for i := range f.log[0] {
		cuts = append(cuts, f.log[0][i].Records.Len())
	}
	want := []int{}
	for _, run := range [][2]int{{15, 9}, {16, 12}, {17, 10}, {18, 10}, {19, 8}, {20, 8}, {21, 7}, {22, 2}, {20, 1}} {
		want = append(want, slices.Repeat([]int{run[0]}, run[1])...)
	}
	if !slices.Equal(cuts, want) {
		t.Errorf("records in the batches: %v\nwant %v", cuts, want)
	}
}

// P-108, R1.24, P-100: a topic's compression.type compresses anew what has another codec; the limit holds for the batch
// as it comes and as it is stored.
func TestTopicCompressesAnewP108(t *testing.T) {
	for _, c := range []struct {
		producer codec.Codec
		topic    config.Compression
		limit    int64
		stored   codec.Codec
		code     Code
	}{
		{codec.Gzip, config.CompressionProducer, 3000, codec.Gzip, NONE},
		{codec.Gzip, config.CompressionNone, 3000, 0, MESSAGE_TOO_LARGE},
		{codec.None, config.CompressionGzip, 3000, 0, MESSAGE_TOO_LARGE},
		{codec.None, config.CompressionLZ4, 20000, codec.LZ4, NONE},
		{codec.Snappy, config.CompressionZstd, 20000, codec.Zstd, NONE},
		{codec.Snappy, config.CompressionSnappy, 3000, codec.Snappy, NONE},
		{codec.Zstd, config.CompressionNone, 20000, codec.None, NONE},
	} {
		t.Run(fmt.Sprint(c.producer, " to ", c.topic), func(t *testing.T) {
			b := newBench(t, 1)
			props := topicDefaults()
			props.Compression, props.MaxMessageBytes = c.topic, c.limit
			props.Levels = config.Levels{Gzip: -1, LZ4: 9, Zstd: 3}
			tp := b.topicWith("orders", props, []NodeID{1})
			b.run(100 * ms)
			req := b.produceRequest(tp, config.AcksAll, strings.Repeat("x", 10_000))
			req.Parts[0].Batch.Compress(c.producer, codec.DefaultLevel)
			got := b.call(1, req).(ProduceResponse).Parts[0]
			if got.Error != c.code {
				t.Fatalf("%v, want %v", got.Error, c.code)
			}
			if c.code != NONE {
				b.expectLog(1, tp, 0, 0)
				return
			}
			stored := b.log(1, tp).BatchAt(0)
			alone := *stored
			alone.Compress(c.stored, codec.DefaultLevel)
			if stored.Codec != c.stored || stored.Size != alone.Size || int(stored.Size) != len(stored.Encode()) {
				t.Errorf("stored as %v in %d bytes, want %v in %d", stored.Codec, stored.Size, c.stored, alone.Size)
			}
			if anew := b.broker(1).Costs.Recompressed; (anew == 1) != (c.stored != c.producer) {
				t.Errorf("%d batches were compressed anew", anew)
			}
		})
	}
}

// P-68: without sequence numbers a failed batch goes back to the front of its queue.
func TestFailedBatchGoesToTheFrontP68(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.LingerMs, props.BatchRecords, props.MaxInFlight = 0, 1, 1
	p := f.producer(props)
	f.warm(p)
	f.produce = failFirst(1, NOT_ENOUGH_REPLICAS)
	for _, v := range []string{"a", "b", "c"} {
		f.send(p, 0, v)
	}
	f.at(f.s.Now/ms + 1000)
	if got := f.values(0); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("log %v, want a, b, c", got)
	}
}

// P-32, P-67: a batch with a codec that is too large for the broker is cut as if it did not shrink.
func TestSplitForgetsTheRatioP67(t *testing.T) {
	f := newFake(t, 1, 1)
	props := producerProps()
	props.Compression, props.LingerMs, props.BatchSize = config.CompressionZstd, 5, 2000
	id := f.producer(props)
	f.warm(id)
	p := &f.s.Producers[id]
	p.Topics[0].Ratio = codec.Ratio(0).Observe(1000, 100) // learnt: a bit below 1
	for range 20 {
		p.Topics[0].Ratio = p.Topics[0].Ratio.Observe(1000, 100)
	}
	f.produce = failFirst(1, MESSAGE_TOO_LARGE)
	for i := range 19 {
		f.send(id, 0, fmt.Sprint(strings.Repeat("v", 90), i))
	}
	f.at(f.s.Now/ms + 500)
	total := 0
	for i := range f.log[0] {
		b := &f.log[0][i]
		total += b.Records.Len()
		if raw := partlog.BatchSize(&b.Records); raw > 2000 {
			t.Errorf("a part of %d bytes before compression, want at most batch.size", raw)
		}
	}
	if total != 19 || p.Stats.Splits != 1 {
		t.Errorf("%d records, %d splits", total, p.Stats.Splits)
	}
}
