package machine

import "slices"

// Topic creation, on the controller (R3.31).
//
// Kafka: ReplicationControlManager.createTopic.

// createTopic makes a topic; brokers learn of it with the metadata.
func (s *State) createTopic(c *Controller, m CreateTopic) Result {
	fail := func(code Code) Result { return Result{Error: code, ID: -1} }
	im := &c.Image
	if im.topic(m.Name) >= 0 {
		return fail(TOPIC_ALREADY_EXISTS)
	}
	assignment, code := s.assignment(c, &m)
	if code != NONE {
		return fail(code)
	}
	topic := int32(len(im.Topics))
	records := []MetadataRecord{{Kind: TopicRecord, TP: TopicPartition{topic, -1}, Name: m.Name, Props: m.Props, Set: m.Set}}
	if s.World.ELR && slices.Contains(m.Set, minISRName) {
		records = append(records, MetadataRecord{Kind: ClearElrRecord, TP: TopicPartition{topic, -1}}) // R3.16
	}
	partitions, ok := c.newPartitions(topic, 0, assignment)
	switch {
	case ok:
		records = append(records, partitions...)
	case m.Assignment != nil:
		return fail(INVALID_REPLICA_ASSIGNMENT)
	default:
		return fail(INVALID_REPLICATION_FACTOR)
	}
	if !InternalTopic(m.Name) { // brokers make these, without a quota
		if r := s.chargeMutations(c, len(assignment)); r.Error != NONE {
			return r
		}
	}
	s.commit(c, records)
	return Result{ID: topic}
}

// assignment is where the replicas of a new topic go: as given by hand, or as the placer says.
func (s *State) assignment(c *Controller, m *CreateTopic) ([][]NodeID, Code) {
	if m.Assignment == nil {
		return s.placeTopic(c, m)
	}
	if len(m.Assignment) == 0 {
		return nil, INVALID_PARTITIONS
	}
	for _, replicas := range m.Assignment {
		if len(replicas) == 0 || len(replicas) != len(m.Assignment[0]) {
			return nil, INVALID_REPLICA_ASSIGNMENT
		}
		for i, id := range replicas {
			if id < 1 || int(id) > len(s.Brokers) || c.Image.broker(id).Epoch < 0 || slices.Contains(replicas[:i], id) {
				return nil, INVALID_REPLICA_ASSIGNMENT
			}
		}
	}
	assignment := make([][]NodeID, len(m.Assignment))
	for i := range assignment {
		assignment[i] = slices.Clone(m.Assignment[i])
	}
	return assignment, NONE
}

// placeTopic answers a topic without an assignment by hand: partitions ≤ 0, or -1 for num.partitions; a
// replication factor beyond the registered brokers, or -1 for default.replication.factor (R3.31).
func (s *State) placeTopic(c *Controller, m *CreateTopic) ([][]NodeID, Code) {
	partitions, factor := m.Partitions, m.ReplicationFactor
	if partitions == -1 {
		partitions = s.World.Broker.NumPartitions
	}
	if factor == -1 {
		factor = s.World.Broker.DefaultReplicationFactor
	}
	usable := s.usableBrokers(c)
	switch {
	case partitions <= 0:
		return nil, INVALID_PARTITIONS
	case factor <= 0 || int(factor) > len(usable):
		return nil, INVALID_REPLICATION_FACTOR
	}
	return s.placeStriped(usable, uint64(len(c.Image.Topics)), int(partitions), int(factor))
}

// CreateTopic travels to the controller as it is.
func (CreateTopic) payload() {}
