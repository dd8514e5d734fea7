package charts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"kafkalab/charts/svg"
	"kafkalab/kafkasim/view"
)

// Filter chooses what Messages draws. The zero value takes the newest messages that are not housekeeping.
type Filter struct {
	From, To     time.Duration // virtual time; To 0 is now
	Words        string        // each word stands on the message's line, such as "broker 1 -> checkout" or "Fetch orders-0"
	Housekeeping bool          // heartbeats, fetches that bring nothing and metadata fetches too
}

// maxMessages is how many messages one diagram shows.
const maxMessages = 40

// Messages draws what was said, by whom and when, as a space-time diagram: brokers, controllers and clients are
// lines on which time runs downwards, messages are arrows between them. A cross ends what was dropped or
// came to a dead process; crashes, elections, truncations and answers to the application stand on the
// lines. Point at an arrow to read the whole message. Of more than 40 messages it shows the newest.
func Messages(src view.Source, filter ...Filter) *Picture {
	now, trace := look("Messages", src)
	wired, ok := src.(view.WireSource)
	if !ok {
		wrong("charts.Messages: this %T cannot tell its messages; give it a cluster", src)
	}
	if len(filter) > 1 {
		wrong("charts.Messages: %d filters; want one, which may say several things: charts.Filter{From: 20 * time.Millisecond, Words: \"orders-0\"}", len(filter))
	}
	f := Filter{}
	if len(filter) == 1 {
		f = filter[0]
	}
	d := &spaceTime{now: now, trace: trace, from: f.From.Microseconds(), to: now.Now}
	if f.To > 0 {
		d.to = min(f.To.Microseconds(), now.Now)
	}
	if d.from > d.to {
		wrong("charts.Messages: From %v is later than %s, the end of what is drawn", f.From, ms(d.to))
	}
	d.choose(wired, f)
	return d.draw()
}

// spaceTime is a diagram in the making.
type spaceTime struct {
	now      *view.Cluster
	trace    *view.Trace
	from, to int64   // µs
	left     float64 // px: where the lanes begin, beside the times
	flights  []view.Flight
	omitted  int
	lanes    []string
	rows     []stRow
	pen      *pen
}

// choose finds the newest messages that the filter lets through. It looks back in growing steps, since a
// long history is long to repeat.
func (d *spaceTime) choose(src view.WireSource, f Filter) {
	words := strings.Fields(f.Words)
	for back := int64(250_000); ; back *= 8 {
		start := max(d.from, d.to-back)
		wire := src.Flights(start, d.to)
		d.flights = d.flights[:0]
		for _, flight := range wire.Flights {
			text := flight.From + " -> " + flight.To + " " + flight.Text
			matches := !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
			if matches && (f.Housekeeping || !flight.Housekeeping || flight.Fate == view.FateDropped) && flight.Sent >= start {
				d.flights = append(d.flights, flight)
			}
		}
		if start == d.from || len(d.flights) > maxMessages {
			break
		}
	}
	if n := len(d.flights) - maxMessages; n > 0 {
		d.omitted, d.flights = n, d.flights[n:]
		d.from = d.flights[0].Sent
	}
}

// stRow is one row of the diagram: something that happens at a moment on a lane.
type stRow struct {
	at     int64
	kind   int
	flight int    // index, of a sending or an arrival
	lane   string // of a note
	text   string
	tone   string
	y      float64
}

// The kinds of row, in the order in which they stand at one moment.
const (
	rowArrives = iota
	rowNote
	rowCommand
	rowSends
)

// The measures of the diagram, in px.
const (
	stTop     = 62
	stLeft    = 70
	stSend    = 21
	stNote    = 17
	stArrives = 7
	stGap     = 9

	stTwoHeads = 560 // a diagram of this height names its lanes below too
)

func (d *spaceTime) draw() *Picture {
	title := fmt.Sprintf("Messages from %s to %s", ms(d.from), ms(d.to))
	if d.omitted > 0 {
		title += fmt.Sprintf(" (the last %d of %d)", len(d.flights), len(d.flights)+d.omitted)
	}
	d.pen = newPen(title, pictureWidth)
	d.pen.title()
	d.makeLanes()
	d.makeRows()
	d.left = stLeft
	for i := range d.rows {
		d.left = max(d.left, 16+widthOf(ms(d.rows[i].at), 11, false))
	}
	bottom := d.placeRows()
	d.drawLanes(bottom)
	for i := range d.rows {
		d.drawRow(&d.rows[i])
	}
	d.drawFlights(bottom)
	if len(d.flights) == 0 {
		d.pen.text(d.left, stTop+24, 12, "soft", "No message passed here. Let time run, or choose a wider filter; Housekeeping: true shows heartbeats too.")
		bottom = stTop + 44
	}
	if bottom >= stTwoHeads {
		bottom += 18
	}
	d.legend(bottom + 14)
	d.pen.frame(float64(d.to)/1000, nil, false)
	return newDrawing(d.pen, bottom+36, d.describe(), nil)
}

