package kafkasim

import (
	"cmp"
	"fmt"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// LogFiles are the files of a replica's directory.
type LogFiles struct {
	Broker    int
	Directory string // such as orders-0
	Files     []LogFile
}

// LogFile is one file.
type LogFile struct {
	Name  string
	Bytes int64
}

// LogFiles lists the files that a partition's log is on a broker (none named: on its leader), as ls does: a segment's
// records (.log), its indexes by offset, by time and of aborted transactions, snapshots of producers, the leader epochs.
// The indexes of the active segment have their full size (segment.index.bytes) from the beginning, and are cut to what they
// hold when it is sealed (R7.1).
func (c *Cluster) LogFiles(topic string, partition int, broker ...int) *LogFiles {
	id, r := c.replicaFor(fmt.Sprintf("LogFiles(%q, %d)", topic, partition), topic, partition, broker)
	l, index := &r.Log, c.image().Topics[r.TP.Topic].Props.Index
	out := &LogFiles{Broker: int(id), Directory: c.s.PartitionName(r.TP)}
	add := func(name string, bytes int64) { out.Files = append(out.Files, LogFile{name, bytes}) }
	for i := range len(l.Sealed) + 1 {
		s, sealed := &l.Active, i < len(l.Sealed)
		offsets, times := index.Bytes/partlog.OffsetIndexEntry, index.Bytes/partlog.TimeIndexEntry
		if sealed {
			s = &l.Sealed[i]
			offsets, times = s.Entries(index.IntervalBytes, true)
		}
		base := fmt.Sprintf("%020d", s.BaseOffset)
		add(base+".log", s.Size)
		add(base+".index", offsets*partlog.OffsetIndexEntry)
		add(base+".timeindex", times*partlog.TimeIndexEntry)
		if n := l.AbortedInSegment(i); n > 0 {
			add(base+".txnindex", int64(n)*partlog.TransactionIndexEntry)
		}
	}
	for i := range l.Snapshots {
		const header, entry = 10, 46 // ProducerStateManager's version, checksum and count; what it says of a producer
		add(fmt.Sprintf("%020d.snapshot", l.Snapshots[i].Offset), header+entry*int64(len(l.Snapshots[i].Producers)))
	}
	epochs := fmt.Sprintf("0\n%d\n", len(l.Epochs))
	for _, e := range l.Epochs {
		epochs += fmt.Sprintf("%d %d\n", e.Epoch, e.StartOffset)
	}
	add("leader-epoch-checkpoint", int64(len(epochs)))
	add("partition.metadata", int64(len("version: 0\ntopic_id: ")+22)) // a topic's id is 22 letters
	slices.SortFunc(out.Files, func(a, b LogFile) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// String is a line for each file.
func (f *LogFiles) String() string {
	table := [][]string{{"BYTES", "FILE"}}
	for _, x := range f.Files {
		table = append(table, []string{fmt.Sprint(x.Bytes), x.Name})
	}
	return fmt.Sprintf("broker %d, %s\n%s", f.Broker, f.Directory, rows(table))
}
