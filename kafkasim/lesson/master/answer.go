package master

import (
	"math"
	"strconv"
	"strings"
)

// Same compares two answers as people mean them.
func Same(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Trim(s, " .\"'`")) }
	a, b = plain(a), plain(b)
	if a == b || short[a] == b && b != "" || short[b] == a && a != "" {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

var short = map[string]string{"y": "yes", "n": "no", "true": "yes", "false": "no"}

// Holds tells whether an answer is what a run showed.
func (q *Question) Holds(answer, fact string) bool {
	if !q.Number {
		return Same(answer, fact)
	}
	a, errA := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(answer, q.Unit)), 64)
	f, errF := strconv.ParseFloat(fact, 64)
	return errA == nil && errF == nil && math.Abs(a-f) <= q.Tolerance
}
