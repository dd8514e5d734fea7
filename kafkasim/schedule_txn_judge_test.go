package kafkasim

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/machine"
)

// settleTransactions mends everything, lets every producer end what it has begun, and judges.
func (r *running) settleTransactions() *failure {
	if f := r.calmDown(); f != nil {
		return f
	}
	for n := range 12 {
		for _, x := range r.allTransactional() {
			if x.open != nil {
				r.transact(x, 3*(n%2)) // ends, aborts or commits
			}
		}
		r.RunFor(ms(100))
	}
	if r.RunFor(ms(2_500)); r.notEnded() != nil { // what nobody ends times out
		r.RunFor(ms(65_000)) // and a request between brokers that was lost is waited for for 30 s
	}
	for _, x := range r.allTransactional() {
		x.learn()
	}
	if f := r.broken(); f != nil {
		return f
	}
	if v := r.s.Check(); len(v) > 0 {
		return &failure{v[0].Invariant, v[0].String(), r.Cluster}
	}
	if r.tainted() {
		return nil
	}
	if f := r.notEnded(); f != nil {
		return f
	}
	return r.judge()
}

// tainted tells whether records were lost by Kafka's rules, so that no promise is left.
func (r *running) tainted() bool {
	return slices.ContainsFunc(r.s.Truth.Partitions, func(t machine.PartitionTruth) bool { return t.Unclean || t.DiskLoss || t.Raced || t.Granted })
}

// notEnded is a transaction that has not ended (33).
func (r *running) notEnded() *failure {
	for p := range r.Topic("t").Partitions {
		v := r.Partition("t", p)
		l := &r.replica(machine.NodeID(v.Leader), machine.TopicPartition{Partition: int32(p)}).Log
		if len(l.Transactions.Open) > 0 || l.LastStable() != l.End {
			return &failure{33, fmt.Sprintf("invariant 33: t-%d has transactions %v open, LSO %d of %d, with nothing in the way", p, l.Transactions.Open, l.LastStable(), l.End), r.Cluster}
		}
	}
	for _, x := range r.ids {
		if t := r.findTxn(x.id); t != nil && t.State != "Empty" && t.State != "CompleteCommit" && t.State != "CompleteAbort" {
			return &failure{33, fmt.Sprintf("invariant 33: %s is %s with nothing in the way", x.id, t.State), r.Cluster}
		}
	}
	return nil
}

// readAll is how often each value is there under an isolation level.
func (r *running) readAll(level string) map[string]int {
	k := r.NewConsumer(level, Config{"auto.offset.reset": "earliest", "isolation.level": level, "fetch.max.wait.ms": 20}).Assign("t")
	seen := map[string]int{}
	for empty := 0; empty < 5; {
		records := k.Poll(ms(60)).Records
		for _, x := range records {
			seen[fmt.Sprint(x.Value)]++
		}
		if empty++; len(records) > 0 {
			empty = 0
		}
	}
	return seen
}

// judge compares what producers were told with what readers see (23, 31).
func (r *running) judge() *failure {
	all, committed := r.readAll("read_uncommitted"), r.readAll("read_committed")
	for n, t := range r.done {
		there, seen := 0, 0
		for _, v := range t.values {
			if all[v] > 1 {
				return &failure{23, fmt.Sprintf("invariant 23: %s of transaction %d is there %d times", v, n, all[v]), r.Cluster}
			}
			there, seen = there+all[v], seen+committed[v]
		}
		switch {
		case t.fate == "committed" && seen != len(t.values), t.fate == "aborted" && seen > 0, seen > 0 && seen != there:
			return &failure{31, fmt.Sprintf("invariant 31: transaction %d is %s; of its records %v there are %d in the logs, and read_committed sees %d", n, t.fate, t.values, there, seen), r.Cluster}
		}
	}
	return r.judgeOffsets()
}

// judgeOffsets: what a group has committed is what some transaction said that was not aborted (31).
func (r *running) judgeOffsets() *failure {
	g, _ := r.viewGroup("g")
	if g == nil {
		return nil
	}
	for _, o := range g.Offsets {
		said := slices.ContainsFunc(r.done, func(t *txnTold) bool {
			at, ok := t.offsets[o.Partition]
			return ok && at == o.Committed && t.fate != "aborted"
		})
		if !said {
			return &failure{31, fmt.Sprintf("invariant 31: group g has offset %d committed for t-%d, which no transaction said that was not aborted", o.Committed, o.Partition), r.Cluster}
		}
	}
	return nil
}
