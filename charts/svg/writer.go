package svg

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Writer puts a document together. The same calls give the same bytes: there are no ids, no clock and no
// maps in it, and numbers are rounded to hundredths.
type Writer struct {
	out strings.Builder
}

// New starts a document of width x height px on white. The title is what a screen reader says.
func New(width, height float64, title string) *Writer {
	w := &Writer{}
	fmt.Fprintf(&w.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" font-family="system-ui,sans-serif">`,
		num(width), num(height), num(width), num(height))
	w.out.WriteString("\n<title>" + Escape(title) + "</title>\n")
	w.Rect(0, 0, width, height, 0, `fill="#fff"`)
	return w
}

// String closes the document and returns it.
func (w *Writer) String() string { return w.out.String() + "</svg>\n" }

// num writes a coordinate with at most two decimals.
func num(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // no "-0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Escape makes text safe inside elements and attributes. Characters that XML 1.0 forbids become �.
func Escape(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			out.WriteString("&amp;")
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '"':
			out.WriteString("&quot;")
		case r < ' ' && r != '\t' && r != '\n', r == 0xFFFE, r == 0xFFFF:
			out.WriteRune('�')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// element writes one empty element; style is ready-made attributes.
func (w *Writer) element(name, geometry, style string) {
	w.out.WriteString("<" + name + geometry)
	if style != "" {
		w.out.WriteString(" " + style)
	}
	w.out.WriteString("/>\n")
}

// Rect draws a rectangle with corners of the given radius.
func (w *Writer) Rect(x, y, width, height, radius float64, style string) {
	geometry := fmt.Sprintf(` x="%s" y="%s" width="%s" height="%s"`, num(x), num(y), num(width), num(height))
	if radius > 0 {
		geometry += fmt.Sprintf(` rx="%s"`, num(radius))
	}
	w.element("rect", geometry, style)
}

// Circle draws a circle.
func (w *Writer) Circle(x, y, radius float64, style string) {
	w.element("circle", fmt.Sprintf(` cx="%s" cy="%s" r="%s"`, num(x), num(y), num(radius)), style)
}

// Line draws a straight line.
func (w *Writer) Line(x1, y1, x2, y2 float64, style string) {
	w.element("line", fmt.Sprintf(` x1="%s" y1="%s" x2="%s" y2="%s"`, num(x1), num(y1), num(x2), num(y2)), style)
}

// Path draws path data made with Data.
func (w *Writer) Path(d *Data, style string) { w.element("path", ` d="`+d.String()+`"`, style) }

// Text draws one line of text with its baseline at y.
func (w *Writer) Text(x, y, size float64, style, text string) {
	fmt.Fprintf(&w.out, `<text x="%s" y="%s" font-size="%s"`, num(x), num(y), num(size))
	if style != "" {
		w.out.WriteString(" " + style)
	}
	w.out.WriteString(">" + Escape(text) + "</text>\n")
}

// Open starts a group; Close ends the innermost one.
func (w *Writer) Open(style string) { w.out.WriteString("<g " + style + ">\n") }

// Close ends the innermost group.
func (w *Writer) Close() { w.out.WriteString("</g>\n") }

// Data builds path data from straight lines.
type Data struct{ out strings.Builder }

// Move starts a new part of the path.
func (d *Data) Move(x, y float64) *Data { return d.add("M", x, y) }

// Line goes on in a straight line.
func (d *Data) Line(x, y float64) *Data { return d.add("L", x, y) }

// Close ends the part where it began.
func (d *Data) Close() *Data { d.out.WriteString("Z"); return d }

// String returns the path data.
func (d *Data) String() string { return d.out.String() }

func (d *Data) add(command string, x, y float64) *Data {
	d.out.WriteString(command + num(x) + " " + num(y))
	return d
}
