package machine

import (
	"fmt"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/prng"
)

// Random crashes, pauses, cuts and traffic, with real producers and a consumer. What must hold in the end,
// with clean elections and disks that keep what they have:
//   - everything that was sent is decided, and a producer's memory and slots come back;
//   - what an idempotent producer was told is written is there exactly once and in the order of sending,
//     and nothing that it sent is there twice (P-56, P-84, invariant 23);
//   - what a consumer read is what the log holds, without gap, repetition or change (invariant 13).

type storm struct {
	*clients
	seed, draws uint64
	tp          TopicPartition
	partitions  int32
	read        [][]string
	commands    []string
}

func newStorm(t *testing.T, seed uint64) *storm {
	c := newClients(t, 3, quick, func(w *World) { w.Seed = seed })
	s := &storm{clients: c, seed: seed, partitions: 2}
	s.tp = c.topic("orders", 2, []NodeID{1, 2, 3}, []NodeID{2, 3, 1})
	s.read = make([][]string, s.partitions)
	return s
}

func (s *storm) below(n int) int {
	s.draws++
	return prng.Below(prng.Draw(s.seed, 77, s.draws), n)
}

func (s *storm) act(producers []int32) {
	b, o := NodeID(1+s.below(3)), NodeID(1+s.below(3))
	switch n := s.below(20); {
	case n < 9:
		for range 1 + s.below(8) {
			p := producers[s.below(len(producers))]
			s.sendAll(p, "orders", int32(s.below(int(s.partitions))), fmt.Sprintf("%d:%d", p, s.Producers[p].Sends))
			s.run(int64(s.below(12)) * ms)
		}
	case n == 9:
		s.do(CrashBroker{b})
	case n < 13:
		s.do(StartBroker{b})
	case n == 13:
		s.do(PauseBroker{b})
	case n < 16:
		s.do(ResumeBroker{b})
	case n == 16 && b != o:
		s.do(CutLink{b, o})
	case n == 17 && b != o:
		s.do(HealLink{b, o})
	case n == 18: // a producer's way to a broker
		s.do(CutLink{s.Producers[producers[s.below(len(producers))]].Node, b})
	default:
		for i := range s.Producers {
			s.do(HealLink{s.Producers[i].Node, b})
		}
	}
}

func (s *storm) do(c Command) {
	s.commands = append(s.commands, fmt.Sprintf("t=%dms %T%+v", s.Now/ms, c, c))
	s.apply(c)
}

func (s *storm) consume(id int32, timeout int64) int {
	got := s.poll(id, timeout)
	for _, r := range s.Consumers[id].Poll.Records {
		at := int64(len(s.read[r.TP.Partition]))
		if r.Offset != at {
			s.t.Fatalf("the consumer got offset %d of partition %d after %d records", r.Offset, r.TP.Partition, at)
		}
		for _, x := range r.All() {
			s.read[r.TP.Partition] = append(s.read[r.TP.Partition], x.Value)
		}
	}
	return len(got)
}

// calm mends everything and waits until all is decided and read.
func (s *storm) calm(id int32) {
	for b := NodeID(1); b <= 3; b++ {
		s.do(ResumeBroker{b})
		s.do(StartBroker{b})
		for o := NodeID(1); o <= 3; o++ {
			if b < o {
				s.do(HealLink{b, o})
			}
		}
		for i := range s.Producers {
			s.do(HealLink{s.Producers[i].Node, b})
		}
	}
	for i := range s.Producers {
		s.settle(int32(i))
	}
	s.run(60_000 * ms)
	for s.consume(id, 3000) > 0 {
	}
}

func TestClientsInAStorm(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStorm(t, seed)
			defer func() {
				if t.Failed() {
					t.Log(s.commands)
				}
			}()
			producers := []int32{s.producer(noLinger), s.producer(), s.producer(noLinger, func(p *config.Producer) { p.BatchRecords = 1 })}
			id := s.consumer("orders")
			for range 40 {
				s.act(producers)
				s.consume(id, int64(s.below(50)))
			}
			s.calm(id)
			for part := range s.partitions {
				s.judge(part, producers, id)
			}
			for _, p := range producers {
				pr := &s.Producers[p]
				inUse := slices.ContainsFunc(pr.Live, func(b LiveBatch) bool { return b.Status != batchFree })
				if pr.Memory != 0 || inUse || len(pr.Active) != 0 {
					t.Errorf("producer %d holds %d bytes, live batches %v, active %v", p, pr.Memory, inUse, pr.Active)
				}
			}
		})
	}
}

// judge compares a partition's log with what its producers were told and its consumer read.
func (s *storm) judge(part int32, producers []int32, id int32) {
	tp := TopicPartition{s.tp.Topic, part}
	leader := s.registration(tp).Leader
	if leader == NoNode {
		s.t.Fatalf("partition %d has no leader in the end", part)
	}
	values := s.logValues(leader, tp)
	if !slices.Equal(values, s.read[part]) {
		s.t.Errorf("partition %d: the log has %d records, the consumer read %d, and they differ", part, len(values), len(s.read[part]))
	}
	for _, p := range producers {
		last := int64(-1)
		there := map[int64]int64{}
		for offset, v := range values {
			var owner int32
			var n int64
			fmt.Sscanf(v, "%d:%d", &owner, &n)
			if owner != p {
				continue
			}
			if n <= last {
				s.t.Errorf("partition %d: record %d of producer %d comes after its record %d", part, n, p, last)
			}
			last, there[n] = n, int64(offset)
		}
		for n := range s.Producers[p].Sends {
			d := s.Delivery(p, n)
			if at, found := there[n]; d.TP == tp && d.Status == DeliveryAcked && (!found || d.Offset != at) {
				s.t.Errorf("partition %d: record %d of producer %d was acknowledged at %d; found %v at %d", part, n, p, d.Offset, found, at)
			}
		}
	}
}

// Without idempotence nothing that was acknowledged with acks=all is lost either, but it may be there twice.
func TestPlainProducersInAStorm(t *testing.T) {
	twice := 0
	for _, seed := range []uint64{1001, 1005, 1011} {
		s := newStorm(t, seed)
		producers := []int32{s.producer(noLinger, plain), s.producer(plain)}
		id := s.consumer("orders")
		for range 30 {
			s.act(producers)
		}
		s.calm(id)
		for part := range s.partitions {
			tp := TopicPartition{s.tp.Topic, part}
			values := s.logValues(s.registration(tp).Leader, tp)
			for _, p := range producers {
				for n := range s.Producers[p].Sends {
					d := s.Delivery(p, n)
					v := fmt.Sprintf("%d:%d", p, n)
					if d.TP == tp && d.Status == DeliveryAcked && (d.Offset >= int64(len(values)) || values[d.Offset] != v) {
						t.Errorf("seed %d: %s was acknowledged at %d and is not there; %v", seed, v, d.Offset, s.commands)
					}
				}
			}
			slices.Sort(values)
			twice += len(values) - len(slices.Compact(values))
		}
	}
	if twice == 0 {
		t.Error("no record is there twice: the storm tests nothing")
	}
}
