package svg

import (
	"math"
	"strings"
)

// matrix is an affine map: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

func scaling(s float64) matrix { return matrix{a: s, d: s} }

func (m matrix) apply(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

// times is the map that does n first, then m.
func (m matrix) times(n matrix) matrix {
	return matrix{
		a: m.a*n.a + m.c*n.b, b: m.b*n.a + m.d*n.b,
		c: m.a*n.c + m.c*n.d, d: m.b*n.c + m.d*n.d,
		e: m.a*n.e + m.c*n.f + m.e, f: m.b*n.e + m.d*n.f + m.f,
	}
}

// size is how much the map enlarges lengths (the mean of both directions).
func (m matrix) size() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

// parseTransform reads a transform attribute; functions it does not know are skipped.
func parseTransform(text string) matrix {
	m := scaling(1)
	for text != "" {
		name, rest, ok := strings.Cut(text, "(")
		if !ok {
			break
		}
		arguments, after, _ := strings.Cut(rest, ")")
		m = m.times(transformOf(strings.Trim(name, " ,\t\n"), numbers(arguments)))
		text = after
	}
	return m
}

func transformOf(name string, v []float64) matrix {
	at := func(i int) float64 {
		if i < len(v) {
			return v[i]
		}
		return 0
	}
	switch {
	case name == "matrix" && len(v) == 6:
		return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}
	case name == "translate":
		return matrix{a: 1, d: 1, e: at(0), f: at(1)}
	case name == "scale" && len(v) == 1:
		return scaling(v[0])
	case name == "scale":
		return matrix{a: at(0), d: at(1)}
	case name == "rotate":
		sin, cos := math.Sincos(at(0) * math.Pi / 180)
		turn := matrix{a: cos, b: sin, c: -sin, d: cos}
		there, back := matrix{a: 1, d: 1, e: at(1), f: at(2)}, matrix{a: 1, d: 1, e: -at(1), f: -at(2)}
		return there.times(turn).times(back)
	}
	return scaling(1)
}
