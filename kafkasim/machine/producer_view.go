package machine

import "kafkalab/kafkasim/view"

// What views tell of a producer's batches and of metadata records.

// Place tells where the batch of a slot of Live is; false when it is decided or the slot is free.
func (p *Producer) Place(slot int32) (view.BatchState, bool) {
	b := &p.Live[slot]
	switch {
	case b.Status == batchInFlight:
		return view.BatchInFlight, true
	case b.Status != batchQueued:
		return 0, false
	case b.Retry || b.Attempts > 0:
		return view.BatchRetry, true
	case b.full(p):
		return view.BatchReady, true
	}
	return view.BatchFilling, true
}

// String is Kafka's name of the record type.
func (k MetadataKind) String() string {
	names := [...]string{"", "RegisterBrokerRecord", "BrokerRegistrationChangeRecord", "TopicRecord", "PartitionRecord", "PartitionChangeRecord",
		"ProducerIdsRecord", "ConfigRecord", "RemoveTopicRecord", "ClearElrRecord", "LeaderChangeMessage"}
	if int(k) < len(names) && k > 0 {
		return names[k]
	}
	return "NoOpRecord"
}
