// Partitioner, as it was before KIP-794, for records that have no partition of their own (P-22).
//
// Until 2.3 such records went round the partitions one by one, from a random start. From 2.4 on they stayed on
// one partition while its batch was open, and each new batch was the occasion for another, random one.
//
// Kafka: DefaultPartitioner, StickyPartitionCache, KafkaProducer.doSend (KIP-480).
package machine

import (
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// placeAsBefore appends a record to a partition as the older partitioners chose it.
func (s *State) placeAsBefore(p *Producer, n, at int64, t int32, r *partlog.Record, headers []partlog.Header, fields int32) Wait {
	if s.World.Rules.Without(StickyByBatch) {
		ref := PartRef{t, s.inTurn(p, t)}
		wait := s.appendTo(p, n, at, ref, r, headers, fields)
		if wait == WaitNothing {
			p.Topics[t].Sticky.Switches++
		}
		return wait
	}
	if p.Topics[t].Sticky.Partition < 0 {
		s.otherSticky(p, t)
	}
	if s.appendLast(p, n, at, PartRef{t, p.Topics[t].Sticky.Partition}, r, headers, fields) > 0 {
		return WaitNothing
	}
	s.otherSticky(p, t) // a new batch is needed: it is begun elsewhere
	return s.appendTo(p, n, at, PartRef{t, p.Topics[t].Sticky.Partition}, r, headers, fields)
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
	start := prng.Below(prng.Draw(s.World.Seed, drawSticky, uint64(p.Node), uint64(topic)), 1<<20)
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
