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

// electLeader carries out an election; a manual unclean one ignores the topic's properties.
func (s *State) electLeader(c ElectLeaders) Result {
	answer := func(code Code) Result { return Result{Error: code, ID: -1} }
	reg := s.Controller.Image.partition(c.TP)
	switch {
	case reg == nil:
		return answer(UNKNOWN_TOPIC_OR_PARTITION)
	case c.Unclean && reg.Leader != NoNode, !c.Unclean && reg.Leader == reg.Replicas[0]:
		return answer(ELECTION_NOT_NEEDED)
	}
	change := s.change(c.TP)
	change.election = PreferredElection
	if c.Unclean {
		change.election = UncleanElection
	}
	next, changed := change.build()
	switch {
	case c.Unclean && (!changed || next.Leader == NoNode):
		return answer(ELIGIBLE_LEADERS_NOT_AVAILABLE)
	case !c.Unclean && (!changed || next.Leader != reg.Replicas[0]):
		return answer(PREFERRED_LEADER_NOT_AVAILABLE)
	}
	if c.Unclean {
		s.Truth.partition(s, c.TP).Asked = true
	}
	s.commit([]MetadataRecord{{Kind: PartitionChangeRecord, TP: c.TP, Partition: next}})
	return answer(NONE)
}
