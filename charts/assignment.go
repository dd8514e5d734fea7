package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// maxAssigned is how many partitions one assignment shows.
const maxAssigned = 24

// Assignment draws who owns which partition over time: a lane for each partition with the member that had it, above
// them the group's state and generation (with the consumer protocol: its epoch). A dotted gap is a time in which
// nobody reads the partition: between giving it up and being given it, as in KIP-848's reconciliation. Beside the
// partition stands how far the group has committed. Without an id it draws the only group that there is.
func Assignment(src view.Source, group ...string) *Picture {
	now, trace := look("Assignment", src)
	g := groupOf(now, group)
	a := &assignment{now: now, trace: trace, group: g, pen: newPen(fmt.Sprintf("Group %s at %s", g.ID, ms(now.Now)), pictureWidth)}
	a.collect()
	a.pen.title()
	a.lanes = &lanes{pen: a.pen, from: a.begins(), to: max(trace.To, 1), left: 150}
	y := a.states(34)
	for i, p := range a.shown[:min(len(a.shown), maxAssigned)] {
		a.partition(p, y+float64(i*laneHeight))
	}
	y += float64(min(len(a.shown), maxAssigned) * laneHeight)
	if n := len(a.shown) - maxAssigned; n > 0 {
		a.pen.text(2, y+14, 11, "soft", "and "+count(n, "more partition", "more partitions"))
		y += 20
	}
	y = a.members(a.lanes.axis(y + 4))
	a.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(a.pen, y+6, a.describe(), nil)
}

// groupOf finds a group: the only one when none is named.
func groupOf(now *view.Cluster, names []string) *view.Group {
	var known []string
	for i := range now.Groups {
		known = append(known, now.Groups[i].ID)
	}
	return &now.Groups[oneOf("Assignment", "group", "groups", "this cluster has no consumer groups yet; let a consumer with a group.id Subscribe and Poll", known, names)]
}

// assignment is the picture in the making.
type assignment struct {
	now    *view.Cluster
	trace  *view.Trace
	group  *view.Group
	pen    *pen
	lanes  *lanes
	names  []string // consumers in the order of their appearance: colour and letter
	owned  []ownership
	open   map[int]int // partition: index into owned of who has it
	phases []phase
	shown  []int // partitions that somebody had
}

// ownership is a stretch in which a member had a partition.
type ownership struct {
	partition, consumer int
	generation          int64
	from, to            int64
	lost                bool
}

// phase is a stretch in which the group was in a state.
type phase struct {
	state      string
	generation int64
	members    int64
	from, to   int64
}

// settled says whether nothing is being moved.
func (p *phase) settled() bool { return p.state == "Stable" || p.state == "Empty" || p.state == "Dead" }

// collect folds the trace.
func (a *assignment) collect() {
	a.open = map[int]int{}
	for i := range a.trace.Changes {
		c := &a.trace.Changes[i]
		switch {
		case c.Kind == view.GroupState && c.Client == a.group.ID:
			a.endPhase(c.At)
			a.phases = append(a.phases, phase{c.Text, c.A, c.B, c.At, -1})
		case c.Kind == view.Rebalanced && c.Group == a.group.ID:
			for _, p := range c.List {
				a.moved(c, p)
			}
		}
	}
	a.endPhase(a.trace.To)
	for _, i := range a.open {
		a.owned[i].to = a.trace.To
	}
	for _, o := range a.owned {
		if !slices.Contains(a.shown, o.partition) {
			a.shown = append(a.shown, o.partition)
		}
	}
	slices.Sort(a.shown)
}

func (a *assignment) endPhase(at int64) {
	if n := len(a.phases); n > 0 && a.phases[n-1].to < 0 {
		a.phases[n-1].to = at
	}
}

