package charts

import (
	"cmp"
	"math"
	"slices"
)

// DrawingSpec is a picture made of shapes, with as many frames as it has moments. The shapes are laid out
// here, once, and drawn by their names' colours: in the PNG in light ones, in the browser in the page's.
type DrawingSpec struct {
	Title     string         `json:"title"`
	Width     int            `json:"width"`  // px
	Height    int            `json:"height"` // px of the picture, without controls and words
	WordLines int            `json:"wordLines"`
	Shapes    []Shape        `json:"shapes"`
	Frames    []DrawingFrame `json:"frames"`
}

// DrawingFrame is one moment: which shapes of the moment before go, and which come.
type DrawingFrame struct {
	T     float64  `json:"t"` // ms
	Words []string `json:"words,omitempty"`
	Event bool     `json:"event,omitempty"`
	Add   []int    `json:"add,omitempty"`  // indexes into Shapes
	Drop  []int    `json:"drop,omitempty"` // indexes into Shapes
}

// The kinds of Shape.
const (
	shapeRect   = "rect"   // X, Y, W, H, R corners, Fill, Stroke
	shapeLine   = "line"   // from (X, Y) by (W, H), Stroke
	shapeArrow  = "arrow"  // a line with a tip at its end
	shapeCircle = "circle" // centre (X, Y), radius R, Fill, Stroke
	shapeText   = "text"   // baseline at (X, Y), Fill, Size, Anchor, Bold
	shapeCell   = "cell"   // a record at (X, Y): Key, Mark, As
	shapeStar   = "star"   // centre (X, Y), radius R
	shapeCross  = "cross"  // centre (X, Y), reach R, Stroke, Thick
	shapeTick   = "tick"   // centre (X, Y), reach R, Stroke
	shapeRing   = "ring"   // centre (X, Y), radius R, Stroke
	shapeFlag   = "flag"   // the high watermark's bar from (X, Y), H high
)

// How a cell is drawn.
const (
	cellCommitted = ""
	cellOpen      = "open"
	cellGhost     = "ghost"
)

// The dashes of a stroke.
const (
	dashed = "dash"
	dotted = "dot"
)

// Shape is one thing in a drawing. What a kind does not use is left out.
type Shape struct {
	Kind   string  `json:"k"`
	Z      int     `json:"z,omitempty"` // what is larger lies above
	X      float64 `json:"x,omitempty"`
	Y      float64 `json:"y,omitempty"`
	W      float64 `json:"w,omitempty"`
	H      float64 `json:"h,omitempty"`
	R      float64 `json:"r,omitempty"`
	Fill   string  `json:"f,omitempty"` // a name of inks
	Stroke string  `json:"s,omitempty"` // a name of inks
	Thick  float64 `json:"sw,omitempty"`
	Dash   string  `json:"d,omitempty"`
	Fade   float64 `json:"o,omitempty"` // opacity
	Text   string  `json:"t,omitempty"`
	Size   float64 `json:"sz,omitempty"`
	Anchor string  `json:"a,omitempty"` // "middle" or "end"
	Bold   bool    `json:"b,omitempty"`
	Key    int     `json:"key,omitempty"`
	Mark   int     `json:"m,omitempty"`
	As     string  `json:"as,omitempty"`
	Tip    string  `json:"tip,omitempty"` // shown at the pointer
}

// inks are the colours that a drawing may name, as they are on paper. The browser's script has the same names.
var inks = func() map[string]string {
	all := map[string]string{"": "none", "none": "none", "ink": ink, "soft": inkSoft, "faint": inkFaint, "line": line, "paper": paper, "box": boxFill,
		"boxDown": boxDown, "hw": blue, "alarm": alarm, "quiet": quietFill, "veil": "rgba(255,255,255,.72)"}
	for i := range palette {
		n := string(rune('0' + i))
		all["c"+n], all["t"+n], all["l"+n] = palette[i], paletteText[i], letterInk[i]
	}
	return all
}()

