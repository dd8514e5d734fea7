// Package echartstest holds one chart of each type that go-echarts has and ECharts draws alone, for the tests
// of whatever draws them.
package echartstest

import (
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Chart is what every chart of go-echarts can do.
type Chart interface {
	Validate()
	JSON() map[string]any
}

// Sample is a chart of one type.
type Sample struct {
	Name  string
	Chart Chart
	Says  []string // texts that its picture shows
	Full  bool     // our small build of ECharts cannot draw it
	Code  bool     // it brings functions of JavaScript
}

func title(text string) charts.GlobalOpts {
	return charts.WithTitleOpts(opts.Title{Title: text})
}

var brokers = []string{"broker 1", "broker 2", "broker 3"}

// Samples makes the charts, new ones in each call.
func Samples() []Sample {
	return append(axes(), append(shares(), append(webs(), code())...)...)
}

// axes are the charts with an x and a y axis.
func axes() []Sample {
	line, area, bar := charts.NewLine(), charts.NewLine(), charts.NewBar()
	line.SetGlobalOptions(title("Lag by second"))
	line.SetXAxis([]string{"1 s", "2 s", "3 s"}).AddSeries("orders", []opts.LineData{{Value: 4}, {Value: 9}, {Value: 2}})
	area.SetGlobalOptions(title("Bytes by second"))
	area.SetXAxis([]string{"1 s", "2 s", "3 s"}).AddSeries("in", []opts.LineData{{Value: 400}, {Value: 900}, {Value: 200}},
		charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(0.3)}))
	bar.SetGlobalOptions(title("Records by broker"))
	bar.SetXAxis(brokers).AddSeries("written", []opts.BarData{{Value: 5}, {Value: 2}, {Value: 3}}).
		AddSeries("read", []opts.BarData{{Value: 4}, {Value: 2}, {Value: 1}})
	scatter, effect := charts.NewScatter(), charts.NewEffectScatter()
	scatter.SetGlobalOptions(title("Batch size"))
	scatter.SetXAxis(brokers).AddSeries("batch", []opts.ScatterData{{Value: 5}, {Value: 2}, {Value: 3}})
	effect.SetGlobalOptions(title("Slow requests"))
	effect.SetXAxis(brokers).AddSeries("request", []opts.EffectScatterData{{Value: 5}, {Value: 2}, {Value: 3}})
	return []Sample{
		{Name: "line", Chart: line, Says: []string{"Lag by second", "3 s"}}, {Name: "area", Chart: area, Says: []string{"Bytes by second"}},
		{Name: "bar", Chart: bar, Says: []string{"Records by broker", "broker 2", "read"}}, {Name: "scatter", Chart: scatter, Says: []string{"Batch size", "broker 3"}},
		{Name: "effectScatter", Chart: effect, Says: []string{"Slow requests"}, Full: true}, heat(), candles(), boxes(),
	}
}

func heat() Sample {
	c := charts.NewHeatMap()
	c.SetGlobalOptions(title("Requests by hour"), charts.WithVisualMapOpts(opts.VisualMap{Min: 0, Max: 8, Calculable: opts.Bool(true)}),
		charts.WithXAxisOpts(opts.XAxis{Type: "category", Data: brokers}), charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: []string{"fetch", "produce"}}))
	var data []opts.HeatMapData
	for i := range 6 {
		data = append(data, opts.HeatMapData{Value: []any{i % 3, i / 3, i + 1}})
	}
	c.AddSeries("requests", data)
	return Sample{Name: "heatmap", Chart: c, Says: []string{"Requests by hour", "produce", "broker 3"}}
}

func candles() Sample {
	c := charts.NewKLine()
	c.SetGlobalOptions(title("Lag: first, last, lowest, highest"))
	c.SetXAxis([]string{"Mon", "Tue", "Wed"}).AddSeries("lag", []opts.KlineData{{Value: [4]int{20, 34, 10, 38}}, {Value: [4]int{40, 35, 30, 50}}, {Value: [4]int{31, 38, 33, 44}}})
	return Sample{Name: "kline", Chart: c, Says: []string{"Lag: first", "Tue"}, Full: true}
}

