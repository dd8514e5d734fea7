package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The measures of a share group's picture, in px.
const (
	shareTop   = 40
	shareRow   = 84
	shareSlots = logSlots
	maxShared  = 12 // partitions that are drawn
)

// ShareGroup draws the records of a share group (KIP-932), partition by partition: what is dealt with for good, what is in
// flight (available, acquired by a member, acknowledged, archived) with how often it was delivered, and what nobody
// has asked for yet. Below stand the members with what each has acquired. Point at a record to read whose it is and
// when its lock ends. Without an id it draws the only share group that there is.
func ShareGroup(src view.Source, group ...string) *Picture {
	now, _ := look("ShareGroup", src)
	var known []string
	for i := range now.ShareGroups {
		known = append(known, now.ShareGroups[i].ID)
	}
	g := &now.ShareGroups[oneOf("ShareGroup", "share group", "share groups", "this cluster has no share groups yet; let a share consumer Subscribe and Poll", known, group)]
	s := &sharePicture{now: now, group: g, pen: newPen(fmt.Sprintf("Share group %s at %s", shorten(g.ID, 40), ms(now.Now)), pictureWidth)}
	s.pen.title()
	s.pen.anchored(pictureWidth-2, 19, 11, "end", "soft", fmt.Sprintf("%s, epoch %d", g.State, g.Epoch))
	for i := range g.Members {
		s.names = append(s.names, g.Members[i].ClientID)
	}
	slices.Sort(s.names) // members come by their ids, which are random
	s.names = slices.Compact(s.names)
	y := float64(shareTop)
	for i := range g.Partitions[:min(len(g.Partitions), maxShared)] {
		s.partition(&g.Partitions[i], y)
		y += shareRow
	}
	switch n := len(g.Partitions) - maxShared; {
	case len(g.Partitions) == 0:
		s.pen.text(2, y+12, 12, "soft", "No partition has a state yet: nobody has asked for records.")
		y += 26
	case n > 0:
		s.pen.text(2, y+8, 11, "soft", "and "+count(n, "more partition", "more partitions"))
		y += 18
	}
	y = s.signs(s.members(y))
	s.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(s.pen, y+4, s.describe(), nil)
}

// sharePicture is the picture in the making.
type sharePicture struct {
	now   *view.Cluster
	group *view.ShareGroup
	pen   *pen
	names []string // client ids: colour and letter
}

// letter is a member's number among those that the picture names.
func (s *sharePicture) letter(client string) int {
	i := slices.Index(s.names, client)
	if i < 0 {
		i = len(s.names)
		s.names = append(s.names, client)
	}
	return i
}

// partition draws one partition: its numbers and a cell for each record from a few before the start on.
func (s *sharePicture) partition(p *view.SharePartition, y float64) {
	pen, name := s.pen, partitionName(p.Topic, p.Partition)
	name = shorten(name, 30)
	pen.bold(2, y+14, 13, "ink", name)
	says, tone := leaderText(p.Leader), "soft"
	if p.Leader < 0 {
		tone = "alarm"
	}
	pen.text(after(2, name, 13, true), y+14, 11.5, tone, says)
	top := y + 24
	if p.Start < 0 {
		pen.anchored(pictureWidth-2, y+14, 11, "end", "soft", fmt.Sprintf("high watermark %d", p.HighWatermark))
		pen.text(logLeft, top+16, 11.5, "soft", "the start of the records is not known yet")
		return
	}
	numbers := fmt.Sprintf("start %d · end %d · high watermark %d", p.Start, p.End, p.HighWatermark)
	if p.Written >= 0 && p.Written != p.Start {
		numbers = fmt.Sprintf("written start %d · ", p.Written) + numbers
	}
	pen.anchored(pictureWidth-2, y+14, 11, "end", "soft", numbers)
	from := max(p.Start-3, 0)
	to := min(max(p.HighWatermark, p.End), from+shareSlots)
	x := func(offset int64) float64 { return logLeft + float64(offset-from)*cellPitch }
	pen.line(logLeft-4, top+stripHeight+2, logLeft+shareSlots*cellPitch, top+stripHeight+2, "line")
	s.more(from, to, max(p.HighWatermark, p.End), top)
	for offset := from; offset < to; offset++ {
		s.cell(p, offset, x(offset), top)
		if offset == from || offset%5 == 0 {
			pen.anchored(x(offset)+cellWidth/2, top+stripHeight+13, 9.5, "middle", "soft", fmt.Sprint(offset))
		}
	}
	if p.Start <= to {
		pen.put(Shape{Kind: shapeLine, Z: 3, X: x(p.Start) - 1.5, Y: top - 4, H: stripHeight + 10, Stroke: "t2", Thick: 2, Tip: fmt.Sprintf("start %d: what is before is dealt with for good", p.Start)})
	}
	if p.HighWatermark >= from && p.HighWatermark <= to {
		pen.put(Shape{Kind: shapeFlag, Z: 4, X: x(p.HighWatermark) - 1.5, Y: top - 2, H: stripHeight + 6, Tip: fmt.Sprintf("high watermark %d", p.HighWatermark)})
	}
}

