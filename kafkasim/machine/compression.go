// Compression.
//
// A producer compresses a batch when it takes it out of the queue. Until then nobody knows how large it will be, so
// the producer guesses from what the topic's batches became before, and a batch holds more records the
// better they shrink (P-33). The leader compresses again if the topic asks for another codec (R1.24).
//
// Kafka: MemoryRecordsBuilder, ProducerBatch.close, CompressionRatioEstimator, LogValidator. Simplified: producers do
// not share their guesses, as those of one process do.
package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/partlog/codec"
)

// level is the producer's level of its codec.
func (p *Producer) level() int8 { return p.Config.Levels.Of(p.Config.Compression) }

// estimate is how large the batch is thought to be (P-33); exact without compression, and once it is compressed.
func (b *LiveBatch) estimate() int32 {
	if b.Pressed || b.Batch.Codec == codec.None {
		return b.Batch.Size
	}
	return partlog.BatchOverhead + b.Ratio.Estimate(b.Batch.Size-partlog.BatchOverhead)
}

// press compresses a batch that takes no more records, and learns from it.
func (p *Producer) press(b *LiveBatch) {
	if b.Pressed || b.Batch.Codec == codec.None {
		return
	}
	b.Raw = b.Batch.Size
	raw := b.Raw - partlog.BatchOverhead
	b.Batch.Compress(b.Batch.Codec, b.Batch.Level)
	b.Pressed = true
	t := &p.Topics[b.Ref.Topic]
	t.Ratio = t.Ratio.Observe(raw, b.Batch.Size-partlog.BatchOverhead)
}

// expand forgets the guess for a topic of which a batch was too large (P-67).
func (p *Producer) expand(b *LiveBatch) {
	if b.Batch.Codec != codec.None {
		p.Topics[b.Ref.Topic].Ratio = codec.Split(b.Raw-partlog.BatchOverhead, b.Batch.Size-partlog.BatchOverhead)
	}
}

// recompress is a batch as the topic wants it: compression.type is "producer", or a codec that every batch gets which
// has another one. A batch that has it already keeps its bytes, and their level.
func recompress(topic *config.Topic, b partlog.Batch) partlog.Batch {
	want := topic.Compression
	if b.Control || want == config.CompressionProducer || want == config.Compression(b.Codec) {
		return b
	}
	b.Compress(codec.Codec(want), topic.Levels.Of(want))
	return b
}
