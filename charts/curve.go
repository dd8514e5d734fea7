package charts

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"kafkalab/charts/echarts"
	"kafkalab/kafkasim/view"
)

// The heights of a curve chart's parts in px, as the script's curveLayout has them.
const (
	curveHead      = 34
	curveLegend    = 22
	legendLetter   = 6.6
	curveLabelRow  = 14
	curvePanelName = 16
	curvePanelGap  = 24
	curveFoot      = 44
	curveWidth     = pictureWidth
	curvePlotWidth = curveWidth - 52 - 18
	maxLabelRows   = 3
	labelLetter    = 6.0 // px, the mean width of a letter in a label
	lateLabel      = 0.6 // labels that start beyond this part of the axis are set to the left
)

// newCurve finishes a curve chart with panels of the given height.
func newCurve(spec *CurveSpec, panelHeight int, alt string) *Picture {
	if !slices.ContainsFunc(spec.Series, func(s Series) bool { return len(s.Points) > 0 }) && !strings.Contains(spec.Title, "yet") {
		spec.Title = clip(spec.Title + ": nothing to draw yet")
	}
	spec.stagger()
	h := curveHead + curveFoot + len(spec.Panels)*panelHeight
	h += spec.legendRows() * curveLegend
	h += spec.markRows() * curveLabelRow
	if spec.Panels[0].Label != "" {
		h += curvePanelName + curvePanelGap*(len(spec.Panels)-1)
	}
	p := newPicture(KindCurve, alt, h, spec)
	p.width, p.height = curveWidth, h
	p.draw = func(string) (string, error) {
		text, err := json.Marshal(spec)
		if err != nil {
			return "", err
		}
		return echarts.Curve(string(text), curveWidth, h, p.envelope.Alt)
	}
	return p
}

// legendRows is how many lines the names of the curves take; none when each panel's label says it all.
// The script's legendRows counts the same.
func (s *CurveSpec) legendRows() int {
	named := slices.ContainsFunc(s.Series, func(line Series) bool { return line.Name != s.Panels[line.Panel].Label })
	if !named {
		return 0
	}
	rows, x, seen := 1, 0.0, map[string]bool{}
	for _, line := range s.Series {
		if seen[line.Name] {
			continue
		}
		seen[line.Name] = true
		width := 40 + legendLetter*float64(len([]rune(line.Name)))
		if x > 0 && x+width > 800 {
			rows, x = rows+1, 0
		}
		x += width
	}
	return rows
}

func (s *CurveSpec) markRows() int {
	rows := 0
	for _, m := range s.Marks {
		if m.Label != "" {
			rows = max(rows, m.Row+1)
		}
	}
	return rows
}

// shelf gives labels rows in which they do not touch. Labels come from left to right.
type shelf struct {
	ends []float64 // px, where each row is free again
}

// put finds a row for a label from x to x+width px; -1 when there is none.
func (s *shelf) put(x, width float64, rows int) int {
	for i := range s.ends {
		if s.ends[i] <= x {
			s.ends[i] = x + width
			return i
		}
	}
	if len(s.ends) < rows {
		s.ends = append(s.ends, x+width)
		return len(s.ends) - 1
	}
	return -1
}

// stagger gives the labels of marks and bands their rows; a label for which there is no room is left
// out (its line or band stays).
func (s *CurveSpec) stagger() {
	toPx := func(x float64) float64 {
		if s.XMax <= s.XMin {
			return 0
		}
		return (x - s.XMin) / (s.XMax - s.XMin) * curvePlotWidth
	}
	slices.SortStableFunc(s.Marks, func(a, b VMark) int { return sign(a.X - b.X) })
	slices.SortStableFunc(s.Bands, func(a, b Band) int { return sign(a.From - b.From) })
	marks, bands := &shelf{}, map[int]*shelf{}
	for i := range s.Marks {
		m := &s.Marks[i]
		x, width := toPx(m.X), labelLetter*float64(len([]rune(m.Label)))+10
		if x > lateLabel*curvePlotWidth {
			x -= width
		}
		if m.Row = marks.put(x, width, maxLabelRows); m.Row < 0 {
			m.Row, m.Label = 0, ""
		}
	}
	for i := range s.Bands {
		b := &s.Bands[i]
		if b.Panel < 0 && len(s.Panels) > 1 && s.markedAt(b.From) {
			b.Label = "" // small panels have no room to say it twice
		}
		if b.Label == "" {
			continue
		}
		if bands[b.Panel] == nil {
			bands[b.Panel] = &shelf{}
		}
		x, width := toPx(b.From), labelLetter*float64(len([]rune(b.Label)))+10
		if x > lateLabel*curvePlotWidth {
			x = toPx(b.To) - width
		}
		if b.Row = bands[b.Panel].put(x, width, maxLabelRows); b.Row < 0 {
			b.Row, b.Label = 0, ""
		}
	}
}

