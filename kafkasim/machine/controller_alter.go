package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
)

// Changes of topics that exist, on the controller: partitions, properties, deletion.
//
// Kafka: ReplicationControlManager.createPartitions, deleteTopics; ConfigurationControlManager
// (incrementalAlterConfigs, and the ClearElrRecord of KIP-966).

// AddPartitions raises the number of partitions of a topic to Total (R3.34).
type AddPartitions struct {
	Topic string
	Total int32
}

// AlterTopic replaces a topic's properties: Props are all of them, Set are the names of those that the topic
// itself sets from now on.
type AlterTopic struct {
	Topic string
	Props config.Topic
	Set   []string
}

// DeleteTopic deletes a topic with all its records.
type DeleteTopic struct{ Topic string }

func (AddPartitions) command() {}
func (AddPartitions) payload() {}
func (AlterTopic) command()    {}
func (AlterTopic) payload()    {}
func (DeleteTopic) command()   {}
func (DeleteTopic) payload()   {}

// topicNamed finds the topic that a request names, and changes it. mutations is how many partitions that makes or removes.
func (s *State) topicNamed(c *Controller, name string, mutations func(topic int32) int, change func(topic int32) Code) Result {
	t := c.Image.topic(name)
	if t < 0 {
		return Result{Error: UNKNOWN_TOPIC_OR_PARTITION, ID: -1}
	}
	if n := mutations(t); n > 0 {
		if r := s.chargeMutations(c, n); r.Error != NONE {
			return r
		}
	}
	return Result{Error: change(t), ID: -1}
}

// addPartitions is R3.34: as many replicas as the others have, placed by a fresh stripe. Old records stay
// where they are, so keys may be in two partitions from now on (P-6).
func (s *State) addPartitions(c *Controller, topic, total int32) Code {
	im := &c.Image
	first := int32(len(im.Topics[topic].Partitions))
	if total <= first {
		return INVALID_PARTITIONS
	}
	usable := s.usableBrokers(c)
	factor := len(im.Topics[topic].Partitions[0].Replicas)
	if factor > len(usable) {
		return INVALID_REPLICATION_FACTOR
	}
	assignment, code := s.placeStriped(usable, uint64(topic)|uint64(first)<<32, int(total-first), factor)
	if code != NONE {
		return code
	}
	records, ok := c.newPartitions(topic, first, assignment)
	if !ok {
		return INVALID_REPLICATION_FACTOR
	}
	s.commit(c, records)
	return NONE
}

// newPartitions are the records of new partitions: the ISR is the active replicas in replica order, the
// leader the first of them (R3.31); false when a partition would have none.
func (c *Controller) newPartitions(topic, first int32, assignment [][]NodeID) ([]MetadataRecord, bool) {
	var records []MetadataRecord
	for p, replicas := range assignment {
		isr := make([]NodeID, 0, len(replicas))
		for _, id := range replicas {
			if c.Image.broker(id).active() {
				isr = append(isr, id)
			}
		}
		if len(isr) == 0 {
			return nil, false
		}
		records = append(records, MetadataRecord{
			Kind: PartitionRecord, TP: TopicPartition{topic, first + int32(p)},
			Partition: PartitionRegistration{Replicas: replicas, ISR: isr, Leader: isr[0], Dirs: c.Image.defaultDirs(replicas)},
		})
	}
	return records, true
}

// minISRName is the property whose change makes eligible leader replicas void.
const minISRName = "min.insync.replicas"

// alterTopic writes the properties, and, with ELR, a ClearElrRecord when the minimum ISR was set where it
// was not, set to another value, or unset: who was eligible under one minimum may not be under another
// (R3.16).
func (s *State) alterTopic(c *Controller, topic int32, m *AlterTopic) Code {
	t := &c.Image.Topics[topic]
	if t.Props == m.Props && slices.Equal(t.Set, m.Set) {
		return NONE
	}
	was, is := slices.Contains(t.Set, minISRName), slices.Contains(m.Set, minISRName)
	clears := was != is || is && t.Props.MinInSyncReplicas != m.Props.MinInSyncReplicas
	records := []MetadataRecord{{Kind: TopicConfigRecord, TP: TopicPartition{topic, -1}, Props: m.Props, Set: m.Set}}
	if m.Props.MinInSyncReplicas > t.Props.MinInSyncReplicas {
		s.minISRRaised(topic)
	}
	if s.World.ELR && clears {
		records = append(records, MetadataRecord{Kind: ClearElrRecord, TP: TopicPartition{topic, -1}})
	}
	s.commit(c, records)
	return NONE
}
