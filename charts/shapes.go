package charts

import (
	"math"

	"kafkalab/charts/svg"
)

// Marks are paths: the embedded fonts lack ★, ✓ and ✕, and a missing glyph is no picture at all.

func drawStar(w *svg.Writer, x, y, radius float64) {
	d := &svg.Data{}
	for i := range 10 {
		r := radius
		if i%2 == 1 {
			r = radius * 0.42
		}
		sin, cos := math.Sincos(float64(i)*math.Pi/5 - math.Pi/2)
		if i == 0 {
			d.Move(x+r*cos, y+r*sin)
		} else {
			d.Line(x+r*cos, y+r*sin)
		}
	}
	w.Path(d.Close(), `fill="`+star+`" stroke="`+starEdge+`" stroke-width="1" stroke-linejoin="round"`)
}

func drawCross(w *svg.Writer, x, y, reach, width float64, colour string) {
	d := (&svg.Data{}).Move(x-reach, y-reach).Line(x+reach, y+reach).Move(x+reach, y-reach).Line(x-reach, y+reach)
	w.Path(d, `fill="none" stroke="`+colour+`" stroke-width="`+number(width)+`" stroke-linecap="round"`)
}

func drawTick(w *svg.Writer, x, y, reach float64, colour string) {
	d := (&svg.Data{}).Move(x-reach, y).Line(x-reach/3, y+reach*0.7).Line(x+reach, y-reach*0.8)
	w.Path(d, `fill="none" stroke="`+colour+`" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"`)
}

func drawRing(w *svg.Writer, x, y, radius float64, colour string) {
	w.Circle(x, y, radius, `fill="none" stroke="`+colour+`" stroke-width="1.2"`)
}

// drawMark draws what became of a record: a tick, a ring or a cross.
func drawMark(w *svg.Writer, mark int64, x, y, size float64, colour string) {
	switch mark {
	case markAcked:
		drawTick(w, x, y, 3*size, colour)
	case markLost:
		drawCross(w, x, y, 2.6*size, 1.8, alarm)
	default:
		drawRing(w, x, y, 2.2*size, colour)
	}
}

// drawSign draws what stands in a cell: the key's letter above the mark, or, without a key, the mark
// alone and larger.
func drawSign(w *svg.Writer, c Cell, x, top float64, style, colour string, patch bool) {
	markY, size := top+18.2, 1.0
	if c[1] < 0 {
		markY, size = top+12, 1.5
	} else {
		w.Text(x+cellWidth/2, top+12, 11, style+`text-anchor="middle" fill="`+colour+`"`, letterOf(c[1]))
	}
	if patch && c[3] == markLost {
		w.Rect(x+2.5, markY-4.7*size, cellWidth-5, 9.5*size, 2, `fill="`+paper+`"`)
	}
	drawMark(w, c[3], x+cellWidth/2, markY, size, colour)
}

// drawHighWatermark draws the blue bar with its small flag, top at y.
func drawHighWatermark(w *svg.Writer, x, y, height float64) {
	w.Rect(x-1.5, y, 3, height, 1.5, `fill="`+blue+`"`)
	d := (&svg.Data{}).Move(x-4.5, y).Line(x+4.5, y).Line(x, y+5).Close()
	w.Path(d, `fill="`+blue+`"`)
}

func drawEllipsis(w *svg.Writer, x, y float64, colour string) {
	for i := range 3 {
		w.Circle(x+float64(i)*4, y, 1.2, `fill="`+colour+`"`)
	}
}

// drawArrowHead draws the tip of an arrow that ends at (x, y) and comes by (dx, dy).
func drawArrowHead(w *svg.Writer, x, y, dx, dy float64, colour string) {
	length := math.Hypot(dx, dy)
	if length == 0 {
		length = 1
	}
	ux, uy := dx/length, dy/length
	at := func(back, side float64) (float64, float64) { return x - back*ux - side*uy, y - back*uy + side*ux }
	d := (&svg.Data{}).Move(x, y)
	d.Line(at(7, 3)).Line(at(7, -3)).Close()
	w.Path(d, `fill="`+colour+`"`)
}
