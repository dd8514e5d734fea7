package charts

import "fmt"

// lanes are horizontal stretches of time below each other, on one axis.
type lanes struct {
	pen      *pen
	from, to int64 // µs
	left     float64
}

const (
	laneHeight = 26
	laneBar    = 18
)

// x is where a moment stands.
func (l *lanes) x(at int64) float64 {
	return l.left + float64(min(max(at, l.from), l.to)-l.from)/float64(max(l.to-l.from, 1))*(pictureWidth-l.left-4)
}

// name writes what a lane is about.
func (l *lanes) name(y float64, text string) { l.pen.bold(2, y+15, 12, "ink", text) }

// bar draws a stretch of time; its label is left out, or shortened to short, where it has no room.
func (l *lanes) bar(y float64, from, to int64, s Shape, label, short, tone string) {
	width := l.x(to) - l.x(from)
	s.Kind, s.X, s.Y, s.W, s.H, s.R = shapeRect, l.x(from), y+2, max(width, 1), laneBar, 2
	l.pen.put(s)
	if width < 6.4*float64(len([]rune(label)))+8 {
		label = short
	}
	if label != "" && width > 6*float64(len([]rune(label)))+8 {
		l.pen.text(l.x(from)+5, y+15, 11, tone, label)
	}
}

// axis draws the time below the lanes, at round moments, and returns the y below it.
func (l *lanes) axis(y float64) float64 {
	l.pen.line(l.left, y, pictureWidth-4, y, "line")
	step := roundStep(l.to-l.from, 5)
	for at := (l.from + step - 1) / step * step; at <= l.to; at += step {
		x := l.x(at)
		anchor := "middle"
		switch {
		case x > pictureWidth-40:
			anchor = "end"
		case x < l.left+10:
			anchor = ""
		}
		l.pen.line(x, y, x, y+4, "line")
		l.pen.anchored(x, y+16, 10.5, anchor, "soft", ms(at))
	}
	return y + 34
}

// roundStep is a round stretch of time, of which a span has at most so many.
func roundStep(span int64, most int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if span/(power*times) <= most {
				return power * times
			}
		}
	}
}

// between says a stretch in words.
func between(from, to int64) string { return fmt.Sprintf("from %s to %s", ms(from), ms(to)) }
