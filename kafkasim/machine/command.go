package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Command is something a user does. Seed, world and commands with their times replay to the same state.
// The set is closed: this file lists it. Commands are checked by their maker (package kafkasim): a
// Command that names a broker, topic or client that does not exist is a bug and panics.
//
//sumtype:decl
type Command interface{ command() }

// Result is what Apply answers at once. ID is the index of what was made (topic, producer, consumer),
// or -1; Error is a protocol error, such as INVALID_REPLICATION_FACTOR.
type Result struct {
	Error   Code
	ID      int32
	Pending int32 // one more than the index in State.Admin where the answer will be; 0 when this is the answer
	// Throttle is how long the asker is to wait (throttle_time_ms of an answer with THROTTLING_QUOTA_EXCEEDED).
	Throttle ThrottleTime
}

// CreateTopic asks the active controller for a topic (R3.31). Assignment, if not nil, places replicas by
// hand: one list of broker ids per partition.
type CreateTopic struct {
	Name              string
	Partitions        int32
	ReplicationFactor int32
	Props             config.Topic
	Set               []string // the properties that were given, by name
	Assignment        [][]NodeID
}

// CrashBroker kills a broker's process; the page cache lives (kill -9).
type CrashBroker struct{ Broker NodeID }

// PowerLoss kills a broker's machine; what was not flushed is gone.
type PowerLoss struct{ Broker NodeID }

// StopBroker begins a controlled shutdown (R3.20).
type StopBroker struct{ Broker NodeID }

// StartBroker starts a broker that is not running.
type StartBroker struct{ Broker NodeID }

// PauseBroker makes a broker silent while it lives (SIGSTOP); ResumeBroker ends that.
type PauseBroker struct{ Broker NodeID }

// ResumeBroker lets a paused broker go on; what arrived meanwhile is handled now.
type ResumeBroker struct{ Broker NodeID }

// CutLink stops messages between two nodes, both ways.
type CutLink struct{ A, B NodeID }

// HealLink lets messages pass between two nodes again.
type HealLink struct{ A, B NodeID }

// CutOneWay stops messages from one node to another; the way back stays open.
type CutOneWay struct{ From, To NodeID }

// SlowBroker makes a broker's disk slow: whatever it answers or asks for after it has read or written its
// logs leaves By µs later. 0 ends that.
type SlowBroker struct {
	Broker NodeID
	By     int64
}

// SetLatency sets the time on the wire from one node to another, µs; one direction.
type SetLatency struct {
	From, To NodeID
	Latency  int64
}

// DeliverMessage lets the message with this event number arrive now, behind what is before it on its connection;
// DropMessage loses it; DelayMessage lets it arrive later by so many µs, before what is behind it.
type DeliverMessage struct{ Seq uint64 }

// DropMessage loses a message on the wire.
type DropMessage struct{ Seq uint64 }

// DelayMessage makes a message arrive later by By µs.
type DelayMessage struct {
	Seq uint64
	By  int64
}

// NewProducer makes a producer client.
type NewProducer struct {
	Name  string
	Props config.Producer
}

// Send hands one record to a producer's send(). Partition is -1 to let the partitioner choose. The
// Result's ID is the record's number among all that this producer was handed (SendEvery's included),
// from 0; State.Delivery tells by it what became of the record.
type Send struct {
	Producer  int32
	Topic     string
	Partition int32
	Record    partlog.Record
	Headers   []partlog.Header
}

// SendEvery lets a producer send one record each Interval µs, its keys in turn (an empty list sends
// null keys), until Count records are sent (0: for ever) or the producer ends.
type SendEvery struct {
	Producer int32
	Interval int64
	Topic    string
	Keys     []string
	Count    int64
}

// FlushProducer makes everything in the accumulator ready without linger (P-42).
type FlushProducer struct{ Producer int32 }

// CloseProducer flushes and ends a producer; CrashProducer ends it at once.
type CloseProducer struct{ Producer int32 }

// CrashProducer ends a producer at once; what it had not sent is gone.
type CrashProducer struct{ Producer int32 }

// NewConsumer makes a consumer client without a group.
type NewConsumer struct {
	Name  string
	Props config.Consumer
}

// Assign gives a consumer exactly these partitions.
type Assign struct {
	Consumer int32
	Topic    string
	// Partitions is empty for all partitions of the topic.
	Partitions []int32
}

// StartPoll begins a poll that ends with records or after Timeout µs; Consumer.Poll tells.
type StartPoll struct {
	Consumer int32
	Timeout  int64
}

// Seek sets the position of a partition. Offset may be EarliestTimestamp or LatestTimestamp for the
// beginning and the end.
type Seek struct {
	Consumer  int32
	Topic     string
	Partition int32
	Offset    int64
	// Epoch is the leader epoch of the record before, as a committed offset carries it (C-40), if EpochKnown.
	Epoch      int32
	EpochKnown bool
}

// PauseConsumer and ResumeConsumer stop and restart fetching of partitions (C-10).
type PauseConsumer struct {
	Consumer   int32
	Topic      string
	Partitions []int32
}

// ResumeConsumer restarts fetching of partitions.
type ResumeConsumer struct {
	Consumer   int32
	Topic      string
	Partitions []int32
}

// CloseConsumer ends a consumer (CloseOptions, KIP-1092).
type CloseConsumer struct {
	Consumer   int32
	Membership MembershipOperation
	Timeout    int64 // µs; 0 for Kafka's default of 30 s
}

// MembershipOperation says what a consumer that closes does with its membership (CloseOptions.GroupMembershipOperation).
type MembershipOperation uint8

// The operations. By default a dynamic member leaves, and a static one remains: with the consumer protocol it says that it is
// away for a while.
const (
	MembershipDefault MembershipOperation = iota
	LeaveGroup
	RemainInGroup
)

func (CreateTopic) command()    {}
func (CrashBroker) command()    {}
func (PowerLoss) command()      {}
func (StopBroker) command()     {}
func (StartBroker) command()    {}
func (PauseBroker) command()    {}
func (ResumeBroker) command()   {}
func (CutLink) command()        {}
func (HealLink) command()       {}
func (SetLatency) command()     {}
func (CutOneWay) command()      {}
func (SlowBroker) command()     {}
func (DeliverMessage) command() {}
func (DropMessage) command()    {}
func (DelayMessage) command()   {}
func (NewProducer) command()    {}
func (Send) command()           {}
func (SendEvery) command()      {}
func (FlushProducer) command()  {}
func (CloseProducer) command()  {}
func (CrashProducer) command()  {}
func (NewConsumer) command()    {}
func (Assign) command()         {}
func (StartPoll) command()      {}
func (Seek) command()           {}
func (PauseConsumer) command()  {}
func (ResumeConsumer) command() {}
func (CloseConsumer) command()  {}
