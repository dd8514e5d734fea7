package svg

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"github.com/fogleman/gg"
	"golang.org/x/image/font"
)

// maxPixels bounds a rasterised picture: 40 million pixels are 160 MB.
const maxPixels = 40_000_000

// maxStroke and maxFont bound pens and letters, in px.
const (
	maxStroke = 2000
	maxFont   = 500
)

// painter walks over a document and paints it.
type painter struct {
	canvas *gg.Context
	image  *image.RGBA
	clipTo image.Rectangle // for text, which gg's clip does not hold back
	defs   map[string]*node
	faces  faces
}

// style is what elements inherit.
type style struct {
	fill, stroke             string
	fillOpacity, lineOpacity float64
	opacity                  float64 // product along the ancestors: groups are not composed apart
	width                    float64
	dash                     []float64
	dashOffset               float64
	cap, join                string
	size                     float64
	bold                     bool
	anchor, baseline         string
	evenOdd                  bool
	hidden                   bool
	at                       matrix
}

// Rasterise paints an SVG document on white, scale device pixels per user unit. The size comes from
// width and height of the svg element, or from its viewBox.
func Rasterise(text string, scale float64) (*image.RGBA, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	width, height := length(root.attrs["width"], 0), length(root.attrs["height"], 0)
	box := numbers(root.attrs["viewBox"])
	if len(box) == 4 && (width <= 0 || height <= 0) {
		width, height = box[2], box[3]
	}
	pixelsX, pixelsY := math.Ceil(width*scale), math.Ceil(height*scale)
	if !(pixelsX >= 1 && pixelsY >= 1 && pixelsX*pixelsY <= maxPixels) {
		return nil, fmt.Errorf("svg: cannot rasterise %g x %g px at scale %g", width, height, scale)
	}
	target := image.NewRGBA(image.Rect(0, 0, int(pixelsX), int(pixelsY)))
	draw.Draw(target, target.Rect, image.White, image.Point{}, draw.Src)
	p := &painter{canvas: gg.NewContextForRGBA(target), image: target, clipTo: target.Rect, defs: map[string]*node{}, faces: faces{}}
	definitions(root, p.defs)
	s := style{fill: "#000", fillOpacity: 1, lineOpacity: 1, opacity: 1, width: 1, size: 16, at: scaling(scale)}
	if len(box) == 4 && box[2] > 0 && box[3] > 0 {
		fit := matrix{a: width / box[2], d: height / box[3], e: -box[0] * width / box[2], f: -box[1] * height / box[3]}
		s.at = s.at.times(fit)
	}
	delete(root.attrs, "transform")
	p.paint(root, s)
	return target, nil
}

// length reads "12", "12px"; anything else is the fallback.
func length(text string, fallback float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "px"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fallback
	}
	return v
}

// inherit is the style of n inside s.
func (s style) inherit(n *node) style {
	for name, value := range n.attrs {
		s.set(name, value)
	}
	s.opacity *= min(max(length(n.attrs["opacity"], 1), 0), 1)
	if t := n.attrs["transform"]; t != "" {
		s.at = s.at.times(parseTransform(t))
	}
	return s
}

func (s *style) set(name, value string) {
	switch name {
	case "fill":
		s.fill = value
	case "stroke":
		s.stroke = value
	case "fill-opacity":
		s.fillOpacity = length(value, 1)
	case "stroke-opacity":
		s.lineOpacity = length(value, 1)
	case "stroke-width":
		s.width = length(value, 1)
	case "stroke-dasharray":
		s.dash = numbers(value)
	case "stroke-dashoffset":
		s.dashOffset = length(value, 0)
	case "stroke-linecap":
		s.cap = value
	case "stroke-linejoin":
		s.join = value
	case "font-size":
		s.size = length(value, s.size)
	case "font-weight":
		s.bold = value == "bold" || length(value, 0) >= 600
	case "text-anchor":
		s.anchor = value
	case "dominant-baseline":
		s.baseline = value
	case "fill-rule":
		s.evenOdd = value == "evenodd"
	case "visibility":
		s.hidden = value == "hidden"
	}
}

