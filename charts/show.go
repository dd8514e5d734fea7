package charts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"

	"kafkalab/charts/echarts"
)

// ForeignEnvelope is what travels as application/vnd.kafkalab.echarts+json: a learner's own ECharts
// option. The browser draws it in trusted notebooks only.
type ForeignEnvelope struct {
	V      int    `json:"v"`
	ID     string `json:"id"`
	H      int    `json:"h"`
	Alt    string `json:"alt"`
	Option string `json:"option"` // JSON text
}

// Foreign is a finished chart of the learner's own.
type Foreign struct {
	picture  Picture // its still picture
	envelope ForeignEnvelope
}

// maxOption bounds the JSON of an option: a notebook with more is no joy to open.
const maxOption = 4_000_000

// Show displays a chart made with go-echarts, in our colours and fonts where the chart leaves them open: line,
// bar, scatter, heat map and graph. What the chart asks for and our build of ECharts does not have is
// refused by name.
func Show(chart echarts.Chart) *Foreign {
	if v := reflect.ValueOf(chart); chart == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		wrong("charts.Show: there is no chart (the argument is nil); give it one like charts.NewLine() of go-echarts")
	}
	built, err := echarts.Build(chart)
	if err != nil {
		wrong("charts.Show: %v", err)
	}
	if len(built.Option) > maxOption {
		wrong("charts.Show: the option is %d bytes; at most %d are allowed - show fewer points", len(built.Option), maxOption)
	}
	sum := sha256.Sum256([]byte(built.Option))
	f := &Foreign{envelope: ForeignEnvelope{V: SchemaVersion, ID: fmt.Sprintf("echarts-%s-%d", hex.EncodeToString(sum[:4]), made.Add(1)),
		H: built.Height, Alt: shorten(describeForeign(built), maxAlt), Option: built.Option}}
	f.picture = Picture{still: &still{}, width: curveWidth, height: built.Height}
	f.picture.envelope.Alt = f.envelope.Alt
	f.picture.draw = func(string) (string, error) {
		return echarts.Option(built.Option, curveWidth, built.Height, f.envelope.Alt)
	}
	return f
}

// describeForeign is a sentence with the numbers.
func describeForeign(b echarts.Built) string {
	title := "Chart"
	if b.Title != "" {
		title = fmt.Sprintf("Chart %q", b.Title)
	}
	var parts []string
	for _, s := range b.Series {
		text := s.Type
		if s.Name != "" {
			text += fmt.Sprintf(" %q", s.Name)
		}
		text += " with " + count(s.Points, "point", "points")
		if s.HasValues {
			text += fmt.Sprintf(" from %s to %s", number(s.Low), number(s.High))
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return title + " without series."
	}
	return title + ": " + strings.Join(parts, "; ") + "."
}

// Envelope is the chart as it travels to the browser.
func (f *Foreign) Envelope() ForeignEnvelope { return f.envelope }

// String is the alternative text.
func (f *Foreign) String() string { return f.envelope.Alt }

// SVG returns the still picture, "" when it could not be drawn; PNG says why.
func (f *Foreign) SVG() string { return f.picture.SVG() }

// PNG returns the still picture at twice its size.
func (f *Foreign) PNG() ([]byte, error) { return f.picture.PNG() }

// MIMEBundle is the one display of the chart.
func (f *Foreign) MIMEBundle() map[string]any {
	bundle := f.picture.MIMEBundle()
	delete(bundle, MIMEChart)
	e := f.envelope
	bundle[MIMEECharts] = map[string]any{"v": e.V, "id": e.ID, "h": e.H, "alt": e.Alt, "option": e.Option}
	return bundle
}

// MIMEMetadata is the metadata that goes with MIMEBundle.
func (f *Foreign) MIMEMetadata() map[string]any { return f.picture.MIMEMetadata() }

// Warm prepares the drawing of curves, which takes a moment at the first one. It is meant for a
// goroutine that runs while the reader still reads.
func Warm() { echarts.Warm() }
