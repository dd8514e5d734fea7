package machine

import "slices"

// Topic creation, on the controller (R3.31).
//
// Kafka: ReplicationControlManager.createTopic.

// createTopic makes a topic. The answer is known at once; brokers learn of it with the metadata.
func (s *State) createTopic(c CreateTopic) Result {
	fail := func(code Code) Result { return Result{Error: code, ID: -1} }
	im := &s.Controller.Image
	if im.topic(c.Name) >= 0 {
		return fail(TOPIC_ALREADY_EXISTS)
	}
	assignment, code := s.assignment(&c)
	if code != NONE {
		return fail(code)
	}
	topic := int32(len(im.Topics))
	records := []MetadataRecord{{Kind: TopicRecord, TP: TopicPartition{topic, -1}, Name: c.Name, Props: c.Props, Set: c.Set}}
	if s.World.ELR && slices.Contains(c.Set, minISRName) {
		records = append(records, MetadataRecord{Kind: ClearElrRecord, TP: TopicPartition{topic, -1}}) // R3.16
	}
	partitions, ok := s.newPartitions(topic, 0, assignment)
	switch {
	case ok:
		records = append(records, partitions...)
	case c.Assignment != nil:
		return fail(INVALID_REPLICA_ASSIGNMENT)
	default:
		return fail(INVALID_REPLICATION_FACTOR)
	}
	s.TopicBase = append(s.TopicBase, int32(len(s.Truth.Partitions)))
	s.Truth.Partitions = append(s.Truth.Partitions, make([]PartitionTruth, len(assignment))...)
	s.commit(records)
	return Result{ID: topic}
}

// assignment is where the replicas of a new topic go: as given by hand, or as the placer says.
func (s *State) assignment(c *CreateTopic) ([][]NodeID, Code) {
	if c.Assignment == nil {
		return s.placeTopic(c)
	}
	if len(c.Assignment) == 0 {
		return nil, INVALID_PARTITIONS
	}
	for _, replicas := range c.Assignment {
		if len(replicas) == 0 || len(replicas) != len(c.Assignment[0]) {
			return nil, INVALID_REPLICA_ASSIGNMENT
		}
		for i, id := range replicas {
			if id < 1 || int(id) > len(s.Brokers) || s.Controller.Image.broker(id).Epoch < 0 || slices.Contains(replicas[:i], id) {
				return nil, INVALID_REPLICA_ASSIGNMENT
			}
		}
	}
	assignment := make([][]NodeID, len(c.Assignment))
	for i := range assignment {
		assignment[i] = slices.Clone(c.Assignment[i])
	}
	return assignment, NONE
}

// placeTopic answers a topic without an assignment by hand: partitions ≤ 0, or -1 for num.partitions; a
// replication factor beyond the registered brokers, or -1 for default.replication.factor (R3.31).
func (s *State) placeTopic(c *CreateTopic) ([][]NodeID, Code) {
	partitions, factor := c.Partitions, c.ReplicationFactor
	if partitions == -1 {
		partitions = s.World.Broker.NumPartitions
	}
	if factor == -1 {
		factor = s.World.Broker.DefaultReplicationFactor
	}
	usable := s.usableBrokers()
	switch {
	case partitions <= 0:
		return nil, INVALID_PARTITIONS
	case factor <= 0 || int(factor) > len(usable):
		return nil, INVALID_REPLICATION_FACTOR
	}
	return s.placeStriped(usable, uint64(len(s.Controller.Image.Topics)), int(partitions), int(factor))
}
