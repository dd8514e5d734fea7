package machine

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// defaultProducer is Kafka's defaults.
func defaultProducer() config.Producer {
	p := producerProps()
	p.EnableIdempotence, p.RetryBackoffMaxMs, p.ReconnectBackoffMax = true, 1000, 1000
	return p
}

func defaultConsumer() config.Consumer {
	return config.Consumer{AutoOffsetReset: config.ResetEarliest, FetchMinBytes: 1, FetchMaxWaitMs: 500, FetchMaxBytes: 52428800,
		MaxPartitionFetchBytes: 1048576, MaxPollRecords: 500, RequestTimeoutMs: 30000, RetryBackoffMs: 100, RetryBackoffMaxMs: 1000,
		MetadataMaxAgeMs: 300000, ReconnectBackoffMs: 50, ReconnectBackoffMax: 1000}
}

// BenchmarkMillionRecords sends a million records of 100 bytes through the default producer to a topic
// with three replicas, min.insync.replicas=2 and acks=all, until all are acknowledged.
func BenchmarkMillionRecords(b *testing.B) {
	const records, burst = 1_000_000, 1_000
	value := strings.Repeat("v", 100)
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := New(World{Brokers: 3, Seed: 1, Tick: 1000, Latency: 1000, Broker: kafkaDefaults()})
		s.Quiet = true
		props := topicDefaults()
		props.MinInSyncReplicas = 2
		s.Apply(CreateTopic{Name: "orders", Props: props, Assignment: [][]NodeID{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}})
		p := s.Apply(NewProducer{Name: "checkout", Props: defaultProducer()}).ID
		start := cpuTime()
		events := 0
		for sent := 0; sent < records; {
			for range burst {
				s.Send(p, "orders", -1, partlog.Record{Value: value, Flags: partlog.NullKey, Timestamp: s.Now / ms}, nil)
				sent++
			}
			// As in an application: while send() blocks, nothing more is sent.
			for until := s.Now + 1*ms; ; events++ {
				if e, _ := s.Peek(); e.At > until && s.Producers[p].Blocked.Count == 0 {
					break
				}
				s.Step()
			}
		}
		for s.Producers[p].Undecided() > 0 {
			s.Step()
			events++
		}
		took := cpuTime() - start
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := s.Producers[p].AckedRecords; got != records {
			b.Fatalf("%d acknowledged", got)
		}
		b.ReportMetric(float64(records)/took.Seconds(), "records/s")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/records, "bytes/record")
		b.ReportMetric(float64(events), "events")
		b.ReportMetric(float64(s.Now)/1e6, "virtual-s")
		runtime.KeepAlive(s)
	}
}

// cpuTime is the processor time that this process has used, in all threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSend is send() alone: the record into an open batch.
func BenchmarkSend(b *testing.B) {
	f := newFake(nil, 1, 1)
	props := producerProps()
	props.BufferMemory = 1 << 50
	p := f.producer(props)
	f.send(p, 0, "warm")
	f.at(100)
	value := strings.Repeat("v", 100)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		f.s.Send(p, "orders", 0, partlog.Record{Value: value, Flags: partlog.NullKey, Timestamp: 1}, nil)
	}
}
