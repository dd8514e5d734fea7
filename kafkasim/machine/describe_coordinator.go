package machine

import "fmt"

// Messages to and from coordinators, and their timers, in words.

// describeCoordinator is what such a message says or such a timer is for; false for every other payload.
func (s *State) describeCoordinator(p Payload) (string, bool) {
	switch p := p.(type) {
	case FindCoordinatorRequest:
		return fmt.Sprintf("FindCoordinator %s %s", p.Kind, p.Key), true
	case FindCoordinatorResponse:
		return "FindCoordinatorResponse " + orError(p.Error, s.NodeName(p.Node)), true
	case CoordinatorLoadTimer:
		return fmt.Sprintf("has read %s and coordinates it in epoch %d", s.PartitionName(p.TP), p.Epoch), true
	case CoordinatorWritten:
		return fmt.Sprintf("its record in %s %s", s.PartitionName(p.TP), orError(p.Error, "is committed")), true
	}
	return s.describeTransaction(p)
}

// describeTransaction is describeCoordinator for transactions.
func (s *State) describeTransaction(p Payload) (string, bool) {
	switch p := p.(type) {
	case AddPartitionsToTxnRequest:
		return "AddPartitionsToTxn " + list(p.Transactions, s.transactionPartWords), true
	case AddPartitionsToTxnResponse:
		return "AddPartitionsToTxnResponse " + list(p.Results, resultWords), true
	case AddOffsetsToTxnRequest:
		return fmt.Sprintf("AddOffsetsToTxn %s group %s", p.ID, p.Group), true
	case AddOffsetsToTxnResponse:
		return "AddOffsetsToTxnResponse " + orError(p.Error, "added"), true
	case EndTxnRequest:
		return fmt.Sprintf("EndTxn %s %s id %d epoch %d", p.ID, outcome(p.Commit), p.ProducerID, p.ProducerEpoch), true
	case EndTxnResponse:
		return "EndTxnResponse " + orError(p.Error, fmt.Sprintf("id %d epoch %d", p.ProducerID, p.ProducerEpoch)), true
	case WriteTxnMarkersRequest:
		return "WriteTxnMarkers " + list(p.Markers, func(m TxnMarker) string {
			return fmt.Sprintf("%s id %d epoch %d %s", outcome(m.Commit), m.ProducerID, m.ProducerEpoch, list(m.Partitions, s.PartitionName))
		}), true
	case WriteTxnMarkersResponse:
		return "WriteTxnMarkersResponse " + list(p.Results, resultWords), true
	case PeerTimer:
		return "looks after its connection to " + s.NodeName(p.Node), true
	case MarkerTimer:
		return "looks for markers that are to be sent again", true
	case VerifyTimer:
		return "asks the coordinators of transactions again", true
	case TransactionTimer:
		return "looks for transactions that are open for too long", true
	case ExpireTransactionsTimer:
		return "looks for transactional ids that nobody uses", true
	}
	return s.describeGroup(p)
}

func (s *State) transactionPartWords(t TransactionPart) string {
	verb := "add"
	if t.VerifyOnly {
		verb = "verify"
	}
	return fmt.Sprintf("%s %s id %d epoch %d %s", verb, t.ID, t.ProducerID, t.ProducerEpoch, list(t.Partitions, s.PartitionName))
}

func resultWords(r TransactionResult) string {
	return list(r.Errors, func(c Code) string { return c.String() })
}

// outcome is how a transaction ends, in Kafka's words.
func outcome(commit bool) string {
	if commit {
		return "COMMIT"
	}
	return "ABORT"
}
