package kafkasim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// clock shows a moment of virtual time in ms: t=12ms, t=12.5ms.
func clock(us int64) string { return "t=" + inMs(us) }

// inMs shows µs as ms without trailing zeros.
func inMs(us int64) string {
	return strconv.FormatFloat(float64(us)/1000, 'f', -1, 64) + "ms"
}

// duration turns µs into Go's type.
func duration(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// plural is "1 record", "2 records".
func plural[N int | int32 | int64 | uint64](n N, noun string) string {
	s := fmt.Sprintf("%d %s", n, noun)
	if n != 1 {
		s += "s"
	}
	return s
}

// commas joins numbers: 1,2,3.
func commas[N int | int32 | int64](list []N) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

// quotedList shows at most eight names in quotes.
func quotedList(names []string) string {
	var q []string
	for i, n := range names {
		if i == 8 {
			q = append(q, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		q = append(q, strconv.Quote(n))
	}
	return strings.Join(q, ", ")
}

// brokerWord is a leader as Kafka's tools print it.
func brokerWord(id int) string {
	if id <= 0 {
		return "none"
	}
	return strconv.Itoa(id)
}

// rows aligns columns: every cell but the last of a row is padded to its column's width.
func rows(table [][]string) string {
	var width []int
	for _, r := range table {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for n, r := range table {
		if n > 0 {
			b.WriteByte('\n')
		}
		var line strings.Builder
		for i, cell := range r {
			line.WriteString(cell)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-len([]rune(cell))+2))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
	}
	return b.String()
}
