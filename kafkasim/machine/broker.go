package machine

import "kafkalab/kafkasim/view"

// A broker: its process, its disk, and what it knows of the cluster.
//
// The process has connections, purgatories, fetchers and an image of the metadata; they end with it. The
// disk has the logs with their epoch caches, the checkpointed high watermarks, the clean-shutdown marker and
// the metadata log. A replica's log in here is what the page cache shows; partlog.Log.Flushed says how much
// of it a power loss would leave.
//
// Kafka: BrokerServer, ReplicaManager, SocketServer, KafkaApis. Simplified: no
// request-handler pool (a request that need not wait is handled in no time).

// Process is the state of a broker's process (R3.7, Kafka's BrokerState).
type Process uint8

// The process states, in the order in which a broker goes through them.
const (
	NotRunning Process = iota
	Starting           // registers, and reads metadata up to its own registration
	Recovery           // logs are loaded; serves, and waits to be unfenced
	Running
	PendingControlledShutdown
)

// String is Kafka's name of the state.
func (p Process) String() string {
	return [...]string{"NOT_RUNNING", "STARTING", "RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN"}[p]
}

// Broker is one broker.
type Broker struct {
	ID          NodeID
	Incarnation uint32 // how often the process was started
	Process     Process
	PowerOff    bool    // the machine is off: nobody answers for it
	Paused      bool    // SIGSTOP: alive but silent
	Backlog     []Event // what arrived while it was paused
	Dirs        []LogDir
	Slow        int64 // µs that its disk takes (SlowBroker)

	Lifecycle Lifecycle
	Pull      MetadataPull
	Image     Image
	Conns     []Conn // by (Node, ID)

	Replicas []Replica // by (Topic, Partition)
	Fetchers []Fetcher // by leader
	Alter    AlterManager
	Assign   AssignmentsManager
	IDs      ProducerIDs
	Forward  Forwarder

	Produces    []DelayedProduce // the produce purgatory, in the order of arrival
	Fetches     []DelayedFetch   // the fetch purgatory, in the order of arrival
	Sessions    []FetchSession   // of those who fetch from it, by id
	Deletes     []DelayedDelete  // DeleteRecords that wait for followers
	PurgatoryAt int64            // µs: when PurgatoryTimer is due, 0 for none

	Costs  Costs
	Quotas BrokerQuotas
	Shards []CoordinatorShard // by partition: what this broker coordinates
	Serial int32              // batches that it has made itself
	Peers  []Peer             // connections to other brokers, by (Node, Purpose)

	AbortAt, ExpireAt int64 // µs: when TransactionTimer and ExpireTransactionsTimer are due, 0 for none
	Markers           []PendingMarker
	MarkersAt         int64 // µs: when MarkerTimer is due
	Adds              []PendingAdd
	LastAdd           uint32
	Verifying         []Verification
	VerifyAt          int64 // µs: when VerifyTimer is due
	LastGuard         uint64

	Share BrokerShare

	Chores     Chores
	CleanEpoch int64 // the clean-shutdown marker on disk: the broker epoch in it, -1 without marker
}

// alive tells whether the process exists.
func (b *Broker) alive() bool { return b.Process != NotRunning }

// serves tells whether the process reads requests: from the first publication of metadata on (R3.7).
func (b *Broker) serves() bool { return b.Process >= Recovery }

// brokerEvent hands an event to a broker, if there is a process to take it.
func (s *State) brokerEvent(e Event) {
	b := s.broker(e.To)
	stale := !b.alive() || e.Incarnation != b.Incarnation
	switch {
	case b.Paused:
		b.Backlog = append(b.Backlog, e)
	case stale && (e.From == NoNode || b.PowerOff):
		// A dead process has no timers, and a machine that is off answers nothing.
	case e.From == NoNode:
		s.brokerTimer(b, e)
	case isRequest(e.Payload):
		if stale || !b.serves() {
			s.send(b.ID, e.From, e.Conn, e.Correlation, Disconnected{}) // a closed port: reset
			return
		}
		s.receive(b, e)
	case !stale:
		s.brokerResponse(b, e)
	}
}

// isRequest tells whether a message opens an exchange, so that a closed port answers it with a reset.
func isRequest(p Payload) bool {
	switch p.(type) {
	case ProduceRequest, FetchRequest, MetadataRequest, ListOffsetsRequest, OffsetsForLeaderEpochRequest,
		InitProducerIDRequest, DeleteRecordsRequest, FindCoordinatorRequest,
		AddPartitionsToTxnRequest, AddOffsetsToTxnRequest, EndTxnRequest, WriteTxnMarkersRequest,
		JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, LeaveGroupRequest, ConsumerGroupHeartbeatRequest, OffsetCommitRequest, OffsetFetchRequest,
		TxnOffsetCommitRequest, DeleteGroupRequest, OffsetDeleteRequest,
		ShareGroupHeartbeatRequest, ShareFetchRequest, ShareAcknowledgeRequest, ShareStateRequest, AlterShareOffsetsRequest, DeleteShareOffsetsRequest:
		return true
	}
	return false
}