// more says with dots and a number what lies outside of the strip.
func (s *sharePicture) more(from, to, end int64, top float64) {
	if from > 0 {
		for i := range 3 {
			s.pen.put(Shape{Kind: shapeCircle, X: logLeft - 18 + float64(i)*4, Y: top + 12, R: 1.3, Fill: "soft"})
		}
	}
	if end > to {
		s.pen.anchored(pictureWidth-2, top+stripHeight+13, 9.5, "end", "soft", fmt.Sprintf("and %d more", end-to))
	}
}

// cell draws one record by what became of it; how often it was delivered stands in its lower half.
func (s *sharePicture) cell(p *view.SharePartition, offset int64, x, top float64) {
	at := slices.IndexFunc(p.Records, func(r view.ShareRecord) bool { return r.Offset == offset })
	box := Shape{Kind: shapeRect, Z: 1, X: x + 0.5, Y: top + 0.5, W: cellWidth - 1, H: stripHeight - 1, R: 2.5, Fill: "paper", Stroke: "soft"}
	if at < 0 {
		box.Tip = fmt.Sprintf("offset %d: nobody has asked for it yet", offset)
		box.Dash = dotted
		if offset < p.Start {
			box.Tip, box.Fill, box.Stroke, box.Dash = fmt.Sprintf("offset %d: dealt with", offset), "quiet", "line", ""
		}
		s.pen.put(box)
		return
	}
	r := &p.Records[at]
	box.Tip = s.tip(r)
	ink, middle := "ink", x+cellWidth/2
	switch r.State {
	case "Acquired":
		n := s.letter(r.Member)
		box.Fill, box.Stroke = fmt.Sprintf("c%d", n%len(palette)), "none"
		ink = fmt.Sprintf("l%d", n%len(palette))
		s.pen.put(Shape{Kind: shapeText, Z: 5, X: middle, Y: top + 11.5, Size: 11, Fill: ink, Text: letterOf(int64(n)), Anchor: "middle", Bold: true})
	case "Acknowledged":
		s.pen.put(Shape{Kind: shapeTick, Z: 5, X: middle, Y: top + 8, R: 4, Stroke: "t2"})
	case "Archived":
		s.pen.put(Shape{Kind: shapeCross, Z: 5, X: middle, Y: top + 8, R: 3.4, Stroke: "alarm"})
	}
	if r.Writing {
		box.Dash = dashed
	}
	if r.DeliveryCount > 0 {
		s.pen.put(Shape{Kind: shapeText, Z: 5, X: middle, Y: top + 21.5, Size: 9, Fill: ink, Text: fmt.Sprint(r.DeliveryCount), Anchor: "middle"})
	}
	s.pen.put(box)
}

func (s *sharePicture) tip(r *view.ShareRecord) string {
	text := fmt.Sprintf("offset %d: %s", r.Offset, r.State)
	if r.Member != "" {
		text += " by " + shorten(r.Member, 60)
	}
	text += ", delivered " + count(r.DeliveryCount, "time", "times")
	if r.LockEnds > 0 {
		text += ", its lock ends at " + ms(r.LockEnds)
	}
	return text + pick(r.Writing, ", being written to the share coordinator", "")
}

