package svg

import (
	"image/color"
	"strconv"
	"strings"
)

// named are the colour words that our pictures and ECharts use.
var named = map[string]color.NRGBA{
	"black": {A: 255}, "white": {255, 255, 255, 255}, "red": {255, 0, 0, 255}, "green": {0, 128, 0, 255},
	"blue": {0, 0, 255, 255}, "gray": {128, 128, 128, 255}, "grey": {128, 128, 128, 255},
	"orange": {255, 165, 0, 255}, "yellow": {255, 255, 0, 255}, "purple": {128, 0, 128, 255},
}

// parseColour reads #rgb, #rrggbb, rgb(…), rgba(…) and the words above; ok is false for none,
// transparent and what it does not know.
func parseColour(text string) (c color.NRGBA, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if c, ok := named[text]; ok {
		return c, true
	}
	if hex, found := strings.CutPrefix(text, "#"); found {
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return c, false
		}
		return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, true
	}
	if strings.HasPrefix(text, "rgb") {
		_, arguments, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		v := numbers(arguments)
		if len(v) < 3 {
			return c, false
		}
		c = color.NRGBA{byteOf(v[0]), byteOf(v[1]), byteOf(v[2]), 255}
		if len(v) > 3 {
			c.A = byteOf(v[3] * 255)
		}
		return c, true
	}
	return c, false
}

func byteOf(v float64) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }
