package machine

import "slices"

// AlterPartition, on the controller: a leader proposes an ISR.
//
// Kafka: ReplicationControlManager.alterPartition, validateAlterPartitionData, ineligibleReplicasForIsr.
// KIP-497, KIP-841, KIP-903.

// onAlterPartition answers each proposal, in the order of R2.21; what is granted is one batch of records.
func (s *State) onAlterPartition(c *Controller, e Event, m AlterPartitionRequest) {
	if reg := c.Image.broker(m.Broker); reg.Epoch != m.BrokerEpoch {
		s.replyAsController(c, e, AlterPartitionResponse{Error: STALE_BROKER_EPOCH})
		return
	}
	res := AlterPartitionResponse{Parts: make([]AlterResult, len(m.Parts))}
	var records []MetadataRecord
	for i := range m.Parts {
		p := &m.Parts[i]
		r := &res.Parts[i]
		*r = AlterResult{TP: p.TP, Error: s.validateAlter(c, m.Broker, p), Leader: NoNode, LeaderEpoch: -1, PartitionEpoch: -1}
		if r.Error != NONE {
			continue
		}
		change := s.change(c, p.TP)
		change.isr = make([]NodeID, 0, len(p.ISR))
		for _, x := range p.ISR {
			change.isr = append(change.isr, x.ID)
		}
		change.recovered, change.byLeader = !p.Recovering, true
		next, changed := change.build()
		if changed {
			records = append(records, MetadataRecord{Kind: PartitionChangeRecord, TP: p.TP, Partition: next})
		}
		if next.Leader != m.Broker {
			r.Error = NEW_LEADER_ELECTED // the change completes a reassignment that takes the leader away (R2.22)
		}
		r.Leader, r.LeaderEpoch, r.PartitionEpoch, r.ISR = next.Leader, next.LeaderEpoch, next.PartitionEpoch, next.ISR
	}
	s.commit(c, records)
	s.replyAsController(c, e, res)
}

// validateAlter is R2.21. Every member of the new ISR is checked, not only the added one: a leader with old
// metadata must not bring back a broker that has gone or begun a new life.
func (s *State) validateAlter(c *Controller, sender NodeID, p *AlterPart) Code {
	im := &c.Image
	if p.TP.Topic < 0 || int(p.TP.Topic) >= len(im.Topics) {
		return UNKNOWN_TOPIC_ID
	}
	reg := im.partition(p.TP)
	switch {
	case reg == nil:
		return UNKNOWN_TOPIC_OR_PARTITION
	case p.LeaderEpoch > reg.LeaderEpoch || p.PartitionEpoch > reg.PartitionEpoch:
		return NOT_CONTROLLER // the leader knows more than this controller
	case p.LeaderEpoch < reg.LeaderEpoch && !s.mutant(AlterIgnoresLeaderEpoch):
		return FENCED_LEADER_EPOCH
	case reg.Leader != sender:
		return INVALID_REQUEST
	case p.PartitionEpoch < reg.PartitionEpoch && !s.mutant(AlterIgnoresPartitionEpoch):
		return INVALID_UPDATE_VERSION
	case !validISR(reg, p.ISR):
		return INVALID_REQUEST
	case p.Recovering && (len(p.ISR) > 1 || !reg.Recovering):
		return INVALID_REQUEST
	}
	for _, x := range p.ISR {
		b := im.broker(x.ID)
		if !b.active() && s.World.Rules.On(FencedStayOut) && !s.mutant(AlterTakesFenced) ||
			x.Epoch != -1 && x.Epoch != b.Epoch && !s.mutant(AlterIgnoresBrokerEpoch) {
			return INELIGIBLE_REPLICA
		}
	}
	return NONE
}

// validISR tells whether a proposed ISR is a subset of the replicas, without duplicates, with the leader.
func validISR(reg *PartitionRegistration, isr []BrokerEpoch) bool {
	leader := false
	for i, x := range isr {
		if !slices.Contains(reg.Replicas, x.ID) || slices.ContainsFunc(isr[:i], func(y BrokerEpoch) bool { return y.ID == x.ID }) {
			return false
		}
		leader = leader || x.ID == reg.Leader
	}
	return leader
}
