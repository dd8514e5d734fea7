// Partitioner: which partition a record gets.
//
// The order of decision is P-10: the partition named on the record, a configured partitioner (here a
// table of keys), the key's murmur2 hash, and for what is left the sticky partition of KIP-794, which
// changes by bytes and not by records.
//
// Kafka: KafkaProducer.partition, BuiltInPartitioner, Utils.murmur2 (KIP-480, KIP-794). Simplified: the
// load of the partitions (P-18) is looked at when a switch needs it, not in each pass of the sender.
package machine

import (
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// anyPartition lets the partitioner choose.
const anyPartition int32 = -1

// murmur2 is the hash of keys (P-1): 32-bit murmur2 over the bytes, seed 0x9747b28c.
func murmur2(key string) int32 {
	const m uint32 = 0x5bd1e995
	h := uint32(0x9747b28c) ^ uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		k := uint32(key[0]) | uint32(key[1])<<8 | uint32(key[2])<<16 | uint32(key[3])<<24
		k *= m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	switch len(key) {
	case 3:
		h ^= uint32(key[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(key[0])) * m
	}
	h ^= h >> 13
	h *= m
	return int32(h ^ h>>15)
}

// KeyPartition is the partition that the built-in partitioner gives a key among so many partitions (P-2):
// the hash without its sign bit, which is not its absolute value.
func KeyPartition(key string, partitions int32) int32 {
	return murmur2(key) & 0x7fffffff % partitions
}

// choose names the partition of a record that does not name its own, anyPartition when the sticky one is
// to be taken (P-10, P-21). Partitions without a leader count (P-3); an empty key is a key (P-5).
func (p *Producer) choose(r *partlog.Record, partitions int32) int32 {
	if r.Flags&partlog.NullKey != 0 {
		return anyPartition
	}
	for i := range p.Config.PartitionTable {
		if p.Config.PartitionTable[i].Key == r.Key {
			return p.Config.PartitionTable[i].Partition
		}
	}
	if p.Config.PartitionerIgnoreKey {
		return anyPartition
	}
	return KeyPartition(r.Key, partitions)
}

// Sticky is a topic's current partition for records that have none of their own (P-13).
type Sticky struct {
	Partition int32 // -1 before the first record
	Bytes     int64 // appended since the last switch
	Switches  int32 // so far, which names the draws
}

// sticky is the topic's current sticky partition.
func (s *State) sticky(p *Producer, topic int32) int32 {
	st := &p.Topics[topic].Sticky
	if st.Partition < 0 {
		s.switchSticky(p, topic)
	}
	return st.Partition
}

// stuck counts appended bytes and moves on when a batch's worth is there and the partition's last batch
// is full, or in any case after two (P-14, P-15). It tells whether the partition changed.
func (s *State) stuck(p *Producer, topic int32, bytes int64) bool {
	st := &p.Topics[topic].Sticky
	st.Bytes += bytes
	return st.Bytes >= p.stickyBytes() && s.movesOn(p, topic, st)
}

// stickyBytes is how many bytes go to a sticky partition at least.
func (p *Producer) stickyBytes() int64 { return max(p.Config.BatchSize, 1) }

func (s *State) movesOn(p *Producer, topic int32, st *Sticky) bool {
	if st.Bytes < 2*p.stickyBytes() && !p.lastIsFull(topic, st.Partition) {
		return false
	}
	s.switchSticky(p, topic)
	return true
}

// switchSticky draws the next sticky partition: by load where every partition has a queue and the queues
// differ (P-18, P-19), else any with a leader, else any at all (P-17).
func (s *State) switchSticky(p *Producer, topic int32) {
	t := &p.Topics[topic]
	meta := p.Meta.Topics[topic].Parts
	t.Sticky.Bytes = 0
	t.Sticky.Switches++
	draw := prng.Draw(s.World.Seed, drawSticky, uint64(p.Node), uint64(topic), uint64(t.Sticky.Switches))

	led, longest, shortest, queues := 0, -1, 1<<30, 0
	for i := range meta {
		if meta[i].Leader == NoNode {
			continue
		}
		led++
		if i < len(t.Parts) && t.Parts[i].Used {
			queues++
			longest, shortest = max(longest, len(t.Parts[i].Queue)), min(shortest, len(t.Parts[i].Queue))
		}
	}
	total := led
	byLoad := queues == led && led == len(meta) && led >= 2 && longest != shortest
	if byLoad {
		total = 0
		for i := range meta {
			total += longest + 1 - len(t.Parts[i].Queue)
		}
	}
	if total == 0 {
		t.Sticky.Partition = int32(prng.Below(draw, len(meta)))
		return
	}
	r := prng.Below(draw, total)
	for i := range meta {
		weight := 1
		switch {
		case meta[i].Leader == NoNode:
			continue
		case byLoad:
			weight = longest + 1 - len(t.Parts[i].Queue)
		}
		if r -= weight; r < 0 {
			t.Sticky.Partition = int32(i)
			return
		}
	}
}
