package simtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// messages prints the messages that arrived since the last such block: those of some APIs with their answers, or all but
// housekeeping.
func (e *Env) messages(a Args) string {
	now := e.C.Now().Microseconds()
	from := e.looked
	e.looked = now + 1
	var out []string
	flights := e.C.Flights(from, now).Flights
	slices.SortStableFunc(flights, func(a, b view.Flight) int { return cmp.Compare(a.Ended, b.Ended) })
	for _, f := range flights {
		switch {
		case f.Fate != view.FateDelivered || f.Ended < from || f.Ended > now:
		case len(a.plain) == 0 && f.Housekeeping:
		case len(a.plain) > 0 && !slices.Contains(a.plain, strings.TrimSuffix(f.API, "Response")):
		default:
			out = append(out, fmt.Sprintf("t=%sms  %s -> %s  %s", inMs(f.Ended), f.From, f.To, f.Text))
		}
	}
	if len(out) == 0 {
		return "no such message"
	}
	return strings.Join(out, "\n")
}

// inMs writes µs as ms.
func inMs(us int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", us/1000, us%1000), "0"), ".")
}
