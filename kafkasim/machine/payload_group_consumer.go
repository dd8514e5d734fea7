package machine

import (
	"fmt"
	"strings"
)

// ConsumerGroupHeartbeat (API 68), the one request of a member of a group with the consumer protocol. Simplified:
// topics are named; on the wire an assignment has their ids.

// Epochs of a member that are no epochs.
const (
	JoinEpoch        int32 = 0  // it joins
	LeaveEpoch       int32 = -1 // it leaves
	StaticLeaveEpoch int32 = -2 // it leaves for a while, and its instance will come back
)

// ConsumerGroupHeartbeatRequest says that a member lives, and what has changed since it last said so.
type ConsumerGroupHeartbeatRequest struct {
	Group, Member, Instance, ClientID, Rack string
	Epoch                                   int32
	// Full says that what follows is there; otherwise only Owned may be, if HasOwned says so.
	Full               bool
	RebalanceTimeoutMs int64
	Topics             []string
	Pattern            string // a regular expression, "" for none
	Assignor           string // "" for none
	HasOwned           bool
	Owned              []TopicParts
}

// ConsumerGroupHeartbeatResponse tells a member its epoch, and its partitions when they are others than before.
type ConsumerGroupHeartbeatResponse struct {
	Error               Code
	Member              string
	Epoch               int32
	HeartbeatIntervalMs int64
	HasAssignment       bool
	Assignment          []TopicParts
}

func (ConsumerGroupHeartbeatRequest) payload()  {}
func (ConsumerGroupHeartbeatResponse) payload() {}

// ConsumerHeartbeatStored answers a heartbeat when the records that it has led to are committed.
type ConsumerHeartbeatStored struct {
	To       Parked
	Response ConsumerGroupHeartbeatResponse
}

func (ConsumerHeartbeatStored) payload() {}

// words say what a heartbeat says.
func (m *ConsumerGroupHeartbeatRequest) words() string {
	words := fmt.Sprintf("%s as %s epoch %d", m.Group, shortID(m.Member), m.Epoch)
	if m.Instance != "" {
		words += " (" + m.Instance + ")"
	}
	if m.Full && m.Pattern != "" {
		words += ", subscribes to " + m.Pattern
	} else if m.Full {
		words += ", subscribes to " + strings.Join(m.Topics, ", ")
	}
	if m.HasOwned {
		words += ", has " + partsWords(m.Owned)
	}
	return words
}