// moved ends who had a partition, and begins with a new owner. Who gives up what another has by now (a member that
// was gone for too long) takes nothing from it.
func (a *assignment) moved(c *view.Change, partition int) {
	who := slices.Index(a.names, c.Client)
	i, had := a.open[partition]
	if c.Text != "assigned" && (!had || a.owned[i].consumer != who) {
		return
	}
	if had {
		a.owned[i].to = c.At
		a.owned[i].lost = c.Text == "lost"
		delete(a.open, partition)
	}
	if c.Text != "assigned" {
		return
	}
	if who < 0 {
		who = len(a.names)
		a.names = append(a.names, c.Client)
	}
	a.open[partition] = len(a.owned)
	a.owned = append(a.owned, ownership{partition: partition, consumer: who, generation: c.A, from: c.At})
}

func (a *assignment) begins() int64 {
	if len(a.phases) > 0 {
		return a.phases[0].from
	}
	return a.trace.From
}

// era is what numbers the group's assignments: generations, or epochs with the consumer protocol.
func (a *assignment) era() string { return pick(a.group.Modern, "epoch", "generation") }

// gaps are the stretches in which nobody had a partition, though somebody had it before.
func (a *assignment) gaps(partition int) []ownership {
	var out []ownership
	end := int64(-1)
	for _, o := range a.owned {
		if o.partition != partition {
			continue
		}
		if end >= 0 && o.from > end {
			out = append(out, ownership{partition: partition, from: end, to: o.from})
		}
		end = o.to
	}
	if _, held := a.open[partition]; !held && end >= 0 && end < a.trace.To {
		out = append(out, ownership{partition: partition, from: end, to: a.trace.To})
	}
	return out
}

// rebalances counts how often the group began to move partitions.
func (a *assignment) rebalances() int {
	n, before := 0, true
	for i := range a.phases {
		p := &a.phases[i]
		if a.group.Modern && before && !p.settled() || p.state == "PreparingRebalance" {
			n++
		}
		before = p.settled()
	}
	return n
}

func (a *assignment) describe() string {
	var out strings.Builder
	g := a.group
	protocol := pick(g.Modern, ", the consumer protocol (KIP-848)", "")
	if g.Protocol != "" {
		protocol += ", assignor " + g.Protocol
	}
	fmt.Fprintf(&out, "%s: %s in %s %d with %s%s.", a.pen.spec.Title, g.State, a.era(), g.Generation, count(len(g.Members), "member", "members"), protocol)
	fmt.Fprintf(&out, " %s since %s.", upperFirst(count(a.rebalances(), "rebalance", "rebalances")), ms(a.begins()))
	for i := range g.Members[:min(len(g.Members), maxTold)] {
		m := &g.Members[i]
		var names []string
		for _, p := range m.Partitions {
			names = append(names, partitionName(p.Topic, p.Partition))
		}
		if len(names) > 8 {
			names = append(names[:8], count(len(names)-8, "more", "more"))
		}
		fmt.Fprintf(&out, " %s has %s.", memberName(m), listing(names))
	}
	if n := len(g.Members) - maxTold; n > 0 {
		fmt.Fprintf(&out, " And %s.", count(n, "more member", "more members"))
	}
	longest := ownership{partition: -1}
	for _, p := range a.shown {
		for _, gap := range a.gaps(p) {
			if gap.to-gap.from > longest.to-longest.from {
				longest = gap
			}
		}
	}
	if longest.partition >= 0 {
		fmt.Fprintf(&out, " Longest without an owner: %s, for %s %s.", nameOf(a.trace, longest.partition), ms(longest.to-longest.from), between(longest.from, longest.to))
	}
	return out.String()
}

// maxTold is how many members an alternative text names.
const maxTold = 12

// memberName is a member as its client calls itself, with its group.instance.id when it is a static one.
func memberName(m *view.GroupMember) string {
	if m.InstanceID == "" {
		return m.ClientID
	}
	return fmt.Sprintf("%s (static %s)", m.ClientID, m.InstanceID)
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
