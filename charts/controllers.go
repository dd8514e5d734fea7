package charts

import (
	"fmt"
	"strings"

	"kafkalab/charts/svg"
	"kafkalab/kafkasim/view"
)

// boardController is one controller of the quorum.
type boardController struct {
	id     int
	state  string // of the quorum, in Kafka's words; "NOT_RUNNING", "PAUSED" or "CRASHED"
	active bool
	paused bool
	epoch  int64
}

func controllerOf(v *view.Controller) boardController {
	c := boardController{id: v.ID, state: v.State, active: v.Active, paused: v.Paused, epoch: int64(v.Epoch)}
	if !v.Alive {
		c.state = "NOT_RUNNING"
	}
	return c
}

// picture is the controller's state in the words of a picture.
func (c *boardController) picture() string {
	switch {
	case c.state == "NOT_RUNNING" || c.state == "CRASHED":
		return ControllerDown
	case c.paused:
		return ControllerPaused
	case c.active:
		return ControllerActive
	case c.state == "Leader":
		return ControllerLeader
	case c.state == "Follower":
		return ControllerFollower
	case c.state == "Candidate" || c.state == "Prospective":
		return ControllerCandidate
	}
	return ControllerUnattached
}

// applyController folds a change of a controller. One that is active is so until it is something else.
func (b *board) applyController(c *view.Change) {
	for i := range b.controllers {
		x := &b.controllers[i]
		if int64(x.id) != c.A {
			continue
		}
		x.epoch = c.B
		switch c.Text {
		case "ACTIVE":
			x.active, x.state = true, "Leader"
		case "PAUSED":
			x.paused = true
		default:
			x.state, x.paused = c.Text, false
			x.active = x.active && c.Text == "Leader"
		}
	}
}

// controllerText is how a controller's state is written in its box.
var controllerText = map[string]string{
	ControllerActive: "active", ControllerLeader: "leads", ControllerFollower: "follower", ControllerCandidate: "asks for votes",
	ControllerUnattached: "looks for a leader", ControllerPaused: "silent", ControllerDown: "down",
}

func sayController(c *view.Change) string {
	switch c.Text {
	case "ACTIVE":
		return fmt.Sprintf("Controller %d is the active one, epoch %d.", c.A, c.B)
	case "CRASHED", "NOT_RUNNING":
		return fmt.Sprintf("Controller %d is down.", c.A)
	case "PAUSED":
		return fmt.Sprintf("Controller %d falls silent.", c.A)
	case "Follower":
		return fmt.Sprintf("Controller %d follows controller %d in epoch %d.", c.A, c.C, c.B)
	case "Leader":
		return fmt.Sprintf("Controller %d leads the quorum in epoch %d.", c.A, c.B)
	case "Candidate", "Prospective":
		return fmt.Sprintf("Controller %d asks for votes, epoch %d.", c.A, c.B)
	}
	return fmt.Sprintf("Controller %d is %s in epoch %d.", c.A, strings.ToLower(c.Text), c.B)
}

