package charts

import (
	"fmt"
	"strings"
)

// tellStall tells the longest time for which a curve stood still while something was wrong: what a reader of the
// picture sees first.
func (s *CurveSpec) tellStall(name string, curve *steps) string {
	var best [2]float64
	at, why := 0.0, ""
	for i, p := range curve.points {
		end, goesOn := s.XMax, false
		for _, q := range curve.points[i+1:] {
			if end = q[0]; q[1] != p[1] {
				goesOn = true // a curve that never moves again may have nothing to move for
				break
			}
		}
		from := max(p[0], s.XMin)
		if length := end - from; length > best[1]-best[0] && length > (s.XMax-s.XMin)/10 {
			if reason := s.wrongBetween(name, from, end); goesOn && reason != "" {
				best, at, why = [2]float64{from, end}, p[1], reason
			}
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" %s stopped at %s from %s to %s, while %s.", name, number(at), moment(best[0]), moment(best[1]), why)
}

// wrongBetween names the bands that cover a part of a time: those of the partition itself, and of brokers.
func (s *CurveSpec) wrongBetween(name string, from, to float64) string {
	var parts []string
	for _, b := range s.Bands {
		if overlap := min(b.To, to) - max(b.From, from); overlap < (to-from)/5 {
			continue
		}
		switch {
		case strings.HasSuffix(b.Label, " down"):
			parts = append(parts, strings.TrimSuffix(b.Label, " down")+" was down")
		case strings.HasSuffix(b.Label, without) && strings.Contains(", "+strings.TrimSuffix(b.Label, without)+",", ", "+name+","):
			parts = append(parts, "it was without a leader")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return listing(parts[:min(len(parts), 4)])
}
