package svg

import (
	"math"
	"strconv"
)

// sink receives a path in user coordinates. Arcs and quadratic curves arrive as cubic ones.
type sink interface {
	moveTo(x, y float64)
	lineTo(x, y float64)
	cubicTo(x1, y1, x2, y2, x, y float64)
	close()
}

// scanner walks over the numbers and letters of path data.
type scanner struct {
	text string
	at   int
}

func (s *scanner) skip() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', ',', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// number reads the next number; ok is false when something else comes.
func (s *scanner) number() (v float64, ok bool) {
	s.skip()
	start, digits, dot := s.at, false, false
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c == '.' && !dot:
			dot = true
		case (c == '-' || c == '+') && s.at == start:
		case (c == 'e' || c == 'E') && digits:
			s.exponent()
			v, err := strconv.ParseFloat(s.text[start:s.at], 64)
			return v, err == nil
		default:
			v, err := strconv.ParseFloat(s.text[start:s.at], 64)
			return v, err == nil
		}
	}
	v, err := strconv.ParseFloat(s.text[start:s.at], 64)
	return v, err == nil
}

func (s *scanner) exponent() {
	s.at++
	if s.at < len(s.text) && (s.text[s.at] == '-' || s.text[s.at] == '+') {
		s.at++
	}
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
}

// flag reads an arc flag, which may stand without a separator: "a1 1 0 01 5 5".
func (s *scanner) flag() bool {
	s.skip()
	if s.at >= len(s.text) {
		return false
	}
	s.at++
	return s.text[s.at-1] == '1'
}

func numbers(text string) []float64 {
	s := scanner{text: text}
	var list []float64
	for {
		v, ok := s.number()
		if !ok {
			return list
		}
		list = append(list, v)
	}
}

// arity is how many numbers follow each command letter (in lower case).
var arity = map[byte]int{'m': 2, 'l': 2, 'h': 1, 'v': 1, 'c': 6, 's': 4, 'q': 4, 't': 2, 'a': 7, 'z': 0}

// pathReader holds the current point and the last control point while path data is read.
type pathReader struct {
	out            sink
	x, y           float64 // current point
	startX, startY float64 // of the subpath
	ctlX, ctlY     float64 // last control point
	last           byte
}

// readPath sends path data to out and stops at the first thing it cannot read, as SVG wants.
func readPath(data string, out sink) {
	s := scanner{text: data}
	r := pathReader{out: out}
	var command byte
	for {
		s.skip()
		if s.at >= len(s.text) {
			return
		}
		if c := s.text[s.at]; (c|0x20) >= 'a' && (c|0x20) <= 'z' {
			command = c
			s.at++
		} else if command|0x20 == 'z' || command == 0 {
			return
		}
		count, known := arity[command|0x20]
		if !known {
			return
		}
		var v [7]float64
		for i := range count {
			if command|0x20 == 'a' && (i == 3 || i == 4) {
				if s.flag() {
					v[i] = 1
				}
				continue
			}
			n, ok := s.number()
			if !ok {
				return
			}
			v[i] = n
		}
		r.step(command, v)
		if command == 'm' {
			command = 'l' // further pairs after a move are lines
		} else if command == 'M' {
			command = 'L'
		}
	}
}

// step executes one command with its numbers.
func (r *pathReader) step(command byte, v [7]float64) {
	relative := command >= 'a'
	lower := command | 0x20
	if relative && lower != 'a' && lower != 'h' && lower != 'v' {
		for i := range v {
			if i%2 == 0 {
				v[i] += r.x
			} else {
				v[i] += r.y
			}
		}
	}
	switch lower {
	case 'm':
		r.x, r.y, r.startX, r.startY = v[0], v[1], v[0], v[1]
		r.out.moveTo(r.x, r.y)
	case 'l':
		r.line(v[0], v[1])
	case 'h':
		if relative {
			v[0] += r.x
		}
		r.line(v[0], r.y)
	case 'v':
		if relative {
			v[0] += r.y
		}
		r.line(r.x, v[0])
	case 'c':
		r.cubic(v[0], v[1], v[2], v[3], v[4], v[5])
	case 's':
		x, y := r.mirrored("cs")
		r.cubic(x, y, v[0], v[1], v[2], v[3])
	case 'q':
		r.quadratic(v[0], v[1], v[2], v[3])
	case 't':
		x, y := r.mirrored("qt")
		r.quadratic(x, y, v[0], v[1])
	case 'a':
		if relative {
			v[5] += r.x
			v[6] += r.y
		}
		arc(r.out, r.x, r.y, v[0], v[1], v[2], v[3] == 1, v[4] == 1, v[5], v[6])
		r.x, r.y = v[5], v[6]
	case 'z':
		r.out.close()
		r.x, r.y = r.startX, r.startY
	}
	r.last = lower
}

