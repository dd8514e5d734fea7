package svg

import (
	"image/color"
	"strings"

	"github.com/fogleman/gg"
)

// gradient is the pattern of a linear gradient over a shape; nil for whatever is none. Its line is given in parts of
// the shape's box or, with gradientUnits="userSpaceOnUse", in the user's coordinates.
func (p *painter) gradient(paint string, n *node, s style) gg.Pattern {
	id, ok := reference(paint)
	def := p.defs[id]
	if !ok || def == nil || def.name != "linearGradient" || len(def.children) < 2 {
		return nil
	}
	at := s.at
	if def.attrs["gradientUnits"] != "userSpaceOnUse" {
		e := &extent{at: scaling(1)}
		if !outline(n, e) {
			return nil
		}
		at = at.times(matrix{a: e.right - e.left, d: e.bottom - e.top, e: e.left, f: e.top})
	}
	if t := def.attrs["gradientTransform"]; t != "" {
		at = at.times(parseTransform(t))
	}
	x0, y0 := at.apply(part(def.attrs["x1"], 0), part(def.attrs["y1"], 0))
	x1, y1 := at.apply(part(def.attrs["x2"], 1), part(def.attrs["y2"], 0))
	made := gg.NewLinearGradient(bounded(x0), bounded(y0), bounded(x1), bounded(y1))
	for _, stop := range def.children {
		c, ok := parseColour(stop.attrs["stop-color"])
		if !ok {
			c = color.NRGBA{}
		}
		c.A = byteOf(float64(c.A) * length(stop.attrs["stop-opacity"], 1) * s.fillOpacity * s.opacity)
		made.AddColorStop(min(max(part(stop.attrs["offset"], 0), 0), 1), c)
	}
	return made
}

// part reads "0.3" or "30%".
func part(text string, fallback float64) float64 {
	if percent, ok := strings.CutSuffix(strings.TrimSpace(text), "%"); ok {
		return length(percent, 100*fallback) / 100
	}
	return length(text, fallback)
}
