package machine

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// A world as text: JSON with every payload's type beside its fields.

// payloadKinds lists one value of every type of payload.
var payloadKinds = []Payload{
	Disconnected{}, ClientTimer{}, SendTick{},
	ShareGroupHeartbeatRequest{}, ShareGroupHeartbeatResponse{}, ShareFetchRequest{}, ShareFetchResponse{}, ShareAcknowledgeRequest{},
	ShareAcknowledgeResponse{}, ShareStateRequest{}, ShareStateResponse{}, ShareTimer{}, ShareGroupTimer{}, ShareStateStored{}, ShareGroupStored{},
	ShareGroupChanged{}, ShareStateTimer{}, AlterShareOffsetsRequest{}, AlterShareOffsetsResponse{}, DeleteShareOffsetsRequest{}, DeleteShareOffsetsResponse{},
	MetadataRequest{}, MetadataResponse{}, ProduceRequest{}, ProduceResponse{}, FetchRequest{}, FetchResponse{},
	ListOffsetsRequest{}, ListOffsetsResponse{}, OffsetsForLeaderEpochRequest{}, OffsetsForLeaderEpochResponse{},
	InitProducerIDRequest{}, InitProducerIDResponse{},
	DeleteRecordsRequest{}, DeleteRecordsResponse{}, AdminTimer{}, FlushTimer{}, RetentionTimer{}, CleanerTimer{},
	AssignReplicasToDirsRequest{}, AssignReplicasToDirsResponse{}, AssignTimer{},
	BrokerRegistrationRequest{}, BrokerRegistrationResponse{}, BrokerHeartbeatRequest{}, BrokerHeartbeatResponse{},
	MetadataFetchRequest{}, MetadataFetchResponse{}, AlterPartitionRequest{}, AlterPartitionResponse{},
	AllocateProducerIDsRequest{}, AllocateProducerIDsResponse{},
	HeartbeatTimer{}, MetadataPullTimer{}, FetcherTimer{}, PurgatoryTimer{}, ISRTimer{}, AlterPartitionTimer{},
	VoteRequest{}, VoteResponse{}, BeginQuorumEpochRequest{}, BeginQuorumEpochResponse{}, EndQuorumEpochRequest{},
	EndQuorumEpochResponse{}, QuorumTimer{}, ForwardTimer{}, RequestTimer{}, AdminResponse{}, CreateTopic{}, ElectLeaders{},
	AddPartitions{}, AlterTopic{}, DeleteTopic{}, Reassign{}, UnregisterBroker{}, AlterQuota{}, UnthrottleTimer{}, ControllerLoaded{},
	FindCoordinatorRequest{}, FindCoordinatorResponse{}, CoordinatorLoadTimer{}, CoordinatorWritten{}, TransactionWrite{},
	AddPartitionsToTxnRequest{}, AddPartitionsToTxnResponse{}, AddOffsetsToTxnRequest{}, AddOffsetsToTxnResponse{},
	EndTxnRequest{}, EndTxnResponse{}, WriteTxnMarkersRequest{}, WriteTxnMarkersResponse{}, TxnMarkersWritten{},
	PeerTimer{}, MarkerTimer{}, VerifyTimer{}, TransactionTimer{}, ExpireTransactionsTimer{},
	JoinGroupRequest{}, JoinGroupResponse{}, SyncGroupRequest{}, SyncGroupResponse{}, HeartbeatRequest{}, HeartbeatResponse{},
	LeaveGroupRequest{}, LeaveGroupResponse{}, OffsetCommitRequest{}, OffsetCommitResponse{}, OffsetFetchRequest{}, OffsetFetchResponse{},
	TxnOffsetCommitRequest{}, DeleteGroupRequest{}, DeleteGroupResponse{}, OffsetDeleteRequest{}, OffsetDeleteResponse{},
	ConsumerGroupHeartbeatRequest{}, ConsumerGroupHeartbeatResponse{}, ConsumerHeartbeatStored{}, ClassicJoinStored{},
	GroupTimer{}, OffsetExpiryTimer{}, AssignmentStored{}, GroupStored{}, StaticReplaced{}, OffsetsStored{}, GroupAdministered{},
	CheckpointTimer{}, ShutdownTimer{}, NextRequest{}, SessionCheckTimer{}, MetadataFetchTimer{}, ElectionTimer{},
}

// KindOf names a payload's type.
func KindOf(p Payload) string { return reflect.TypeOf(p).Name() }

// savedPayload is a payload with its type.
type savedPayload struct {
	Kind   string
	Fields json.RawMessage
}

func savePayload(p Payload) (savedPayload, error) {
	data, err := json.Marshal(p)
	return savedPayload{KindOf(p), data}, err
}

func (x *savedPayload) load() (Payload, error) {
	for _, k := range payloadKinds {
		if KindOf(k) == x.Kind {
			p := reflect.New(reflect.TypeOf(k))
			err := json.Unmarshal(x.Fields, p.Interface())
			return p.Elem().Interface().(Payload), err
		}
	}
	return nil, fmt.Errorf("a message or timer of the kind %q, which this version does not know", x.Kind)
}

// savedEvent and savedRequest hide the payload of what they embed behind their own.
type savedEvent struct {
	*bareEvent
	Payload savedPayload
}

type bareEvent Event

// MarshalJSON writes the payload's type as Kind.
func (e Event) MarshalJSON() ([]byte, error) {
	p, err := savePayload(e.Payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(savedEvent{(*bareEvent)(&e), p})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(data []byte) error {
	x := savedEvent{bareEvent: (*bareEvent)(e)}
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	p, err := x.Payload.load()
	e.Payload = p
	return err
}

type savedRequest struct {
	*bareRequest
	Payload savedPayload
}

type bareRequest Request

// MarshalJSON writes the payload's type as Kind.
func (r Request) MarshalJSON() ([]byte, error) {
	p, err := savePayload(r.Payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(savedRequest{(*bareRequest)(&r), p})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Request) UnmarshalJSON(data []byte) error {
	x := savedRequest{bareRequest: (*bareRequest)(r)}
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	p, err := x.Payload.load()
	r.Payload = p
	return err
}

// Save writes the world as JSON, without Notes.
func (s *State) Save() ([]byte, error) {
	c := *s
	c.Notes, c.Watching, c.Answers, c.Losses, c.Untold, c.Commits, c.Transitions = nil, false, nil, nil, nil, nil, nil
	return json.Marshal(&c)
}

// Load reads what Save wrote. The world goes on as the saved one would have: its hash is the same.
func Load(data []byte) (*State, error) {
	s := &State{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("machine: not a saved world: %w", err)
	}
	return s, nil
}