// paint draws an element and what is in it.
func (p *painter) paint(n *node, outer style) {
	switch n.name {
	case "defs", "style", "title", "desc", "metadata", "clipPath", "linearGradient", "radialGradient", "pattern":
		return
	}
	if n.attrs["display"] == "none" {
		return
	}
	s := outer.inherit(n)
	if id, ok := reference(n.attrs["clip-path"]); ok && p.defs[id] != nil {
		p.clip(p.defs[id], s.at)
		defer func() { // clips do not nest in what we draw
			p.canvas.ResetClip()
			p.clipTo = p.image.Rect
		}()
	}
	if n.name == "text" {
		p.text(n, s)
		return
	}
	p.shape(n, s)
	for _, child := range n.children {
		p.paint(child, s)
	}
}

// reference reads "url(#id)".
func reference(text string) (string, bool) {
	id, ok := strings.CutPrefix(text, "url(#")
	return strings.TrimSuffix(id, ")"), ok
}

func (p *painter) clip(path *node, at matrix) {
	reach := image.Rectangle{}
	for _, child := range path.children {
		local := at
		if t := child.attrs["transform"]; t != "" {
			local = at.times(parseTransform(t))
		}
		outline(child, &pen{p.canvas, local})
		e := &extent{at: local}
		outline(child, e)
		reach = reach.Union(e.box())
	}
	p.canvas.Clip()
	p.clipTo = reach.Intersect(p.image.Rect)
}

// shape fills and strokes an element that has an outline.
func (p *painter) shape(n *node, s style) {
	if s.hidden || p.block(n, s) {
		return
	}
	if !outline(n, &pen{p.canvas, s.at}) {
		return
	}
	if c, ok := p.colour(s.fill, s.fillOpacity*s.opacity); ok {
		p.canvas.SetColor(c)
		if g := p.gradient(s.fill, n, s); g != nil {
			p.canvas.SetFillStyle(g)
		}
		p.canvas.SetFillRule(gg.FillRuleWinding)
		if s.evenOdd {
			p.canvas.SetFillRule(gg.FillRuleEvenOdd)
		}
		p.canvas.FillPreserve()
	}
	if c, ok := p.colour(s.stroke, s.lineOpacity*s.opacity); ok && s.width > 0 {
		p.canvas.SetColor(c)
		p.strokeStyle(s)
		p.canvas.StrokePreserve()
	}
	p.canvas.ClearPath()
}

// block fills a plain rectangle that lies on whole pixels, as backgrounds do, without asking how much of each pixel it
// covers; false when it is none.
func (p *painter) block(n *node, s style) bool {
	if n.name != "rect" || n.attrs["rx"] != "" || n.attrs["ry"] != "" || s.at.b != 0 || s.at.c != 0 || p.clipTo != p.image.Rect {
		return false
	}
	if _, stroked := p.colour(s.stroke, s.lineOpacity*s.opacity); stroked && s.width > 0 {
		return false
	}
	c, ok := p.colour(s.fill, s.fillOpacity*s.opacity)
	if _, named := reference(s.fill); !ok || named || c.A != 255 {
		return false
	}
	x, y := length(n.attrs["x"], 0), length(n.attrs["y"], 0)
	x0, y0 := s.at.apply(x, y)
	x1, y1 := s.at.apply(x+length(n.attrs["width"], 0), y+length(n.attrs["height"], 0))
	for _, v := range []float64{x0, y0, x1, y1} {
		if !(math.Abs(v-math.Round(v)) < 1e-6 && math.Abs(v) < far) {
			return false
		}
	}
	area := image.Rect(int(math.Round(x0)), int(math.Round(y0)), int(math.Round(x1)), int(math.Round(y1)))
	draw.Draw(p.image, area.Intersect(p.image.Rect), image.NewUniform(c), image.Point{}, draw.Src)
	return true
}

func (p *painter) strokeStyle(s style) {
	scale := bounded(s.at.size())
	p.canvas.SetLineWidth(min(bounded(s.width*scale), maxStroke))
	caps := map[string]gg.LineCap{"round": gg.LineCapRound, "square": gg.LineCapSquare}
	lineCap, ok := caps[s.cap]
	if !ok {
		lineCap = gg.LineCapButt
	}
	p.canvas.SetLineCap(lineCap)
	p.canvas.SetLineJoin(gg.LineJoinRound)
	if s.join == "bevel" {
		p.canvas.SetLineJoin(gg.LineJoinBevel)
	}
	dash, total := make([]float64, len(s.dash)), 0.0
	for i, d := range s.dash {
		dash[i] = max(bounded(d*scale), 0)
		total += dash[i]
	}
	if total < 1 {
		dash = nil // too fine to be seen
	} else if len(dash)%2 == 1 {
		dash = append(dash, dash...)
	}
	p.canvas.SetDash(dash...)
	p.canvas.SetDashOffset(bounded(s.dashOffset * scale))
}

