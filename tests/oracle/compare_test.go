package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// kafkaID is a broker's id as recordings write it: -1 for none.
func kafkaID(n machine.NodeID) int {
	if n == machine.NoNode {
		return -1
	}
	return int(n)
}

// equalIDs compares a set of brokers with a sorted list of ids.
func equalIDs(got []machine.NodeID, want []int) bool {
	return slices.Equal(sorted(idsOf(got)), want)
}

// idsOf is a list of brokers as recordings write it.
func idsOf(nodes []machine.NodeID) []int {
	ids := make([]int, len(nodes))
	for i, n := range nodes {
		ids[i] = int(n)
	}
	return ids
}

func equalLists(what string, got, want []string) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s %v, want %v", what, got, want)
	}
	return nil
}

// sawText compares a text.
func sawText(got string, saw json.RawMessage) error {
	var want string
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s, want %s", got, want)
	}
	return nil
}

// compareSnapshot compares a partition and its logs with what the recorder saw.
func (r *replay) compareSnapshot(op Operation, saw json.RawMessage) error {
	if len(saw) == 0 || saw[0] != '{' {
		return nil // "OK": nothing was looked at
	}
	var want snapshot
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	got := r.registration(tp)
	numbers := []struct {
		name string
		got  int
		want *int
	}{
		{"leader", kafkaID(got.Leader), want.Leader},
		{"leader epoch", int(got.LeaderEpoch), want.LeaderEpoch},
		{"partition epoch", int(got.PartitionEpoch), want.PartitionEpoch},
	}
	for _, n := range numbers {
		if n.want != nil && n.got != *n.want {
			return fmt.Errorf("%s %d, want %d", n.name, n.got, *n.want)
		}
	}
	sets := []struct {
		name string
		got  []machine.NodeID
		want []int
	}{
		{"ISR", got.ISR, want.ISR}, {"ELR", got.ELR, want.ELR}, {"last known ELR", got.LastKnownELR, want.LastKnownELR},
	}
	for _, s := range sets {
		if s.want != nil && !equalIDs(s.got, sorted(s.want)) {
			return fmt.Errorf("%s %v, want %v", s.name, s.got, s.want)
		}
	}
	for _, l := range []struct {
		name string
		got  []machine.NodeID
		want []int
	}{{"replicas", got.Replicas, want.Replicas}, {"adding", got.Adding, want.Adding}, {"removing", got.Removing, want.Removing}} {
		if (l.want != nil || l.name != "replicas") && !slices.Equal(idsOf(l.got), l.want) {
			return fmt.Errorf("%s %v, want %v", l.name, l.got, l.want)
		}
	}
	if !r.rec.Cluster.ZooKeeper && got.Recovering != (want.Recovery == "RECOVERING") {
		return fmt.Errorf("recovering %v, want %q", got.Recovering, want.Recovery)
	}
	for id, log := range want.Logs {
		broker, _ := strconv.Atoi(id)
		if err := r.compareLog(broker, tp, log); err != nil {
			return fmt.Errorf("broker %d: %w", broker, err)
		}
	}
	return nil
}

// compareLog compares one replica. The recorded high watermark is that of the checkpoint file, which says
// nothing about a dead broker.
func (r *replay) compareLog(broker int, tp machine.TopicPartition, want *logSnapshot) error {
	rep := r.replica(broker, tp)
	if want == nil {
		if rep != nil {
			return fmt.Errorf("has a log, want none")
		}
		return nil
	}
	if rep == nil {
		return fmt.Errorf("has no log, want %+v", *want)
	}
	l := &rep.Log
	if want.LEO != nil && l.End != *want.LEO {
		return fmt.Errorf("log end %d, want %d", l.End, *want.LEO)
	}
	if want.Start != nil && l.LogStart != *want.Start {
		return fmt.Errorf("log start %d, want %d", l.LogStart, *want.Start)
	}
	alive := r.Brokers[broker-1].Process != machine.NotRunning
	if want.HW != nil && alive && l.HighWatermark != *want.HW {
		return fmt.Errorf("high watermark %d, want %d", l.HighWatermark, *want.HW)
	}
	if want.Records != nil {
		if err := r.compareRecords(l, want.Records); err != nil {
			return err
		}
	}
	var epochs [][2]int64
	for _, e := range l.Epochs {
		epochs = append(epochs, [2]int64{int64(e.Epoch), e.StartOffset})
	}
	if want.Epochs != nil && !slices.Equal(epochs, want.Epochs) {
		return fmt.Errorf("epochs %v, want %v", epochs, want.Epochs)
	}
	return nil
}

