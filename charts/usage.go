package charts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// UsageError is a caller's mistake: an unknown topic, no cluster. The chart functions panic with it, and
// the kernel shows UserMessage without a stack.
type UsageError struct{ Text string }

// Error returns the same sentence as UserMessage.
func (e *UsageError) Error() string { return e.Text }

// UserMessage says where, what, and what would have been right.
func (e *UsageError) UserMessage() string { return e.Text }

// wrong panics with a UsageError.
func wrong(format string, args ...any) {
	panic(&UsageError{Text: fmt.Sprintf(format, args...)})
}

// look asks the source for its view and trace; where names the caller for the error.
func look(where string, src view.Source) (*view.Cluster, *view.Trace) {
	if isNil(src) {
		wrong("charts.%s: there is no cluster to draw (the first argument is nil); give it the one from kafkasim.New", where)
	}
	cluster, trace := src.View(), src.Trace()
	if cluster == nil || trace == nil {
		wrong("charts.%s: this %T has no view or no trace to draw from", where, src)
	}
	return cluster, trace
}

// isNil also finds a nil pointer inside the interface: "var c *kafkasim.Cluster" is the usual way to it.
func isNil(src view.Source) bool {
	if src == nil {
		return true
	}
	v := reflect.ValueOf(src)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// topicsOf resolves topic names: all topics when none is given.
func topicsOf(where string, cluster *view.Cluster, names []string) []string {
	var known []string
	for _, t := range cluster.Topics {
		known = append(known, t.Name)
	}
	if len(names) == 0 {
		return known
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			unknown(where, "topic", name, known)
		}
	}
	return names
}

// unknown panics: the cluster has no such thing.
func unknown(where, what, name string, known []string) {
	text := fmt.Sprintf("charts.%s: no %s %q", where, what, name)
	if near := nearest(name, known); near != "" {
		text += fmt.Sprintf(" - did you mean %q?", near)
	} else if len(known) > 0 {
		text += fmt.Sprintf("; this cluster has %s", listing(quoted(known)))
	} else {
		text += fmt.Sprintf("; this cluster has no %ss yet", what)
	}
	wrong("%s", text)
}

func quoted(names []string) []string {
	out := make([]string, 0, len(names))
	for i, name := range names {
		if i == 12 {
			return append(out, count(len(names)-i, "more", "more"))
		}
		out = append(out, fmt.Sprintf("%q", name))
	}
	return out
}

// nearest is the known name closest to name, or "" when none is close: at most a third of the
// characters may differ.
func nearest(name string, known []string) string {
	best, bestDistance := "", max(1, len([]rune(name))/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j := range t {
			cost := diagonal
			if s[i] != t[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}

// oneOf is the place of the one that is meant among those that there are: the named one, or the only one when none is
// named. none says what to do when there is none.
func oneOf(where, what, whats, none string, known, names []string) int {
	switch {
	case len(known) == 0:
		wrong("charts.%s: %s", where, none)
	case len(names) > 1:
		wrong("charts.%s: %d %s; want one", where, len(names), whats)
	case len(names) == 0 && len(known) > 1:
		wrong("charts.%s: which %s? This cluster has %s", where, what, listing(quoted(known)))
	case len(names) == 1 && !slices.Contains(known, names[0]):
		unknown(where, what, names[0], known)
	case len(names) == 1:
		return slices.Index(known, names[0])
	}
	return 0
}
