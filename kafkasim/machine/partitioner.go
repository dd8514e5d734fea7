// Partitioner: which partition a record gets.
//
// The order of decision is P-10: the partition named on the record, a configured partitioner (here a
// table of keys), the key's murmur2 hash, and for what is left the sticky partition of KIP-794, which
// changes by bytes and not by records (P-16).
//
// Kafka: KafkaProducer.partition, BuiltInPartitioner, Utils.murmur2 (KIP-480, KIP-794).
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
	if r.Flags&partlog.NullKey != 0 || p.ignoresKeys() {
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

// WouldChoose is the partition that a record would get now among so many; -1 when only a send that is carried out decides it.
func (s *State) WouldChoose(c *Send, partitions int32) int32 {
	p := &s.Producers[c.Producer]
	switch n := p.choose(&c.Record, partitions); {
	case c.Partition != anyPartition:
		return c.Partition
	case n != anyPartition:
		return n
	case partitions == 1:
		return 0
	case s.changesByBatch(p) || s.takesTurns(p):
		return anyPartition
	}
	for i := range p.Topics {
		if p.Meta.Topics[i].Name == c.Topic {
			return p.Topics[i].Sticky.Partition
		}
	}
	return anyPartition
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

// switchSticky draws the next sticky partition: by load if there is one to tell them apart (P-18), else any with a
// leader, else any at all (P-17).
func (s *State) switchSticky(p *Producer, topic int32) {
	st := &p.Topics[topic].Sticky
	st.Bytes = 0
	st.Switches++
	draw := prng.Draw(s.World.Seed, drawSticky, uint64(p.Node), uint64(topic), uint64(st.Switches))
	if parts, sums := p.weights(topic); len(parts) > 0 {
		st.Partition = byWeight(parts, sums, int32(prng.Below(draw, int(sums[len(sums)-1]))))
		return
	}
	led := p.led(topic)
	st.Partition = led[prng.Below(draw, len(led))]
}
