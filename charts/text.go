package charts

import (
	"sort"
	"strconv"
	"strings"
	"unicode"

	"kafkalab/charts/svg"
)

// number writes a number as people do: at most three decimals, no trailing zeros.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 3, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// ms writes µs as ms: "12.5 ms".
func ms(micros int64) string { return number(float64(micros)/1000) + " ms" }

// count is "1 record", "3 records".
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// span names the offsets from first to last: "offset 3", "offsets 3 and 4", "offsets 3 to 7".
func span(first, last int64) string {
	a, b := strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)
	switch {
	case first == last:
		return "offset " + a
	case first+1 == last:
		return "offsets " + a + " and " + b
	}
	return "offsets " + a + " to " + b
}

// listing is "1, 2 and 3"; "none" when empty.
func listing(items []string) string {
	switch len(items) {
	case 0:
		return "none"
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

func ids(list []int) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = strconv.Itoa(id)
	}
	return out
}

// brokersText is "broker 1", "brokers 1 and 2".
func brokersText(list []int) string {
	if len(list) == 1 {
		return "broker " + strconv.Itoa(list[0])
	}
	return "brokers " + listing(ids(list))
}

// after is where a text may begin beside another one of this size: readers' fonts are wider than ours.
func after(x float64, text string, size float64, bold bool) float64 {
	return x + widthOf(text, size, bold) + 8
}

// wider is by how much readers' fonts may be wider than ours.
const wider = 1.18

// widthOf is how wide a text may be in a reader's font.
func widthOf(text string, size float64, bold bool) float64 {
	return wider * svg.TextWidth(text, size, bold)
}

// fitEnd shortens a sentence at its end until it fits into so many px, whatever the reader's font.
func fitEnd(text string, size, room float64) string {
	return cutEnd(text, fitting(text, size, room, false))
}

// fitting is how many letters of a text have room.
func fitting(text string, size, room float64, bold bool) int {
	r := []rune(text)
	if widthOf(text, size, bold) <= room {
		return len(r)
	}
	return sort.Search(len(r), func(n int) bool { return widthOf(string(r[:n])+"…", size, bold) > room })
}

// cutEnd shortens a sentence at its end.
func cutEnd(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:max(most-1, 0)]) + "…"
}

// fit cuts the end of a text of one line so that it has room in a reader's font.
func fit(text string, size float64, bold bool, width float64) string {
	for most := len([]rune(text)); most > 1 && widthOf(text, size, bold) > width; {
		most = min(most-1, int(float64(most)*width/widthOf(text, size, bold)))
		text = cutEnd(text, most)
	}
	return text
}

// visible makes characters that show nothing into a sign that something stands there.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
