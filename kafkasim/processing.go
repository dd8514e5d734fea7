package kafkasim

import (
	"cmp"
	"fmt"
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// Processing is what the applications of a group have made of its records (Work), whoever of them did it.
type Processing struct {
	Group      string
	Records    int64 // that were processed, each counted once
	Again      int64 // times that a record was processed again
	LeftOut    int64 // records below the committed offsets that nobody has processed
	Partitions []PartitionProcessing
}

// PartitionProcessing is the same for one partition.
type PartitionProcessing struct {
	TopicPartition
	Records, Again, LeftOut int64
	AgainAt, LeftOutAt      []ProcessedRun // which offsets; At is 0
}

// Processing counts what the applications of a group have processed, twice or never. Left out is what is below the committed
// offset, so that nobody will read it again. A group whose members do not begin at the beginning is taken to begin where
// it first processed anything.
func (c *Cluster) Processing(group string) *Processing {
	r := &Processing{Group: group}
	var done []machine.Processed
	fromStart := true
	for i := range c.s.Consumers {
		if x := &c.s.Consumers[i]; x.Config.Member.GroupID == group {
			done = append(done, x.App.Done...)
			fromStart = fromStart && x.Config.AutoOffsetReset == config.ResetEarliest
		}
	}
	slices.SortFunc(done, func(a, b machine.Processed) int {
		return cmp.Or(cmp.Compare(a.TP.Topic, b.TP.Topic), cmp.Compare(a.TP.Partition, b.TP.Partition), cmp.Compare(a.From, b.From))
	})
	g, _ := c.viewGroup(group)
	for i := 0; i < len(done); {
		n := i
		for n < len(done) && done[n].TP == done[i].TP {
			n++
		}
		p := c.partitionProcessing(done[i:n], g, fromStart)
		r.Records, r.Again, r.LeftOut = r.Records+p.Records, r.Again+p.Again, r.LeftOut+p.LeftOut
		r.Partitions = append(r.Partitions, p)
		i = n
	}
	return r
}

// partitionProcessing looks at the runs of one partition, by their first offsets.
func (c *Cluster) partitionProcessing(runs []machine.Processed, g *view.Group, fromStart bool) PartitionProcessing {
	name := c.image().Topics[runs[0].TP.Topic].Name
	p := PartitionProcessing{TopicPartition: TopicPartition{name, int(runs[0].TP.Partition)}}
	row := func(from, to int64) ProcessedRun {
		return ProcessedRun{Topic: name, Partition: p.Partition, From: from, To: to - 1}
	}
	next := runs[0].From // behind what was processed so far
	if fromStart {
		next = 0
	}
	leave := func(to int64) {
		if to > next {
			p.LeftOut += to - next
			p.LeftOutAt = append(p.LeftOutAt, row(next, to))
			next = to
		}
	}
	committed := int64(-1)
	if g != nil {
		for i := range g.Offsets {
			if o := &g.Offsets[i]; o.Topic == name && o.Partition == p.Partition {
				committed = o.Committed
			}
		}
	}
	for _, d := range runs {
		if d.From < next {
			p.Again += min(next, d.To) - d.From
			p.AgainAt = append(p.AgainAt, row(d.From, min(next, d.To)))
		} else {
			leave(min(d.From, max(committed, next)))
		}
		if d.To > next {
			p.Records += d.To - max(d.From, next)
			next = d.To
		}
	}
	leave(committed)
	return p
}

// String is a sentence, and a row for each partition where something was done twice or left out.
func (r *Processing) String() string {
	s := fmt.Sprintf("group %s: %s processed, %d of them again, %d left out", r.Group, plural(r.Records, "record"), r.Again, r.LeftOut)
	table := [][]string{}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		for _, x := range p.AgainAt {
			table = append(table, []string{p.String(), "again", offsets(x.From, x.To-x.From+1)})
		}
		for _, x := range p.LeftOutAt {
			table = append(table, []string{p.String(), "left out", offsets(x.From, x.To-x.From+1)})
		}
	}
	if len(table) > 0 {
		s += "\n" + rows(table)
	}
	return s
}
