package echarts

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"kafkalab/charts/svg"
)

const curve = `{"title":"High <watermark>","xLabel":"virtual time, ms","yLabel":"offset","step":true,"xMin":0,"xMax":120,
	"panels":[{"label":"","yMin":0,"yMax":0}],
	"series":[{"name":"orders-0","panel":0,"colour":0,"line":"solid","points":[[0,0],[12,1],[120,9]]},
		{"name":"orders-1","panel":0,"colour":1,"line":"dashed","points":[[0,0],[14,2],[120,11]]}],
	"bands":[{"from":40,"to":80,"label":"no leader","panel":-1,"tone":"alarm","row":0}],
	"marks":[{"x":40,"label":"broker 1 crashes","tone":"alarm","row":0}]}`

func TestACurveIsDrawnWithEverythingThatItSays(t *testing.T) {
	text, err := Curve(curve, 820, 300, "a & b")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<title>a &amp; b</title>`, "High &lt;watermark&gt;", "virtual time, ms", "orders-0", "orders-1", "no leader", "broker 1 crashes", "#0072B2", "stroke-dasharray", `width="820" height="300"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	for _, unwanted := range []string{"<style", "zr0", "zr1", "class=", "<watermark>"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is in the picture", unwanted)
		}
	}
	if err := wellFormed(text); err != nil {
		t.Error(err)
	}
	if _, err := svg.PNG(text, 1); err != nil {
		t.Error(err)
	}
}

func wellFormed(text string) error {
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestTheSameChartIsTheSameBytes, whatever was drawn in between and by how many goroutines.
func TestTheSameChartIsTheSameBytes(t *testing.T) {
	first, err := Curve(curve, 820, 300, "x")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if i%2 == 0 {
				if _, err := Option(`{"xAxis":{"data":["a"]},"yAxis":{},"series":[{"type":"bar","data":[1]}]}`, 300, 200, ""); err != nil {
					t.Error(err)
				}
				return
			}
			if again, err := Curve(curve, 820, 300, "x"); err != nil || again != first {
				t.Errorf("differs: %v", err)
			}
		})
	}
	group.Wait()
}

func TestWhatIsNotAnOptionIsAnErrorAndHarmsNothing(t *testing.T) {
	for _, text := range []string{"", "{", "null", "7", `{"series":[{"type":"line","data":[1]}]}`, `{"series":{"type":"nonsense"}}`} {
		if _, err := Option(text, 300, 200, ""); err != nil && !strings.HasPrefix(err.Error(), "echarts: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Curve(curve, 820, 300, ""); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestEveryKindOfSeriesIsDrawn draws each kind that Build lets through, and checks that it leaves marks.
func TestEveryKindOfSeriesIsDrawn(t *testing.T) {
	line := charts.NewLine()
	line.SetXAxis([]string{"a", "b"}).AddSeries("l", []opts.LineData{{Value: 1}, {Value: 3}})
	bar := charts.NewBar()
	bar.SetXAxis([]string{"a", "b"}).AddSeries("b", []opts.BarData{{Value: 1}, {Value: 3}})
	scatter := charts.NewScatter()
	scatter.SetXAxis([]string{"a", "b"}).AddSeries("s", []opts.ScatterData{{Value: 1}, {Value: 3}})
	heat := charts.NewHeatMap()
	heat.SetGlobalOptions(charts.WithVisualMapOpts(opts.VisualMap{Min: 0, Max: 3}), charts.WithXAxisOpts(opts.XAxis{Type: "category"}), charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: []string{"y"}}))
	heat.SetXAxis([]string{"a", "b"}).AddSeries("h", []opts.HeatMapData{{Value: []any{0, 0, 1}}, {Value: []any{1, 0, 3}}})
	graph := charts.NewGraph()
	graph.AddSeries("g", []opts.GraphNode{{Name: "n", X: 10, Y: 10}, {Name: "m", X: 50, Y: 20}}, []opts.GraphLink{{Source: "n", Target: "m"}},
		charts.WithGraphChartOpts(opts.GraphChart{Layout: "none"}))
	for _, chart := range []Chart{line, bar, scatter, heat, graph} {
		built, err := Build(chart)
		if err != nil {
			t.Errorf("%T: %v", chart, err)
			continue
		}
		text, err := Option(built.Option, 600, built.Height, "")
		if err != nil {
			t.Errorf("%T: %v", chart, err)
			continue
		}
		empty, err := Option(strings.Replace(built.Option, `"data":[{`, `"data":[],"x":[{`, 1), 600, built.Height, "")
		if err != nil || len(text) <= len(empty)+50 {
			t.Errorf("%T: %d bytes with data, %d without, %v", chart, len(text), len(empty), err)
		}
		if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
			picture, err := svg.PNG(text, 2)
			if err != nil {
				t.Error(err)
			}
			os.WriteFile(fmt.Sprintf("%s/%T.png", dir, chart), picture, 0o644)
		}
	}
}

func BenchmarkCurve(b *testing.B) {
	Warm()
	for b.Loop() {
		if _, err := Curve(curve, 820, 300, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWarm is what the first curve of a process pays once.
func BenchmarkWarm(b *testing.B) {
	for b.Loop() {
		if _, err := newEngine(); err != nil {
			b.Fatal(err)
		}
	}
}
