package machine

import "sort"

// The load of partitions, by which the built-in partitioner prefers those whose brokers are faster (P-18 to P-20).
//
// Kafka: RecordAccumulator.partitionReady, BuiltInPartitioner.updatePartitionLoadStats, nextPartition (KIP-794).

// forgetLoads begins a look at all queues.
func (p *Producer) forgetLoads() {
	for _, ref := range p.Loaded {
		part := &p.Topics[ref.Topic].Parts[ref.Partition]
		part.Load, part.Away = 0, false
	}
	p.Loaded = p.Loaded[:0]
}

// noteLoad notes how many batches wait for a partition, and whether its broker has taken none for too long.
func (p *Producer) noteLoad(ref PartRef, c *Connection) {
	if !p.Config.Adaptive || c == nil {
		return
	}
	part := &p.Topics[ref.Topic].Parts[ref.Partition]
	part.Load = int32(len(part.Queue))
	limit := p.Config.AvailabilityTimeoutMs * ms
	part.Away = limit > 0 && c.ReadySince-c.DrainedAt > limit
	p.Loaded = append(p.Loaded, ref)
}

// weights are a topic's partitions that may be drawn, with the sums of their weights so far: a partition weighs the
// more the fewer batches wait for it. There are none while some partition has had no batch yet, and when
// all have the same load (P-19).
func (p *Producer) weights(topic int32) (parts, sums []int32) {
	t, meta := &p.Topics[topic], p.Meta.Topics[topic].Parts
	if !p.Config.Adaptive || len(meta) < 2 || int(t.Used) < len(meta) {
		return nil, nil
	}
	most, alike := int32(0), true
	for i := range meta {
		if part := &t.Parts[i]; meta[i].Leader != NoNode && !part.Away {
			alike = alike && (len(parts) == 0 || part.Load == t.Parts[parts[0]].Load)
			most = max(most, part.Load)
			parts = append(parts, int32(i))
		}
	}
	if alike && len(parts) == len(meta) {
		return nil, nil
	}
	sum := int32(0)
	for _, i := range parts {
		sum += most + 1 - t.Parts[i].Load
		sums = append(sums, sum)
	}
	return parts, sums
}

// byWeight is the partition whose sum is the first above r.
func byWeight(parts, sums []int32, r int32) int32 {
	return parts[sort.Search(len(sums), func(i int) bool { return sums[i] > r })]
}
