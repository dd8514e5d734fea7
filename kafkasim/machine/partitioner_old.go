// Partitioner, as it was before KIP-794, for records that have no partition of their own (P-22).
//
// Until 2.3 such records went round the partitions one by one, from a random start. From 2.4 on they stayed on
// one partition while its batch was open, and each new batch was the occasion for another, random one.
//
// Kafka: DefaultPartitioner, UniformStickyPartitioner, StickyPartitionCache, RoundRobinPartitioner,
// KafkaProducer.doSend (KIP-480).
package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// changesByBatch tells whether each new batch is the occasion for another sticky partition (KIP-480).
func (s *State) changesByBatch(p *Producer) bool {
	switch p.Config.Partitioner {
	case config.PartitionerUniformSticky, config.PartitionerDefault:
		return true
	case config.PartitionerBuiltIn:
		return s.World.Rules.Without(StickyByBytes) && s.World.Rules.On(StickyByBatch)
	}
	return false
}

// takesTurns tells whether records go round the partitions one by one.
func (s *State) takesTurns(p *Producer) bool {
	return p.Config.Partitioner == config.PartitionerRoundRobin || s.World.Rules.Without(StickyByBytes)
}

// ignoresKeys tells whether the producer's partitioner is a class that does not look at keys.
func (p *Producer) ignoresKeys() bool {
	return p.Config.Partitioner == config.PartitionerRoundRobin || p.Config.Partitioner == config.PartitionerUniformSticky
}

// placeInTurn gives a record to the next partition (P-22, P-23). A turn counts when the record is in.
func (s *State) placeInTurn(p *Producer, n, at int64, t int32, r *partlog.Record, headers []partlog.Header, fields int32) Wait {
	wait := s.appendTo(p, n, at, PartRef{t, s.inTurn(p, t)}, r, headers, fields)
	if wait == WaitNothing {
		p.Topics[t].Sticky.Switches++
	}
	return wait
}

// placeByBatch gives a record to its partition, or to the sticky one. A new batch there, whoever needs it, moves the
// sticky partition (DefaultPartitioner.onNewBatch).
func (s *State) placeByBatch(p *Producer, n, at int64, ref PartRef, r *partlog.Record, headers []partlog.Header, fields int32) Wait {
	st := &p.Topics[ref.Topic].Sticky
	sticky := ref.Partition == anyPartition
	if sticky {
		if st.Partition < 0 {
			s.otherSticky(p, ref.Topic)
		}
		ref.Partition = st.Partition
	}
	if s.appendLast(p, n, at, ref, r, headers, fields) > 0 {
		return WaitNothing
	}
	if p.Blocked.For != WaitMemory && (st.Partition < 0 || st.Partition == ref.Partition) {
		s.otherSticky(p, ref.Topic)
	}
	if sticky {
		ref.Partition = st.Partition
	}
	return s.appendTo(p, n, at, ref, r, headers, fields)
}

// appendTo appends to a partition's last batch, or to a new one.
func (s *State) appendTo(p *Producer, n, at int64, ref PartRef, r *partlog.Record, headers []partlog.Header, fields int32) Wait {
	if s.appendLast(p, n, at, ref, r, headers, fields) > 0 {
		return WaitNothing
	}
	_, wait := s.appendNew(p, n, at, ref, r, headers, fields)
	return wait
}

// led lists a topic's partitions that have a leader; all of them when none has.
func (p *Producer) led(topic int32) []int32 {
	meta := p.Meta.Topics[topic].Parts
	list := make([]int32, 0, len(meta))
	for i := range meta {
		if meta[i].Leader != NoNode {
			list = append(list, int32(i))
		}
	}
	if len(list) == 0 {
		for i := range meta {
			list = append(list, int32(i))
		}
	}
	return list
}

// inTurn is the next partition of the round.
func (s *State) inTurn(p *Producer, topic int32) int32 {
	led := p.led(topic)
	start := 0
	if p.Config.Partitioner != config.PartitionerRoundRobin {
		start = prng.Below(prng.Draw(s.World.Seed, drawSticky, uint64(p.Node), uint64(topic)), 1<<20)
	}
	return led[(start+int(p.Topics[topic].Sticky.Switches))%len(led)]
}

// otherSticky draws another sticky partition than the present one.
func (s *State) otherSticky(p *Producer, topic int32) {
	st := &p.Topics[topic].Sticky
	led := p.led(topic)
	if len(led) > 1 {
		kept := led[:0]
		for _, x := range led {
			if x != st.Partition {
				kept = append(kept, x)
			}
		}
		led = kept
	}
	st.Switches++
	st.Partition = led[prng.Below(prng.Draw(s.World.Seed, drawSticky, uint64(p.Node), uint64(topic), uint64(st.Switches)), len(led))]
}
