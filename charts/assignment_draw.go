package charts

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/view"
)

// states draws the group's own lane and returns the y below.
func (a *assignment) states(y float64) float64 {
	a.lanes.name(y, "state")
	for i := range a.phases {
		p := &a.phases[i]
		s := Shape{Fill: "box", Stroke: "line", Tip: fmt.Sprintf("%s, %s %d, %s, %s", p.state, a.era(), p.generation, count(p.members, "member", "members"), between(p.from, p.to))}
		tone := "soft"
		if !p.settled() {
			s.Fill, s.Stroke, tone = "quiet", "alarm", "alarm"
		}
		a.lanes.bar(y, p.from, p.to, s, fmt.Sprintf("%s, %s %d", p.state, a.era(), p.generation), pick(p.state == "Stable", fmt.Sprint(p.generation), ""), tone)
	}
	return y + laneHeight + 4
}

// partition draws one lane: who had it, and the gaps in which nobody did.
func (a *assignment) partition(p int, y float64) {
	name := nameOf(a.trace, p)
	committed := a.committed(name)
	a.pen.text(2, y+15, 12, "ink", shorten(name, pick(committed == "", 20, 10)))
	if committed != "" {
		a.pen.anchored(a.lanes.left-8, y+15, 10, "end", "soft", committed)
	}
	for _, gap := range a.gaps(p) {
		a.lanes.bar(y, gap.from, gap.to, Shape{Fill: "none", Stroke: "soft", Dash: dotted,
			Tip: fmt.Sprintf("nobody has %s %s, for %s", name, between(gap.from, gap.to), ms(gap.to-gap.from))}, "nobody", "", "soft")
	}
	for _, o := range a.owned {
		if o.partition != p {
			continue
		}
		n := o.consumer % len(palette)
		s := Shape{Fill: fmt.Sprintf("c%d", n), Z: 1, Tip: fmt.Sprintf("%s has %s %s, %s %d%s", a.names[o.consumer], name, between(o.from, o.to), a.era(), o.generation, pick(o.lost, ", and lost it", ""))}
		a.lanes.bar(y, o.from, o.to, s, a.names[o.consumer], letterOf(int64(o.consumer)), fmt.Sprintf("l%d", n))
		if o.lost {
			a.pen.put(Shape{Kind: shapeCross, Z: 5, X: a.lanes.x(o.to), Y: y + 11, R: 4.5, Stroke: "alarm", Thick: 2.2})
		}
	}
}

// committed says how far the group is in a partition, "" for nowhere yet.
func (a *assignment) committed(name string) string {
	at := slices.IndexFunc(a.group.Offsets, func(o view.GroupOffset) bool { return partitionName(o.Topic, o.Partition) == name })
	if at < 0 || a.group.Offsets[at].Committed < 0 {
		return ""
	}
	o := &a.group.Offsets[at]
	return fmt.Sprintf("at %d, lag %d", o.Committed, max(o.Lag, 0))
}

// maxMembers is how many members a picture lists.
const maxMembers = 32

// members lists who is in the group now, what each has, and what each waits for.
func (a *assignment) members(y float64) float64 {
	if len(a.group.Members) == 0 {
		a.pen.text(2, y+12, 12, "soft", "The group has no members now.")
		return y + 20
	}
	x := 2.0
	for i := range a.group.Members[:min(len(a.group.Members), maxMembers)] {
		m := &a.group.Members[i]
		text := fmt.Sprintf("%s: %s", shorten(memberName(m), 30), a.has(m))
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
	if n := len(a.group.Members) - maxMembers; n > 0 {
		y += legendLine
		a.pen.text(2, y+11, 11.5, "soft", "and "+count(n, "more member", "more members"))
	}
	a.pen.text(2, y+legendLine+11, 11, "soft", fmt.Sprintf("A red edge: partitions are being moved. Dotted: nobody reads the partition. A number: the group's %s.", a.era()))
	return y + 2*legendLine
}

// has says what a member has, and what it still waits for in a reconciliation (KIP-848).
func (a *assignment) has(m *view.GroupMember) string {
	says := pick(len(m.Partitions) == 0, "idle, nothing left for it", count(len(m.Partitions), "partition", "partitions"))
	switch m.State {
	case "UNREVOKED_PARTITIONS":
		return fmt.Sprintf("%s, is to have %d and gives the others up", says, len(m.Target))
	case "UNRELEASED_PARTITIONS":
		return fmt.Sprintf("%s, waits for %d of another", pick(len(m.Partitions) == 0, "nothing yet", says), max(len(m.Target)-len(m.Partitions), 0))
	}
	return says
}
