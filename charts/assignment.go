package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// maxAssigned is how many partitions one assignment shows.
const maxAssigned = 24

// Assignment draws who owns which partition over time: a lane for each partition with the consumer that had it,
// above them the group's state and generation. Gaps are times in which nobody reads the partition. At the right
// stands how far the group has committed. Without an id it draws the only group that there is.
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
	switch {
	case len(known) == 0:
		wrong("charts.Assignment: this cluster has no consumer groups yet; let a consumer with a group.id Subscribe and Poll")
	case len(names) > 1:
		wrong("charts.Assignment: %d groups; want one", len(names))
	case len(names) == 0 && len(known) > 1:
		wrong("charts.Assignment: which group? This cluster has %s", listing(quoted(known)))
	case len(names) == 1 && !slices.Contains(known, names[0]):
		unknown("Assignment", "group", names[0], known)
	case len(names) == 1:
		return &now.Groups[slices.Index(known, names[0])]
	}
	return &now.Groups[0]
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

// ownership is a stretch in which a consumer had a partition.
type ownership struct {
	partition, consumer int
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

// collect folds the trace. A consumer that is a member of another group now is none of ours.
func (a *assignment) collect() {
	a.open = map[int]int{}
	foreign := map[string]bool{}
	for i := range a.now.Groups {
		for _, m := range a.now.Groups[i].Members {
			foreign[m.ClientID] = a.now.Groups[i].ID != a.group.ID
		}
	}
	for i := range a.trace.Changes {
		c := &a.trace.Changes[i]
		switch {
		case c.Kind == view.GroupState && c.Client == a.group.ID:
			a.endPhase(c.At)
			a.phases = append(a.phases, phase{c.Text, c.A, c.B, c.At, -1})
		case c.Kind == view.Rebalanced && !foreign[c.Client]:
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

// moved ends who had a partition, and begins with a new owner.
func (a *assignment) moved(c *view.Change, partition int) {
	if i, had := a.open[partition]; had {
		a.owned[i].to = c.At
		a.owned[i].lost = c.Text == "lost"
		delete(a.open, partition)
	}
	if c.Text != "assigned" {
		return
	}
	who := slices.Index(a.names, c.Client)
	if who < 0 {
		who = len(a.names)
		a.names = append(a.names, c.Client)
	}
	a.open[partition] = len(a.owned)
	a.owned = append(a.owned, ownership{partition: partition, consumer: who, from: c.At})
}

func (a *assignment) begins() int64 {
	if len(a.phases) > 0 {
		return a.phases[0].from
	}
	return a.trace.From
}

// states draws the group's own lane and returns the y below.
func (a *assignment) states(y float64) float64 {
	a.lanes.name(y, "state")
	for _, p := range a.phases {
		s := Shape{Fill: "box", Stroke: "line", Tip: fmt.Sprintf("%s, generation %d, %s, %s", p.state, p.generation, count(p.members, "member", "members"), between(p.from, p.to))}
		tone := "soft"
		if p.state != "Stable" {
			s.Fill, s.Stroke, tone = "quiet", "alarm", "alarm"
		}
		a.lanes.bar(y, p.from, p.to, s, fmt.Sprintf("%s, generation %d", p.state, p.generation), pick(p.state == "Stable", fmt.Sprint(p.generation), ""), tone)
	}
	return y + laneHeight + 4
}

func (a *assignment) partition(p int, y float64) {
	name := nameOf(a.trace, p)
	a.pen.text(2, y+15, 12, "ink", shorten(name, 20))
	for _, o := range a.owned {
		if o.partition != p {
			continue
		}
		n := o.consumer % len(palette)
		s := Shape{Fill: fmt.Sprintf("c%d", n), Tip: fmt.Sprintf("%s has %s %s%s", a.names[o.consumer], name, between(o.from, o.to), pick(o.lost, ", and lost it", ""))}
		a.lanes.bar(y, o.from, o.to, s, a.names[o.consumer], letterOf(int64(o.consumer)), fmt.Sprintf("l%d", n))
		if o.lost {
			a.pen.put(Shape{Kind: shapeCross, Z: 5, X: a.lanes.x(o.to), Y: y + 11, R: 4.5, Stroke: "alarm", Thick: 2.2})
		}
	}
	if at := slices.IndexFunc(a.group.Offsets, func(o view.GroupOffset) bool { return partitionName(o.Topic, o.Partition) == name }); at >= 0 && a.group.Offsets[at].Committed >= 0 {
		o := a.group.Offsets[at]
		a.pen.anchored(a.lanes.left-8, y+15, 10, "end", "soft", fmt.Sprintf("at %d, lag %d", o.Committed, max(o.Lag, 0)))
	}
}

// members lists who is in the group now, and what each has.
func (a *assignment) members(y float64) float64 {
	if len(a.group.Members) == 0 {
		a.pen.text(2, y+12, 12, "soft", "The group has no members now.")
		return y + 20
	}
	x := 2.0
	for _, m := range a.group.Members {
		text := fmt.Sprintf("%s: %s", shorten(m.ClientID, 18), pick(len(m.Partitions) == 0, "idle, nothing left for it", count(len(m.Partitions), "partition", "partitions")))
		w := after(24, text, 11.5, false)
		if x > 2 && x+w > pictureWidth {
			x, y = 2, y+legendLine
		}
		if at := slices.Index(a.names, m.ClientID); at >= 0 {
			a.pen.keyChip(at, text, x-2, y)
		} else {
			a.pen.put(Shape{Kind: shapeRect, X: x, Y: y, W: 14, H: 14, R: 2.5, Fill: "paper", Stroke: "soft", Dash: dotted})
			a.pen.text(x+18, y+11, 11.5, "soft", text)
		}
		x += w
	}
	a.pen.text(2, y+legendLine+11, 11, "soft", "A red edge: the group rebalances. A gap: nobody reads the partition. A number: the group's generation.")
	return y + 2*legendLine
}

func (a *assignment) describe() string {
	var out strings.Builder
	g := a.group
	fmt.Fprintf(&out, "%s: %s in generation %d with %s%s.", a.pen.spec.Title, g.State, g.Generation, count(len(g.Members), "member", "members"), pick(g.Protocol == "", "", ", assignor "+g.Protocol))
	rebalances := 0
	for _, p := range a.phases {
		if p.state == "PreparingRebalance" {
			rebalances++
		}
	}
	fmt.Fprintf(&out, " %s since %s.", upperFirst(count(rebalances, "rebalance", "rebalances")), ms(a.begins()))
	for _, m := range g.Members {
		var names []string
		for _, p := range m.Partitions {
			names = append(names, partitionName(p.Topic, p.Partition))
		}
		if len(names) > 8 {
			names = append(names[:8], count(len(names)-8, "more", "more"))
		}
		fmt.Fprintf(&out, " %s has %s.", m.ClientID, listing(names))
	}
	return out.String()
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
