package kafkasim

import (
	"slices"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// note is one visible change as the trace keeps it: records stay in the batches that the logs share.
type note struct {
	at, a, b, c int64
	kind        view.Kind
	broker      int16
	partition   int32
	client      string
	text        string
	list, list2 []int
	batches     []partlog.Batch
}

// traceLog is what happened so far. Full chunks never change and are shared among forks.
type traceLog struct {
	full [][]note
	last []note
}

const traceChunk = 1024

func (t *traceLog) len() int { return len(t.full)*traceChunk + len(t.last) }

func (t *traceLog) add(notes []machine.Note) {
	for i := range notes {
		n := &notes[i]
		if len(t.last) == traceChunk {
			t.full = append(t.full, t.last)
			t.last = nil
		}
		t.last = append(t.last, note{
			at: n.At, a: n.A, b: n.B, c: n.C, kind: n.Kind, broker: int16(n.Broker), partition: int32(n.Partition),
			client: n.Client, text: n.Text, list: n.List, list2: n.List2, batches: n.Batches,
		})
	}
}

// get is the i-th note.
func (t *traceLog) get(i int) *note {
	if i < len(t.full)*traceChunk {
		return &t.full[i/traceChunk][i%traceChunk]
	}
	return &t.last[i-len(t.full)*traceChunk]
}

// until counts the notes up to and including a time.
func (t *traceLog) until(time int64) int {
	lo, hi := 0, t.len()
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.get(mid).at <= time {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// fork is a trace of the first n notes that goes on by itself.
func (t *traceLog) fork(n int) traceLog {
	f := traceLog{full: clip(t.full[:min(n/traceChunk, len(t.full))])}
	rest := t.last
	if len(f.full) < len(t.full) {
		rest = t.full[len(f.full)]
	}
	f.last = slices.Clone(rest[:n-len(f.full)*traceChunk])
	return f
}

// Trace is everything that happened so far, for charts.
func (c *Cluster) Trace() *view.Trace {
	t := &view.Trace{Tick: c.s.World.Tick, To: c.s.Now}
	for i := range c.s.Brokers {
		t.Brokers = append(t.Brokers, int(c.s.Brokers[i].ID))
	}
	t.Partitions = c.partitionNames()
	t.Changes = make([]view.Change, 0, c.trace.len())
	shared := map[*partlog.Record][]view.Record{}
	for i := 0; i < c.trace.len(); i++ {
		t.Changes = append(t.Changes, c.trace.get(i).change(shared))
	}
	return t
}

// change is the note as charts take it. Replicas that hold the same batch at the same place share the
// records' copies.
func (n *note) change(shared map[*partlog.Record][]view.Record) view.Change {
	c := view.Change{At: n.at, Kind: n.kind, Broker: int(n.broker), Partition: int(n.partition), Client: n.client,
		A: n.a, B: n.b, C: n.c, Text: n.text, List: n.list, List2: n.list2}
	for i := range n.batches {
		b := &n.batches[i]
		if len(b.Records) == 0 {
			continue
		}
		key := &b.Records[0]
		records, ok := shared[key]
		if !ok || records[0].Offset != b.BaseOffset || records[0].LeaderEpoch != int(b.LeaderEpoch) {
			records = viewRecords(b, b.BaseOffset)
			shared[key] = records
		}
		if len(n.batches) == 1 {
			c.Records = records
		} else {
			c.Records = append(c.Records, records...)
		}
	}
	return c
}

// viewRecords copies a batch's records from an offset on.
func viewRecords(b *partlog.Batch, from int64) []view.Record {
	out := make([]view.Record, 0, len(b.Records))
	for i := range b.Records {
		r := &b.Records[i]
		if b.BaseOffset+int64(i) < from {
			continue
		}
		out = append(out, view.Record{Offset: b.BaseOffset + int64(i), LeaderEpoch: int(b.LeaderEpoch), Key: r.Key, Value: r.Value,
			NullKey: r.Flags&partlog.NullKey != 0, Timestamp: r.Timestamp})
	}
	return out
}
