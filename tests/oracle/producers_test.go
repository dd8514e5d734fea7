package oracle

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// What recordings do with the Java producer, each on a topic of its own.

func init() {
	for name, run := range map[string]func(*replay, Operation, json.RawMessage) error{
		"partitionForKey":                (*replay).partitionForKey,
		"javaSendMany":                   (*replay).javaSendMany,
		"javaSendHeaders":                (*replay).javaSendHeaders,
		"javaSendTsDelta":                (*replay).javaSendTsDelta,
		"javaSendNullKey":                (*replay).javaSendNullKey,
		"javaSend":                       (*replay).javaSendSize,
		"javaSendWithKey":                (*replay).javaSendSize,
		"javaSendClientLimit":            (*replay).javaSendSize,
		"produceOneRecord":               (*replay).produceOneRecord,
		"javaSendOneBatch":               (*replay).javaSendOneBatch,
		"javaSendPaced":                  (*replay).javaSendPaced,
		"recompressionMergesBatches":     (*replay).recompression,
		"maxMessageBytes":                (*replay).maxMessageBytes,
		"javaSendOne":                    (*replay).javaSendOne,
		"javaSendTwoPartitionsOneBroker": (*replay).javaSendTwoPartitions,
		"javaSendUntilFull":              (*replay).javaSendUntilFull,
		"deliveryTimeout":                (*replay).deliveryTimeout,
		"bufferExhausted":                (*replay).bufferExhausted,
		"maxBlockUnknownTopic":           (*replay).maxBlock,
		"maxBlockPartitionOutOfRange":    (*replay).maxBlock,
		"produceThroughLeaderChange":     (*replay).throughLeaderChange,
	} {
		operations[name] = run
	}
}

// java is a producer of the simulator on a topic.
type java struct {
	*replay
	id    int32
	topic string
	tp    machine.TopicPartition
	sent  []int64
}

// javaOn makes a topic with a leader for each partition, and a producer with the properties given.
func (r *replay) javaOn(topicProps map[string]any, leaders []machine.NodeID, given map[string]any) (*java, error) {
	props, problem := config.ParseTopic(r.World.Broker.Topic, topicProps)
	if problem != nil {
		return nil, fmt.Errorf("%s", problem.Text)
	}
	var assignment [][]machine.NodeID
	for _, l := range leaders {
		assignment = append(assignment, []machine.NodeID{l, l%3 + 1, (l+1)%3 + 1})
	}
	name := fmt.Sprintf("java-%d", len(r.Producers))
	res := r.Apply(machine.CreateTopic{Name: name, Props: props, Assignment: assignment})
	if res.Error != machine.NONE {
		return nil, fmt.Errorf("CreateTopic: %v", res.Error)
	}
	r.quiet()
	j, err := r.java(name, given)
	j.tp = machine.TopicPartition{Topic: res.ID}
	return j, err
}

// java makes a producer for a topic.
func (r *replay) java(topic string, given map[string]any) (*java, error) {
	props, problem := config.ParseProducer(given)
	if problem != nil {
		return nil, fmt.Errorf("%s", problem.Text)
	}
	id := r.Apply(machine.NewProducer{Name: fmt.Sprintf("java-%d", len(r.Producers)), Props: props}).ID
	return &java{replay: r, id: id, topic: topic}, nil
}

// javaFor makes a topic of one partition and a producer with those of the names that the step has.
func (r *replay) javaFor(op Operation, topic, given map[string]any, names ...string) (*java, error) {
	for _, n := range names {
		if op.has(n) {
			if v := op.num(n, -1); v >= 0 {
				given[n] = v
			} else if s := op.str(n); s != "" {
				given[n] = s
			}
		}
	}
	return r.javaOn(topic, []machine.NodeID{1}, given)
}

// sendTo hands the producer a record; a key of -1 bytes is none.
func (j *java) sendTo(partition int32, keyBytes int64, value string, at int64, headers ...partlog.Header) {
	x := partlog.Record{Value: value, Timestamp: at}
	if keyBytes < 0 {
		x.Flags = partlog.NullKey
	} else {
		x.Key = strings.Repeat("k", int(keyBytes))
	}
	j.sent = append(j.sent, j.Send(j.id, j.topic, partition, x, headers))
}