// makeLanes finds who talks: clients first, then brokers, then controllers.
func (d *spaceTime) makeLanes() {
	rank := func(name string) int {
		switch {
		case strings.HasPrefix(name, "broker "):
			return 1
		case strings.HasPrefix(name, "controller"):
			return 2
		}
		return 0
	}
	for _, f := range d.flights {
		for _, name := range []string{f.From, f.To} {
			if !slices.Contains(d.lanes, name) {
				d.lanes = append(d.lanes, name)
			}
		}
	}
	slices.SortStableFunc(d.lanes, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), pick(rank(a) == 0, 0, cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))))
	})
}

func (d *spaceTime) x(lane string) float64 {
	i := slices.Index(d.lanes, lane)
	pitch := (pictureWidth - d.left) / float64(max(len(d.lanes), 1))
	return d.left + pitch*(float64(i)+0.5)
}

// makeRows lists everything that has a place on the time axis.
func (d *spaceTime) makeRows() {
	for i, f := range d.flights {
		d.rows = append(d.rows, stRow{at: f.Sent, kind: rowSends, flight: i})
		if f.Ended >= 0 && f.Ended <= d.to {
			d.rows = append(d.rows, stRow{at: f.Ended, kind: rowArrives, flight: i})
		}
	}
	b := newBoard(d.trace)
	for i := range d.trace.Changes {
		c := &d.trace.Changes[i]
		if c.At >= d.from && c.At <= d.to {
			if row, ok := d.note(b, c); ok && (row.lane == "" || slices.Contains(d.lanes, row.lane)) {
				d.rows = append(d.rows, row)
			}
		}
		b.apply(c)
	}
	slices.SortStableFunc(d.rows, func(a, b stRow) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
}

// note is what a change writes on a lane.
func (d *spaceTime) note(b *board, c *view.Change) (stRow, bool) {
	name := ""
	if c.Partition >= 0 && c.Partition < len(b.partitions) {
		name = b.partitions[c.Partition].name
	}
	row := stRow{at: c.At, kind: rowNote, lane: fmt.Sprintf("broker %d", c.Broker), tone: "ink"}
	switch c.Kind {
	case view.Command:
		return stRow{at: c.At, kind: rowCommand, text: c.Text}, true
	case view.BrokerState:
		if c.Text == "RUNNING" && b.broker(c.Broker).state == "CRASHED" {
			row.text = "starts"
			return row, true
		}
		if c.Text != "CRASHED" && c.Text != "PAUSED" && c.Text != "STARTING" && c.Text != "NOT_RUNNING" {
			return row, false
		}
		row.text = map[string]string{"CRASHED": "crashes", "PAUSED": "falls silent", "STARTING": "starts", "NOT_RUNNING": "has stopped"}[c.Text]
		row.tone = pick(c.Text == "STARTING", "ink", "alarm")
	case view.BecameLeader:
		row.text = fmt.Sprintf("leads %s, epoch %d", name, c.A)
	case view.Truncated:
		row.text, row.tone = fmt.Sprintf("cuts %s back to %d", name, c.A), "alarm"
	case view.Acked:
		if c.A < 0 {
			return row, false
		}
		row.lane, row.text = c.Client, fmt.Sprintf("%s of %s acknowledged", span(c.A, c.A+c.B-1), name)
	case view.Failed:
		row.lane, row.text, row.tone = c.Client, fmt.Sprintf("%s failed: %s", count(c.A, "record", "records"), c.Text), "alarm"
	case view.ControllerState:
		row.lane, row.text = fmt.Sprintf("controller %d", c.A), strings.ToLower(c.Text)
	default:
		return row, false
	}
	return row, true
}

// placeRows gives every row its y: what happens at one moment stands together, and each label has a line of
// its own. It returns the bottom.
func (d *spaceTime) placeRows() float64 {
	y, at := float64(stTop), int64(-1)
	for i := range d.rows {
		r := &d.rows[i]
		if r.at != at && i > 0 {
			y += stGap
		}
		at = r.at
		y += [...]float64{rowArrives: stArrives, rowNote: stNote, rowCommand: stNote + 4, rowSends: stSend}[r.kind]
		r.y = y
	}
	return y + 24
}

// yOf is where something at a moment stands that has no row: between its neighbours.
func (d *spaceTime) yOf(at int64) float64 {
	y := float64(stTop)
	for _, r := range d.rows {
		if r.at > at {
			break
		}
		y = r.y
	}
	return y
}

// drawLanes draws the lines; dashed where the broker is down.
func (d *spaceTime) drawLanes(bottom float64) {
	width := min(110, (pictureWidth-d.left)/float64(max(len(d.lanes), 1))-4)
	for _, lane := range d.lanes {
		x := d.x(lane)
		for _, y := range []float64{stTop - 30, bottom - 6} {
			if y > stTop && bottom < stTwoHeads {
				continue // a short diagram needs no second heads
			}
			d.pen.rect(x-width/2, y, width, 22, 5, "box", "line")
			d.pen.put(Shape{Kind: shapeText, Z: 5, X: x, Y: y + 15, Size: pick(width < narrowLane, 10.0, 12.0), Fill: "ink", Text: laneName(lane, width), Anchor: "middle", Bold: true, Tip: lane})
		}
		from, down := float64(stTop-8), false
		for _, r := range d.rows {
			if r.kind != rowNote || r.lane != lane {
				continue
			}
			dies := r.text == "crashes" || r.text == "has stopped"
			if dies && !down || down && r.text == "starts" {
				d.laneLine(x, from, r.y-4, down)
				from, down = r.y-4, dies
			}
		}
		d.laneLine(x, from, bottom-6, down)
	}
}

// narrowLane is the width of a head, in px, below which its text is smaller.
const narrowLane = 66

// laneName is the name in the head of a lane; where there is no room, "broker 4" is B4.
func laneName(lane string, width float64) string {
	if kind, number, ok := strings.Cut(lane, " "); ok && width < narrowLane && (kind == "broker" || kind == "controller") {
		return strings.ToUpper(kind[:1]) + number
	}
	return shorten(lane, fitting(lane, pick(width < narrowLane, 10.0, 12.0), width, true))
}

func (d *spaceTime) laneLine(x, from, to float64, down bool) {
	s := Shape{Kind: shapeLine, X: x, Y: from, H: to - from, Stroke: pick(down, "faint", "soft"), Thick: 1.2}
	if down {
		s.Dash = dotted
	}
	d.pen.put(s)
}

func (d *spaceTime) drawRow(r *stRow) {
	if r.kind != rowArrives && (r.y == d.rows[0].y || d.newMoment(r)) {
		d.pen.anchored(d.left-12, r.y, 11, "end", "soft", ms(r.at))
	}
	switch r.kind {
	case rowCommand:
		d.pen.rect(d.left-4, r.y-13, pictureWidth-d.left+2, 18, 3, "quiet", "none")
		d.pen.bold(d.left+2, r.y, 11, "ink", fitEnd("You: "+r.text, 11*1.1, pictureWidth-d.left-6))
	case rowNote:
		x := d.x(r.lane)
		d.pen.put(Shape{Kind: shapeCircle, Z: 4, X: x, Y: r.y - 4, R: 3.2, Fill: pick(r.tone == "alarm", "alarm", "paper"), Stroke: r.tone})
		if r.text == "crashes" {
			d.pen.put(Shape{Kind: shapeCross, Z: 5, X: x, Y: r.y - 4, R: 5, Stroke: "alarm", Thick: 2.4})
		}
		d.labelAt(x, r.y, 8, r.tone, r.text, x < pictureWidth*0.68)
	}
}

// newMoment says whether a row is the first with text at its moment.
func (d *spaceTime) newMoment(r *stRow) bool {
	for i := range d.rows {
		if q := &d.rows[i]; q.at == r.at && q.kind != rowArrives {
			return q == r
		}
	}
	return true
}

// labelAt writes a text beside a lane, on a veil so that it is read over lines.
func (d *spaceTime) labelAt(x, y, away float64, fill, text string, toTheRight bool) {
	room := pick(toTheRight, pictureWidth-x-away, x-away-d.left+8)
	text = cutEnd(fitEnd(text, 10.5, room), 64)
	width := svg.TextWidth(text, 10.5, false) * (1 + wider) / 2 // between our fonts and the readers'
	if toTheRight {
		d.pen.put(Shape{Kind: shapeRect, Z: 3, X: x + away - 2, Y: y - 10, W: width + 4, H: 13, Fill: "veil", R: 2})
		d.pen.text(x+away, y, 10.5, fill, text)
		return
	}
	d.pen.put(Shape{Kind: shapeRect, Z: 3, X: x - away - width - 2, Y: y - 10, W: width + 4, H: 13, Fill: "veil", R: 2})
	d.pen.anchored(x-away, y, 10.5, "end", fill, text)
}

var errorName = regexp.MustCompile(`\b[A-Z]+(_[A-Z]+)+\b`)

// strokeOfFlight is the colour of an arrow by what it says; the words beside it say the same.
func strokeOfFlight(f *view.Flight) string {
	switch {
	case errorName.MatchString(f.Text) || f.Text == "connection reset":
		return "alarm"
	case strings.HasPrefix(f.API, "Produce"):
		return "t0"
	case strings.HasPrefix(f.API, "Fetch"):
		return "t2"
	}
	return "t3"
}

func (d *spaceTime) drawFlights(bottom float64) {
	for i := range d.rows {
		if r := &d.rows[i]; r.kind == rowSends {
			d.drawFlight(&d.flights[r.flight], r, bottom)
		}
	}
}

func (d *spaceTime) drawFlight(f *view.Flight, r *stRow, bottom float64) {
	x1, x2, y1, y2 := d.x(f.From), d.x(f.To), r.y, bottom-16
	for i := range d.rows {
		if q := &d.rows[i]; q.kind == rowArrives && q.flight == r.flight {
			y2 = q.y
		}
	}
	tip := fmt.Sprintf("#%d, %s to %s, sent at %s: %s", f.Number, f.From, f.To, ms(f.Sent), f.Text)
	s := Shape{Kind: shapeArrow, Z: 2, X: x1, Y: y1, W: x2 - x1, H: y2 - y1, Stroke: strokeOfFlight(f), Thick: pick(strings.HasSuffix(f.API, "Response"), 1.1, 1.7)}
	if strings.HasSuffix(f.API, "Response") {
		s.Dash = dashed
	}
	switch {
	case f.Fate == view.FateDropped:
		s.Kind, s.W, s.H = shapeLine, s.W*0.55, (y2-y1)*0.55
		d.pen.put(Shape{Kind: shapeCross, Z: 5, X: s.X + s.W, Y: s.Y + s.H, R: 5, Stroke: "alarm", Thick: 2.4})
		tip += "; dropped at " + ms(f.Ended)
	case f.Fate == view.FateDead:
		d.pen.put(Shape{Kind: shapeCross, Z: 5, X: x2, Y: y2, R: 4.5, Stroke: "alarm", Thick: 2.2})
		tip += "; came to a dead process at " + ms(f.Ended)
	case f.Fate == view.FateHeld:
		s.Kind, s.Dash, s.W, s.H = shapeLine, dotted, s.W*0.4, 8
		d.pen.put(Shape{Kind: shapeRect, Z: 4, X: s.X + s.W - 4, Y: s.Y + s.H - 4, W: 8, H: 8, Fill: "alarm", R: 1})
		tip += "; held"
	case f.Ended > d.to || f.Ended < 0:
		s.Dash = dotted
		tip += "; still on the wire"
	default:
		tip += "; arrived at " + ms(f.Ended)
	}
	s.Tip = tip
	d.pen.put(s)
	d.labelAt(x1, y1-3, 7, s.Stroke, f.Text, x2 > x1)
}

func (d *spaceTime) legend(y float64) {
	x := d.left
	say := func(w float64, text string) {
		d.pen.text(x+w, y+11, 11, "soft", text)
		x += w + 6.2*float64(len(text)) + 14
	}
	sample := func(stroke, dash string) {
		d.pen.put(Shape{Kind: shapeArrow, X: x, Y: y + 7, W: 22, Stroke: stroke, Thick: 1.5, Dash: dash})
	}
	sample("ink", "")
	say(28, "request")
	sample("ink", dashed)
	say(28, "answer")
	sample("ink", dotted)
	say(28, "on the wire")
	d.pen.put(Shape{Kind: shapeCross, X: x + 6, Y: y + 7, R: 4.5, Stroke: "alarm", Thick: 2.2})
	say(16, "dropped, or came to a dead process")
	d.pen.put(Shape{Kind: shapeRect, X: x + 2, Y: y + 3, W: 8, H: 8, Fill: "alarm", R: 1})
	say(16, "held")
}

func (d *spaceTime) describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s.", d.pen.spec.Title, pick(len(d.flights) == 0, "no message", count(len(d.flights), "message", "messages")+" between "+listing(d.lanes)))
	bad, told := 0, 0
	for i := range d.flights {
		f := &d.flights[i]
		if f.Fate == view.FateDropped || f.Fate == view.FateDead || f.Fate == view.FateHeld {
			if bad++; bad <= 4 {
				fmt.Fprintf(&out, " From %s to %s at %s: %s - %s.", f.From, f.To, ms(f.Sent), f.Text, f.Fate)
			}
		}
	}
	for _, r := range d.rows {
		if r.kind == rowCommand || r.kind == rowNote {
			if told++; told <= 10 {
				who := pick(r.kind == rowCommand, "you", r.lane)
				fmt.Fprintf(&out, " At %s, %s: %s.", ms(r.at), who, r.text)
			}
		}
	}
	return out.String()
}
