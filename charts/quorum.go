package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The measures of a quorum picture, in px.
const (
	quorumLeft  = 112
	quorumRow   = 74
	quorumCells = 36
)

// Quorum draws the controllers: above, over time, who led which epoch and who was down; below, each
// controller's metadata log as it is now, its records in the colour of their epoch, with the high watermark
// that this controller knows. What is above a high watermark may still be cut off.
func Quorum(src view.Source) *Picture {
	now, trace := look("Quorum", src)
	if len(now.Controllers) == 0 {
		wrong("charts.Quorum: this cluster has no controllers")
	}
	q := &quorumPicture{now: now, trace: trace, pen: newPen("Controllers at "+ms(now.Now), pictureWidth)}
	q.pen.title()
	y := q.timeline(56)
	for i := range now.Controllers {
		q.log(&now.Controllers[i], y)
		y += quorumRow
	}
	y = q.legend(y)
	q.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(q.pen, y+4, q.describe(), nil)
}

type quorumPicture struct {
	now   *view.Cluster
	trace *view.Trace
	pen   *pen
	terms []term
	used  []string // kinds of record that are shown
}

// term is a stretch in which a controller was in one state.
type term struct {
	controller int
	state      string
	epoch      int64
	from, to   int64
}

// timeline draws a lane for each controller, and returns the y below.
func (q *quorumPicture) timeline(y float64) float64 {
	q.collect()
	l := &lanes{pen: q.pen, from: q.trace.From, to: q.trace.To, left: quorumLeft}
	for i := range q.now.Controllers {
		l.name(y+float64(i*laneHeight), fmt.Sprintf("controller %d", q.now.Controllers[i].ID))
	}
	for _, t := range q.terms {
		s := Shape{Fill: "box", Stroke: "line", Tip: fmt.Sprintf("controller %d: %s, epoch %d, %s", q.now.Controllers[t.controller].ID, controllerText[t.state], t.epoch, between(t.from, t.to))}
		label, short, tone := controllerText[t.state], "", "soft"
		switch t.state {
		case ControllerActive, ControllerLeader:
			s.Fill, s.Stroke = epochFill(t.epoch), "none"
			label, short, tone = fmt.Sprintf("leads epoch %d", t.epoch), fmt.Sprintf("epoch %d", t.epoch), epochInk(t.epoch)
		case ControllerDown, ControllerPaused:
			s.Fill, s.Dash, s.Stroke, tone = "boxDown", dashed, "faint", "alarm"
		case ControllerCandidate, ControllerUnattached:
			s.Stroke, tone = "alarm", "alarm"
		}
		l.bar(y+float64(t.controller*laneHeight), t.from, t.to, s, label, short, tone)
	}
	return l.axis(y + float64(len(q.now.Controllers)*laneHeight) + 2)
}

// epochFill is the colour of an epoch, epochInk that of letters on it.
func epochFill(epoch int64) string { return fmt.Sprintf("c%d", max(epoch, 0)%int64(len(palette))) }

func epochInk(epoch int64) string { return fmt.Sprintf("l%d", max(epoch, 0)%int64(len(palette))) }

// collect folds the trace into terms.
func (q *quorumPicture) collect() {
	b := newBoard(q.trace)
	open := make([]term, len(b.controllers))
	for i := range b.controllers {
		open[i] = term{i, b.controllers[i].picture(), b.controllers[i].epoch, q.trace.From, 0}
	}
	look := func(at int64) {
		for i := range b.controllers {
			c := &b.controllers[i]
			if t := &open[i]; t.state != c.picture() || t.epoch != c.epoch {
				if at > t.from {
					t.to = at
					q.terms = append(q.terms, *t)
				}
				open[i] = term{i, c.picture(), c.epoch, at, 0}
			}
		}
	}
	for i := range q.trace.Changes {
		if c := &q.trace.Changes[i]; c.Kind == view.ControllerState {
			b.applyController(c)
			look(c.At)
		}
	}
	for _, t := range open {
		t.to = q.trace.To
		q.terms = append(q.terms, t)
	}
	if n := len(q.terms) - 400; n > 0 {
		q.terms = q.terms[n:]
	}
}

// recordLetters are the letters of the kinds of metadata record.
var recordLetters = []struct{ kind, letter, says string }{
	{"LeaderChangeMessage", "L", "a leader begins"},
	{"RegisterBrokerRecord", "R", "broker registers"},
	{"BrokerRegistrationChangeRecord", "B", "broker fenced or unfenced"},
	{"TopicRecord", "T", "topic"},
	{"PartitionRecord", "P", "partition"},
	{"PartitionChangeRecord", "C", "leader or ISR changes"},
	{"ConfigRecord", "S", "setting"},
	{"ProducerIdsRecord", "I", "block of producer ids"},
	{"RemoveTopicRecord", "D", "topic deleted"},
	{"ClearElrRecord", "E", "ELR forgotten"},
}

func letterOfKind(kind string) string {
	for _, l := range recordLetters {
		if l.kind == kind {
			return l.letter
		}
	}
	return "·"
}

