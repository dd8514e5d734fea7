package machine

import (
	"fmt"

	"kafkalab/kafkasim/partlog"
)

// Requests and responses of share groups, named after Kafka's APIs (KIP-932). Slices inside payloads are immutable.

// ShareGroupHeartbeatRequest is a member's life sign, and how it joins (epoch 0) and leaves (epoch -1) (API 76).
type ShareGroupHeartbeatRequest struct {
	Group, Member, ClientID string
	Epoch                   int32
	Topics                  []string // sorted; nil for "as before"
}

// ShareGroupHeartbeatResponse has the member's epoch and, when they changed, its partitions.
type ShareGroupHeartbeatResponse struct {
	Error      Code
	Epoch      int32
	IntervalMs int64
	Assigned   bool // Parts is meant
	Parts      []TopicPartition
}

// AckType is what a member says about a record (H-6).
type AckType uint8

// The types, with Kafka's numbers.
const (
	AckGap AckType = iota
	AckAccept
	AckRelease
	AckReject
	AckRenew
)

// String is Kafka's name of the type, in lower case.
func (a AckType) String() string {
	return [...]string{"gap", "accept", "release", "reject", "renew"}[a]
}

// ShareAck acknowledges the records First to Last of a partition.
type ShareAck struct {
	TP          TopicPartition
	First, Last int64
	Type        AckType
}

// ShareFetchRequest asks a leader for records, with acknowledgements of earlier ones (API 78). Epoch is the share
// session's: 0 begins one, -1 ends it.
type ShareFetchRequest struct {
	Group, Member string
	Epoch         int32
	MaxWaitMs     int64
	MaxBytes      int64
	MaxRecords    int32
	BatchSize     int32
	RecordLimit   bool             // share.acquire.mode=record_limit (KIP-1206)
	Parts         []TopicPartition // that are new to the session
	Forgotten     []TopicPartition
	Acks          []ShareAck
}

// ShareFetchResponse has what was acquired.
type ShareFetchResponse struct {
	Error  Code
	LockMs int64
	Parts  []ShareFetchedPart
	Acks   []ShareAckResult
}

// ShareFetchedPart is a partition's records: those in Acquired are the member's now.
type ShareFetchedPart struct {
	TP       TopicPartition
	Error    Code
	Batches  []partlog.Batch
	Acquired []AcquiredRecords
}

// AcquiredRecords are records that were acquired, with their delivery count.
type AcquiredRecords struct {
	First, Last int64
	Count       int16
}

// ShareAckResult is what became of a partition's acknowledgements.
type ShareAckResult struct {
	TP    TopicPartition
	Error Code
}

// ShareAcknowledgeRequest acknowledges without fetching (API 79).
type ShareAcknowledgeRequest struct {
	Group, Member string
	Epoch         int32
	Acks          []ShareAck
}

// ShareAcknowledgeResponse answers it.
type ShareAcknowledgeResponse struct {
	Error Code
	Acks  []ShareAckResult
}

// ShareStateOp is what a request to the share coordinator is for.
type ShareStateOp uint8

// The operations (APIs 83 to 86).
const (
	InitializeShareState ShareStateOp = iota
	ReadShareState
	WriteShareState
	DeleteShareState
)

// String is the API's name.
func (o ShareStateOp) String() string {
	return [...]string{"InitializeShareGroupState", "ReadShareGroupState", "WriteShareGroupState", "DeleteShareGroupState"}[o]
}

// ShareStateRequest asks the share coordinator about one partition of one group.
type ShareStateRequest struct {
	Op          ShareStateOp
	Group       string
	TP          TopicPartition
	StateEpoch  int32
	LeaderEpoch int32
	Start       int64 // -1 for not decided yet
	Complete    int64 // records from Start on that are dealt with
	Batches     []ShareStateBatch
}

// ShareStateResponse answers it; what was read, with Read.
type ShareStateResponse struct {
	Op         ShareStateOp
	Error      Code
	StateEpoch int32
	Start      int64
	Batches    []ShareStateBatch
}

// ShareStateBatch are records with one state and one delivery count.
type ShareStateBatch struct {
	First, Last int64
	State       ShareRecordState
	Count       int16
}

func (ShareGroupHeartbeatRequest) payload()  {}
func (ShareGroupHeartbeatResponse) payload() {}
func (ShareFetchRequest) payload()           {}
func (ShareFetchResponse) payload()          {}
func (ShareAcknowledgeRequest) payload()     {}
func (ShareAcknowledgeResponse) payload()    {}
func (ShareStateRequest) payload()           {}
func (ShareStateResponse) payload()          {}

// describeShare is what a message or a timer of share groups says.
func (s *State) describeShare(p Payload) (string, bool) {
	acks := func(a ShareAck) string {
		return fmt.Sprintf("%s %d-%d %s", s.PartitionName(a.TP), a.First, a.Last, a.Type)
	}
	results := func(r ShareAckResult) string { return s.PartitionName(r.TP) + " " + orError(r.Error, "acknowledged") }
	switch m := p.(type) {
	case ShareGroupHeartbeatRequest:
		return fmt.Sprintf("ShareGroupHeartbeat %s epoch %d", m.Group, m.Epoch), true
	case ShareGroupHeartbeatResponse:
		return "ShareGroupHeartbeatResponse " + orError(m.Error, fmt.Sprintf("epoch %d", m.Epoch)), true
	case ShareFetchRequest:
		text := fmt.Sprintf("ShareFetch %s session epoch %d", m.Group, m.Epoch)
		if len(m.Acks) > 0 {
			text += " " + list(m.Acks, acks)
		}
		return text, true
	case ShareFetchResponse:
		if m.Error != NONE || len(m.Parts) == 0 {
			return "ShareFetchResponse " + orError(m.Error, "nothing new"), true
		}
		return "ShareFetchResponse " + list(m.Parts, func(r ShareFetchedPart) string {
			n := int64(0)
			for _, a := range r.Acquired {
				n += a.Last - a.First + 1
			}
			return s.PartitionName(r.TP) + " " + orError(r.Error, fmt.Sprintf("acquired %d", n))
		}), true
	case ShareAcknowledgeRequest:
		return fmt.Sprintf("ShareAcknowledge %s session epoch %d %s", m.Group, m.Epoch, list(m.Acks, acks)), true
	case ShareAcknowledgeResponse:
		if m.Error != NONE {
			return "ShareAcknowledgeResponse " + m.Error.String(), true
		}
		return "ShareAcknowledgeResponse " + list(m.Acks, results), true
	case ShareStateRequest:
		text := fmt.Sprintf("%s %s %s", m.Op, m.Group, s.PartitionName(m.TP))
		if m.Op == WriteShareState {
			text += fmt.Sprintf(" start %d", m.Start)
		}
		return text, true
	case ShareStateResponse:
		return m.Op.String() + "Response " + orError(m.Error, fmt.Sprintf("start %d", m.Start)), true
	}
	return "", false
}
