package machine

import (
	"fmt"

	"kafkalab/kafkasim/partlog"
)

// The records of __transaction_state, to the byte.
//
// A key is the transactional id, a value is all that the coordinator knows of it; a null value forgets the id.
// So the topic can be compacted.
//
// Kafka: TransactionLog, TransactionLogKey and TransactionLogValue (coordinator-key and coordinator-value
// messages; KIP-98, KIP-890). Version 1 of the value has tagged fields and is written from transaction.version 1
// on.

// transactionRecord is the record of a transactional id; a Dead one is a tombstone. names are the topics of its
// partitions.
func (s *State) transactionRecord(b *Broker, t *TransactionMetadata) partlog.Record {
	key := recordWriter{}
	key.int16(0)
	key.text(t.ID)
	if t.State == TxnDead {
		return partlog.Record{Key: string(key.bytes), Flags: partlog.NullValue}
	}
	w := recordWriter{flexible: s.World.Rules.On(TransactionsV2)}
	if w.flexible {
		w.int16(1)
	} else {
		w.int16(0)
	}
	w.int64(t.ProducerID)
	w.int16(t.ProducerEpoch)
	w.int32(int32(t.TimeoutMs))
	w.int8(int8(t.State))
	writeTransactionPartitions(&w, b, t)
	w.int64(t.UpdatedMs)
	w.int64(t.StartedMs)
	if w.flexible {
		writeTransactionTags(&w, t)
	}
	return partlog.Record{Key: string(key.bytes), Value: string(w.bytes)}
}

// writeTransactionPartitions writes the partitions by topic; null in the state Empty.
func writeTransactionPartitions(w *recordWriter, b *Broker, t *TransactionMetadata) {
	if t.State == TxnEmpty {
		w.length(-1)
		return
	}
	topics := 0
	for i, tp := range t.Partitions {
		if i == 0 || t.Partitions[i-1].Topic != tp.Topic {
			topics++
		}
	}
	w.length(topics)
	for i := 0; i < len(t.Partitions); {
		n := i
		for n < len(t.Partitions) && t.Partitions[n].Topic == t.Partitions[i].Topic {
			n++
		}
		w.text(b.Image.Topics[t.Partitions[i].Topic].Name)
		w.length(n - i)
		for ; i < n; i++ {
			w.int32(t.Partitions[i].Partition)
		}
		w.noTags()
	}
}

// writeTransactionTags writes the fields that version 1 has beside: those that are not at their default.
func writeTransactionTags(w *recordWriter, t *TransactionMetadata) {
	n := uint64(0)
	for _, there := range []bool{t.PreviousProducerID != -1, t.NextProducerID != -1, t.Version != 0} {
		if there {
			n++
		}
	}
	w.uvarint(n)
	if t.PreviousProducerID != -1 {
		w.uvarint(0)
		w.uvarint(8)
		w.int64(t.PreviousProducerID)
	}
	if t.NextProducerID != -1 {
		w.uvarint(1)
		w.uvarint(8)
		w.int64(t.NextProducerID)
	}
	if t.Version != 0 {
		w.uvarint(2)
		w.uvarint(2)
		w.int16(int16(t.Version))
	}
}

// readTransaction reads a record of __transaction_state. Partitions of topics that the image does not have any
// more are left out. ok is false for a record that is not one of these.
func readTransaction(im *Image, r *partlog.Record) (t TransactionMetadata, ok bool) {
	key := recordReader{rest: r.Key}
	version := key.int16()
	t = TransactionMetadata{ID: key.text(), PreviousProducerID: -1, NextProducerID: -1, LastProducerEpoch: -1}
	if key.bad || version != 0 {
		return t, false
	}
	if r.Flags&partlog.NullValue != 0 {
		t.State = TxnDead
		return t, true
	}
	v := recordReader{rest: r.Value}
	v.flexible = v.int16() == 1
	t.ProducerID, t.ProducerEpoch, t.TimeoutMs, t.State = v.int64(), v.int16(), int64(v.int32()), TransactionState(v.int8())
	for n := v.length(); n > 0 && !v.bad; n-- {
		topic := im.topic(v.text())
		for k := v.length(); k > 0 && !v.bad; k-- {
			if p := v.int32(); topic >= 0 {
				t.Partitions = addChanged(t.Partitions, TopicPartition{topic, p})
			}
		}
		v.tags(nil)
	}
	t.UpdatedMs, t.StartedMs = v.int64(), v.int64()
	v.tags(func(tag uint64, field *recordReader) {
		switch tag {
		case 0:
			t.PreviousProducerID = field.int64()
		case 1:
			t.NextProducerID = field.int64()
		case 2:
			t.Version = int8(field.int16())
		}
	})
	return t, !v.bad && int(t.State) < len(transactionStates)
}

// replayTransactions takes a batch of the log into a shard.
func (x *CoordinatorShard) replayTransactions(im *Image, batch *partlog.Batch) {
	if batch.Control {
		return
	}
	for c := batch.Records.From(0); c.Next(); {
		switch t, ok := readTransaction(im, &c.Record); {
		case !ok:
		case t.State == TxnDead:
			x.forget(t.ID)
		default:
			x.put(t)
		}
	}
}

// TransactionRecordWords are the key and the value of a record of __transaction_state as
// kafka-dump-log.sh --transaction-log-decoder shows them; false when it is none.
func (s *State) TransactionRecordWords(r *partlog.Record) (key, value string, ok bool) {
	t, ok := readTransaction(s.Metadata(), r)
	if !ok {
		return "", "", false
	}
	key = "transaction_metadata::transactionalId=" + t.ID
	if t.State == TxnDead {
		return key, "<DELETE>", true
	}
	parts := ""
	for i, tp := range t.Partitions {
		if i > 0 {
			parts += ","
		}
		parts += s.PartitionName(tp)
	}
	return key, fmt.Sprintf("producerId:%d,producerEpoch:%d,state=%s,partitions=[%s],txnLastUpdateTimestamp=%d,txnTimeoutMs=%d",
		t.ProducerID, t.ProducerEpoch, t.State, parts, t.UpdatedMs, t.TimeoutMs), true
}

// ReadTransaction reads a record of __transaction_state; false when it is none.
func (s *State) ReadTransaction(r *partlog.Record) (TransactionMetadata, bool) {
	return readTransaction(s.Metadata(), r)
}