// log draws one controller's metadata log.
func (q *quorumPicture) log(c *view.Controller, y float64) {
	p := q.pen
	state := controllerOf(c)
	left := 2.0
	if c.Active {
		p.put(Shape{Kind: shapeStar, X: 8, Y: y + 10, R: 6.5})
		left = 20
	}
	name := fmt.Sprintf("controller %d", c.ID)
	p.bold(left, y+15, 13, "ink", name)
	says := controllerText[state.picture()]
	if c.Alive {
		says += fmt.Sprintf(", epoch %d", c.Epoch)
		if c.Voted >= 0 {
			says += fmt.Sprintf(", voted for %d", c.Voted)
		}
	}
	p.text(after(left, name, 13, true), y+15, 11.5, pick(c.Alive && !c.Paused, "soft", "alarm"), says)
	p.anchored(pictureWidth-2, y+15, 11, "end", "soft", fmt.Sprintf("high watermark %d · log end %d", c.HighWatermark, c.LogEndOffset))
	end := int64(0)
	for i := range q.now.Controllers {
		end = max(end, q.now.Controllers[i].LogEndOffset)
	}
	from, top := max(0, end-quorumCells), y+24
	if !c.Alive {
		p.fade = 0.62
	}
	x := func(offset int64) float64 { return 28 + float64(offset-from)*21 }
	p.line(24, top+22, 28+quorumCells*21, top+22, "line")
	for _, r := range c.Records {
		if r.Offset < from {
			continue
		}
		if !slices.Contains(q.used, r.Kind) {
			q.used = append(q.used, r.Kind)
		}
		open := r.Offset >= c.HighWatermark
		s := Shape{Kind: shapeRect, Z: 1, X: x(r.Offset), Y: top, W: 18, H: 20, R: 2.5, Fill: epochFill(int64(r.Epoch)), Tip: fmt.Sprintf("offset %d, epoch %d: %s%s", r.Offset, r.Epoch, r.Kind, pick(open, ", not yet committed", ""))}
		tone := epochInk(int64(r.Epoch))
		if open {
			tone = "t" + s.Fill[1:]
			s.Stroke, s.Fill, s.Dash, s.Thick = tone, "paper", dotted, 1.3
		}
		p.put(s)
		p.put(Shape{Kind: shapeText, Z: 5, X: x(r.Offset) + 9, Y: top + 14, Size: 11, Fill: tone, Text: letterOfKind(r.Kind), Anchor: "middle", Bold: true})
		if r.Offset%5 == 0 {
			p.anchored(x(r.Offset)+9, top+33, 9.5, "middle", "soft", fmt.Sprint(r.Offset))
		}
	}
	if c.HighWatermark >= from {
		p.put(Shape{Kind: shapeFlag, Z: 4, X: x(c.HighWatermark) - 1.5, Y: top - 4, H: 29, Tip: fmt.Sprintf("high watermark %d", c.HighWatermark)})
	}
	p.fade = 0
}

func (q *quorumPicture) legend(y float64) float64 {
	x := 2.0
	for _, l := range recordLetters {
		if !slices.Contains(q.used, l.kind) {
			continue
		}
		w := 24 + 5.9*float64(len(l.says))
		if x > 2 && x+w > pictureWidth {
			x, y = 2, y+legendLine
		}
		q.pen.put(Shape{Kind: shapeRect, X: x, Y: y, W: 14, H: 14, R: 2.5, Fill: "paper", Stroke: "soft"})
		q.pen.put(Shape{Kind: shapeText, Z: 5, X: x + 7, Y: y + 11, Size: 10.5, Fill: "ink", Text: l.letter, Anchor: "middle", Bold: true})
		q.pen.text(x+19, y+11, 11, "soft", l.says)
		x += w + 8
	}
	y += legendLine
	epochs := map[int]bool{}
	x = 2
	for i := range q.now.Controllers {
		for _, r := range q.now.Controllers[i].Records {
			if !epochs[r.Epoch] && len(epochs) < 8 {
				epochs[r.Epoch] = true
				q.pen.rect(x, y, 14, 14, 2.5, epochFill(int64(r.Epoch)), "none")
				q.pen.text(x+19, y+11, 11, "soft", fmt.Sprintf("epoch %d", r.Epoch))
				x += 80
			}
		}
	}
	q.pen.put(Shape{Kind: shapeFlag, X: x + 6, Y: y - 1, H: 16})
	q.pen.text(x+16, y+11, 11, "soft", "high watermark: a majority has what is before it")
	return y + legendLine
}

func (q *quorumPicture) describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s.", q.pen.spec.Title)
	for i := range q.now.Controllers {
		c := &q.now.Controllers[i]
		state := controllerOf(c)
		fmt.Fprintf(&out, " Controller %d: %s, epoch %d, high watermark %d, log end %d.", c.ID, controllerText[state.picture()], c.Epoch, c.HighWatermark, c.LogEndOffset)
	}
	told := 0
	for _, t := range q.terms {
		if t.state != ControllerFollower && t.state != ControllerUnattached {
			if told++; told <= 8 {
				fmt.Fprintf(&out, " From %s to %s controller %d %s.", ms(t.from), ms(t.to), q.now.Controllers[t.controller].ID, termText(&t))
			}
		}
	}
	return out.String()
}

func termText(t *term) string {
	switch t.state {
	case ControllerActive, ControllerLeader:
		return fmt.Sprintf("leads epoch %d", t.epoch)
	case ControllerCandidate:
		return fmt.Sprintf("asks for votes in epoch %d", t.epoch)
	}
	return "is " + controllerText[t.state]
}
