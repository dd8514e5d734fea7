package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// stage steps through a trace tick by tick for the pictures of the two small worlds of the course: each tick at
// which something changed is a frame.
type stage struct {
	now   *view.Cluster
	trace *view.Trace
	b     *board
	pen   *pen
	tick  int64 // µs
	start int64 // µs: what was before is told in the first frame
	story *highlights

	stride      int64 // µs: how much time a frame holds
	at          int64 // µs: the end of the frame in the making
	sent, acked int64 // in this frame
	sender      senderLog
	height      float64 // px of the picture
}

// maxTicks is how many frames such a picture has at most: the small worlds live for a hundred ticks.
const maxTicks = 200

// playStage steps through the source's trace; paint draws the board as it is after each tick ("tick" or "step"), and
// returns how high the picture is. A story of too many ticks is told in frames of 2, 4, 8 … ticks, and the title
// says so.
func playStage(where, tick string, src view.Source, title func(*view.Trace) string, paint func(*stage) float64) *stage {
	now, trace := look(where, src)
	if len(trace.Partitions) == 0 {
		wrong("charts.%s: this cluster has no topic yet; kafkasim.%s() makes the world that this picture is of", where, where)
	}
	keys := keysOf(trace)
	for ticks := int64(1); ; ticks *= 2 {
		s := newStage(title(trace), now, trace, keys)
		for (trace.To-s.start)/(s.tick*ticks) >= maxTicks {
			ticks *= 2
		}
		s.stride = s.tick * ticks
		if ticks == 1 {
			s.pen.spec.Title += ", " + tick + " by " + tick
		} else {
			s.pen.spec.Title += fmt.Sprintf(", %d %ss a frame", ticks, tick)
		}
		s.run(func() { s.height = paint(s) })
		frames, size := len(s.pen.spec.Frames), s.pen.spec.size(maxReplay)
		if frames <= fewFrames || size <= maxReplay {
			return s
		}
		for ; size > 3*maxReplay && frames > 3*fewFrames; size, frames = size/2, frames/2 {
			ticks *= 2 // the loop doubles once more
		}
	}
}

// size is how many bytes the spec has. Most have far fewer than what is asked for, which is seen at a glance; then it is
// not exact.
func (s *DrawingSpec) size(most int) int {
	size := 120 * len(s.Shapes)
	for i := range s.Frames {
		size += 40 + 6*(len(s.Frames[i].Add)+len(s.Frames[i].Drop))
		for _, text := range s.Frames[i].Words {
			size += len(text)
		}
	}
	if size > most {
		size = len(specText(KindDrawing, s))
	}
	return size
}

func newStage(title string, now *view.Cluster, trace *view.Trace, keys *keyTable) *stage {
	s := &stage{now: now, trace: trace, b: newBoard(trace), tick: max(trace.Tick, 1), story: &highlights{}, pen: newPen(title, pictureWidth)}
	s.pen.beside = 106 // "step 17330"
	s.b.keys = keys
	s.b.acksOf(now)
	s.start = startOf(trace, view.Sent) / s.tick * s.tick
	return s
}

// run steps through the trace; paint draws the board as it is after each frame's time.
func (s *stage) run(paint func()) {
	stride := s.stride
	edge := s.start // changes before it belong to the first frame
	s.story.closed = true
	for i := 0; i < len(s.trace.Changes); {
		var sentences []sentence
		event := false
		s.sent, s.acked = 0, 0
		end := i
		for end < len(s.trace.Changes) && s.trace.Changes[end].At < edge {
			end++
		}
		threshold, untold := quietBelow(end-i), 0
		for ; i < end; i++ {
			c := &s.trace.Changes[i]
			s.story.closed = s.story.closed && c.Kind != view.Sent
			if loud := s.b.loudness(c); loud < threshold {
				untold++
			} else {
				said := sentence{text: s.b.say(c), loud: loud, at: c.At}
				sentences = append(sentences, said)
				s.story.add(said)
				event = event || loud >= 3 && !s.story.closed
			}
			s.sender.add(c)
			s.b.apply(c)
			switch c.Kind {
			case view.Sent:
				s.sent += c.A
			case view.Acked:
				s.acked += c.B
			}
		}
		s.at = max(edge-stride, 0) // the tick in which all this happened
		paint()
		words := andQuieter(tell(sentences, 3-min(untold, 1)), untold)
		if s.story.closed {
			words = []string{"Before the first record is sent."}
		}
		s.pen.frame(float64(s.at)/1000, words, event)
		s.clearGhosts()
		edge += stride
	}
}

