package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// Compare draws two runs below each other on one time axis and one scale: how many records were handed to
// send(), acknowledged, readable (below the high watermark) and lost. Faults are marked; what happened in one
// run only says in which. names may call the runs something; without them they are told by what differs.
func Compare(a, b view.Source, names ...string) *Picture {
	if n := len(names); n != 0 && n != 2 {
		wrong("charts.Compare: %d names; want one for each of the two runs, or none", n)
	}
	runs := [2]*run{newRun(a), newRun(b)}
	if len(names) == 0 {
		names = runNames(runs)
	}
	spec := &CurveSpec{Title: "Two runs", YLabel: "records", XLabel: "virtual time, ms", Step: true, Series: []Series{}}
	highest, from := 1.0, max(runs[0].trace.To, runs[1].trace.To)
	spec.XMax = float64(from) / 1000
	var parts []string
	for k, r := range runs {
		spec.Panels = append(spec.Panels, Panel{Label: clip(names[k])})
		for _, c := range r.curves {
			if len(c.steps.points) > 0 {
				spec.Series = append(spec.Series, Series{Name: c.name, Panel: k, Colour: c.colour, Line: c.line, Points: c.steps.until(r.trace.To)})
				last, _ := c.steps.last()
				highest = max(highest, float64(last))
			}
		}
		from = min(from, startOf(r.trace, view.Sent))
		parts = append(parts, names[k]+": "+r.tell()+".")
	}
	for k := range spec.Panels {
		spec.Panels[k].YMax = highest
	}
	spec.XMin = roundBelow(float64(from)/1000, max(spec.XMax-float64(from)/1000, 1))
	spec.mergeFaults(runs)
	alt := fmt.Sprintf("Two runs compared between %s and %s. %s%s", moment(spec.XMin), moment(spec.XMax), strings.Join(parts, " "), spec.tellFaults())
	return newCurve(spec, 150, alt)
}

// run is one side of a comparison.
type run struct {
	now    *view.Cluster
	trace  *view.Trace
	curves []counted
}

// counted is one curve of a run.
type counted struct {
	name   string
	colour int
	line   string
	steps  *steps
}

func newRun(src view.Source) *run {
	r := &run{}
	r.now, r.trace = look("Compare", src)
	var sent, acked, readable, lost steps
	begun := false
	curveOver(r.trace, func(b *board, at int64) {
		var s, a, l, hw int64
		for i := range b.clients {
			s, a, l = s+b.clients[i].sent, a+b.clients[i].acked, l+b.clients[i].lost
		}
		for i := range b.partitions {
			if log := b.partitions[i].leaderLog(); log != nil {
				hw += log.hw
			}
		}
		if begun = begun || s > 0; !begun {
			return
		}
		sent.add(at, s)
		acked.add(at, a)
		readable.add(at, hw)
		if l > 0 {
			lost.add(at, l)
		}
	})
	r.curves = []counted{{"sent", 5, LineDotted, &sent}, {"acknowledged", 0, LineSolid, &acked}, {"readable", 2, LineDashed, &readable}, {"acknowledged, then lost", 3, LineSolid, &lost}}
	return r
}

// runNames call two runs by what differs between them.
func runNames(runs [2]*run) []string {
	says := func(r *run) string {
		var all []string
		for i := range r.now.Producers {
			if acks := "acks=" + r.now.Producers[i].Acks; !slices.Contains(all, acks) {
				all = append(all, acks)
			}
		}
		return listing(all)
	}
	names := []string{"first run", "second run"}
	if one, two := says(runs[0]), says(runs[1]); one != two {
		return []string{names[0] + ", " + one, names[1] + ", " + two}
	}
	return names
}

func (r *run) tell() string {
	var parts []string
	for _, c := range r.curves {
		if last, ok := c.steps.last(); ok {
			parts = append(parts, fmt.Sprintf("%d %s", last, c.name))
		}
	}
	if len(parts) == 0 {
		return "nothing was sent"
	}
	return listing(parts)
}

// mergeFaults marks the faults of both runs: bands in the run's own panel; a line for each fault, once when it
// is in both at the same time.
func (s *CurveSpec) mergeFaults(runs [2]*run) {
	var marks [2][]VMark
	for k, r := range runs {
		var topics []string
		for _, t := range r.now.Topics {
			topics = append(topics, t.Name)
		}
		bands, faults := annotate(r.trace, topics, nil).within(s.XMin, s.XMax)
		for _, b := range bands {
			b.Panel = k
			if len(s.Bands) < maxBands {
				s.Bands = append(s.Bands, b)
			}
		}
		marks[k] = faults
	}
	for k := range runs {
		for _, m := range marks[k] {
			both := slices.ContainsFunc(marks[1-k], func(o VMark) bool { return o.X == m.X && o.Label == m.Label })
			switch {
			case both && k == 1 || len(s.Marks) == maxMarks:
				continue
			case !both:
				m.Label = clip([...]string{"first: ", "second: "}[k] + m.Label)
			}
			s.Marks = append(s.Marks, m)
		}
	}
}

func (s *CurveSpec) tellFaults() string {
	var out strings.Builder
	for i, m := range s.Marks {
		if i == 8 {
			fmt.Fprintf(&out, " And %s more.", count(len(s.Marks)-i, "fault", "faults"))
			break
		}
		if m.Label != "" {
			fmt.Fprintf(&out, " At %s %s.", moment(m.X), m.Label)
		}
	}
	return out.String()
}
