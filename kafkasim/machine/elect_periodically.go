package machine

// Elections that the controller holds by itself, by the clock (R3.23, R3.24).
//
// Kafka: ReplicationControlManager.maybeBalancePartitionLeaders, maybeElectUncleanLeaders, PeriodicTask.

// rebalanceLimit is how many leaderships one run gives back at most
// (ReplicationControlManager.MAX_ELECTIONS_PER_IMBALANCE).
const rebalanceLimit = 1000

// ElectionTimer lets the controller look for leaderships to give back to the preferred replicas, or, with
// Unclean, for leaderless partitions that any replica may lead.
type ElectionTimer struct {
	Unclean bool
	Epoch   int32 // in which the controller is active
}

func (ElectionTimer) payload() {}

// electionInterval is how often that is, µs; 0 for never.
func (s *State) electionInterval(t ElectionTimer) int64 {
	switch {
	case t.Unclean:
		return s.World.Broker.UncleanLeaderElectionIntervalMs * 1000
	case s.World.Broker.AutoLeaderRebalance:
		return s.World.Broker.LeaderImbalanceCheckSeconds * 1_000_000
	}
	return 0
}

// startElections starts the two clocks.
func (s *State) startElections(c *Controller) {
	for _, t := range []ElectionTimer{{Epoch: c.Quorum.Epoch}, {Unclean: true, Epoch: c.Quorum.Epoch}} {
		if every := s.electionInterval(t); every > 0 {
			s.after(every, c.ID, t)
		}
	}
}

// onElectionTimer holds the elections that are due. A preferred election moves a leadership only when the
// preferred replica is in the ISR and active (R3.23).
func (s *State) onElectionTimer(c *Controller, t ElectionTimer) {
	im := &c.Image
	var records []MetadataRecord
	for _, tp := range im.all() {
		reg, election := im.partition(tp), PreferredElection
		if t.Unclean {
			election = UncleanElection
			if reg.Leader != NoNode || !im.Topics[tp.Topic].Props.UncleanLeaderElectionEnable {
				continue
			}
		} else if reg.Leader == reg.Replicas[0] || len(records) == rebalanceLimit {
			continue
		}
		change := s.change(c, tp)
		change.election = election
		if next, changed := change.build(); changed && next.Leader != reg.Leader {
			records = append(records, MetadataRecord{Kind: PartitionChangeRecord, TP: tp, Partition: next})
		}
	}
	s.commit(c, records)
	s.after(s.electionInterval(t), c.ID, t)
}
