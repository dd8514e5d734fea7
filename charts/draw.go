package charts

import (
	"fmt"
	"strconv"

	"kafkalab/charts/svg"
	"kafkalab/kafkasim/view"
)

const (
	markAcked = int64(view.MarkAcked)
	markLost  = int64(view.MarkLost)
)

// drawScene draws the cluster picture. Extra px are left free below it for the caller.
func drawScene(s *scene, alt string, extra float64, below func(w *svg.Writer, top float64)) string {
	spec := s.spec
	w := svg.New(float64(spec.Width), float64(spec.Height)+extra, alt)
	w.Text(2, 19, 15, `font-weight="bold" fill="`+ink+`"`, spec.Title)
	width, height := boxWidth(spec.Columns), boxHeight(spec.Rows)
	s.drawControllers(w)
	for b := range spec.Brokers {
		x := float64(b%spec.Columns) * (width + boxGap)
		y := spec.boxesAt() + float64(b/spec.Columns)*(height+boxGap)
		s.drawBroker(w, b, x, y, width, height)
	}
	boxRows := (len(spec.Brokers) + spec.Columns - 1) / spec.Columns
	y := spec.boxesAt() + float64(boxRows)*(height+boxGap) + legendTop
	y = drawLegend(w, spec.Keys, y) + clientsTop
	for _, text := range s.clients {
		w.Text(2, y+8, 12, `fill="`+ink+`"`, text)
		y += clientLine
	}
	drawWire(w, spec.Wire, y)
	if below != nil {
		below(w, float64(spec.Height))
	}
	return w.String()
}

// stateText is how a broker's state is written in its box.
var stateText = map[string]string{
	BrokerUp: "running", BrokerStarting: "starting", BrokerStopping: "shutting down",
	BrokerFencedUp: "running, fenced", BrokerPaused: "silent", BrokerDown: "down",
}

func (s *scene) drawBroker(w *svg.Writer, b int, x, y, width, height float64) {
	state := s.brokers[b]
	down := state == BrokerDown
	fill, edge, text := boxFill, line, inkSoft
	if down {
		fill = boxDown
	}
	if state != BrokerUp {
		text = alarm
	}
	style := fmt.Sprintf(`fill="%s" stroke="%s"`, fill, edge)
	if down || state == BrokerPaused {
		style += ` stroke-dasharray="5 4"`
	}
	w.Rect(x+0.5, y+0.5, width-1, height-1, 6, style)
	nameInk := ink
	if down {
		nameInk = inkSoft
	}
	w.Text(x+boxPad, y+19, 13, `font-weight="bold" fill="`+nameInk+`"`, "broker "+strconv.Itoa(s.spec.Brokers[b]))
	right := x + width - boxPad
	if down {
		drawCross(w, right-5, y+14.5, 5, 2.6, alarm)
		right -= 16
	}
	w.Text(right, y+19, 11, `text-anchor="end" fill="`+text+`"`, stateText[state])
	w.Line(x+1, y+boxHeader, x+width-1, y+boxHeader, `stroke="`+line+`"`)
	for r, place := range s.spec.Replicas {
		if place.Broker == b {
			if down {
				w.Open(`opacity="0.62"`)
			}
			s.drawReplica(w, r, x, y+boxHeader+float64(place.Row*rowHeight), width)
			if down {
				w.Close()
			}
		}
	}
}

// drawReplica draws one log: name and numbers, the strip of cells, the offsets below.
func (s *scene) drawReplica(w *svg.Writer, r int, x, y, width float64) {
	l := &s.logs[r]
	partition := s.partitions[s.spec.Replicas[r].Partition]
	left := x + boxPad
	if l.Role == "leader" {
		drawStar(w, left+5, y+10.5, 6)
		left += 15
	}
	name := shorten(s.spec.Partitions[s.spec.Replicas[r].Partition], nameLetters(width))
	w.Text(left, y+15, 12, `font-weight="bold" fill="`+ink+`"`, name)
	if !s.inISR(r) {
		note := left + svg.TextWidth(name, 12, true) + 7
		w.Text(note, y+15, 10.5, `fill="`+alarm+`"`, "out of ISR")
	}
	numbers := fmt.Sprintf("hw %d  leo %d", l.HW, l.End)
	w.Text(x+width-boxPad, y+15, 11, `text-anchor="end" fill="`+inkSoft+`"`, numbers)
	cellsX, top := x+boxPad+ellipsisSlot, y+stripTop
	w.Line(cellsX, top+stripHeight+1.5, cellsX+float64(s.spec.Cells*cellPitch), top+stripHeight+1.5, `stroke="`+line+`"`)
	if l.Start < partition.From && l.End > l.Start {
		drawEllipsis(w, x+boxPad+1, top+stripHeight/2, inkSoft)
	}
	s.drawCells(w, l, partition.From, cellsX, top)
	if at := l.HW - partition.From; at >= 0 && at <= int64(s.spec.Cells) {
		drawHighWatermark(w, cellsX+float64(at*cellPitch)-1.5, top-2, stripHeight+6)
	}
}

