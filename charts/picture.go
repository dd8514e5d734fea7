package charts

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"kafkalab/charts/svg"
)

// pngScale is how many device pixels of the PNG make one CSS px: sharp on the usual dense screens.
const pngScale = 2

// Picture is a finished chart. It does not change any more; what the cluster does later needs a new one.
type Picture struct {
	envelope      Envelope
	width, height int // px of the still picture
	draw          func(id string) (string, error)
	still         *still
}

// still is the drawn picture, made at most once. Copies of a Picture share it.
type still struct {
	draw, raster sync.Once
	svg          string
	png          []byte
	err          error
}

// made counts the pictures of this process, so that two equal charts in one notebook have two ids.
var made atomic.Int64

// NumberFrom makes n the number in the id of the next chart. A kernel starts at 1 by itself; tests with
// golden files call this to have the same ids whatever ran before.
func NumberFrom(n int) { made.Store(int64(n) - 1) }

// newPicture finishes a chart: its id is made of its content and of its number in this process.
func newPicture(kind, alt string, height int, spec any) *Picture {
	text := specText(kind, spec)
	sum := sha256.Sum256(append([]byte(kind), text...))
	id := fmt.Sprintf("%s-%s-%d", kind, hex.EncodeToString(sum[:4]), made.Add(1))
	return &Picture{still: &still{}, envelope: Envelope{V: SchemaVersion, ID: id, Kind: kind, H: height, Alt: shorten(alt, maxAlt), Spec: string(text)}}
}

// specText is a spec as it travels.
func specText(kind string, spec any) []byte {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("charts: a %s that JSON cannot hold: %v", kind, err)) // specs are plain data
	}
	return text
}

// WithID returns the same picture under another id: a chart that is redrawn in place keeps the id of the
// first drawing. An id has 1 to 40 of a-z, 0-9 and -.
func (p *Picture) WithID(id string) *Picture {
	if !idShape.MatchString(id) {
		wrong("charts: id %q; want 1 to 40 of a-z, 0-9 and -", id)
	}
	renamed := *p
	renamed.envelope.ID = id
	return &renamed
}

// Envelope is the chart as it travels to the browser.
func (p *Picture) Envelope() Envelope { return p.envelope }

// String is the alternative text: what the picture shows, in sentences with the numbers.
func (p *Picture) String() string { return p.envelope.Alt }

// SVG returns the still picture. It is "" when it could not be drawn; PNG says why.
func (p *Picture) SVG() string {
	p.drawn()
	return p.still.svg
}

// PNG returns the still picture at twice the size of its SVG, with a palette, on white.
func (p *Picture) PNG() ([]byte, error) {
	p.drawn()
	p.still.raster.Do(func() {
		if p.still.err == nil {
			p.still.png, p.still.err = svg.PNG(p.still.svg, pngScale)
		}
	})
	return p.still.png, p.still.err
}

func (p *Picture) drawn() {
	p.still.draw.Do(func() { p.still.svg, p.still.err = p.draw(p.envelope.ID) })
}

// MIMEBundle is the one display of a chart: the spec for the browser script, the PNG for
// every other place, the sentence for the rest.
func (p *Picture) MIMEBundle() map[string]any {
	e, bundle := p.envelope, p.data()
	if png, err := p.PNG(); err != nil {
		bundle["text/plain"] = fmt.Sprintf("%s\n(The still picture could not be drawn: %v)", e.Alt, err)
	} else {
		bundle["image/png"] = base64.StdEncoding.EncodeToString(png)
	}
	return bundle
}

// data is the bundle without the PNG.
func (p *Picture) data() map[string]any {
	e := p.envelope
	return map[string]any{
		MIMEChart:    map[string]any{"v": e.V, "id": e.ID, "kind": e.Kind, "h": e.H, "alt": e.Alt, "spec": e.Spec},
		"text/plain": e.Alt,
	}
}

// MIMEMetadata is the metadata that goes with MIMEBundle: the PNG's size in CSS px and the alternative
// text under the name that VS Code reads.
func (p *Picture) MIMEMetadata() map[string]any {
	return map[string]any{
		"image/png":      map[string]any{"width": p.width, "height": p.height},
		"vscode_altText": p.envelope.Alt,
	}
}
