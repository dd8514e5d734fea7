package echarts

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"kafkalab/charts/echarts/echartstest"
	"kafkalab/charts/svg"
)

// TestEveryTypeOfGoEChartsIsDrawn draws each type that ECharts draws alone: its texts stand in the picture, and its
// data leave marks there.
func TestEveryTypeOfGoEChartsIsDrawn(t *testing.T) {
	for _, sample := range echartstest.Samples() {
		t.Run(sample.Name, func(t *testing.T) {
			built, err := Build(sample.Chart)
			if err != nil {
				t.Fatal(err)
			}
			if built.Full != sample.Full || (len(built.Functions) > 0) != sample.Code {
				t.Errorf("full %v, functions %v; want %v, %v", built.Full, built.Functions, sample.Full, sample.Code)
			}
			picture, err := Still(built, 820, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, says := range sample.Says {
				if !strings.Contains(picture, says) {
					t.Errorf("%q is not in the picture", says)
				}
			}
			bare := built
			bare.Option = strings.NewReplacer(`"data":[{`, `"data":[`+map[bool]string{true: `{"name":""}`}[sample.Name == "tree"]+`],"x":[{`, `"nodes":[{`, `"nodes":[],"x":[{`, `"data":[[`, `"data":[],"x":[[`, `"links":[{`, `"links":[],"y":[{`).Replace(built.Option)
			empty, err := Still(bare, 820, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(picture) <= len(empty)+50 {
				t.Errorf("%d bytes with data, %d without", len(picture), len(empty))
			}
			if again, err := Still(built, 820, ""); err != nil || again != picture {
				t.Errorf("the second drawing differs: %v", err)
			}
			png, err := svg.PNG(picture, 2)
			if err != nil {
				t.Fatal(err)
			}
			if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
				os.WriteFile(dir+"/show-"+sample.Name+".png", png, 0o644)
				os.WriteFile(dir+"/show-"+sample.Name+".svg", []byte(picture), 0o644)
			}
		})
	}
}

// The parts that only the full build has are drawn too, whatever type of chart asks for them.
func TestPartsOfTheFullBuildAreDrawn(t *testing.T) {
	days := []any{}
	for i := range 20 {
		days = append(days, []any{fmt.Sprintf("2026-03-%02d", i+1), i})
	}
	categories := map[string]any{"type": "category", "data": []any{"a", "b", "c"}}
	line := func(more map[string]any) []any {
		s := map[string]any{"type": "line", "data": []any{1, 3, 2}}
		maps.Copy(s, more)
		return []any{s}
	}
	for name, c := range map[string]struct {
		option option
		says   string // in the picture
	}{
		"a slider":  {option{"xAxis": categories, "yAxis": map[string]any{}, "dataZoom": []any{map[string]any{"type": "slider"}}, "series": line(nil)}, "c"},
		"a point":   {option{"xAxis": categories, "yAxis": map[string]any{}, "series": line(map[string]any{"markPoint": map[string]any{"data": []any{map[string]any{"type": "max", "name": "max"}}}})}, ">3<"},
		"a toolbox": {option{"xAxis": categories, "yAxis": map[string]any{}, "toolbox": map[string]any{"feature": map[string]any{"saveAsImage": map[string]any{}}}, "series": line(nil)}, "b"},
		"polar": {option{"polar": map[string]any{}, "angleAxis": categories, "radiusAxis": map[string]any{},
			"series": []any{map[string]any{"type": "bar", "coordinateSystem": "polar", "data": []any{1, 2, 3}}}}, "a"},
		"a calendar": {option{"calendar": []any{map[string]any{"range": "2026-03"}}, "visualMap": map[string]any{"min": 0, "max": 20},
			"series": []any{map[string]any{"type": "heatmap", "coordinateSystem": "calendar", "data": days}}}, "Mar"},
		"a graphic": {option{"graphic": []any{map[string]any{"type": "text", "left": 40, "top": 40, "style": map[string]any{"text": "note well"}}}, "series": []any{map[string]any{"type": "pie", "data": []any{1, 2}}}}, "note well"},
		"a dataset": {option{"dataset": map[string]any{"source": []any{[]any{"x", "y"}, []any{"left", 4}, []any{"right", 9}}}, "series": []any{map[string]any{"type": "pie"}}}, "right"},
	} {
		built, err := Build(c.option)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		picture, err := Still(built, 820, "")
		if err != nil || !built.Full || !strings.Contains(picture, c.says) || strings.Count(picture, "<path") < 2 {
			t.Errorf("%s: full %v, %v; want %q in\n%s", name, built.Full, err, c.says, picture)
		}
	}
}

// option is what a chart of go-echarts makes, written by hand.
type option map[string]any

func (option) Validate()              {}
func (o option) JSON() map[string]any { return o }

// Whatever an option holds, drawing it ends, and the next chart is drawn as ever.
func FuzzStill(f *testing.F) {
	for _, sample := range echartstest.Samples() {
		if built, err := Build(sample.Chart); err == nil && !sample.Code {
			f.Add(built.Option)
		}
	}
	for _, text := range []string{`{"series":{"type":"pie","data":null}}`, `{"series":[{"type":"tree","data":[]}]}`, `{"__proto__":{"type":"x"}}`, `{"xAxis":{"min":-1e300,"interval":1e-9},"yAxis":{},"series":[{"type":"line","data":[1e308,-1e308]}]}`} {
		f.Add(text)
	}
	before, err := Curve(curve, 820, 300, "x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, full := range []bool{false, true} {
			_, err := Still(Built{Option: text, Height: 200, Full: full}, 300, "")
			if err != nil && !strings.HasPrefix(err.Error(), "echarts: ") {
				t.Errorf("full %v: %v", full, err)
			}
		}
		if after, err := Curve(curve, 820, 300, "x"); err != nil || after != before {
			t.Errorf("a curve is drawn otherwise afterwards: %v", err)
		}
	})
}
