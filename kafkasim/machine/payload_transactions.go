package machine

// Requests of transactions, named after Kafka's APIs.

// TransactionPart is what a request asks of one transaction: to add partitions to it, or only to say whether it has
// them.
type TransactionPart struct {
	ID            string // transactional id
	ProducerID    int64
	ProducerEpoch int16
	VerifyOnly    bool
	Version       int8             // TransactionV2 when a partition leader asks for such a client
	Partitions    []TopicPartition // sorted
}

// AddPartitionsToTxnRequest asks a coordinator to add partitions to transactions (API 24): a client for its own
// (T-20), a partition leader for those whose batches it has (T-21, T-25).
type AddPartitionsToTxnRequest struct {
	Transactions []TransactionPart
}

// AddPartitionsToTxnResponse answers each transaction, in order.
type AddPartitionsToTxnResponse struct{ Results []TransactionResult }

// TransactionResult is one transaction's answer: an error for each of its partitions, in their order.
type TransactionResult struct{ Errors []Code }

// AddOffsetsToTxnRequest asks a coordinator to add a group's partition of __consumer_offsets to a transaction
// (API 25, T-20).
type AddOffsetsToTxnRequest struct {
	ID            string
	ProducerID    int64
	ProducerEpoch int16
	Group         string
}

// AddOffsetsToTxnResponse answers it.
type AddOffsetsToTxnResponse struct{ Error Code }

// EndTxnRequest commits or aborts a transaction (API 26). Version is the client's protocol: TransactionV2 is
// version 5 of the request.
type EndTxnRequest struct {
	ID            string
	ProducerID    int64
	ProducerEpoch int16
	Commit        bool
	Version       int8
}

// EndTxnResponse has the producer id and epoch of the next transaction, with transactions v2 (T-32).
type EndTxnResponse struct {
	Error         Code
	ProducerID    int64
	ProducerEpoch int16
}

// WriteTxnMarkersRequest is a coordinator's: the leaders of partitions write markers (API 27, T-31).
type WriteTxnMarkersRequest struct{ Markers []TxnMarker }

// TxnMarker is one transaction's end in some partitions. Version is TransactionV2 when the epoch was raised for
// it.
type TxnMarker struct {
	ProducerID       int64
	ProducerEpoch    int16
	Commit           bool
	CoordinatorEpoch int32
	Version          int8
	Partitions       []TopicPartition
}

// WriteTxnMarkersResponse answers each marker's partitions, in their order.
type WriteTxnMarkersResponse struct{ Results []TransactionResult }

func (AddPartitionsToTxnRequest) payload()  {}
func (AddPartitionsToTxnResponse) payload() {}
func (AddOffsetsToTxnRequest) payload()     {}
func (AddOffsetsToTxnResponse) payload()    {}
func (EndTxnRequest) payload()              {}
func (EndTxnResponse) payload()             {}
func (WriteTxnMarkersRequest) payload()     {}
func (WriteTxnMarkersResponse) payload()    {}
