package machine

import "kafkalab/kafkasim/config"

// A broker's own copy of the metadata: pulled from the controller, applied at its own pace.
//
// A broker keeps one fetch of the metadata log parked at the controller, so it hears of a change one message
// after it is committed. Cut off, it goes on with what it last knew (R3.8) and asks again.
//
// Kafka: KafkaRaftClient (observer), BrokerMetadataPublisher, KRaftMetadataCache. The metadata log is on the
// broker's disk too, so a restart begins with the old image.

// MetadataPull is the state of the fetch of the metadata log.
type MetadataPull struct {
	Channel Channel
	WakeAt  int64 // µs: when MetadataPullTimer is due
}

// pullMetadata asks the controller for the next records.
func (s *State) pullMetadata(b *Broker) {
	s.request(b.ID, s.Controller.ID, &b.Pull.Channel, metadataPullTimeout, MetadataFetchRequest{Offset: b.Image.Offset})
	s.wake(&b.Pull.WakeAt, b.Pull.Channel.Deadline, b.ID, MetadataPullTimer{})
}

// onMetadataPullTimer gives up a fetch that was not answered, and asks again.
func (s *State) onMetadataPullTimer(b *Broker, e Event) {
	p := &b.Pull
	if e.At != p.WakeAt {
		return
	}
	p.WakeAt = 0
	if p.Channel.InFlight && s.Now < p.Channel.Deadline {
		s.wake(&p.WakeAt, p.Channel.Deadline, b.ID, MetadataPullTimer{})
		return
	}
	s.hangUp(b.ID, s.Controller.ID, &p.Channel)
	s.pullMetadata(b)
}

// onMetadataRecords applies records and lets the replicas follow, each partition once with its last state.
func (s *State) onMetadataRecords(b *Broker, e Event, m MetadataFetchResponse) {
	if !b.Pull.Channel.answers(&e) {
		return
	}
	var changed []TopicPartition
	for i := range m.Records {
		r := &m.Records[i]
		b.Image.apply(r)
		switch r.Kind {
		case PartitionRecord, PartitionChangeRecord:
			changed = addChanged(changed, r.TP)
		case ClearElrRecord, RemoveTopicRecord:
			changed = b.Image.addTopic(changed, r.TP.Topic)
		}
	}
	if b.serves() && len(changed) > 0 {
		s.publish(b, changed)
	}
	s.pullMetadata(b)
}

// addTopic adds every partition that a topic has or had.
func (im *Image) addTopic(list []TopicPartition, topic int32) []TopicPartition {
	t := &im.Topics[topic]
	for p := range max(len(t.Partitions), len(t.Gone)) {
		list = addChanged(list, TopicPartition{topic, int32(p)})
	}
	return list
}

// addChanged adds a partition to a sorted list.
func addChanged(list []TopicPartition, tp TopicPartition) []TopicPartition {
	i := len(list)
	for i > 0 && (list[i-1].Topic > tp.Topic || list[i-1].Topic == tp.Topic && list[i-1].Partition > tp.Partition) {
		i--
	}
	if i > 0 && list[i-1] == tp {
		return list
	}
	list = append(list, TopicPartition{})
	copy(list[i+1:], list[i:])
	list[i] = tp
	return list
}

// all lists every partition of the image.
func (im *Image) all() []TopicPartition {
	var list []TopicPartition
	for t := range im.Topics {
		for p := range im.Topics[t].Partitions {
			list = append(list, TopicPartition{int32(t), int32(p)})
		}
	}
	return list
}

// onMetadataRequest answers from the broker's own image, however old (R3.9). Fenced brokers are not in it,
// and a partition whose leader is none or fenced has LEADER_NOT_AVAILABLE.
func (s *State) onMetadataRequest(b *Broker, e Event, m MetadataRequest) {
	res := MetadataResponse{Topics: make([]TopicMetadata, 0, len(m.Topics))}
	for i := range b.Image.Brokers {
		if r := &b.Image.Brokers[i]; r.Epoch >= 0 && !r.Fenced {
			res.Brokers = append(res.Brokers, r.ID)
		}
	}
	for _, name := range m.Topics {
		res.Topics = append(res.Topics, b.Image.describeTopic(name))
	}
	s.reply(b, e.From, e.Conn, e.Correlation, res)
}

// describeTopic is one topic of a MetadataResponse.
func (im *Image) describeTopic(name string) TopicMetadata {
	t := im.topic(name)
	if t < 0 {
		return TopicMetadata{Name: name, Topic: -1, Error: UNKNOWN_TOPIC_OR_PARTITION}
	}
	res := TopicMetadata{Name: name, Topic: t, Partitions: make([]PartitionMetadata, len(im.Topics[t].Partitions))}
	for i := range res.Partitions {
		p := &im.Topics[t].Partitions[i]
		m := PartitionMetadata{Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR}
		if p.Leader == NoNode || im.broker(p.Leader).Fenced {
			m.Leader, m.Error = NoNode, LEADER_NOT_AVAILABLE
		}
		res.Partitions[i] = m
	}
	return res
}

// topicProps are the properties of a topic as this broker knows them.
func (b *Broker) topicProps(topic int32) *config.Topic { return &b.Image.Topics[topic].Props }