func (j *java) flush() {
	j.Apply(machine.FlushProducer{Producer: j.id})
	j.await(300_000*millis, func() bool { return !j.Producers[j.id].Flushing() })
	j.TakeNotes()
}

// batches are those in the leader's log.
func (j *java) batches() (list []javaBatch) {
	log := &j.replica(int(j.registration(j.tp).Leader), j.tp).Log
	log.Batches(0, func(b *partlog.Batch) bool {
		list = append(list, javaBatch{Base: b.BaseOffset, Records: b.Records.Len(), Size: b.Size, Codec: b.Codec.String(),
			Seq: []int32{b.BaseSequence, b.BaseSequence + int32(b.Records.Len()) - 1}})
		return true
	})
	return list
}

// javaBatch is a batch as the recordings show it.
type javaBatch struct {
	Base    int64
	Records int
	Size    int32
	Codec   string
	Seq     []int32
}

func (b javaBatch) String() string {
	return fmt.Sprintf("%d+%d %d bytes %v", b.Base, b.Records, b.Size, b.Seq)
}

// compareBatches compares what both sides know of the batches.
func (j *java) compareBatches(saw json.RawMessage) error {
	var want []javaBatch
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	return equalLists("batches", words(j.batches()), words(want))
}

func words(list []javaBatch) (out []string) {
	for _, b := range list {
		out = append(out, b.String())
	}
	return out
}

// partitionForKey is P-1 to P-5.
func (r *replay) partitionForKey(op Operation, saw json.RawMessage) error {
	key, err := hex.DecodeString(op.str("utf8Hex"))
	if err != nil {
		return err
	}
	if char, n, ok := strings.Cut(op.str("keyRepeat"), "*"); ok {
		key = bytes.Repeat([]byte(char), int(Operation{"n": []byte(n)}.num("n", 0)))
	}
	if op.has("intKey") {
		key = binary.BigEndian.AppendUint32(nil, uint32(op.num("intKey", 0)))
	}
	if op.has("longKey") {
		key = binary.BigEndian.AppendUint64(nil, uint64(op.num("longKey", 0)))
	}
	var want map[string]int32
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for field, p := range want {
		var n int32
		if _, err := fmt.Sscanf(field, "p%d", &n); err != nil {
			n = 1 << 31 >> 1 // of so many partitions a hash without its sign bit keeps all lower bits
			p &= 1<<30 - 1
		}
		if got := machine.KeyPartition(string(key), n); got != p {
			return fmt.Errorf("%s: partition %d of %d, want %d", field, got, n, p)
		}
	}
	return nil
}

