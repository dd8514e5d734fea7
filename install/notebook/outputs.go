package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kafkalab/charts"
)

const (
	chartMIME   = "application/vnd.kafkalab.chart+json"
	foreignMIME = "application/vnd.kafkalab.echarts+json" // a learner's own ECharts option
	pngMIME     = "image/png"
)

var (
	base64Shape = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)
	spaces      = strings.NewReplacer("\n", "", "\r", "", " ", "", "\t", "")
)

// pictureTypes are shown by <img>, which runs no script, in order of preference.
var pictureTypes = []string{pngMIME, "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}

// dataURL makes the address of a picture from its base64 text, or says no.
func dataURL(mime, data string) (string, bool) {
	data = spaces.Replace(data)
	for _, known := range pictureTypes {
		if mime == known && base64Shape.MatchString(data) {
			return "data:" + mime + ";base64," + data, true
		}
	}
	return "", false
}

// pictureOf finds the best picture of a MIME bundle.
func pictureOf(bundle map[string]any) (string, bool) {
	for _, mime := range pictureTypes {
		text, ok := bundle[mime].(string)
		if !ok {
			continue
		}
		if mime == "image/svg+xml" && !base64Shape.MatchString(spaces.Replace(text)) {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		if address, ok := dataURL(mime, text); ok {
			return address, true
		}
	}
	return "", false
}

func (p *page) output(o Output) error {
	switch o.Type {
	case Stream:
		class := ""
		if o.Name == "stderr" {
			class = ` class="stderr"`
		}
		p.write("<pre" + class + ">" + ansiHTML(o.Text) + "</pre>\n")
	case Error:
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.EName + ": " + o.EValue
		}
		p.write(`<pre class="failure">` + ansiHTML(text) + "</pre>\n")
	case DisplayData, ExecuteResult:
		return p.bundle(o)
	}
	return nil
}

// bundle shows the richest part of a MIME bundle that needs neither trust nor the network.
func (p *page) bundle(o Output) error {
	text := func(mime string) (string, bool) { s, ok := o.Data[mime].(string); return s, ok }
	if chart, ok := o.Data[chartMIME].(map[string]any); ok {
		return p.chart(chart, chart["kind"] == "curve", "chart", o)
	}
	if option, ok := o.Data[foreignMIME].(map[string]any); ok {
		if address, ok := pictureOf(o.Data); ok && option["functions"] == true {
			p.write(imageTag(address, altOf(o), o.Metadata) + "\n")
			p.write(`<p class="note">This chart brings JavaScript functions along, which a page does not run: here is its picture.</p>` + "\n")
			return nil
		}
		p.full = p.full || option["full"] == true
		return p.chart(option, true, "chart foreign", o)
	}
	if address, ok := pictureOf(o.Data); ok {
		p.write(imageTag(address, altOf(o), o.Metadata) + "\n")
		return nil
	}
	if s, ok := text("text/html"); ok {
		p.write("<div>" + sanitize(s) + "</div>\n")
		return nil
	}
	if s, ok := text("text/markdown"); ok {
		rendered, err := p.prose.render(s, nil)
		p.write(`<div class="md">` + rendered + "</div>\n")
		return err
	}
	for _, mime := range []string{"text/plain", "text/latex"} {
		if s, ok := text(mime); ok {
			p.write("<pre>" + ansiHTML(s) + "</pre>\n")
			return nil
		}
	}
	if v, ok := o.Data["application/json"]; ok {
		var w writer
		w.value(v, 0)
		p.write("<pre>" + escapeText(w.String()) + "</pre>\n")
		return w.err
	}
	p.write(`<p class="note">This output has no form that a page without the network can show.</p>` + "\n")
	return nil
}

// chart writes a chart as its PNG with the data beside it; the page's script draws over it. An option of the
// learner's own may be drawn too: it is data, the policy lets no script in that it could name, and its tooltips
// are drawn as text (page.js).
func (p *page) chart(chart map[string]any, curve bool, class string, o Output) error {
	data, err := json.Marshal(chart) // it escapes <, > and &: no "</script" can come out
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	p.charts = true
	p.curves = p.curves || curve
	height := ""
	if h, ok := number(chart["h"]); ok && h >= 1 && h <= 20000 {
		height = fmt.Sprintf(` style="min-height:%gpx"`, h)
	}
	p.write(`<div class="` + class + `"` + height + ">")
	if still, ok := stillOf(data, o); ok {
		p.write(imageTag(still, altOf(o), nil))
	} else if png, ok := o.Data[pngMIME].(string); ok {
		if address, ok := dataURL(pngMIME, png); ok {
			p.write(imageTag(address, altOf(o), o.Metadata))
		}
	}
	p.write(`<script type="application/json">` + string(data) + "</script></div>\n")
	return nil
}

// stillOf draws a chart's still picture anew, as SVG: sharp on paper, and smaller than its PNG. What is no chart of
// our schema keeps the PNG.
func stillOf(chart []byte, o Output) (string, bool) {
	text, err := charts.Still(chart)
	if err != nil || text == "" {
		return "", false
	}
	address := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(text))
	png, _ := o.Data[pngMIME].(string)
	return address, png == "" || len(address) < len(png)
}

func altOf(o Output) string {
	if s, ok := o.Metadata["vscode_altText"].(string); ok {
		return s
	}
	s, _ := o.Data["text/plain"].(string)
	return s
}

func imageTag(address, alt string, metadata map[string]any) string {
	sizes := ""
	if m, ok := metadata[pngMIME].(map[string]any); ok {
		for _, side := range []string{"width", "height"} {
			if n, ok := number(m[side]); ok && n >= 1 && n <= 20000 {
				sizes += fmt.Sprintf(` %s="%d"`, side, int(n))
			}
		}
	}
	return `<img alt="` + escapeText(alt) + `"` + sizes + ` src="` + address + `">`
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		return f, err == nil
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
