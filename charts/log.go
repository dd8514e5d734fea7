package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The measures of a log picture, in px.
const (
	logLeft  = 28
	logTop   = 40
	logRow   = 82
	logSlots = (pictureWidth - logLeft - 20) / cellPitch
)

// Log draws one partition's log on each of its replicas, the leader first: every record as a cell with its
// key's letter and colour and what became of it, the high watermark as a blue bar, a dashed one for the last stable offset where it lies before, the log end, the epochs,
// and where consumers will read next. Point at a cell to read the record. Of a long log it shows the end.
func Log(src view.Source, topic string, partition int) *Picture {
	now, trace := look("Log", src)
	p := partitionOf("Log", now, topic, partition)
	b := boardOf(now, trace)
	l := &logPicture{now: now, p: p, keys: b.keys, pen: newPen(fmt.Sprintf("%s at %s", partitionName(topic, partition), ms(now.Now)), pictureWidth)}
	l.pen.title()
	l.window()
	y := float64(logTop)
	for _, i := range l.order() {
		l.replica(&p.Logs[i], y)
		y += logRow
	}
	y = l.readers(y)
	y = l.pen.legend(b.keys.names, y+6, l.used)
	if l.markers {
		l.pen.text(2, y+11, 10.4, "soft", "C, A: the marker that commits or aborts a transaction; it takes an offset, and no application sees it")
		y += legendLine
	}
	l.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(l.pen, y+4, l.describe(), nil)
}

// partitionOf finds a partition, or says which there are.
func partitionOf(where string, now *view.Cluster, topic string, partition int) *view.Partition {
	topicsOf(where, now, []string{topic})
	for t := range now.Topics {
		if now.Topics[t].Name != topic {
			continue
		}
		if n := len(now.Topics[t].Partitions); partition < 0 || partition >= n {
			wrong("charts.%s: topic %q has no partition %d; it has %s, numbered from 0", where, topic, partition, count(n, "partition", "partitions"))
		}
		return &now.Topics[t].Partitions[partition]
	}
	return nil
}

type logPicture struct {
	now   *view.Cluster
	p     *view.Partition
	keys  *keyTable
	pen   *pen
	from  int64
	slots int64
	used  map[int64]bool // keys that are shown

	markers bool // one of a transaction is shown
}

// markerSign is the letter of a transaction's marker, "" for a record.
func markerSign(r *view.Record) string {
	if !r.Marker || r.Value == "" {
		return ""
	}
	return r.Value[:1]
}

// window chooses which offsets are shown: the newest ones of any replica.
func (l *logPicture) window() {
	end, start := int64(0), int64(-1)
	for i := range l.p.Logs {
		r := &l.p.Logs[i]
		end = max(end, r.LogEndOffset)
		if start < 0 || r.LogStartOffset < start {
			start = r.LogStartOffset
		}
	}
	l.slots, l.used = logSlots, map[int64]bool{}
	l.from = max(0, start, end+1-l.slots)
}

