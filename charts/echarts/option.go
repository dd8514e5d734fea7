package echarts

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Chart is a chart of go-echarts, or anything that makes an ECharts option the same way.
type Chart interface {
	Validate()
	JSON() map[string]any
}

// drawableSeries are the kinds of series in our build of ECharts (assets/build/entry.js).
var drawableSeries = []string{"line", "bar", "scatter", "heatmap", "graph"}

// inBuild are the parts of an option that our build understands. A part that it does not have would be
// left out of the picture in silence, so it is refused.
var inBuild = []string{
	"title", "legend", "tooltip", "grid", "xAxis", "yAxis", "series", "dataset", "visualMap", "aria", "color",
	"textStyle", "backgroundColor", "animation", "animationDuration", "axisPointer", "dataZoom", "darkMode", "useUTC",
}

// Built is an option in our colours and fonts, ready to travel and to be drawn.
type Built struct {
	Option string // JSON text
	Title  string
	Height int // px, as the chart asked for
	Series []SeriesFacts
}

// SeriesFacts is what an alternative text tells of a series.
type SeriesFacts struct {
	Name, Type string
	Points     int
	Low, High  float64
	HasValues  bool
}

// Build turns a chart into an option: Validate, JSON, checks, colours and fonts. Errors say what cannot be
// drawn and what could be.
func Build(chart Chart) (Built, error) {
	chart.Validate() // without it the axis has no categories
	text, err := json.Marshal(chart.JSON())
	if err != nil {
		return Built{}, fmt.Errorf("its option is not JSON: %w", err)
	}
	if strings.Contains(string(text), "__f__") {
		return Built{}, fmt.Errorf("it has a JavaScript function (opts.FuncOpts), and code does not travel in a chart; a formatter can be a text such as \"{value} ms\"")
	}
	var option map[string]any
	if err := json.Unmarshal(text, &option); err != nil {
		return Built{}, fmt.Errorf("its option is not a JSON object: %w", err)
	}
	if err := refuse(option); err != nil {
		return Built{}, err
	}
	b := Built{Height: heightOf(chart), Series: factsOf(option)}
	b.Title = houseStyle(option)
	styled, err := json.Marshal(option)
	b.Option = string(styled)
	return b, err
}

// refuse names the first part of the option that our build cannot draw.
func refuse(option map[string]any) error {
	for _, name := range sortedKeys(option) {
		value := option[name]
		if isEmpty(value) {
			delete(option, name)
			continue
		}
		if !slices.Contains(inBuild, name) {
			return fmt.Errorf("%q is not in the ECharts that Kafka Lab brings along; leave it out", name)
		}
	}
	for _, zoom := range list(option["dataZoom"]) {
		if t := text(zoom["type"]); t != "" && t != "inside" {
			return fmt.Errorf("dataZoom of type %q is not in the ECharts that Kafka Lab brings along; use \"inside\"", t)
		}
	}
	for _, s := range list(option["series"]) {
		if t := text(s["type"]); !slices.Contains(drawableSeries, t) {
			return fmt.Errorf("series of type %q are not in the ECharts that Kafka Lab brings along; it has %s", t, strings.Join(drawableSeries, ", "))
		}
	}
	return nil
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// list reads a part that may be one object or a list of them.
func list(value any) []map[string]any {
	var out []map[string]any
	switch v := value.(type) {
	case map[string]any:
		out = append(out, v)
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// stock is the palette that go-echarts sets by itself, which we replace by ours.
var stock = []any{"#5470c6", "#91cc75", "#fac858", "#ee6666", "#73c0de", "#3ba272", "#fc8452", "#9a60b4", "#ea7ccc"}

var okabeIto = []any{"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"}

// houseStyle fills in what the chart left open: our colours, our fonts, a fixed place for everything,
// so that nothing overlaps whatever ECharts' own habits are. It returns the title.
func houseStyle(option map[string]any) string {
	if option["color"] == nil || reflect.DeepEqual(option["color"], stock) {
		option["color"] = okabeIto
	}
	option["animation"] = false
	fill(option, "backgroundColor", "#fff")
	fill(option, "textStyle", map[string]any{"fontFamily": "system-ui, sans-serif", "fontSize": 12})
	top, title := 20, ""
	for i, t := range list(option["title"]) {
		if i == 0 {
			title = text(t["text"])
		}
		fill(t, "left", 6)
		fill(t, "top", 6)
		fill(t, "textStyle", map[string]any{"fontSize": 14, "fontWeight": 600, "color": "#1F1F1F"})
		top = max(top, 48)
		if text(t["subtext"]) != "" {
			top = max(top, 66)
		}
	}
	top = legend(option, top)
	if option["xAxis"] != nil && option["grid"] == nil {
		option["grid"] = map[string]any{"left": 56, "right": 24, "top": top + 12, "bottom": 48}
	}
	for _, axis := range []string{"xAxis", "yAxis"} {
		for _, a := range list(option[axis]) {
			fill(a, "nameLocation", "middle")
			fill(a, "nameGap", map[string]int{"xAxis": 28, "yAxis": 38}[axis])
		}
	}
	fill(option, "tooltip", map[string]any{"trigger": "axis"})
	return title
}

// legend is shown when there are several series, on a line of its own.
func legend(option map[string]any, top int) int {
	if option["legend"] == nil {
		if len(list(option["series"])) < 2 {
			return top
		}
		option["legend"] = map[string]any{}
	}
	for _, l := range list(option["legend"]) {
		fill(l, "left", 4)
		fill(l, "top", top-16)
		fill(l, "type", "scroll")
	}
	return top + 18
}

func fill(part map[string]any, name string, value any) {
	if part[name] == nil {
		part[name] = value
	}
}

// factsOf reads names, sizes and ranges of the series.
func factsOf(option map[string]any) []SeriesFacts {
	var facts []SeriesFacts
	for _, s := range list(option["series"]) {
		f := SeriesFacts{Name: text(s["name"]), Type: text(s["type"])}
		data, _ := s["data"].([]any)
		f.Points = len(data)
		for _, item := range data {
			if v, ok := valueOf(item); ok {
				if !f.HasValues || v < f.Low {
					f.Low = v
				}
				if !f.HasValues || v > f.High {
					f.High = v
				}
				f.HasValues = true
			}
		}
		facts = append(facts, f)
	}
	return facts
}

// valueOf reads a data item: 3, [1, 3], {"value": 3}, {"value": [1, 3]}.
func valueOf(item any) (float64, bool) {
	switch v := item.(type) {
	case float64:
		return v, true
	case map[string]any:
		return valueOf(v["value"])
	case []any:
		if len(v) > 0 {
			return valueOf(v[len(v)-1])
		}
	}
	return 0, false
}

// heightOf reads the height that a chart of go-echarts was initialised with; 360 px if none.
func heightOf(chart Chart) int {
	v := reflect.ValueOf(chart)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return 360
	}
	start := v.FieldByName("Initialization")
	if !start.IsValid() || start.Kind() != reflect.Struct {
		return 360
	}
	field := start.FieldByName("Height")
	if !field.IsValid() || field.Kind() != reflect.String {
		return 360
	}
	h, err := strconv.ParseFloat(strings.TrimSuffix(field.String(), "px"), 64)
	if err != nil || h < 40 || h > 4000 {
		return 360
	}
	return int(h)
}
