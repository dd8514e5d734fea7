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

	Full      bool `json:"full,omitempty"`      // only the full build of ECharts draws it
	Functions bool `json:"functions,omitempty"` // texts between two __f__ in it are functions of JavaScript
}

// Foreign is a finished chart of the learner's own.
type Foreign struct {
	picture  Picture // its still picture
	envelope ForeignEnvelope
}

// maxOption bounds the JSON of an option: a notebook with more is no joy to open.
const maxOption = 4_000_000

// Show displays a chart made with go-echarts, of any type that ECharts draws alone, in our colours and fonts where
// the chart leaves them open. Live it is in trusted notebooks; elsewhere its picture shows. Functions (opts.FuncOpts)
// run in the picture's making and in trusted notebooks, nowhere else. What needs scripts beside ECharts (maps,
// 3D, liquid, word clouds, themes) is refused by name.
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
		H: built.Height, Alt: shorten(describeForeign(built), maxAlt), Option: built.Option, Full: built.Full, Functions: len(built.Functions) > 0}}
	f.picture = Picture{still: &still{}, width: curveWidth, height: built.Height}
	f.picture.envelope.Alt = f.envelope.Alt
	f.picture.draw = func(string) (string, error) {
		return echarts.Still(built, curveWidth, f.envelope.Alt)
	}
	return f
}

// itemsOf is what the items of a series are called, one and several.
var itemsOf = map[string][2]string{
	"pie": {"slice", "slices"}, "funnel": {"stage", "stages"}, "gauge": {"needle", "needles"}, "radar": {"shape", "shapes"},
	"candlestick": {"candle", "candles"}, "boxplot": {"box", "boxes"}, "parallel": {"line", "lines"}, "heatmap": {"cell", "cells"},
	"tree": {"node", "nodes"}, "treemap": {"node", "nodes"}, "sunburst": {"node", "nodes"}, "sankey": {"node", "nodes"}, "graph": {"node", "nodes"},
	"themeRiver": {"value", "values"}, "custom": {"item", "items"},
}

// describeForeign is a sentence with the numbers.
func describeForeign(b echarts.Built) string {
	title := "Chart"
	if b.Title != "" {
		title = fmt.Sprintf("Chart %q", b.Title)
	}
	var parts []string
	for i := range b.Series {
		parts = append(parts, describeSeries(&b.Series[i]))
	}
	if len(parts) == 0 {
		return title + " without series."
	}
	said := title + ": " + strings.Join(parts, "; ") + "."
	if n := len(b.Functions); n > 0 {
		said += fmt.Sprintf(" It brings %s (%s) along, which %s in a trusted notebook only.", count(n, "function", "functions"),
			shorten(listing(b.Functions), maxText), pick(n == 1, "runs", "run"))
	}
	return said
}

func describeSeries(s *echarts.SeriesFacts) string {
	said := s.Type
	if s.Name != "" {
		said += fmt.Sprintf(" %q", s.Name)
	}
	items, known := itemsOf[s.Type]
	if !known {
		items = [2]string{"point", "points"}
	}
	said += " with " + count(s.Points, items[0], items[1])
	if s.Links > 0 {
		said += " and " + count(s.Links, "link", "links")
	}
	switch {
	case len(s.Says) > 0:
		said += ": " + strings.Join(s.Says, ", ")
	case s.HasValues:
		said += fmt.Sprintf(" from %s to %s", number(s.Low), number(s.High))
	}
	return said
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
	own := map[string]any{"v": e.V, "id": e.ID, "h": e.H, "alt": e.Alt, "option": e.Option}
	if e.Full {
		own["full"] = true
	}
	if e.Functions {
		own["functions"] = true
	}
	bundle[MIMEECharts] = own
	return bundle
}

// MIMEMetadata is the metadata that goes with MIMEBundle.
func (f *Foreign) MIMEMetadata() map[string]any { return f.picture.MIMEMetadata() }

// Warm prepares the drawing of curves, which takes a moment at the first one. It is meant for a
// goroutine that runs while the reader still reads.
func Warm() { echarts.Warm() }
