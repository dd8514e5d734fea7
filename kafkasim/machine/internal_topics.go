package machine

import "kafkalab/kafkasim/config"

// Internal topics: where coordinators keep their state.
//
// Nobody makes them by hand. The first broker that is asked for a coordinator, and finds no topic, asks the
// controller to make it, with a number of partitions, replicas and properties of its own; whoever asked is told
// COORDINATOR_NOT_AVAILABLE meanwhile, and asks again (G-115). With fewer brokers than replicas the controller
// refuses each time, and clients wait for ever.
//
// Kafka: DefaultAutoTopicCreationManager, TransactionStateManager.transactionTopicConfigs,
// GroupCoordinatorService.groupMetadataTopicConfigs. Simplified: the request to the controller shares the
// broker's queue with those of administrators.

// The internal topics by name.
const (
	TransactionStateTopic = "__transaction_state"
	ConsumerOffsetsTopic  = "__consumer_offsets"
	ShareGroupStateTopic  = "__share_group_state"
)

// InternalTopic tells whether a topic is one of Kafka's own.
func InternalTopic(name string) bool {
	return name == TransactionStateTopic || name == ConsumerOffsetsTopic || name == ShareGroupStateTopic
}

// nobodysRequest is the number of a forwarded request that no administrator waits for.
const nobodysRequest = -1

// internalTopic is the request that makes an internal topic.
func (s *State) internalTopic(name string) CreateTopic {
	w := &s.World.Broker
	how, props := w.OffsetsTopic, w.Topic
	set := []string{"cleanup.policy", "segment.bytes"}
	if name == TransactionStateTopic {
		how = w.Transactions.Log
		props.UncleanLeaderElectionEnable = false
		props.MinInSyncReplicas = how.MinISR
		set = []string{"cleanup.policy", minISRName, "segment.bytes", "unclean.leader.election.enable"}
	}
	props.CleanupPolicy = config.CleanupCompact
	if name == ShareGroupStateTopic {
		how = w.Share.StateTopic
		props.MinInSyncReplicas, props.CleanupPolicy, props.RetentionMs = how.MinISR, config.CleanupDelete, -1
		set = []string{"cleanup.policy", minISRName, "retention.ms", "segment.bytes"}
	}
	props.SegmentBytes = how.SegmentBytes
	return CreateTopic{Name: name, Partitions: how.Partitions, ReplicationFactor: how.ReplicationFactor, Props: props, Set: set}
}

// makeInternalTopic asks the controller for an internal topic, unless this broker has asked already.
func (s *State) makeInternalTopic(b *Broker, name string) {
	f := &b.Forward
	for i := range f.Queue {
		if c, ok := f.Queue[i].Event.Payload.(CreateTopic); ok && c.Name == name {
			return
		}
	}
	f.Queue = append(f.Queue, Forwarded{nobodysRequest, s.Now + forwardTimeout, Event{Payload: s.internalTopic(name)}})
	s.forward(b)
}