// javaSendMany is P-31, P-32, P-67, P-105 and P-106: records of one size at one time, then a flush.
func (r *replay) javaSendMany(op Operation, saw json.RawMessage) error {
	topic := map[string]any{}
	if t := r.topics[r.topic]; r.topic != "" {
		topic["max.message.bytes"] = r.Metadata().Topics[t].Props.MaxMessageBytes
	}
	j, err := r.javaFor(op, topic, map[string]any{"linger.ms": 1000}, "batch.size")
	if err != nil {
		return err
	}
	for range op.num("records", 0) {
		j.sendTo(0, op.num("keyBytes", -1), strings.Repeat("v", int(op.num("valueBytes", 0))), r.Now/millis)
	}
	j.flush()
	if !bytes.HasPrefix(saw, []byte("{")) {
		return j.compareBatches(saw)
	}
	var want struct {
		Results []string
		Log     json.RawMessage
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if err := equalLists("results", j.results(), want.Results); err != nil {
		return err
	}
	return j.compareBatches(want.Log)
}

// results are what became of the records: OK, or the exception's name.
func (j *java) results() (out []string) {
	for _, n := range j.sent {
		out = append(out, j.result(n))
	}
	return out
}

func (j *java) result(n int64) string {
	switch d := j.Delivery(j.id, n); {
	case d.Status == machine.DeliveryAcked:
		return "OK"
	case d.Status == machine.DeliveryPending:
		return "pending"
	case d.Error == machine.MESSAGE_TOO_LARGE.String():
		return "RecordTooLargeException"
	default:
		return exceptionName(d.Error)
	}
}

func (r *replay) javaSendHeaders(op Operation, saw json.RawMessage) error {
	j, err := r.javaFor(op, nil, map[string]any{})
	if err != nil {
		return err
	}
	long := partlog.Header{Key: strings.Repeat("h", 10), Value: strings.Repeat("x", 100)}
	// A header's null value takes a byte as an empty one does.
	for _, headers := range [][]partlog.Header{nil, {{Key: "abc", Value: "12345"}}, {{Key: "abc"}}, {long, long, long}} {
		j.sendTo(0, 6, strings.Repeat("v", 20), r.Now/millis, headers...)
		j.flush()
	}
	return j.compareBatches(saw)
}

func (r *replay) javaSendTsDelta(op Operation, saw json.RawMessage) error {
	j, err := r.javaFor(op, nil, map[string]any{"linger.ms": 1000})
	if err != nil {
		return err
	}
	for _, delta := range []int64{0, 63, 64, 8191, 8192, -1} {
		at := r.Now / millis
		j.sendTo(0, 6, strings.Repeat("v", 20), at)
		j.sendTo(0, 6, strings.Repeat("v", 20), at+delta)
		j.flush()
	}
	return j.compareBatches(saw)
}

// javaSendNullKey is P-15 and P-16: how long the sticky partition stays.
func (r *replay) javaSendNullKey(op Operation, saw json.RawMessage) error {
	leaders := make([]machine.NodeID, 50)
	for i := range leaders {
		leaders[i] = machine.NodeID(i%3 + 1)
	}
	j, err := r.javaOn(nil, leaders, map[string]any{"batch.size": op.num("batch.size", 0), "linger.ms": op.num("linger.ms", 0)})
	if err != nil {
		return err
	}
	for range op.num("records", 0) {
		j.sendTo(-1, -1, strings.Repeat("v", int(op.num("valueBytes", 0))), machine.NoTimestamp)
	}
	j.flush()
	var runs []int
	last := int32(-1)
	for _, n := range j.sent {
		if p := j.Delivery(j.id, n).TP.Partition; p != last {
			last, runs = p, append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	var want struct{ CommonRunLength, FirstRun int }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for _, n := range runs[:len(runs)-1] {
		if n%want.CommonRunLength != 0 { // the same partition may be drawn again (P-17)
			return fmt.Errorf("runs %v, want each of %d", runs, want.CommonRunLength)
		}
	}
	if runs[0]%want.FirstRun != 0 {
		return fmt.Errorf("first run %d, want %d", runs[0], want.FirstRun)
	}
	return nil
}

// javaSendSize is P-40 and P-108: one record of a size.
func (r *replay) javaSendSize(op Operation, saw json.RawMessage) error {
	topic := map[string]any{}
	if n := op.num("max.message.bytes", -1); n >= 0 {
		topic["max.message.bytes"] = n
	} else if !op.has("max.message.bytes") {
		topic["max.message.bytes"] = 2_000_000 // the producer's limit is meant
	}
	given := map[string]any{}
	if op.name() == "javaSendWithKey" {
		topic["max.message.bytes"] = 1000
	}
	if op.has("max.message.bytes") {
		given["max.request.size"] = 2_000_000
	}
	if n := op.num("max.request.size", -1); n >= 0 {
		given["max.request.size"] = n
	}
	j, err := r.javaOn(topic, []machine.NodeID{1}, given)
	if err != nil {
		return err
	}
	j.sendTo(0, op.num("keyBytes", -1), strings.Repeat("v", int(op.num("valueBytes", 0))), r.Now/millis)
	j.flush()
	return sawText(j.results()[0], saw)
}

// produceOneRecord is R1.24: a raw batch of a size.
func (r *replay) produceOneRecord(op Operation, saw json.RawMessage) error {
	tp := r.tp(op)
	batch := r.batch([]string{strings.Repeat("v", int(op.num("valueBytes", 0)))})
	var want struct{ BatchBytes int32 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if batch.Size != want.BatchBytes {
		return fmt.Errorf("%d bytes, want %d", batch.Size, want.BatchBytes)
	}
	return r.send(r.leader(tp), tp, config.AcksAll, 4000, batch, saw)
}
