package machine

// Unregistering a broker (R3.22, kafka-cluster.sh unregister).
//
// The broker leaves its ISRs, and then the metadata forget it. It stays in the lists of replicas, and an
// eligible leader replica stays one: KIP-966 gives that place to a log, and the log is still there. A broker
// that is alive goes on replicating, but its heartbeats are refused as stale until it starts again; its new
// process counts as one after an unclean stop, because the epoch to compare with is gone.
//
// Kafka: ReplicationControlManager.unregisterBroker, handleBrokerUnregistered.

// UnregisterBroker makes the controller forget a broker.
type UnregisterBroker struct{ Broker NodeID }

func (UnregisterBroker) command() {}
func (UnregisterBroker) payload() {}

// unregisterBroker removes a registration; ZooKeeper's controllers do not know the request.
func (s *State) unregisterBroker(c *Controller, id NodeID) Code {
	switch {
	case s.World.Rules.Without(KRaft):
		return UNSUPPORTED_VERSION
	case c.Image.broker(id).Epoch < 0:
		return BROKER_ID_NOT_REGISTERED
	}
	records := s.leaderAndISRUpdates(c, removal{remove: id}, inISR(id))
	s.commit(c, append(records, MetadataRecord{Kind: UnregisterBrokerRecord, Broker: unregistered(id)}))
	return NONE
}

// unregistered is the registration of a broker that has none.
func unregistered(id NodeID) BrokerRegistration {
	return BrokerRegistration{ID: id, Epoch: -1, Fenced: true}
}
