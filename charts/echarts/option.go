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

// Built is an option in our colours and fonts, ready to travel and to be drawn.
type Built struct {
	Option    string // JSON text
	Title     string
	Height    int // px, as the chart asked for
	Series    []SeriesFacts
	Full      bool     // only the full build of ECharts draws it
	Functions []string // where functions of JavaScript stand in it: "series[0].renderItem"
}

// Build turns a chart into an option: Validate, JSON, checks, colours and fonts. Errors say what cannot be
// drawn and what could be.
func Build(chart Chart) (Built, error) {
	if err := refuseScripts(chart); err != nil {
		return Built{}, err
	}
	chart.Validate() // without it the axis has no categories
	text, err := json.Marshal(chart.JSON())
	if err != nil {
		return Built{}, fmt.Errorf("its option is not JSON: %w", err)
	}
	var option map[string]any
	if err := json.Unmarshal(text, &option); err != nil {
		return Built{}, fmt.Errorf("its option is not a JSON object: %w", err)
	}
	full, err := refuse(option)
	if err != nil {
		return Built{}, err
	}
	functions, err := functionsOf(option, "")
	if err != nil {
		return Built{}, err
	}
	b := Built{Height: heightOf(chart), Series: factsOf(option), Full: full || len(functions) > 0, Functions: functions}
	b.Title = houseStyle(option)
	styled, err := json.Marshal(option)
	b.Option = string(styled)
	return b, err
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

// heightOf reads the height that a chart of go-echarts was initialised with; 360 px if none.
func heightOf(chart Chart) int {
	height, _ := fieldOf(chart, "Initialization", "Height").(string)
	h, err := strconv.ParseFloat(strings.TrimSuffix(height, "px"), 64)
	if err != nil || h < 40 || h > 4000 {
		return 360
	}
	return int(h)
}

// fieldOf reads a field of a chart of go-echarts by the names on the way to it; nil when there is none.
func fieldOf(chart any, names ...string) any {
	v := reflect.ValueOf(chart)
	for _, name := range names {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return nil
		}
		if v = v.FieldByName(name); !v.IsValid() || !v.CanInterface() {
			return nil
		}
	}
	return v.Interface()
}
