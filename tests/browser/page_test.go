package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// attacks are texts that run something when they are taken for anything but text.
var attacks = []string{
	`<img src=x onerror="(globalThis.ran??=[]).push('img')">`,
	`</script><script>(globalThis.ran??=[]).push('script')</script>`,
	`<svg onload="(globalThis.ran??=[]).push('svg')"><a xlink:href="javascript:ran=['a']">x</a></svg>`,
	`{a|<b onmouseover="ran=['rich']">x</b>}`,
	`javascript:(globalThis.ran??=[]).push('url')`,
}

// hostileCharts fills every text of the samples with each attack, and adds what the schema must refuse.
func hostileCharts(t *testing.T) (all []sample, kinds []string) {
	t.Helper()
	add := func(name, kind string, envelope map[string]any) {
		all, kinds = append(all, sample{name, envelope}), append(kinds, kind)
	}
	for _, attack := range attacks {
		for _, s := range samples(t, "high-watermark", "replay", "quorum-cluster", "page") {
			var spec any
			json.Unmarshal([]byte(s.envelope["spec"].(string)), &spec)
			data, _ := json.Marshal(poison(spec, attack, ""))
			s.envelope["spec"], s.envelope["alt"] = string(data), attack
			add(s.name+" with "+attack, s.envelope["kind"].(string), s.envelope)
		}
	}
	for _, change := range []string{
		`"tooltip":{"formatter":"<img src=x onerror=ran=['formatter']>"}`, `"__proto__":{"title":"polluted"}`,
		`"constructor":{"prototype":{"x":1}}`, `"title":{"toString":"x"}`, `"series":[{"renderItem":"alert(1)"}]`,
		`"title":["<img src=x onerror=ran=['list']>"]`, `"xMin":"<script>"`, `"panels":"x"`,
	} {
		s := samples(t, "lag")[0]
		s.envelope["spec"] = strings.TrimSuffix(s.envelope["spec"].(string), "}") + "," + change + "}" // the last of two fields wins
		s.envelope["alt"] = attacks[0]
		add(change, "png", s.envelope)
	}
	for _, envelope := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `{"v":2}`, `{"v":1,"kind":"pie","alt":"<img src=x onerror=ran=['alt']>"}`,
		`{"__proto__":{"v":1},"alt":{"toString":1}}`} {
		var v any
		json.Unmarshal([]byte(envelope), &v)
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{"raw": v}
		}
		add(envelope, "png", m)
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same charts in every run
	for _, name := range []string{"high-watermark", "replay", "page", "messages"} {
		for i := range 12 {
			s := samples(t, name)[0]
			var spec any
			json.Unmarshal([]byte(s.envelope["spec"].(string)), &spec)
			for range 1 + i%3 {
				spec = mutate(random, spec)
			}
			data, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			s.envelope["spec"], s.envelope["alt"] = strings.ReplaceAll(string(data), `"POLLUTE"`, `"__proto__"`), attacks[i%len(attacks)]
			add(fmt.Sprintf("%s, mutation %d", name, i), "?", s.envelope) // drawn or shown as its picture, but never nothing
		}
	}
	return all, kinds
}

// mutate changes one place of a value: another type, a number out of range, markup, too much of it, a field more.
func mutate(random *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || random.IntN(6) == 0 {
			v[[]string{"POLLUTE", "constructor", "formatter", "href", "onload", "style"}[random.IntN(6)]] = odd(random)
			return v
		}
		k := keys[random.IntN(len(keys))]
		v[k] = mutate(random, v[k])
		return v
	case []any:
		if len(v) == 0 || random.IntN(5) == 0 {
			return odd(random)
		}
		i := random.IntN(len(v))
		v[i] = mutate(random, v[i])
		return v
	}
	return odd(random)
}

// odd is a value that stands wrong almost everywhere.
func odd(random *rand.Rand) any {
	switch random.IntN(9) {
	case 0:
		return nil
	case 1:
		return -1e300
	case 2:
		return map[string]any{"toString": "x", "POLLUTE": map[string]any{"polluted": true}}
	case 3:
		return strings.Repeat("x", 400)
	case 4:
		return slices.Repeat([]any{0}, 30_000)
	case 5:
		return []any{map[string]any{}, nil, "NaN"}
	case 6:
		return true
	case 7:
		return 0.5
	}
	return attacks[random.IntN(len(attacks))]
}

// poison puts the attack into every free text of a spec; words of the schema's own stay, or it would be
// refused before anything is drawn.
func poison(v any, attack, key string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = poison(item, attack, k)
		}
	case []any:
		for i, item := range v {
			v[i] = poison(item, attack, key)
		}
	case string:
		switch key {
		case "line", "tone", "state", "role", "k", "f", "s", "d", "a", "as": // words of the schema's own
			return v
		}
		return attack
	}
	return v
}

func TestHostileChartsRunNothing(t *testing.T) {
	all, kinds := hostileCharts(t)
	var page strings.Builder
	page.WriteString("<!DOCTYPE html><meta charset=utf-8><title>hostile</title>\n")
	var names []string
	for _, s := range all {
		data, err := json.Marshal(s.envelope)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, s.name)
		page.WriteString(`<div class="host"><script type="application/json">` + string(data) + "</script></div>\n")
	}
	page.WriteString("<script>" + assets.ECharts() + "</script><script>" + assets.Script() + "</script>")
	page.WriteString(`<script>for (const host of document.querySelectorAll(".host")) {
		const data = JSON.parse(host.textContent);
		const figure = kafkalabCharts.create(host.appendChild(document.createElement("div")), { loadECharts: async () => kafkalabECharts });
		figure.update("raw" in data ? data.raw : data, ` + "`" + html.EscapeString(attacks[0]) + "`" + `);
	}</script>`)
	path := filepath.Join(t.TempDir(), "hostile.html")
	if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	script(t, "hostile", map[string]any{"page": fileURL(path), "kinds": kinds, "names": names})
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
