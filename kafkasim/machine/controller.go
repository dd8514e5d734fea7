package machine

// The active controller.
//
// It appends to the metadata log, keeps the image as of its end, watches the brokers' sessions, and answers
// brokers' fetches of the log. What it decides about partitions is in partition_change_builder.go.
//
// Kafka: QuorumController, ReplicationControlManager, ClusterControlManager. Simplified: one controller
// that never fails; a record is committed when it is appended.

// Controller is the active controller of the KRaft quorum.
type Controller struct {
	ID       NodeID
	Log      []MetadataRecord // append-only; clones share it
	Image    Image
	Sessions []BrokerSession // by broker id, from 1
	Parked   []ParkedMetadataFetch
	WakeAt   int64 // µs: when MetadataFetchTimer is due, 0 for none
	NextID   int64 // first producer id of the next block
}

// ParkedMetadataFetch is a broker's request for records that do not exist yet.
type ParkedMetadataFetch struct {
	From              NodeID
	Conn, Correlation uint32
	Offset            int64
	Deadline          int64 // µs
}

// metadataFetchWait is how long the controller parks a fetch of the metadata log, µs
// (KafkaRaftClient.FETCH_MAX_WAIT_MS).
const metadataFetchWait = 500_000

// controllerEvent handles whatever reaches the controller.
func (s *State) controllerEvent(e Event) {
	switch p := e.Payload.(type) {
	case BrokerRegistrationRequest:
		s.onBrokerRegistration(e, p)
	case BrokerHeartbeatRequest:
		s.onBrokerHeartbeat(e, p)
	case MetadataFetchRequest:
		s.onMetadataFetch(e, p)
	case AlterPartitionRequest:
		s.onAlterPartition(e, p)
	case AssignReplicasToDirsRequest:
		s.onAssignReplicasToDirs(e, p)
	case AllocateProducerIDsRequest:
		s.onAllocateProducerIDs(e)
	case ElectionTimer:
		s.onElectionTimer(p)
	case SessionCheckTimer:
		s.onSessionCheck()
	case MetadataFetchTimer:
		if e.At == s.Controller.WakeAt {
			s.expireMetadataFetches()
		}
	case Disconnected:
		s.forgetMetadataFetch(e.From, e.Conn)
	default:
		unexpected(e)
	}
}

// replyAsController answers a request.
func (s *State) replyAsController(e Event, p Payload) {
	s.send(s.Controller.ID, e.From, e.Conn, e.Correlation, p)
}

// commit appends records to the metadata log as one batch and lets everybody know who waits for it.
func (s *State) commit(records []MetadataRecord) {
	if len(records) == 0 {
		return
	}
	c := &s.Controller
	for i := range records {
		r := &records[i]
		fenced := s.fencedBefore(r)
		c.Log = append(c.Log, *r)
		c.Image.apply(r)
		s.noteRecord(r, fenced)
	}
	s.completeMetadataFetches()
}

// fencedBefore tells whether the broker that a record is about was fenced before it. It also keeps the
// book of unclean elections.
func (s *State) fencedBefore(r *MetadataRecord) bool {
	switch r.Kind {
	case RegisterBrokerRecord, BrokerRegistrationChangeRecord:
		return s.Controller.Image.broker(r.Broker.ID).Fenced
	case PartitionChangeRecord:
		if reg := s.Controller.Image.partition(r.TP); r.Partition.Recovering && !reg.Recovering {
			s.Truth.partition(s, r.TP).Unclean = true
		}
	}
	return false
}

// onMetadataFetch answers with the records from an offset on, or parks the request until there are some.
// The answer shares the log's memory.
func (s *State) onMetadataFetch(e Event, m MetadataFetchRequest) {
	c := &s.Controller
	if m.Offset < int64(len(c.Log)) {
		s.replyAsController(e, MetadataFetchResponse{Records: c.Log[m.Offset:len(c.Log):len(c.Log)]})
		return
	}
	s.forgetMetadataFetch(e.From, e.Conn)
	c.Parked = append(c.Parked, ParkedMetadataFetch{
		From: e.From, Conn: e.Conn, Correlation: e.Correlation, Offset: m.Offset, Deadline: s.Now + metadataFetchWait,
	})
	s.wake(&c.WakeAt, s.Now+metadataFetchWait, c.ID, MetadataFetchTimer{})
}

// completeMetadataFetches answers every parked fetch: there is something new.
func (s *State) completeMetadataFetches() {
	c := &s.Controller
	for _, p := range c.Parked {
		s.send(c.ID, p.From, p.Conn, p.Correlation, MetadataFetchResponse{Records: c.Log[p.Offset:len(c.Log):len(c.Log)]})
	}
	c.Parked = c.Parked[:0]
}

// expireMetadataFetches answers parked fetches whose wait is over with nothing, and waits for the next.
func (s *State) expireMetadataFetches() {
	c := &s.Controller
	c.WakeAt = 0
	kept := c.Parked[:0]
	for _, p := range c.Parked {
		if p.Deadline > s.Now {
			kept = append(kept, p)
			continue
		}
		s.send(c.ID, p.From, p.Conn, p.Correlation, MetadataFetchResponse{})
	}
	c.Parked = kept
	if len(kept) > 0 {
		s.wake(&c.WakeAt, kept[0].Deadline, c.ID, MetadataFetchTimer{})
	}
}

// forgetMetadataFetch drops the parked fetch of a closed connection.
func (s *State) forgetMetadataFetch(from NodeID, conn uint32) {
	c := &s.Controller
	kept := c.Parked[:0]
	for _, p := range c.Parked {
		if p.From != from || p.Conn != conn {
			kept = append(kept, p)
		}
	}
	c.Parked = kept
}

// producerIDBlock is how many producer ids a broker gets at once (ProducerIdsBlock).
const producerIDBlock = 1000

// onAllocateProducerIDs hands a broker the next block of producer ids (P-81).
func (s *State) onAllocateProducerIDs(e Event) {
	first := s.Controller.NextID
	s.Controller.NextID += producerIDBlock
	s.commit([]MetadataRecord{{Kind: ProducerIDsRecord, NextID: s.Controller.NextID}})
	s.replyAsController(e, AllocateProducerIDsResponse{First: first, Count: producerIDBlock})
}
