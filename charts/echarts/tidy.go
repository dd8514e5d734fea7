package echarts

import (
	"regexp"
	"strconv"
	"strings"

	"kafkalab/charts/svg"
)

var (
	styleBlock = regexp.MustCompile(`(?s)<style.*?</style>\n?`)
	classes    = regexp.MustCompile(` (class|ecmeta_[a-z_]*)="[^"]*"`)
	ids        = regexp.MustCompile(`zr\d+-[a-z]+-?\d+`)
	emptyPath  = regexp.MustCompile(`></(path|rect|circle|ellipse|line|polyline|polygon)>`)
	openingTag = regexp.MustCompile(`^<svg [^>]*>`)
	attribute  = regexp.MustCompile(` (d|points|x|y|x1|y1|x2|y2|width|height)="([^"]*)"`)
	decimals   = regexp.MustCompile(`-?\d*\.\d{3,}(e-?\d+)?`)
)

// tidy makes ECharts' SVG the same each time and smaller: ids are counted anew within the picture
// (ECharts counts through the life of the process), hover styles go, coordinates are rounded. Transforms
// are left alone: a rounded matrix moves things.
func tidy(text, title string) string {
	text = styleBlock.ReplaceAllString(text, "")
	text = classes.ReplaceAllString(text, "")
	numbers := map[string]string{}
	text = ids.ReplaceAllStringFunc(text, func(id string) string {
		if numbers[id] == "" {
			numbers[id] = "k" + strconv.Itoa(len(numbers))
		}
		return numbers[id]
	})
	text = attribute.ReplaceAllStringFunc(text, func(a string) string { return decimals.ReplaceAllStringFunc(a, round) })
	text = emptyPath.ReplaceAllString(text, "/>")
	return openingTag.ReplaceAllStringFunc(text, func(tag string) string {
		return tag + "\n<title>" + svg.Escape(title) + "</title>"
	})
}

func round(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	rounded := strconv.FormatFloat(v, 'f', 2, 64)
	rounded = strings.TrimRight(strings.TrimRight(rounded, "0"), ".")
	if rounded == "-0" || rounded == "" {
		return "0"
	}
	return rounded
}

var fontSize = regexp.MustCompile(`([\d.]+)px`)

// cssFont reads size and weight from a CSS font.
func cssFont(font string) (size float64, bold bool) {
	size = 12
	if m := fontSize.FindStringSubmatch(font); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && v > 0 {
			size = v
		}
	}
	return size, strings.Contains(font, "bold") || strings.Contains(font, "600") || strings.Contains(font, "700")
}
