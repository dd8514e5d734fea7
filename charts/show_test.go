package charts

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	gocharts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/event"
	"github.com/go-echarts/go-echarts/v2/opts"

	"kafkalab/charts/echarts/echartstest"
)

func barChart() *gocharts.Bar {
	bar := gocharts.NewBar()
	bar.SetGlobalOptions(gocharts.WithTitleOpts(opts.Title{Title: "Records </script><b>"}), gocharts.WithInitializationOpts(opts.Initialization{Height: "300px"}))
	bar.SetXAxis([]string{"P0", "P1", "P2"}).
		AddSeries("written", []opts.BarData{{Value: 5}, {Value: 2}, {Value: 0}}).
		AddSeries("read", []opts.BarData{{Value: 4}, {Value: 1}, {Value: 0}})
	return bar
}

func TestShowDrawsALearnersOwnChart(t *testing.T) {
	f := Show(barChart())
	want := `Chart "Records </script><b>": bar "written" with 3 points from 0 to 5; bar "read" with 3 points from 0 to 4.`
	if f.String() != want {
		t.Errorf("alt %q, want %q", f, want)
	}
	bundle := f.MIMEBundle()
	data, err := json.Marshal(bundle[MIMEECharts])
	if err != nil {
		t.Fatal(err)
	}
	var e ForeignEnvelope
	if err := strict(data, &e); err != nil || e != f.Envelope() || e.H != 300 {
		t.Errorf("envelope %+v, %v", e, err)
	}
	if strings.Contains(e.Option, "</script>") {
		t.Error("the option could end a script element")
	}
	if _, ok := bundle["image/png"].(string); !ok {
		t.Errorf("no PNG: %v", bundle["text/plain"])
	}
	for _, label := range []string{"P0", "P2", "written", "#0072B2"} {
		if !strings.Contains(f.SVG(), label) {
			t.Errorf("%q is not in the picture", label)
		}
	}
	if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
		png, _ := f.PNG()
		os.WriteFile(dir+"/show.png", png, 0o644)
	}
}

// Show refuses by name what ECharts does not draw alone, and says what it would need.
func TestShowRefusesWhatItCannotDraw(t *testing.T) {
	var none *gocharts.Line
	line := func(options ...gocharts.GlobalOpts) *gocharts.Line {
		l := gocharts.NewLine()
		l.SetGlobalOptions(options...)
		l.SetXAxis([]string{"a"}).AddSeries("x", []opts.LineData{{Value: 1}})
		return l
	}
	liquid, cloud, world := gocharts.NewLiquid(), gocharts.NewWordCloud(), gocharts.NewMap()
	liquid.AddSeries("l", []opts.LiquidData{{Value: 0.4}})
	cloud.AddSeries("c", []opts.WordCloudData{{Name: "w", Value: 1}})
	world.RegisterMapType("china")
	world.AddSeries("m", []opts.MapData{{Name: "x", Value: 1}})
	geo := gocharts.NewGeo()
	geo.AddSeries("g", "scatter", []opts.GeoData{{Name: "x", Value: []float64{1, 2, 3}}})
	cubes, surface, points, curve := gocharts.NewBar3D(), gocharts.NewSurface3D(), gocharts.NewScatter3D(), gocharts.NewLine3D()
	data := []opts.Chart3DData{{Value: []any{1, 2, 3}}}
	cubes.AddSeries("b", data)
	surface.AddSeries("s", data)
	points.AddSeries("p", data)
	curve.AddSeries("l", data)
	clicked, scripted, helped := line(gocharts.WithEventListeners(event.Listener{EventName: "click", Handler: opts.FuncOpts("function() {}")})), line(), line()
	scripted.AddJSFuncs("alert(1)")
	helped.AddCustomizedJSAssets("https://example.com/x.js")
	for _, c := range []struct {
		show func()
		want string
	}{
		{func() { Show(none) }, "there is no chart (the"},
		{func() { Show(nil) }, "the argument is nil); give"},
		{func() { Show(liquid) }, `"liquidFill" needs the script echarts-liquidfill`},
		{func() { Show(cloud) }, `"wordCloud" needs the script echarts-wordcloud`},
		{func() { Show(world) }, `"map" needs the outline of a map`},
		{func() { Show(geo) }, `"geo" needs the outline of a map`},
		{func() { Show(cubes) }, `"bar3D" needs the script echarts-gl`},
		{func() { Show(surface) }, `needs the script echarts-gl`},
		{func() { Show(points) }, `"scatter3D" needs the script echarts-gl`},
		{func() { Show(curve) }, `"line3D" needs the script echarts-gl`},
		{func() { Show(line(gocharts.WithInitializationOpts(opts.Initialization{Theme: "chalk"}))) }, `the theme "chalk" needs a script`},
		{func() { Show(clicked) }, "it listens to clicks"},
		{func() { Show(scripted) }, "it adds JavaScript to the page"},
		{func() { Show(helped) }, `the script "https://example.com/x.js"`},
		{func() { Show(line(gocharts.WithTitleOpts(opts.Title{Title: "__f__alert(1)__f__"}))) }, "title.text is a text between two __f__"},
		{func() { Show(raw{"timeline": []any{1}, "series": []any{map[string]any{"type": "line"}}}) }, `the part "timeline" is not in the ECharts`},
		{func() { Show(raw{"series": []any{map[string]any{"type": "lines"}}}) }, `a series of type "lines" is not in the ECharts`},
	} {
		if got := usage(c.show); !strings.HasPrefix(got, "charts.Show: ") || !strings.Contains(got, c.want) {
			t.Errorf("refused with %q, want %q in it", got, c.want)
		}
	}
}