// order is the leader first, then the others as they are assigned.
func (l *logPicture) order() []int {
	var first, rest []int
	for i := range l.p.Logs {
		if l.p.Logs[i].Role == "leader" && l.p.Logs[i].Broker == l.p.Leader {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

func (l *logPicture) x(offset int64) float64 { return logLeft + float64(offset-l.from)*cellPitch }

func (l *logPicture) replica(r *view.Replica, y float64) {
	left, p := 2.0, l.pen
	down := slices.ContainsFunc(l.now.Brokers, func(b view.Broker) bool { return b.ID == r.Broker && !b.Alive })
	if r.Role == "leader" {
		p.put(Shape{Kind: shapeStar, X: left + 6, Y: y + 10, R: 6.5})
		left += 18
	}
	name := fmt.Sprintf("broker %d", r.Broker)
	p.bold(left, y+15, 13, "ink", name)
	left = after(left, name, 13, true)
	says := r.Role
	if r.LeaderEpoch >= 0 {
		says += fmt.Sprintf(", epoch %d", r.LeaderEpoch)
	}
	tone := "soft"
	if down {
		says, tone = "down", "alarm"
	}
	p.text(left, y+15, 11.5, tone, says)
	if !r.InISR {
		p.text(after(left, says, 11.5, false), y+15, 11.5, "alarm", "out of ISR")
	}
	numbers := fmt.Sprintf("log start %d · high watermark %d · log end %d", r.LogStartOffset, r.HighWatermark, r.LogEndOffset)
	if r.LastStable < r.HighWatermark && r.LastStable > 0 {
		numbers = fmt.Sprintf("last stable offset %d · ", r.LastStable) + numbers
	}
	p.anchored(pictureWidth-2, y+15, 11, "end", "soft", numbers)
	if down {
		p.fade = 0.62
	}
	l.strip(r, y+26)
	p.fade = 0
}

// strip draws the cells, the epochs, the high watermark and the log end.
func (l *logPicture) strip(r *view.Replica, top float64) {
	p := l.pen
	base := top + stripHeight + 2
	p.line(logLeft-4, base, logLeft+float64(l.slots)*cellPitch, base, "line")
	if r.LogStartOffset < l.from && r.LogEndOffset > r.LogStartOffset {
		for i := range 3 {
			p.put(Shape{Kind: shapeCircle, X: logLeft - 18 + float64(i)*4, Y: top + 12, R: 1.3, Fill: "soft"})
		}
	}
	epoch := -1
	for i := range r.Records {
		record := &r.Records[i]
		if record.Offset < l.from {
			epoch = record.LeaderEpoch
			continue
		}
		l.cell(record, top, record.Offset < r.HighWatermark)
		x := l.x(record.Offset)
		switch {
		case record.LeaderEpoch != epoch:
			p.put(Shape{Kind: shapeText, Z: 5, X: x + cellWidth/2, Y: base + 11, Size: 10, Fill: "t3", Text: fmt.Sprintf("e%d", record.LeaderEpoch), Anchor: "middle", Bold: true})
			if epoch >= 0 {
				p.put(Shape{Kind: shapeLine, Z: 3, X: x - 1.5, Y: top - 3, H: stripHeight + 10, Stroke: "t3", Thick: 1.3})
			}
		case record.Offset%5 == 0:
			p.anchored(x+cellWidth/2, base+11, 10, "middle", "soft", fmt.Sprint(record.Offset))
		}
		epoch = record.LeaderEpoch
	}
	if at := r.HighWatermark; at >= l.from {
		p.put(Shape{Kind: shapeFlag, Z: 4, X: l.x(at) - 1.5, Y: top - 5, H: stripHeight + 9, Tip: fmt.Sprintf("high watermark %d: consumers see what is below", at)})
	}
	if at := r.LastStable; at >= l.from && at < r.HighWatermark && at > 0 {
		p.put(Shape{Kind: shapeLine, Z: 4, X: l.x(at) - 1.5, Y: top - 4, H: stripHeight + 8, Stroke: "hw", Thick: 2, Dash: dashed, Tip: fmt.Sprintf("last stable offset %d: read_committed reads what is below", at)})
	}
	if at := r.LogEndOffset; at >= l.from {
		x := l.x(at) + 1.5
		p.put(Shape{Kind: shapeLine, Z: 3, X: x, Y: top + 2, H: stripHeight + 4, Stroke: "soft", Thick: 1.2, Tip: fmt.Sprintf("log end %d: the next record's offset", at)})
		p.text(x+4, base+11, 10, "soft", fmt.Sprintf("end %d", at))
	}
}

func (l *logPicture) cell(r *view.Record, top float64, committed bool) {
	tip := fmt.Sprintf("offset %d, epoch %d: ", r.Offset, r.LeaderEpoch)
	if !r.NullKey {
		tip += shorten(r.Key, 60) + " = "
	}
	tip += cutEnd(r.Value, 120) + " - " + r.Mark.String() + pick(committed, "", ", not yet below the high watermark")
	if sign := markerSign(r); sign != "" { // no application's record: it has no key and nobody is told of it
		x := l.x(r.Offset)
		l.markers = true
		l.pen.put(Shape{Kind: shapeRect, Z: 1, X: x + 0.5, Y: top + 0.5, W: cellWidth - 1, H: stripHeight - 1, R: 2.5, Fill: "box", Stroke: "soft",
			Dash: pick(committed, "", dashed), Tip: fmt.Sprintf("offset %d, epoch %d: %s of a transaction, which no application sees", r.Offset, r.LeaderEpoch, r.Value)})
		l.pen.put(Shape{Kind: shapeText, Z: 5, X: x + cellWidth/2, Y: top + 16, Size: 11, Fill: "ink", Text: sign, Anchor: "middle", Bold: true})
		return
	}
	key := l.keys.of(r)
	l.used[key] = true
	l.pen.put(Shape{Kind: shapeCell, Z: 1, X: l.x(r.Offset), Y: top, Key: int(key), Mark: int(r.Mark), As: pick(committed, cellCommitted, cellOpen), Tip: tip})
}

// readers marks where consumers will read next.
func (l *logPicture) readers(y float64) float64 {
	any := false
	for _, c := range l.now.Consumers {
		for _, at := range c.Positions {
			if at.Topic != l.p.Topic || at.Partition != l.p.ID || at.Offset < 0 {
				continue
			}
			any = true
			x := l.x(max(at.Offset, l.from)) + cellWidth/2
			l.pen.put(Shape{Kind: shapeArrow, X: x, Y: y + 14, H: -14, Stroke: "t2", Thick: 1.6})
			text := fmt.Sprintf("%s reads %d next", shorten(c.ID, 24), at.Offset)
			if x > pictureWidth*0.7 {
				l.pen.anchored(x-8, y+12, 11, "end", "t2", text)
			} else {
				l.pen.text(x+8, y+12, 11, "t2", text)
			}
			y += 18
		}
	}
	return pick(any, y+4, y)
}

func (l *logPicture) describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s in epoch %d, ISR %s, min.insync.replicas %d.", l.pen.spec.Title, leaderText(l.p.Leader), l.p.LeaderEpoch, listing(ids(l.p.ISR)), l.p.MinISR)
	for _, i := range l.order() {
		r := &l.p.Logs[i]
		fmt.Fprintf(&out, " On broker %d (%s%s): log start %d, high watermark %d, log end %d", r.Broker, r.Role, pick(r.InISR, "", ", out of the ISR"), r.LogStartOffset, r.HighWatermark, r.LogEndOffset)
		if r.LastStable < r.HighWatermark && r.LastStable > 0 {
			fmt.Fprintf(&out, ", last stable offset %d", r.LastStable)
		}
		var marks [3]int
		markers := 0
		for k := range r.Records {
			if markerSign(&r.Records[k]) != "" {
				markers++
			} else {
				marks[r.Records[k].Mark]++
			}
		}
		var parts []string
		if markers > 0 {
			parts = append(parts, count(markers, "transaction marker", "transaction markers"))
		}
		for m, n := range marks {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, view.Mark(m)))
			}
		}
		if len(parts) > 0 {
			fmt.Fprintf(&out, "; of the newest records %s", listing(parts))
		}
		out.WriteString(".")
	}
	return out.String()
}

