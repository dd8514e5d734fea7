package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
)

// What the Java producer's exceptions say, word for word: TransactionManager of 4.3.1, as testdata/producer-calls-4.3.1.tsv
// has them from a run.

// inState are the states that the calls of an application go to.
var inState = map[string]machine.TxnClientState{
	"initTransactions": machine.TxnInitializing, "beginTransaction": machine.TxnInTransaction,
	"commitTransaction": machine.TxnCommitting, "abortTransaction": machine.TxnAborting,
}

// blocked is what a call that timed out had waited for, and what it says of it.
var blocked = map[string][2]string{
	"initTransactions": {"InitProducerId",
		"InitTransactions timed out - did not complete coordinator discovery or receive the InitProducerId response within max.block.ms."},
	"commitTransaction": {"EndTxn(true)", "CommitTransaction timed out - did not complete EndTxn with the transaction coordinator within max.block.ms"},
	"abortTransaction":  {"EndTxn(false)", "AbortTransaction timed out - did not complete EndTxn(abort) with the transaction coordinator within max.block.ms"},
	"sendOffsetsToTransaction": {"TxnOffsetCommitHandler",
		"SendOffsetsToTransaction timed out - did not reach the coordinator or receive the TxnOffsetCommit/AddOffsetsToTxn response within max.block.ms"},
}

// errorClasses are Java's classes and words for the protocol errors that end a call (Errors.java).
var errorClasses = map[machine.Code][2]string{
	machine.UNKNOWN_SERVER_ERROR:         {"UnknownServerException", "The server experienced an unexpected error when processing the request."},
	machine.OUT_OF_ORDER_SEQUENCE_NUMBER: {"OutOfOrderSequenceException", "The broker received an out of order sequence number."},
	machine.INVALID_PRODUCER_EPOCH:       {"InvalidProducerEpochException", "Producer attempted to produce with an old epoch."},
	machine.INVALID_TXN_STATE:            {"InvalidTxnStateException", "The producer attempted a transactional operation in an invalid state."},
	machine.INVALID_PRODUCER_ID_MAPPING:  {"InvalidPidMappingException", "The producer attempted to use a producer id which is not currently assigned to its transactional id."},
	machine.PRODUCER_FENCED:              {"ProducerFencedException", "There is a newer producer with the same transactionalId which fences the current one."},
	machine.TRANSACTION_ABORTABLE:        {"TransactionAbortableException", "The server encountered an error with the transaction. The client can abort the transaction to continue using this transactional ID."},
	machine.INVALID_TRANSACTION_TIMEOUT:  {"KafkaException", "Unexpected error in InitProducerIdResponse; The transaction timeout is larger than the maximum value allowed by the broker (as configured by transaction.max.timeout.ms)."},
	machine.UNKNOWN_MEMBER_ID:            {"CommitFailedException", "Transaction offset Commit failed due to consumer group metadata mismatch: The coordinator is not aware of this member."},
	machine.ILLEGAL_GENERATION:           {"CommitFailedException", "Transaction offset Commit failed due to consumer group metadata mismatch: Specified group generation id is not valid."},
	machine.FENCED_INSTANCE_ID:           {"FencedInstanceIdException", "The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id."},
}

// errorWords is an exception as its class and its words; the name alone where we do not have them.
func errorWords(code machine.Code) string {
	if w, known := errorClasses[code]; known {
		return w[0] + ": " + w[1]
	}
	return code.String()
}

// answered is what a call throws when its request has failed, or nothing came.
func (p *Producer) answered(call string, code machine.Code) string {
	if w := blocked[call]; code == machine.TIMEOUT_EXCEPTION && w[0] != "" {
		return fmt.Sprintf("TimeoutException: Timeout expired after %dms while awaiting %s. %s", p.state().Config.MaxBlockMs, w[0], w[1])
	}
	return errorWords(code)
}

// refusal is what a call throws at once, as it does not fit the producer's state.
func (p *Producer) refusal(call string) string {
	t := &p.state().Txn
	if call == "sendOffsetsToTransaction" {
		return p.refusalOr(call, fmt.Sprintf("Cannot send offsets if a transaction is not in progress (currentState= %v)", t.State))
	}
	return p.refusalOr(call, fmt.Sprintf("TransactionalId %s: Invalid transition attempted from state %v to state %v", p.state().Config.TransactionalID, t.State, inState[call]))
}

// refusalOr is what a call throws because of an error state or of the call before it, else IllegalStateException with
// these words.
func (p *Producer) refusalOr(call, words string) string {
	s := p.state()
	t, who := &s.Txn, fmt.Sprintf("Producer with transactionalId '%s' and (producerId=%d, epoch=%d)", s.Config.TransactionalID, s.ProducerID, s.ProducerEpoch)
	switch {
	case t.State >= machine.TxnAbortableError && t.Error == machine.PRODUCER_FENCED:
		return "ProducerFencedException: " + who + " has been fenced by another producer with the same transactionalId"
	case t.State >= machine.TxnAbortableError && t.Error == machine.INVALID_PRODUCER_EPOCH:
		return "InvalidProducerEpochException: " + who + " attempted to produce with an old epoch"
	case t.State >= machine.TxnAbortableError:
		return "KafkaException: Cannot execute transactional method because we are in an error state <- " + errorWords(t.Error)
	case t.Waits() && t.Call.String() == call:
		return "" // Kafka's call would not throw: it would wait for the same end
	case p.c.s.GaveUp(p.i), t.Waits() && t.Call != machine.CallOffsets:
		words = fmt.Sprintf("Cannot attempt operation `%s` because the previous call to `%s` timed out and must be retried", call, t.Call)
	}
	return "IllegalStateException: " + words
}

// refusedSend is what a send() throws as it does not fit the state of the producer's transactions; nil for nothing
// (TransactionManager.maybeAddPartition).
func (c *Cluster) refusedSend(cmd *machine.Send) *string {
	s := &c.s.Producers[cmd.Producer]
	if s.Config.TransactionalID == "" || s.Txn.State == machine.TxnInTransaction || s.Status != machine.ProducerRunning {
		return nil
	}
	where := cmd.Topic + "-?"
	if n := c.s.WouldChoose(cmd, int32(len(c.image().Topics[c.findTopic(cmd.Topic)].Partitions))); n >= 0 {
		where = fmt.Sprintf("%s-%d", cmd.Topic, n)
	}
	words := fmt.Sprintf("Cannot add partition %s to transaction while in state  %v", where, s.Txn.State)
	if s.ProducerID < 0 {
		words = fmt.Sprintf("Cannot add partition %s to transaction before completing a call to initTransactions", where)
	}
	words = (&Producer{c, cmd.Producer}).refusalOr("send", words)
	return &words
}

// because adds an exception's words to its name: "PRODUCER_FENCED (ProducerFencedException: …)".
func because(name, message string) string {
	class, text, worded := strings.Cut(message, ": ")
	switch {
	case !worded:
		return name
	case class == name:
		return name + ": " + text
	}
	return name + " (" + message + ")"
}
