// Metadata of a client.
//
// A client knows the partitions of the topics that it has named, as old as its last answer. It asks again
// when an error says that it is wrong, and when it is metadata.max.age.ms old. Leader epochs never go
// back: an answer from a broker that lags behind does not undo what a newer one said.
//
// Kafka: Metadata, ProducerMetadata, ConsumerMetadata (KIP-320, KIP-580, KIP-951). Simplified: every
// answer covers all topics of the client (Kafka asks for new topics alone); topics do not expire.
package machine

import "slices"

// Metadata is a client's copy of the cluster's metadata.
type Metadata struct {
	Topics      []MetaTopic // in the order in which the client named them
	Brokers     []NodeID    // of the last answer
	Requested   bool        // an update is wanted
	Wanted      bool        // … at once, for a topic that was named just now
	InFlight    bool
	LastRefresh int64 // µs of the last answer or failed attempt
	LastSuccess int64 // µs of the last answer
	Failures    int32 // attempts that failed since the last answer
	Equivalent  int32 // answers in a row that said nothing new
	All         AllTopics
}

// AllTopics says that a client asks about every topic, as one does that subscribes by a pattern.
type AllTopics struct{ On bool }

// MetaTopic is a topic of a client.
type MetaTopic struct {
	Name  string
	Topic int32 // -1 while unknown
	Error Code  // of the last answer
	Parts []MetaPart
}

// MetaPart is a partition as a client knows it.
type MetaPart struct {
	Leader      NodeID // NoNode for none
	LeaderEpoch int32
}

// topic finds a topic that the client has named, -1 for none.
func (m *Metadata) topic(name string) int32 {
	for i := range m.Topics {
		if m.Topics[i].Name == name {
			return int32(i)
		}
	}
	return -1
}

// add names a topic; a new one is asked for at once.
func (m *Metadata) add(name string) int32 {
	if i := m.topic(name); i >= 0 {
		return i
	}
	m.Topics = append(m.Topics, MetaTopic{Name: name, Topic: -1})
	m.Requested, m.Wanted = true, true
	m.Equivalent = 0
	return int32(len(m.Topics) - 1)
}

// local finds the client's own number of a topic, -1 for none.
func (m *Metadata) local(topic int32) int32 {
	for i := range m.Topics {
		if m.Topics[i].Topic == topic {
			return int32(i)
		}
	}
	return -1
}

// part is what the client knows of a partition, nil for nothing.
func (m *Metadata) part(topic, partition int32) *MetaPart {
	if topic < 0 || int(topic) >= len(m.Topics) || partition < 0 || int(partition) >= len(m.Topics[topic].Parts) {
		return nil
	}
	return &m.Topics[topic].Parts[partition]
}

// failed counts an attempt without an answer.
func (m *Metadata) failed(now int64) {
	m.InFlight = false
	m.Failures++
	m.LastRefresh = now
}

// metadataAt is when the next MetadataRequest is due: at once for a new topic, after retry.backoff.ms
// (doubled while answers fail or say nothing new) when one was asked for, else at metadata.max.age.ms.
func (s *State) metadataAt(io *ClientIO) int64 {
	m := &io.Meta
	switch {
	case m.InFlight || len(m.Topics) == 0 && !m.All.On:
		return never
	case m.Wanted || m.LastRefresh < 0:
		return s.Now
	}
	tries := max(m.Failures, m.Equivalent)
	allowed := m.LastRefresh + s.retryBackoff(io, max(tries-1, 0), uint64(m.LastRefresh))
	if m.Requested {
		return allowed
	}
	return max(allowed, m.LastSuccess+io.Times.MetadataMaxAge)
}

// refreshMetadata sends a MetadataRequest to the least loaded broker when one is due.
func (s *State) refreshMetadata(io *ClientIO, most int32) {
	if s.metadataAt(io) > s.Now {
		return
	}
	c := s.leastLoaded(io, most)
	if c == nil {
		return
	}
	names := make([]string, len(io.Meta.Topics))
	for i := range io.Meta.Topics {
		names[i] = io.Meta.Topics[i].Name
	}
	if io.Meta.All.On {
		names = nil
	}
	io.Meta.InFlight, io.Meta.Wanted = true, false
	s.clientRequest(io, c, Request{Payload: MetadataRequest{Topics: names}}, true)
}

