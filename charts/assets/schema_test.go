package assets

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// reader is the browser's own check, run here without a browser: no document is needed to refuse a chart.
type reader struct {
	t  *testing.T
	vm *goja.Runtime
}

func newReader(t *testing.T) reader {
	vm := goja.New()
	if _, err := vm.RunScript("charts.js", Script()); err != nil {
		t.Fatal(err)
	}
	return reader{t, vm}
}

// read gives the checked copy as JSON, or the refusal.
func (r reader) read(envelope string) (copied, refused string) {
	r.t.Helper()
	r.vm.Set("given", envelope)
	v, err := r.vm.RunString(`(() => {
		try { return "+" + JSON.stringify(kafkalabCharts.readChart(JSON.parse(given))) }
		catch (err) { if (!(err instanceof kafkalabCharts.Refused)) throw err; return "-" + err.message }
	})()`)
	if err != nil {
		r.t.Fatalf("%s\n%v", envelope, err)
	}
	if s := v.String(); s[0] == '+' {
		return s[1:], ""
	}
	return "", v.String()[1:]
}

func samples(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, _ := filepath.Glob("../testdata/specs/*.json")
	if len(paths) < 5 {
		t.Fatalf("found %d sample charts in ../testdata/specs", len(paths))
	}
	all := map[string]map[string]any{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = v
	}
	return all
}

func TestEverySampleChartIsTaken(t *testing.T) {
	r := newReader(t)
	for name, sample := range samples(t) {
		data, _ := json.Marshal(sample)
		copied, refused := r.read(string(data))
		if refused != "" {
			t.Errorf("%s: %s", name, refused)
			continue
		}
		var got, spec map[string]any
		json.Unmarshal([]byte(copied), &got)
		json.Unmarshal([]byte(sample["spec"].(string)), &spec)
		for key, want := range spec {
			if fmt.Sprint(got["spec"].(map[string]any)[key]) != fmt.Sprint(want) && key != "frames" && key != "shapes" {
				t.Errorf("%s: %s came out as %v, want %v", name, key, got["spec"].(map[string]any)[key], want)
			}
		}
	}
}

// change is one way of spoiling a good chart: the value at a path is replaced, or deleted when it is nil.
type change struct {
	path  string
	value any
}

func (c change) apply(v map[string]any) {
	keys := strings.Split(c.path, "/")
	var at any = v
	for i, key := range keys {
		last := i == len(keys)-1
		switch in := at.(type) {
		case map[string]any:
			if last && c.value == nil {
				delete(in, key)
			} else if last {
				in[key] = c.value
			}
			at = in[key]
		case []any:
			var n int
			fmt.Sscan(key, &n)
			if last {
				in[n] = c.value
			}
			at = in[n]
		default:
			panic(c.path)
		}
	}
}