// markedAt says whether a labelled mark stands at x.
func (s *CurveSpec) markedAt(x float64) bool {
	return slices.ContainsFunc(s.Marks, func(m VMark) bool { return m.X == x && m.Label != "" })
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// steps collects a step curve: only the points at which the value changes.
type steps struct{ points [][2]float64 }

// add says that from at (µs) on the value is y.
func (s *steps) add(at, y int64) {
	x, n := float64(at)/1000, len(s.points)
	switch {
	case n > 0 && s.points[n-1][1] == float64(y):
	case n > 0 && s.points[n-1][0] == x:
		s.points[n-1][1] = float64(y)
		if n > 1 && s.points[n-2][1] == float64(y) {
			s.points = s.points[:n-1]
		}
	default:
		s.points = append(s.points, [2]float64{x, float64(y)})
	}
}

// until ends the curve at a moment and thins it out.
func (s *steps) until(at int64) [][2]float64 {
	if n := len(s.points); n > 0 {
		if end := float64(at) / 1000; end > s.points[n-1][0] {
			s.points = append(s.points, [2]float64{end, s.points[n-1][1]})
		}
	}
	return thinSteps(s.points, maxPoints)
}

// last is the value at the end, and whether there is one.
func (s *steps) last() (int64, bool) {
	if len(s.points) == 0 {
		return 0, false
	}
	return int64(s.points[len(s.points)-1][1]), true
}

// thinSteps keeps at most most points of a curve. Each slice of the x axis keeps its first and last
// point, its lowest and its highest, so that no peak and no dip disappears.
func thinSteps(points [][2]float64, most int) [][2]float64 {
	if len(points) <= most {
		return points
	}
	slicesOfX := most / 4
	from, width := points[0][0], (points[len(points)-1][0]-points[0][0])/float64(slicesOfX)
	var out [][2]float64
	for start := 0; start < len(points); {
		end := start + 1
		bin := binOf(points[start][0], from, width, slicesOfX)
		for end < len(points) && binOf(points[end][0], from, width, slicesOfX) == bin {
			end++
		}
		low, high := start, start
		for i := start; i < end; i++ {
			if points[i][1] < points[low][1] {
				low = i
			}
			if points[i][1] > points[high][1] {
				high = i
			}
		}
		keep := []int{start, low, high, end - 1}
		slices.Sort(keep)
		for _, i := range slices.Compact(keep) {
			out = append(out, points[i])
		}
		start = end
	}
	return out
}

func binOf(x, from, width float64, bins int) int {
	return min(int(math.Floor((x-from)/width)), bins-1)
}

// curveOver runs through a trace moment by moment; sample sees the board after each, without the records of its logs.
func curveOver(trace *view.Trace, sample func(b *board, at int64)) *board {
	b := newBoard(trace)
	b.bare = true
	return overMoments(b, trace, sample)
}

// overMoments folds a trace; sample sees the board after each moment.
func overMoments(b *board, trace *view.Trace, sample func(b *board, at int64)) *board {
	for i := range trace.Changes {
		c := &trace.Changes[i]
		b.apply(c)
		if i+1 == len(trace.Changes) || trace.Changes[i+1].At != c.At {
			sample(b, c.At)
		}
	}
	return b
}
