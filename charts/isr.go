package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// ISRSize draws how many replicas each partition has in its ISR, by the controller's record: one small
// panel for each partition, since equal steps would hide each other. A dashed line shows
// min.insync.replicas. Of more than 8 partitions those whose ISR changed most are drawn.
func ISRSize(src view.Source, topic ...string) *Picture {
	now, trace := look("ISRSize", src)
	topics := topicsOf("ISRSize", now, topic)
	all, _ := shownPartitions(trace, topics, len(trace.Partitions))
	curves := make([]steps, len(trace.Partitions))
	curveOver(trace, func(b *board, at int64) {
		for _, i := range all {
			if b.partitions[i].created {
				curves[i].add(at, int64(len(b.partitions[i].isr)))
			}
		}
	})
	shown := busiest(all, curves)
	spec := &CurveSpec{Title: "Replicas in the ISR", Panels: []Panel{}, Series: []Series{}}
	if len(shown) < len(all) {
		spec.Title += fmt.Sprintf(" (the %d of %d partitions that changed most)", len(shown), len(all))
	}
	var parts []string
	panels := map[int]int{}
	for k, i := range shown {
		panels[i] = k
		replicas := float64(len(trace.Partitions[i].Replicas))
		spec.Panels = append(spec.Panels, Panel{Label: clip(nameOf(trace, i)), YMax: max(replicas, 1)})
		spec.Series = append(spec.Series, Series{Name: clip(nameOf(trace, i)), Panel: k, Colour: k % len(palette), Line: LineSolid, Points: curves[i].until(trace.To)})
		if least := minISR(now, trace.Partitions[i]); least > 0 {
			spec.Refs = append(spec.Refs, Ref{Panel: k, Y: float64(least), Label: fmt.Sprintf("min.insync.replicas %d", least)})
		}
		parts = append(parts, tellISR(nameOf(trace, i), &curves[i]))
	}
	if len(shown) == 0 {
		spec.Panels = []Panel{{}}
	}
	spec.surround(trace, topics, panels)
	if len(parts) == 0 {
		parts = []string{fmt.Sprintf("There is nothing to draw at %s.", ms(trace.To))}
	}
	alt := fmt.Sprintf("ISR size between %s and %s. %s%s", moment(spec.XMin), moment(spec.XMax), strings.Join(parts, " "), spec.tellBands())
	return newCurve(spec, 60, alt)
}

// busiest picks the partitions with the most steps, in their order.
func busiest(all []int, curves []steps) []int {
	if len(all) <= maxCurvePanels {
		return all
	}
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(a, b int) int { return len(curves[b].points) - len(curves[a].points) })
	shown = shown[:maxCurvePanels]
	slices.Sort(shown)
	return shown
}

func minISR(now *view.Cluster, name view.PartitionName) int {
	for _, t := range now.Topics {
		if t.Name == name.Topic && name.ID < len(t.Partitions) {
			return t.Partitions[name.ID].MinISR
		}
	}
	return 0
}

func tellISR(name string, curve *steps) string {
	if len(curve.points) == 0 {
		return name + ": no ISR yet."
	}
	text := fmt.Sprintf("%s: %s", name, number(curve.points[0][1]))
	for i, p := range curve.points[1:] {
		if p[1] == curve.points[i][1] {
			continue // the end of the curve
		}
		if i == 6 {
			text += ", …"
			break
		}
		text += fmt.Sprintf(", %s at %s", number(p[1]), moment(p[0]))
	}
	return text + "."
}