func (r *pathReader) line(x, y float64) {
	r.x, r.y = x, y
	r.out.lineTo(x, y)
}

func (r *pathReader) cubic(x1, y1, x2, y2, x, y float64) {
	r.out.cubicTo(x1, y1, x2, y2, x, y)
	r.ctlX, r.ctlY, r.x, r.y = x2, y2, x, y
}

func (r *pathReader) quadratic(cx, cy, x, y float64) {
	quadratic(r.out, r.x, r.y, cx, cy, x, y)
	r.ctlX, r.ctlY, r.x, r.y = cx, cy, x, y
}

// quadratic sends a quadratic curve from (x0, y0) as the cubic one that it is.
func quadratic(out sink, x0, y0, cx, cy, x, y float64) {
	out.cubicTo(x0+2*(cx-x0)/3, y0+2*(cy-y0)/3, x+2*(cx-x)/3, y+2*(cy-y)/3, x, y)
}

// mirrored is the control point of a smooth curve: the last one mirrored, if the last command had one.
func (r *pathReader) mirrored(after string) (float64, float64) {
	if r.last == after[0] || r.last == after[1] {
		return 2*r.x - r.ctlX, 2*r.y - r.ctlY
	}
	return r.x, r.y
}

// arc draws an elliptical arc as cubic curves (SVG 1.1, appendix F.6: from end points to a centre).
func arc(out sink, x0, y0, rx, ry, turn float64, large, sweep bool, x, y float64) {
	rx, ry = math.Abs(rx), math.Abs(ry)
	if rx == 0 || ry == 0 || (x0 == x && y0 == y) {
		out.lineTo(x, y)
		return
	}
	sin, cos := math.Sincos(turn * math.Pi / 180)
	hx, hy := (x0-x)/2, (y0-y)/2
	px, py := cos*hx+sin*hy, -sin*hx+cos*hy
	if grow := px*px/(rx*rx) + py*py/(ry*ry); grow > 1 {
		rx, ry = rx*math.Sqrt(grow), ry*math.Sqrt(grow)
	}
	root := math.Sqrt(math.Max(0, (rx*rx*ry*ry-rx*rx*py*py-ry*ry*px*px)/(rx*rx*py*py+ry*ry*px*px)))
	if large == sweep {
		root = -root
	}
	cxp, cyp := root*rx*py/ry, -root*ry*px/rx
	cx, cy := cos*cxp-sin*cyp+(x0+x)/2, sin*cxp+cos*cyp+(y0+y)/2
	from := math.Atan2((py-cyp)/ry, (px-cxp)/rx)
	span := math.Atan2((-py-cyp)/ry, (-px-cxp)/rx) - from
	if sweep && span < 0 {
		span += 2 * math.Pi
	} else if !sweep && span > 0 {
		span -= 2 * math.Pi
	}
	pieces := int(math.Ceil(math.Abs(span)/(math.Pi/2) - 1e-9))
	step := span / float64(pieces)
	k := 4.0 / 3 * math.Tan(step/4)
	point := func(ux, uy float64) (float64, float64) {
		return cx + cos*rx*ux - sin*ry*uy, cy + sin*rx*ux + cos*ry*uy
	}
	for i := range pieces {
		s1, c1 := math.Sincos(from + float64(i)*step)
		s2, c2 := math.Sincos(from + float64(i+1)*step)
		ax, ay := point(c1-k*s1, s1+k*c1)
		bx, by := point(c2+k*s2, s2-k*c2)
		ex, ey := point(c2, s2)
		out.cubicTo(ax, ay, bx, by, ex, ey)
	}
}
