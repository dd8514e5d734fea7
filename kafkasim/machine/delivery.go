package machine

// Delivery is what a producer knows of one record that send() was given: what the future of Kafka's
// send() would tell. State.Delivery(producer, number) answers it in constant time.
type Delivery struct {
	Status    DeliveryStatus
	TP        TopicPartition // Topic -1 before the topic is known, Partition -1 before one is chosen
	Offset    int64          // -1 while pending, when failed and with acks=0
	SentAt    int64          // µs: when send() was called
	DecidedAt int64          // µs: when the client learnt the outcome; -1 while pending
	Attempts  int32          // how often its batch was put on the wire
	Error     string         // Kafka's name of what made it fail: an error code's, or TimeoutException
	LastError string         // of the last attempt that failed, also while it is retried
}

// DeliveryStatus is a record's state at its producer.
type DeliveryStatus uint8

// The states of a record at its producer.
const (
	DeliveryPending DeliveryStatus = iota
	DeliveryAcked
	DeliveryFailed
)