func TestWhatTheSchemaDoesNotNameIsRefused(t *testing.T) {
	script := `<img src=x onerror=alert(1)>`
	cases := map[string][]change{
		"curve-high-watermark": {
			{"v", 2}, {"v", "1"}, {"kind", "pie"}, {"kind", "constructor"}, {"kind", "__proto__"}, {"id", "a b"}, {"id", script},
			{"h", 1e9}, {"h", "320px"}, {"alt", nil}, {"alt", map[string]any{}}, {"alt", strings.Repeat("x", 2001)}, {"extra", 1},
			{"__proto__", map[string]any{"v": 1}}, {"constructor", 1}, {"toString", 1}, {"spec", map[string]any{}}, {"spec", "{"}, {"spec", "null"}, {"spec", "[]"},
			{"spec.formatter", "function(){}"}, {"spec.tooltip", map[string]any{"formatter": script}}, {"spec.__proto__", map[string]any{"title": "x"}},
			{"spec.title", nil}, {"spec.title", 7}, {"spec.title", []any{"x"}}, {"spec.title", map[string]any{"toString": "x"}}, {"spec.title", strings.Repeat("x", 301)},
			{"spec.xMin", "0"}, {"spec.xMax", -1}, {"spec.xMax", 1e300}, {"spec.step", 1}, {"spec.panels", []any{}}, {"spec.panels", map[string]any{"length": 1}},
			{"spec.panels/0/link", "javascript:alert(1)"}, {"spec.series/0/panel", 1}, {"spec.series/0/panel", -1}, {"spec.series/0/panel", 0.5},
			{"spec.series/0/colour", 6}, {"spec.series/0/colour", "red"}, {"spec.series/0/line", "wavy"}, {"spec.series/0/line", "toString"},
			{"spec.series/0/points/0", []any{0, 1, 2}}, {"spec.series/0/points/0", []any{"0", 1}}, {"spec.series/0/points/1", []any{-5, 1}},
			{"spec.series/0/symbol", "image://http://example.org/x.png"}, {"spec.bands/0/tone", "url(http://example.org)"}, {"spec.bands/0/panel", 3},
			{"spec.bands/0/to", 0}, {"spec.marks/0/row", -1}, {"spec.marks/0/label", nil}, {"spec.refs", []any{map[string]any{"panel": 9, "y": 1, "label": ""}}},
		},
		"replay": {
			{"kind", "cluster"}, {"kind", "curve"}, {"spec.width", 0}, {"spec.width", 1e6}, {"spec.columns", 0}, {"spec.cells", 65}, {"spec.keys", "x"}, {"spec.brokers", []any{"1"}},
			{"spec.replicas/0/p", 2}, {"spec.replicas/0/b", 3}, {"spec.replicas/0/row", 3}, {"spec.frames", []any{}}, {"spec.frames/0/t", nil}, {"spec.frames/0/words", script},
			{"spec.frames/0/html", script}, {"spec.frames/0/brokers/0/state", "melted"}, {"spec.frames/0/brokers/0/b", 3}, {"spec.frames/0/partitions/0/p", 2},
			{"spec.frames/0/logs/0/r", 4}, {"spec.frames/0/logs/0/role", "king"}, {"spec.frames/0/logs/0/end", -1}, {"spec.frames/0/logs/0/end", 1.5},
			{"spec.frames/2/logs/0/add/0", []any{0, 3, 0, 0}}, {"spec.frames/2/logs/0/add/0", []any{0, 0, 0, 3}}, {"spec.frames/2/logs/0/add/0", []any{0, 0, 0}},
			{"spec.frames/3/marks/0", []any{2, 0, 3, 0, 1}}, {"spec.frames/0/clients", []any{1}},
			{"spec.controllers", []any{3001}}, {"spec.wire", []any{map[string]any{"from": "a", "to": "b", "text": "c", "when": "d", "state": "melted"}}}, {"spec.frames/0/event", "yes"},
		},
		"drawing": {
			{"kind", "replay"}, {"spec.width", 0}, {"spec.shapes", map[string]any{}}, {"spec.shapes/0/k", "foreignObject"}, {"spec.shapes/0/k", "constructor"}, {"spec.shapes/0/f", "url(#x)"},
			{"spec.shapes/0/f", "red"}, {"spec.shapes/0/s", script}, {"spec.shapes/0/x", "1"}, {"spec.shapes/0/x", 1e9}, {"spec.shapes/0/sz", 0}, {"spec.shapes/0/sz", 1000},
			{"spec.shapes/0/t", []any{script}}, {"spec.shapes/0/tip", strings.Repeat("x", 301)}, {"spec.shapes/0/href", "javascript:alert(1)"}, {"spec.shapes/0/style", "x"},
			{"spec.shapes/0/onclick", script}, {"spec.shapes/0/d", "1 1"}, {"spec.shapes/0/a", "start"}, {"spec.shapes/0/z", -1}, {"spec.shapes/0/key", 512}, {"spec.shapes/0/as", "king"},
			{"spec.frames", []any{}}, {"spec.frames/0/add/0", 20000}, {"spec.frames/0/add/0", -1}, {"spec.frames/0/add/0", "0"}, {"spec.frames/1/t", -1}, {"spec.frames/0/html", script},
		},
	}
	r := newReader(t)
	for name, changes := range cases {
		for _, c := range changes {
			sample := samples(t)[name]
			if path, inSpec := strings.CutPrefix(c.path, "spec."); inSpec {
				var spec map[string]any
				json.Unmarshal([]byte(sample["spec"].(string)), &spec)
				change{path, c.value}.apply(spec)
				data, _ := json.Marshal(spec)
				sample["spec"] = string(data)
			} else {
				c.apply(sample)
			}
			data, _ := json.Marshal(sample)
			if copied, refused := r.read(string(data)); refused == "" {
				t.Errorf("%s with %s = %v was taken: %.200s", name, c.path, c.value, copied)
			}
		}
	}
}

func TestTheEnvelopeItselfMayBeAnything(t *testing.T) {
	r := newReader(t)
	for _, given := range []string{"null", "1", `"x"`, "[]", "{}", "true", `{"__proto__":{"v":1}}`} {
		if _, refused := r.read(given); refused == "" {
			t.Errorf("%s was taken", given)
		}
	}
}

// The replay's frames fold into whole pictures: the story of the sample, moment by moment.
func TestFramesFoldIntoPictures(t *testing.T) {
	r := newReader(t)
	data, _ := json.Marshal(samples(t)["replay"])
	r.vm.Set("given", string(data))
	v, err := r.vm.RunString(`
		const spec = kafkalabCharts.readChart(JSON.parse(given)).spec;
		kafkalabCharts.statesOf(spec).map((s) => [s.t, s.brokers[0], s.partitions[0].leader,
			s.logs[0].cells.map((c) => c[0] + ":" + c[3]).join(","), s.logs[0].gone.length, s.logs[1].cells.length, s.clients[0]].join(" ")).join("\n")`)
	if err != nil {
		t.Fatal(err)
	}
	want := `0 up 1  0 0 producer checkout, acks=1: nothing sent
5 up 1  0 0 producer checkout, acks=1: 3 sent, 3 waiting
6 up 1 0:0,1:0,2:0 0 0 producer checkout, acks=1: 3 sent, 3 waiting
7 up 1 0:1,1:1,2:1 0 0 producer checkout, acks=1: 3 sent, 3 acknowledged
8 up 1 0:1,1:1,2:1 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged
9 up 1 0:1,1:1,2:1 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged
12 down 1 0:1,1:1,2:1 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged
20 down 2 0:1,1:1,2:2 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged, 1 of them lost
30 up 2 0:1,1:1,2:2 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged, 1 of them lost
32 up 2 0:1,1:1 1 2 producer checkout, acks=1: 3 sent, 3 acknowledged, 1 of them lost
40 up 2 0:1,1:1 0 2 producer checkout, acks=1: 3 sent, 3 acknowledged, 1 of them lost`
	if got := v.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
