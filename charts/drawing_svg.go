package charts

import (
	"fmt"

	"kafkalab/charts/svg"
)

// newDrawing finishes a drawing. Its still picture is the last frame, with the story below if there is one.
func newDrawing(p *pen, height float64, alt string, story []sentence) *Picture {
	spec := &p.spec
	spec.Height = int(height + 0.999)
	h := spec.Height
	if len(spec.Frames) > 1 {
		h += controlsRow + spec.WordLines*wordLine + 8
	} else {
		spec.Frames[0].Words, spec.WordLines = nil, 0
	}
	picture := newPicture(KindDrawing, alt, h, spec)
	picture.width, picture.height = spec.Width, spec.Height+int(storyHeight(story))
	picture.draw = func(string) (string, error) { return drawDrawing(spec, picture.envelope.Alt, story), nil }
	return picture
}

// drawDrawing draws the last frame, and what happened below it.
func drawDrawing(spec *DrawingSpec, alt string, story []sentence) string {
	w := svg.New(float64(spec.Width), float64(spec.Height)+float64(int(storyHeight(story))), alt)
	for _, s := range spec.shapesAt(len(spec.Frames) - 1) {
		drawShape(w, &s)
	}
	drawStory(w, float64(spec.Height), story)
	return w.String()
}

// drawShape is drawShape of the browser's script.
func drawShape(w *svg.Writer, s *Shape) {
	if s.Fade > 0 {
		w.Open(fmt.Sprintf(`opacity="%s"`, number(s.Fade)))
		defer w.Close()
	}
	switch s.Kind {
	case shapeRect:
		w.Rect(s.X, s.Y, s.W, s.H, s.R, `fill="`+inkNamed(s.Fill)+`"`+s.strokeStyle())
	case shapeLine:
		w.Line(s.X, s.Y, s.X+s.W, s.Y+s.H, s.strokeStyle()[1:])
	case shapeArrow:
		w.Line(s.X, s.Y, s.X+s.W, s.Y+s.H, s.strokeStyle()[1:])
		drawArrowHead(w, s.X+s.W, s.Y+s.H, s.W, s.H, inkNamed(s.Stroke))
	case shapeCircle:
		w.Circle(s.X, s.Y, s.R, `fill="`+inkNamed(s.Fill)+`"`+s.strokeStyle())
	case shapeText:
		style := `fill="` + inkNamed(s.Fill) + `"`
		if s.Bold {
			style += ` font-weight="bold"`
		}
		if s.Anchor != "" {
			style += ` text-anchor="` + s.Anchor + `"`
		}
		w.Text(s.X, s.Y, s.size(), style, s.Text)
	case shapeCell:
		cell := Cell{0, int64(s.Key), 0, int64(s.Mark)}
		if s.As == cellGhost {
			drawGhost(w, cell, s.X, s.Y)
		} else {
			drawCell(w, cell, s.X, s.Y, s.As == cellCommitted)
		}
	case shapeStar:
		drawStar(w, s.X, s.Y, s.R)
	case shapeCross:
		drawCross(w, s.X, s.Y, s.R, pick(s.Thick > 0, s.Thick, 2), inkNamed(s.Stroke))
	case shapeTick:
		drawTick(w, s.X, s.Y, s.R, inkNamed(s.Stroke))
	case shapeRing:
		drawRing(w, s.X, s.Y, s.R, inkNamed(s.Stroke))
	case shapeFlag:
		drawHighWatermark(w, s.X, s.Y, s.H)
	}
}

func inkNamed(name string) string { return inks[name] }

func (s *Shape) size() float64 { return pick(s.Size > 0, s.Size, 12) }

// strokeStyle is the stroke as attributes, with a space before.
func (s *Shape) strokeStyle() string {
	style := fmt.Sprintf(` stroke="%s" stroke-width="%s"`, inkNamed(s.Stroke), number(pick(s.Thick > 0, s.Thick, 1)))
	switch s.Dash {
	case dashed:
		style += ` stroke-dasharray="4 3"`
	case dotted:
		style += ` stroke-dasharray="1.5 2.5"`
	}
	return style
}
