package kafkasim

import (
	"slices"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// note is one visible change as the trace keeps it, as small as it goes: there are several for each event.
// Records stay where the logs have them.
type note struct {
	at, a, b, c int64
	records     partlog.Records // of an append of one batch, which begins at a in epoch c
	extra       *extra          // what few notes have; nil for none
	partition   int32
	client      int16 // index into traceLog.clients, -1 for none
	broker      int16
	kind        view.Kind
}

// extra is what only some kinds of note have.
type extra struct {
	text, group string
	list, list2 []int
	batches     []partlog.Batch // of an append of several batches
}

func (n *note) text() string {
	if n.extra == nil {
		return ""
	}
	return n.extra.text
}

func (n *note) lists() (list, list2 []int) {
	if n.extra == nil {
		return nil, nil
	}
	return n.extra.list, n.extra.list2
}

// traceLog is what happened so far. Full chunks never change and are shared among forks.
type traceLog struct {
	full  [][]note
	last  []note
	floor int // notes before this one are final

	clients []string // names that notes refer to
}

const traceChunk = 1024

func (t *traceLog) len() int { return len(t.full)*traceChunk + len(t.last) }

func (t *traceLog) add(notes []machine.Note) {
	for i := range notes {
		n := &notes[i]
		if n.Kind == view.Sent && t.merge(n) {
			continue
		}
		if len(t.last) == traceChunk {
			t.full = append(t.full, t.last)
			t.last = nil
		}
		t.last = append(t.last, t.shrink(n))
	}
}

// shrink turns a machine's note into one of ours.
func (t *traceLog) shrink(n *machine.Note) note {
	x := note{at: n.At, a: n.A, b: n.B, c: n.C, kind: n.Kind, broker: int16(n.Broker), partition: int32(n.Partition), client: t.client(n.Client)}
	if len(n.Batches) == 1 {
		x.records = n.Batches[0].Records
	}
	if n.Text != "" || n.List != nil || n.List2 != nil || len(n.Batches) > 1 {
		x.extra = &extra{text: n.Text, group: n.Group, list: n.List, list2: n.List2}
		if len(n.Batches) > 1 {
			x.extra.batches = n.Batches
		}
	}
	return x
}

// client is the index of a client's name.
func (t *traceLog) client(name string) int16 {
	if name == "" {
		return -1
	}
	i := slices.Index(t.clients, name)
	if i < 0 {
		i = len(t.clients)
		t.clients = append(t.clients, name)
	}
	return int16(i)
}

// clientName is the name of a note's client.
func (t *traceLog) clientName(n *note) string {
	if n.client < 0 {
		return ""
	}
	return t.clients[n.client]
}

// mergeBack is how far back a note may be that more records are added to.
const mergeBack = 8

// merge adds records that were handed to send() to a note of the same moment, client and partition, if
// there is one close by that no command has come after.
func (t *traceLog) merge(n *machine.Note) bool {
	for i := t.len() - 1; i >= max(t.floor, t.len()-mergeBack); i-- {
		x := t.get(i)
		if x.at != n.At || x.kind != view.Sent {
			return false
		}
		if x.partition == int32(n.Partition) && t.clientName(x) == n.Client {
			x.a += n.A
			return true
		}
	}
	return false
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

// fork is a trace of the first n notes that goes on by itself. What both share is final from now on.
func (t *traceLog) fork(n int) traceLog {
	t.floor = t.len()
	f := traceLog{full: clip(t.full[:min(n/traceChunk, len(t.full))]), floor: n, clients: clip(t.clients)}
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
	for first := c.history.marks[0].state; len(t.Controllers) < len(first.Controllers); {
		t.Controllers = append(t.Controllers, viewController(&first.Controllers[len(t.Controllers)]))
	}
	t.Changes = make([]view.Change, 0, c.traced().len())
	shared := map[*byte][]view.Record{}
	for i := 0; i < c.traced().len(); i++ {
		t.Changes = append(t.Changes, c.traced().change(c.traced().get(i), shared))
	}
	return t
}

// change is the note as charts take it. Replicas that hold the same batch at the same place share the
// records' copies.
func (t *traceLog) change(n *note, shared map[*byte][]view.Record) view.Change {
	c := view.Change{At: n.at, Kind: n.kind, Broker: int(n.broker), Partition: int(n.partition), Client: t.clientName(n),
		A: n.a, B: n.b, C: n.c, Text: n.text()}
	c.List, c.List2 = n.lists()
	if n.extra != nil {
		c.Group = n.extra.group
	}
	if n.records.Count > 0 {
		c.Records = copied(&partlog.Batch{BaseOffset: n.a, LeaderEpoch: int32(n.c), Records: n.records}, shared)
	} else if n.extra != nil {
		for i := range n.extra.batches {
			c.Records = append(c.Records, copied(&n.extra.batches[i], shared)...)
		}
	}
	return c
}

// copied is a batch's records for a view, from the copies made before if there are.
func copied(b *partlog.Batch, shared map[*byte][]view.Record) []view.Record {
	if b.Records.Live() == 0 {
		return nil
	}
	key := b.Records.Start()
	records, ok := shared[key]
	if !ok || records[0].Offset != b.BaseOffset || records[0].LeaderEpoch != int(b.LeaderEpoch) {
		records = viewRecords(b, b.BaseOffset)
		shared[key] = records
	}
	return records
}

// viewRecords copies a batch's records from an offset on.
func viewRecords(b *partlog.Batch, from int64) []view.Record {
	skip := int(max(from-b.BaseOffset, 0))
	out := make([]view.Record, 0, max(b.Records.Len()-skip, 0))
	if m, marker := b.Marker(); marker && skip == 0 { // no application sees it
		text := "ABORT marker"
		if m.Commit {
			text = "COMMIT marker"
		}
		return append(out, view.Record{Offset: b.BaseOffset, LeaderEpoch: int(b.LeaderEpoch), Value: text, NullKey: true, Marker: true, Timestamp: b.MaxTimestamp})
	}
	for r := b.Records.From(skip); r.Next(); {
		out = append(out, view.Record{Offset: b.BaseOffset + int64(r.Place()), LeaderEpoch: int(b.LeaderEpoch), Key: r.Key, Value: r.Value,
			NullKey: r.Flags&partlog.NullKey != 0, Timestamp: r.Timestamp})
	}
	return out
}
