package echarts

import (
	"fmt"
	"strconv"
	"strings"
)

// SeriesFacts is what an alternative text tells of a series.
type SeriesFacts struct {
	Name, Type string
	Points     int // items: points, slices, nodes
	Low, High  float64
	HasValues  bool
	Links      int      // of a graph or a flow
	Says       []string // items by name with their values, as far as there is room: "broker 1 5"
}

// maxSays is how many items a sentence tells one by one.
const maxSays = 8

// factsOf reads names, sizes and ranges of the series.
func factsOf(option map[string]any) []SeriesFacts {
	var facts []SeriesFacts
	for _, s := range list(option["series"]) {
		f := SeriesFacts{Name: text(s["name"]), Type: text(s["type"])}
		for _, links := range []string{"links", "edges"} {
			all, _ := s[links].([]any)
			f.Links += len(all)
			if f.Type == "sankey" {
				f.flows(all)
			}
		}
		for _, items := range []string{"data", "nodes"} {
			data, _ := s[items].([]any)
			f.read(data, "")
		}
		facts = append(facts, f)
	}
	return facts
}

// read counts items and what hangs below them.
func (f *SeriesFacts) read(items []any, above string) {
	for _, item := range items {
		f.Points++
		m, _ := item.(map[string]any)
		name := text(m["name"])
		below, _ := m["children"].([]any)
		if f.spread(item) {
			f.say(name, item)
		} else if v, ok := f.valueOf(item); ok {
			f.take(v)
			f.say(name, item)
		} else if name != "" && above == "" && f.Type != "sankey" {
			f.say(name, nil)
		}
		f.read(below, name)
	}
}

// spread takes an item that is several numbers of one kind: a candle, a box, a shape of a radar. The numbers of a
// parallel chart and of a custom one mean different things and have no range.
func (f *SeriesFacts) spread(item any) bool {
	switch f.Type {
	case "parallel", "custom":
		return true
	case "candlestick", "boxplot", "radar":
	default:
		return false
	}
	if m, ok := item.(map[string]any); ok {
		item = m["value"]
	}
	numbers, _ := item.([]any)
	for _, n := range numbers {
		if v, ok := n.(float64); ok {
			f.take(v)
		}
	}
	return true
}

func (f *SeriesFacts) take(v float64) {
	if !f.HasValues || v < f.Low {
		f.Low = v
	}
	if !f.HasValues || v > f.High {
		f.High = v
	}
	f.HasValues = true
}

// say adds an item with a name; the kinds that are read along axes are told by their range.
func (f *SeriesFacts) say(name string, item any) {
	if name == "" || len(f.Says) > maxSays {
		return
	}
	if len(f.Says) == maxSays {
		f.Says = append(f.Says, "…")
		return
	}
	said := strconv.Quote(name)
	if m, ok := item.(map[string]any); ok {
		switch v := m["value"].(type) {
		case float64:
			said += " " + short(v)
		case []any:
			var parts []string
			for _, x := range v[:min(len(v), maxSays)] {
				parts = append(parts, fmt.Sprint(x))
			}
			said += " " + strings.Join(parts, "/")
		}
	}
	f.Says = append(f.Says, said)
}

// flows tells the links of a flow: they hold its numbers.
func (f *SeriesFacts) flows(links []any) {
	for _, item := range links {
		m, _ := item.(map[string]any)
		if v, ok := m["value"].(float64); ok {
			f.take(v)
			f.say(text(m["source"])+" → "+text(m["target"]), m)
		}
	}
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// valueOf reads a data item: 3, [1, 3], {"value": 3}, {"value": [1, 3]}. A river's item is [when, how much, what].
func (f *SeriesFacts) valueOf(item any) (float64, bool) {
	switch v := item.(type) {
	case float64:
		return v, true
	case string: // go-echarts makes some numbers texts
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	case map[string]any:
		return f.valueOf(v["value"])
	case []any:
		if f.Type == "themeRiver" && len(v) == 3 {
			return f.valueOf(v[1])
		}
		if len(v) > 0 {
			return f.valueOf(v[len(v)-1])
		}
	}
	return 0, false
}
