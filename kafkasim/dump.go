package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Dump is what kafka-dump-log.sh --print-data-log prints.
type Dump struct{ text string }

// String is the tool's output.
func (d *Dump) String() string { return d.text }

// DumpLog shows a partition's log on a broker (none named: on its leader) as kafka-dump-log.sh does with
// --print-data-log, segment by segment. Times are virtual ms; the checksums are those of the real bytes
// (O-30 to O-32).
func (c *Cluster) DumpLog(topic string, partition int, broker ...int) *Dump {
	_, r := c.replicaFor(fmt.Sprintf("DumpLog(%q, %d)", topic, partition), topic, partition, broker)
	var b strings.Builder
	for i := range r.Log.Sealed {
		dumpSegment(&b, &r.Log.Sealed[i])
	}
	dumpSegment(&b, &r.Log.Active)
	return &Dump{strings.TrimRight(b.String(), "\n")}
}

// replicaFor finds a partition's replica: on the broker that is given, or else on its leader.
func (c *Cluster) replicaFor(where, topic string, partition int, broker []int) (machine.NodeID, *machine.Replica) {
	tp := c.partitionOf(where, topic, partition)
	reg := c.registration(tp)
	id := c.leaderOrLast(tp, reg)
	switch {
	case len(broker) > 1:
		misuse(where, "%d brokers are given; want one, or none for the leader", len(broker))
	case len(broker) == 1:
		id = c.node(where, broker[0])
	case id == machine.NoNode:
		misuse(where, "%s-%d has no leader; name one of the brokers %s", topic, partition, commas(ints(reg.Replicas)))
	}
	r := c.replica(id, tp)
	if r == nil {
		misuse(where, "broker %d has no replica of %s-%d; its replicas are on brokers %s", id, topic, partition, commas(ints(reg.Replicas)))
	}
	return id, r
}

// dumpSegment is one segment file; position counts its bytes (O-32).
func dumpSegment(out *strings.Builder, s *partlog.Segment) {
	fmt.Fprintf(out, "Dumping %020d.log\nLog starting offset: %d\n", s.BaseOffset, s.BaseOffset)
	position := int64(0)
	for b := range s.Batches.All() {
		dumpBatch(out, b, position)
		position += int64(b.Size)
	}
}

// dumpBatch is a batch's line and its records' (O-30, O-31).
func dumpBatch(out *strings.Builder, b *partlog.Batch, position int64) {
	last := b.BaseSequence
	if b.BaseSequence >= 0 {
		last = sequence(b, b.Records.Len()-1)
	}
	horizon := "OptionalLong.empty"
	if b.DeleteHorizon != 0 {
		horizon = fmt.Sprintf("OptionalLong[%d]", b.DeleteHorizon)
	}
	fmt.Fprintf(out, "baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d "+
		"partitionLeaderEpoch: %d isTransactional: %t isControl: %t deleteHorizonMs: %s position: %d "+
		"CreateTime: %d size: %d magic: 2 compresscodec: %s crc: %d isvalid: true\n",
		b.BaseOffset, b.NextOffset()-1, b.Records.Live(), b.BaseSequence, last, b.ProducerID, b.ProducerEpoch,
		b.LeaderEpoch, b.Transactional, b.Control, horizon, position, b.MaxTimestamp, b.Size, b.Codec, b.CRC())
	for c := b.Records.From(0); c.Next(); {
		dumpRecord(out, b, &c, c.Place())
	}
}

func dumpRecord(out *strings.Builder, b *partlog.Batch, r *partlog.Cursor, i int) {
	keySize, valueSize, seq := len(r.Key), len(r.Value), int32(-1)
	if r.Flags&partlog.NullKey != 0 {
		keySize = -1
	}
	if r.Flags&partlog.NullValue != 0 {
		valueSize = -1
	}
	if b.BaseSequence >= 0 {
		seq = sequence(b, i)
	}
	var names []string
	for _, h := range r.Headers() {
		names = append(names, h.Key)
	}
	fmt.Fprintf(out, "| offset: %d CreateTime: %d keySize: %d valueSize: %d sequence: %d headerKeys: [%s]",
		b.BaseOffset+int64(i), r.Timestamp, keySize, valueSize, seq, strings.Join(names, ","))
	if m, ok := b.Marker(); ok {
		kind := "ABORT"
		if m.Commit {
			kind = "COMMIT"
		}
		fmt.Fprintf(out, " endTxnMarker: %s coordinatorEpoch: %d\n", kind, m.CoordinatorEpoch)
		return
	}
	if keySize >= 0 {
		out.WriteString(" key: " + r.Key)
	}
	if valueSize >= 0 {
		out.WriteString(" payload: " + r.Value)
	}
	out.WriteByte('\n')
}

// sequence is that of a batch's i-th record; sequences wrap from 2147483647 to 0 (P-82).
func sequence(b *partlog.Batch, i int) int32 {
	return int32((int64(b.BaseSequence) + int64(i)) & 0x7fffffff)
}
