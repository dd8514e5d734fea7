package machine

import "kafkalab/kafkasim/config"

// A broker's own copy of the metadata: pulled from the controller, applied at its own pace.
//
// A broker keeps one fetch of the metadata log parked at the quorum's leader, so it hears of a change one
// message after it is committed. Cut off, it goes on with what it last knew (R3.8), and asks anybody of the
// quorum who leads now.
//
// Kafka: KafkaRaftClient (observer), BrokerMetadataPublisher, KRaftMetadataCache. The metadata log is on the
// broker's disk too, and so is the quorum's state, so a restart begins with the old image and the old leader.

// MetadataPull is the state of the fetch of the metadata log, and what a broker knows of the quorum.
type MetadataPull struct {
	Leader NodeID // NoNode while none is known
	Epoch  int32
	Links  []RaftLink // by controller
	WakeAt int64      // µs: when MetadataPullTimer is due
	Draws  uint64
}

// pullMetadata asks the leader for the next records, or anybody for the leader.
func (s *State) pullMetadata(b *Broker) {
	p := &b.Pull
	if to := s.fetchTarget(b.ID, p.Links, p.Leader, &p.Draws); to != NoNode {
		s.raftRequest(b.ID, to, &p.Links[to-FirstController], MetadataFetchRequest{
			Replica: b.ID, Epoch: p.Epoch, Offset: b.Image.Offset, LastEpoch: b.Image.Epoch, HighWatermark: b.Image.Offset,
		})
	}
	at := never
	for i := range p.Links {
		at = min(at, p.Links[i].next(s.Now))
	}
	s.wake(&p.WakeAt, at, b.ID, MetadataPullTimer{})
}

// onMetadataPullTimer gives up a fetch that was not answered, and asks again.
func (s *State) onMetadataPullTimer(b *Broker, e Event) {
	p := &b.Pull
	if e.At != p.WakeAt {
		return
	}
	p.WakeAt = 0
	s.pullMetadata(b)
}

// heard takes over what an answer says of the quorum; news tells that the leader is another than before, and
// usable that the answer is the leader's own.
func (p *MetadataPull) heard(m *MetadataFetchResponse) (news, usable bool) {
	switch {
	case m.Epoch < p.Epoch || m.Error == UNKNOWN_LEADER_EPOCH:
		return false, false
	case m.Epoch > p.Epoch:
		p.Leader, p.Epoch = m.Leader, m.Epoch
		return true, false
	case m.Leader != NoNode && p.Leader == NoNode:
		p.Leader = m.Leader
		return true, m.Error == NONE
	}
	return false, m.Error == NONE
}

// onMetadataRecords applies records and lets the replicas follow, each partition once with its last state.
func (s *State) onMetadataRecords(b *Broker, e Event, m MetadataFetchResponse) {
	l := &b.Pull.Links[e.From-FirstController]
	if !l.Channel.answers(&e) {
		return
	}
	l.heard()
	if news, usable := b.Pull.heard(&m); !usable {
		if !news {
			s.backOffLink(l)
		}
		s.pullMetadata(b)
		return
	}
	var changed []TopicPartition
	for i := range m.Records {
		r := &m.Records[i]
		if r.Unheard.Yes {
			b.Image.skip(r)
			continue
		}
		b.Image.apply(r)
		if r.Kind == RegisterBrokerRecord && r.Broker.ID == b.ID { // a broker that starts is told everything
			for _, tp := range b.Image.hearAll() {
				changed = addChanged(changed, tp)
			}
		}
		switch r.Kind {
		case PartitionRecord, PartitionChangeRecord:
			changed = addChanged(changed, r.TP)
		case ClearElrRecord, RemoveTopicRecord:
			changed = b.Image.addTopic(changed, r.TP.Topic)
			if r.Kind == RemoveTopicRecord {
				s.shareTopicGone(b, r.TP.Topic)
			}
		case RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord:
			s.touchAll(b, r.Broker.ID)
		case TopicConfigRecord:
			s.propsChanged(b, r.TP.Topic)
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
	for t := range b.Image.Topics {
		if name := b.Image.Topics[t].Name; m.Topics == nil && b.Image.topic(name) == int32(t) {
			res.Topics = append(res.Topics, b.Image.describeTopic(name))
		}
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
