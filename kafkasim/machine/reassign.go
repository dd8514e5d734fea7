package machine

import "slices"

// Reassignment: a partition moves to other brokers (R3.35).
//
// The new replicas come in beside the old ones; when an ISR change has all of the target in the ISR, the
// controller drops the old ones in the same record. Until then the partition has more replicas than it is
// to keep.
//
// Kafka: ReplicationControlManager.alterPartitionReassignment, PartitionReassignmentReplicas,
// PartitionReassignmentRevert. KIP-455.

// Reassign moves a partition to other brokers, in this order, the preferred leader first; no Replicas cancel
// the reassignment that is under way.
type Reassign struct {
	TP       TopicPartition
	Replicas []NodeID
}

func (Reassign) command() {}
func (Reassign) payload() {}

// reassign begins, replaces or cancels a reassignment.
func (s *State) reassign(c *Controller, m *Reassign) Code {
	reg := c.Image.partition(m.TP)
	if reg == nil {
		return UNKNOWN_TOPIC_OR_PARTITION
	}
	change := s.change(c, m.TP)
	if len(m.Replicas) == 0 {
		if code := change.revert(); code != NONE {
			return code
		}
	} else {
		for i, id := range m.Replicas {
			if s.broker(id) == nil || c.Image.broker(id).Epoch < 0 || slices.Contains(m.Replicas[:i], id) {
				return INVALID_REPLICA_ASSIGNMENT
			}
		}
		change.retarget(m.Replicas)
	}
	if next, changed := change.build(); changed {
		s.commit(c, []MetadataRecord{{Kind: PartitionChangeRecord, TP: m.TP, Partition: next}})
	}
	return NONE
}

// retarget merges the target with what is there: the target's order first, then those that are to go, by id.
func (c *partitionChange) retarget(target []NodeID) {
	c.adding, c.removing = nil, nil
	for _, id := range target {
		if !slices.Contains(c.old.Replicas, id) {
			c.adding = append(c.adding, id)
		}
	}
	for _, id := range c.old.Replicas {
		if !slices.Contains(target, id) {
			c.removing = append(c.removing, id)
		}
	}
	slices.Sort(c.adding)
	slices.Sort(c.removing)
	c.replicas = slices.Concat(target, c.removing)
}

// revert goes back to the replicas from before the reassignment. Their order does not come back: what is left
// keeps the order of the merged list. When none of them is in the ISR any more, the topic must allow unclean
// elections: the first of them is the ISR then, alive or not, and if it is alive it leads without being marked as
// recovering (PartitionReassignmentRevert).
func (c *partitionChange) revert() Code {
	if len(c.old.Adding) == 0 && len(c.old.Removing) == 0 {
		return NO_REASSIGNMENT_IN_PROGRESS
	}
	c.replicas, c.isr = nil, nil
	for _, id := range c.old.Replicas {
		if !slices.Contains(c.old.Adding, id) {
			c.replicas = append(c.replicas, id)
		}
	}
	for _, id := range c.old.ISR {
		if !slices.Contains(c.old.Adding, id) {
			c.isr = append(c.isr, id)
		}
	}
	c.adding, c.removing = nil, nil
	if len(c.replicas) == 0 || len(c.isr) == 0 && c.election != UncleanElection {
		return INVALID_REPLICA_ASSIGNMENT
	}
	if len(c.isr) == 0 {
		c.isr = []NodeID{c.replicas[0]}
	}
	return NONE
}

// completeReassignment ends a reassignment when the target ISR, without those that are to go, has every
// replica of the target (R3.35).
func (c *partitionChange) completeReassignment() {
	if len(c.adding) == 0 && len(c.removing) == 0 {
		return
	}
	keep := func(list []NodeID) []NodeID {
		out := make([]NodeID, 0, len(list))
		for _, id := range list {
			if !slices.Contains(c.removing, id) {
				out = append(out, id)
			}
		}
		return out
	}
	replicas, isr := keep(c.replicas), keep(c.isr)
	if len(isr) == 0 || slices.ContainsFunc(replicas, func(id NodeID) bool { return !slices.Contains(isr, id) }) {
		return
	}
	c.replicas, c.isr, c.adding, c.removing = replicas, isr, nil, nil
}