// colour resolves a paint: a colour, or the first stop of a gradient.
func (p *painter) colour(paint string, opacity float64) (color.NRGBA, bool) {
	if id, ok := reference(paint); ok {
		gradient := p.defs[id]
		if gradient == nil || len(gradient.children) == 0 {
			return color.NRGBA{}, false
		}
		paint = gradient.children[0].attrs["stop-color"]
	}
	c, ok := parseColour(paint)
	c.A = byteOf(float64(c.A) * opacity)
	return c, ok && c.A > 0
}

// text draws one line of text, level or turned.
func (p *painter) text(n *node, s style) {
	content := drawable(strings.Join(strings.Fields(allText(n)), " "))
	fill, ok := p.colour(s.fill, s.fillOpacity*s.opacity)
	if content == "" || s.hidden || (!ok && s.stroke == "") {
		return
	}
	face := p.faces.get(s.bold, math.Round(min(max(bounded(s.size*s.at.size()), 1), maxFont)*4)/4)
	turn := math.Atan2(s.at.b, s.at.a)
	x, y := s.at.apply(length(n.attrs["x"], 0)+length(n.attrs["dx"], 0), length(n.attrs["y"], 0)+length(n.attrs["dy"], 0))
	sin, cos := math.Sincos(turn)
	along, down := p.shift(face, content, s)
	x, y = bounded(x+cos*along-sin*down), bounded(y+sin*along+cos*down)
	if stroke, halo := p.colour(s.stroke, s.lineOpacity*s.opacity); halo && s.width > 0 {
		reach := min(bounded(s.width*s.at.size())/2, 20)
		for i := range 8 {
			dy, dx := math.Sincos(float64(i) * math.Pi / 4)
			p.put(label{content, x + dx*reach, y + dy*reach, face, stroke}, turn, s)
		}
	}
	p.put(label{content, x, y, face, fill}, turn, s)
}

// put draws a label: by its hinted glyphs when it is level or turned by a quarter, by their outlines at any other
// angle.
func (p *painter) put(l label, turn float64, s style) {
	target := p.image.SubImage(p.clipTo).(*image.RGBA)
	quarters := turn / (math.Pi / 2)
	if math.Abs(quarters-math.Round(quarters)) > 0.01 || math.Abs(quarters) > 1.5 {
		sin, cos := math.Sincos(turn)
		size := min(max(bounded(s.size*s.at.size()), 1), maxFont)
		l.outline(&pen{p.canvas, matrix{a: cos, b: sin, c: -sin, d: cos, e: l.x, f: l.y}}, s.bold, size)
		p.canvas.SetColor(l.colour)
		p.canvas.SetFillRule(gg.FillRuleWinding)
		p.canvas.Fill()
		return
	}
	switch int(math.Round(quarters)+4) % 4 {
	case 1:
		l.drawTurned(target, 1)
	case 3:
		l.drawTurned(target, 3)
	default:
		l.draw(target)
	}
}

// shift is how far the start of the baseline lies from the anchor, along the text and downwards.
func (p *painter) shift(face font.Face, content string, s style) (along, down float64) {
	width := float64(font.MeasureString(face, content)) / 64
	switch s.anchor {
	case "middle":
		along = -width / 2
	case "end":
		along = -width
	}
	size := s.size * s.at.size()
	switch s.baseline {
	case "central", "middle":
		down = 0.355 * size // half the height of a capital
	case "hanging", "text-before-edge", "before-edge":
		down = 0.8 * size
	case "text-after-edge", "after-edge", "ideographic":
		down = -0.2 * size
	}
	return along, down
}

func allText(n *node) string {
	text := n.text
	for _, child := range n.children {
		text += allText(child)
	}
	return text
}
