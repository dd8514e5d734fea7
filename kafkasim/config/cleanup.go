package config

import (
	"math"
	"strconv"
	"strings"
)

// Cleanup is a cleanup.policy: what happens to old segments. The zero value is the empty policy, which keeps
// everything.
type Cleanup uint8

// The policies; a topic may have both.
const (
	CleanupDelete Cleanup = 1 << iota
	CleanupCompact
)

// Deletes tells whether old segments are deleted.
func (c Cleanup) Deletes() bool { return c&CleanupDelete != 0 }

// Compacts tells whether old segments are compacted.
func (c Cleanup) Compacts() bool { return c&CleanupCompact != 0 }

// String is the policy as Kafka's configuration writes it.
func (c Cleanup) String() string {
	return [...]string{"", "delete", "compact", "compact,delete"}[c&3]
}

// parseCleanup reads a list of policies; each may be there once.
func parseCleanup(s string) (c Cleanup, ok bool) {
	if s == "" {
		return 0, true
	}
	for _, word := range strings.Split(s, ",") {
		one := map[string]Cleanup{"delete": CleanupDelete, "compact": CleanupCompact}[strings.TrimSpace(word)]
		if one == 0 || c&one != 0 {
			return 0, false
		}
		c |= one
	}
	return c, true
}

// Ratio is a number from 0 to 1, in millionths: a world has no floating point.
type Ratio int32

// Million is the Ratio 1.
const Million Ratio = 1_000_000

// String is the number as Kafka's configuration writes it.
func (r Ratio) String() string {
	s := strings.TrimRight(strconv.FormatFloat(float64(r)/float64(Million), 'f', 6, 64), "0")
	if strings.HasSuffix(s, ".") {
		s += "0"
	}
	return s
}

// parseRatio reads a number from 0 to 1.
func parseRatio(s string) (Ratio, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, false
	}
	return Ratio(math.Round(v * float64(Million))), true
}