// pen builds a drawing: shapes are put down until frame() makes a moment of them. Equal shapes are one.
type pen struct {
	spec   DrawingSpec
	index  map[uint64][]int // hash of a shape: the shapes that have it
	placed []int            // in the moment in the making
	before []int            // in the moment before
	moment []int            // of each shape: the number of the last moment that it stands in
	number int              // of the moment in the making
	fade   float64
	beside float64 // px that something takes beside the title
}

func newPen(title string, width int) *pen {
	return &pen{spec: DrawingSpec{Title: clip(title), Width: width, Shapes: []Shape{}, Frames: []DrawingFrame{}}, index: map[uint64][]int{}, number: 1}
}

// put adds a shape to the moment in the making.
func (p *pen) put(s Shape) {
	for _, v := range []*float64{&s.X, &s.Y, &s.W, &s.H, &s.R, &s.Thick} {
		*v = hundredths(*v)
	}
	if s.Fade == 0 {
		s.Fade = p.fade
	}
	s.Text, s.Tip = clip(s.Text), clip(s.Tip)
	i := p.shape(&s)
	if i >= 0 && p.moment[i] != p.number {
		p.moment[i] = p.number
		p.placed = append(p.placed, i)
	}
}

// shape is the index of a shape, -1 when there is no room for another one.
func (p *pen) shape(s *Shape) int {
	h := s.hash()
	for _, i := range p.index[h] {
		if p.spec.Shapes[i] == *s {
			return i
		}
	}
	i := len(p.spec.Shapes)
	if i == maxShapes {
		return -1
	}
	p.index[h] = append(p.index[h], i)
	p.spec.Shapes = append(p.spec.Shapes, *s)
	p.moment = append(p.moment, 0)
	return i
}

// hash tells most shapes apart. A map of shapes would hash each of their twenty fields.
func (s *Shape) hash() uint64 {
	h := uint64(len(s.Kind))
	for _, v := range [...]float64{s.X, s.Y, s.W, s.H, s.R, s.Fade} {
		h = (h ^ math.Float64bits(v)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	for _, text := range [...]string{s.Text, s.Fill, s.Stroke, s.Tip} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * 0x100000001B3
		}
		h ^= h >> 31
	}
	return (h ^ uint64(s.Key+1)<<8 ^ uint64(s.Mark)) * 0x9E3779B97F4A7C15
}

func hundredths(v float64) float64 {
	return float64(int64(v*100+pick(v < 0, -0.5, 0.5))) / 100
}

func (p *pen) rect(x, y, w, h, r float64, fill, stroke string) {
	p.put(Shape{Kind: shapeRect, X: x, Y: y, W: w, H: h, R: r, Fill: fill, Stroke: stroke})
}

func (p *pen) line(x1, y1, x2, y2 float64, stroke string) {
	p.put(Shape{Kind: shapeLine, X: x1, Y: y1, W: x2 - x1, H: y2 - y1, Stroke: stroke})
}

func (p *pen) text(x, y, size float64, fill, text string) {
	p.put(Shape{Kind: shapeText, Z: 5, X: x, Y: y, Size: size, Fill: fill, Text: text})
}

func (p *pen) bold(x, y, size float64, fill, text string) {
	p.put(Shape{Kind: shapeText, Z: 5, X: x, Y: y, Size: size, Fill: fill, Text: text, Bold: true})
}

func (p *pen) anchored(x, y, size float64, anchor, fill, text string) {
	p.put(Shape{Kind: shapeText, Z: 5, X: x, Y: y, Size: size, Fill: fill, Text: text, Anchor: anchor})
}

// title writes the picture's title, as every picture has it.
func (p *pen) title() {
	p.bold(2, 19, 15, "ink", fit(p.spec.Title, 15, true, float64(p.spec.Width)-4-p.beside))
}

// frame ends a moment. A frame in which nothing is new and nothing is said is left out.
func (p *pen) frame(t float64, words []string, event bool) {
	f := DrawingFrame{T: t, Words: words, Event: event}
	for _, i := range p.before {
		if p.moment[i] != p.number {
			f.Drop = append(f.Drop, i)
		}
		p.moment[i] = -p.moment[i] // it was there
	}
	for _, i := range p.placed {
		if p.moment[i] > 0 {
			f.Add = append(f.Add, i)
		}
		p.moment[i] = p.number
	}
	slices.Sort(f.Add)
	slices.Sort(f.Drop)
	p.before, p.placed = p.placed, p.before[:0]
	p.number++
	if len(p.spec.Frames) > 0 && len(f.Add)+len(f.Drop)+len(words) == 0 {
		return
	}
	p.spec.Frames = append(p.spec.Frames, f)
	p.spec.WordLines = max(p.spec.WordLines, len(words))
}

