package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// What build/build.mjs wrote is what is here, licences included.
func TestBuiltFilesMatchTheirChecksums(t *testing.T) {
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS: %q is not \"sum  name\"", line)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: sha256 is %s, SHA256SUMS has %s (rebuild with build/build.mjs, never edit)", name, got, want)
		}
		listed[name] = true
	}
	licences, _ := filepath.Glob("licenses/*")
	for _, name := range append(licences, "echarts.js", "echarts-full.js") {
		if !listed[filepath.ToSlash(name)] {
			t.Errorf("%s is not in SHA256SUMS", name)
		}
	}
}

// The same file draws in goja, without a document and without the network.
func TestEChartsDrawsInGoja(t *testing.T) {
	vm := goja.New()
	run := func(name, source string) goja.Value {
		t.Helper()
		value, err := vm.RunScript(name, source)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	run("host", "var setTimeout = function() {}, clearTimeout = setTimeout")
	run("echarts.js", ECharts())
	svg := run("draw", `
		var chart = kafkalabECharts.init(null, null, {renderer: "svg", ssr: true, width: 640, height: 320});
		chart.setOption({animation: false, xAxis: {type: "value"}, yAxis: {type: "value"},
			series: [{type: "line", step: "end", data: [[0, 0], [10, 3]], markArea: {data: [[{xAxis: 2}, {xAxis: 4}]]}}]});
		chart.renderToSVGString()`).String()
	if !strings.HasPrefix(svg, "<svg") || strings.Count(svg, "<path") < 5 {
		t.Errorf("a line chart of two points came out as %q", svg)
	}
	for _, kind := range []string{"bar", "scatter", "heatmap", "graph", "custom"} {
		run(kind, `chart.setOption({animation: false, visualMap: {show: false, min: 0, max: 1}, legend: {}, title: {text: "t"},
			tooltip: {}, xAxis: {type: "category", data: ["a"]}, yAxis: {type: "category", data: ["b"]},
			series: [{type: "`+kind+`", data: "`+kind+`" == "graph" ? [{name: "a", x: 1, y: 1}] : [[0, 0, 1]],
				renderItem: function() { return {type: "rect", shape: {x: 1, y: 1, width: 2, height: 2}}; }}]}, true);
			chart.renderToSVGString()`)
	}
}
