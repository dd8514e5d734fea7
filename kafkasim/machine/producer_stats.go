package machine

import "kafkalab/kafkasim/partlog"

// ProducerStats are a producer's numbers, of which its metrics are computed: some since it was made, some of the last
// windows. They are no part of a world's hash: they tell what has been, and nothing follows from them.
//
// Kafka: Sender.SenderMetrics.
type ProducerStats struct {
	Records int64 // put on the wire, each attempt counted
	Bytes   int64 // … of batches, compressed
	Retried int64 // records
	Splits  int64 // batches (P-67)

	BatchSize  SampledStat // bytes, compressed, of each batch that is put on the wire
	Ratio      SampledStat // … its compression rate, in millionths
	RecordSize SampledStat // … its largest record's upper bound (P-107)
	Queued     SampledStat // µs from its creation until it was sent for the first time
	PerRequest SampledStat // records in a request
	Latency    SampledStat // µs from a request to its answer
	Throttled  SampledStat // ms that an answer told it to be silent
}

// sent counts a batch that is put on the wire.
func (x *ProducerStats) sent(b *LiveBatch, now int64) {
	x.Records += int64(b.Batch.Records.Count)
	x.Bytes += int64(b.Batch.Size)
	raw := b.Batch.Size
	if b.Pressed {
		raw = b.Raw
	}
	x.BatchSize.record(int64(b.Batch.Size), now)
	x.Ratio.record(int64(b.Batch.Size-partlog.BatchOverhead)*1_000_000/int64(max(raw-partlog.BatchOverhead, 1)), now)
	x.RecordSize.record(int64(b.Largest), now)
	if b.Attempts == 0 {
		x.Queued.record(now-b.Created, now)
	}
}

// answered counts an answer that came after so many µs, and asks for so many ms of silence.
func (x *ProducerStats) answered(after, throttle, now int64) {
	x.Latency.record(after, now)
	x.Throttled.record(throttle, now)
}
