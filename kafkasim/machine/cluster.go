package machine

import "kafkalab/kafkasim/view"

// The cluster as a whole: how a world begins, and what a user may do to brokers and topics.

// startCluster registers and unfences every broker in the metadata log, lets every broker have read it, and
// starts the timers. Heartbeats have phases of their own, spread over the interval, so that no two brokers
// do everything at the same microsecond; all other timers start at 0, as in processes started together.
func (s *State) startCluster() {
	w := &s.World
	first := s.startQuorum()
	s.Brokers = make([]Broker, w.Brokers)
	records := []MetadataRecord{{Kind: LeaderChangeRecord, Leader: first.ID}}
	for i := range s.Brokers {
		id := NodeID(i + 1)
		reg := BrokerRegistration{ID: id, Dirs: s.newDirs(), Epoch: int64(len(records)), Incarnation: 1, Fenced: true}
		records = append(records, MetadataRecord{Kind: RegisterBrokerRecord, Broker: reg})
		reg.Fenced = false
		records = append(records, MetadataRecord{Kind: BrokerRegistrationChangeRecord, Broker: reg})
	}
	for i := range s.Brokers {
		s.note(view.Change{Kind: view.BrokerState, Broker: i + 1, Partition: -1, Text: Running.String()})
	}
	s.commit(first, records)
	s.shareQuorumLog()
	for i := range s.Brokers {
		s.startedBroker(NodeID(i + 1))
	}
	s.startPeriodic(first)
	s.startFetching()
}

// startedBroker makes a broker that has been running since before the world began.
func (s *State) startedBroker(id NodeID) {
	w := &s.World.Broker
	b := s.broker(id)
	*b = Broker{ID: id, Incarnation: 1, Process: Running, CleanEpoch: -1, Image: s.Metadata().clone()}
	for _, d := range b.Image.broker(id).Dirs {
		b.Dirs = append(b.Dirs, LogDir{ID: d})
	}
	b.Lifecycle = Lifecycle{Epoch: b.Image.broker(id).Epoch, PreviousEpoch: -1}
	first := &s.Controllers[0]
	*first.session(id) = BrokerSession{MetadataOffset: b.Image.Offset, ShutdownOffset: -1}
	b.Pull = MetadataPull{Leader: first.ID, Epoch: first.Quorum.Epoch, Links: make([]RaftLink, len(s.Controllers))}
	for _, ch := range b.controllerChannels() {
		ch.Peer = first.ID
	}
	s.talkAt(b, w.BrokerHeartbeatIntervalMs*1000*int64(id)/int64(s.World.Brokers+1))
	s.after(w.ReplicaLagTimeMaxMs*1000/2, id, ISRTimer{})
	s.after(w.ReplicaHighWatermarkCheckpointMs*1000, id, CheckpointTimer{})
	s.startFlushing(b)
	s.startChores(b)
	s.pullMetadata(b)
}

// applyCluster carries out what a user does to brokers and topics.
func (s *State) applyCluster(c Command) Result {
	switch c := c.(type) {
	case CreateTopic:
		return s.admin(c)
	case ElectLeaders:
		return s.admin(c)
	case AddPartitions:
		return s.admin(c)
	case AlterTopic:
		return s.admin(c)
	case DeleteTopic:
		return s.admin(c)
	case Reassign:
		return s.admin(c)
	case UnregisterBroker:
		return s.admin(c)
	case AlterQuota:
		return s.admin(c)
	case CrashController, StartController, PauseController, ResumeController:
		return s.applyController(c)
	case AbortTransaction:
		return s.abortTransaction(c)
	case DeleteRecords:
		return s.deleteRecords(c)
	case AdministerGroup:
		return s.administerGroup(c)
	}
	return s.applyBroker(c)
}
