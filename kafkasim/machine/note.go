package machine

import "kafkalab/kafkasim/view"

// Notes about what the controller commits and what brokers refuse.

// refused notes that a broker answers with an error.
func (s *State) refused(b *Broker, tp TopicPartition, code Code) {
	s.note(view.Change{Kind: view.Refused, Broker: int(b.ID), Partition: s.ordinal(tp), Text: code.String()})
}

// noteRecord notes what a metadata record changed; fenced is what its broker was before.
func (s *State) noteRecord(r *MetadataRecord, fenced bool) {
	switch r.Kind {
	case RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord:
		if r.Broker.Fenced != fenced {
			a := int64(0)
			if r.Broker.Fenced {
				a = 1
			}
			s.note(view.Change{Kind: view.BrokerFenced, Broker: int(r.Broker.ID), Partition: -1, A: a})
		}
	case PartitionRecord, PartitionChangeRecord:
		p := &r.Partition
		s.note(view.Change{
			Kind: view.PartitionState, Broker: -1, Partition: s.ordinal(r.TP), A: noteNode(p.Leader),
			B: int64(p.LeaderEpoch), C: int64(p.PartitionEpoch), List: nodeInts(p.ISR), List2: nodeInts(p.ELR),
		})
	}
}

// nodeInts is a list of node ids as view.Change wants it.
func nodeInts(ids []NodeID) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}