// members lists who is in the group, and what each has acquired.
func (s *sharePicture) members(y float64) float64 {
	if len(s.group.Members) == 0 {
		s.pen.text(2, y+12, 12, "soft", "The group has no members now.")
		return y + 20
	}
	x := 2.0
	for i := range s.group.Members[:min(len(s.group.Members), maxMembers)] {
		m := &s.group.Members[i]
		text := fmt.Sprintf("%s: %d acquired, %s", shorten(m.ClientID, 24), s.acquired(m.ClientID), count(len(m.Partitions), "partition", "partitions"))
		w := after(24, text, 11.5, false)
		if x > 2 && x+w > pictureWidth {
			x, y = 2, y+legendLine
		}
		s.pen.keyChip(s.letter(m.ClientID), text, x-2, y)
		x += w
	}
	if n := len(s.group.Members) - maxMembers; n > 0 {
		y += legendLine
		s.pen.text(2, y+11, 11.5, "soft", "and "+count(n, "more member", "more members"))
	}
	return y + legendLine
}

// acquired counts what a member has of all partitions.
func (s *sharePicture) acquired(client string) int {
	n := 0
	for i := range s.group.Partitions {
		n += s.group.Partitions[i].Acquired(client)
	}
	return n
}

// signs explains what a cell says.
func (s *sharePicture) signs(y float64) float64 {
	pen, x := s.pen, 2.0
	say := func(text string) {
		pen.text(x+20, y+11, 10.4, "soft", text)
		x = math.Round(after(x+20, text, 10.4, false)) + 4
	}
	cell := func(fill, stroke, dash string) {
		pen.put(Shape{Kind: shapeRect, X: x + 0.5, Y: y + 0.5, W: 13, H: 13, R: 2, Fill: fill, Stroke: stroke, Dash: dash})
	}
	cell("quiet", "line", "")
	say("dealt with")
	cell("paper", "soft", "")
	say("available")
	cell("c0", "none", "")
	say("acquired by a member")
	cell("paper", "soft", "")
	pen.put(Shape{Kind: shapeTick, Z: 5, X: x + 7, Y: y + 7, R: 4, Stroke: "t2"})
	say("acknowledged")
	cell("paper", "soft", "")
	pen.put(Shape{Kind: shapeCross, Z: 5, X: x + 7, Y: y + 7, R: 3.4, Stroke: "alarm"})
	say("archived")
	cell("paper", "soft", dotted)
	say("not asked for")
	pen.text(2, y+legendLine+11, 10.4, "soft", "The number in a record is how often it was delivered; a dashed edge: what was decided is being written. Green line: the start. Blue: the high watermark.")
	return y + 2*legendLine
}

func (s *sharePicture) describe() string {
	var out strings.Builder
	g := s.group
	fmt.Fprintf(&out, "%s: %s in epoch %d with %s.", s.pen.spec.Title, g.State, g.Epoch, count(len(g.Members), "member", "members"))
	for i := range g.Partitions[:min(len(g.Partitions), maxShared)] {
		p := &g.Partitions[i]
		fmt.Fprintf(&out, " %s, %s: ", partitionName(p.Topic, p.Partition), leaderText(p.Leader))
		if p.Start < 0 {
			out.WriteString("the start is not known yet.")
			continue
		}
		states, most := map[string]int{}, 0
		for k := range p.Records {
			states[p.Records[k].State]++
			most = max(most, p.Records[k].DeliveryCount)
		}
		fmt.Fprintf(&out, "start %d, end %d, high watermark %d; in flight %d available, %d acquired, %d acknowledged, %d archived", p.Start, p.End, p.HighWatermark,
			states["Available"], states["Acquired"], states["Acknowledged"], states["Archived"])
		if most > 0 {
			fmt.Fprintf(&out, ", delivered at most %s", count(most, "time", "times"))
		}
		out.WriteString(".")
	}
	for i := range g.Members[:min(len(g.Members), maxTold)] {
		m := &g.Members[i]
		fmt.Fprintf(&out, " %s has %s.", m.ClientID, count(s.acquired(m.ClientID), "record", "records"))
	}
	return out.String()
}
