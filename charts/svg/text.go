package svg

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fonts parses the two embedded Go fonts once: regular and bold.
var fonts = sync.OnceValue(func() (pair [2]*opentype.Font) {
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		parsed, err := opentype.Parse(data)
		if err != nil {
			panic(fmt.Sprintf("svg: embedded font %d: %v", i, err))
		}
		pair[i] = parsed
	}
	return pair
})

// faces is a cache of font faces by weight and size. A face is not safe for concurrent use: each
// drawing has its own cache.
type faces map[faceKey]font.Face

type faceKey struct {
	bold bool
	size float64 // px
}

func (f faces) get(bold bool, size float64) font.Face {
	key := faceKey{bold, size}
	if face, ok := f[key]; ok {
		return face
	}
	index := 0
	if bold {
		index = 1
	}
	face, err := opentype.NewFace(fonts()[index], &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(fmt.Sprintf("svg: font face of %g px: %v", size, err))
	}
	f[key] = face
	return face
}

// measuring serves TextWidth, which may be called from several goroutines. The same texts are asked for again and
// again: their widths are kept, and all forgotten when they are many.
var measuring = struct {
	sync.Mutex
	faces faces
	known map[measured]float64
}{faces: faces{}, known: map[measured]float64{}}

type measured struct {
	text string
	size float64
	bold bool
}

// maxMeasured is how many widths are kept.
const maxMeasured = 4096

// TextWidth is the width of a line of text in px, in the font that the PNG uses.
func TextWidth(text string, size float64, bold bool) float64 {
	size = min(max(bounded(size), 1), maxFont)
	measuring.Lock()
	defer measuring.Unlock()
	key := measured{text, size, bold}
	if width, ok := measuring.known[key]; ok {
		return width
	}
	// Measured at ten times the size: at small sizes advances are rounded to whole pixels.
	width := float64(font.MeasureString(measuring.faces.get(bold, 10*size), drawable(text))) / 64 / 10
	if len(measuring.known) == maxMeasured {
		clear(measuring.known)
	}
	if len(text) <= 200 {
		measuring.known[key] = width
	}
	return width
}

// drawable replaces what the embedded fonts cannot draw by a box. Without it such characters would be
// missing from the PNG without a trace.
func drawable(text string) string {
	var buffer sfnt.Buffer
	out := []rune(text)
	for i, r := range out {
		if index, err := fonts()[0].GlyphIndex(&buffer, r); err != nil || index == 0 {
			out[i] = '□'
		}
	}
	return string(out)
}

// label is one line of text, ready to be drawn in device pixels.
type label struct {
	text   string
	x, y   float64 // the start of the baseline
	face   font.Face
	colour color.Color
}

func (l label) draw(target draw.Image) {
	drawer := font.Drawer{Dst: target, Src: image.NewUniform(l.colour), Face: l.face,
		Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(l.x * 64)), Y: fixed.Int26_6(math.Round(l.y * 64))}}
	drawer.DrawString(l.text)
}

// outline sends the outlines of the label's letters to out, from the origin to the right.
func (l label) outline(out sink, bold bool, size float64) {
	index := 0
	if bold {
		index = 1
	}
	parsed, ppem := fonts()[index], fixed.Int26_6(math.Round(size*64))
	var buffer sfnt.Buffer
	x := 0.0
	place := func(p fixed.Point26_6) (float64, float64) { return x + float64(p.X)/64, float64(p.Y) / 64 }
	for _, r := range l.text {
		glyph, err := parsed.GlyphIndex(&buffer, r)
		if err != nil {
			continue
		}
		segments, err := parsed.LoadGlyph(&buffer, glyph, ppem, nil)
		if err != nil {
			continue
		}
		var fromX, fromY float64
		for _, s := range segments {
			ax, ay := place(s.Args[0])
			bx, by := place(s.Args[1])
			cx, cy := place(s.Args[2])
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				out.moveTo(ax, ay)
				fromX, fromY = ax, ay
			case sfnt.SegmentOpLineTo:
				out.lineTo(ax, ay)
				fromX, fromY = ax, ay
			case sfnt.SegmentOpQuadTo:
				quadratic(out, fromX, fromY, ax, ay, bx, by)
				fromX, fromY = bx, by
			case sfnt.SegmentOpCubeTo:
				out.cubicTo(ax, ay, bx, by, cx, cy)
				fromX, fromY = cx, cy
			}
		}
		if advance, err := parsed.GlyphAdvance(&buffer, glyph, ppem, font.HintingNone); err == nil {
			x += float64(advance) / 64
		}
	}
}

// drawTurned draws the label turned by a quarter: quarters 1 is clockwise, 3 is counter-clockwise.
func (l label) drawTurned(target *image.RGBA, quarters int) {
	ascent, descent := l.face.Metrics().Ascent.Ceil()+2, l.face.Metrics().Descent.Ceil()+2
	width := font.MeasureString(l.face, l.text).Ceil() + 4
	flat := image.NewRGBA(image.Rect(0, 0, width, ascent+descent))
	upright := l
	upright.x, upright.y = 2, float64(ascent)
	upright.draw(flat)
	x0, y0 := int(math.Round(l.x)), int(math.Round(l.y))
	for y := range flat.Rect.Dy() {
		for x := range flat.Rect.Dx() {
			source := flat.RGBAAt(x, y)
			if source.A == 0 {
				continue
			}
			along, across := x-2, y-ascent
			px, py := x0-across, y0+along
			if quarters == 3 {
				px, py = x0+across, y0-along
			}
			blend(target, px, py, source)
		}
	}
}

// blend puts a premultiplied colour over a pixel.
func blend(target *image.RGBA, x, y int, source color.RGBA) {
	if !(image.Pt(x, y).In(target.Rect)) {
		return
	}
	under, rest := target.RGBAAt(x, y), 255-uint32(source.A)
	over := func(s, u uint8) uint8 { return uint8(uint32(s) + (uint32(u)*rest+127)/255) }
	target.SetRGBA(x, y, color.RGBA{over(source.R, under.R), over(source.G, under.G), over(source.B, under.B), over(source.A, under.A)})
}
