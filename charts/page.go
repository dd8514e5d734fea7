package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The measures of the page's picture, in px.
const (
	pageTop       = 96
	pageSender    = 470 // the sender's width; the consumers stand beside it
	pageSendRows  = 7
	pageSendRow   = 20
	maxPageRows   = 4
	maxPageReader = 4
)

// Page draws the small world of the course's first page tick by tick: counters, the brokers with their logs, the
// blue high watermark and the committed cells coloured by key, the sender's thread with the ticks at which each
// record was sent and acknowledged, and the consumers. It draws the first partitions of any cluster.
func Page(src view.Source) *Picture {
	s := playStage("Page", "tick", src, func(t *view.Trace) string {
		brokers := pick(len(t.Brokers) == 3, "Three brokers", count(len(t.Brokers), "broker", "brokers"))
		if n := len(t.Partitions); n > maxPageRows {
			brokers += fmt.Sprintf(" (%d of %d partitions)", maxPageRows, n)
		}
		return brokers
	}, (*stage).page)
	sent, acked, failed, lost, _, _ := s.b.totals()
	ends := fmt.Sprintf("%d sent, %d acknowledged, %d lost of them, %d failed.", sent, acked, lost, failed)
	for i := range s.b.partitions[:min(len(s.b.partitions), maxPageRows)] {
		p := &s.b.partitions[i]
		ends += fmt.Sprintf(" %s: %s, ISR %s", p.name, leaderText(p.leader), listing(ids(p.isr)))
		for _, l := range p.logs {
			ends += fmt.Sprintf("; on broker %d hw %d leo %d", l.broker, l.hw, l.end)
		}
		ends += "."
	}
	return s.finish(ends)
}

// page draws one frame.
func (s *stage) page() float64 {
	pen := s.pen
	pen.title()
	pen.anchored(pictureWidth-2, 19, 12, "end", "soft", fmt.Sprintf("tick %d", s.step(s.at)))
	sent, acked, failed, lost, read, again := s.b.totals()
	pen.counters(32, []counterBox{
		{sent, "records sent", ""}, {acked, "acknowledged", ""},
		{sent - acked - failed, pick(again, "waiting, to be sent again", "waiting for an answer"), pick(again, "alarm", "ink")},
		{lost, "acknowledged, then lost", pick(lost > 0, "alarm", "ink")}, {read, "read by consumers", ""},
	})
	y := s.pageBrokers(pageTop)
	left, right := s.pageSenders(y), s.pageReaders(y)
	return pen.legend(s.b.keys.legend(false), max(left, right)+6, nil) + 4
}

// pageBrokers draws the brokers' boxes and returns the y below.
func (s *stage) pageBrokers(top float64) float64 {
	columns := columnsFor(len(s.b.brokers))
	width := boxWidth(columns)
	slots := cellSlots(columns)
	rows := min(len(s.b.partitions), maxPageRows)
	height := boxHeight(rows)
	y := top
	for i := range s.b.brokers {
		b := &s.b.brokers[i]
		x := float64(i%columns) * (width + boxGap)
		y = top + float64(i/columns)*(height+boxGap)
		down := s.pen.brokerHead(b, x, y, width, height)
		s.pen.line(x+1, y+boxHeader, x+width-1, y+boxHeader, "line")
		for k := range s.b.partitions[:rows] {
			p := &s.b.partitions[k]
			l := p.logOf(b.id)
			if l == nil {
				continue
			}
			if down {
				s.pen.fade = 0.62
			}
			rowY := y + boxHeader + float64(k*rowHeight)
			s.pen.replicaHead(shorten(p.name, max(int((width-130)/7), 6)), l, slices.Contains(p.isr, b.id), x+boxPad, rowY, width-2*boxPad)
			s.pen.logStrip(l, p.steady(slots), slots, x+boxPad+ellipsisSlot, rowY+stripTop)
			s.pen.fade = 0
		}
	}
	return y + height + boxGap
}

