package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	gocharts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"kafkalab/charts"
	"kafkalab/charts/assets"
	"kafkalab/install/notebook"
	"kafkalab/tests/worlds"
)

// golden holds charts that Go drew of real clusters, with their still pictures.
const golden = "../../charts/testdata/golden/"

// sample is one chart of them.
type sample struct {
	name     string
	envelope map[string]any
}

func samples(t *testing.T, names ...string) []sample {
	t.Helper()
	var all []sample
	for _, name := range names {
		data, err := os.ReadFile(golden + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := charts.ParseEnvelope(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{name, v})
	}
	return all
}

var everySample = []string{"cluster", "replay", "high-watermark", "isr-size", "lag", "page", "log", "messages", "quorum", "compare",
	"segments", "batches", "assignment", "transaction", "share-group", "throughput", "latency"}

// stillPNG is a picture that nobody takes for a drawn chart.
func stillPNG() string {
	img := image.NewRGBA(image.Rect(0, 0, 600, 240))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for x := range 600 {
		img.Set(x, x*240/600, color.RGBA{R: 200, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// bundle is a chart's display as charts.Picture makes it.
func (s sample) bundle() map[string]any {
	return map[string]any{charts.MIMEChart: s.envelope, "image/png": stillPNG(), "text/plain": s.envelope["alt"]}
}

// expected is what a script checks a drawn chart against.
func (s sample) expected(t *testing.T) map[string]any {
	t.Helper()
	e := map[string]any{"name": s.name, "kind": s.envelope["kind"], "h": s.envelope["h"], "alt": s.envelope["alt"]}
	var spec struct {
		Frames []struct {
			T     float64  `json:"t"`
			Words []string `json:"words,omitempty"`
			Event bool     `json:"event,omitempty"`
		} `json:"frames"`
	}
	if err := json.Unmarshal([]byte(s.envelope["spec"].(string)), &spec); err != nil {
		t.Fatal(err)
	}
	if len(spec.Frames) > 1 {
		e["frames"] = spec.Frames
	}
	return e
}

// learnersOwn is a chart of go-echarts, with markup where ECharts would take it.
func learnersOwn() *charts.Foreign {
	bar := gocharts.NewBar()
	bar.SetGlobalOptions(gocharts.WithInitializationOpts(opts.Initialization{Height: "300px"}),
		gocharts.WithTitleOpts(opts.Title{Title: "Records by partition", Link: "https://example.com/"}),
		gocharts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: types.FuncStr(attacks[0])}))
	bar.SetXAxis([]string{"orders-0", "orders-1", "orders-2"}).AddSeries("written", []opts.BarData{{Value: 5}, {Value: 2}, {Value: 3}})
	return charts.Show(bar)
}

func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// samplePage exports a notebook with every sample in it.
func samplePage(t *testing.T) (path string, expected []any) {
	t.Helper()
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Markdown, ID: "intro", Source: "# When a leader fails\n\nWhat happens to *acknowledged* records? See [Kafka](https://kafka.apache.org/).\n\n## What is at stake\n\n| acks | safe |\n|---|---|\n| 1 | no |\n\n## How to read the pictures\n\nLook.\n\n## The pictures\n"})
	for i, s := range samples(t, everySample...) {
		nb.Cells = append(nb.Cells, &notebook.Cell{
			Type: notebook.Code, ID: fmt.Sprint("c", i), ExecutionCount: i + 1, Source: "charts.Show(\"" + s.name + "\") // see below",
			Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "text \x1b[31mred\x1b[0m \x1b[32mgreen\x1b[0m\n"}, {Type: notebook.DisplayData, Data: s.bundle()}},
		})
		expected = append(expected, s.expected(t))
	}
	own := learnersOwn()
	nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Code, ID: "own", Source: "charts.Show(bar)", Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: own.MIMEBundle()}}})
	expected = append(expected, map[string]any{"name": "own", "kind": "echarts", "h": own.Envelope().H, "alt": own.Envelope().Alt})
	page, err := notebook.Export(nb, notebook.ExportOptions{Limits: "There is no bandwidth."})
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 1_200_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	path = filepath.Join(t.TempDir(), "a page.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, expected
}

func TestTheExportedPageStepsFromDiskWithTheNetworkOff(t *testing.T) {
	path, expected := samplePage(t)
	script(t, "page", map[string]any{"page": fileURL(path), "charts": expected, "shots": "page"})
}

func TestTheExportedPageIsValidAndForEverybody(t *testing.T) {
	path, _ := samplePage(t)
	script(t, "access", map[string]any{"page": fileURL(path)})
}

func TestFiveHundredUpdatesLeakNothing(t *testing.T) {
	var all []any
	for _, s := range samples(t, "replay", "high-watermark", "page") {
		all = append(all, s.envelope)
	}
	path := filepath.Join(t.TempDir(), "updates.html")
	page := "<!DOCTYPE html><meta charset=utf-8><body data-jp-theme-light=true><script>" + assets.ECharts() + "</script><script>" + assets.Script() + "</script>"
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	script(t, "updates", map[string]any{"page": fileURL(path), "charts": all})
}

// The picture that the browser draws is, shape by shape, the one that Go draws for the PNG; in its font no text lies on
// another, whatever the names are.
func TestTheLivePictureIsTheGoldenOne(t *testing.T) {
	var pictures []any
	for _, name := range []string{"cluster", "replay", "widget", "quorum-cluster", "log", "messages", "segments", "quorum", "batches", "page", "widget-steps", "assignment", "transaction", "share-group"} {
		data, err := os.ReadFile(golden + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		svg, err := os.ReadFile(golden + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		envelope, _, err := charts.ParseEnvelope(data)
		if err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, map[string]any{"name": name, "svg": string(svg), "chart": envelope})
	}
	var named []any
	for _, name := range []string{"compare", "high-watermark", "isr-size", "lag", "latency", "throughput", "assignment", "transaction", "share-group"} {
		named = append(named, map[string]any{"name": name, "chart": samples(t, name)[0].envelope})
	}
	for name, p := range worlds.LongNamed() {
		named = append(named, map[string]any{"name": name + " with long names", "chart": p.Envelope()})
	}
	path := filepath.Join(t.TempDir(), "golden.html")
	page := "<!DOCTYPE html><meta charset=utf-8><body data-jp-theme-light=true><script>" + assets.ECharts() + "</script><script>" + assets.Script() + "</script>"
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	script(t, "golden", map[string]any{"page": fileURL(path), "pictures": pictures, "named": append(named, pictures...)})
}
