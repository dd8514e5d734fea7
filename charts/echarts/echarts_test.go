package echarts

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

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
				if _, err := Still(Built{Option: `{"xAxis":{"data":["a"]},"yAxis":{},"series":[{"type":"bar","data":[1]}]}`, Height: 200}, 300, ""); err != nil {
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
		if _, err := Still(Built{Option: text, Height: 200}, 300, ""); err != nil && !strings.HasPrefix(err.Error(), "echarts: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Curve(curve, 820, 300, ""); err != nil {
		t.Errorf("after that: %v", err)
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
		if _, err := newEngine(small); err != nil {
			b.Fatal(err)
		}
	}
}