// legend explains the keys that are used and the signs, and returns the y below.
func (p *pen) legend(keys []string, y float64, used map[int64]bool) float64 {
	y = p.keysOnly(keys, y, used)
	p.signs(y)
	return y + legendLine
}

// signs is the line that explains the signs.
func (p *pen) signs(y float64) {
	say := func(x float64, text string) { p.text(x, y+11, 10.4, "soft", text) }
	p.put(Shape{Kind: shapeStar, X: 8, Y: y + 7, R: 6})
	say(18, "leader")
	p.put(Shape{Kind: shapeFlag, X: 68, Y: y - 1, H: 16})
	say(77, "high watermark")
	p.rect(172, y, 11, 14, 2, "soft", "none")
	say(188, "committed")
	p.put(Shape{Kind: shapeRect, X: 254, Y: y + 0.7, W: 10, H: 12.6, R: 2, Fill: "paper", Stroke: "soft", Thick: 1.3, Dash: dotted})
	say(269, "not yet")
	p.put(Shape{Kind: shapeTick, X: 323, Y: y + 7, R: 4, Stroke: "ink"})
	say(332, "acknowledged")
	p.put(Shape{Kind: shapeRing, X: 418, Y: y + 7, R: 3, Stroke: "ink"})
	say(426, "written, not acknowledged")
	p.put(Shape{Kind: shapeCross, X: 577, Y: y + 7, R: 3.4, Stroke: "alarm"})
	say(586, "acknowledged, then lost")
	p.bold(723, y+11, 9.5, "t3", "e1")
	say(741, "new epoch")
}
