package pictures

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kafkalab/charts/svg"
	"kafkalab/tests/worlds"
)

// textBox is where a text of a picture stands, in px.
type textBox struct {
	text                     string
	left, top, right, bottom float64
}

// textBoxes reads the level texts of a picture with their places, in a font that is so many times as wide as ours.
func textBoxes(t *testing.T, picture string, wider float64) []textBox {
	t.Helper()
	var all []textBox
	var at [][2]float64 // how far each open element is moved
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			moved, level := place(token, at)
			at = append(at, moved)
			if token.Name.Local == "text" {
				var content struct {
					Text string `xml:",chardata"`
				}
				if err := decoder.DecodeElement(&content, &token); err != nil {
					t.Fatal(err)
				}
				at = at[:len(at)-1]
				if level && strings.TrimSpace(content.Text) != "" {
					all = append(all, boxOf(token, content.Text, moved, wider))
				}
			}
		case xml.EndElement:
			at = at[:len(at)-1]
		}
	}
}

// place is where an element's origin lies; level is false for turned ones.
func place(e xml.StartElement, at [][2]float64) (moved [2]float64, level bool) {
	if len(at) > 0 {
		moved = at[len(at)-1]
	}
	transform := attribute(e, "transform")
	name, arguments, _ := strings.Cut(strings.TrimSuffix(transform, ")"), "(")
	v := strings.FieldsFunc(arguments, func(r rune) bool { return r == ' ' || r == ',' })
	switch {
	case transform == "":
		return moved, true
	case name == "translate" && len(v) == 2:
		return [2]float64{moved[0] + number(v[0]), moved[1] + number(v[1])}, true
	}
	return moved, false
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
		if a.Name.Local == "style" {
			for part := range strings.SplitSeq(a.Value, ";") {
				if key, value, _ := strings.Cut(part, ":"); key == name {
					return value
				}
			}
		}
	}
	return ""
}

func number(text string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSuffix(text, "px"), 64)
	return v
}

// boxOf is a text's box: from the height of a capital to a little below the line.
func boxOf(e xml.StartElement, text string, moved [2]float64, wider float64) textBox {
	size := number(attribute(e, "font-size"))
	weight := attribute(e, "font-weight")
	width := wider * svg.TextWidth(text, size, weight == "bold" || number(weight) >= 600)
	x, y := moved[0]+number(attribute(e, "x")), moved[1]+number(attribute(e, "y"))
	if attribute(e, "dominant-baseline") == "central" {
		y += 0.35 * size
	}
	switch attribute(e, "text-anchor") {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	return textBox{text, x, y - 0.72*size, x + width, y + 0.12*size}
}

// overlaps are the pairs of texts that lie on each other.
func overlaps(boxes []textBox) []string {
	var found []string
	for i, a := range boxes {
		for _, b := range boxes[i+1:] {
			across := math.Min(a.right, b.right) - math.Max(a.left, b.left)
			down := math.Min(a.bottom, b.bottom) - math.Max(a.top, b.top)
			if across > 1 && down > 1 {
				found = append(found, fmt.Sprintf("%q at (%.0f, %.0f) and %q at (%.0f, %.0f), by %.0f x %.0f px", a.text, a.left, a.bottom, b.text, b.left, b.bottom, across, down))
			}
		}
	}
	return found
}

// outside are the texts that begin or end beyond the picture.
func outside(boxes []textBox, width float64) []string {
	var found []string
	for _, b := range boxes {
		if b.left < -1 || b.right > width+1 {
			found = append(found, fmt.Sprintf("%q from %.0f to %.0f of %.0f px", b.text, b.left, b.right, width))
		}
	}
	return found
}

var opening = regexp.MustCompile(`^<svg [^>]*\bwidth="([\d.]+)"`)

// wide is how much wider than ours a reader's font may be.
const wide = 1.15

// No text lies on another one, in the font of the PNG and in a wider one, whatever the names are.
func TestNoTextLiesOnAnother(t *testing.T) {
	all := everyPicture()
	for name, p := range worlds.LongNamed() {
		all = append(all, drawn{"long names, " + name, p})
	}
	for _, d := range all {
		picture := d.of.SVG()
		if n := len(textBoxes(t, picture, 1)); n < 3 {
			t.Errorf("%s: only %d texts were found", d.name, n)
		}
		for _, font := range []float64{1, wide} {
			boxes := textBoxes(t, picture, font)
			found := append(overlaps(boxes), outside(boxes, number(opening.FindStringSubmatch(picture)[1]))...)
			for _, pair := range found[:min(len(found), 5)] {
				t.Errorf("%s, in a font %g times as wide: %s", d.name, font, pair)
			}
		}
	}
}

// The test sees texts that lie on each other.
func TestOverlapsAreSeen(t *testing.T) {
	const picture = `<svg><g transform="translate(5 5)"><text x="0" y="10" font-size="12">controller 3001</text></g><text x="%d" y="16" font-size="12" text-anchor="start">down</text></svg>`
	for x, want := range map[int]int{60: 1, 150: 0} {
		if found := overlaps(textBoxes(t, fmt.Sprintf(picture, x), 1)); len(found) != want {
			t.Errorf("at %d: %v", x, found)
		}
	}
}
