package kafkasim

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Views of what lies below the logs and the producers: segments, batches, metadata records.

func viewSegments(l *partlog.Log) []view.Segment {
	out := make([]view.Segment, 0, len(l.Sealed)+1)
	add := func(s *partlog.Segment, next int64, active bool) {
		v := view.Segment{BaseOffset: s.BaseOffset, NextOffset: next, Bytes: s.Size, Active: active}
		for b := range s.Batches.All() {
			v.Records += b.Records.Live()
		}
		if v.Records > 0 {
			v.MaxTimestamp = s.MaxTimestamp
		}
		out = append(out, v)
	}
	for i := range l.Sealed {
		next := l.Active.BaseOffset
		if i+1 < len(l.Sealed) {
			next = l.Sealed[i+1].BaseOffset
		}
		add(&l.Sealed[i], next, false)
	}
	add(&l.Active, l.End, true)
	return out
}

// viewBatches are a producer's batches that are not decided, by partition, the oldest first.
func (c *Cluster) viewBatches(p *machine.Producer) []view.ProducerBatch {
	var out []view.ProducerBatch
	brokers := map[int32]int{}
	for i := range p.Conns {
		for _, r := range p.Conns[i].InFlight {
			for _, slot := range r.Batches {
				brokers[slot] = int(p.Conns[i].Broker)
			}
		}
	}
	for slot := range p.Live {
		b := &p.Live[slot]
		state, undecided := p.Place(int32(slot))
		if !undecided {
			continue
		}
		v := view.ProducerBatch{Topic: p.Meta.Topics[b.Ref.Topic].Name, Partition: int(b.Ref.Partition), State: state, Broker: -1,
			Records: viewRecords(&b.Batch, b.Batch.BaseOffset), Bytes: int(b.Batch.Size), Limit: int(b.Limit), Created: b.Created,
			Attempts: int(b.Attempts), Sequence: int(b.Batch.BaseSequence)}
		if broker, ok := brokers[int32(slot)]; ok && state == view.BatchInFlight {
			v.Broker = broker
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b view.ProducerBatch) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Created, b.Created), cmp.Compare(a.Sequence, b.Sequence))
	})
	return out
}

func viewLimits(p *machine.Producer) view.ProducerLimits {
	conf := &p.Config
	return view.ProducerLimits{BatchSize: int(conf.BatchSize), LingerMs: conf.LingerMs, MaxInFlight: int(conf.MaxInFlight), BufferMemory: conf.BufferMemory,
		BufferUsed: p.Memory, IsIdempotent: conf.EnableIdempotence, BatchRecords: int(conf.BatchRecords)}
}

// metadataShown is how many of the newest metadata records a view holds.
const metadataShown = 64

func viewMetadata(x *machine.Controller) []view.MetadataRecord {
	var out []view.MetadataRecord
	for i := max(0, len(x.Log)-metadataShown); i < len(x.Log); i++ {
		out = append(out, view.MetadataRecord{Offset: int64(i), Epoch: int(x.Log[i].Epoch), Kind: x.Log[i].Kind.String()})
	}
	return out
}

// viewCuts are the links that are cut; one that is cut both ways is told once.
func (c *Cluster) viewCuts() []view.Cut {
	var out []view.Cut
	for i := range c.s.Links {
		l := &c.s.Links[i]
		if !l.Cut {
			continue
		}
		both := c.cut(l.To, l.From)
		if both && l.To < l.From {
			continue
		}
		cut := view.Cut{From: c.s.NodeName(l.From), To: c.s.NodeName(l.To), BothWays: both, Waiting: len(l.Held)}
		for j := range c.s.Links {
			if back := &c.s.Links[j]; both && back.From == l.To && back.To == l.From {
				cut.Waiting += len(back.Held)
			}
		}
		out = append(out, cut)
	}
	return out
}
