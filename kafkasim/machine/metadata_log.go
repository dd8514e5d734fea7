package machine

// The metadata log and the image that it builds.
//
// __cluster_metadata is a log of records; whoever reads it up to an offset has the image of the cluster as
// of that offset. The controller appends, brokers pull and apply, each at its own pace (R3.28), so two
// brokers may believe in different leaders at one moment, and both are right about the past.
//
// Kafka: MetadataImage, MetadataDelta, the records of metadata/src/main/resources. Simplified: a
// PartitionChangeRecord carries the whole new registration.

import (
	"slices"

	"kafkalab/kafkasim/config"
)

// MetadataKind is the type of a metadata record.
type MetadataKind uint8

// The kinds of metadata record.
const (
	RegisterBrokerRecord MetadataKind = iota + 1
	BrokerRegistrationChangeRecord
	TopicRecord // with its properties
	PartitionRecord
	PartitionChangeRecord
	ProducerIDsRecord
	TopicConfigRecord // the topic's properties from now on
	RemoveTopicRecord
	ClearElrRecord     // forgets the eligible leader replicas of a topic (R3.16)
	LeaderChangeRecord // the first of a leader's epoch
	UnregisterBrokerRecord
	QuotaRecord // a client's or a broker's quota from now on
)

// MetadataRecord is one record of the metadata log; its offset is its index. Records are immutable.
type MetadataRecord struct {
	Kind      MetadataKind
	Broker    BrokerRegistration // RegisterBroker, BrokerRegistrationChange and UnregisterBroker
	TP        TopicPartition     // Partition, PartitionChange; Topic names the topic alone
	Name      string             // Topic
	Props     config.Topic       // Topic, TopicConfig
	Set       []string           // Topic, TopicConfig: the properties that the topic itself sets, by name
	Partition PartitionRegistration
	NextID    int64 // ProducerIDs: the first id of the next block
	Quota     Quota
	Leader    NodeID // LeaderChange: who began to lead the quorum
	Epoch     int32  // of the quorum, in which the record was appended
	Unheard   Unheard
}

// BrokerRegistration is one broker as the metadata log has it (Kafka's BrokerRegistration).
type BrokerRegistration struct {
	ID                   NodeID
	Epoch                int64 // offset of the registration record; -1 for none
	Incarnation          uint32
	Fenced               bool
	InControlledShutdown bool
	Dirs                 []DirID // its log directories that are online (KIP-858); immutable
}

// active tells whether the broker may lead: registered, unfenced, not in controlled shutdown.
func (b *BrokerRegistration) active() bool {
	return b.Epoch >= 0 && !b.Fenced && !b.InControlledShutdown
}

// PartitionRegistration is one partition as the metadata log has it. Its slices are immutable: a change
// makes new ones.
type PartitionRegistration struct {
	Replicas       []NodeID // in assignment order; the first is the preferred leader
	ISR            []NodeID
	ELR            []NodeID // KIP-966
	LastKnownELR   []NodeID
	Adding         []NodeID // by a reassignment that is under way (KIP-455)
	Removing       []NodeID
	Dirs           []DirID // the log directory of each replica, as far as the controller knows (KIP-858)
	Leader         NodeID  // NoNode for none
	LeaderEpoch    int32
	PartitionEpoch int32
	Recovering     bool // leaderRecoveryState (KIP-704)
}

// TopicImage is a topic in an image.
type TopicImage struct {
	Name       string
	Props      config.Topic
	Set        []string // the properties that the topic itself sets, by name; immutable
	Partitions []PartitionRegistration
	Deleted    bool
	Gone       []PartitionRegistration // of a deleted topic: what its partitions were; immutable
	Shared     Shared                  // Partitions may be another image's too
}

// Shared says that what is beside it may belong to another copy as well, so that whoever changes it makes its
// own first. It is no part of what a world is, and does not count in its hash.
type Shared bool

// Image is the cluster as of an offset of the metadata log.
type Image struct {
	Offset  int64                // records applied
	Epoch   int32                // of the last of them
	Brokers []BrokerRegistration // by id, from 1
	Topics  []TopicImage         // by creation
	Quotas  []Quota              // by their first record; immutable
	NextID  int64                // first producer id of the next block
	Unheard UnheardChanges
	// Uncapped is the older rule for the minimum ISR (CappedMinISR): the property counts as it is.
	Uncapped bool
	Shared   Shared // Brokers and Topics may be another image's too
}

