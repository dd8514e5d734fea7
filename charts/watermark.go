package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// maxCurves is how many partitions share one panel; maxCurvePanels how many panels one chart has.
const (
	maxCurves      = 12
	maxCurvePanels = 8
)

// HighWatermark draws how the high watermark of each partition moved: what the newest leader believes,
// as a step curve. A new leader may know less than the old one did, then the curve steps down. Bands
// show when a broker was down and when a partition had no live leader; lines mark crashes and elections.
func HighWatermark(src view.Source, topic ...string) *Picture {
	now, trace := look("HighWatermark", src)
	topics := topicsOf("HighWatermark", now, topic)
	shown, omitted := shownPartitions(trace, topics, maxCurves)
	curves := make([]steps, len(shown))
	curveOver(trace, func(b *board, at int64) {
		for k, i := range shown {
			if l := b.partitions[i].leaderLog(); l != nil {
				curves[k].add(at, l.hw)
			}
		}
	})
	spec := &CurveSpec{Title: "High watermark" + omitted, YLabel: "offset", Panels: []Panel{{}}, Series: []Series{}}
	for k, i := range shown {
		spec.Series = append(spec.Series, Series{Name: clip(nameOf(trace, i)), Colour: k % len(palette), Line: lineOf(k), Points: curves[k].until(trace.To)})
	}
	spec.surround(trace, topics, nil)
	return newCurve(spec, 210, spec.describeCurves("High watermark", now, curves, shown, trace))
}

// lineOf gives neighbouring curves different dashes, so that equal ones do not hide each other.
func lineOf(k int) string { return [...]string{LineSolid, LineDashed, LineDotted}[k%3] }

func nameOf(trace *view.Trace, i int) string {
	return partitionName(trace.Partitions[i].Topic, trace.Partitions[i].ID)
}

// shownPartitions are the partitions of the topics, at most most; omitted says so in the title.
func shownPartitions(trace *view.Trace, topics []string, most int) (shown []int, omitted string) {
	total := 0
	for i, p := range trace.Partitions {
		if slices.Contains(topics, p.Topic) {
			if total++; total <= most {
				shown = append(shown, i)
			}
		}
	}
	if total > most {
		omitted = fmt.Sprintf(" (%d of %d partitions)", most, total)
	}
	return shown, omitted
}

// roundBelow is the last round number up to x, as the labels of an axis of that length are round: multiples
// of 1, 2 or 5 times a power of ten, of which about five fit the axis.
func roundBelow(x, length float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(length/5)))
	for _, times := range []float64{5, 2} {
		if step*times <= length/5 {
			step *= times
			break
		}
	}
	return math.Floor(x/step) * step
}

// surround sets the x axis, the bands and the marks. The axis begins with the first curve, at a round
// number: what was before the topic is no part of its story.
func (s *CurveSpec) surround(trace *view.Trace, topics []string, panels map[int]int) {
	s.XLabel, s.Step = "virtual time, ms", true
	s.XMin, s.XMax = float64(trace.From)/1000, float64(trace.To)/1000
	first := s.XMax
	for _, line := range s.Series {
		if len(line.Points) > 0 {
			first = min(first, line.Points[0][0])
		}
	}
	if len(s.Series) > 0 && first < s.XMax {
		s.XMin = max(s.XMin, roundBelow(first, s.XMax-first))
	}
	s.Bands, s.Marks = annotate(trace, topics, panels).within(s.XMin, s.XMax)
}

func (s *CurveSpec) describeCurves(what string, now *view.Cluster, curves []steps, shown []int, trace *view.Trace) string {
	var parts []string
	for k, i := range shown {
		if len(curves[k].points) == 0 {
			continue
		}
		last, _ := curves[k].last()
		parts = append(parts, fmt.Sprintf("%s from %s to %d", nameOf(trace, i), number(curves[k].points[0][1]), last))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s: there is nothing to draw at %s.", what, ms(now.Now))
	}
	stalls := ""
	for k, i := range shown {
		stalls += s.tellStall(nameOf(trace, i), &curves[k])
	}
	return fmt.Sprintf("%s between %s and %s: %s.%s%s", what, moment(s.XMin), moment(s.XMax), strings.Join(parts, ", "), stalls, s.tellBands())
}
