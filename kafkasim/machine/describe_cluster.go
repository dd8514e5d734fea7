package machine

import (
	"fmt"
	"strings"
)

// Messages between brokers and the controller, and their timers, in words.

// describeCluster is what such a message says or such a timer is for; false for every other payload.
func (s *State) describeCluster(p Payload) (string, bool) {
	if text, ok := describeTimer(p); ok {
		return text, true
	}
	switch p := p.(type) {
	case BrokerRegistrationRequest:
		if p.PreviousBrokerEpoch >= 0 {
			return fmt.Sprintf("BrokerRegistration after a clean shutdown in broker epoch %d", p.PreviousBrokerEpoch), true
		}
		return "BrokerRegistration", true
	case BrokerRegistrationResponse:
		return "BrokerRegistrationResponse " + orError(p.Error, fmt.Sprintf("broker epoch %d", p.BrokerEpoch)), true
	case BrokerHeartbeatRequest:
		return "BrokerHeartbeat " + wants(&p), true
	case BrokerHeartbeatResponse:
		return "BrokerHeartbeatResponse " + orError(p.Error, heartbeatWord(&p)), true
	case MetadataFetchRequest:
		return fmt.Sprintf("MetadataFetch from %d", p.Offset), true
	case MetadataFetchResponse:
		return "MetadataFetchResponse " + s.metadataFetchWords(&p), true
	case AlterPartitionRequest:
		return "AlterPartition " + list(p.Parts, func(a AlterPart) string {
			return s.PartitionName(a.TP) + " ISR " + epochIDs(a.ISR)
		}), true
	case AlterPartitionResponse:
		if p.Error != NONE {
			return "AlterPartitionResponse " + p.Error.String(), true
		}
		return "AlterPartitionResponse " + list(p.Parts, func(a AlterResult) string {
			return s.PartitionName(a.TP) + " " + orError(a.Error, "ISR "+nodeWords(a.ISR))
		}), true
	case AllocateProducerIDsRequest:
		return "AllocateProducerIds", true
	case AllocateProducerIDsResponse:
		return "AllocateProducerIdsResponse " + orError(p.Error, fmt.Sprintf("%d to %d", p.First, p.First+p.Count-1)), true
	}
	if text, ok := s.describeCoordinator(p); ok {
		return text, true
	}
	return s.describeQuorum(p)
}

func (s *State) metadataFetchWords(p *MetadataFetchResponse) string {
	switch {
	case p.Error != NONE:
		return p.Error.String() + leaderWord(p.Leader, p.Epoch)
	case p.Diverging.Epoch >= 0:
		return fmt.Sprintf("diverges: epoch %d ends at %d", p.Diverging.Epoch, p.Diverging.Offset)
	case len(p.Records) > 0:
		return "[" + list(p.Records, s.recordText) + "]"
	}
	return "nothing new"
}

// describeTimer is what a broker's or the controller's timer is for.
func describeTimer(p Payload) (string, bool) {
	switch p := p.(type) {
	case HeartbeatTimer:
		return "time for a heartbeat", true
	case MetadataPullTimer:
		return "looks after its fetch of the metadata", true
	case FetcherTimer:
		return fmt.Sprintf("looks after its fetcher for broker %d", p.Leader), true
	case PurgatoryTimer:
		return "ends what has waited in purgatory for too long", true
	case ISRTimer:
		return "looks for followers that lag", true
	case AlterPartitionTimer:
		return "looks after its AlterPartition", true
	case CheckpointTimer:
		return "writes its high watermarks to disk", true
	case ShutdownTimer:
		return "has waited to be let go for too long", true
	case ControllerLoaded:
		return "has read ZooKeeper", true
	case SessionCheckTimer:
		return "looks for brokers that it has not heard of", true
	case MetadataFetchTimer:
		return "ends fetches of the metadata that have waited long enough", true
	case ElectionTimer:
		if p.Unclean {
			return "looks for leaderless partitions that any replica may lead", true
		}
		return "looks for leaderships to give back to preferred replicas", true
	case QuorumTimer:
		return "looks after the quorum", true
	case RequestTimer:
		return "has waited for the controller's answer for long enough", true
	case ForwardTimer:
		return "looks after the requests that it forwards", true
	}
	return "", false
}

// wants is what a heartbeat asks for.
func wants(p *BrokerHeartbeatRequest) string {
	switch {
	case p.WantShutdown:
		return "wants to shut down"
	case p.WantFence:
		return "wants to stay fenced"
	}
	return fmt.Sprintf("at metadata offset %d", p.MetadataOffset)
}

func heartbeatWord(p *BrokerHeartbeatResponse) string {
	switch {
	case p.ShouldShutDown:
		return "shut down"
	case p.IsFenced:
		return "fenced"
	}
	return "unfenced"
}

// recordText is a metadata record in words.
func (s *State) recordText(r MetadataRecord) string {
	switch r.Kind {
	case RegisterBrokerRecord:
		return fmt.Sprintf("broker %d registers", r.Broker.ID)
	case UnregisterBrokerRecord:
		return fmt.Sprintf("broker %d unregistered", r.Broker.ID)
	case BrokerRegistrationChangeRecord:
		switch {
		case r.Broker.Fenced:
			return fmt.Sprintf("broker %d fenced", r.Broker.ID)
		case r.Broker.InControlledShutdown:
			return fmt.Sprintf("broker %d in controlled shutdown", r.Broker.ID)
		}
		return fmt.Sprintf("broker %d unfenced", r.Broker.ID)
	case TopicRecord:
		return "topic " + r.Name
	case PartitionRecord, PartitionChangeRecord:
		leader := "none"
		if r.Partition.Leader != NoNode {
			leader = fmt.Sprint(r.Partition.Leader)
		}
		return fmt.Sprintf("%s leader=%s epoch=%d isr=%s", s.PartitionName(r.TP), leader, r.Partition.LeaderEpoch, nodeWords(r.Partition.ISR))
	case ProducerIDsRecord:
		return fmt.Sprintf("producer ids from %d", r.NextID)
	case LeaderChangeRecord:
		return fmt.Sprintf("controller %d leads epoch %d", r.Leader, r.Epoch)
	case RemoveTopicRecord:
		return "topic " + s.topicName(r.TP.Topic) + " deleted"
	case TopicConfigRecord:
		return "properties of " + s.topicName(r.TP.Topic)
	case ClearElrRecord:
		return "nobody eligible outside the ISR of " + s.topicName(r.TP.Topic)
	}
	return fmt.Sprintf("record of kind %d", r.Kind)
}

func epochIDs(list []BrokerEpoch) string {
	ids := make([]NodeID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return nodeWords(ids)
}

// nodeWords is a list of ids as Kafka's tools print it: 1,2,3.
func nodeWords(ids []NodeID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ",")
}
