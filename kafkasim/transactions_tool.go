package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// What kafka-transactions.sh shows (KIP-664). Times are virtual ms.

// Table is the output of one of Kafka's tools: columns under their names.
type Table struct {
	Columns []string
	Rows    [][]string
}

// String is the tool's output.
func (t *Table) String() string {
	width := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s\t", width[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " \t") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Txn is a transactional id as its coordinator knows it, and the partitions where its transaction is open. While nobody
// coordinates it, what is known of it is the last that the log holds.
func (c *Cluster) Txn(id string) *Txn {
	v := c.findTxn(id)
	if v == nil {
		var ids []string
		for _, t := range c.transactions() {
			ids = append(ids, t.ID)
		}
		misuse(fmt.Sprintf("Txn(%q)", id), "no coordinator knows this transactional id%s", meant(id, ids, "a producer with the property transactional.id makes it known"))
	}
	return &Txn{*v}
}

// Txn is a transactional id, as it was when it was asked for.
type Txn struct{ view.Transaction }

// String is its state, and a row for each partition of its transaction.
func (t *Txn) String() string {
	s := fmt.Sprintf("%s: %s, producer id %d, epoch %d, coordinator broker %d", t.ID, t.State, t.ProducerID, t.ProducerEpoch, t.Coordinator)
	if t.Pending != "" {
		s += ", on its way to " + t.Pending
	}
	if t.Started >= 0 && !strings.HasPrefix(t.State, "Complete") {
		s += ", since t=" + inMs(t.Started)
	}
	if len(t.Partitions) == 0 {
		return s
	}
	table := [][]string{{"PARTITION", "FIRST OFFSET"}}
	for _, p := range t.Partitions {
		table = append(table, []string{fmt.Sprintf("%s-%d", p.Topic, p.ID), unknownDash(p.FirstOffset)})
	}
	return s + "\n" + rows(table)
}

func (c *Cluster) findTxn(id string) *view.Transaction {
	for _, t := range c.transactions() {
		if t.ID == id {
			return &t
		}
	}
	return nil
}

// transactions are all transactional ids by id.
func (c *Cluster) transactions() []view.Transaction {
	var out []view.Transaction
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		for j := range b.Shards {
			x := &b.Shards[j]
			for k := range x.Transactions {
				if !x.Loading {
					out = append(out, c.viewTransaction(b, x, &x.Transactions[k]))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b view.Transaction) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (c *Cluster) viewTransaction(b *machine.Broker, x *machine.CoordinatorShard, t *machine.TransactionMetadata) view.Transaction {
	v := view.Transaction{ID: t.ID, Coordinator: int(b.ID), StatePartition: int(x.TP.Partition), ProducerID: t.ProducerID, ProducerEpoch: int(t.ProducerEpoch),
		State: t.State.String(), Timeout: t.TimeoutMs * 1000, Started: -1}
	if t.Pending {
		v.Pending = t.PendingTo.String()
	}
	if t.StartedMs >= 0 {
		v.Started = t.StartedMs * 1000
	}
	for _, tp := range t.Partitions {
		p := view.TransactionPartition{Topic: c.image().Topics[tp.Topic].Name, ID: int(tp.Partition), FirstOffset: -1}
		if reg := c.registration(tp); reg != nil && reg.Leader != machine.NoNode {
			if r := c.replica(reg.Leader, tp); r != nil {
				p.FirstOffset = r.Log.OpenBy(t.ProducerID)
			}
		}
		v.Partitions = append(v.Partitions, p)
	}
	return v
}

// Transactions lists what all coordinators know, as kafka-transactions.sh list does.
func (c *Cluster) Transactions() *Table {
	t := &Table{Columns: []string{"TransactionalId", "Coordinator", "ProducerId", "TransactionState"}}
	for _, x := range c.transactions() {
		t.Rows = append(t.Rows, []string{x.ID, fmt.Sprint(x.Coordinator), fmt.Sprint(x.ProducerID), x.State})
	}
	return t
}

// DescribeTxn shows a transactional id as kafka-transactions.sh describe does.
func (c *Cluster) DescribeTxn(id string) *Table {
	x := c.Txn(id)
	start, lasts := "None", "None"
	if x.Started >= 0 { // Kafka keeps it after the end, until another producer comes
		start, lasts = fmt.Sprint(x.Started/1000), fmt.Sprint((c.s.Now-x.Started)/1000)
	}
	var parts []string
	for _, p := range x.Partitions {
		parts = append(parts, fmt.Sprintf("%s-%d", p.Topic, p.ID))
	}
	return &Table{
		Columns: []string{"CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs", "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions"},
		Rows: [][]string{{fmt.Sprint(x.Coordinator), x.ID, fmt.Sprint(x.ProducerID), fmt.Sprint(x.ProducerEpoch), x.State, fmt.Sprint(x.Timeout / 1000), start, lasts,
			strings.Join(parts, ",")}},
	}
}

// DescribeProducers shows what a partition's leader knows of producers, as kafka-transactions.sh describe-producers
// does.
func (c *Cluster) DescribeProducers(topic string, partition int) *Table {
	where := fmt.Sprintf("DescribeProducers(%q, %d)", topic, partition)
	r := c.leading(where, topic, partition)
	t := &Table{Columns: []string{"ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp", "CurrentTransactionStartOffset"}}
	for i := range r.Log.Producers {
		p := &r.Log.Producers[i]
		last, open := int32(-1), "None"
		if p.Count > 0 {
			last = p.Batches[p.Count-1].LastSequence
		}
		if o := r.Log.OpenBy(p.ID); o >= 0 {
			open = fmt.Sprint(o)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(p.ID), fmt.Sprint(p.Epoch), fmt.Sprint(p.CoordinatorEpoch), fmt.Sprint(last), fmt.Sprint(p.Last), open})
	}
	return t
}

// leading is the replica of a partition's leader.
func (c *Cluster) leading(where, topic string, partition int) *machine.Replica {
	tp := c.partitionOf(where, topic, partition)
	if reg := c.registration(tp); reg.Leader != machine.NoNode {
		if r := c.replica(reg.Leader, tp); r != nil {
			return r
		}
	}
	misuse(where, "%s-%d has no leader", topic, partition)
	return nil
}

// FindHanging looks in every partition for transactions that are open there and not at any coordinator, or not with
// this partition: as kafka-transactions.sh find-hanging does with --max-transaction-timeout 0. Nobody will ever end
// them (T-70).
func (c *Cluster) FindHanging() *Table {
	t := &Table{Columns: []string{"Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp", "Duration(min)"}}
	known := c.transactions()
	for i := range c.image().Topics {
		topic := &c.image().Topics[i]
		for p := range topic.Partitions {
			reg := &topic.Partitions[p]
			tp := machine.TopicPartition{Topic: int32(i), Partition: int32(p)}
			if reg.Leader == machine.NoNode {
				continue
			}
			r := c.replica(reg.Leader, tp)
			if r == nil {
				continue
			}
			for _, o := range r.Log.Transactions.Open {
				if !expected(known, o, topic.Name, p) {
					t.Rows = append(t.Rows, c.hangingRow(r, o, topic.Name, p))
				}
			}
		}
	}
	return t
}

// expected tells whether a coordinator knows that a transaction is open in a partition.
func expected(known []view.Transaction, o partlog.OpenTransaction, topic string, partition int) bool {
	return slices.ContainsFunc(known, func(t view.Transaction) bool {
		return t.ProducerID == o.ProducerID && slices.ContainsFunc(t.Partitions, func(p view.TransactionPartition) bool { return p.Topic == topic && p.ID == partition })
	})
}

func (c *Cluster) hangingRow(r *machine.Replica, o partlog.OpenTransaction, topic string, partition int) []string {
	row := []string{topic, fmt.Sprint(partition), fmt.Sprint(o.ProducerID)}
	for i := range r.Log.Producers {
		if p := &r.Log.Producers[i]; p.ID == o.ProducerID {
			row = append(row, fmt.Sprint(p.Epoch), fmt.Sprint(p.CoordinatorEpoch), fmt.Sprint(o.First), fmt.Sprint(p.Last), fmt.Sprint((c.s.Now/1000-p.Last)/60_000))
		}
	}
	return row
}

// AbortHanging writes an abort marker for the transaction that begins at an offset of a partition, as kafka-transactions.sh
// abort does: the administrator's way to end what no coordinator will end. It answers with Kafka's error, "NONE" for
// success.
func (c *Cluster) AbortHanging(topic string, partition int, startOffset int64) string {
	where := fmt.Sprintf("AbortHanging(%q, %d, %d)", topic, partition, startOffset)
	r := c.leading(where, topic, partition)
	i := slices.IndexFunc(r.Log.Transactions.Open, func(o partlog.OpenTransaction) bool { return o.First == startOffset })
	if i < 0 {
		misuse(where, "no transaction that is open in this partition begins there; FindHanging and DescribeProducers show where they begin")
	}
	res := c.apply(fmt.Sprintf("c.AbortHanging(%q, %d, %d)", topic, partition, startOffset),
		machine.AbortTransaction{TP: r.TP, ProducerID: r.Log.Transactions.Open[i].ProducerID})
	return res.Error.String()
}
