package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/prng"
)

// Compression as recorded (P-33, P-100, P-108). The recorder's JSON texts are not known, so ours take their place, and
// what is compared of them is the codec, where batches are cut, and that the leader's own compression is the producer's.

// javaValue is the i-th value of a kind.
func javaValue(kind string, i, bytes int) string {
	switch kind {
	case "same":
		return strings.Repeat("0123456789", bytes/10+1)[:bytes]
	case "zero":
		return strings.Repeat("\x00", bytes)
	case "random":
		b := make([]byte, bytes)
		for k := range b {
			b[k] = byte(prng.Draw(7, uint32(i), uint64(k)))
		}
		return string(b)
	}
	return fmt.Sprintf(`{"id":%d,"user":"user-%d","page":"/item/%d","amount":%d}`, i, i*7%100, i*13%50, i*37%1000)
}

// jsonBytes is how long the first n of the recorder's JSON texts are together, about: the first has 74 bytes, a thousand
// have 77552.
func jsonBytes(n int64) int64 { return (n*77552 + 999) / 1000 }

// oneBatch lets a producer send values as one batch and returns what lies in the log.
func (r *replay) oneBatch(topic map[string]any, op Operation, given map[string]any) ([]javaBatch, error) {
	given["batch.size"], given["linger.ms"], given["max.request.size"] = 2_000_000, 1000, 4_000_000
	j, err := r.javaOn(topic, []machine.NodeID{1}, given)
	if err != nil {
		return nil, err
	}
	kind := op.str("values")
	for i := range op.num("records", 0) {
		j.sendTo(0, -1, javaValue(kind, int(i), int(op.num("valueBytes", 0))), r.Now/millis)
	}
	j.flush()
	for _, got := range j.results() {
		if got != "OK" {
			return nil, fmt.Errorf("%s", got)
		}
	}
	return j.batches(), nil
}

// exact are the codecs whose bytes are Kafka's; the others may differ by a twentieth and a few bytes.
var exact = []string{"none", "gzip", "snappy", "lz4"}

func nearSize(codec string, got, want int32) bool {
	if slices.Contains(exact, codec) {
		return got == want
	}
	return max(got-want, want-got) <= want/20+12
}

func (r *replay) javaSendOneBatch(op Operation, saw json.RawMessage) error {
	if op.has("topicCompressionType") {
		return r.javaSendRecompressed(op, saw)
	}
	if op.str("values") == "json" {
		return r.notCompared(op, "texts that are not known")
	}
	var want map[string]int32
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for name, size := range want {
		got, err := r.oneBatch(nil, op, map[string]any{"compression.type": name})
		if err != nil {
			return err
		}
		if len(got) != 1 || got[0].Codec != name {
			return fmt.Errorf("%s: batches %v", name, got)
		}
		random := op.str("values") == "random" && name != "none" // other bytes than the recorder's
		if !nearSize(name, got[0].Size, size) && !(random && nearSize("other", got[0].Size, size)) {
			return fmt.Errorf("%s: %d bytes, want %d", name, got[0].Size, size)
		}
	}
	return nil
}

// javaSendRecompressed is a topic with a compression.type and producers with theirs.
func (r *replay) javaSendRecompressed(op Operation, saw json.RawMessage) error {
	var want map[string][]javaBatch
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	topic := op.str("topicCompressionType")
	for name, batches := range want {
		given := map[string]any{"compression.type": strings.TrimPrefix(name, "producer ")}
		got, err := r.oneBatch(map[string]any{"compression.type": topic}, op, given)
		if err != nil {
			return err
		}
		same, err := r.oneBatch(nil, op, map[string]any{"compression.type": batches[0].Codec})
		if err != nil {
			return err
		}
		if len(got) != 1 || got[0].Codec != batches[0].Codec || got[0].Size != same[0].Size {
			return fmt.Errorf("%s to topic %s: %v, want codec %s and %d bytes", name, topic, got, batches[0].Codec, same[0].Size)
		}
	}
	return nil
}

// recompression: two requests stay two batches.
func (r *replay) recompression(_ Operation, saw json.RawMessage) error {
	j, err := r.javaOn(map[string]any{"compression.type": "gzip"}, []machine.NodeID{1}, map[string]any{})
	if err != nil {
		return err
	}
	for range 2 {
		for i := range 10 {
			j.sendTo(0, -1, javaValue("json", i, 0), r.Now/millis)
		}
		j.flush()
	}
	var want []javaBatch
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for i, b := range j.batches() {
		if i >= len(want) || b.Codec != want[i].Codec || b.Records != want[i].Records {
			return fmt.Errorf("batches %v, want %v", j.batches(), want)
		}
	}
	return nil
}

// maxMessageBytes: the limit holds for the batch as it comes and as it is stored (P-108).
func (r *replay) maxMessageBytes(op Operation, saw json.RawMessage) error {
	topic := map[string]any{"max.message.bytes": op.num("limit", 0), "compression.type": op.str("topicCompressionType")}
	_, err := r.oneBatch(topic, Operation{"records": []byte("1"), "valueBytes": []byte("10000"), "values": []byte(`"same"`)},
		map[string]any{"compression.type": op.str("producerCodec")})
	got := "OK"
	if err != nil {
		got = err.Error()
	}
	return sawText(got, saw)
}

// javaSendPaced is where batches are cut under compression: one record each 2 ms (P-33).
func (r *replay) javaSendPaced(op Operation, saw json.RawMessage) error {
	j, err := r.javaFor(op, nil, map[string]any{"compression.type": op.str("codec"), "delivery.timeout.ms": 120_000}, "batch.size", "linger.ms")
	if err != nil {
		return err
	}
	at := r.Now / millis // the recorder gave all the same time
	for i := range op.num("records", 0) {
		n := op.num("valueBytes", 0)
		if op.str("values") == "json" { // the texts are not known, but how long they are (da1, uncompressed)
			n = jsonBytes(i+1) - jsonBytes(i)
		}
		j.sendTo(0, -1, javaValue(strings.Replace(op.str("values"), "json", "same", 1), int(i), int(n)), at)
		r.run(2 * millis)
	}
	j.flush()
	var want struct {
		RecordsPerBatch []int
		Sizes           []int32
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	var got []int
	for _, b := range j.batches() {
		got = append(got, b.Records)
	}
	if !slices.Equal(got, want.RecordsPerBatch) {
		return fmt.Errorf("records per batch %v, want %v", got, want.RecordsPerBatch)
	}
	for i, b := range j.batches() {
		if op.str("values") != "json" && !nearSize(b.Codec, b.Size, want.Sizes[i]) {
			return fmt.Errorf("batch %d has %d bytes, want %d", i, b.Size, want.Sizes[i])
		}
	}
	return nil
}