func (s *stage) clearGhosts() {
	for i := range s.b.partitions {
		for k := range s.b.partitions[i].logs {
			s.b.partitions[i].logs[k].gone = nil
		}
	}
}

// step is a moment in ticks.
func (s *stage) step(at int64) int64 { return at / s.tick }

// counter draws a number with what it counts.
func (p *pen) counter(x, y, w float64, value int64, says, tone string) {
	p.rect(x+0.5, y+0.5, w-1, 45, 6, "box", "line")
	p.put(Shape{Kind: shapeText, Z: 5, X: x + w/2, Y: y + 23, Size: 19, Fill: tone, Text: fmt.Sprint(value), Anchor: "middle", Bold: true})
	p.anchored(x+w/2, y+38, 10.5, "middle", "soft", says)
}

// counters draws counters side by side.
func (p *pen) counters(y float64, list []counterBox) {
	w := float64(pictureWidth-8*(len(list)-1)) / float64(len(list))
	for i, c := range list {
		p.counter(float64(i)*(w+8), y, w, c.value, c.says, pick(c.tone == "", "ink", c.tone))
	}
}

type counterBox struct {
	value      int64
	says, tone string
}

// clients adds up what all clients did.
func (b *board) totals() (sent, acked, failed, lost, read int64, again bool) {
	for i := range b.clients {
		c := &b.clients[i]
		sent, acked, failed, lost, read = sent+c.sent, acked+c.acked, failed+c.failed, lost+c.lost, read+c.read
		again = again || c.retrying && c.sent > c.acked+c.failed
	}
	return sent, acked, failed, lost, read, again
}

// logStrip draws a replica's cells from an offset on, with the high watermark and what was cut off just now.
func (p *pen) logStrip(l *boardLog, from int64, slots int, x, top float64) {
	p.line(x, top+stripHeight+1.5, x+float64(slots*cellPitch), top+stripHeight+1.5, "line")
	if l.start < from && l.end > l.start {
		for i := range 3 {
			p.put(Shape{Kind: shapeCircle, X: x - 12 + float64(i)*4, Y: top + stripHeight/2, R: 1.2, Fill: "soft"})
		}
	}
	epoch := int64(-1)
	for _, c := range l.cells {
		if c[0] >= from && c[0] < from+int64(slots) && c[0] >= l.start {
			cx := x + float64(c[0]-from)*cellPitch
			p.put(Shape{Kind: shapeCell, Z: 1, X: cx, Y: top, Key: int(c[1]), Mark: int(c[3]), As: pick(c[0] < l.hw, cellCommitted, cellOpen)})
			switch {
			case epoch >= 0 && c[2] != epoch:
				p.put(Shape{Kind: shapeText, Z: 5, X: cx + cellWidth/2, Y: top + stripHeight + 12, Size: 9, Fill: "t3", Text: fmt.Sprintf("e%d", c[2]), Anchor: "middle", Bold: true})
				p.put(Shape{Kind: shapeLine, Z: 3, X: cx - 1.5, Y: top - 2, H: stripHeight + 8, Stroke: "t3", Thick: 1.2})
			case c[0] == from || c[0]%5 == 0:
				p.anchored(cx+cellWidth/2, top+stripHeight+12, 9, "middle", "soft", fmt.Sprint(c[0]))
			}
		}
		epoch = c[2]
	}
	for _, c := range l.gone {
		if c[0] >= from && c[0] < from+int64(slots) {
			p.put(Shape{Kind: shapeCell, Z: 2, X: x + float64(c[0]-from)*cellPitch, Y: top, Key: int(c[1]), Mark: int(c[3]), As: cellGhost})
		}
	}
	if at := l.hw - from; at >= 0 && at <= int64(slots) {
		p.put(Shape{Kind: shapeFlag, Z: 4, X: x + float64(at*cellPitch) - 1.5, Y: top - 2, H: stripHeight + 6})
	}
}

// steady is a window that moves in leaps, so that a picture that steps does not tremble.
func (p *boardPartition) steady(slots int) int64 {
	from, leap := p.window(slots-2), max(int64(slots)/4, 1)
	return (from + leap - 1) / leap * leap
}

// delivery is one run of records that a producer sent, and what it heard of them.
type delivery struct {
	client    string
	partition int
	records   int64
	first     int64 // offset, -1 before it is known
	sent      int64 // µs
	heard     int64 // µs, -1 while it waits
	failed    string
	retried   int
	keys      []int64 // of its records, once their place is known
}

