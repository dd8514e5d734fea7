package simtest

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim"
)

// transactionVerb makes transactional producers act.
func (e *Env) transactionVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "init-transactions": // init-transactions p1
		return e.C.Producer(a.word(1)).InitTransactions().String(), true, nil
	case "begin": // begin p1
		return e.C.Producer(a.word(1)).Begin().String(), true, nil
	case "commit-transaction": // commit-transaction p1
		return e.C.Producer(a.word(1)).Commit().String(), true, nil
	case "abort-transaction": // abort-transaction p1
		return e.C.Producer(a.word(1)).Abort().String(), true, nil
	case "send-offsets": // send-offsets p1 c1
		return e.C.Producer(a.word(1)).SendOffsets(e.C.Consumer(a.word(2))).String(), true, nil
	case "abort-hanging": // abort-hanging orders-0 5
		topic, id, err := partition(a.word(1))
		if err != nil {
			return "", true, err
		}
		at, err := a.number(2)
		if err != nil {
			return "", true, err
		}
		return e.C.AbortHanging(topic, id, int64(at)), true, nil
	}
	return "", false, nil
}

// transactions is what kafka-transactions.sh shows: transactions list | describe ID | describe-producers orders-0 |
// find-hanging.
func (e *Env) transactions(a Args) (string, error) {
	var t *kafkasim.Table
	switch a.word(0) {
	case "list":
		t = e.C.Transactions()
	case "describe":
		t = e.C.DescribeTxn(a.word(1))
	case "describe-producers":
		topic, id, err := partition(a.word(1))
		if err != nil {
			return "", err
		}
		t = e.C.DescribeProducers(topic, id)
	case "find-hanging":
		t = e.C.FindHanging()
	default:
		return "", fmt.Errorf("transactions what? list, describe ID, describe-producers orders-0 or find-hanging")
	}
	return strings.ReplaceAll(t.String(), "\t", "  "), nil // tabs would be lost in an editor
}
