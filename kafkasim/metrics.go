package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Metrics are a client's numbers under the names that Kafka's metrics have.
type Metrics struct {
	Rows []Metric
	who  string
}

// Metric is one number.
type Metric struct {
	Group string // Kafka's, such as producer-metrics
	Name  string
	Value float64
	Doc   string // what it is, with its unit
}

// Value is the metric with this name; a name that there is not is a UsageError.
func (m *Metrics) Value(name string) float64 {
	var names []string
	for _, r := range m.Rows {
		if r.Name == name {
			return r.Value
		}
		names = append(names, r.Name)
	}
	misuse(fmt.Sprintf("metrics of %s: Value(%q)", m.who, name), "there is no such metric%s", meant(name, names, "they have "+strings.Join(names, ", ")))
	return 0
}

// String is a table of them.
func (m *Metrics) String() string {
	var b strings.Builder
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "%-32s %14s  %s\n", r.Name, metricWords(r.Value), r.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

// metricWords is a value without digits that say nothing.
func metricWords(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprintf("%.3f", v)
}

// Metrics are the producer's numbers by Kafka's names (producer-metrics of SenderMetrics, BufferPool and the network
// client). Averages and maxima are those of the last metrics.num.samples windows of metrics.sample.window.ms, by default
// the last half minute to a minute and a half; where nothing was measured in that time they are 0, and NaN in Kafka.
func (p *Producer) Metrics() *Metrics {
	s := p.state()
	x := &s.Stats
	m := &Metrics{who: "producer " + p.ID()}
	add := func(name string, value float64, doc string) {
		m.Rows = append(m.Rows, Metric{"producer-metrics", name, value, doc})
	}
	over := func(what *machine.SampledStat, unit float64) (mean, most float64) {
		n, sum, top := what.Over(p.c.s.Now)
		return float64(sum) / float64(max(n, 1)) / unit, float64(top) / unit
	}
	const perMs = 1000 // times are in µs
	mean, most := over(&x.BatchSize, 1)
	add("batch-size-avg", mean, "bytes of a batch, compressed")
	add("batch-size-max", most, "bytes of the largest batch")
	add("batch-split-total", float64(x.Splits), "batches that were too large for the broker and cut up")
	mean, _ = over(&x.Ratio, 1_000_000)
	add("compression-rate-avg", mean, "compressed bytes of a batch's records over uncompressed ones")
	mean, most = over(&x.Queued, perMs)
	add("record-queue-time-avg", mean, "ms from a batch's creation until it was sent")
	add("record-queue-time-max", most, "ms, the longest of them")
	mean, most = over(&x.Latency, perMs)
	add("request-latency-avg", mean, "ms from a produce request to its answer")
	add("request-latency-max", most, "ms, the longest of them")
	mean, most = over(&x.Throttled, 1)
	add("produce-throttle-time-avg", mean, "ms that an answer told the producer to be silent, because of a quota")
	add("produce-throttle-time-max", most, "ms, the longest of them")
	add("record-send-total", float64(x.Records), "records put on the wire; those sent again count again")
	mean, _ = over(&x.PerRequest, 1)
	add("records-per-request-avg", mean, "records in a produce request")
	add("record-retry-total", float64(x.Retried), "records put back to be sent again")
	add("record-error-total", float64(s.FailedRecords), "records that failed for good")
	mean, most = over(&x.RecordSize, 1)
	add("record-size-avg", mean, "bytes, upper bound of a batch's largest record")
	add("record-size-max", most, "bytes, the largest of them")
	add("requests-in-flight", float64(p.inFlight()), "requests that are not answered")
	add("request-total", float64(s.NextCorrelation), "requests of every kind")
	add("outgoing-byte-total", float64(x.Bytes), "bytes of batches put on the wire; requests' headers are not counted")
	add("buffer-total-bytes", float64(s.Config.BufferMemory), "bytes of buffer.memory")
	add("buffer-available-bytes", float64(s.Config.BufferMemory-s.Memory), "bytes of it that no batch holds")
	add("waiting-threads", float64(p.waiting()), "threads that are blocked for buffer.memory")
	add("metadata-age", float64(max(p.c.s.Now-max(s.Meta.LastSuccess, 0), 0))/1e6, "s since the metadata came")
	return m
}

// inFlight counts the requests that are not answered.
func (p *Producer) inFlight() (n int) {
	s := p.state()
	for i := range s.Conns {
		n += len(s.Conns[i].InFlight)
	}
	return n
}

// waiting is 1 while the application's thread waits for memory.
func (p *Producer) waiting() int {
	if s := p.state(); s.Blocked.Count > 0 && s.Blocked.For == machine.WaitMemory {
		return 1
	}
	return 0
}

// Costs are what the work of a broker, or of all of them, has cost since the world began, in counters: it takes no time
// here. Bytes are those of batches; requests' and answers' own headers are not counted.
type Costs struct {
	ProduceRequests int
	ConsumerFetches int
	FollowerFetches int
	OtherRequests   int
	ProducedBytes   int // of batches that producers sent, compressed
	DecryptedBytes  int // … that came over TLS
	Appends         int // batches written to log files, on leaders and followers
	AppendedBytes   int
	Recompressed    int // batches that the topic's compression.type made anew
	SegmentsRolled  int
	Flushes         int // fsyncs; what is not flushed is in the page cache
	ZeroCopyBytes   int // of batches that went from the page cache to the socket untouched
	CopiedBytes     int // … that had to be copied to be encrypted
}

// String is a line for each.
func (x Costs) String() string {
	return fmt.Sprintf(`requests     %d produce, %d fetch of consumers, %d fetch of followers, %d others
produced     %d bytes, %d of them decrypted
appends      %d batches, %d bytes, %d compressed anew; %s begun
flushes      %d
read         %d bytes without a copy, %d bytes copied and encrypted`,
		x.ProduceRequests, x.ConsumerFetches, x.FollowerFetches, x.OtherRequests, x.ProducedBytes, x.DecryptedBytes,
		x.Appends, x.AppendedBytes, x.Recompressed, plural(x.SegmentsRolled, "segment"), x.Flushes, x.ZeroCopyBytes, x.CopiedBytes)
}

func (x *Costs) add(c *machine.Costs) {
	x.ProduceRequests += int(c.Produces)
	x.ConsumerFetches += int(c.ConsumerFetches)
	x.FollowerFetches += int(c.FollowerFetches)
	x.OtherRequests += int(c.OtherRequests)
	x.ProducedBytes += int(c.ProducedBytes)
	x.DecryptedBytes += int(c.DecryptedBytes)
	x.Appends += int(c.Appends)
	x.AppendedBytes += int(c.AppendedBytes)
	x.Recompressed += int(c.Recompressed)
	x.SegmentsRolled += int(c.Rolls)
	x.Flushes += int(c.Flushes)
	x.ZeroCopyBytes += int(c.ZeroCopyBytes)
	x.CopiedBytes += int(c.CopiedBytes)
}

// Costs are what the broker's work has cost so far.
func (b *Broker) Costs() Costs {
	var x Costs
	x.add(&b.state().Costs)
	return x
}

// Costs are what the work of all brokers has cost so far.
func (c *Cluster) Costs() Costs {
	var x Costs
	for i := range c.s.Brokers {
		x.add(&c.s.Brokers[i].Costs)
	}
	return x
}
