package charts

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/view"
)

// maxSegments is how many segments of a log are shown.
const maxSegments = 14

// Segments draws the files of one partition's log on each replica: a box for each segment, as wide as it
// has bytes, with its base offset, its records and its newest timestamp. The active segment, which takes
// the appends, has a thick edge: retention and compaction leave it alone.
func Segments(src view.Source, topic string, partition int) *Picture {
	now, _ := look("Segments", src)
	p := partitionOf("Segments", now, topic, partition)
	pen := newPen(fmt.Sprintf("Segments of %s at %s", partitionName(topic, partition), ms(now.Now)), pictureWidth)
	pen.title()
	most := int64(1)
	for i := range p.Logs {
		most = max(most, bytesOf(p.Logs[i].Segments))
	}
	y := 40.0
	var alt strings.Builder
	fmt.Fprintf(&alt, "%s.", pen.spec.Title)
	for i := range p.Logs {
		r := &p.Logs[i]
		left := 2.0
		if r.Broker == p.Leader {
			pen.put(Shape{Kind: shapeStar, X: 8, Y: y + 10, R: 6.5})
			left = 20
		}
		name := fmt.Sprintf("broker %d", r.Broker)
		pen.bold(left, y+15, 13, "ink", name)
		says := fmt.Sprintf("%s, %s, offsets %d to %d", count(len(r.Segments), "segment", "segments"), sizeText(bytesOf(r.Segments)), r.LogStartOffset, r.LogEndOffset)
		if len(r.Segments) == 0 {
			says = "no log yet"
		}
		pen.text(after(left, name, 13, true), y+15, 11.5, "soft", says)
		fmt.Fprintf(&alt, " On broker %d: %s.", r.Broker, says)
		if r.Broker == p.Leader {
			alt.WriteString(segmentsText(r.Segments))
		}
		drawSegments(pen, r, y+24, most)
		y += 100
	}
	pen.put(Shape{Kind: shapeRect, X: 2, Y: y, W: 16, H: 12, R: 2, Fill: "box", Stroke: "soft"})
	pen.text(24, y+10, 11, "soft", "sealed: never changed, deleted as a whole")
	pen.put(Shape{Kind: shapeRect, X: 300, Y: y, W: 16, H: 12, R: 2, Fill: "box", Stroke: "hw", Thick: 2.2})
	pen.text(322, y+10, 11, "soft", "active: takes the appends")
	pen.put(Shape{Kind: shapeRect, X: 500, Y: y, W: 16, H: 12, R: 2, Fill: "quiet", Stroke: "none"})
	pen.text(522, y+10, 11, "soft", "below the log start, or compacted away")
	pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(pen, y+20, alt.String(), nil)
}

func bytesOf(list []view.Segment) int64 {
	n := int64(0)
	for _, s := range list {
		n += s.Bytes
	}
	return n
}

// sizeText is a size as people say it.
func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return number(float64(bytes*10/(1<<20))/10) + " MiB"
	case bytes >= 1<<10:
		return number(float64(bytes*10/(1<<10))/10) + " KiB"
	}
	return count(bytes, "byte", "bytes")
}

func segmentsText(list []view.Segment) string {
	var out strings.Builder
	for i, s := range list {
		if i == 6 {
			fmt.Fprintf(&out, " And %s more.", count(len(list)-i, "segment", "segments"))
			break
		}
		fmt.Fprintf(&out, " Segment %d%s: %s, %s.", s.BaseOffset, pick(s.Active, " (active)", ""), count(s.Records, "record", "records"), sizeText(s.Bytes))
	}
	return out.String()
}

// drawSegments draws the newest segments of a replica. A segment has at least room for its name; what is
// left of the width goes by bytes.
func drawSegments(p *pen, r *view.Replica, y float64, most int64) {
	const least, height, gap = 50.0, 44.0, 4.0
	list, x := r.Segments, 2.0
	if n := len(list) - maxSegments; n > 0 {
		p.text(x, y+26, 11, "soft", fmt.Sprintf("%d older", n))
		list, x = list[n:], 58
	}
	room := pictureWidth - x - 2 - float64(len(list))*(least+gap)
	for i, s := range list {
		w := least + max(room, 0)*float64(s.Bytes)/float64(most)
		shape := Shape{Kind: shapeRect, X: x, Y: y, W: w, H: height, R: 4, Fill: "box", Stroke: "soft", Thick: 1, Tip: segmentTip(&s)}
		if s.Active {
			shape.Stroke, shape.Thick = "hw", 2.2
		}
		p.put(shape)
		if gone := hidden(r, &s); gone > 0 {
			p.put(Shape{Kind: shapeRect, Z: 1, X: x + 2, Y: y + 2, W: (w - 4) * gone, H: height - 4, R: 2, Fill: "quiet"})
		}
		p.bold(x+6, y+17, 12, "ink", fmt.Sprint(s.BaseOffset))
		p.text(x+6, y+32, 10, "soft", shorten(fmt.Sprintf("%d rec.", s.Records), int(w/5.4)))
		if w > 110 {
			p.anchored(x+w-6, y+32, 10, "end", "soft", sizeText(s.Bytes))
		}
		if s.Records > 0 && (i%2 == 0 || w > 90) {
			p.text(x+2, y+height+13, 9.5, "soft", "to "+number(float64(s.MaxTimestamp))+" ms")
		}
		x += w + gap
	}
}

// hidden is the part of a segment's offsets that cannot be read any more.
func hidden(r *view.Replica, s *view.Segment) float64 {
	all := float64(s.NextOffset - s.BaseOffset)
	if all <= 0 {
		return 0
	}
	return max(min(float64(r.LogStartOffset-s.BaseOffset)/all, 1), 1-float64(s.Records)/all, 0)
}

func segmentTip(s *view.Segment) string {
	return fmt.Sprintf("%020d.log%s: offsets %d to %d, %s, %s, newest timestamp %d ms", s.BaseOffset, pick(s.Active, " (active)", ""),
		s.BaseOffset, max(s.NextOffset-1, s.BaseOffset), count(s.Records, "record", "records"), count(s.Bytes, "byte", "bytes"), s.MaxTimestamp)
}