// pageSenders draws the sender's thread: the newest records with the ticks at which they were sent and
// acknowledged.
func (s *stage) pageSenders(y float64) float64 {
	pen := s.pen
	pen.bold(2, y+14, 13, "ink", "Sender")
	pen.text(58, y+14, 11, "soft", cutEnd(s.producers(), 64))
	y += 24
	list := s.sender.list[max(0, len(s.sender.list)-pageSendRows):]
	for i := range list {
		s.learnKeys(&list[i])
		d := &list[i]
		top := y + float64(i*pageSendRow)
		pen.text(2, top+14, 11, "ink", shorten(s.b.partitions[max(d.partition, 0)].name, 12))
		x := 84.0
		for k := range min(d.records, 5) {
			key := int64(-1)
			if d.first >= 0 {
				key = d.keys[k]
			}
			s.chip(key, d.first >= 0, x, top)
			x += 17
		}
		if d.records > 5 {
			pen.text(x+2, top+14, 10.5, "soft", fmt.Sprintf("+%d", d.records-5))
		}
		pen.text(200, top+14, 11, "ink", fmt.Sprintf("sent %d", s.step(d.sent)))
		says, tone := "waiting", "soft"
		switch {
		case d.failed != "":
			says, tone = "failed: "+d.failed, "alarm"
		case d.heard >= 0 && d.first < 0:
			says, tone = "not asked (acks=0)", "soft"
		case d.heard >= 0:
			says, tone = fmt.Sprintf("acked %d", s.step(d.heard)), "ink"
			pen.text(340, top+14, 11, "soft", fmt.Sprintf("after %s", count(s.step(d.heard)-s.step(d.sent), "tick", "ticks")))
		case d.retried > 0:
			says, tone = fmt.Sprintf("will be sent again (%d)", d.retried), "alarm"
		}
		pen.text(262, top+14, 11, tone, says)
	}
	return y + pageSendRows*pageSendRow
}

// learnKeys reads the keys of a delivery off the log as soon as its place is known: it may be cut off later.
func (s *stage) learnKeys(d *delivery) {
	if d.first >= 0 && d.keys == nil {
		for k := range min(d.records, 5) {
			d.keys = append(d.keys, s.keyAt(d.partition, d.first+k))
		}
	}
}

// producers names the producers and their acks.
func (s *stage) producers() string {
	var all []string
	for i := range s.b.clients {
		if c := &s.b.clients[i]; c.producer {
			all = append(all, c.id+pick(c.acks == "", "", " (acks="+c.acks+")"))
		}
	}
	return strings.Join(all, ", ")
}

// keyAt is the key of a record by its place in any replica's log; -1 when it is nowhere any more.
func (s *stage) keyAt(partition int, offset int64) int64 {
	if partition < 0 || partition >= len(s.b.partitions) {
		return -1
	}
	p := &s.b.partitions[partition]
	for i := range p.logs {
		if at, ok := p.logs[i].find(offset); ok {
			return p.logs[i].cells[at][1]
		}
	}
	return -1
}

// chip is a small square for one record; hollow while its place is not known.
func (s *stage) chip(key int64, known bool, x, y float64) {
	if !known {
		s.pen.put(Shape{Kind: shapeRect, X: x, Y: y + 3, W: 14, H: 14, R: 2.5, Fill: "paper", Stroke: "soft", Dash: dotted, Thick: 1.3})
		return
	}
	if key < 0 {
		s.pen.rect(x, y+3, 14, 14, 2.5, "faint", "none")
		return
	}
	n := int(key) % len(palette)
	s.pen.rect(x, y+3, 14, 14, 2.5, fmt.Sprintf("c%d", n), "none")
	s.pen.put(Shape{Kind: shapeText, Z: 5, X: x + 7, Y: y + 14, Size: 10.5, Fill: fmt.Sprintf("l%d", n), Text: letterOf(key), Anchor: "middle", Bold: true})
}

// pageReaders draws the consumers: what each reads next, and how many records it has read.
func (s *stage) pageReaders(y float64) float64 {
	pen, x := s.pen, float64(pageSender+20)
	pen.bold(x, y+14, 13, "ink", "Consumers")
	pen.text(after(x, "Consumers", 13, true), y+14, 11, "soft", "read next")
	y += 24
	n := 0
	for i := range s.b.clients {
		c := &s.b.clients[i]
		if c.producer {
			continue
		}
		if n++; n > maxPageReader {
			pen.text(x, y+14, 11, "soft", "and more consumers")
			y += pageSendRow
			break
		}
		name := shorten(c.id, fitting(c.id, 11.5, 82, true))
		pen.bold(x, y+14, 11.5, "ink", name)
		pen.anchored(pictureWidth-2, y+14, 11, "end", "soft", fmt.Sprintf("read %d", c.read))
		pen.text(x+90, y+14, 11, "ink", fitEnd(s.positions(c), 11, pictureWidth-x-90-62))
		y += pageSendRow
	}
	if n == 0 {
		pen.text(x, y+14, 11, "soft", "none yet")
		y += pageSendRow
	}
	return y
}

// positions says where a consumer reads next. With one topic its partitions are P0, P1 and so on, as the page has them.
func (s *stage) positions(c *boardClient) string {
	oneTopic := !slices.ContainsFunc(s.trace.Partitions, func(p view.PartitionName) bool { return p.Topic != s.trace.Partitions[0].Topic })
	var parts []string
	for k, at := range c.positions {
		if at >= 0 && k < len(s.b.partitions) {
			parts = append(parts, fmt.Sprintf("%s at %d", pick(oneTopic, fmt.Sprintf("P%d", s.trace.Partitions[k].ID), shorten(s.b.partitions[k].name, 12)), at))
		}
	}
	return pick(len(parts) == 0, "no position yet", strings.Join(parts, ", "))
}
