package machine

// Truth is what nobody inside Kafka knows and the checks need: which records a client was told are safe.
type Truth struct {
	Acked []AckedBatch // in the order in which clients learnt of them
}

// AckedBatch is one batch that a producer was told is written.
type AckedBatch struct {
	TP         TopicPartition
	BaseOffset int64 // -1 with acks=0
	Count      int32
	Sender     int32
	Serial     int32
	Acks       int8
	At         int64 // µs
	Lost       bool  // no leader's log holds it any more
}