// raw is an option that somebody wrote by hand.
type raw map[string]any

func (raw) Validate()              {}
func (r raw) JSON() map[string]any { return r }

// Each type that ECharts draws alone has its envelope, its sentence with the numbers, and its PNG.
func TestShowTellsOfEveryType(t *testing.T) {
	NumberFrom(1)
	says := map[string]string{
		"pie":        `pie "partitions" with 3 slices: "broker 1" 5, "broker 2" 3, "broker 3" 0`,
		"funnel":     `funnel "records" with 3 stages: "sent" 100, "acknowledged" 80, "read" 55`,
		"gauge":      `gauge "disk" with 1 needle: "broker 1" 62.5`,
		"radar":      `radar "acks=all" with 1 shape: "acks=all" 6/4/9`,
		"kline":      `candlestick "lag" with 3 candles from 10 to 50`,
		"boxplot":    `boxplot "ms" with 3 boxes from 1 to 15`,
		"parallel":   `parallel "broker" with 3 lines.`,
		"sankey":     `sankey "records" with 4 nodes and 3 links: "checkout → orders" 9, "orders → billing" 5, "orders → shipping" 4`,
		"tree":       `tree "cluster" with 6 nodes: "cluster"`,
		"treemap":    `treemap "disk" with 4 nodes: "orders" 60, "orders-0" 40, "orders-1" 20, "payments" 25`,
		"sunburst":   `sunburst "partitions" with 5 nodes: "broker 1", "orders-0" 3, "orders-1" 2, "broker 2", "orders-2" 4`,
		"themeRiver": `themeRiver "topics" with 12 values from 5 to 11`,
		"graph":      `graph "brokers" with 3 nodes and 2 links: "broker 1", "broker 2", "broker 3"`,
		"custom":     `It brings 1 function (series[0].renderItem) along, which runs in a trusted notebook only.`,
		"line":       `line "orders" with 3 points from 2 to 9`,
		"heatmap":    `heatmap "requests" with 6 cells from 1 to 6`,
	}
	for _, sample := range echartstest.Samples() {
		f := Show(sample.Chart)
		if !strings.Contains(f.String(), says[sample.Name]) {
			t.Errorf("%s: %q, want %q in it", sample.Name, f, says[sample.Name])
		}
		bundle := f.MIMEBundle()
		if _, ok := bundle["image/png"].(string); !ok {
			t.Errorf("%s: no PNG: %v", sample.Name, bundle["text/plain"])
		}
		own := bundle[MIMEECharts].(map[string]any)
		if _, full := own["full"]; full != sample.Full {
			t.Errorf("%s: full %v", sample.Name, full)
		}
		if _, code := own["functions"]; code != sample.Code {
			t.Errorf("%s: functions %v", sample.Name, code)
		}
	}
}

// A function runs away: the picture is given up, the sentence and the live chart stay.
func TestAFunctionThatThrowsLeavesTheSentence(t *testing.T) {
	line := gocharts.NewLine()
	line.SetGlobalOptions(gocharts.WithXAxisOpts(opts.XAxis{AxisLabel: &opts.AxisLabel{Formatter: opts.FuncOpts(`function() { throw new Error("no label") }`)}}))
	line.SetXAxis([]string{"a"}).AddSeries("x", []opts.LineData{{Value: 1}})
	f := Show(line)
	if plain := f.MIMEBundle()["text/plain"].(string); !strings.Contains(plain, "could not be drawn") || !strings.Contains(plain, "no label") || !strings.Contains(plain, "1 point from 1 to 1") {
		t.Errorf("%q", plain)
	}
	if f := Show(barChart()); f.SVG() == "" {
		t.Error("the next chart was not drawn")
	}
}
