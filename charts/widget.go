package charts

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/view"
)

// The measures of the widget, in px.
const (
	widgetTop   = 100
	widgetLeft  = 138
	widgetRow   = 60
	widgetSlots = (pictureWidth - widgetLeft - 84) / cellPitch
)

// Widget draws the one-partition world of the course's introduction step by step: what was sent and
// acknowledged in each step, what waits, the size of the ISR, acknowledged records that were lost, and the log
// of each replica with its high watermark. It draws the first partition of any cluster.
func Widget(src view.Source) *Picture {
	s := playStage("Widget", "step", src, func(t *view.Trace) string {
		if n := len(t.Partitions); n > 1 {
			return fmt.Sprintf("%s (of %d; counters of all)", shorten(nameOf(t, 0), 22), n)
		}
		return "One partition"
	}, func(s *stage) float64 { return s.widget(&s.b.partitions[0]) })
	p := &s.b.partitions[0]
	rows := len(p.logs)
	_, acked, failed, lost, _, _ := s.b.totals()
	ends := fmt.Sprintf("%d acknowledged, %d lost of them, %d failed, ISR %s of %s", acked, lost, failed, listing(ids(p.isr)), count(rows, "replica", "replicas"))
	for i := range p.logs {
		ends += fmt.Sprintf("; broker %d hw %d leo %d", p.logs[i].broker, p.logs[i].hw, p.logs[i].end)
	}
	return s.finish(ends + ".")
}

// widget draws one frame.
func (s *stage) widget(p *boardPartition) float64 {
	pen := s.pen
	pen.title()
	pen.anchored(pictureWidth-2, 19, 12, "end", "soft", fmt.Sprintf("step %d", s.step(s.at)))
	sent, acked, failed, lost, _, again := s.b.totals()
	waiting := sent - acked - failed
	pen.counters(32, []counterBox{
		{s.sent, "sent this step", ""}, {s.acked, "acknowledged this step", ""},
		{waiting, pick(again, "waiting, to be sent again", "waiting for an answer"), pick(again, "alarm", "ink")},
		{int64(len(p.isr)), "in the ISR", ""}, {lost, "acknowledged, then lost", pick(lost > 0, "alarm", "ink")},
	})
	from := p.steady(widgetSlots)
	y := float64(widgetTop)
	for i := range p.logs {
		l := &p.logs[i]
		b := s.b.broker(l.broker)
		h := float64(widgetRow - 6)
		down := pen.brokerHead(b, 0, y, pictureWidth, h)
		says, tone := "in the ISR", "soft"
		if !slices.Contains(p.isr, l.broker) {
			says, tone = "out of the ISR", "alarm"
		}
		pen.text(boxPad, y+36, 11, tone, says)
		if l.role == "leader" {
			pen.put(Shape{Kind: shapeStar, Z: 5, X: 84, Y: y + 14.5, R: 6})
		}
		if down {
			pen.fade = 0.62
		}
		pen.logStrip(l, from, widgetSlots, widgetLeft, y+10)
		pen.fade = 0
		pen.anchored(pictureWidth-boxPad, y+36, 11, "end", "soft", fmt.Sprintf("hw %d · leo %d", l.hw, l.end))
		y += widgetRow
	}
	y += 4
	for _, line := range s.b.clientLines() {
		pen.text(2, y+11, 12, "ink", line)
		y += clientLine
		break // the introduction has one producer; more lines would make the picture jump
	}
	return pen.legend(s.b.keys.legend(false), y+6, nil) + 4
}
