package machine

// Kafka's protocol error codes, as far as this machine answers with them (Errors.java).
const (
	NONE                           Code = 0
	OFFSET_OUT_OF_RANGE            Code = 1
	CORRUPT_MESSAGE                Code = 2
	UNKNOWN_TOPIC_OR_PARTITION     Code = 3
	LEADER_NOT_AVAILABLE           Code = 5
	NOT_LEADER_OR_FOLLOWER         Code = 6
	REQUEST_TIMED_OUT              Code = 7
	MESSAGE_TOO_LARGE              Code = 10
	NETWORK_EXCEPTION              Code = 13
	RECORD_LIST_TOO_LARGE          Code = 18
	NOT_ENOUGH_REPLICAS            Code = 19
	NOT_ENOUGH_REPLICAS_AFTER      Code = 20
	INVALID_REQUIRED_ACKS          Code = 21
	TOPIC_ALREADY_EXISTS           Code = 36
	INVALID_PARTITIONS             Code = 37
	INVALID_REPLICATION_FACTOR     Code = 38
	INVALID_REPLICA_ASSIGNMENT     Code = 39
	NOT_CONTROLLER                 Code = 41
	INVALID_REQUEST                Code = 42
	POLICY_VIOLATION               Code = 44
	OUT_OF_ORDER_SEQUENCE_NUMBER   Code = 45
	INVALID_PRODUCER_EPOCH         Code = 47
	OPERATION_NOT_ATTEMPTED        Code = 55
	KAFKA_STORAGE_ERROR            Code = 56
	FENCED_LEADER_EPOCH            Code = 74
	UNKNOWN_LEADER_EPOCH           Code = 75
	STALE_BROKER_EPOCH             Code = 77
	OFFSET_NOT_AVAILABLE           Code = 78
	PREFERRED_LEADER_NOT_AVAILABLE Code = 80
	ELIGIBLE_LEADERS_NOT_AVAILABLE Code = 83
	ELECTION_NOT_NEEDED            Code = 84
	NO_REASSIGNMENT_IN_PROGRESS    Code = 85
	INVALID_UPDATE_VERSION         Code = 95
	UNKNOWN_TOPIC_ID               Code = 100
	DUPLICATE_BROKER_REGISTRATION  Code = 101
	INELIGIBLE_REPLICA             Code = 107
	NEW_LEADER_ELECTED             Code = 108
)

// What a client makes up itself: exceptions of the Java client that have no code on the wire. The
// numbers are ours, the names are Kafka's.
const (
	TIMEOUT_EXCEPTION     Code = 1001 + iota // delivery.timeout.ms or max.block.ms has passed
	BUFFER_EXHAUSTED                         // no buffer.memory within max.block.ms
	RECORD_TOO_LARGE                         // larger than max.request.size or buffer.memory
	PRODUCER_CLOSED                          // send() after close()
	NO_OFFSET                                // no position and auto.offset.reset is none
	POSITION_OUT_OF_RANGE                    // the position does not exist and auto.offset.reset is none
	LOG_TRUNCATION                           // the log was cut below the position and auto.offset.reset is none
)

var codeNames = []struct {
	code Code
	name string
}{
	{NONE, "NONE"},
	{OFFSET_OUT_OF_RANGE, "OFFSET_OUT_OF_RANGE"},
	{CORRUPT_MESSAGE, "CORRUPT_MESSAGE"},
	{UNKNOWN_TOPIC_OR_PARTITION, "UNKNOWN_TOPIC_OR_PARTITION"},
	{LEADER_NOT_AVAILABLE, "LEADER_NOT_AVAILABLE"},
	{NOT_LEADER_OR_FOLLOWER, "NOT_LEADER_OR_FOLLOWER"},
	{REQUEST_TIMED_OUT, "REQUEST_TIMED_OUT"},
	{MESSAGE_TOO_LARGE, "MESSAGE_TOO_LARGE"},
	{NETWORK_EXCEPTION, "NETWORK_EXCEPTION"},
	{RECORD_LIST_TOO_LARGE, "RECORD_LIST_TOO_LARGE"},
	{NOT_ENOUGH_REPLICAS, "NOT_ENOUGH_REPLICAS"},
	{NOT_ENOUGH_REPLICAS_AFTER, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"},
	{INVALID_REQUIRED_ACKS, "INVALID_REQUIRED_ACKS"},
	{TOPIC_ALREADY_EXISTS, "TOPIC_ALREADY_EXISTS"},
	{INVALID_PARTITIONS, "INVALID_PARTITIONS"},
	{INVALID_REPLICATION_FACTOR, "INVALID_REPLICATION_FACTOR"},
	{INVALID_REPLICA_ASSIGNMENT, "INVALID_REPLICA_ASSIGNMENT"},
	{NOT_CONTROLLER, "NOT_CONTROLLER"},
	{INVALID_REQUEST, "INVALID_REQUEST"},
	{POLICY_VIOLATION, "POLICY_VIOLATION"},
	{OUT_OF_ORDER_SEQUENCE_NUMBER, "OUT_OF_ORDER_SEQUENCE_NUMBER"},
	{INVALID_PRODUCER_EPOCH, "INVALID_PRODUCER_EPOCH"},
	{OPERATION_NOT_ATTEMPTED, "OPERATION_NOT_ATTEMPTED"},
	{KAFKA_STORAGE_ERROR, "KAFKA_STORAGE_ERROR"},
	{FENCED_LEADER_EPOCH, "FENCED_LEADER_EPOCH"},
	{UNKNOWN_LEADER_EPOCH, "UNKNOWN_LEADER_EPOCH"},
	{STALE_BROKER_EPOCH, "STALE_BROKER_EPOCH"},
	{OFFSET_NOT_AVAILABLE, "OFFSET_NOT_AVAILABLE"},
	{PREFERRED_LEADER_NOT_AVAILABLE, "PREFERRED_LEADER_NOT_AVAILABLE"},
	{ELIGIBLE_LEADERS_NOT_AVAILABLE, "ELIGIBLE_LEADERS_NOT_AVAILABLE"},
	{ELECTION_NOT_NEEDED, "ELECTION_NOT_NEEDED"},
	{NO_REASSIGNMENT_IN_PROGRESS, "NO_REASSIGNMENT_IN_PROGRESS"},
	{INVALID_UPDATE_VERSION, "INVALID_UPDATE_VERSION"},
	{UNKNOWN_TOPIC_ID, "UNKNOWN_TOPIC_ID"},
	{DUPLICATE_BROKER_REGISTRATION, "DUPLICATE_BROKER_REGISTRATION"},
	{INELIGIBLE_REPLICA, "INELIGIBLE_REPLICA"},
	{NEW_LEADER_ELECTED, "NEW_LEADER_ELECTED"},
	{TIMEOUT_EXCEPTION, "TimeoutException"},
	{BUFFER_EXHAUSTED, "BufferExhaustedException"},
	{RECORD_TOO_LARGE, "RecordTooLargeException"},
	{PRODUCER_CLOSED, "IllegalStateException"},
	{NO_OFFSET, "NoOffsetForPartitionException"},
	{POSITION_OUT_OF_RANGE, "OffsetOutOfRangeException"},
	{LOG_TRUNCATION, "LogTruncationException"},
}

// String is Kafka's name of the error.
func (c Code) String() string {
	for _, n := range codeNames {
		if n.code == c {
			return n.name
		}
	}
	return "UNKNOWN_SERVER_ERROR"
}
