package echarts

import (
	"fmt"
	"reflect"
)

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
	right := scales(option, top)
	if option["xAxis"] != nil && option["grid"] == nil {
		option["grid"] = map[string]any{"left": 56, "right": right, "top": top + 12, "bottom": foot(option)}
	}
	for _, axis := range []string{"xAxis", "yAxis"} {
		for _, a := range list(option[axis]) {
			fill(a, "nameLocation", "middle")
			fill(a, "nameGap", map[string]int{"xAxis": 28, "yAxis": 38}[axis])
		}
	}
	for _, s := range list(option["series"]) {
		place(s, top)
	}
	parts(option, top)
	trigger := "item"
	if option["xAxis"] != nil || option["singleAxis"] != nil {
		trigger = "axis"
	}
	fill(option, "tooltip", map[string]any{"trigger": trigger})
	return title
}

// scales puts the scale of a visual map to the right, where no axis has its names, and returns the room that it takes.
func scales(option map[string]any, top int) (right int) {
	right = 24
	for _, v := range list(option["visualMap"]) {
		placed := false
		for _, side := range []string{"left", "right", "top", "bottom", "orient"} {
			placed = placed || v[side] != nil
		}
		if shown, given := v["show"].(bool); placed || given && !shown {
			continue
		}
		v["right"], v["top"] = 6, top
		right = 96
	}
	return right
}

// foot is the room below the x axis: a slider takes more.
func foot(option map[string]any) int {
	for _, zoom := range list(option["dataZoom"]) {
		if text(zoom["type"]) != "inside" {
			return 88
		}
	}
	return 48
}

// place keeps a series without axes below the title and the legend, and gives it marks that are seen.
func place(s map[string]any, top int) {
	middle := fmt.Sprintf("%d%%", 50+top/8)
	switch text(s["type"]) {
	case "pie":
		fill(s, "radius", "60%")
		fill(s, "center", []any{"50%", middle})
	case "sunburst":
		fill(s, "radius", []any{0, "76%"})
		fill(s, "center", []any{"50%", middle})
	case "gauge":
		fill(s, "center", []any{"50%", middle})
	case "tree": // names beside the lines, not on them
		fill(s, "top", top+12)
		fill(s, "bottom", 24)
		fill(s, "left", "14%")
		fill(s, "right", "14%")
		if s["orient"] == nil && s["layout"] == nil && s["label"] == nil {
			s["label"] = map[string]any{"position": "left", "align": "right", "verticalAlign": "middle"}
			fill(s, "leaves", map[string]any{"label": map[string]any{"position": "right", "align": "left", "verticalAlign": "middle"}})
		}
	case "funnel", "sankey", "treemap":
		fill(s, "top", top+12)
		fill(s, "bottom", map[bool]int{true: 48, false: 24}[text(s["type"]) == "treemap"]) // the way to the root stands there
	case "parallel":
		fill(s, "lineStyle", map[string]any{"width": 2, "opacity": 0.85})
	case "candlestick": // not by red and green alone: up is blue
		fill(s, "itemStyle", map[string]any{"color": okabeIto[0], "borderColor": okabeIto[0], "color0": okabeIto[5], "borderColor0": okabeIto[5]})
	case "graph":
		if text(s["layout"]) == "none" {
			whole(s)
		}
		if force, ok := s["force"].(map[string]any); ok || text(s["layout"]) == "force" {
			if !ok {
				force = map[string]any{}
			}
			force["layoutAnimation"] = false
			s["force"] = force
		}
	}
}

// whole gives nodes back the coordinate 0, which go-echarts leaves out: without it a node vanishes with its links.
func whole(graph map[string]any) {
	for _, nodes := range []string{"data", "nodes"} {
		for _, node := range list(graph[nodes]) {
			fill(node, "x", 0)
			fill(node, "y", 0)
		}
	}
}

// parts keeps the coordinate systems of their own below the title and the legend.
func parts(option map[string]any, top int) {
	middle := fmt.Sprintf("%d%%", 50+top/8)
	for _, name := range []string{"radar", "polar"} {
		for _, part := range list(option[name]) {
			fill(part, "center", []any{"50%", middle})
			fill(part, "radius", "66%")
		}
	}
	if option["parallelAxis"] != nil && option["parallel"] == nil {
		option["parallel"] = map[string]any{}
	}
	for _, name := range []string{"parallel", "singleAxis", "calendar"} {
		for _, part := range list(option[name]) {
			fill(part, "top", top+24)
		}
	}
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