// update takes over an answer.
func (m *Metadata) update(r *MetadataResponse, now int64) {
	m.InFlight = false
	m.Failures = 0
	m.LastRefresh, m.LastSuccess = now, now
	m.Requested = m.Wanted
	m.Equivalent++
	m.Brokers = r.Brokers
	for i := range r.Topics {
		if t := m.topic(r.Topics[i].Name); t >= 0 {
			m.updateTopic(&m.Topics[t], &r.Topics[i])
		}
	}
}

func (m *Metadata) updateTopic(t *MetaTopic, r *TopicMetadata) {
	t.Error = r.Error
	if r.Error != NONE {
		m.Requested = m.Requested || r.Error.asksMetadata()
		return
	}
	if t.Topic != r.Topic {
		// A topic of this name that was deleted and made anew: nothing of the old one counts. Records may
		// still wait for partitions that it no longer has.
		t.Topic, t.Parts = r.Topic, slices.Clone(t.Parts)
		for i := range t.Parts {
			t.Parts[i] = MetaPart{LeaderEpoch: -1}
		}
	}
	if n := len(r.Partitions); n != len(t.Parts) {
		t.Parts = append(slices.Clone(t.Parts), make([]MetaPart, max(n-len(t.Parts), 0))...)
		for i := range t.Parts {
			if t.Parts[i] == (MetaPart{}) {
				t.Parts[i].LeaderEpoch = -1
			}
		}
		m.Equivalent = 0
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		if p.Error.asksMetadata() {
			m.Requested = true
		}
		m.lead(&t.Parts[i], p.Leader, p.LeaderEpoch)
	}
}

// lead takes over a leader unless it is of an older epoch than the one known (KIP-320).
func (m *Metadata) lead(p *MetaPart, leader NodeID, epoch int32) {
	if epoch < p.LeaderEpoch || p.Leader == leader && p.LeaderEpoch == epoch {
		return
	}
	p.Leader, p.LeaderEpoch = leader, epoch
	m.Equivalent = 0
}

// hint takes over the new leader that a broker names beside its error, if it is newer than what the
// client knows (KIP-951): it is used at once, before the next answer.
func (m *Metadata) hint(tp TopicPartition, leader NodeID, epoch int32) bool {
	p := m.part(m.local(tp.Topic), tp.Partition)
	if leader == NoNode || p == nil || epoch <= p.LeaderEpoch {
		return false
	}
	m.lead(p, leader, epoch)
	return true
}

// seen notes that a partition has had a leader epoch, as a committed offset or an answer about offsets says. Who is known to
// lead it in an earlier one leads no more: nobody does until an answer has a leader of that epoch or a newer one
// (Metadata.updateLastSeenEpochIfNewer, KIP-320).
func (m *Metadata) seen(topic string, partition, epoch int32) {
	p := m.part(m.topic(topic), partition)
	if p == nil || epoch <= p.LeaderEpoch {
		return
	}
	p.Leader, p.LeaderEpoch = NoNode, epoch
	m.Requested, m.Equivalent = true, 0
}

// asksMetadata tells whether an error means that the client's metadata is wrong: Kafka's
// InvalidMetadataException and its subclasses.
func (c Code) asksMetadata() bool {
	switch c {
	case UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, NETWORK_EXCEPTION,
		KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH, UNKNOWN_TOPIC_ID:
		return true
	}
	return false
}

// retriable tells whether an error is one of Kafka's RetriableException.
func (c Code) retriable() bool {
	switch c {
	case CORRUPT_MESSAGE, REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER,
		UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE, NOT_CONTROLLER, CONCURRENT_TRANSACTIONS:
		return true
	}
	return c.asksMetadata()
}

func (m *Metadata) clone() Metadata {
	c := *m
	c.Topics = slices.Clone(m.Topics)
	for i := range c.Topics {
		c.Topics[i].Parts = slices.Clone(c.Topics[i].Parts)
	}
	return c
}
