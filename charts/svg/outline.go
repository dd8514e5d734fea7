package svg

import (
	"image"
	"math"

	"github.com/fogleman/gg"
)

// pen is a sink that draws into a gg context through a matrix.
type pen struct {
	canvas *gg.Context
	at     matrix
}

// far is how far from the picture a point may lie, in px. The rasteriser walks along every line, so one
// that leads to the moon takes as long.
const far = 16_000

func (p *pen) to(x, y float64) (float64, float64) {
	x, y = p.at.apply(x, y)
	return bounded(x), bounded(y)
}

// bounded also turns NaN into a number.
func bounded(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -far), far)
}

func (p *pen) moveTo(x, y float64) { p.canvas.MoveTo(p.to(x, y)) }
func (p *pen) lineTo(x, y float64) { p.canvas.LineTo(p.to(x, y)) }
func (p *pen) close()              { p.canvas.ClosePath() }

func (p *pen) cubicTo(x1, y1, x2, y2, x, y float64) {
	x1, y1 = p.to(x1, y1)
	x2, y2 = p.to(x2, y2)
	x, y = p.to(x, y)
	p.canvas.CubicTo(x1, y1, x2, y2, x, y)
}

// extent is a sink that finds out how far a path reaches, in device px.
type extent struct {
	at                       matrix
	left, top, right, bottom float64
	some                     bool
}

func (e *extent) moveTo(x, y float64) { e.take(x, y) }
func (e *extent) lineTo(x, y float64) { e.take(x, y) }
func (e *extent) close()              {}

func (e *extent) cubicTo(x1, y1, x2, y2, x, y float64) {
	e.take(x1, y1)
	e.take(x2, y2)
	e.take(x, y)
}

func (e *extent) take(x, y float64) {
	x, y = e.at.apply(x, y)
	x, y = bounded(x), bounded(y)
	if !e.some {
		e.left, e.top, e.right, e.bottom, e.some = x, y, x, y, true
	}
	e.left, e.right, e.top, e.bottom = min(e.left, x), max(e.right, x), min(e.top, y), max(e.bottom, y)
}

func (e *extent) box() image.Rectangle {
	return image.Rect(int(math.Floor(e.left)), int(math.Floor(e.top)), int(math.Ceil(e.right)), int(math.Ceil(e.bottom)))
}

// outline sends the outline of a shape to out; false when the element has none.
func outline(n *node, out sink) bool {
	get := func(name string) float64 { return length(n.attrs[name], 0) }
	switch n.name {
	case "rect":
		rx := get("rx")
		roundedRect(out, get("x"), get("y"), get("width"), get("height"), rx, length(n.attrs["ry"], rx))
	case "circle":
		ellipse(out, get("cx"), get("cy"), get("r"), get("r"))
	case "ellipse":
		ellipse(out, get("cx"), get("cy"), get("rx"), get("ry"))
	case "line":
		out.moveTo(get("x1"), get("y1"))
		out.lineTo(get("x2"), get("y2"))
	case "polyline", "polygon":
		points := numbers(n.attrs["points"])
		for i := 0; i+1 < len(points); i += 2 {
			if i == 0 {
				out.moveTo(points[0], points[1])
			} else {
				out.lineTo(points[i], points[i+1])
			}
		}
		if n.name == "polygon" && len(points) > 1 {
			out.close()
		}
	case "path":
		readPath(n.attrs["d"], out)
	default:
		return false
	}
	return true
}

func roundedRect(out sink, x, y, w, h, rx, ry float64) {
	rx, ry = min(rx, w/2), min(ry, h/2)
	if rx <= 0 || ry <= 0 {
		out.moveTo(x, y)
		out.lineTo(x+w, y)
		out.lineTo(x+w, y+h)
		out.lineTo(x, y+h)
		out.close()
		return
	}
	out.moveTo(x+rx, y)
	out.lineTo(x+w-rx, y)
	arc(out, x+w-rx, y, rx, ry, 0, false, true, x+w, y+ry)
	out.lineTo(x+w, y+h-ry)
	arc(out, x+w, y+h-ry, rx, ry, 0, false, true, x+w-rx, y+h)
	out.lineTo(x+rx, y+h)
	arc(out, x+rx, y+h, rx, ry, 0, false, true, x, y+h-ry)
	out.lineTo(x, y+ry)
	arc(out, x, y+ry, rx, ry, 0, false, true, x+rx, y)
	out.close()
}

func ellipse(out sink, cx, cy, rx, ry float64) {
	if rx <= 0 || ry <= 0 {
		return
	}
	out.moveTo(cx+rx, cy)
	arc(out, cx+rx, cy, rx, ry, 0, false, true, cx-rx, cy)
	arc(out, cx-rx, cy, rx, ry, 0, false, true, cx+rx, cy)
	out.close()
}
