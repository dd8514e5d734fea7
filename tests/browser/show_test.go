package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	gocharts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"kafkalab/charts"
	"kafkalab/charts/echarts/echartstest"
	"kafkalab/install/notebook"
)

// shown is one chart of each type of go-echarts, and what a script checks it against.
func shown() (all []*charts.Foreign, expected []any) {
	for _, s := range echartstest.Samples() {
		f := charts.Show(s.Chart)
		all = append(all, f)
		expected = append(expected, map[string]any{"name": s.Name, "kind": "echarts", "h": f.Envelope().H, "alt": f.String(), "says": s.Says, "code": s.Code, "full": s.Full})
	}
	return all, expected
}

// Every type of go-echarts that ECharts draws alone is drawn in an exported page from disk with the network off; a
// chart that needs code of its own is its picture there, and all are without JavaScript.
func TestEveryTypeOfGoEChartsIsDrawnInAPage(t *testing.T) {
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	all, expected := shown()
	for i, f := range all {
		nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Code, ID: fmt.Sprint("c", i), Source: "charts.Show(chart)",
			Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: f.MIMEBundle(), Metadata: f.MIMEMetadata()}}})
	}
	page, err := notebook.Export(nb, notebook.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "show.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	script(t, "show", map[string]any{"page": fileURL(path), "charts": expected})
}

// In JupyterLab each type is live in a notebook whose cells were run, functions included; in one that somebody sent, no
// function of a chart runs, and its picture shows.
func TestLabDrawsEveryTypeOfGoECharts(t *testing.T) {
	all, expected := shown()
	var cells []*notebook.Cell
	for _, f := range all {
		data, err := json.Marshal(f.MIMEBundle())
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(string(data))
		cells = append(cells, &notebook.Cell{Type: notebook.Code, Source: "import json\nfrom IPython.display import display\ndisplay(json.loads(" + string(quoted) + "), raw=True)"})
	}
	hostile := gocharts.NewCustom()
	hostile.AddSeries("x", []opts.CustomData{{Value: []any{1, 2}}}, gocharts.WithCustomChartOpts(opts.CustomChart{RenderItem: opts.FuncOpts(
		`function (params, api) { (globalThis.ran = globalThis.ran || []).push("function"); return { type: "rect", shape: { x: 80, y: 80, width: 40, height: 40 } }; }`)}))
	sent := charts.Show(hostile)
	s := startLab(t, func(s *server) {
		s.extension(t)
		s.put(t, "show.ipynb", pythonNotebook(cells...))
		s.put(t, "sent.ipynb", pythonNotebook(&notebook.Cell{Type: notebook.Code, ExecutionCount: 1, Source: "# sent",
			Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: sent.MIMEBundle()}}}))
	})
	script(t, "lab-show", s.config(map[string]any{"charts": expected, "sent": sent.String()}))
}