// recordsOf lists a batch as recordings do: "offset:value".
func recordsOf(b *partlog.Batch) []string {
	var out []string
	for i, x := range b.Records.All() {
		out = append(out, fmt.Sprintf("%d:%s", b.BaseOffset+int64(i), x.Value))
	}
	return out
}

// dumpLog compares the batches of one replica.
func (r *replay) dumpLog(op Operation, saw json.RawMessage) error {
	if len(saw) > 0 && saw[0] == '{' {
		return r.dumpSegments(op, saw)
	}
	var want []batchSnapshot
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	rep := r.replica(int(op.num("broker", int64(r.leader(tp)))), tp)
	got := []batchSnapshot{}
	rep.Log.Batches(rep.Log.LogStart, func(b *partlog.Batch) bool {
		s := batchSnapshot{Base: b.BaseOffset, Last: b.NextOffset() - 1, LeaderEpoch: b.LeaderEpoch, Size: b.Size, Records: recordsOf(b)}
		if b.ProducerID >= 0 {
			if r.pids[b.ProducerID] == "" {
				r.pids[b.ProducerID] = fmt.Sprintf("P%d", len(r.pids)+1)
			}
			s.PID = r.pids[b.ProducerID]
			s.PEpoch = &b.ProducerEpoch
			s.Seq = []int32{b.BaseSequence, b.BaseSequence + b.Records.Count - 1}
			s.Txn = b.Transactional
			if m, ok := b.Marker(); ok {
				s.Seq, s.Records, s.Control = nil, nil, map[bool]string{true: "COMMIT", false: "ABORT"}[m.Commit]
			}
		}
		got = append(got, s)
		return true
	})
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		return fmt.Errorf("log of broker %d\n got  %s\n want %s", op.num("broker", 0), g, w)
	}
	return nil
}

// grows tells whether the i-th record lets one of several lagging replicas back into the ISR: which comes
// first is a race in Kafka too, so only the size is compared there, by the snapshots.
func grows(seen []*machine.PartitionRegistration, i int) bool {
	return i > 0 && len(seen[i].ISR) == len(seen[i-1].ISR)+1 && len(seen[i].ISR) < len(seen[i].Replicas)
}

// metadataHistory compares the partition's records in the metadata log: what each changed.
func (r *replay) metadataHistory(op Operation, saw json.RawMessage) error {
	var want []struct {
		Rec          string
		P            int32
		ISR          []int
		Leader       *int
		ELR          []int
		LastKnownELR []int `json:"lastKnownElr"`
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	tp := r.tp(op)
	var seen []*machine.PartitionRegistration
	for i := range r.MetadataLog() {
		rec := &r.MetadataLog()[i]
		if rec.TP == tp && (rec.Kind == machine.PartitionRecord || rec.Kind == machine.PartitionChangeRecord) {
			seen = append(seen, &rec.Partition)
		}
	}
	n := 0
	for _, w := range want {
		if w.Rec != "Partition" && w.Rec != "PartitionChange" || w.P != tp.Partition {
			continue
		}
		if n == len(seen) {
			return fmt.Errorf("the metadata log has %d records of the partition, want more: %+v", n, w)
		}
		got := seen[n]
		n++
		if w.ISR != nil && !equalIDs(got.ISR, sorted(w.ISR)) && !grows(seen, n-1) || w.Leader != nil && kafkaID(got.Leader) != *w.Leader ||
			w.ELR != nil && !equalIDs(got.ELR, sorted(w.ELR)) || w.LastKnownELR != nil && !equalIDs(got.LastKnownELR, sorted(w.LastKnownELR)) {
			return fmt.Errorf("record %d of the partition is %+v, want %+v", n-1, *got, w)
		}
	}
	if n != len(seen) {
		return fmt.Errorf("the metadata log has %d records of the partition, want %d", len(seen), n)
	}
	return nil
}