// handle carries out a request that was read from a connection.
func (s *State) handle(b *Broker, e Event) {
	s.countRequest(b, &e)
	switch p := e.Payload.(type) {
	case ProduceRequest:
		s.onProduce(b, e, p)
	case FetchRequest:
		s.onFetch(b, e, p)
	case MetadataRequest:
		s.onMetadataRequest(b, e, p)
	case ListOffsetsRequest:
		s.onListOffsets(b, e, p)
	case OffsetsForLeaderEpochRequest:
		s.onOffsetsForLeaderEpoch(b, e, p)
	case InitProducerIDRequest:
		s.onInitProducerID(b, e, p)
	case DeleteRecordsRequest:
		s.onDeleteRecords(b, e, p)
	case FindCoordinatorRequest:
		s.onFindCoordinator(b, e, p)
	case ShareGroupHeartbeatRequest, ShareFetchRequest, ShareAcknowledgeRequest, ShareStateRequest, AlterShareOffsetsRequest, DeleteShareOffsetsRequest:
		s.handleShare(b, e)
	default:
		s.handleTransactions(b, e)
	}
}

// brokerResponse handles what comes back to a broker on a connection that it opened, and closed
// connections.
func (s *State) brokerResponse(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case FetchResponse:
		s.onFetchResponse(b, e, p)
	case OffsetsForLeaderEpochResponse:
		s.onEpochAnswers(b, e, p)
	case ListOffsetsResponse:
		s.onLeaderOffsets(b, e, p)
	case MetadataFetchResponse:
		s.onMetadataRecords(b, e, p)
	case BrokerRegistrationResponse:
		s.onRegistered(b, e, p)
	case BrokerHeartbeatResponse:
		s.onHeartbeatAnswered(b, e, p)
	case AlterPartitionResponse:
		s.onAlterPartitionResponse(b, e, p)
	case AssignReplicasToDirsResponse:
		s.onDirsAssigned(b, e, p)
	case AllocateProducerIDsResponse:
		s.onProducerIDs(b, e, p)
	case AdminResponse:
		s.onForwarded(b, e, p)
	case WriteTxnMarkersResponse:
		s.onMarkersWritten(b, e, p)
	case AddPartitionsToTxnResponse:
		s.onPartitionsAdded(b, e, p)
	case ShareStateResponse:
		s.onShareStateAnswer(b, e, p)
	case Disconnected:
		if e.From.IsController() {
			s.controllerClosed(b, e)
			return
		}
		s.forgetConn(b, e.From, e.Conn)
		s.fetcherDisconnected(b, e)
		s.peerDisconnected(b, e)
		s.shareDisconnected(b, e.From, e.Conn)
	default:
		unexpected(e)
	}
}

// brokerTimer handles a timer of the living process.
func (s *State) brokerTimer(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case HeartbeatTimer:
		s.onHeartbeatTimer(b, e)
	case MetadataPullTimer:
		s.onMetadataPullTimer(b, e)
	case FetcherTimer:
		s.onFetcherTimer(b, e, p)
	case PurgatoryTimer:
		s.onPurgatoryTimer(b, e)
	case ISRTimer:
		s.onISRTimer(b)
	case AlterPartitionTimer:
		s.onAlterPartitionTimer(b, e)
	case CheckpointTimer:
		s.onCheckpointTimer(b)
	case AssignTimer:
		s.onAssignTimer(b, e)
	case FlushTimer:
		s.onFlushTimer(b)
	case RetentionTimer:
		s.onRetentionTimer(b, e)
	case CleanerTimer:
		s.onCleanerTimer(b, e)
	case ForwardTimer:
		s.onForwardTimer(b, e)
	case ShutdownTimer:
		s.onShutdownTimer(b)
	case UnthrottleTimer:
		s.onUnthrottle(b, p)
	case NextRequest:
		s.readNext(b, p)
	case ShareTimer:
		s.onShareTimer(b, e)
	case ShareGroupTimer:
		s.onShareGroupTimer(b, e, p)
	case GroupTimer:
		s.onGroupTimer(b, e, p)
	case ShareStateTimer:
		s.onShareStateTimer(b, p)
	case OffsetExpiryTimer:
		s.onOffsetExpiry(b, e, p)
	case CoordinatorLoadTimer:
		s.onCoordinatorLoad(b, p)
	case CoordinatorWritten:
		s.onCoordinatorWritten(b, p)
	default:
		s.transactionTimer(b, e)
	}
}

// setProcess moves a broker's process to a state and says so.
func (s *State) setProcess(b *Broker, p Process) {
	b.Process = p
	s.note(view.Change{Kind: view.BrokerState, Broker: int(b.ID), Partition: -1, Text: p.String()})
}
