package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// A clone and its original share metadata until one of them changes some: whatever record comes, and whoever
// gets it, the other does not see it.
func TestImagesAreCopiedBeforeTheyChange(t *testing.T) {
	base := newImage(2)
	base.apply(&MetadataRecord{Kind: TopicRecord, Name: "a"})
	base.apply(&MetadataRecord{Kind: PartitionRecord, Partition: PartitionRegistration{Leader: 1, ELR: []NodeID{2}}})
	base.apply(&MetadataRecord{Kind: TopicRecord, Name: "b"})
	tp := TopicPartition{0, 0}
	for _, r := range []MetadataRecord{
		{Kind: RegisterBrokerRecord, Broker: BrokerRegistration{ID: 1, Epoch: 9}},
		{Kind: TopicRecord, Name: "c"},
		{Kind: PartitionRecord, TP: TopicPartition{0, 1}, Partition: PartitionRegistration{Leader: 2}},
		{Kind: PartitionRecord, TP: TopicPartition{1, 0}, Partition: PartitionRegistration{Leader: 2}},
		{Kind: PartitionChangeRecord, TP: tp, Partition: PartitionRegistration{Leader: 2, LeaderEpoch: 1}},
		{Kind: ProducerIDsRecord, NextID: 1000},
		{Kind: TopicConfigRecord, TP: tp, Props: config.Topic{MinInSyncReplicas: 7}},
		{Kind: ClearElrRecord, TP: tp},
		{Kind: RemoveTopicRecord, TP: tp},
	} {
		hash := func(im Image) uint64 {
			s := State{Committed: CommittedMetadata{Image: im}}
			return s.Hash()
		}
		parent := base.clone()
		child := parent.clone()
		grandchild := child.clone()
		was := hash(parent)
		child.apply(&r)
		if hash(parent) != was || hash(grandchild) != was {
			t.Errorf("record kind %d at a copy: its parent or its child has changed", r.Kind)
		}
		now := hash(child)
		if now == was {
			t.Errorf("record kind %d changes nothing", r.Kind)
		}
		grandchild.apply(&r)
		if hash(grandchild) != now || hash(parent) != was {
			t.Errorf("record kind %d makes of a copy's copy something else", r.Kind)
		}
		parent.apply(&r)
		if hash(parent) != now || hash(child) != now {
			t.Errorf("record kind %d makes of the original something else", r.Kind)
		}
	}
}