// shapesAt are the shapes of a frame, as they lie on each other.
func (s *DrawingSpec) shapesAt(last int) []Shape {
	there := map[int]bool{}
	for _, f := range s.Frames[:last+1] {
		for _, i := range f.Drop {
			delete(there, i)
		}
		for _, i := range f.Add {
			there[i] = true
		}
	}
	list := make([]int, 0, len(there))
	for i := range there {
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(s.Shapes[a].Z, s.Shapes[b].Z), cmp.Compare(a, b)) })
	out := make([]Shape, len(list))
	for k, i := range list {
		out[k] = s.Shapes[i]
	}
	return out
}

// The limits of a drawing.
const (
	maxShapes = 20_000
	maxPlaced = 6_000 // shapes that one frame may bring or take
)

func (s *DrawingSpec) check() error {
	c := &checks{}
	c.text("title", s.Title)
	c.want(s.Width >= 1 && s.Width <= 4000, "width %d; want 1 to 4000", s.Width)
	c.want(s.Height >= 1 && s.Height <= maxHeight, "height %d; want 1 to %d", s.Height, maxHeight)
	c.want(s.WordLines >= 0 && s.WordLines <= 20, "wordLines %d; want 0 to 20", s.WordLines)
	c.atMost("shapes", len(s.Shapes), maxShapes)
	c.atMost("frames", len(s.Frames), maxFrames)
	c.want(len(s.Frames) > 0, "no frames")
	for i := range s.Shapes {
		c.shape(&s.Shapes[i])
	}
	for i, f := range s.Frames {
		c.finite("t", f.T)
		c.atMost("words", len(f.Words), 20)
		for _, text := range f.Words {
			c.text("words", text)
		}
		c.atMost("shapes that come", len(f.Add), maxPlaced)
		c.atMost("shapes that go", len(f.Drop), maxPlaced)
		for _, list := range [][]int{f.Add, f.Drop} {
			for _, shape := range list {
				c.index("shape", shape, len(s.Shapes))
			}
		}
		c.want(i == 0 || s.Frames[i-1].T <= f.T, "frame %d is earlier than the one before", i)
	}
	return c.err
}

func (c *checks) shape(s *Shape) {
	c.oneOf("kind of shape", s.Kind, shapeRect, shapeLine, shapeArrow, shapeCircle, shapeText, shapeCell, shapeStar, shapeCross, shapeTick, shapeRing, shapeFlag)
	c.want(s.Z >= 0 && s.Z <= 9, "z %d; want 0 to 9", s.Z)
	for _, v := range []float64{s.X, s.Y, s.W, s.H} {
		c.want(v >= -maxHeight && v <= maxHeight, "place %g is out of range", v)
	}
	c.want(s.R >= 0 && s.R <= maxHeight && s.Thick >= 0 && s.Thick <= 20 && s.Fade >= 0 && s.Fade <= 1, "radius %g, thickness %g, opacity %g", s.R, s.Thick, s.Fade)
	for _, name := range []string{s.Fill, s.Stroke} {
		_, known := inks[name]
		c.want(known, "colour %q", name)
	}
	c.oneOf("dash", s.Dash, "", dashed, dotted)
	c.oneOf("anchor", s.Anchor, "", "middle", "end")
	c.oneOf("cell as", s.As, cellCommitted, cellOpen, cellGhost)
	c.want(s.Size == 0 || s.Size >= 1 && s.Size <= 60, "size %g; want 1 to 60", s.Size)
	c.want(s.Key >= -1 && s.Key < maxKeys && s.Mark >= 0 && s.Mark <= int(markLost), "key %d, mark %d", s.Key, s.Mark)
	c.text("text", s.Text)
	c.text("tip", s.Tip)
}