func boxes() Sample {
	c := charts.NewBoxPlot()
	c.SetGlobalOptions(title("Latency by acks"))
	c.SetXAxis([]string{"acks=0", "acks=1", "acks=all"}).AddSeries("ms", []opts.BoxPlotData{{Value: []float64{1, 2, 3, 4, 6}}, {Value: []float64{2, 3, 4, 6, 9}}, {Value: []float64{4, 6, 8, 11, 15}}})
	return Sample{Name: "boxplot", Chart: c, Says: []string{"Latency by acks", "acks=all"}, Full: true}
}

// shares are the round ones and those without axes.
func shares() []Sample {
	pie, funnel, gauge := charts.NewPie(), charts.NewFunnel(), charts.NewGauge()
	pie.SetGlobalOptions(title("Who leads"))
	pie.AddSeries("partitions", []opts.PieData{{Name: "broker 1", Value: 5}, {Name: "broker 2", Value: 3}, {Name: "broker 3", Value: 0}})
	funnel.SetGlobalOptions(title("From sent to read"))
	funnel.AddSeries("records", []opts.FunnelData{{Name: "sent", Value: 100}, {Name: "acknowledged", Value: 80}, {Name: "read", Value: 55}})
	gauge.SetGlobalOptions(title("Disk in use"))
	gauge.AddSeries("disk", []opts.GaugeData{{Name: "broker 1", Value: 62.5}})
	radar := charts.NewRadar()
	radar.SetGlobalOptions(title("Two settings"), charts.WithRadarComponentOpts(opts.RadarComponent{
		Indicator: []*opts.Indicator{{Name: "throughput", Max: 10}, {Name: "latency", Max: 10}, {Name: "durability", Max: 10}}}))
	radar.AddSeries("acks=1", []opts.RadarData{{Name: "acks=1", Value: []float64{9, 8, 3}}}).AddSeries("acks=all", []opts.RadarData{{Name: "acks=all", Value: []float64{6, 4, 9}}})
	parallel := charts.NewParallel()
	parallel.SetGlobalOptions(title("Brokers compared"), charts.WithParallelAxisList([]opts.ParallelAxis{{Dim: 0, Name: "leaders"}, {Dim: 1, Name: "MB/s"}, {Dim: 2, Name: "disk %"}}))
	parallel.AddSeries("broker", []opts.ParallelData{{Value: []any{3, 12.5, 60}}, {Value: []any{5, 20, 71}}, {Value: []any{1, 4.2, 33}}})
	river := charts.NewThemeRiver()
	river.SetGlobalOptions(title("Topics over days"), charts.WithSingleAxisOpts(opts.SingleAxis{Type: "time", Bottom: "10%"}))
	var flow []opts.ThemeRiverData
	for i := range 12 {
		flow = append(flow, opts.ThemeRiverData{Date: fmt.Sprintf("2026-01-%02d", 1+i/2), Value: float64(5 + i*(i%2+1)%7), Name: []string{"orders", "payments"}[i%2]})
	}
	river.AddSeries("topics", flow)
	return []Sample{
		{Name: "pie", Chart: pie, Says: []string{"Who leads", "broker 1", "broker 3"}, Full: true}, {Name: "funnel", Chart: funnel, Says: []string{"From sent to read", "acknowledged"}, Full: true},
		{Name: "gauge", Chart: gauge, Says: []string{"Disk in use", "62.5", "broker 1"}, Full: true}, {Name: "radar", Chart: radar, Says: []string{"Two settings", "durability"}, Full: true},
		{Name: "parallel", Chart: parallel, Says: []string{"Brokers compared", "MB/s"}, Full: true}, {Name: "themeRiver", Chart: river, Says: []string{"Topics over days", "payments"}, Full: true},
	}
}

