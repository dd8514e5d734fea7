package machine

// Requests between brokers and the controller, and the timers of both.

// BrokerRegistrationRequest announces a broker's new process (API 62, R3.1).
type BrokerRegistrationRequest struct {
	Broker              NodeID
	Incarnation         uint32
	PreviousBrokerEpoch int64 // from the clean-shutdown marker; -1 after an unclean shutdown
	Dirs                []DirID
}

// BrokerRegistrationResponse grants a broker epoch.
type BrokerRegistrationResponse struct {
	Error       Code
	BrokerEpoch int64
}

// BrokerHeartbeatRequest keeps a session alive and asks to be unfenced or to go (API 63, R3.4).
type BrokerHeartbeatRequest struct {
	Broker         NodeID
	BrokerEpoch    int64
	MetadataOffset int64 // the records that the broker has applied
	WantFence      bool
	WantShutdown   bool
	OfflineDirs    []DirID // that have failed
}

// BrokerHeartbeatResponse tells a broker how the controller sees it.
type BrokerHeartbeatResponse struct {
	Error          Code
	IsCaughtUp     bool
	IsFenced       bool
	ShouldShutDown bool
}

// AlterPartitionRequest proposes new ISRs (API 56, R2.20).
type AlterPartitionRequest struct {
	Broker      NodeID
	BrokerEpoch int64
	Parts       []AlterPart
}

// AlterPart is one partition's proposal.
type AlterPart struct {
	TP             TopicPartition
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []BrokerEpoch
	Recovering     bool
}

// BrokerEpoch is a broker with the epoch of its last fetch (KIP-903), -1 when unknown.
type BrokerEpoch struct {
	ID    NodeID
	Epoch int64
}

// AlterPartitionResponse answers each proposal, in order; Error is for the request as a whole.
type AlterPartitionResponse struct {
	Error Code
	Parts []AlterResult
}

// AlterResult is one proposal's answer: the partition as it is now, or an error.
type AlterResult struct {
	TP             TopicPartition
	Error          Code
	Leader         NodeID
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []NodeID
}

// AllocateProducerIDsRequest asks for a block of producer ids (API 67).
type AllocateProducerIDsRequest struct{}

// AllocateProducerIDsResponse grants one.
type AllocateProducerIDsResponse struct {
	Error        Code
	First, Count int64
}

// HeartbeatTimer: time for a broker to talk to the controller.
type HeartbeatTimer struct{}

// MetadataPullTimer: a broker has waited for the controller's records too long, or may ask again.
type MetadataPullTimer struct{}

// FetcherTimer: a broker's fetcher for one leader may go on, or has waited too long.
type FetcherTimer struct{ Leader NodeID }

// PurgatoryTimer: some request that waits in a broker's purgatory is at its end.
type PurgatoryTimer struct{}

// ISRTimer: a broker looks for followers that lag (R2.15).
type ISRTimer struct{}

// AlterPartitionTimer: a broker's AlterPartition is to be sent again.
type AlterPartitionTimer struct{}

// CheckpointTimer: a broker writes its high watermarks to disk (R4.1).
type CheckpointTimer struct{}

// ShutdownTimer: a broker has waited for the controller's leave to stop for too long (R3.20).
type ShutdownTimer struct{}

// NextRequest: a broker reads the next request of a connection whose last one was answered (P-54).
type NextRequest struct {
	Node NodeID
	Conn uint32
}

// SessionCheckTimer: the controller that is active in an epoch looks for expired broker sessions (R3.5).
type SessionCheckTimer struct{ Epoch int32 }

// MetadataFetchTimer: a parked fetch of the metadata log has waited long enough.
type MetadataFetchTimer struct{}

func (BrokerRegistrationRequest) payload()   {}
func (BrokerRegistrationResponse) payload()  {}
func (BrokerHeartbeatRequest) payload()      {}
func (BrokerHeartbeatResponse) payload()     {}
func (AlterPartitionRequest) payload()       {}
func (AlterPartitionResponse) payload()      {}
func (AllocateProducerIDsRequest) payload()  {}
func (AllocateProducerIDsResponse) payload() {}
func (HeartbeatTimer) payload()              {}
func (MetadataPullTimer) payload()           {}
func (FetcherTimer) payload()                {}
func (PurgatoryTimer) payload()              {}
func (ISRTimer) payload()                    {}
func (AlterPartitionTimer) payload()         {}
func (CheckpointTimer) payload()             {}
func (ShutdownTimer) payload()               {}
func (NextRequest) payload()                 {}
func (SessionCheckTimer) payload()           {}
func (MetadataFetchTimer) payload()          {}
