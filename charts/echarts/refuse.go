package echarts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// small is what our small build of ECharts draws (assets/build/entry.js), full what the full one draws beside it
// (assets/build/entry-full.js). A part that neither has would be left out of the picture in silence, so it is
// refused.
var (
	smallSeries = []string{"line", "bar", "scatter", "heatmap", "graph"}
	smallParts  = []string{
		"title", "legend", "tooltip", "grid", "xAxis", "yAxis", "series", "dataset", "visualMap", "aria", "color",
		"textStyle", "backgroundColor", "animation", "animationDuration", "axisPointer", "dataZoom", "darkMode", "useUTC",
		"progressive", "progressiveThreshold",
	}
	fullSeries = []string{
		"pie", "radar", "funnel", "gauge", "candlestick", "boxplot", "parallel", "sankey", "sunburst", "tree", "treemap",
		"themeRiver", "effectScatter", "pictorialBar", "custom",
	}
	fullParts = []string{
		"toolbox", "brush", "polar", "angleAxis", "radiusAxis", "radar", "parallel", "parallelAxis", "singleAxis",
		"calendar", "graphic",
	}
)

// meansSomething are the parts that ECharts makes with its own settings when they are empty.
var meansSomething = []string{"xAxis", "yAxis", "grid", "polar", "angleAxis", "radiusAxis", "radar", "parallel", "singleAxis", "calendar"}

// elsewhere says of what ECharts does not draw alone what it would need, and what shows the same here.
var elsewhere = map[string]string{
	"liquidFill":  "needs the script echarts-liquidfill beside ECharts; a gauge shows a share too",
	"wordCloud":   "needs the script echarts-wordcloud beside ECharts; a tree map or bars show how often something is named",
	"map":         "needs the outline of a map (a GeoJSON file) beside ECharts; bars by place show the same numbers",
	"geo":         "needs the outline of a map (a GeoJSON file) beside ECharts; bars by place show the same numbers",
	"bar3D":       "needs the script echarts-gl (WebGL) beside ECharts; a heat map shows two dimensions and a value",
	"line3D":      "needs the script echarts-gl (WebGL) beside ECharts; lines in two dimensions are read more easily",
	"scatter3D":   "needs the script echarts-gl (WebGL) beside ECharts; a scatter chart with a visual map has three dimensions",
	"surface":     "needs the script echarts-gl (WebGL) beside ECharts; a heat map shows two dimensions and a value",
	"xAxis3D":     "needs the script echarts-gl (WebGL) beside ECharts; a heat map shows two dimensions and a value",
	"chart theme": "needs a script of that name beside ECharts; Kafka Lab has colours of its own, and WithColorsOpts sets others",
}

// notHere is the sentence about what neither build has.
func notHere(what, name string, known []string) error {
	if why, ok := elsewhere[name]; ok {
		return fmt.Errorf("%s %q %s", what, name, why)
	}
	return fmt.Errorf("%s %q is not in the ECharts that Kafka Lab brings along; it has %s", what, name, strings.Join(known, ", "))
}

// refuse names the first part of the option that no build of ours can draw, and says whether the small one can draw
// the rest. Parts that are empty and mean nothing are taken out.
func refuse(option map[string]any) (full bool, err error) {
	parts, kinds := slices.Concat(smallParts, fullParts), slices.Concat(smallSeries, fullSeries)
	for _, s := range list(option["series"]) { // the series first: they name the chart
		t := text(s["type"])
		if !slices.Contains(kinds, t) {
			return false, notHere("a series of type", t, kinds)
		}
		if text(s["coordinateSystem"]) == "geo" {
			return false, notHere("a series on the coordinate system", "geo", kinds)
		}
		full = full || !slices.Contains(smallSeries, t) || s["markPoint"] != nil || text(s["coordinateSystem"]) == "polar"
	}
	for _, name := range sortedKeys(option) {
		if _, object := option[name].(map[string]any); isEmpty(option[name]) && !(object && slices.Contains(meansSomething, name)) {
			delete(option, name)
			continue
		}
		if !slices.Contains(parts, name) {
			return false, notHere("the part", name, parts)
		}
		full = full || slices.Contains(fullParts, name)
	}
	for _, zoom := range list(option["dataZoom"]) {
		full = full || text(zoom["type"]) != "inside"
	}
	return full, nil
}

// refuseScripts refuses what a chart of go-echarts asks of a page beside its option: scripts from elsewhere, code
// that is run after the drawing, listeners. They are no part of the option and would be lost in silence.
func refuseScripts(chart Chart) error {
	if theme, _ := fieldOf(chart, "Initialization", "Theme").(string); theme != "" && theme != "white" {
		return fmt.Errorf("the theme %q %s", theme, elsewhere["chart theme"])
	}
	if values, _ := fieldOf(chart, "CustomizedJSAssets", "Values").([]string); len(values) > 0 {
		return fmt.Errorf("it asks for the script %q (AddCustomizedJSAssets), and a chart brings no script along; leave it out", values[0])
	}
	for field, says := range map[string]string{
		"EventListeners": "it listens to clicks (WithEventListeners), which needs code outside the chart's option; leave the listeners out",
		"Fns":            "it adds JavaScript to the page (AddJSFuncs), and only functions inside the option travel with a chart: use opts.FuncOpts there",
	} {
		if v := reflect.ValueOf(fieldOf(chart, field)); v.Kind() == reflect.Slice && v.Len() > 0 {
			return fmt.Errorf("%s", says)
		}
	}
	return nil
}

// functionMark is what opts.FuncOpts puts around a function.
const functionMark = "__f__"

// functionKeys are the fields in which ECharts takes a function.
var functionKeys = []string{
	"formatter", "valueFormatter", "position", "renderItem", "color", "symbol", "symbolSize", "symbolRotate", "symbolOffset", "sort",
	"animationDelay", "animationDuration", "animationDelayUpdate", "animationDurationUpdate", "labelLayout", "pointFormatter", "onclick",
}

// functionsOf lists the places of a value's functions. A text that looks like a function where ECharts takes none is
// refused: it came by a name or a value, not by the learner's own hand.
func functionsOf(value any, at string) (places []string, err error) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			inner, err := functionsOf(v[key], strings.TrimPrefix(at+"."+key, "."))
			if err != nil {
				return nil, err
			}
			places = append(places, inner...)
		}
	case []any:
		for i, item := range v {
			inner, err := functionsOf(item, fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return nil, err
			}
			places = append(places, inner...)
		}
	case string:
		if len(v) <= 2*len(functionMark) || !strings.HasPrefix(v, functionMark) || !strings.HasSuffix(v, functionMark) {
			return nil, nil
		}
		if key := at[strings.LastIndexByte(at, '.')+1:]; !slices.Contains(functionKeys, key) {
			return nil, fmt.Errorf("%s is a text between two %s, which marks a JavaScript function (opts.FuncOpts); ECharts takes functions in %s",
				at, functionMark, strings.Join(functionKeys[:4], ", ")+" and the like, not there")
		}
		places = append(places, at)
	}
	return places, nil
}
