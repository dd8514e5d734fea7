package bench

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// The same work for both: a million records of 100 bytes to one partition, acks=all, default producer.
const (
	records   = 1_000_000
	valueSize = 100
)

var value = strings.Repeat("abcdefghij", valueSize/10)

// cpu is the processor time that this process has used, in all threads: on a busy machine wall time says
// little.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report reports the rate, and the processor time of one million.
func report(b *testing.B, start time.Duration) {
	b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric((cpu()-start).Seconds()/float64(b.N), "cpu-s")
}

// BenchmarkMillionLearner replicates them to three brokers with min.insync.replicas=2, through the verbs that
// a cell uses, with trace and history.
func BenchmarkMillionLearner(b *testing.B) {
	start := cpu()
	for b.Loop() {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1, Latency: 100 * time.Microsecond})
		c.CreateTopic("t", 1, 3, kafkasim.Config{"min.insync.replicas": 2})
		p := c.NewProducer("p", nil)
		c.RunFor(time.Second)
		for i := range records {
			p.Send("t", nil, value)
			if i%1000 == 999 {
				c.RunFor(time.Millisecond)
			}
		}
		p.Flush()
		if v := c.View(); v.Producers[0].Acked != records {
			b.Fatalf("%d acknowledged", v.Producers[0].Acked)
		}
	}
	report(b, start)
}

// BenchmarkMillionKafkalab replicates them to three brokers with min.insync.replicas=2, in the machine.
func BenchmarkMillionKafkalab(b *testing.B) {
	start := cpu()
	for b.Loop() {
		s := world(b)
		producer := newProducer(b, s)
		for i := range int64(records) {
			s.Send(producer, "t", -1, partlog.Record{Value: value, Flags: partlog.NullKey, Timestamp: s.Now / 1000}, nil)
			if i%1000 == 999 { // a thousand records each virtual millisecond
				runTo(s, s.Now+1000)
			}
		}
		for s.Producers[producer].AckedRecords < records {
			if _, ok := s.Step(); !ok {
				b.Fatal("nothing left to do, and records are not acknowledged")
			}
			s.TakeNotes()
		}
	}
	report(b, start)
}

func world(b *testing.B) *machine.State {
	broker, problem := config.ParseBroker(nil)
	if problem != nil {
		b.Fatal(problem.Text)
	}
	props, problem := config.ParseTopic(broker.Topic, map[string]any{"min.insync.replicas": 2})
	if problem != nil {
		b.Fatal(problem.Text)
	}
	s := machine.New(machine.World{Brokers: 3, Seed: 1, Tick: 1000, Latency: 100, Broker: broker, ELR: true})
	s.Apply(machine.CreateTopic{Name: "t", Props: props, Assignment: [][]machine.NodeID{{1, 2, 3}}})
	return s
}

func newProducer(b *testing.B, s *machine.State) int32 {
	props, problem := config.ParseProducer(nil)
	if problem != nil {
		b.Fatal(problem.Text)
	}
	return s.Apply(machine.NewProducer{Name: "p", Props: props}).ID
}

func runTo(s *machine.State, at int64) {
	for {
		e, ok := s.Peek()
		if !ok || e.At > at {
			s.Now = at
			return
		}
		s.Step()
		s.TakeNotes()
	}
}

// BenchmarkMillionKfake sends them to kfake, which keeps one copy and replicates nothing.
func BenchmarkMillionKfake(b *testing.B) {
	start := cpu()
	for b.Loop() {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "t"))
		if err != nil {
			b.Fatal(err)
		}
		client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RequiredAcks(kgo.AllISRAcks()),
			kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.DefaultProduceTopic("t"), kgo.MaxBufferedRecords(100_000))
		if err != nil {
			b.Fatal(err)
		}
		var failed error
		for range records {
			client.Produce(context.Background(), &kgo.Record{Value: []byte(value)}, func(_ *kgo.Record, err error) {
				if err != nil {
					failed = err
				}
			})
		}
		if err := client.Flush(context.Background()); err != nil || failed != nil {
			b.Fatal(err, failed)
		}
		client.Close()
		cluster.Close()
	}
	report(b, start)
}