// newImage is the image of the empty log.
func newImage(brokers int32) Image {
	im := Image{Brokers: make([]BrokerRegistration, brokers)}
	for i := range im.Brokers {
		im.Brokers[i] = unregistered(NodeID(i + 1))
	}
	return im
}

// apply adds the next record to the image.
func (im *Image) apply(r *MetadataRecord) {
	switch r.Kind {
	case RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord:
		im.own()
		im.Brokers[r.Broker.ID-1] = r.Broker
	case TopicRecord:
		im.own()
		im.Topics = append(im.Topics, TopicImage{Name: r.Name, Props: r.Props, Set: r.Set})
	case PartitionRecord:
		t := im.ownTopic(r.TP.Topic)
		t.Partitions = append(t.Partitions, r.Partition)
	case PartitionChangeRecord:
		im.ownTopic(r.TP.Topic).Partitions[r.TP.Partition] = r.Partition
	case ProducerIDsRecord:
		im.NextID = r.NextID
	case TopicConfigRecord:
		im.own()
		im.Topics[r.TP.Topic].Props, im.Topics[r.TP.Topic].Set = r.Props, r.Set
	case RemoveTopicRecord:
		im.own()
		t := &im.Topics[r.TP.Topic]
		t.Deleted, t.Gone, t.Partitions = true, t.Partitions, nil
	case ClearElrRecord:
		im.clearELR(r.TP.Topic)
	case QuotaRecord:
		im.setQuota(r.Quota)
	case LeaderChangeRecord:
	}
	im.Offset++
	im.Epoch = r.Epoch
}

// clearELR forgets the eligible leaders of a topic: one more partition epoch for each partition that had
// any (R3.16, R3.10).
func (im *Image) clearELR(topic int32) {
	t := im.ownTopic(topic)
	for i := range t.Partitions {
		if p := &t.Partitions[i]; len(p.ELR) > 0 || len(p.LastKnownELR) > 0 {
			p.ELR, p.LastKnownELR = nil, nil
			p.PartitionEpoch++
		}
	}
}

// broker is the registration of a broker; id must be one of the world's brokers.
func (im *Image) broker(id NodeID) *BrokerRegistration { return &im.Brokers[id-1] }

// partition finds a partition; nil when the image does not have it.
func (im *Image) partition(tp TopicPartition) *PartitionRegistration {
	if tp.Topic < 0 || int(tp.Topic) >= len(im.Topics) {
		return nil
	}
	ps := im.Topics[tp.Topic].Partitions
	if tp.Partition < 0 || int(tp.Partition) >= len(ps) {
		return nil
	}
	return &ps[tp.Partition]
}

// topic finds a topic by name: its index, -1 when the image does not have it.
func (im *Image) topic(name string) int32 {
	for i := range im.Topics {
		if im.Topics[i].Name == name && !im.Topics[i].Deleted {
			return int32(i)
		}
	}
	return -1
}

// effectiveMinISR is eff(minISR) of R1.9: a minimum above the number of replicas could never be met. Before
// 3.7 it was not, and every acks=all was refused.
func (im *Image) effectiveMinISR(tp TopicPartition) int {
	t := &im.Topics[tp.Topic]
	if im.Uncapped {
		return int(t.Props.MinInSyncReplicas)
	}
	return min(int(t.Props.MinInSyncReplicas), len(t.Partitions[tp.Partition].Replicas))
}

// clone is a copy that lives on by itself. What both hold is copied by whoever changes it first: a world's copies
// are many and its metadata seldom change. Only an image that nobody has cloned yet is written by it, so that
// several goroutines may clone what is a clone already.
func (im *Image) clone() Image {
	if !im.Shared {
		im.Shared = true
	}
	return *im
}

// own makes sure that Brokers and Topics are this image's alone.
func (im *Image) own() {
	if !im.Shared {
		return
	}
	im.Shared = false
	im.Brokers, im.Topics = slices.Clone(im.Brokers), slices.Clone(im.Topics)
	for i := range im.Topics {
		im.Topics[i].Shared = true
	}
}

// ownTopic is a topic whose partitions are this image's alone.
func (im *Image) ownTopic(topic int32) *TopicImage {
	im.own()
	t := &im.Topics[topic]
	if t.Shared {
		t.Shared = false
		t.Partitions = slices.Clone(t.Partitions)
	}
	return t
}