// senderLog pairs what was sent with what was heard, oldest first by client and partition.
type senderLog struct {
	list []delivery
	full int // how long the list may become before what is settled and out of sight is forgotten
}

// forget drops deliveries that nobody waits for and no frame shows any more.
func (s *senderLog) forget() {
	shown := len(s.list) - pageSendRows
	kept := s.list[:0]
	for i := range s.list {
		if i >= shown || s.list[i].heard < 0 {
			kept = append(kept, s.list[i])
		}
	}
	s.list = kept
	s.full = max(64, 2*len(kept))
}

func (s *senderLog) add(c *view.Change) {
	switch c.Kind {
	case view.Sent:
		if len(s.list) >= max(s.full, 64) {
			s.forget()
		}
		s.list = append(s.list, delivery{client: c.Client, partition: c.Partition, records: c.A, first: -1, sent: c.At, heard: -1})
	case view.Retried:
		if i := s.waiting(c); i >= 0 {
			s.list[i].retried++
		}
	case view.Acked:
		s.hear(c, c.B, func(d *delivery, done int64) {
			if c.A >= 0 {
				d.first = c.A + done
			}
		})
	case view.Failed:
		s.hear(c, c.A, func(d *delivery, _ int64) { d.failed = c.Text })
	}
}

// waiting is the oldest delivery of the change's client and partition that waits, -1 for none.
func (s *senderLog) waiting(c *view.Change) int {
	return slices.IndexFunc(s.list, func(d delivery) bool { return d.heard < 0 && d.client == c.Client && d.partition == c.Partition })
}

// hear gives an answer about n records to those that wait longest, splitting a run that it covers in part.
func (s *senderLog) hear(c *view.Change, n int64, set func(d *delivery, done int64)) {
	for done := int64(0); done < n; {
		i := s.waiting(c)
		if i < 0 {
			return
		}
		if left := n - done; s.list[i].records > left {
			rest := s.list[i]
			rest.records -= left
			s.list[i].records = left
			s.list = slices.Insert(s.list, i+1, rest)
		}
		s.list[i].heard = c.At
		set(&s.list[i], done)
		done += s.list[i].records
	}
}

// brokerHead draws a broker's box with name and state.
func (p *pen) brokerHead(b *boardBroker, x, y, w, h float64) (down bool) {
	state := b.picture()
	down = state == BrokerDown
	s := Shape{Kind: shapeRect, X: x + 0.5, Y: y + 0.5, W: w - 1, H: h - 1, R: 6, Fill: pick(down, "boxDown", "box"), Stroke: "line"}
	if down || state == BrokerPaused {
		s.Dash = dashed
	}
	p.put(s)
	p.bold(x+boxPad, y+19, 13, pick(down, "soft", "ink"), fmt.Sprintf("broker %d", b.id))
	right := x + w - boxPad
	if down {
		p.put(Shape{Kind: shapeCross, Z: 5, X: right - 5, Y: y + 14.5, R: 5, Stroke: "alarm", Thick: 2.6})
		right -= 16
	}
	p.anchored(right, y+19, 11, "end", pick(state == BrokerUp, "soft", "alarm"), stateText[state])
	return down
}

// replicaHead draws a log's name and numbers.
func (p *pen) replicaHead(name string, l *boardLog, inISR bool, x, y, w float64) {
	left := x
	if l.role == "leader" {
		p.put(Shape{Kind: shapeStar, X: left + 5, Y: y + 10.5, R: 6})
		left += 15
	}
	p.bold(left, y+15, 12, "ink", name)
	if !inISR {
		p.text(after(left, name, 12, true), y+15, 10.5, "alarm", "out of ISR")
	}
	p.anchored(x+w, y+15, 11, "end", "soft", fmt.Sprintf("hw %d · leo %d", l.hw, l.end))
}

// finish makes the picture, with the numbers at the end in its alternative text.
func (s *stage) finish(ends string) *Picture {
	var alt strings.Builder
	first, last := s.pen.spec.Frames[0].T, s.pen.spec.Frames[len(s.pen.spec.Frames)-1].T
	fmt.Fprintf(&alt, "%s, %s from %s to %s.", s.pen.spec.Title, count(len(s.pen.spec.Frames), "moment", "moments"), moment(first), moment(last))
	for _, line := range s.story.pick(6) {
		fmt.Fprintf(&alt, " At %s: %s", ms(line.at), line.text)
	}
	return newDrawing(s.pen, s.height, alt.String()+" At the end: "+ends, s.story.pick(maxHighlights))
}
