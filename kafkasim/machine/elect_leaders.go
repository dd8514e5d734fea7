package machine

// Elections that an administrator asks for (R3.25, kafka-leader-election.sh).
//
// Kafka: ReplicationControlManager.electLeader.

// ElectLeaders asks for the preferred leader of a partition, or, with Unclean, for any live replica.
type ElectLeaders struct {
	TP      TopicPartition
	Unclean bool
}

func (ElectLeaders) command() {}
func (ElectLeaders) payload() {}

// electLeader carries out an election; a manual unclean one ignores the topic's properties.
func (s *State) electLeader(c *Controller, m ElectLeaders) Result {
	answer := func(code Code) Result { return Result{Error: code, ID: -1} }
	reg := c.Image.partition(m.TP)
	switch {
	case reg == nil:
		return answer(UNKNOWN_TOPIC_OR_PARTITION)
	case m.Unclean && reg.Leader != NoNode, !m.Unclean && reg.Leader == reg.Replicas[0]:
		return answer(ELECTION_NOT_NEEDED)
	}
	change := s.change(c, m.TP)
	change.election = PreferredElection
	if m.Unclean {
		change.election = UncleanElection
	}
	next, changed := change.build()
	switch {
	case m.Unclean && (!changed || next.Leader == NoNode):
		return answer(ELIGIBLE_LEADERS_NOT_AVAILABLE)
	case !m.Unclean && (!changed || next.Leader != reg.Replicas[0]):
		return answer(PREFERRED_LEADER_NOT_AVAILABLE)
	}
	if m.Unclean && s.ordinal(m.TP) >= 0 {
		s.Truth.partition(s, m.TP).Asked = true
	}
	s.commit(c, []MetadataRecord{{Kind: PartitionChangeRecord, TP: m.TP, Partition: next}})
	return answer(NONE)
}