// quorumText tells the controllers for the alternative text.
func (b *board) quorumText() string {
	var parts []string
	for i := range b.controllers {
		c := &b.controllers[i]
		parts = append(parts, fmt.Sprintf("%d %s%s", c.id, controllerText[c.picture()], pick(c.picture() == ControllerDown, "", fmt.Sprintf(" in epoch %d", c.epoch))))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s: %s.", pick(len(parts) == 1, "Controller", "Controllers"), strings.Join(parts, ", "))
}

// drawControllers draws a small box for each controller, below the title.
func (s *scene) drawControllers(w *svg.Writer) {
	width := float64((pictureWidth - boxGap*(controllerColumns-1)) / controllerColumns)
	for i, id := range s.spec.Controllers {
		x := float64(i%controllerColumns) * (width + boxGap)
		y := float64(boxesTop + i/controllerColumns*controllerPitch)
		drawController(w, id, s.controllers[i], x, y, width)
	}
}

func drawController(w *svg.Writer, id int, c ControllerDelta, x, y, width float64) {
	off := c.State == ControllerDown
	leads := c.State == ControllerActive || c.State == ControllerLeader
	style := fmt.Sprintf(`fill="%s" stroke="%s"`, pick(off, boxDown, boxFill), line)
	if off || c.State == ControllerPaused {
		style += ` stroke-dasharray="5 4"`
	}
	w.Rect(x+0.5, y+0.5, width-1, controllerHeight-1, 6, style)
	left, right := x+boxPad, x+width-boxPad
	if leads {
		drawStar(w, left+5, y+13, 6)
		left += 15
	}
	w.Text(left, y+17.5, 12, `font-weight="bold" fill="`+pick(off, inkSoft, ink)+`"`, fmt.Sprintf("controller %d", id))
	says := controllerText[c.State]
	if off {
		drawCross(w, right-4, y+13.5, 4, 2.4, alarm)
		right -= 14
	} else {
		says += fmt.Sprintf(", epoch %d", c.Epoch)
	}
	w.Text(right, y+17.5, 11, `text-anchor="end" fill="`+pick(leads || c.State == ControllerFollower, inkSoft, alarm)+`"`, says)
}

// The states of a WireRow.
const (
	wireHeld = "held"
	wireCut  = "cut"
)

// maxWireRows is how many messages one cluster picture lists.
const maxWireRows = 10

// wireRows lists what is on the wire: cut links, held messages, then the others in the order of their
// arrival. When there are too many, housekeeping is left out first, and the rest is counted.
func wireRows(now *view.Cluster) []WireRow {
	var rows []WireRow
	for _, c := range now.Cuts {
		rows = append(rows, WireRow{From: clip(c.From), To: clip(c.To), Text: pick(c.BothWays, "cut, both ways", "cut, this way"),
			When: count(c.Waiting, "message waits", "messages wait"), State: wireCut})
	}
	messages := wireOrder(now.InFlight)
	for i, m := range messages {
		if len(rows) == maxWireRows && len(messages) > i {
			last := &rows[len(rows)-1]
			last.When += fmt.Sprintf("; %d more", len(messages)-i)
			break
		}
		row := WireRow{From: clip(m.From), To: clip(m.To), Text: clip(m.Text), When: "arrives in " + ms(m.Arrives-now.Now)}
		if m.Held {
			row.When, row.State = "held", wireHeld
		}
		rows = append(rows, row)
	}
	return rows[:min(len(rows), maxControllers)]
}

// wireOrder puts held messages first and, when there are many, leaves housekeeping out.
func wireOrder(list []view.Message) []view.Message {
	var first, rest []view.Message
	for _, m := range list {
		switch {
		case m.Held:
			first = append(first, m)
		case !m.Housekeeping || len(list) <= maxWireRows:
			rest = append(rest, m)
		}
	}
	return append(first, rest...)
}

// wireText tells the wire for the alternative text.
func wireText(rows []WireRow) string {
	var out strings.Builder
	for i, r := range rows {
		if i == 4 {
			fmt.Fprintf(&out, " And %s more on the wire.", count(len(rows)-i, "row", "rows"))
			break
		}
		fmt.Fprintf(&out, " From %s to %s: %s, %s.", r.From, r.To, r.Text, r.When)
	}
	return out.String()
}

func drawWire(w *svg.Writer, rows []WireRow, y float64) {
	if len(rows) == 0 {
		return
	}
	w.Text(2, y+14, 12, `font-weight="bold" fill="`+ink+`"`, "On the wire")
	for i, r := range rows {
		top := y + wireHead + float64(i*wireLine)
		colour, style := ink, ""
		if r.State != "" {
			colour, style = alarm, ` stroke-dasharray="4 3"`
		}
		w.Text(96, top+9, 11, `text-anchor="end" fill="`+ink+`"`, shorten(r.From, 18))
		w.Line(104, top+5, 146, top+5, `stroke="`+colour+`" stroke-width="1.4"`+style)
		w.Text(156, top+9, 11, `fill="`+ink+`"`, shorten(r.To, 18))
		w.Text(258, top+9, 11, `fill="`+ink+`"`, shorten(r.Text, 62))
		w.Text(818, top+9, 11, `text-anchor="end" fill="`+pick(r.State == "", inkSoft, alarm)+`"`, r.When)
		if r.State == wireCut {
			drawCross(w, 125, top+5, 4, 2, alarm)
		} else {
			drawArrowHead(w, 146, top+5, 1, 0, colour)
		}
	}
}