func (s *scene) drawCells(w *svg.Writer, l *sceneLog, from int64, x, top float64) {
	visible := l.visible(from, s.spec.Cells)
	for i, c := range visible {
		cx := x + float64(c[0]-from)*cellPitch
		drawCell(w, c, cx, top, c[0] < l.HW)
		newEpoch := i > 0 && visible[i-1][2] != c[2]
		switch {
		case newEpoch:
			w.Text(cx+cellWidth/2, top+stripHeight+12, 9, `font-weight="bold" text-anchor="middle" fill="`+paletteText[3]+`"`, "e"+strconv.FormatInt(c[2], 10))
			w.Line(cx-1.5, top-2, cx-1.5, top+stripHeight+6, `stroke="`+paletteText[3]+`" stroke-width="1.2"`)
		case i == 0 || c[0]%5 == 0:
			w.Text(cx+cellWidth/2, top+stripHeight+12, 9, `text-anchor="middle" fill="`+inkSoft+`"`, strconv.FormatInt(c[0], 10))
		}
	}
	for _, c := range l.Gone {
		if at := c[0] - from; at >= 0 && at < int64(s.spec.Cells) {
			drawGhost(w, c, x+float64(at)*cellPitch, top)
		}
	}
}

func drawCell(w *svg.Writer, c Cell, x, top float64, committed bool) {
	fill, text, onFill := fillOf(c[1])
	letter, style := text, fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="1.3" stroke-dasharray="2.5 2"`, paper, text)
	if committed {
		letter, style = onFill, fmt.Sprintf(`fill="%s"`, fill)
		w.Rect(x, top, cellWidth, stripHeight, 2.5, style)
	} else {
		w.Rect(x+0.7, top+0.7, cellWidth-1.4, stripHeight-1.4, 2.5, style)
	}
	drawSign(w, c, x, top, `font-weight="bold" `, letter, committed)
}

// drawGhost draws a cell that was cut off in this frame.
func drawGhost(w *svg.Writer, c Cell, x, top float64) {
	w.Rect(x+0.7, top+0.7, cellWidth-1.4, stripHeight-1.4, 2.5, `fill="none" stroke="`+inkFaint+`" stroke-dasharray="1.5 2"`)
	drawSign(w, c, x, top, "", inkFaint, false)
	w.Line(x-1, top+stripHeight/2, x+cellWidth+1, top+stripHeight/2, `stroke="`+alarm+`" stroke-width="1.6"`)
}

// drawLegend explains keys and signs and returns the y below it.
func drawLegend(w *svg.Writer, keys []string, y float64) float64 {
	list, lines := chips(keys, pictureWidth)
	for _, c := range list {
		cy := y + float64(c.line*legendLine)
		if c.key == -2 {
			w.Text(c.x+2, cy+11, 11.5, `fill="`+inkSoft+`"`, c.text)
			continue
		}
		fill, _, onFill := fillOf(c.key)
		w.Rect(c.x+2, cy, 14, 14, 2.5, `fill="`+fill+`"`)
		w.Text(c.x+9, cy+11, 10.5, `font-weight="bold" text-anchor="middle" fill="`+onFill+`"`, letterOf(c.key))
		w.Text(c.x+20, cy+11, 11.5, `fill="`+ink+`"`, c.text)
	}
	y += float64(lines * legendLine)
	drawSigns(w, y)
	return y + legendLine
}

// drawSigns is the line that explains the signs. Its places are fixed.
func drawSigns(w *svg.Writer, y float64) {
	label := func(x float64, text string) { w.Text(x, y+11, 11, `fill="`+inkSoft+`"`, text) }
	drawStar(w, 8, y+7, 6)
	label(18, "leader")
	drawHighWatermark(w, 68, y-1, 16)
	label(77, "high watermark")
	w.Rect(172, y, 11, 14, 2, `fill="`+inkSoft+`"`)
	label(188, "committed")
	w.Rect(254, y+0.7, 10, 12.6, 2, `fill="`+paper+`" stroke="`+inkSoft+`" stroke-width="1.3" stroke-dasharray="2.5 2"`)
	label(269, "not yet")
	drawTick(w, 323, y+7, 4, ink)
	label(332, "acknowledged")
	drawRing(w, 418, y+7, 3, ink)
	label(426, "written, not acknowledged")
	drawCross(w, 577, y+7, 3.4, 2, alarm)
	label(586, "acknowledged, then lost")
	w.Text(723, y+11, 9.5, `font-weight="bold" fill="`+paletteText[3]+`"`, "e1")
	label(741, "new epoch")
}
