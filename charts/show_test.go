package charts

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	gocharts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
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

func TestShowRefusesWhatItCannotDraw(t *testing.T) {
	pie := gocharts.NewPie()
	pie.AddSeries("share", []opts.PieData{{Name: "a", Value: 1}})
	withFunction := gocharts.NewLine()
	withFunction.SetGlobalOptions(gocharts.WithTooltipOpts(opts.Tooltip{Formatter: opts.FuncOpts("function(p) { return p.name }")}))
	withFunction.SetXAxis([]string{"a"}).AddSeries("x", []opts.LineData{{Value: 1}})
	withToolbox := gocharts.NewLine()
	withToolbox.SetGlobalOptions(gocharts.WithToolboxOpts(opts.Toolbox{Left: "20%"}))
	withToolbox.SetXAxis([]string{"a"}).AddSeries("x", []opts.LineData{{Value: 1}})
	var none *gocharts.Line
	for want, show := range map[string]func(){
		`series of type "pie"`:       func() { Show(pie) },
		"a JavaScript function":      func() { Show(withFunction) },
		`"toolbox" is not`:           func() { Show(withToolbox) },
		"there is no chart (the":     func() { Show(none) },
		"the argument is nil); give": func() { Show(nil) },
	} {
		if got := usage(show); !strings.HasPrefix(got, "charts.Show: ") || !strings.Contains(got, want) {
			t.Errorf("refused with %q, want %q in it", got, want)
		}
	}
}
