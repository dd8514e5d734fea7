package machine

import "kafkalab/kafkasim/partlog"

// ProducerStats are a producer's numbers since it was made, of which its metrics are computed.
//
// Kafka: Sender.SenderMetrics. Simplified: Kafka's averages are over the last half minute.
type ProducerStats struct {
	Requests int64 // ProduceRequests put on the wire
	Batches  int64 // … batches in them, each attempt counted
	Records  int64
	Bytes    int64 // … of batches, compressed
	Ratios   int64 // sum of the batches' compression rates, in millionths
	MaxBatch int32
	Largest  int32 // the largest record's upper bound (P-107)
	Bounds   int64 // sum over batches of their largest records' bounds

	First               int64 // batches that were sent for the first time
	Queued, MaxQueued   int64 // µs from a batch's creation until then: sum, and most
	Answers             int64
	Latency, MaxLatency int64 // µs from a request to its answer: sum, and most
	Throttled           int64 // ms that answers told it to be silent: sum
	MaxThrottled        int64 // … and most
	Retried             int64 // records
	Splits              int64 // batches (P-67)
}

// sent counts a batch that is put on the wire.
func (x *ProducerStats) sent(b *LiveBatch, now int64) {
	x.Batches++
	x.Records += int64(b.Batch.Records.Count)
	x.Bytes += int64(b.Batch.Size)
	raw := b.Batch.Size
	if b.Pressed {
		raw = b.Raw
	}
	x.Ratios += int64(b.Batch.Size-partlog.BatchOverhead) * 1_000_000 / int64(max(raw-partlog.BatchOverhead, 1))
	x.MaxBatch = max(x.MaxBatch, b.Batch.Size)
	x.Largest = max(x.Largest, b.Largest)
	x.Bounds += int64(b.Largest)
	if b.Attempts == 0 {
		x.First++
		x.Queued += now - b.Created
		x.MaxQueued = max(x.MaxQueued, now-b.Created)
	}
}

// answered counts an answer that came after so many µs, and asks for so many ms of silence.
func (x *ProducerStats) answered(after, throttle int64) {
	x.Throttled += throttle
	x.MaxThrottled = max(x.MaxThrottled, throttle)
	x.Answers++
	x.Latency += after
	x.MaxLatency = max(x.MaxLatency, after)
}