// webs are trees and graphs.
func webs() []Sample {
	sankey, graph := charts.NewSankey(), charts.NewGraph()
	sankey.SetGlobalOptions(title("Where records go"))
	sankey.AddSeries("records", []opts.SankeyNode{{Name: "checkout"}, {Name: "orders"}, {Name: "billing"}, {Name: "shipping"}},
		[]opts.SankeyLink{{Source: "checkout", Target: "orders", Value: 9}, {Source: "orders", Target: "billing", Value: 5}, {Source: "orders", Target: "shipping", Value: 4}})
	graph.SetGlobalOptions(title("Who fetches from whom"))
	graph.AddSeries("brokers", []opts.GraphNode{{Name: "broker 1", SymbolSize: 30}, {Name: "broker 2", SymbolSize: 20}, {Name: "broker 3", SymbolSize: 20}},
		[]opts.GraphLink{{Source: "broker 2", Target: "broker 1"}, {Source: "broker 3", Target: "broker 1"}},
		charts.WithGraphChartOpts(opts.GraphChart{Layout: "force", Force: &opts.GraphForce{Repulsion: 800, EdgeLength: 160}}), charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right"}))
	tree, treemap, sunburst := charts.NewTree(), charts.NewTreeMap(), charts.NewSunburst()
	tree.SetGlobalOptions(title("A cluster as a tree"))
	tree.AddSeries("cluster", []opts.TreeData{{Name: "cluster", Children: []*opts.TreeData{{Name: "broker 1", Children: []*opts.TreeData{{Name: "orders-0"}, {Name: "orders-1"}}}, {Name: "broker 2", Children: []*opts.TreeData{{Name: "orders-2"}}}}}})
	treemap.SetGlobalOptions(title("Disk by topic"))
	treemap.AddSeries("disk", []opts.TreeMapNode{{Name: "orders", Value: 60, Children: []opts.TreeMapNode{{Name: "orders-0", Value: 40}, {Name: "orders-1", Value: 20}}}, {Name: "payments", Value: 25}})
	sunburst.SetGlobalOptions(title("Partitions by broker"))
	sunburst.AddSeries("partitions", []opts.SunBurstData{{Name: "broker 1", Children: []*opts.SunBurstData{{Name: "orders-0", Value: 3}, {Name: "orders-1", Value: 2}}}, {Name: "broker 2", Children: []*opts.SunBurstData{{Name: "orders-2", Value: 4}}}})
	return []Sample{
		{Name: "sankey", Chart: sankey, Says: []string{"Where records go", "shipping"}, Full: true}, {Name: "graph", Chart: graph, Says: []string{"Who fetches from whom", "broker 3"}},
		{Name: "tree", Chart: tree, Says: []string{"A cluster as a tree", "orders-2"}, Full: true}, {Name: "treemap", Chart: treemap, Says: []string{"Disk by topic", "payments"}, Full: true},
		{Name: "sunburst", Chart: sunburst, Says: []string{"Partitions by broker", "orders-0"}, Full: true},
	}
}

// code is the one type that draws nothing without a function: a Gantt chart.
func code() Sample {
	c := charts.NewCustom()
	c.SetGlobalOptions(title("Transactions"), charts.WithXAxisOpts(opts.XAxis{Type: "value"}), charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: []string{"t-1", "t-2"}}))
	c.AddSeries("transactions", []opts.CustomData{{Value: []any{1, 4, 0}}, {Value: []any{3, 9, 1}}}, charts.WithEncodeOpts(opts.Encode{X: []int{0, 1}, Y: 2}), charts.WithCustomChartOpts(opts.CustomChart{RenderItem: opts.FuncOpts(`
		function (params, api) {
			var from = api.coord([api.value(0), api.value(2)]), to = api.coord([api.value(1), api.value(2)]);
			return { type: "rect", shape: { x: from[0], y: from[1] - 10, width: to[0] - from[0], height: 20 }, style: { fill: api.visual("color") } };
		}`)}))
	return Sample{Name: "custom", Chart: c, Says: []string{"Transactions", "t-2"}, Full: true, Code: true}
}
